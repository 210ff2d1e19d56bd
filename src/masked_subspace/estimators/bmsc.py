"""Basic masked subspace clustering."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, cast

from masked_subspace._common.progress import events_of_estimator
from masked_subspace._common.types import FloatArray, MaskLike, MatrixLike, RandomSeed
from masked_subspace._common.validation import check_n_features
from masked_subspace.estimators.base import Task, no_mask
from masked_subspace.estimators.masked import MaskedClusterer
from masked_subspace.estimators.on_workers import client_for, reasons_against
from masked_subspace.estimators.parameters import described
from masked_subspace.label.graph import LINKS
from masked_subspace.label.labeler import NumberWanted
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.parallel.engine import is_dask_array
from masked_subspace.rounds.recursion import OneMember, RoundsResult, run_rounds

if TYPE_CHECKING:
    from distributed import Client


@described
class BMSC(MaskedClusterer):
    """Basic masked subspace clustering: one representation, one graph, one cut (`eq:bmsc` of the paper).

        min_Z ½‖X − ZX‖² + λ‖Z‖₀   subject to   Z = Mʰ⊙C

    Samples are the rows of X. Each one is rebuilt from as few others as pays at the price λ; the hard mask Mʰ says
    which others it may use (all but itself, unless `hard_mask` forbids more). Solved by Algorithm 1; the graph of who
    rebuilds whom is then cut.

    A dask array of more than 20,000 samples is fitted on the workers of the active `distributed.Client`, in float32
    (`masked_subspace.distributed.fit_distributed`); the model then has `labels_`, `n_clusters_` and `predict` by votes
    of 20,000 samples, and nothing else that has the size of X. Settings that need all samples in one process (known
    pairs, masks, views, n_clusters="auto", another affinity) are fitted there, with a warning that names them.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [Song2025] Song, J. and Ling, H. (2025). Masked subspace clustering methods. arXiv:2505.06863,
       equation (5) and Algorithm 1.

    Examples
    --------
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, random_state=0).fit(X)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    def __init__(
        self,
        n_clusters: NumberWanted = 8,
        *,
        sparsity: float | str = "auto",
        penalty: float | str = "auto",
        penalty_growth: float = 2.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        hard_mask: MaskLike = None,
        affinity: str = "top-k",
        n_links: int = LINKS,
        n_components: int | str | None = "auto",
        cut: str = "auto",
        view: float | str = "plain",
        affine: bool = False,
        center: bool = True,
        normalize: bool = True,
        solver: str = "auto",
        n_candidates: int = 64,
        constraints: str = "soft",
        min_certainty: float | None = None,
        missing: str = "error",
        random_state: RandomSeed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.sparsity = sparsity
        self.penalty = penalty
        self.penalty_growth = penalty_growth
        self.max_iter = max_iter
        self.tol = tol
        self.hard_mask = hard_mask
        self.affinity = affinity
        self.n_links = n_links
        self.n_components = n_components
        self.cut = cut
        self.view = view
        self.affine = affine
        self.center = center
        self.normalize = normalize
        self.solver = solver
        self.n_candidates = n_candidates
        self.constraints = constraints
        self.min_certainty = min_certainty
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_graph(self, X: MatrixLike, known_of: Callable[[int], KnownPairs | None]) -> Self | None:
        fitted = super()._fit_graph(X, known_of)
        client = client_for(X) if fitted is None and is_dask_array(X) else None
        if client is None:
            return fitted
        n_samples = int(cast("Any", X).shape[0])
        reasons = reasons_against(self, n_samples, known=known_of(n_samples) is not None)
        if reasons:
            warnings.warn(
                f"A Dask client is active, but this fit runs in this process: {', '.join(reasons)}. Workers fit one "
                'number of clusters, affinity="top-k", without masks, views or known pairs.',
                UserWarning,
                stacklevel=4,
            )
            return None
        return self._fit_on_workers(X, client)

    def _fit_on_workers(self, X: MatrixLike, client: Client) -> Self:
        from masked_subspace.distributed.fit import fit_distributed

        check_n_features(self, X, reset=True)
        samples = cast("Any", X)  # a dask array, which MatrixLike does not know
        n_workers = len(client.scheduler_info()["workers"])
        events_of_estimator(self.verbose).message(f"BMSC: {len(samples)} samples on {n_workers} Dask workers")
        result = fit_distributed(
            samples,
            cast("int", self.n_clusters),
            client=client,
            sparsity=self.sparsity,
            penalty=self.penalty,
            penalty_growth=self.penalty_growth,
            max_iter=self.max_iter,
            tol=self.tol,
            n_candidates=self.n_candidates,
            n_links=cast("int", self.n_links),
            n_components=self.n_components,
            cut=self.cut,
            center=self.center,
            normalize=self.normalize,
            random_state=self.random_state,
        )
        for name in [name for name in self.__dict__ if name.endswith("_") and name != "n_features_in_"]:
            del self.__dict__[name]  # of an earlier fit
        self.n_clusters_ = cast("int", self.n_clusters)
        self.labels_ = result.compute()
        self._keep_anchors(result)
        return self

    def _play(self, rows: FloatArray, task: Task) -> RoundsResult:
        evidence = task.evidence(rows)
        prepared = self._representer().prepare(rows, known=task.known, hard=task.hard, seed=task.seed)
        strategy = OneMember(prepared, self._labeler(), no_mask, evidence, task.seed, self.max_iter)
        return run_rounds(strategy, None, max_rounds=1, tol=0.0, events=task.events)
