"""Basic masked subspace clustering."""

from __future__ import annotations

from masked_subspace._common.types import FloatArray, MaskLike, RandomSeed
from masked_subspace.estimators.base import Task, no_mask
from masked_subspace.estimators.masked import MaskedClusterer
from masked_subspace.estimators.parameters import described
from masked_subspace.label.number_of_clusters import NumberWanted
from masked_subspace.rounds.recursion import OneMember, RoundsResult, run_rounds


@described
class BMSC(MaskedClusterer):
    """Basic masked subspace clustering: one representation, one graph, one cut (`eq:bmsc` of the paper).

        min_Z ½‖X − ZX‖² + λ‖Z‖₀   subject to   Z = Mʰ⊙C

    Samples are the rows of X. Each one is rebuilt from as few others as pays at the price λ; the hard mask Mʰ says
    which others it may use (all but itself, unless `hard_mask` forbids more). Solved by Algorithm 1; the graph of who
    rebuilds whom is then cut.

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
        n_links: int = 5,
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

    def _play(self, rows: FloatArray, task: Task) -> RoundsResult:
        evidence = task.evidence(rows)
        prepared = self._representer().prepare(rows, known=task.known, hard=task.hard, seed=task.seed)
        strategy = OneMember(prepared, self._labeler(), no_mask, evidence, task.seed, self.max_iter)
        return run_rounds(strategy, None, max_rounds=1, tol=0.0, events=task.events)
