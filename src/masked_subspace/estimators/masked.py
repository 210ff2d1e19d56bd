"""What BMSC, GMSC and RMSC share: the parameters of Algorithm 1 and how they become a representer."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from masked_subspace._common.progress import Events
from masked_subspace.estimators.base import SHARED_CONSTRAINTS, FloatArray, SelfExpressiveClusterer
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rows.cleaning import clean_samples

_NUMBER_OR_AUTO = [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})]

MASKED_CONSTRAINTS: dict[str, Any] = SHARED_CONSTRAINTS | {
    "sparsity": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    "mask_weight": _NUMBER_OR_AUTO,
    "penalty": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    "penalty_growth": [Interval(Real, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "noise": [Interval(Real, 0, None, closed="neither"), None],
    "outliers": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), None],
    "hard_mask": "no_validation",
    "solver": [StrOptions({"auto", "dense", "sparse"})],
    "n_candidates": [Interval(Integral, 1, None, closed="left")],
    "mask_strength": [Interval(Real, 1, None, closed="left")],
    "mask_orientation": [StrOptions({"corrected", "paper"})],
    "soft_mask": "no_validation",
    "init": "no_validation",
    "max_rounds": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "view": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto", "plain", "root"})],
    "mask_tol": [Interval(Real, 0, None, closed="left")],
    "n_links": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "members": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
}


class MaskedClusterer(SelfExpressiveClusterer):
    """A clusterer whose representation comes from Algorithm 1."""

    sparsity: float | str
    penalty: float | str
    penalty_growth: float
    max_iter: int
    tol: float
    hard_mask: Any
    solver: str
    n_candidates: int

    def _cleans(self) -> bool:
        """Whether outliers are taken out of the samples themselves, and not only out of what Z must rebuild."""
        return getattr(self, "outliers", None) == "auto"

    def _without_outliers(self, X: FloatArray, seed: int, events: Events) -> FloatArray:
        if not self._cleans():
            return X
        cleaned = clean_samples(X, center=self.center, seed=seed, n_jobs=self.n_jobs)
        share = cleaned.outliers.nnz / X.size
        events.message(f"outliers: {100 * share:.2g} % of the entries, price {cleaned.price:.3g}")
        self.outliers_ = cleaned.outliers
        return cleaned.samples

    def _representer(self) -> MaskedRepresenter:
        return MaskedRepresenter(
            sparsity=self.sparsity,
            mask_weight=getattr(self, "mask_weight", 0.0),
            penalty=self.penalty,
            penalty_growth=self.penalty_growth,
            max_iter=self.max_iter,
            tol=self.tol,
            noise=getattr(self, "noise", None),
            outliers=None if self._cleans() else getattr(self, "outliers", None),
            hard_mask=self.hard_mask,
            solver=self.solver,
            n_candidates=self.n_candidates,
            n_jobs=self.n_jobs,
        )


def constraints_for(*absent: str) -> dict[str, Any]:
    """The constraints of a class that lacks some of the parameters."""
    return {name: rule for name, rule in MASKED_CONSTRAINTS.items() if name not in absent}
