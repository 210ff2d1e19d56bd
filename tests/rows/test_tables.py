"""Tables of any package are samples; what is not is named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from masked_subspace import BMSC, RMSC
from masked_subspace.rows.checks import is_counts, text_columns

NAMES = ["a", "b", "c", "d"]
X = np.random.default_rng(0).normal(size=(30, 4))


def pandas_table(columns):
    return pd.DataFrame(columns)


def polars_table(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def pyarrow_table(columns):
    return pytest.importorskip("pyarrow").table(columns)


tables = pytest.mark.parametrize("table", [pandas_table, polars_table, pyarrow_table])


@tables
def test_a_table_is_clustered_as_its_array(table):
    given = table(dict(zip(NAMES, X.T, strict=True)))
    model = BMSC(2, random_state=0).fit(given)
    np.testing.assert_array_equal(model.labels_, BMSC(2, random_state=0).fit(X).labels_)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.predict(given), model.labels_)


@tables
def test_text_columns_are_named(table):
    columns = dict(zip(NAMES, X.T, strict=True)) | {"where": ["north"] * 30, "who": ["x"] * 30}
    with pytest.raises(ValueError, match=r"text in columns 'where' .such as 'north'., 'who' .such as 'x'.; leave such"):
        RMSC(2).fit(table(columns))


def test_one_text_column_among_numbers_that_came_as_text():
    table = pd.DataFrame({"number": ["1", "2.5"], "name": ["7", "seven"], "kind": pd.Categorical([1, 2])})
    assert text_columns(table) == "column 'name' (such as 'seven')"
    assert text_columns(table[["number"]]) is None
    assert text_columns(X) is None


def test_a_table_that_fails_for_another_reason_says_that():
    with pytest.raises(ValueError, match="minimum of 2"):
        BMSC(2).fit(pd.DataFrame({"a": [1.0]}))


@tables
def test_whole_numbers_are_known_in_every_table(table):
    assert is_counts(table({"a": [1, 2], "b": [True, False]}))
    assert not is_counts(table({"a": [1, 2], "b": [0.5, 1.0]}))


def test_anndata_is_refused_at_once_with_what_to_give():
    """By its name: the package need not be installed here to be recognised where it is."""

    class AnnData:
        __module__ = "anndata._core.anndata"
        X, shape = X, X.shape

    class Derived(AnnData):
        __module__ = "somewhere.else"

    for given in (AnnData(), Derived()):
        with pytest.raises(TypeError, match=r"X is an AnnData object.*fit\(adata\.X\)"):
            RMSC(2).fit(given)
    model = BMSC(2, random_state=0).fit(X)
    with pytest.raises(TypeError, match="AnnData"):
        model.predict(AnnData())


@pytest.mark.parametrize(("count", "others"), [(5, ""), (6, " and 1 more")])
def test_five_columns_of_text_are_named_and_others_counted(count, others):
    table = pd.DataFrame({f"c{k}": ["x", "y"] for k in range(count)})
    named = ", ".join(f"'c{k}' (such as 'x')" for k in range(5))
    assert text_columns(table) == f"columns {named}{others}"
