"""Memberships agree with labels, and votes become probabilities without labels from outside."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine

from masked_subspace import BMSC, RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators import out_of_sample, rmsc
from masked_subspace.estimators.calibration import Sharpening
from masked_subspace.estimators.voting import nearest_voters, voters_of
from masked_subspace.label.agreement import doubted, shares_beside_others, shares_of_votes, with_own_first


@pytest.mark.parametrize("model", [BMSC(3, random_state=0), RMSC(3, random_state=0)])
def test_the_largest_membership_is_the_label(model):
    model.fit(load_wine().data)
    assert np.array_equal(model.memberships_.argmax(axis=1), model.labels_)
    assert model.memberships_.sum(axis=1) == pytest.approx(1)
    assert model.memberships_.min() >= 0


def test_shares_change_places_where_another_cluster_is_larger():
    shares = np.array([[0.7, 0.3, 0.0], [0.5, 0.5, 0.0], [0.1, 0.2, 0.7]])
    found = with_own_first(shares, np.array([0, 1, 0]))
    assert found == pytest.approx(np.array([[0.7, 0.3, 0], [0.5, 0.5, 0], [0.7, 0.2, 0.1]]))
    assert found.argmax(axis=1).tolist() == [0, 1, 0]


def test_new_samples_get_probabilities_that_follow_predict():
    X = load_digits().data[:600]
    model = RMSC(10, random_state=0).fit(X[:400])
    told = model.predict_proba(X[400:])
    assert told.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(told.argmax(axis=1), model.predict(X[400:]))
    votes = with_own_first(shares_of_votes(model.labels_, model.member_labels_, 10), model.labels_)
    assert told.max() <= doubted(votes, model.labels_)[np.arange(400), model.labels_].mean() + 1e-5
    assert np.allclose(model.predict_proba(X[:400]), model.memberships_, atol=1e-6)


def test_timid_votes_become_sure_where_they_are_right():
    made = make_subspaces(4, 3, 30, 40, noise=0.03, random_state=0)
    order = np.random.default_rng(0).permutation(160)
    train, new = order[:120], order[120:]
    model = BMSC(4, random_state=0).fit(made.data[train])
    raw = model._placed(made.data[new], model._ballots(), model._ballots()).max(axis=1)
    sharp = model.predict_proba(made.data[new]).max(axis=1)
    assert model._sharpening().power > 1
    assert sharp.mean() > raw.mean()


def test_a_power_of_one_and_full_trust_change_nothing_but_zeros():
    votes = np.array([[0.6, 0.4, 0.0]])
    assert Sharpening(1.0, 1.0).apply(votes) == pytest.approx(votes, abs=1e-3)
    assert Sharpening(4.0, 0.5).apply(votes).max() <= 0.5 + 0.5 / 3


def test_samples_below_the_certainty_asked_for_are_in_no_cluster():
    X = make_subspaces(3, 3, 12, 30, noise=0.1, random_state=0).data
    plain = BMSC(3, random_state=0).fit(X)
    limit = float(np.median(plain.certainty_))
    strict = BMSC(3, min_certainty=limit, random_state=0).fit(X)
    assert np.array_equal(strict.certainty_, plain.certainty_)
    assert np.array_equal(strict.labels_, np.where(plain.certainty_ >= limit, plain.labels_, -1))
    assert (strict.labels_ == -1).any()
    with pytest.raises(ValueError, match="min_certainty"):
        BMSC(3, min_certainty=1.5).fit(X)


def test_sharp_shares_are_a_power_of_votes_mixed_with_equal_shares():
    votes = np.array([[0.6, 0.4, 0.0], [0.1, 0.1, 0.8]])
    raised = (votes + 1e-3 / 3) ** 2.5
    expected = 0.7 * raised / raised.sum(axis=1, keepdims=True) + 0.3 / 3
    np.testing.assert_allclose(Sharpening(2.5, 0.7).apply(votes), expected)


def votes_beside(labels):
    """Voters that favour their own cluster, by numbers that depend on the two samples alone; and who was asked."""
    asked = []

    def voters(rest, new):
        old, fresh = rest.ravel().astype(int), new.ravel().astype(int)
        asked.append((old, fresh))
        said = np.where(fresh % 4 == 0, (labels[fresh] + 1) % 3, labels[fresh])  # one in four errs
        same = said[:, None] == labels[old]
        weight = np.where(same, 2.0, 1.0) * (1 + (7 * old[None] + 3 * fresh[:, None]) % 5 * (fresh[:, None] % 3 > 0))
        return csr_array(weight / weight.sum(axis=1, keepdims=True))

    return voters, asked


@pytest.mark.parametrize(("n", "count"), [(120, 120), (2000, 400)])
def test_under_the_power_votes_are_as_sure_as_they_are_right_about_left_out_samples(n, count):
    labels = np.arange(n) % 3
    voters, asked = votes_beside(labels)
    found = Sharpening.learn(np.arange(n, dtype=float)[:, None], labels, 3, 0.4, voters)
    assert [len(new) for _, new in asked] == [count // 4] * 4  # each part by all samples outside it
    assert all(sorted([*rest, *new]) == list(range(n)) for rest, new in asked)
    new = np.concatenate([new for _, new in asked])
    assert len(np.unique(new)) == count
    votes = np.vstack([voters(r[:, None], f[:, None]) @ np.eye(3)[labels[r]] for r, f in asked[:4]])
    right = (votes.argmax(axis=1) == labels[new]).mean()
    assert 0.6 < right < 0.9  # one in four errs
    sure = [Sharpening(power, 1.0).apply(votes).max(axis=1).mean() for power in (found.power, 1.1 * found.power)]
    assert sure[0] == pytest.approx(right, abs=0.02)
    assert abs(sure[1] - right) > abs(sure[0] - right)
    # A mean membership of .4 of three clusters: a tenth of the way from 1/3 to 1.
    assert found.trust == pytest.approx(0.1)


def test_one_sample_that_nobody_foretells_does_not_make_all_votes_timid():
    """The logarithm of no vote at all is what the power was once chosen by."""
    n = 80
    labels = np.arange(n) % 2

    def voters(rest, new):
        same = labels[new.ravel().astype(int)][:, None] == labels[rest.ravel().astype(int)]
        odd = new.ravel() == 7
        weight = np.where(same, 0.7, 0.3)
        weight[odd] = ~same[odd]  # every vote is for the other cluster
        return csr_array(weight / weight.sum(axis=1, keepdims=True))

    found = Sharpening.learn(np.arange(n, dtype=float)[:, None], labels, 2, 1.0, voters)
    assert found.apply(np.array([[0.7, 0.3]])).max() > 0.97


@pytest.mark.parametrize("n", [130, 900])
def test_permuted_rows_are_asked_in_the_same_parts(n):
    rng = np.random.default_rng(1)
    rows = rng.permutation(n).astype(float)[:, None]
    labels = np.arange(n) % 3  # of the row that holds this number
    found = []
    for order in (np.arange(n), rng.permutation(n), np.argsort(rows.ravel())):
        own = labels[rows[order].ravel().astype(int)]
        voters, asked = votes_beside(labels)
        sharpening = Sharpening.learn(rows[order], own, 3, 1.0, voters)
        found.append((sharpening, [sorted(new) for _, new in asked]))
    assert found[0] == found[1] == found[2]
    assert found[0][1][0] != sorted(range(0, n, 4))[: len(found[0][1][0])]  # drawn, not every fourth


@pytest.mark.parametrize("model", [BMSC(5, random_state=0), RMSC(5, random_state=0)])
def test_permuted_rows_give_new_samples_the_same_memberships(model):
    X = load_digits(n_class=5).data
    train, new = X[:600], X[600:]
    order = np.random.default_rng(0).permutation(600)
    first, second = clone(model).fit(train), clone(model).fit(train[order])
    same = [np.bincount(second.labels_[first.labels_[order] == k]).argmax() for k in range(5)]
    assert np.array_equal(np.array(same)[first.labels_[order]], second.labels_)
    np.testing.assert_allclose(second.memberships(new)[:, same], first.memberships(new), atol=1e-4)


def test_where_there_is_nobody_to_ask_votes_stay_as_they_are():
    voters, asked = votes_beside(np.zeros(3, dtype=int))
    one = Sharpening.learn(np.zeros((8, 1)), np.zeros(8, dtype=int), 1, 1.0, voters)
    assert (one.power, one.trust) == (1.0, 1.0)
    few = Sharpening.learn(np.zeros((3, 1)), np.array([0, 1, 1]), 2, 1.0, voters)
    assert (few.power, few.trust) == (1.0, 1.0)
    assert asked == []


def test_the_power_is_learnt_from_the_votes_it_is_for():
    """A fit that linked samples by distance asks the nearest, in training as for new samples."""
    rng = np.random.default_rng(0)
    X = np.vstack([centre + rng.normal(size=(40, 4)) for centre in 3 * rng.normal(size=(3, 4))])
    for view, voters in (
        ("distance", lambda rows, new: nearest_voters(rows, new, n_threads=1)),
        ("lifted", lambda rows, new: voters_of(rows, new, n_candidates=64, n_threads=1)),
    ):
        model = RMSC(3, view=view, random_state=0).fit(X)
        own = model.memberships_[np.arange(120), model.labels_].mean()  # one view: nobody else has voted
        assert model._sharpening() == Sharpening.learn(model._rows, model.labels_, 3, own, voters)


def test_what_members_agree_on_by_halves_is_believed_less():
    labels = np.array([0, 1, 0])
    shares = np.array([[1.0, 0, 0, 0], [0.2, 0.5, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25]])
    found = doubted(shares, labels)
    believed = np.array([1, 0.5**0.25, 0.25**0.25])[:, None]
    assert found == pytest.approx(believed * shares + (1 - believed) / 4)
    assert found.sum(axis=1) == pytest.approx(1)


def test_new_samples_are_trusted_less_by_votes_that_agree_easily():
    """Where graphs of distances were taken o counts as o²; memberships of the samples of the fit stay as they are."""
    assert doubted(np.array([[0.6, 0.4]]), np.array([0]), 2.0)[0, 0] == pytest.approx(0.6 * 0.6 + 0.4 / 2)
    wine = load_wine().data
    X = (wine - wine.mean(axis=0)) / wine.std(axis=0)
    model = RMSC(3, random_state=0).fit(X)
    assert next(record["way"] for record in model.choices_ if record["taken"]) == "near"
    votes = with_own_first(shares_of_votes(model.labels_, model.member_labels_, 3), model.labels_)
    own = (np.arange(len(X)), model.labels_)
    assert model._own_share == pytest.approx(doubted(votes, model.labels_, 2.0)[own].mean())
    assert model._own_share < doubted(votes, model.labels_)[own].mean()
    several = RMSC(10, random_state=0).fit(load_digits().data[:300])
    assert next(record["way"] for record in several.choices_ if record["taken"]) == "plain"
    votes = with_own_first(shares_of_votes(several.labels_, several.member_labels_, 10), several.labels_)
    own = (np.arange(300), several.labels_)
    assert several._own_share == pytest.approx(doubted(votes, several.labels_)[own].mean())


def test_members_of_one_fit_err_together_but_ranks_of_the_closed_form_do_not():
    several = RMSC(10, view="plain", random_state=0).fit(load_digits().data[:300])
    asked = with_own_first(shares_of_votes(several.labels_, several.member_labels_, 10), several.labels_)
    assert several.memberships_ == pytest.approx(doubted(asked, several.labels_))
    closed = RMSC(3, view="low-rank", random_state=0).fit(load_wine().data)
    plain = with_own_first(shares_of_votes(closed.labels_, closed.member_labels_, 3), closed.labels_)
    assert closed.memberships_ == pytest.approx(plain)


def test_memberships_are_the_mean_of_the_own_votes_and_of_the_nearest_other_family():
    labels = np.array([0, 0, 0, 1, 1, 1])
    own = [np.array([0, 0, 1, 1, 1, 1]), labels]  # the third sample once with the second cluster
    near, far = [np.array([0, 0, 0, 0, 1, 1])], [np.array([0, 1, 0, 1, 0, 1])]
    found = shares_beside_others(labels, own, [far, near], 2)
    of_own = np.array([1, 1, 0.5, 0, 0, 0])
    of_near = np.array([3, 3, 3, 3, 0, 0]) / 4  # of four samples that are put together three are of the first cluster
    assert found[:, 0] == pytest.approx((of_own + of_near) / 2)
    assert found.sum(axis=1) == pytest.approx(1)
    swapped = shares_beside_others(labels, [1 - vote for vote in own], [near, far], 2)
    assert swapped == pytest.approx(found)  # numbers of votes' cells mean nothing


def test_other_families_are_asked_where_they_have_seen_every_sample(monkeypatch):
    X = load_digits().data[:300]
    alone = RMSC(10, view="plain", random_state=0).fit(X)
    votes = with_own_first(shares_of_votes(alone.labels_, alone.member_labels_, 10), alone.labels_)
    assert alone.memberships_ == pytest.approx(doubted(votes, alone.labels_))
    several = RMSC(10, random_state=0).fit(X)
    votes = with_own_first(shares_of_votes(several.labels_, several.member_labels_, 10), several.labels_)
    assert not np.allclose(several.memberships_, doubted(votes, several.labels_), atol=0.01)
    own = several.memberships_[np.arange(300), several.labels_]
    assert 0.5 <= own.mean() <= 1
    for name in ("JUDGED_SAMPLES", "JUDGED_A_CLUSTER"):
        monkeypatch.setattr(rmsc, name, 20)
    sampled = RMSC(10, random_state=0).fit(X)
    votes = with_own_first(shares_of_votes(sampled.labels_, sampled.member_labels_, 10), sampled.labels_)
    assert sampled.memberships_ == pytest.approx(doubted(votes, sampled.labels_))


def test_the_power_is_learnt_from_every_part_by_the_voters_of_predict():
    X = load_digits().data[:120]
    labels = np.arange(120) % 3
    asked = []

    def voters(rows, new_rows):
        asked.append((len(rows), len(new_rows)))
        return csr_array(np.eye(len(new_rows), len(rows)))

    Sharpening.learn(X, labels, 3, 1.0, voters)
    assert asked == [(90, 30)] * 4


def test_where_the_nearest_vote_they_teach_the_power_too(monkeypatch):
    X = load_iris().data
    model = RMSC(3, random_state=0).fit(X)
    assert model._preparation.view.by_distance
    monkeypatch.setattr(out_of_sample, "voters_of", None)  # a code of these rows would be another vote
    assert model.predict_proba(X + 0.01).sum(axis=1) == pytest.approx(1)
