"""Samples lie where they should, corruption is where the masks say, and blocks leave no trace."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from masked_subspace.datasets import make_subspaces


def rank(*bases):
    return np.linalg.matrix_rank(np.concatenate(bases))


def test_clean_rows_have_unit_norm_and_lie_in_their_subspace():
    bunch = make_subspaces(4, 3, 100, 40, random_state=0)
    assert bunch.data.shape == (160, 100)
    np.testing.assert_array_equal(np.bincount(bunch.target), [40] * 4)
    np.testing.assert_allclose(np.linalg.norm(bunch.data, axis=1), 1)
    for k, basis in enumerate(bunch.bases):
        rows = bunch.data[bunch.target == k]
        np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(rows @ basis.T @ basis, rows, atol=1e-12)
        assert rank(rows) == 3


def test_affine_rows_lie_on_a_slice_away_from_the_origin():
    bunch = make_subspaces(3, 2, 20, 400, affine=True, random_state=1)
    for k, basis in enumerate(bunch.bases):
        rows = bunch.data[bunch.target == k]
        assert rank(rows - rows.mean(axis=0)) == 2
        assert rank(rows) == 3
        centred = rows - bunch.offsets[k]
        np.testing.assert_allclose(centred @ basis.T @ basis, centred, atol=1e-12)
    assert np.mean(np.sum(bunch.data**2, axis=1)) == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize("affine", [False, True])
def test_independent_dimensions_add_up(affine):
    bunch = make_subspaces(4, 3, 16, 5, affine=affine, arrangement="independent", random_state=0)
    hulls = [bunch.data[bunch.target == k] for k in range(4)]
    assert rank(*hulls) == 4 * (3 + affine)


def test_disjoint_pairs_meet_in_zero_but_all_are_dependent():
    bases = make_subspaces(4, 3, 30, 5, arrangement="disjoint", random_state=0).bases
    assert all(rank(a, b) == 6 for a, b in combinations(bases, 2))
    assert rank(*bases) == 9


@pytest.mark.parametrize("overlap", [1, 2])
def test_intersecting_pairs_share_exactly_the_overlap(overlap):
    bases = make_subspaces(3, 3, 20, 5, arrangement="intersecting", overlap=overlap, random_state=0).bases
    assert all(rank(a, b) == 6 - overlap for a, b in combinations(bases, 2))
    assert rank(*bases) == overlap + 3 * (3 - overlap)


def test_intersecting_affine_subspaces_share_points():
    bunch = make_subspaces(3, 2, 20, 5, affine=True, arrangement="intersecting", overlap=1, random_state=0)
    np.testing.assert_array_equal(bunch.offsets[0], bunch.offsets[1])
    assert all(rank(a, b) == 3 for a, b in combinations(bunch.bases, 2))


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        ({"arrangement": "independent"}, "ambient >= 100"),
        ({"arrangement": "disjoint", "ambient": 9}, "ambient >= 10"),
        ({"arrangement": "intersecting", "overlap": 5}, "overlap < dim"),
        ({"arrangement": "touching"}, "choose one of"),
        ({"ambient": 4}, "raise ambient"),
        ({"noise": -1}, "noise=-1"),
        ({"noise": float("nan")}, "noise=nan"),
        ({"outliers": 1.5}, "outliers=1.5"),
        ({"missing": -0.1}, "missing=-0.1"),
        ({"per_subspace": [1, 2]}, "per_subspace="),
        ({"per_subspace": 0}, "per_subspace=0"),
        ({"n_subspaces": 0}, "n_subspaces=0"),
        ({"block_size": 0}, "block_size=0"),
        ({"dtype": "int8"}, "dtype=int8"),
    ],
)
def test_impossible_requests_name_argument_and_remedy(arguments, remedy):
    request = {"n_subspaces": 20, "dim": 5, "ambient": 50, "per_subspace": 2} | arguments
    with pytest.raises(ValueError, match=remedy):
        make_subspaces(**request)


def test_more_subspaces_than_room_are_fine_when_no_condition_is_asked_for():
    assert make_subspaces(20, 5, 50, 2, random_state=0).data.shape == (40, 50)


def test_noise_is_the_standard_deviation_of_an_entry():
    bunch = make_subspaces(2, 5, 100, 500, noise=0.1 / np.sqrt(100), random_state=3)
    error = bunch.data - bunch.clean
    assert error.std() == pytest.approx(0.01, rel=0.02)
    assert np.linalg.norm(error, axis=1).mean() == pytest.approx(0.1, rel=0.02)


def test_the_mask_names_every_shifted_entry_and_no_other():
    bunch = make_subspaces(4, 3, 100, 100, outliers=0.03, outlier_shift=0.5, random_state=0)
    shift = bunch.data - bunch.clean
    np.testing.assert_allclose(np.abs(shift[bunch.outlier_mask]), 0.5)
    assert not shift[~bunch.outlier_mask].any()
    assert bunch.outlier_mask.mean() == pytest.approx(0.03, rel=0.1)
    assert 0.45 < np.mean(shift[bunch.outlier_mask] > 0) < 0.55


def test_missing_entries_are_nan_and_known():
    bunch = make_subspaces(4, 3, 50, 50, missing=0.2, random_state=0)
    np.testing.assert_array_equal(np.isnan(bunch.data), bunch.missing_mask)
    assert bunch.missing_mask.mean() == pytest.approx(0.2, rel=0.1)
    assert not np.isnan(bunch.clean).any()


def test_one_kind_of_corruption_does_not_move_another():
    plain = make_subspaces(3, 2, 20, 30, random_state=5)
    corrupted = make_subspaces(3, 2, 20, 30, noise=0.1, outliers=0.1, missing=0.1, random_state=5)
    np.testing.assert_array_equal(plain.data, corrupted.clean)


def test_shuffle_mixes_samples_and_unequal_counts_are_kept():
    bunch = make_subspaces(3, 2, 20, [5, 10, 15], shuffle=True, random_state=0)
    np.testing.assert_array_equal(np.bincount(bunch.target), [5, 10, 15])
    assert np.any(np.diff(bunch.target) < 0)
    for k, basis in enumerate(bunch.bases):
        rows = bunch.data[bunch.target == k]
        np.testing.assert_allclose(rows @ basis.T @ basis, rows, atol=1e-12)


def test_seeds_decide_the_result():
    first, again, other = (make_subspaces(random_state=seed).data for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    state = np.random.RandomState(0)
    assert not np.array_equal(make_subspaces(random_state=state).data, make_subspaces(random_state=state).data)


@pytest.mark.parametrize("block_size", [1, 7, 64, 10_000])
def test_streaming_gives_the_same_bytes_for_every_block_size(tmp_path, block_size):
    request = {
        "noise": 0.1,
        "outliers": 0.05,
        "missing": 0.05,
        "shuffle": True,
        "random_state": 0,
        "dtype": np.float32,
    }
    whole = make_subspaces(5, 3, 17, 30, **request)
    path = tmp_path / "sub" / "samples.npy"
    streamed = make_subspaces(5, 3, 17, 30, **request, out=path, block_size=block_size)
    assert isinstance(streamed.data, np.memmap)
    assert not streamed.data.flags.writeable
    assert streamed.clean is None
    assert whole.data.dtype == streamed.data.dtype == np.float32
    assert streamed.data.tobytes() == whole.data.tobytes()
    np.testing.assert_array_equal(np.load(path), whole.data)
    for name in ("target", "outlier_mask", "missing_mask"):
        np.testing.assert_array_equal(streamed[name], whole[name])


def test_streaming_again_leaves_older_maps_untouched(tmp_path):
    path = tmp_path / "samples.npy"
    first = make_subspaces(2, 2, 9, 20, random_state=0, out=path)
    before = first.data.copy()
    second = make_subspaces(2, 2, 9, 20, random_state=1, out=path)
    np.testing.assert_array_equal(first.data, before)
    assert not np.array_equal(second.data, before)
    assert second.outlier_mask is None


def test_a_large_set_streams_in_little_memory(tmp_path):
    tracemalloc.start()
    bunch = make_subspaces(
        20,
        5,
        50,
        50_000,
        noise=0.1 / np.sqrt(50),
        dtype=np.float32,
        random_state=0,
        out=tmp_path / "million.npy",
        block_size=16_384,
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert bunch.data.shape == (1_000_000, 50)
    rows = np.asarray(bunch.data[-50_000:], dtype=float)
    basis = bunch.bases[-1]
    residual = np.linalg.norm(rows - rows @ basis.T @ basis, axis=1)
    assert residual.mean() == pytest.approx(0.1 * np.sqrt(45 / 50), rel=0.01)
    assert peak < 80e6  # the file has 200 MB
