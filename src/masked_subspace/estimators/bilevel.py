"""The bilevel frame: any representer, any labeler, joined by any mask function."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from masked_subspace._common.progress import Events
from masked_subspace.estimators.base import SHARED_CONSTRAINTS, SelfExpressiveClusterer
from masked_subspace.label.labeler import Evidence, Labeling, SpectralLabeler
from masked_subspace.masks.resolve import resolve_soft_mask
from masked_subspace.masks.soft import ConstantMask, LabelMask, Orientation
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rounds.recursion import RoundsResult, run_rounds


class LabelPsi(BaseEstimator):
    """ψ of `eq:rmsc`: the label mask of what the labeler found."""

    def __init__(self, strength: float = 1.1, orientation: Orientation = "corrected") -> None:
        self.strength = strength
        self.orientation: Orientation = orientation

    def __call__(self, labeling: Labeling) -> LabelMask:
        return LabelMask(labeling.labels, self.strength, orientation=self.orientation)


class BilevelClustering(SelfExpressiveClusterer):
    """Bilevel clustering optimization (`eq:bco`).

        min_x f(x, ψ(y))   subject to   y = argmin_y g(x, y)

    Parameters
    ----------
    representer : f. `prepare(X, known=, hard=, seed=)` returns an object whose `represent(soft_mask, progress)` gives a
        `SolverResult`. Default: `MaskedRepresenter()`, Algorithm 1.
    labeler : g. `label(representation, evidence, seed)` gives a `Labeling`. Default: `SpectralLabeler(n_clusters)`.
    mask : ψ, a function from a `Labeling` to a soft mask. Default: `LabelPsi()`.
    n_clusters : used by the default labeler only
    init : the first soft mask: a mask, labels, an n × n array, a clusterer, or a list of clusterers
    max_rounds, mask_tol : Algorithm 2 stops when the mask changes by less than `mask_tol`
    center, normalize, constraints, random_state, n_jobs, verbose : as in `RMSC`
    """

    _parameter_constraints = {
        name: rule for name, rule in SHARED_CONSTRAINTS.items() if name not in ("affinity", "n_links", "n_components")
    } | {
        "representer": "no_validation",
        "labeler": "no_validation",
        "mask": "no_validation",
        "init": "no_validation",
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "mask_tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        representer: Any = None,
        labeler: Any = None,
        mask: Any = None,
        *,
        n_clusters: int = 8,
        init: Any = None,
        max_rounds: int = 5,
        mask_tol: float = 1e-6,
        center: bool = True,
        normalize: bool = True,
        constraints: str = "soft",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.representer = representer
        self.labeler = labeler
        self.mask = mask
        self.n_clusters = n_clusters
        self.init = init
        self.max_rounds = max_rounds
        self.mask_tol = mask_tol
        self.center = center
        self.normalize = normalize
        self.constraints = constraints
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_rows(self, rows: Any, evidence: Evidence, seed: int, events: Events) -> RoundsResult:
        representer = MaskedRepresenter(n_jobs=self.n_jobs) if self.representer is None else self.representer
        labeler = SpectralLabeler(self.n_clusters) if self.labeler is None else self.labeler
        psi = LabelPsi() if self.mask is None else self.mask
        first = resolve_soft_mask(
            self.init,
            rows,
            strength=getattr(psi, "strength", 1.1),
            orientation=getattr(psi, "orientation", "corrected"),
            seed=seed,
            name="init",
        )
        prepared = representer.prepare(rows, known=evidence.known, hard=evidence.hard, seed=seed)
        return run_rounds(
            prepared,
            labeler,
            psi,
            evidence,
            init=ConstantMask(len(rows)) if first is None else first,
            max_rounds=self.max_rounds,
            mask_tol=self.mask_tol,
            seed=seed,
            max_iter=getattr(representer, "max_iter", None),
            events=events,
        )
