"""Sizes that a .mat file claims are looked at before its decoder takes memory for them."""

from __future__ import annotations

import struct
import tracemalloc
import zlib

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


def element(kind, content, order, *, size=None, padded=True):
    claimed = len(content) if size is None else size
    return struct.pack(f"{order}II", kind, claimed) + content + b"\0" * (-len(content) % 8 if padded else 0)


def small(order):
    """Four bytes or fewer stand in the tag itself: their number in its upper half."""
    return struct.pack(f"{order}I", (4 << 16) | 5) + b"abcd"


def level_5(order, *elements):
    return b"MATLAB 5.0 MAT-file".ljust(124) + (b"\1\0MI" if order == ">" else b"\0\1IM")[-4:] + b"".join(elements)


@pytest.mark.parametrize("order", ["<", ">"])
def test_elements_of_level_5_lie_where_the_ones_before_end(tmp_path, order):
    """Padded to eight bytes but for compressed ones; a matrix holds elements, a compressed one a whole matrix."""
    path = tmp_path / "a.mat"
    inner = small(order) + element(9, b"12345678" * 2, order) + element(1, b"abc", order)
    matrix = element(14, inner, order)
    packed = element(15, zlib.compress(matrix), order, padded=False)
    last = element(9, b"12345678", order)
    whole = level_5(order, matrix, packed, small(order), last)
    path.write_bytes(whole)
    check_claims(path, "it", LIMIT)
    for short in (1, 8):
        path.write_bytes(whole[:-short])
        with pytest.raises(InputError, match=rf"it cannot be read as \.mat: a part claims 8 bytes of {8 - short}"):
            check_claims(path, "it", LIMIT)
    lying = inner[:-8] + b""  # the last of the inner ones claims three bytes and has none
    for wrong in (
        element(14, lying, order),
        element(15, zlib.compress(element(14, lying, order)), order, padded=False),
        element(14, element(14, lying, order), order),
    ):
        path.write_bytes(level_5(order, matrix, wrong))
        with pytest.raises(InputError, match="a part claims 3 bytes of 0"):
            check_claims(path, "it", LIMIT)


def test_what_is_packed_may_unpack_to_just_the_limit(tmp_path):
    matrix = element(14, element(9, b"\0" * 3_000_000, "<"), "<")
    (tmp_path / "a.mat").write_bytes(level_5("<", element(15, zlib.compress(matrix), "<", padded=False)))
    check_claims(tmp_path / "a.mat", "it", len(matrix))
    with pytest.raises(InputError, match="--max-gb"):
        check_claims(tmp_path / "a.mat", "it", len(matrix) - 1)


def test_a_file_needs_twenty_bytes(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"\0" * 19)
    with pytest.raises(InputError, match="ends after 19 bytes"):
        check_claims(tmp_path / "a.mat", "it", LIMIT)
    (tmp_path / "a.mat").write_bytes(struct.pack("<5i", 0, 0, 0, 0, 0))
    check_claims(tmp_path / "a.mat", "it", LIMIT)
