"""How real clusters are, by value: agreement × prediction strength, × separation where clouds were found."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.utils import check_random_state

from masked_subspace import BMSC, RMSC
from masked_subspace._common.rows import content_order, on_one_scale
from masked_subspace.estimators import masked
from masked_subspace.estimators.base import Fit
from masked_subspace.label.graph import in_order
from masked_subspace.label.modularity import modularity_cut
from masked_subspace.label.separation import separation
from masked_subspace.metrics import adjusted_rand_index
from masked_subspace.rounds.defaults import DOUBTFUL_STRUCTURE
from masked_subspace.rounds.judge import gaps_of, strength_of, yardsticks


def noisy(noise=0.8, n_clusters=3, each=25, seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(each, 3)) @ rng.normal(size=(3, 24)) for _ in range(n_clusters)])
    return X / np.linalg.norm(X, axis=1, keepdims=True) + noise * rng.normal(size=X.shape) / np.sqrt(24)


def agreed(labels, votes):
    return np.mean([adjusted_rand_index(labels, one) for one in votes])


@pytest.mark.filterwarnings("ignore:The clusters may not be real")
def test_one_member_agrees_with_the_modularity_cut_of_its_graph():
    X = noisy(1.6)
    model = BMSC(3, random_state=0).fit(X)
    order = content_order(model._rows)
    cut = np.empty(len(X), dtype=int)
    cut[order] = modularity_cut(in_order(model.affinity_matrix_, order), 3, 0)
    agreement = adjusted_rand_index(model.labels_, cut)
    strength = strength_of(yardsticks(X), model.labels_, 3)
    assert 0 < agreement < 1
    assert 0 < strength < 1
    assert model.structure_ == pytest.approx(agreement * strength)


@pytest.mark.filterwarnings("ignore:The clusters may not be real")
def test_several_members_agree_with_their_consensus():
    X = noisy(1.4)
    model = RMSC(3, members=4, view="plain", random_state=0).fit(X)
    agreement, strength = agreed(model.labels_, model.member_labels_), strength_of(yardsticks(X), model.labels_, 3)
    assert agreement < 1
    assert model.structure_ == pytest.approx(agreement * strength)


@pytest.fixture(scope="module")
def cells():
    """Four clouds that touch, in three features of different units, and the default fit."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(100, 3)) + 0.8 * np.repeat(rng.normal(size=(4, 3)), 25, axis=0)) * [1, 10, 0.1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return X, RMSC(4, random_state=0).fit(X)


def test_clouds_of_a_table_must_stand_apart(cells):
    X, model = cells
    taken = next(one for one in model.choices_ if one["taken"])
    assert taken["way"] in ("near", "standardized", "mixture", "shared-mixture")
    seed = check_random_state(0).randint(2**31 - 1)
    strength = strength_of(yardsticks(X), model.labels_, 4, seed, gaps_of(X, seed))
    apart = separation(on_one_scale(X), model.labels_)
    assert 0 < apart < 1
    assert model.structure_ == pytest.approx(agreed(model.labels_, model.member_labels_) * strength * apart, rel=1e-6)


class Fitted:
    """What `_apart` looks at."""

    def __init__(self, X, way):
        self.X, self.choices = X, [{"way": "other", "taken": False}, {"way": way, "taken": True}]


@pytest.mark.parametrize(
    ("way", "features", "counts"),
    [
        ("near", 3, True),
        ("standardized", 20, True),
        ("mixture", 20, True),
        ("shared-mixture", 2, True),
        ("near", 21, False),
        ("plain", 3, True),
        ("ridge", 7, True),
        ("plain", 8, False),
        ("linear-mixture", 3, False),
        ("low-rank", 7, True),  # fewer directions than four independent planes have
        ("low-rank", 8, False),
    ],
)
def test_only_clouds_in_few_features_must_stand_apart(way, features, counts):
    X = np.random.default_rng(0).normal(size=(60, features))
    model = RMSC(4)
    model.n_clusters_, model._labels_of_all = 4, np.arange(60) % 4
    assert (model._apart(Fitted(X, way)) < 1) == counts


@pytest.mark.filterwarnings("ignore:The clusters may not be real")
def test_many_samples_are_measured_by_some_of_them(monkeypatch):
    """Where fewer are measured than there are, the strength is that of those, and no gap counts for one view."""
    monkeypatch.setattr(masked, "_MEASURED", 40)
    X = noisy(1.4)
    model = RMSC(3, members=4, view="plain", random_state=0).fit(X)
    some = masked.drawn_by_content(X, 40, np.random.default_rng(0))
    strength = strength_of(yardsticks(X[some]), model.labels_[some], 3)
    assert model.structure_ == pytest.approx(agreed(model.labels_, model.member_labels_) * strength)


def test_below_the_limit_a_fit_warns_and_one_cluster_has_no_structure():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match=rf"below {DOUBTFUL_STRUCTURE} is like noise"):
        model = BMSC(4, random_state=0).fit(rng.normal(size=(60, 20)))
    assert model.structure_ < DOUBTFUL_STRUCTURE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert BMSC(1, random_state=0).fit(rng.normal(size=(20, 5))).structure_ == 0


def test_a_given_graph_has_agreement_alone():
    W = np.kron(np.eye(3), np.ones((10, 10))) + 0.05
    np.fill_diagonal(W, 0)
    assert BMSC(3, affinity="precomputed", random_state=0).fit(W).structure_ == 1


@pytest.mark.parametrize("judged", [True, False])
def test_a_gap_counts_where_ways_were_judged(judged):
    """Two rings that no subspace predicts, fitted where the judge has measured no strength of the final labels."""
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 120)
    ring = np.repeat([1.0, 4.0], 60)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    y = np.repeat([0, 1], 60)
    last = SimpleNamespace(votes=[y, y])
    choices = [{"way": "plain", "taken": True}] if judged else None
    fit = Fit(ring, None, ring, SimpleNamespace(last=last), choices, views_chosen=judged)
    model = RMSC(2)
    model.n_clusters_, model._labels_of_all = 2, y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model._how_real(fit)
    gaps = gaps_of(ring) if judged else None
    assert found == pytest.approx(strength_of(yardsticks(ring), y, 2, gaps=gaps))
    assert (found > 0.5) == judged


def test_motions_are_judged_along_the_directions_that_tell_them_apart():
    """Three bodies that move nearly alike: as given, and on one scale, none of them predicts itself."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    points = np.hstack([rng.normal(size=(180, 3)), np.ones((180, 1))])
    motions = rng.normal(size=(4, 40)) + 0.05 * rng.normal(size=(3, 4, 40))
    X = np.einsum("ij,ijk->ik", points, motions[y]) + 1e-4 * rng.normal(size=(180, 40))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RMSC(3, random_state=0).fit(X)
    assert next(one["way"] for one in model.choices_ if one["taken"]) == "low-rank"
    assert adjusted_rand_index(model.labels_, y) > 0.9
    assert strength_of(yardsticks(X), model.labels_, 3) < 0.3
    assert model.structure_ > 0.5
