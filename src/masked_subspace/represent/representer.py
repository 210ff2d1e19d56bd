"""The upper level of the bilevel frame: from rows and a soft mask to a representation (BMSC, GMSC, GMSC-n)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from masked_subspace._common.threads import thread_count
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.masks.hard import AllOf, PatternMask
from masked_subspace.masks.neighbors import NeighborMask
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.masks.resolve import resolve_hard_mask
from masked_subspace.represent.model import AdmmSettings, SolverResult

if TYPE_CHECKING:
    from masked_subspace.represent.sparse.products import ProductStore
    from masked_subspace.represent.sparsity import CandidateStep, FirstStep

FloatArray = npt.NDArray[np.floating[Any]]
Progress = Callable[[int, float], None]

# The sparse solver is the quicker one from 500 samples on. Up to here the dense one, which is exact, costs at most one
# CPU second more (docs/scaling.md).
SPARSE_FROM = 2_000


class PreparedRepresenter(Protocol):
    """A representer that has seen the rows; every round asks it with another mask."""

    def represent(self, soft_mask: SoftMask | None, progress: Progress | None = None) -> SolverResult: ...


class Representer(Protocol):
    """Anything that can be prepared once on the rows and then asked for a representation under a mask."""

    def prepare(self, X: FloatArray, *, known: KnownPairs | None, hard: bool, seed: int) -> PreparedRepresenter: ...


class MaskedRepresenter(BaseEstimator):
    """Algorithm 1 as a representer: `eq:bmsc`, `eq:gmsc` or `eq:gmsc-n`, dense and exact or on candidates."""

    def __init__(
        self,
        *,
        sparsity: float | str = "auto",
        mask_weight: float | str = "auto",
        penalty: float | str = "auto",
        penalty_growth: float = 2.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        noise: float | None = None,
        outliers: float | None = None,
        affine: bool = False,
        hard_mask: Any = None,
        solver: str = "auto",
        n_candidates: int = 64,
        n_jobs: int | None = None,
    ) -> None:
        self.sparsity = sparsity
        self.mask_weight = mask_weight
        self.penalty = penalty
        self.penalty_growth = penalty_growth
        self.max_iter = max_iter
        self.tol = tol
        self.noise = noise
        self.outliers = outliers
        self.affine = affine
        self.hard_mask = hard_mask
        self.solver = solver
        self.n_candidates = n_candidates
        self.n_jobs = n_jobs

    def settings_for(self, X: FloatArray, seed: int, candidates: npt.NDArray[np.int32] | None = None) -> AdmmSettings:
        """The numbers of Algorithm 1 for these rows (on these candidates), with every "auto" decided."""
        from masked_subspace.represent.sparsity import default_mask_weight, default_penalty

        penalty = default_penalty(X) if isinstance(self.penalty, str) else float(self.penalty)
        weight = default_mask_weight(X) if isinstance(self.mask_weight, str) else float(self.mask_weight)
        automatic = isinstance(self.sparsity, str)
        sparsity = (
            sparsity_rule(X, seed, candidates, affine=self.affine).sparsity(penalty)
            if automatic
            else float(self.sparsity)
        )
        return AdmmSettings(
            sparsity=sparsity,
            mask_weight=weight,
            penalty=penalty,
            penalty_growth=self.penalty_growth,
            max_iter=self.max_iter,
            tol=self.tol,
            noise=self.noise,
            outliers=self.outliers,
            affine=self.affine,
        )

    def prepare(
        self, X: FloatArray, *, known: KnownPairs | None = None, hard: bool = False, seed: int = 0, rounds: int = 1
    ) -> DenseRepresenter | SparseRepresenter:
        """Everything that does not depend on the soft mask: settings, permissions, factorisation or candidates.

        With more than one of `rounds` to come, what they share is kept where memory permits.
        """
        from masked_subspace.represent.sparse.products import ProductStore

        permissions = resolve_hard_mask(self.hard_mask, len(X), known if hard else None)
        threads = thread_count(self.n_jobs)
        if self._is_sparse(len(X)):
            candidates = _candidates(self, X, known, threads, seed)
            settings = self.settings_for(X, seed, candidates)
            again = rounds > 1 and not settings.has_residual_model
            products = ProductStore.if_worthwhile(X, candidates.shape[1]) if again else None
            return SparseRepresenter(X, settings, candidates, permissions, threads, products)
        return _prepare_dense(self, X, self.settings_for(X, seed), permissions, known, threads, seed)

    def _is_sparse(self, n_samples: int) -> bool:
        if self.solver == "auto":
            return n_samples > SPARSE_FROM
        return self.solver == "sparse"


def sparsity_rule(
    X: FloatArray, seed: int, candidates: npt.NDArray[np.int32] | None = None, *, affine: bool = False
) -> FirstStep | CandidateStep:
    """What decides λ for a given penalty and number of links: the first step, or the end on candidates."""
    from masked_subspace.represent.sparsity import CandidateStep, FirstStep

    return (
        FirstStep(X, seed, affine=affine) if candidates is None else CandidateStep(X, candidates, seed, affine=affine)
    )


@dataclass(frozen=True)
class DenseRepresenter:
    """Every permitted pair is open; one eigendecomposition serves every round."""

    X: FloatArray
    settings: AdmmSettings
    spectrum: Any
    hard_mask: HardMask
    n_threads: int

    def sparsity_rule(self, seed: int) -> FirstStep | CandidateStep:
        return sparsity_rule(self.X, seed, affine=self.settings.affine)

    def represent(self, soft_mask: SoftMask | None, progress: Progress | None = None) -> SolverResult:
        return self.represent_many([self.settings], soft_mask, progress)[0]

    def represent_many(
        self, settings: Sequence[AdmmSettings], soft_mask: SoftMask | None, progress: Progress | None = None
    ) -> list[SolverResult]:
        """Several settings under one mask, sharing the factorisation."""
        from masked_subspace.represent.dense.solve import solve_dense

        return [
            solve_dense(
                self.X,
                one,
                spectrum=self.spectrum,
                hard_mask=self.hard_mask,
                soft_mask=soft_mask,
                n_threads=self.n_threads,
                progress=progress,
            )
            for one in settings
        ]


@dataclass(frozen=True)
class SparseRepresenter:
    """Each sample sees its candidates only; they are found once and serve every round."""

    X: FloatArray
    settings: AdmmSettings
    candidates: npt.NDArray[np.int32]
    hard_mask: HardMask
    n_threads: int
    products: ProductStore | None = None

    def sparsity_rule(self, seed: int) -> FirstStep | CandidateStep:
        return sparsity_rule(self.X, seed, self.candidates, affine=self.settings.affine)

    def represent(self, soft_mask: SoftMask | None, progress: Progress | None = None) -> SolverResult:
        return self.represent_many([self.settings], soft_mask, progress)[0]

    def represent_many(
        self, settings: Sequence[AdmmSettings], soft_mask: SoftMask | None, progress: Progress | None = None
    ) -> list[SolverResult]:
        """Several settings under one mask, sharing the candidates and their products."""
        from masked_subspace.represent.sparse.solve import solve_sparse_many

        return solve_sparse_many(
            self.X,
            settings,
            candidates=self.candidates,
            hard_mask=None if self.hard_mask.diagonal_only else self.hard_mask,
            soft_masks=soft_mask,
            n_threads=self.n_threads,
            progress=progress,
            products=self.products,
        )


def _prepare_dense(
    spec: MaskedRepresenter,
    X: FloatArray,
    settings: AdmmSettings,
    hard_mask: HardMask,
    known: KnownPairs | None,
    threads: int,
    seed: int,
) -> DenseRepresenter:
    from masked_subspace.represent.dense.spectrum import Spectrum

    if isinstance(spec.hard_mask, NeighborMask):
        neighbours = PatternMask(_pattern_of(_candidates(spec, X, known, threads, seed)))
        hard_mask = neighbours if hard_mask.diagonal_only else AllOf([neighbours, hard_mask])
    return DenseRepresenter(X, settings, Spectrum.of(X), hard_mask, threads)


def _candidates(
    spec: MaskedRepresenter, X: FloatArray, known: KnownPairs | None, threads: int, seed: int
) -> npt.NDArray[np.int32]:
    from masked_subspace.represent.neighbors.search import find_candidates

    recipe = spec.hard_mask if isinstance(spec.hard_mask, NeighborMask) else NeighborMask(int(spec.n_candidates))
    must = None
    if known is not None:
        source, target = known.must_link_edges(4)
        must = np.concatenate([np.stack([source, target], 1), np.stack([target, source], 1)])
    m = min(recipe.n_neighbors, len(X) - 1)
    return find_candidates(X, m, search=recipe.search, must_link=must, n_threads=threads, random_state=seed)


def _pattern_of(candidates: npt.NDArray[np.int32]) -> Any:
    from scipy.sparse import csr_array

    n, m = candidates.shape
    indptr = np.arange(0, n * m + 1, m)
    return csr_array((np.ones(n * m, dtype=bool), candidates.ravel(), indptr), shape=(n, n))
