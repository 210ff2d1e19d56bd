"""The control that every claim must beat: a plain k-nearest-neighbour graph through the same spectral step."""

from __future__ import annotations

import time
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors
from sklearn.utils._param_validation import Interval

from masked_subspace.estimators.base import SelfExpressiveClusterer
from masked_subspace.solvers.result import SolverResult


class NeighborGraphClustering(SelfExpressiveClusterer):
    """Each sample is linked with weight 1 to its `n_neighbors` nearest by cosine (rows are centred and unit length)."""

    _parameter_constraints = {
        **SelfExpressiveClusterer._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 5,
        affinity: str = "symmetric",
        n_links: int = 5,
        n_components: int | str | None = None,
        center: bool = True,
        normalize: bool = True,
        constraints: str = "soft",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.n_links = n_links
        self.n_components = n_components
        self.center = center
        self.normalize = normalize
        self.constraints = constraints
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _represent(self, rows: Any, seed: int) -> SolverResult:  # noqa: ARG002
        started = time.perf_counter()
        k = min(self.n_neighbors, len(rows) - 1)
        graph = NearestNeighbors(n_neighbors=k).fit(rows).kneighbors_graph(mode="connectivity")
        return SolverResult(
            representation=csr_array(graph.astype(rows.dtype)),
            n_iter=1,
            converged=True,
            stopping_value=0.0,
            mask_residual=0.0,
            sparsity_residual=0.0,
            objective=np.zeros(0),
            seconds=time.perf_counter() - started,
        )
