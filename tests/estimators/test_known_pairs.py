"""What is known enters the fit, survives every round, and helps."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.metrics import clustering_accuracy

SHARES = (0.0, 0.01, 0.05, 0.1)


def known_labels(truth, share, seed):
    labels = np.full(len(truth), -1)
    given = np.random.default_rng(seed).choice(len(truth), round(share * len(truth)), replace=False)
    labels[given] = truth[given]
    return labels


def pairs_of(truth, share, seed):
    """All pairs among the labelled samples, as must-links and cannot-links."""
    given = np.flatnonzero(known_labels(truth, share, seed) >= 0)
    i, j = (given[part] for part in np.triu_indices(len(given), 1))
    same = truth[i] == truth[j]
    pairs = np.stack([i, j], axis=1)
    return pairs[same], pairs[~same]


def test_accuracy_rises_with_the_share_of_known_labels():
    """Mean over twenty draws of 300 digits: with ten, what 1 % of known labels bring is less than the draws' spread."""
    data = load_digits()
    accuracy = np.zeros((20, len(SHARES)))
    for seed in range(20):
        pick = np.random.default_rng(seed).choice(len(data.data), 300, replace=False)
        X, truth = data.data[pick], data.target[pick]
        for column, share in enumerate(SHARES):
            model = GMSC(10, random_state=seed).fit(X, partial_labels=known_labels(truth, share, seed))
            accuracy[seed, column] = clustering_accuracy(truth, model.labels_)
    mean = accuracy.mean(axis=0)
    assert (np.diff(mean) > 0).all()
    assert mean[2] > mean[0] + 0.01
    assert mean[3] > mean[0] + 0.03


def test_members_vote_as_they_would_without_labels(digits):
    X, truth = digits
    labels = known_labels(truth, 0.1, 0)
    free = RMSC(10, members=3, random_state=0).fit(X)
    told = RMSC(10, members=3, random_state=0).fit(X, partial_labels=labels)
    np.testing.assert_array_equal(np.stack(told.member_labels_), np.stack(free.member_labels_))
    np.testing.assert_array_equal(told.labels_[labels >= 0], labels[labels >= 0])
    assert clustering_accuracy(truth, told.labels_) > clustering_accuracy(truth, free.labels_)


@pytest.mark.parametrize("constraints", ["soft", "hard"])
def test_given_labels_are_kept_under_their_own_names(digits, constraints):
    X, truth = digits
    labels = known_labels(truth, 0.1, 0)
    model = GMSC(10, constraints=constraints, random_state=0).fit(X, partial_labels=labels)
    np.testing.assert_array_equal(model.labels_[labels >= 0], labels[labels >= 0])


@pytest.mark.parametrize(
    "model",
    [BMSC(10), GMSC(10), GMSC(10, solver="sparse"), RMSC(10, members=1, max_rounds=3), RMSC(10, members=3)],
    ids=["BMSC", "GMSC", "GMSC sparse", "RMSC", "RMSC members"],
)
def test_no_pair_is_violated_under_hard_constraints(digits, model):
    X, truth = digits
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(X), (200, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    model.set_params(constraints="hard", random_state=0).fit(X, must_link=pairs[same], cannot_link=pairs[~same])
    known = KnownPairs.of(len(X), pairs[same], pairs[~same])
    for labels in [model.labels_, *model.round_labels_]:
        assert known.violations(labels) == 0


def test_no_wrong_pair_is_violated_either(digits):
    """Hard means hard: pairs against the truth are kept as well."""
    X, truth = digits
    must = np.stack([np.flatnonzero(truth == 0)[:5], np.flatnonzero(truth == 1)[:5]], axis=1)
    cannot = np.stack([np.flatnonzero(truth == 2)[:5], np.flatnonzero(truth == 2)[5:10]], axis=1)
    labels = GMSC(10, constraints="hard", random_state=0).fit(X, must_link=must, cannot_link=cannot).labels_
    np.testing.assert_array_equal(labels[must[:, 0]], labels[must[:, 1]])
    assert (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()


def test_pairs_help_as_labels_do():
    """Mean over three draws of 300 digits: pairs alone name no cluster, yet say nearly as much as labels."""
    data = load_digits()
    accuracy = np.zeros((3, 3))
    for seed in range(3):
        pick = np.random.default_rng(seed).choice(len(data.data), 300, replace=False)
        X, truth = data.data[pick], data.target[pick]
        must, cannot = pairs_of(truth, 0.1, seed)
        told = ({}, {"must_link": must, "cannot_link": cannot}, {"partial_labels": known_labels(truth, 0.1, seed)})
        for column, knowledge in enumerate(told):
            labels = GMSC(10, random_state=seed).fit(X, **knowledge).labels_
            accuracy[seed, column] = clustering_accuracy(truth, labels)
    free, by_pairs, by_labels = accuracy.mean(axis=0)
    assert by_pairs > free
    assert by_pairs > by_labels - 0.03


def test_classes_without_a_label_are_still_found(digits):
    X, truth = digits
    labels = known_labels(truth, 0.2, 0)
    labels[labels >= 5] = -1
    model = GMSC(10, random_state=0).fit(X, partial_labels=labels)
    assert len(np.unique(model.labels_)) == 10
    unseen = truth >= 5
    assert clustering_accuracy(truth[unseen], model.labels_[unseen]) > 0.75


def test_nothing_known_changes_nothing(digits):
    X, _ = digits
    plain = GMSC(10, random_state=0).fit(X)
    empty = GMSC(10, random_state=0).fit(X, must_link=[], cannot_link=[], partial_labels=np.full(len(X), -1))
    np.testing.assert_array_equal(plain.labels_, empty.labels_)


def test_cannot_link_pairs_never_rebuild_each_other_when_hard(digits):
    X, truth = digits
    labels = known_labels(truth, 0.5, 0)
    model = GMSC(10, constraints="hard", random_state=0).fit(X, partial_labels=labels)
    i, j = model.representation_matrix_.nonzero()
    both = (labels[i] >= 0) & (labels[j] >= 0)
    assert (labels[i][both] == labels[j][both]).all()


def test_known_pairs_make_links_cheap(digits):
    """The mask does its work before any label is made: must-linked samples rebuild each other more."""
    X, truth = digits
    labels = known_labels(truth, 0.5, 0)

    def weight_inside(model):
        Z = abs(model.representation_matrix_).tocoo()
        both = (labels[Z.row] >= 0) & (labels[Z.col] >= 0)
        same = both & (labels[Z.row] == labels[Z.col])
        return Z.data[same].sum() / Z.data[both].sum()

    settings = {"mask_weight": 1.0, "random_state": 0}
    free = GMSC(10, **settings).fit(X)
    told = GMSC(10, **settings).fit(X, partial_labels=labels)
    assert weight_inside(told) > weight_inside(free)


def test_more_labels_than_clusters_are_refused(digits):
    X, truth = digits
    with pytest.raises(ValueError, match="10 different labels but n_clusters=3"):
        GMSC(3).fit(X, partial_labels=truth)
