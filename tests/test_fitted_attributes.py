"""The attributes that a docstring lists are those that `fit` leaves behind."""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pytest

from baseline_contract import SUBSPACES
from masked_subspace import BilevelClustering
from masked_subspace.preprocessing import PCAFeatures, Scattering
from masked_subspace.registry import METHODS

MODELS = {
    **{
        key: method.load()(n_clusters=4, random_state=0, **method.tiny)
        for key, method in METHODS.items()
        if method.path.startswith("masked_subspace")
    },
    "bilevel": BilevelClustering(n_clusters=4, random_state=0),
    "pca": PCAFeatures(5),
    "scattering": Scattering(),
}
# Set only under some parameters or for some X, and listed as such.
CONDITIONAL = {
    "noise_", "outliers_", "member_labels_", "choices_", "feature_names_in_", "completed_", "missing_error_",
    "n_clusters_scores_", "n_clusters_candidates_",
}  # fmt: skip


def listed_attributes(model):
    text = inspect.getdoc(type(model)).partition("Attributes\n----------\n")[2]
    text = re.split(r"^\w[\w ]*\n-+$", text, flags=re.MULTILINE)[0]
    return set(re.findall(r"^(\w+_) : .+$", text, flags=re.MULTILINE))


def fitted(model, **parameters):
    if parameters:
        model = type(model)(**{**model.get_params(), **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(SUBSPACES.data)


def public_attributes(model):
    return {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}


@pytest.mark.parametrize("key", MODELS)
def test_listed_attributes_are_there_and_those_there_are_listed(key):
    if key == "ae-edsc":
        pytest.importorskip("torch")
    model = fitted(MODELS[key])
    listed = listed_attributes(model)
    assert [name for name in listed - CONDITIONAL if not hasattr(model, name)] == []
    assert public_attributes(model) - listed == set()


@pytest.mark.parametrize("key", ["gmsc", "rmsc"])
def test_noise_and_outliers_are_left_where_they_were_asked_for(key):
    model = fitted(MODELS[key], sparsity=1e-3, noise=10.0, outliers=1.0)
    assert {"noise_", "outliers_"} <= public_attributes(model) <= listed_attributes(model)
    assert model.noise_.shape == model.outliers_.shape == SUBSPACES.data.shape


def test_several_members_leave_their_votes_and_the_judge_its_choices():
    model = fitted(MODELS["rmsc"])
    assert {"member_labels_", "choices_"} <= public_attributes(model)
    assert np.shape(model.member_labels_)[1] == len(SUBSPACES.data)
    assert sum(record["taken"] for record in model.choices_) == 1
