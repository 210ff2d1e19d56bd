"""The control that every claim must beat: a plain k-nearest-neighbour graph through the same spectral step."""

from __future__ import annotations

from numbers import Integral

from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from masked_subspace._common.types import FloatArray, RandomSeed
from masked_subspace._common.validation import Interval
from masked_subspace.baselines.base import BaselineClusterer, Work
from masked_subspace.baselines.documentation import documented
from masked_subspace.baselines.result import Representation
from masked_subspace.label.graph import LINKS


@documented
class NeighborGraph(BaselineClusterer):
    """The control that every claim must beat: a graph of nearest neighbours through the same cut.

        z_ij = 1 if x_j is one of the k samples nearest to x_i, else 0                (von Luxburg 2007, section 2.2)

    With centred unit rows, the default, nearest means largest cosine.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K.
    n_neighbors : int, default=5
        k, how many samples each one is linked to.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [Luxburg2007] von Luxburg, U. (2007). A tutorial on spectral clustering. Statistics and Computing 17(4).

    Examples
    --------
    >>> from masked_subspace.baselines import NeighborGraph
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs([20, 20, 20], n_features=12, random_state=0)
    >>> model = NeighborGraph(3, random_state=0).fit(X)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    _parameter_constraints = {"n_neighbors": [Interval(Integral, 1, None, closed="left")]}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 5,
        affinity: str = "symmetric",
        n_links: int = LINKS,
        n_components: int | str | None = None,
        cut: str = "spectral",
        center: bool = True,
        normalize: bool = True,
        constraints: str = "soft",
        random_state: RandomSeed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters,
            affinity,
            n_links,
            n_components,
            cut,
            center,
            normalize,
            constraints,
            random_state,
            n_jobs,
            verbose,
        )
        self.n_neighbors = n_neighbors

    def _solve(self, rows: FloatArray, work: Work) -> Representation:
        neighbours = NearestNeighbors(n_neighbors=min(self.n_neighbors, len(rows) - 1), n_jobs=work.n_threads)
        graph = neighbours.fit(rows).kneighbors_graph(mode="connectivity")
        return Representation(csr_array(graph.astype(rows.dtype)))
