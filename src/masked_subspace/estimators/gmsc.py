"""General masked subspace clustering."""

from __future__ import annotations

from masked_subspace._common.types import FloatArray, MaskLike, RandomSeed
from masked_subspace.estimators.base import Task
from masked_subspace.estimators.bilevel import LabelPsi
from masked_subspace.estimators.masked import MaskedClusterer
from masked_subspace.estimators.parameters import described
from masked_subspace.label.graph import LINKS
from masked_subspace.label.labeler import NumberWanted
from masked_subspace.masks.soft import Orientation, first_soft_mask
from masked_subspace.rounds.recursion import OneMember, RoundsResult, run_rounds


@described
class GMSC(MaskedClusterer):
    """General masked subspace clustering: `BMSC` with a price for each pair (`eq:gmsc` of the paper).

        min ½‖X − ZX − ε − O‖² + λ‖Z‖₀ + γ/2 ‖Mˢ⊙C‖² + λ₁‖ε‖² + λ₂‖O‖₀   subject to   Z = Mʰ⊙C

    The soft mask Mˢ is a price for each pair of samples: another clustering's opinion, for instance, makes links inside
    its clusters cheap and others dear. ε is dense noise, O are gross errors (`eq:gmsc-n`); without `noise` and
    `outliers` both are left out. With Mˢ = 0 this is `BMSC`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    noise_ : ndarray of shape (n_samples, n_features)
        ε, if `noise` is a number.
    outliers_ : csr_array of shape (n_samples, n_features)
        O, if `outliers` is not None.

    References
    ----------
    .. [Song2025] Song, J. and Ling, H. (2025). Masked subspace clustering methods. arXiv:2505.06863,
       equations (6) and (7), Algorithm 1.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from masked_subspace import GMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = GMSC(3, soft_mask=KMeans(3, n_init=5), random_state=0).fit(X)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    def __init__(
        self,
        n_clusters: NumberWanted = 8,
        *,
        soft_mask: MaskLike = None,
        sparsity: float | str = "auto",
        mask_weight: float | str = "auto",
        mask_strength: float = 1.1,
        mask_orientation: Orientation = "corrected",
        penalty: float | str = "auto",
        penalty_growth: float = 2.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        noise: float | None = None,
        outliers: float | str | None = None,
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
        self.soft_mask = soft_mask
        self.sparsity = sparsity
        self.mask_weight = mask_weight
        self.mask_strength = mask_strength
        self.mask_orientation: Orientation = mask_orientation
        self.penalty = penalty
        self.penalty_growth = penalty_growth
        self.max_iter = max_iter
        self.tol = tol
        self.noise = noise
        self.outliers = outliers
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
        psi = LabelPsi(self.mask_strength, self.mask_orientation)
        mask = first_soft_mask(self.soft_mask, rows, psi.strength, psi.orientation, task.seed, "soft_mask")
        prepared = self._representer().prepare(rows, known=task.known, hard=task.hard, seed=task.seed)
        strategy = OneMember(prepared, self._labeler(), psi, task.evidence(rows), task.seed, self.max_iter)
        return run_rounds(strategy, mask, max_rounds=1, tol=0.0, events=task.events)
