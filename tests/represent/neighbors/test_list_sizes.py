"""How many lists an inverted file has, and into how many of them a sample looks."""

import pytest

from masked_subspace.represent.neighbors.list_sizes import EXACT_UP_TO, list_numbers


@pytest.mark.parametrize(
    ("n", "m", "lists", "probes"),
    [
        (70_000, 64, 136, 12),
        (511, 1, 1, 1),  # one list holds all, and nobody looks twice into it
        (4_096, 64, 8, 8),
        (1_000_000, 64, 1_953, 12),
        (70_000, 4_000, 136, 16),  # 4,000 others are more than twelve lists of 512 are sure to hold
        (70_000, 40_000, 136, 136),
        (10**9, 64, 1 << 14, 12),
    ],
)
def test_lists_hold_512_and_a_sample_sees_more_than_it_wants(n, m, lists, probes):
    assert list_numbers(n, m) == (lists, probes)
    assert probes == lists or probes * (n / lists) > m


def test_sizes_and_probes_of_the_caller_count():
    assert list_numbers(1_000, 5, list_size=50, n_probes=3) == (20, 3)
    assert list_numbers(1_000, 5, list_size=50, n_probes=30) == (20, 20)
    assert EXACT_UP_TO == 20_000
