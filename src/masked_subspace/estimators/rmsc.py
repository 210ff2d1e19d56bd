"""Recursive masked subspace clustering; the order of a default fit stands in rounds/defaults.py."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from masked_subspace._common.rows import drawn_by_content
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, MaskLike, RandomSeed, Record
from masked_subspace.estimators.base import Fit, Task
from masked_subspace.estimators.bilevel import LabelPsi
from masked_subspace.estimators.masked import MaskedClusterer
from masked_subspace.estimators.parameters import described
from masked_subspace.label.agreement import agreement
from masked_subspace.label.labeler import Cut, Evidence, NumberWanted
from masked_subspace.label.number_of_clusters import Number
from masked_subspace.masks.soft import Orientation, first_soft_mask
from masked_subspace.rounds.defaults import (
    CONSENSUS_STRENGTH,
    JUDGED_A_CLUSTER,
    JUDGED_SAMPLES,
    LINKS_OF_MANY,
    MEMBER_TOL,
    MEMBERS,
    NUMBERED_SAMPLES,
    ONE_VIEW_FROM,
    ROUNDS_OF_ONE,
    ROUNDS_OF_ONE_VIEW,
    SETTLED,
    cuts_for,
    links_by_cosine_for,
    links_for,
    voting_links,
    wider_links_for,
)
from masked_subspace.rounds.flats import FLATS
from masked_subspace.rounds.judge import FAMILIES, MODELS, Way, families_of, family_of, judged_ways, votes_of_model
from masked_subspace.rounds.low_rank import CLEAR_GAP, ClosedForm, Rank, clearest_cuts, is_sure, number_of_low_rank
from masked_subspace.rounds.mixtures import FEATURES_OF_A_TABLE, number_of_mixtures, voting
from masked_subspace.rounds.open_number import Seen, has_few_features, number_of_views
from masked_subspace.rounds.recursion import Ensemble, OneMember, Recipe, RoundsResult, run_rounds
from masked_subspace.rows.checks import refuse_vanished
from masked_subspace.rows.preparation import VIEWS, Preparation, View, view_of
from masked_subspace.rows.sparse_preparation import directions_kept

_OF_ONE_MEMBER = ("sparsity", "penalty", "penalty_growth", "mask_weight", "mask_tol")
_OF_LABEL_MASKS = ("mask_strength", "mask_orientation")


@described
class RMSC(MaskedClusterer):
    """Recursive masked subspace clustering: clusters learn the mask that finds them. The method to begin with.

    Give the number of clusters and nothing else. It is GMSC whose soft mask is learnt from labels (`eq:rmsc` of the
    paper):

        Z = GMSC(X, Mˢ)  →  W = φ(Z)  →  labels = a cut of W  →  Mˢ = ψ(labels)  →  Z = …

    until the mask stops changing, ψ = 1/β for two samples of one cluster and β for others.

    With `members=1` this is the paper's RMSC: `BilevelClustering(MaskedRepresenter, GraphLabeler, LabelPsi)`, and with
    one round `GMSC`. With several members (the default) every round represents the data in several views (in several
    settings, where `view` is given), and both the mask and the labels come from their agreement. Several views play
    one round by default: a second one does not gain (`max_rounds`). Which family of views suits the data is judged
    without labels; data of low rank, such as motions, get a closed form: the graph of their
    leading directions.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    member_labels_ : list of ndarray of shape (n_samples,)
        With several members, one entry a vote: every cut of every graph, graph by graph.
    choices_ : list of dict
        One record for each way that was judged: views, cuts, agreement, strength, score, taken; beyond 20 features also
        evened_strength, with directions evened out. Strength is None, and the score what it is at most, where a way
        could not lead; `directions` where ridge or whitened views of many sparse samples have their leading directions
        only.
    noise_ : ndarray of shape (n_samples, n_features)
        ε, if `noise` is a number (v2).
    outliers_ : csr_array of shape (n_samples, n_features)
        O, if `outliers` is not None (v2).

    References
    ----------
    .. [Song2025] Song, J. and Ling, H. (2025). Masked subspace clustering methods. arXiv:2505.06863,
       equation (8) and Algorithm 2.

    Examples
    --------
    >>> from masked_subspace import RMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> X = make_subspaces(n_subspaces=3, per_subspace=30, random_state=0).data
    >>> model = RMSC(3, random_state=0).fit(X)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [30, 30, 30]
    >>> model.structure_ > 0.5  # the clusters are real
    True
    """

    def __init__(
        self,
        n_clusters: NumberWanted = 8,
        *,
        init: MaskLike = None,
        members: int | str = "auto",
        sparsity: float | str = "auto",
        mask_weight: float | str = "auto",
        mask_strength: float = 1.1,
        mask_orientation: Orientation = "corrected",
        max_rounds: int | str = "auto",
        mask_tol: float = 1e-6,
        penalty: float | str = "auto",
        penalty_growth: float = 2.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        noise: float | None = None,
        outliers: float | str | None = None,
        hard_mask: MaskLike = None,
        affinity: str = "top-k",
        n_links: int | str = "auto",
        n_components: int | str | None = "auto",
        cut: str = "auto",
        view: float | str = "auto",
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
        self.init = init
        self.members = members
        self.sparsity = sparsity
        self.mask_weight = mask_weight
        self.mask_strength = mask_strength
        self.mask_orientation: Orientation = mask_orientation
        self.max_rounds = max_rounds
        self.mask_tol = mask_tol
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

    def _n_members(self) -> int:
        usual = MEMBERS if isinstance(self.sparsity, str) else 1
        return usual if isinstance(self.members, str) else int(self.members)

    def _check_settings(self, X: FloatArray) -> None:
        super()._check_settings(X)
        if self._n_members() == 1:
            return
        usual = inspect.signature(type(self)).parameters
        unused = [
            f"{name}={getattr(self, name)!r}"
            for name in _OF_ONE_MEMBER + (_OF_LABEL_MASKS if self.init is None else ())
            if getattr(self, name) != usual[name].default
        ]
        if unused:
            warnings.warn(
                f"{', '.join(unused)} has no effect with {self._n_members()} members, which have settings of "
                "their own; set members=1 to use it.",
                UserWarning,
                stacklevel=4,
            )

    def _remedy(self) -> str:
        return super()._remedy() if self._n_members() == 1 else f"tol (now {max(MEMBER_TOL, self.tol)})"

    def _cluster(self, task: Task) -> Fit:
        if self._n_members() == 1:
            return super()._cluster(task)
        # Wrong entries are taken out before anything is judged: they would decide which way leads.
        cleaned, outliers = self._without_outliers(task)
        asked = replace(task, X=cleaned)
        number, seen = self._choose_number(asked)
        if number is not None:
            self.n_clusters_ = number.n_clusters
            named = " or ".join(map(str, number.candidates))
            task.events.message(f"number of clusters: {number.n_clusters} (candidates {named})")
        return replace(self._cluster_into(asked, seen), X=task.X, number=number, outliers=outliers)

    def _choose_number(self, task: Task) -> tuple[Number | None, Seen | None]:
        """K where it was left open, and what was represented to find it: the judge goes on with that."""
        low, high = self._bounds
        if low == high:
            return None, None
        if self.view == "low-rank" or (self.view == "auto" and self.normalize and self._leaves_the_model_open()):
            motions = number_of_low_rank(task.X, low, high, task.seed, only_if_low=self.view == "auto")
            if motions is not None:
                return motions, None
        see = partial(self._see, task, max(NUMBERED_SAMPLES, JUDGED_SAMPLES))
        may_be_clouds = self.view == "auto" and self.normalize and has_few_features(task.X)
        mixed = number_of_mixtures(task.X, low, high, task.seed) if may_be_clouds else None
        if mixed is not None:
            return mixed, None
        return number_of_views(see, may_be_clouds, self._bounds, task.seed, task.n_threads)

    def _cluster_into(self, task: Task, seen: Seen | None) -> Fit:
        """K clusters; `seen` is what was represented while K was looked for."""
        if self.view == "low-rank":
            return self._closed_form(task, clearest_cuts(task.X, self.n_clusters_, task.seed, asked=True))
        if self.view != "auto" or not self.normalize:
            return self._vote(task, [self._one_view()], None, [])
        ranks, closed = None, None
        if self._leaves_the_model_open():
            ranks = clearest_cuts(task.X, self.n_clusters_, task.seed, asked=False)
        if ranks is not None and ranks[1][0].gap >= CLEAR_GAP:
            closed = self._closed_form(task, ranks)
            # In a table with fewer features than K planes have directions the gap may be that of clouds.
            of_subspaces = task.X.shape[1] >= min(FEATURES_OF_A_TABLE + 1, 2 * self.n_clusters_)
            labels = closed.rounds.last.labeling.labels
            if of_subspaces and is_sure(ranks[1][0].gap, closed.rows, labels, self.n_clusters_):
                return closed
        ways = self._judge(task, seen)
        taken = ways[0]
        # A single rank agrees with itself.
        votes = [] if closed is None else closed.rounds.last.votes
        wins = closed is not None and len(votes) > 1 and self._score(closed, taken, task) >= taken.score
        records = [way.record(way is taken and not wins, self._cuts(len(task.X))) for way in ways]
        others = [way for way in ways if wins or way is not taken] if len(taken.labels) == len(task.X) else []
        beside = [way.votes_made() for way in others]
        if closed is not None and wins:
            return replace(closed, choices=[*(closed.choices or []), *records], other_votes=beside)
        if isinstance(task.X, SparseSamples):
            for record, way in zip(records, ways, strict=True):
                record |= directions_kept(task.X, way.family.views)
        if ranks is not None:
            records.append({"way": "low-rank", "views": ["low-rank"], "gap": ranks[1][0].gap, "taken": False})
        task.events.message(f"views: {taken.family.name} (agreement {taken.agreement:.2f}, score {taken.score:.2f})")
        return replace(self._vote(task, taken.family.views, taken, records), other_votes=beside)

    def _score(self, closed: Fit, way: Way, task: Task) -> float:
        """The score of the closed form by the measures with which `way` was judged, on the samples that were."""
        last = closed.rounds.last
        judged = drawn_by_content(task.X, len(way.labels), np.random.default_rng(task.seed))
        return agreement(last.votes) * way.strength_of(last.labeling.labels[judged])

    def _leaves_the_model_open(self) -> bool:
        """Whether nothing was asked for that only Algorithm 1 has: noise, outliers, masks, affine rows."""
        return self._knows_only_samples() and self.outliers is None

    def _knows_only_samples(self) -> bool:
        """The same, but outliers that are taken out of the samples beforehand."""
        asked = (self.noise, None if self.outliers == "auto" else self.outliers, self.hard_mask, self.init)
        return all(one is None for one in asked) and not self.affine and self.constraints == "soft"

    def _play(self, rows: FloatArray, task: Task) -> RoundsResult:
        """The paper's rounds: one member and its own labels."""
        psi = LabelPsi(self.mask_strength, self.mask_orientation)
        mask = first_soft_mask(self.init, rows, psi.strength, psi.orientation, task.seed, "init")
        rounds = ROUNDS_OF_ONE if isinstance(self.max_rounds, str) else self.max_rounds
        prepared = self._representer().prepare(rows, known=task.known, hard=task.hard, seed=task.seed, rounds=rounds)
        strategy = OneMember(prepared, self._labeler(), psi, task.evidence(rows), task.seed, self.max_iter)
        return run_rounds(strategy, mask, max_rounds=rounds, tol=self.mask_tol, events=task.events)

    def _cuts(self, n_samples: int) -> list[Cut]:
        return cuts_for(self.cut, n_samples, self.n_clusters_)

    def _cuts_of_graph(self, n_samples: int) -> list[Cut]:
        return self._cuts(n_samples) if self._n_members() > 1 else super()._cuts_of_graph(n_samples)

    def _recipe(self, n_samples: int, seed: int) -> Recipe:
        representer = self._representer()
        if self.solver == "auto":
            # Members share candidates and their products, which makes each of them cheap (docs/findings/accuracy.md).
            representer.set_params(solver="sparse")
        links = links_for(self.n_links, n_samples, self.n_clusters_)
        return Recipe(
            representer=representer,
            n_clusters=self.n_clusters_,
            n_members=self._n_members(),
            links=links,
            links_by_cosine=links_by_cosine_for(self.n_links, n_samples, self.n_clusters_),
            cuts=self._cuts(n_samples),
            mask_strength=CONSENSUS_STRENGTH,
            affinity=self.affinity,
            n_components=self.n_components,
            seed=seed,
            normalize=self.normalize,
        )

    def _one_view(self) -> View:
        return view_of("plain" if self.view == "auto" else self.view, center=self.center)

    def _judge(self, task: Task, seen: Seen | None = None, *, every: bool = False) -> list[Way]:
        """Ways with their scores, best first: on all samples, or on a seeded sample of many. With `every` those too
        that could not lead."""
        if seen is None or not seen.whole:
            seen = self._see(task, max(JUDGED_SAMPLES, JUDGED_A_CLUSTER * self.n_clusters_), before=seen)
        return judged_ways(seen.X, seen.families, self._recipe(len(seen.X), task.seed), every=every)

    def _see(self, task: Task, keep: int, only: Sequence[str] = tuple(FAMILIES), before: Seen | None = None) -> Seen:
        """Every family of views that is permitted, or those named in `only`, represented on at most `keep` samples, or
        on those on which some were represented `before`."""
        X = task.X if before is None else before.X
        if before is None and len(X) > keep:
            X = X[drawn_by_content(X, keep, np.random.default_rng(task.seed))]
        recipe = self._recipe(len(X), task.seed)
        if len(X) < len(task.X):
            recipe = replace(recipe, representer=self._representer().set_params(solver="sparse", hard_mask=None))
        evidence = replace(task.evidence(X), known=None if len(X) < len(task.X) else task.known)
        if self.view != "auto" or not self.normalize:
            view = self._one_view()
            return Seen(X, [family_of(view.name, [view], X, recipe, evidence, task.events)])
        sparse = isinstance(X, SparseSamples)
        permitted = partial(View.permitted, center=self.center, only_samples=self._knows_only_samples(), sparse=sparse)
        seen = before.families if before is not None else []
        families = families_of(X, recipe, evidence, task.events, permitted=permitted, only=only, seen=seen)
        return Seen(X, families, whole=len(only) == len(FAMILIES))

    def _vote(self, task: Task, views: Sequence[View], taken: Way | None, choices: list[Record]) -> Fit:
        """Members of these views vote; `taken` is the way that the judge chose, None where the user gave the view.

        A fit is represented and cut once. The judge has done that for every way, so that its votes are round 1 where
        it saw what is clustered now; where it did not (a sample of many, prices of `init`, hard pairs) members are
        asked again.
        """
        preparation = Preparation.learn(task.X, views[0], normalize=self.normalize)
        rows = preparation.apply(task.X)
        refuse_vanished(rows)
        as_judged = self.init is None and not task.hard
        judged = taken if taken is not None and as_judged and len(taken.labels) == len(rows) else None
        if judged is not None:
            ensemble, mask = self._with_votes_of_judge(judged, task.evidence(rows)), None
        else:
            ensemble = self._asked_again(task.X, rows, views, taken, task)
            mask = first_soft_mask(self.init, rows, self.mask_strength, self.mask_orientation, task.seed, "init")
        usual = 1 if ensemble.one_setting else ROUNDS_OF_ONE_VIEW
        rounds = usual if isinstance(self.max_rounds, str) else self.max_rounds
        if taken is not None and taken.family.name in FLATS:
            rounds = 1  # a second one would cut graphs, which err where subspaces cross
        played = run_rounds(ensemble, mask, max_rounds=rounds, tol=SETTLED, events=task.events)
        strength = None if judged is None else judged.strength_of(played.last.labeling.labels)
        return Fit(task.X, preparation, rows, played, choices, taken is not None, strength=strength)

    def _with_votes_of_judge(self, way: Way, evidence: Evidence) -> Ensemble:
        """The members of a way that was judged on all samples; what it found is their first ballot."""
        family = way.family
        of_codes = family.name not in MODELS and not family.views[0].by_cosine
        left_open = isinstance(self.n_links, str) and isinstance(self.members, str)
        wider = wider_links_for(len(way.labels), self.n_clusters_) if of_codes and left_open else ()
        return replace(family.ensemble, evidence=evidence, first_ballot=family.widened(wider))

    def _asked_again(
        self, X: FloatArray, rows: FloatArray, views: Sequence[View], taken: Way | None, task: Task
    ) -> Ensemble:
        """Members of these views, which have not seen the samples X yet; only models vote before the first round."""
        recipe, one_setting = self._recipe(len(X), task.seed).for_views(views), taken is not None
        links_given = views[0].by_cosine or not isinstance(self.n_links, str)
        if len(X) > ONE_VIEW_FROM:
            views, one_setting = views[:1], True
            many = recipe.links if links_given else LINKS_OF_MANY
            recipe = replace(recipe, n_members=min(self._n_members(), len(many)), links=many)
        elif one_setting and isinstance(self.members, str):
            links = recipe.links if links_given else voting_links(recipe.links, len(X), self.n_clusters_)
            recipe = replace(recipe, n_members=None, links=links)
        ensemble = Ensemble.of(recipe, X, views, task.evidence(rows), one_setting=one_setting)
        if taken is None or taken.family.name not in MODELS:
            return ensemble
        votes = votes_of_model(taken.family.name, X, rows, self.n_clusters_, task.seed)
        ensemble, ballot = voting(ensemble, ensemble.represent(1, None, task.events), votes)
        return replace(ensemble, first_ballot=ballot)

    def _closed_form(self, task: Task, found: tuple[Preparation, list[Rank]] | None) -> Fit:
        assert found is not None
        preparation, ranks = found
        directions = preparation.apply(task.X)
        strategy = ClosedForm(directions, ranks, self.n_clusters_, task.evidence(directions), task.seed)
        played = run_rounds(strategy, None, max_rounds=1, tol=0.0, events=task.events)
        record = {"way": "low-rank", "views": [VIEWS["low-rank"].name], "gap": ranks[0].gap, "taken": True}
        return Fit(task.X, preparation, directions, played, [record], views_chosen=True)
