"""The published post-processing of the baselines, in front of the shared spectral step."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.matrices import as_dense
from masked_subspace._common.rows import eigenpairs
from masked_subspace._common.types import FloatArray, Matrix
from masked_subspace.label.graph import LINKS, power_graph
from masked_subspace.label.labeler import Evidence, GraphLabeler, Labeling, label_graph


class BaselineLabeler(GraphLabeler):
    """`GraphLabeler` after thr(C, ρ) of Elhamifar & Vidal; `threshold` is ρ, and 1 keeps every entry."""

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "symmetric",
        n_links: int = LINKS,
        n_components: int | str | None = None,
        cut: str = "spectral",
        rank: int | None = None,
        power: float = 4.0,
        threshold: float = 1.0,
    ) -> None:
        super().__init__(
            n_clusters, affinity=affinity, n_links=n_links, n_components=n_components, cut=cut, rank=rank, power=power
        )
        self.threshold = threshold

    def label(self, representation: Matrix, evidence: Evidence, seed: int) -> Labeling:
        return super().label(keep_mass(representation, self.threshold), evidence, seed)


class LowRankLabeler(GraphLabeler):
    """The graph of Liu et al. (2013): W = (M Mᵀ)^power with M = U Σ^½, unit rows, from the skinny SVD of LRR's Z.

    Z of LRR is not symmetric, so this is its SVD and not the one of its symmetric part.
    """

    def label(self, representation: Matrix, evidence: Evidence, seed: int) -> Labeling:
        if self.affinity != "shape-interaction":
            return super().label(representation, evidence, seed)
        W = skinny_graph(representation, self.power)
        return label_graph(
            W, self._number(representation, evidence, seed), self.n_components, evidence, seed, cut=self.cut
        )


def keep_mass(Z: Matrix, share: float) -> csr_array:
    """thr(C, ρ): of each row the largest |z| whose sum reaches ρ‖z‖₁."""
    links = csr_array(Z)
    if share >= 1:
        return links
    size = np.abs(links.data)
    row = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    order = np.lexsort((-size, row))  # within each row from large to small; rows stay where they are
    running = np.cumsum(size[order], dtype=np.float64)
    before = running - size[order]
    edges = np.concatenate([[0.0], running])[links.indptr]
    start, total = edges[:-1], np.diff(edges)
    # An entry is kept while the ones before it have not yet reached the share.
    kept = np.zeros(len(size), dtype=bool)
    kept[order] = before - start[row] < share * total[row]
    indptr = np.concatenate([[0], np.cumsum(kept)])[links.indptr]
    return csr_array((links.data[kept], links.indices[kept], indptr), shape=links.shape)


def skinny_graph(Z: Matrix, power: float) -> csr_array:
    """W = (M Mᵀ)^power, M = U Σ^½ with unit rows; U are the singular vectors on the side of the atoms."""
    dense: FloatArray = as_dense(Z)
    # Row i of Z is column i of the published Z, so its left singular vectors are the eigenvectors of ZᵀZ.
    squares, U = eigenpairs(dense.T @ dense)
    kept = squares > 1e-8 * squares[-1]  # σ > 1e-4 σ₁
    return power_graph(U[:, kept] * squares[kept] ** 0.25, power, negative=-1.0)
