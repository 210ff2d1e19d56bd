"""The number of clusters from families of views that were represented before it was known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scipy.sparse import csr_array

from masked_subspace._common.rows import content_order
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray
from masked_subspace.label.number_of_clusters import Cells, Number, number_of_clear_clouds, number_of_clusters
from masked_subspace.label.separation import rows_of_one_scale
from masked_subspace.rounds.judge import COUNTED, OF_CLOUDS, Family, yardsticks
from masked_subspace.rounds.mixtures import FEATURES_OF_A_TABLE


def has_few_features(X: FloatArray) -> bool:
    """Whether X is a table, in which one cloud can be cut into cells that every look finds again."""
    return not isinstance(X, SparseSamples) and bool(X.shape[1] <= FEATURES_OF_A_TABLE)


@dataclass(frozen=True)
class Seen:
    """Samples, and the families of views in which they were represented."""

    X: FloatArray
    families: list[Family]
    whole: bool = True  # whether these are all families that are permitted

    def clear_number(self, bounds: tuple[int, int], seed: int, n_threads: int) -> Number | None:
        """The number of clouds where they stand clearly apart; None where it takes more to tell."""
        cells = self._cells()
        if cells is None:
            return None
        order = content_order(self.X)
        return number_of_clear_clouds(self._codes(), *bounds, seed, cells=cells, order=order, n_threads=n_threads)

    def number(self, bounds: tuple[int, int], seed: int, n_threads: int) -> Number:
        """The number of which the looks of all families find most again."""
        return number_of_clusters(
            self._codes(),
            *bounds,
            seed,
            samples=yardsticks(self.X),
            order=content_order(self.X),
            cells=self._cells(),
            by_distance=[place for place, one in enumerate(self.families) if one.views[0].by_distance],
            n_threads=n_threads,
        )

    def _codes(self) -> list[list[csr_array]]:
        return [family.absolute_codes() for family in self.families]

    def _cells(self) -> Cells | None:
        """Of a table what tells clusters from cells of one cloud; None for other data."""
        families = [place for place, one in enumerate(self.families) if one.name in OF_CLOUDS]
        return Cells(*rows_of_one_scale(self.X), families) if families and has_few_features(self.X) else None


def number_of_views(
    see: Callable[..., Seen], may_be_clouds: bool, bounds: tuple[int, int], seed: int, n_threads: int
) -> tuple[Number, Seen]:
    """The number, and what was represented to find it. Of a table the families that see clouds are asked first: where
    these stand clearly apart, nothing else is represented."""
    clouds = see(only=OF_CLOUDS) if may_be_clouds else None
    clear = None if clouds is None else clouds.clear_number(bounds, seed, n_threads)
    if clouds is not None and clear is not None:
        return clear, clouds
    seen = see(only=COUNTED, before=clouds)
    return seen.number(bounds, seed, n_threads), seen
