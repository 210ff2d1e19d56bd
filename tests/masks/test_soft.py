import time

import numpy as np
import pytest

from masked_subspace.masks import ArrayMask, ConsensusMask, ConstantMask, EmbeddingMask, LabelMask

LABELS = np.array([0, 0, 1, 1, 2])


def dense(mask):
    return mask.block(0, mask.n_samples)


def test_label_mask_is_psi_with_one_hot_labels():
    """ψ = βQQᵀ + (1 − QQᵀ)/β with Q one-hot; the corrected orientation has β and 1/β swapped."""
    Q = np.eye(3)[LABELS]
    beta = 1.3
    printed = beta * Q @ Q.T + (1 - Q @ Q.T) / beta
    np.testing.assert_allclose(dense(LabelMask(LABELS, beta, orientation="paper")), printed)
    np.testing.assert_allclose(dense(LabelMask(LABELS, beta)), 1 / printed)


def test_label_mask_change_equals_the_maximum_over_pairs():
    old, same_partition, other = (
        LabelMask(LABELS, 1.5),
        LabelMask([7, 7, 3, 3, 5], 1.5),
        LabelMask([0, 1, 1, 1, 2], 1.5),
    )
    assert old.change(same_partition) == 0
    for new in (same_partition, other):
        assert old.change(new) == pytest.approx(np.abs(dense(old) - dense(new)).max())
    assert old.change(None) == 1.5
    assert old.change(LabelMask(LABELS, 2.0)) == pytest.approx(0.5)


def test_label_mask_never_holds_n_by_n():
    mask = LabelMask(np.arange(200_000) % 10, 1.1)
    assert mask.at(np.array([3, 4]), np.array([13, 5])).tolist() == pytest.approx([1 / 1.1, 1.1])


def test_consensus_of_one_is_the_label_mask_and_split_pairs_cost_one():
    np.testing.assert_allclose(dense(ConsensusMask([LABELS], 1.4)), dense(LabelMask(LABELS, 1.4)))
    two = ConsensusMask([LABELS, [0, 1, 1, 1, 2]], 1.4)
    assert two.at(np.array([0]), np.array([1]))[0] == pytest.approx(1.0)
    assert two.agreement(np.array([2]), np.array([3]))[0] == 1.0
    weighted = ConsensusMask([LABELS, [0, 1, 1, 1, 2]], 1.4, weights=[1, 0])
    np.testing.assert_allclose(dense(weighted), dense(LabelMask(LABELS, 1.4)))


def test_at_and_block_agree():
    rng = np.random.default_rng(0)
    array = rng.uniform(size=(5, 5))
    masks = [
        ConstantMask(5, 0.3),
        LabelMask(LABELS),
        ConsensusMask([LABELS, LABELS[::-1]]),
        ArrayMask(array + array.T),
        EmbeddingMask(rng.normal(size=(5, 3))),
    ]
    rows, cols = np.array([0, 2, 4]), np.array([1, 2, 0])
    for mask in masks:
        np.testing.assert_allclose(mask.at(rows, cols), dense(mask)[rows, cols], atol=1e-12)
        assert dense(mask).min() >= 0


def test_embedding_mask_is_half_the_squared_distance():
    q = np.random.default_rng(1).normal(size=(4, 3))
    expected = 0.5 * ((q[:, None] - q[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(dense(EmbeddingMask(q)), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((3, 4)), "shape"),
        (np.array([[0, 1], [2, 0.0]]), "not symmetric"),
        (np.array([[0, -1.0], [-1.0, 0]]), "negative"),
        (np.array([[0, np.nan], [np.nan, 0]]), "finite"),
        (np.array([["a", "b"], ["b", "a"]]), "dtype"),
        (np.ones((2, 2)) * 1j, "dtype"),
    ],
)
def test_bad_arrays_are_refused_by_name(array, message):
    with pytest.raises(ValueError, match=f"soft_mask.*{message}"):
        ArrayMask(array)


@pytest.mark.parametrize("price", [np.nan, -1.0])
def test_the_first_bad_price_is_named_by_its_place(price):
    array = np.ones((3, 3))
    array[1, 2] = array[2, 1] = price
    with pytest.raises(ValueError, match=rf"soft_mask\[1, 2\] is {price}"):
        ArrayMask(array)


def test_bad_labels_and_strengths_are_refused():
    with pytest.raises(ValueError, match="labels has 2 dimensions"):
        LabelMask(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"mask_strength is 0\.5"):
        LabelMask(LABELS, 0.5)
    with pytest.raises(ValueError, match="orientation"):
        LabelMask(LABELS, orientation="sideways")
    with pytest.raises(ValueError, match="labelings is empty"):
        ConsensusMask([])
    with pytest.raises(ValueError, match=r"labelings\[1\] has 4 entries"):
        ConsensusMask([LABELS, LABELS[:4]])
    with pytest.raises(ValueError, match="weights"):
        ConsensusMask([LABELS], weights=[-1])


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 1], [0, 1, 2]])
def test_change_from_a_constant_is_that_of_the_arrays(labels: list[int]) -> None:
    mask, constant = LabelMask(labels, 1.5), ConstantMask(3, 0.9)
    assert mask.change(constant) == pytest.approx(np.abs(mask.block(0, 3) - constant.block(0, 3)).max())


def test_change_of_a_consensus_is_that_of_the_arrays() -> None:
    rng = np.random.default_rng(1)
    consensus = [ConsensusMask(rng.integers(0, 3, (4, 30)), 1.4) for _ in range(2)]
    labels = LabelMask(rng.integers(0, 3, 30), 1.3)
    for one, other in ((consensus[0], consensus[1]), (consensus[0], labels), (labels, consensus[1])):
        assert one.change(other) == pytest.approx(np.abs(dense(one) - dense(other)).max())
    assert consensus[0].change(ConstantMask(30)) == pytest.approx(np.abs(dense(consensus[0]) - 1).max())
    assert consensus[0].change(EmbeddingMask(np.eye(30))) == pytest.approx(
        np.abs(dense(consensus[0]) - dense(EmbeddingMask(np.eye(30)))).max()
    )
    assert consensus[0].change(ConsensusMask(consensus[0].labelings, 1.4)) == 0


def test_change_of_labels_never_looks_at_all_pairs() -> None:
    n = 100_000
    one = ConsensusMask([np.arange(n) % 10, np.arange(n) % 5], 1.4)
    begin = time.process_time()
    assert one.change(LabelMask(np.arange(n) % 10, 1.4)) > 0
    assert time.process_time() - begin < 5
