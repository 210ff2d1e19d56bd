"""The upper level of the bilevel frame: from rows and a soft mask to a representation.

Algorithm 1 (BMSC, GMSC, GMSC-n), dense and exact or on candidates; or links to the nearest samples, for data whose
clusters are clouds and not subspaces. In a few features every sample can be rebuilt from any others, so that a code
says nothing of who is near. There

    z_ij = exp(−‖x_i − x_j‖² / σ_i σ_j),   σ_i the distance from x_i to its seventh neighbour

(Zelnik-Manor & Perona 2004) takes the place of the code. A soft mask divides by the squared price of the pair.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from masked_subspace._common.types import FloatArray, IndexArray, MaskLike
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.masks.hard import AllOf, NeighborMask, PatternMask, resolve_hard_mask
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.parallel.engine import thread_count
from masked_subspace.represent.model import (
    AdmmSettings,
    CandidateStep,
    FirstStep,
    SolverResult,
    SparsityRule,
    default_mask_weight,
    default_penalty,
)
from masked_subspace.represent.neighbors.kernels import take_squared_distances

if TYPE_CHECKING:
    from masked_subspace.represent.dense.spectrum import Spectrum
    from masked_subspace.represent.neighbors.search import Search
    from masked_subspace.represent.sparse.block import Products


Progress = Callable[[int, float], None]

# The sparse solver is the quicker one from 500 samples on. Up to here the dense one, which is exact, costs at most one
# CPU second more (docs/findings/scaling.md).
SPARSE_FROM = 2_000
SCALE_NEIGHBOUR = 7


class PreparedRepresenter(Protocol):
    """A representer that has seen the rows; every round asks it with another mask."""

    def represent(self, soft_mask: SoftMask | None, progress: Progress | None = None) -> SolverResult: ...


class ManyRepresenter(Protocol):
    """A representer that can solve several settings on what they share."""

    @property
    def X(self) -> FloatArray: ...

    @property
    def template(self) -> AdmmSettings: ...

    def sparsity_rule(self, seed: int) -> SparsityRule: ...

    def represent_many(
        self, settings: Sequence[AdmmSettings], soft_mask: SoftMask | None, progress: Progress | None = None
    ) -> list[SolverResult]: ...


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
        hard_mask: MaskLike = None,
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

    def template(self, X: FloatArray) -> AdmmSettings:
        """The numbers of Algorithm 1 for these rows, but λ: its search waits until someone asks (NaN if "auto")."""
        return AdmmSettings(
            sparsity=float("nan") if isinstance(self.sparsity, str) else float(self.sparsity),
            mask_weight=default_mask_weight(X) if isinstance(self.mask_weight, str) else float(self.mask_weight),
            penalty=default_penalty(X) if isinstance(self.penalty, str) else float(self.penalty),
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
        """Everything that does not depend on the soft mask: settings, permissions, candidates.

        With more than one of `rounds` to come, what they share is kept where memory permits.
        """
        from masked_subspace.represent.sparse.block import Gram, ProductStore

        # Without a mask only the diagonal is forbidden, which every solver knows by itself.
        is_masked = self.hard_mask is not None or (hard and known is not None)
        permissions = resolve_hard_mask(self.hard_mask, len(X), known if hard else None) if is_masked else None
        threads = thread_count(self.n_jobs)
        template = self.template(X)
        if self._is_sparse(len(X)):
            candidates = _candidates(self, X, known, threads, seed)
            products: Products | None = None
            if not template.has_residual_model:
                products = Gram.if_worthwhile(X, candidates.shape[1])
                if products is None and rounds > 1:
                    products = ProductStore.if_worthwhile(X, candidates.shape[1])
            return SparseRepresenter(X, template, permissions, threads, seed, candidates, products)
        if isinstance(self.hard_mask, NeighborMask):
            neighbours = PatternMask(_pattern_of(_candidates(self, X, known, threads, seed)))
            permissions = (
                neighbours if permissions is None or permissions.diagonal_only else AllOf([neighbours, permissions])
            )
        return DenseRepresenter(X, template, permissions, threads, seed)

    def nearest(self, X: FloatArray, seed: int = 0, *, by_cosine: bool = False) -> NearestRepresenter:
        """The nearest samples in the place of those that rebuild a sample."""
        candidates = _candidates(self, X, None, thread_count(self.n_jobs), seed)
        return NearestRepresenter(X, self.template(X), candidates, by_cosine)

    def _is_sparse(self, n_samples: int) -> bool:
        if self.solver == "auto":
            return n_samples > SPARSE_FROM
        return self.solver == "sparse"


@dataclass(frozen=True)
class _Prepared(ABC):
    """Rows with everything that does not depend on a soft mask. λ and factorisations are found when first asked for."""

    X: FloatArray
    template: AdmmSettings  # without λ where that is "auto"
    hard_mask: HardMask | None  # None: only the diagonal is forbidden
    n_threads: int
    seed: int

    @cached_property
    def settings(self) -> AdmmSettings:
        """The numbers of Algorithm 1 with every "auto" decided."""
        if not isnan(self.template.sparsity):
            return self.template
        return replace(self.template, sparsity=self.sparsity_rule(self.seed).sparsity(self.template.penalty))

    def sparsity_rule(self, seed: int) -> FirstStep | CandidateStep:
        """What decides λ for a given penalty and number of links; one for each seed."""
        if seed not in self._rules:
            self._rules[seed] = self._make_rule(seed)
        return self._rules[seed]

    @cached_property
    def _rules(self) -> dict[int, FirstStep | CandidateStep]:
        return {}

    @abstractmethod
    def _make_rule(self, seed: int) -> FirstStep | CandidateStep: ...

    def represent(self, soft_mask: SoftMask | None, progress: Progress | None = None) -> SolverResult:
        return self.represent_many([self.settings], soft_mask, progress)[0]

    @abstractmethod
    def represent_many(
        self, settings: Sequence[AdmmSettings], soft_mask: SoftMask | None, progress: Progress | None = None
    ) -> list[SolverResult]:
        """Several settings under one mask, sharing what does not depend on them."""


@dataclass(frozen=True)
class DenseRepresenter(_Prepared):
    """Every permitted pair is open; one eigendecomposition serves the rule for λ and every round."""

    @cached_property
    def spectrum(self) -> Spectrum:
        from masked_subspace.represent.dense.spectrum import Spectrum

        return Spectrum.of(self.X, n_threads=self.n_threads)

    def _make_rule(self, seed: int) -> FirstStep:
        return FirstStep(self.X, seed, spectrum=self.spectrum, affine=self.template.affine)

    def represent_many(
        self, settings: Sequence[AdmmSettings], soft_mask: SoftMask | None, progress: Progress | None = None
    ) -> list[SolverResult]:
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
class SparseRepresenter(_Prepared):
    """Each sample sees its candidates only; they are found once and serve every round."""

    candidates: IndexArray
    products: Products | None = None

    def _make_rule(self, seed: int) -> CandidateStep:
        from masked_subspace.represent.sparse.block import Gram

        known = self.products if isinstance(self.products, Gram) else None
        return CandidateStep(self.X, self.candidates, seed, affine=self.template.affine, products=known)

    def represent_many(
        self, settings: Sequence[AdmmSettings], soft_mask: SoftMask | None, progress: Progress | None = None
    ) -> list[SolverResult]:
        from masked_subspace.represent.sparse.solve import solve_sparse_many

        return solve_sparse_many(
            self.X,
            settings,
            candidates=self.candidates,
            hard_mask=self.hard_mask,
            soft_masks=soft_mask,
            n_threads=self.n_threads,
            progress=progress,
            products=self.products,
        )


def _candidates(
    spec: MaskedRepresenter, X: FloatArray, known: KnownPairs | None, threads: int, seed: int
) -> IndexArray:
    from masked_subspace.represent.neighbors.search import find_candidates

    m = int(spec.n_candidates)
    search: Search = "auto"
    if isinstance(spec.hard_mask, NeighborMask):
        m, search = spec.hard_mask.n_neighbors, spec.hard_mask.search
    must = None
    if known is not None:
        must = np.stack(known.must_link_edges(4), axis=1)
    return find_candidates(X, min(m, len(X) - 1), search=search, must_link=must, n_threads=threads, random_state=seed)


def _pattern_of(candidates: IndexArray) -> csr_array:
    n, m = candidates.shape
    indptr = np.arange(0, n * m + 1, m)
    return csr_array((np.ones(n * m, dtype=bool), candidates.ravel(), indptr), shape=(n, n))


class NoSparsity:
    """Nothing is rebuilt, so that no price has to be found."""

    def sparsity(self, _penalty: float, _links: float = 0.0) -> float:
        return 0.0


@dataclass(frozen=True)
class NearestRepresenter:
    """Rows and, for each of them, the samples that may be its nearest; settings of Algorithm 1 have no say.

    Links weigh by distance, exp(−‖x_i − x_j‖²/σ_iσ_j), or, of rows of unit length, by cosine.
    """

    X: FloatArray
    template: AdmmSettings
    candidates: IndexArray
    by_cosine: bool = False

    def sparsity_rule(self, _seed: int) -> NoSparsity:
        return NoSparsity()

    def represent_many(
        self,
        settings: Sequence[AdmmSettings],
        soft_mask: SoftMask | None,
        _progress: Progress | None = None,
    ) -> list[SolverResult]:
        """The same links for every setting."""
        started = time.perf_counter()
        weights = self._weights
        if soft_mask is not None:
            prices = soft_mask.at(np.arange(len(self.X))[:, None], self.candidates)
            weights = weights / np.square(prices).astype(weights.dtype)
        n, m = self.candidates.shape
        known = (self.candidates >= 0).ravel()
        indptr = np.concatenate([[0], np.cumsum(known.reshape(n, m).sum(axis=1))])
        Z = csr_array((weights.ravel()[known], self.candidates.ravel()[known], indptr), shape=(n, n))
        Z.sort_indices()
        one = SolverResult(Z, 1, True, 0.0, 0.0, 0.0, np.zeros(1), time.perf_counter() - started)
        return [one] * len(settings)

    @cached_property
    def _weights(self) -> FloatArray:
        squared = self._squared_distances()
        if self.by_cosine:
            cosines: FloatArray = (1 - squared / 2).astype(self.X.dtype)
            return cosines
        place = min(SCALE_NEIGHBOUR, squared.shape[1]) - 1
        scale = np.sqrt(np.partition(squared, place, axis=1)[:, place])
        # More copies of a sample than neighbours are looked at: any length will do for them.
        positive = scale[np.isfinite(scale) & (scale > 0)]
        scale = np.where(np.isfinite(scale) & (scale > 0), scale, positive.min(initial=1.0))
        weights: FloatArray = np.exp(-squared / (scale[:, None] * scale[self.candidates])).astype(self.X.dtype)
        return weights

    def _squared_distances(self) -> FloatArray:
        """n × m in float64; infinite where there is no candidate."""
        squared = np.empty(self.candidates.shape)
        take_squared_distances(self.X, self.candidates, squared)
        return squared
