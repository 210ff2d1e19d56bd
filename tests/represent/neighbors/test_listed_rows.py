"""Nearest rows of a dictionary by lists that are made once."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.neighbors.listed_rows import ListedRows
from masked_subspace.represent.neighbors.search import nearest_in
from masked_subspace.represent.sparse.solve import represent_over


@pytest.fixture(scope="module")
def dictionary():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(1500, 3)) @ rng.normal(size=(3, 12)) for _ in range(4)])


def new_rows(dictionary, count=300):
    rng = np.random.default_rng(1)
    chosen = dictionary[rng.choice(len(dictionary), count, replace=False)]
    return chosen * rng.uniform(0.5, 2, size=(count, 1)) + 0.01 * rng.normal(size=(count, 12))


def test_most_of_the_nearest_are_found_and_nearest_come_first(dictionary):
    rows = new_rows(dictionary)
    found, exact = ListedRows.of(dictionary).nearest(rows, 10), nearest_in(dictionary, rows, 10)
    shared = [len(set(a) & set(b)) / 10 for a, b in zip(found, exact, strict=True)]
    assert np.mean(shared) > 0.95
    unit = dictionary / np.linalg.norm(dictionary, axis=1, keepdims=True)
    cosines = np.abs(np.einsum("ijk,ik->ij", unit[found], rows))
    assert (np.diff(cosines, axis=1) <= 1e-5 * np.linalg.norm(rows, axis=1)[:, None]).all()


def test_with_few_lists_every_one_is_looked_into(dictionary):
    rows = new_rows(dictionary)
    listed = ListedRows.of(dictionary)
    assert len(listed.centres) <= 12  # as many as are looked into
    np.testing.assert_array_equal(np.sort(listed.nearest(rows, 5)), np.sort(nearest_in(dictionary, rows, 5)))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_neither_threads_nor_the_company_of_a_row_change_what_it_finds(dictionary, n_threads):
    rows = new_rows(dictionary)
    listed = ListedRows.of(dictionary, n_threads=n_threads)
    alone = np.concatenate([listed.nearest(row[None], 7) for row in rows[:20]])
    np.testing.assert_array_equal(listed.nearest(rows, 7, n_threads=n_threads)[:20], alone)


def test_who_finds_too_few_looks_at_all_rows(dictionary):
    listed = ListedRows.of(dictionary)
    found = listed.nearest(new_rows(dictionary, 5), len(dictionary))
    assert (np.sort(found) == np.arange(len(dictionary))).all()


def test_every_row_lives_in_one_list(dictionary):
    listed = ListedRows.of(dictionary)
    assert sorted(listed.residents.order) == list(range(len(dictionary)))
    homes = nearest_in(listed.centres, dictionary, 1)[:, 0]
    for number in range(len(listed.centres)):
        assert (
            homes[listed.residents.order[listed.residents.starts[number] : listed.residents.starts[number + 1]]]
            == number
        ).all()


def test_long_rows_are_compared_by_directions_that_hold_their_energy(dictionary):
    rng = np.random.default_rng(2)
    wide = dictionary @ rng.normal(size=(12, 300)) + 0.01 * rng.normal(size=(len(dictionary), 300))
    listed, rows = ListedRows.of(wide), wide[:200] + 0.01 * rng.normal(size=(200, 300))
    assert listed.directions is not None
    assert listed.residents.X.shape[1] == listed.directions.shape[1] < 150
    found, exact = listed.nearest(rows, 10), nearest_in(wide, rows, 10)
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, exact, strict=True)]) > 0.9
    assert ListedRows.of(rng.normal(size=(3000, 300))).directions is None


def test_new_rows_are_rebuilt_along_the_directions_of_the_lists(dictionary):
    """The codes are those of rows and dictionary turned into these directions, whatever the other features hold."""
    rng = np.random.default_rng(3)
    wide = (dictionary @ rng.normal(size=(12, 300))).astype(np.float32)
    wide += 0.02 * rng.normal(size=wide.shape).astype(np.float32)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    listed, rows = ListedRows.of(wide), wide[:40] + np.float32(0.01)
    settings = AdmmSettings(1e-3, penalty=0.3, penalty_growth=1.5)
    codes = represent_over(wide, rows, settings, n_candidates=20, listed=listed)
    turned = represent_over(
        wide @ listed.directions, rows @ listed.directions, settings, n_candidates=20, listed=_Found(listed, rows)
    )
    assert codes.shape == (40, len(wide))
    np.testing.assert_allclose(codes.toarray(), turned.toarray(), atol=1e-5)
    assert abs(codes - represent_over(wide, rows, settings, n_candidates=20)).max() > 1e-4


class _Found:
    """Rows that were looked up before they were turned."""

    def __init__(self, listed, rows):
        self.listed, self.rows, self.residents = listed, rows, listed.residents

    def nearest(self, _, m, *, n_threads):
        return self.listed.nearest(self.rows, m, n_threads=n_threads)

    def along(self, rows):
        return rows
