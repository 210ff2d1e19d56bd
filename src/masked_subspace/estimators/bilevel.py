"""The bilevel frame: any representer, any labeler, joined by any mask function."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral

from sklearn.base import BaseEstimator

from masked_subspace._common.types import FloatArray, MaskLike, RandomSeed
from masked_subspace._common.validation import Interval
from masked_subspace.estimators.base import SelfExpressiveClusterer, Task
from masked_subspace.estimators.parameters import described
from masked_subspace.label.labeler import GraphLabeler, Labeler, Labeling, NumberWanted
from masked_subspace.masks.base import SoftMask
from masked_subspace.masks.soft import LabelMask, Orientation, first_soft_mask
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rounds.recursion import OneMember, RoundsResult, run_rounds


class LabelPsi(BaseEstimator):
    """ψ of `eq:rmsc`: the label mask of what the labeler found."""

    def __init__(self, strength: float = 1.1, orientation: Orientation = "corrected") -> None:
        self.strength = strength
        self.orientation: Orientation = orientation

    def __call__(self, labeling: Labeling) -> LabelMask:
        return LabelMask(labeling.labels, self.strength, orientation=self.orientation)


@described
class BilevelClustering(SelfExpressiveClusterer):
    """Bilevel clustering optimization (`eq:bco` of the paper): any representer, any labeler, any mask function.

        min_x f(x, ψ(y))   subject to   y = argmin_y g(x, y)

    The representer f, the labeler g and the mask function ψ between them are run by the recursion that BMSC, GMSC and
    RMSC run: x = f(ψ(y)), y = g(x), and so on until ψ(y) stops changing.

    Parameters
    ----------
    representer : object or None, default=None
        f. `prepare(X, known=, hard=, seed=)` sees the samples once and returns an object. That object's
        `represent(soft_mask, progress)` is asked in every round and gives Z in a `SolverResult` (of
        `masked_subspace.represent.model`). None: Algorithm 1 with the defaults of `GMSC`.
    labeler : object or None, default=None
        g. `label(representation, evidence, seed)` gives labels, a graph and an embedding in a `Labeling` (of
        `masked_subspace.label.labeler`). None: the five strongest links of each sample, and the cut that suits so
        many samples.
    mask : callable or None, default=None
        ψ, from a `Labeling` to a soft mask. None: a `LabelMask` of its labels, pairs of one cluster 1.1 times cheaper
        and others 1.1 times dearer.
    max_rounds : int, default=5
        Most rounds of representing and labelling.
    mask_tol : float, default=1e-06
        The rounds stop when the mask changes by no more than this.
    {parameters}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, from 0.
    n_clusters_ : int
        The number of clusters: as given, or chosen.
    n_clusters_scores_ : list of dict
        Where it was chosen, one record for each number tried.
    n_clusters_candidates_ : list of int
        Where it was chosen, that number and up to two others with nearly as much evidence.
    representation_matrix_ : csr_array of shape (n_samples, n_samples)
        What f found in the last round.
    affinity_matrix_ : csr_array of shape (n_samples, n_samples)
        The graph that g made of it.
    embedding_ : ndarray of shape (n_samples, n_vectors)
        Where the samples lie in g's cut.
    certainty_ : ndarray of shape (n_samples,)
        0 to 1: how much nearer a sample is to its own cluster's centre in the embedding than to the next.
    view_ : str
        "plain": the samples were centred and scaled as `center` and `normalize` say.
    subspaces_ : list of Bunch
        One record a cluster, in the features of X: `mean` (d,), `basis` (dim × d, orthonormal rows), `dim`, `explained`
        (share of the squared distances from the mean that lies in the subspace), `size`. Computed when first asked for.
    n_iter_ : int
        Iterations of f in the last round.
    n_rounds_ : int
        Rounds played.
    history_ : list of dict
        One record a round: objective, residuals, mask change, seconds.
    round_affinities_ : list of csr_array of shape (n_samples, n_samples)
        The graph of each round.
    round_labels_ : list of ndarray of shape (n_samples,)
        The labels of each round.
    soft_mask_ : SoftMask or None
        The mask of the last round.
    noise_ : ndarray of shape (n_samples, n_features)
        ε, if f finds noise.
    outliers_ : csr_array of shape (n_samples, n_features)
        O, if f finds outliers.
    n_features_in_ : int
        Features of the samples seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of these features, where X was a data frame with text names.

    References
    ----------
    .. [Song2025] Song, J. and Ling, H. (2025). Masked subspace clustering methods. arXiv:2505.06863,
       equation (2).

    Examples
    --------
    >>> from masked_subspace import BilevelClustering
    >>> from masked_subspace.datasets import make_subspaces
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BilevelClustering(n_clusters=3, random_state=0).fit(X)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    _parameter_constraints = {
        "representer": "no_validation",
        "labeler": "no_validation",
        "mask": "no_validation",
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        representer: BaseEstimator | None = None,
        labeler: Labeler | None = None,
        mask: Callable[[Labeling], SoftMask] | None = None,
        *,
        max_rounds: int = 5,
        mask_tol: float = 1e-6,
        n_clusters: NumberWanted = 8,
        init: MaskLike = None,
        center: bool = True,
        normalize: bool = True,
        constraints: str = "soft",
        random_state: RandomSeed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.representer = representer
        self.labeler = labeler
        self.mask = mask
        self.max_rounds = max_rounds
        self.mask_tol = mask_tol
        self.n_clusters = n_clusters
        self.init = init
        self.center = center
        self.normalize = normalize
        self.constraints = constraints
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _needs_coordinates(self) -> bool:
        """Whether f or g is not ours: a representer or labeler of the user's is given arrays."""
        ours = self.representer is None or (
            type(self.representer) is MaskedRepresenter and self.representer.solver != "dense"
        )
        return not (ours and (self.labeler is None or type(self.labeler) is GraphLabeler))

    def _play(self, rows: FloatArray, task: Task) -> RoundsResult:
        representer = MaskedRepresenter(n_jobs=self.n_jobs) if self.representer is None else self.representer
        labeler = GraphLabeler(self._wanted()) if self.labeler is None else self.labeler
        psi = LabelPsi() if self.mask is None else self.mask
        usual = psi if isinstance(psi, LabelPsi) else LabelPsi()
        mask = first_soft_mask(self.init, rows, usual.strength, usual.orientation, task.seed, "init")
        prepared = representer.prepare(rows, known=task.known, hard=task.hard, seed=task.seed)
        strategy = OneMember(prepared, labeler, psi, task.evidence(rows), task.seed)
        return run_rounds(strategy, mask, max_rounds=self.max_rounds, tol=self.mask_tol, events=task.events)
