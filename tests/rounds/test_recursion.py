"""Algorithm 2 as a loop: which mask every round works under, when it ends, and what it leaves behind."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace._common.progress import SilentEvents
from masked_subspace.label.labeler import Evidence, Labeling
from masked_subspace.masks import LabelMask
from masked_subspace.masks.pair_masks import PairMask
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.represent.model import SolverResult
from masked_subspace.rounds.recursion import OneMember, Outcome, round_record, run_rounds

LABELS = np.array([0, 0, 1, 1, 1, 2])


def solution(links=12):
    Z = csr_array((np.ones(links), (np.repeat(np.arange(6), links // 6), np.tile(np.arange(links // 6), 6))), (6, 6))
    return SolverResult(Z, 7, True, 0.25, 0.5, 0.75, np.array([3.0, 2.0]), 0.0)


def outcome(mask, change):
    return Outcome(solution(), Labeling(LABELS, csr_array((6, 6)), np.eye(6)), lambda: mask, change)


class Script:
    """Plays the masks and changes that are written down, and notes the mask of each round."""

    def __init__(self, *rounds):
        self.rounds, self.numbers, self.masks = rounds, [], []

    def play(self, number, mask, events):
        self.numbers.append(number)
        self.masks.append(mask)
        return outcome(*self.rounds[number - 1])


@pytest.fixture
def masks():
    return [LabelMask(LABELS, strength) for strength in (2.0, 3.0, 4.0, 5.0)]


def test_every_round_works_under_the_mask_that_the_one_before_has_learnt(masks):
    script = Script((masks[1], 1.0), (masks[2], 0.5), (masks[3], 0.2))
    result = run_rounds(script, masks[0], max_rounds=3, tol=0.1)
    assert script.masks == masks[:3]
    assert script.numbers == [1, 2, 3]
    assert result.soft_mask is masks[2]
    assert [record["mask_change"] for record in result.history] == [1.0, 0.5, 0.2]
    assert len(result.labelings) == 3


@pytest.mark.parametrize(("change", "rounds"), [(0.1, 1), (0.0, 1), (0.1001, 2), (float("nan"), 2)])
def test_rounds_end_where_the_change_is_the_tolerance_or_less(masks, change, rounds):
    script = Script((masks[1], change), (masks[2], change))
    result = run_rounds(script, masks[0], max_rounds=2, tol=0.1)
    assert len(result.history) == rounds
    assert result.soft_mask is masks[rounds - 1]


def test_no_mask_is_learnt_after_the_last_round():
    def never():
        raise AssertionError("nobody plays another round")

    played = Outcome(solution(), Labeling(LABELS, csr_array((6, 6)), np.eye(6)), never, 1.0)
    strategy = SimpleNamespace(play=lambda number, mask, events: played)  # noqa: ARG005
    assert len(run_rounds(strategy, None, max_rounds=1, tol=0.1).history) == 1
    with pytest.raises(AssertionError, match="another round"):
        run_rounds(strategy, None, max_rounds=2, tol=0.1)


def test_a_record_counts_links_a_sample_and_the_samples_of_clusters():
    record = round_record(4, outcome(None, 0.5), 2.5)
    assert (record["round"], record["sparsity"], record["cluster_sizes"]) == (4, 2.0, [2, 3, 1])
    assert (record["objective"], record["objective_trace"], record["n_iter"]) == (2.0, [3.0, 2.0], 7)
    assert (record["stopping_value"], record["mask_residual"], record["sparsity_residual"]) == (0.25, 0.5, 0.75)
    assert record["seconds"] == 2.5


def test_known_pairs_lie_over_the_first_mask_and_over_every_learnt_one(masks):
    seen = []
    prepared = SimpleNamespace(represent=lambda mask, progress: seen.append(mask) or solution())  # noqa: ARG005
    labeler = SimpleNamespace(label=lambda Z, evidence, seed: Labeling(LABELS, Z, np.eye(6)))  # noqa: ARG005
    known = KnownPairs.of(6, must_link=[[0, 5]])
    evidence = Evidence(np.eye(6), known)
    strategy = OneMember(prepared, labeler, lambda labeling: LabelMask(labeling.labels, 3.0), evidence, 0)
    found = strategy.play(1, masks[0], SilentEvents())
    assert isinstance(seen[0], PairMask)
    assert seen[0].at(np.array(0), np.array(5)) == masks[0].at(np.array(0), np.array(5)) / 30
    learnt = found.next_mask()
    assert learnt.base.strength == 3.0
    assert found.change == pytest.approx(LabelMask(LABELS, 3.0).change(masks[0]))
    assert found.change > 0
    again = strategy.play(2, learnt, SilentEvents())
    assert seen[1] is learnt
    assert again.change == 0


def test_without_a_mask_function_there_is_no_change_to_speak_of():
    prepared = SimpleNamespace(represent=lambda mask, progress: solution())  # noqa: ARG005
    labeler = SimpleNamespace(label=lambda Z, evidence, seed: Labeling(LABELS, Z, np.eye(6)))  # noqa: ARG005
    found = OneMember(prepared, labeler, lambda labeling: None, Evidence(np.eye(6)), 0).play(1, None, SilentEvents())  # noqa: ARG005
    assert found.next_mask() is None
    assert np.isnan(found.change)
