"""Numbers that a fit on workers writes down again, because the client must not load what holds them."""

import inspect

import pytest

pytest.importorskip("distributed")

from masked_subspace.distributed import fit_distributed, solve
from masked_subspace.label.graph import LINKS
from masked_subspace.represent import model


def test_they_are_those_of_one_process():
    assert inspect.signature(fit_distributed).parameters["n_links"].default == LINKS
    assert solve._RULE_ROWS == model._SMALL_PROBLEMS
