"""A row of zeros without a direction is placed by nothing, and that is said."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from masked_subspace import BMSC, RMSC
from masked_subspace.baselines import LSR
from masked_subspace.label.agreement import told_nothing
from masked_subspace.rows.preparation import VIEWS, without_direction

BLANK = [3, 50]
K = 4


@pytest.fixture(scope="module")
def blanks():
    """Images of few gray values, two of them blank, as counts: those may be zero."""
    X = load_digits(n_class=K).data[:160].astype(np.uint8)
    X[BLANK] = 0
    return X


def is_even(memberships):
    return np.allclose(memberships, 1 / K, atol=1e-4)


@pytest.mark.parametrize(
    "model",
    [
        RMSC(K, view="uncentered", random_state=0),
        RMSC(K, view="plain", center=False, members=1, random_state=0),
        RMSC(K, view="topics", random_state=0),
        BMSC(K, center=False, random_state=0),
    ],
    ids=["uncentered", "one member", "topics", "BMSC"],
)
def test_it_has_no_certainty_and_even_memberships(blanks, model):
    model.fit(blanks)
    assert model.certainty_[BLANK].tolist() == [0, 0]
    assert np.median(model.certainty_) > 0.2
    assert is_even(model.memberships_[BLANK])
    assert (model.memberships_.argmax(axis=1) == model.labels_).all()
    everybody = np.vstack([blanks, blanks[:20] + 1, np.zeros((1, blanks.shape[1]))])
    found = model.predict_proba(everybody)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    assert (found.argmax(axis=1) == model.predict(everybody)).all()
    assert is_even(found[BLANK])
    assert model.set_params(min_certainty=0.01).fit_predict(blanks)[BLANK].tolist() == [-1, -1]


def test_a_new_one_is_told_nothing_either(blanks):
    whole = np.delete(blanks, BLANK, axis=0)
    for X in (whole, whole.astype(np.float64)):
        model = BMSC(K, center=False, random_state=0).fit(X)
        new = np.zeros((1, X.shape[1]))
        assert is_even(model.predict_proba(new))
        assert model.predict_proba(new).argmax(axis=1) == model.predict(new)


def test_where_rows_are_centred_it_is_a_sample_like_others(blanks):
    for model in (BMSC(K, random_state=0), RMSC(K, view="homogeneous", random_state=0)):
        assert (model.fit(blanks).certainty_[BLANK] > 0).all()
    assert (BMSC(1, center=False).fit(blanks).certainty_[BLANK] == 1).all()  # nowhere else to be


def test_other_methods_have_no_certainty_for_it_either(blanks):
    assert LSR(K, center=False, random_state=0).fit(blanks).certainty_[BLANK].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("names", "seen"),
    [
        (["uncentered"], False),
        (["topics"], False),
        (["uncentered-ridge", "uncentered-root"], False),
        (["uncentered", "plain"], True),
        (["homogeneous"], True),
    ],
)
def test_which_views_see_nothing_of_it(blanks, names, seen):
    views = [VIEWS[name] for name in names]
    assert without_direction(blanks.astype(float), views).tolist() == ([] if seen else BLANK)
    assert without_direction(None, views).tolist() == []


def test_a_sparse_row_without_entries(blanks):
    model = RMSC(K, view="uncentered", random_state=0).fit(csr_array(blanks))
    assert model.certainty_[BLANK].tolist() == [0, 0]
    assert is_even(model.memberships(csr_array((1, blanks.shape[1]))))


def test_even_memberships_keep_their_own_cluster_first_in_float32():
    shares = np.array([[0.9, 0.1, 0], [0, 0, 1]])
    found = told_nothing(shares, np.array([2, 2]), np.array([0]))
    assert found.astype(np.float32)[0].argmax() == 2
    assert found[0].sum() == pytest.approx(1)
    assert found[1].tolist() == [0, 0, 1]
