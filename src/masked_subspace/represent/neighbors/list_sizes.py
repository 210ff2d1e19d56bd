"""How large an inverted file is. Apart from the search, so that a client can plan one without loading kernels."""

from __future__ import annotations

# Exact search takes seconds up to here; at 70,000 × 150 the inverted file needs 0.28 of its time (docs: scaling).
EXACT_UP_TO = 20_000
LIST_SIZE = 512
N_PROBES = 12
_MOST_LISTS = 1 << 14


def list_numbers(n: int, m: int, list_size: int = LIST_SIZE, n_probes: int = N_PROBES) -> tuple[int, int]:
    """How many lists n samples get, and into how many of them a sample looks."""
    n_lists = min(max(n // list_size, 1), _MOST_LISTS)
    # Every sample must see more than m others, whatever the list size.
    return n_lists, min(n_lists, max(n_probes, 1 + 2 * m * n_lists // n))
