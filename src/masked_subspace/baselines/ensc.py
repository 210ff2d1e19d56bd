"""Elastic net subspace clustering (You, Li, Robinson & Vidal 2016)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.rows import block_ranges
from masked_subspace._common.types import FloatArray, RandomSeed
from masked_subspace.baselines.base import POSITIVE, SHARE, BaselineClusterer, Work
from masked_subspace.baselines.documentation import documented
from masked_subspace.baselines.elastic_net import ElasticNetProblem, solve_elastic_net
from masked_subspace.baselines.result import Representation, block_length
from masked_subspace.label.graph import LINKS


def largest_correlations(dictionary: FloatArray, n_samples: int) -> FloatArray:
    """max_{j≠i} |x_iᵀa_j| for the first `n_samples` atoms, which are the samples; block by block."""
    largest = np.empty(n_samples, dtype=dictionary.dtype)
    for start, stop in block_ranges(n_samples, block_length(len(dictionary))):
        product = np.abs(dictionary[start:stop] @ dictionary.T)
        product[np.arange(stop - start), np.arange(start, stop)] = 0
        largest[start:stop] = product.max(axis=1)
    if not np.isfinite(largest).all():
        raise ValueError(
            "X holds NaN or infinite values, or entries whose products overflow; fill or scale them first."
        )
    return largest


def represent_ensc(
    X: FloatArray,
    *,
    gamma: float = 50.0,
    tau: float = 0.9,
    tol: float = 1e-5,
    max_iter: int = 100,
    n_threads: int = 1,
    start: csr_array | None = None,
) -> Representation:
    """min τ‖c‖₁ + (1−τ)/2‖c‖² + γ_i/2‖x_i − cX‖², c_i = 0, with γ_i = gamma · (the γ at which c stops being 0)."""
    n = len(X)
    correlation = largest_correlations(X, n)
    # Divided by γ_i: l₁ = τ/γ_i = max|x_iᵀx_j|/gamma and l₂ = (1−τ)/γ_i. A sample that nothing resembles stays empty.
    lasso = np.where(correlation > 0, correlation, 1.0) / gamma
    problem = ElasticNetProblem(X, X, lasso, lasso * (1 - tau) / tau, np.arange(n))
    # A correlation is rounded at ε of the largest one, which is γ₀ times the bound that `tol` is a share of.
    tol = max(tol, 4 * gamma * float(np.finfo(X.dtype).eps))
    found = solve_elastic_net(problem, start=start, tol=tol, max_rounds=max_iter, n_threads=n_threads)
    return Representation(found.coefficients, found.n_rounds, found.converged, found.violation)


@documented
class EnSC(BaselineClusterer):
    """Elastic net subspace clustering.

        min_c τ‖c‖₁ + (1−τ)/2 ‖c‖² + γ/2 ‖x − cX‖²   for each sample x, itself excluded

    (You, Li, Robinson & Vidal 2016), solved exactly by active sets that grow by the atoms most correlated with
    the residual, one matrix product for a block of samples a round. The result is sparse from the start and no n × n
    array is kept.

    On scattering features of MNIST the authors take 500 directions of an uncentred PCA, γ₀ = 200 and a graph of each
    code's 3 nearest codes: `EnSC(10, gamma=200, affinity="code-neighbors", n_links=3)`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K.
    gamma : float, default=50.0
        γ₀; γ is γ₀ times the value below which the code of a sample is empty.
    tau : float, default=0.9
        τ, the share of the ℓ₁ norm; 1 is SSC.
    tol : float, default=1e-05
        Largest excess of a correlation over its bound, as a share of the bound.
    max_iter : int, default=100
        Most rounds of an active set.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [You2016b] You, C., Li, C., Robinson, D. and Vidal, R. (2016). Oracle based active set algorithm for scalable
       elastic net subspace clustering. CVPR.

    Examples
    --------
    >>> from masked_subspace.baselines import EnSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> data = make_subspaces(n_subspaces=3, per_subspace=20, dim=2, ambient=12, random_state=0)
    >>> model = EnSC(3, random_state=0).fit(data.data)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    _parameter_constraints = {
        "gamma": [POSITIVE],
        "tau": [SHARE],
        "tol": [POSITIVE],
        "max_iter": [POSITIVE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        gamma: float = 50.0,
        tau: float = 0.9,
        tol: float = 1e-5,
        max_iter: int = 100,
        affinity: str = "symmetric",
        n_links: int = LINKS,
        n_components: int | str | None = None,
        cut: str = "spectral",
        center: bool = False,
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
        self.gamma = gamma
        self.tau = tau
        self.tol = tol
        self.max_iter = max_iter

    def _solve(self, rows: FloatArray, work: Work) -> Representation:
        return represent_ensc(
            rows, gamma=self.gamma, tau=self.tau, tol=self.tol, max_iter=self.max_iter, n_threads=work.n_threads
        )
