"""Sizes that a .mat file claims are looked at before its decoder takes memory for them."""

from __future__ import annotations

import struct
import tracemalloc

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import random_array

from masked_subspace.inputs.matlab_tags import check_claims
from masked_subspace.inputs.samples import InputError

LIMIT = 10**8


def saved(path, **options):
    rng = np.random.default_rng(0)
    savemat(path, {"X": rng.random((20, 3)), "S": random_array((9, 9), rng=rng), "y": "words"}, **options)
    return path


@pytest.mark.parametrize("options", [{}, {"do_compression": True}])
def test_a_sound_file_passes(tmp_path, options):
    check_claims(saved(tmp_path / "a.mat", **options), "a.mat", LIMIT)


def test_a_sound_file_of_level_4_passes(tmp_path):
    savemat(tmp_path / "a.mat", {"X": np.eye(3), "name": np.ones((2, 2)) * 1j}, format="4")
    check_claims(tmp_path / "a.mat", "a.mat", LIMIT)


@pytest.mark.parametrize("at", [132, 180])
def test_a_claim_of_gigabytes_is_refused_without_taking_them(tmp_path, at):
    path = saved(tmp_path / "a.mat")
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, at, 3_000_000_000)
    path.write_bytes(content)
    tracemalloc.start()
    with pytest.raises(InputError, match="claims 3000000000 bytes"):
        check_claims(path, "a.mat", LIMIT)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_a_claim_of_level_4_is_refused(tmp_path):
    savemat(tmp_path / "a.mat", {"X": np.eye(3)}, format="4")
    content = bytearray((tmp_path / "a.mat").read_bytes())
    struct.pack_into("<i", content, 16, 2_000_000_000)
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(InputError, match="more bytes than the file has"):
        check_claims(tmp_path / "a.mat", "a.mat", LIMIT)


def test_what_unpacks_to_more_than_the_limit_is_refused(tmp_path):
    savemat(tmp_path / "a.mat", {"X": np.zeros((1000, 1000))}, do_compression=True)
    with pytest.raises(InputError, match="--max-gb"):
        check_claims(tmp_path / "a.mat", "a.mat", 10**6)


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"MATLAB")
    with pytest.raises(InputError, match="ends after 6 bytes"):
        check_claims(tmp_path / "a.mat", "a.mat", LIMIT)
