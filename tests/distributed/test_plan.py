"""Which lists live together: parts of about equal numbers of samples, each in one piece."""

import numpy as np
import pytest

from masked_subspace.distributed.plan import make_plan


def centres_on_an_arc(count):
    angle = np.linspace(0, 1.2, count)
    return np.column_stack([np.cos(angle), np.sin(angle)]).astype(np.float32)


@pytest.mark.parametrize("n_parts", [2, 3, 4])
def test_parts_have_equal_numbers_of_samples_and_not_of_lists(n_parts):
    """The first twelve of 48 lists hold as much as the other 36."""
    counts = np.repeat([300, 100], [12, 36])
    plan = make_plan(centres_on_an_arc(48), [counts // 4, counts - counts // 4], n_parts)
    sizes = np.bincount(plan.part_of, counts)
    assert np.diff(plan.offsets).tolist() == sizes.tolist()
    assert np.abs(sizes - 7_200 / n_parts).max() <= 300  # one list
    # Neighbours stay together: along the arc the part changes as seldom as it can.
    assert np.count_nonzero(np.diff(plan.part_of)) == n_parts - 1


def test_every_part_has_a_list_even_if_one_list_holds_nearly_all():
    counts = np.array([10_000, 1, 1, 1, 1, 1])
    plan = make_plan(centres_on_an_arc(6), [counts], 4)
    assert set(plan.part_of) == {0, 1, 2, 3}
