import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace._common.rows import unit_rows
from masked_subspace.label.agreement import agreement_with, consensus_embedding, membership, shares_of_votes
from masked_subspace.label.graph import diffusion_weights
from masked_subspace.label.modularity import modularity
from masked_subspace.masks import ConsensusMask


@pytest.fixture
def labelings():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 25)
    noisy = [np.where(rng.uniform(size=100) < 0.2, rng.integers(0, 4, 100), truth) for _ in range(6)]
    return truth, [rng.permutation(4)[labels] for labels in noisy]


def agreement_matrix(labelings):
    n = len(labelings[0])
    return ConsensusMask(labelings).agreement(np.arange(n)[:, None], np.arange(n)[None])


def test_membership_products_are_the_agreement(labelings):
    H = membership(labelings[1])
    np.testing.assert_allclose((H @ H.T).toarray() / 6, agreement_matrix(labelings[1]))


def test_embedding_equals_the_one_of_the_dense_agreement(labelings):
    P = agreement_matrix(labelings[1])
    degree = P.sum(axis=1)
    values, vectors = np.linalg.eigh(P / np.sqrt(np.outer(degree, degree)))
    values, vectors = values[::-1][:16], vectors[:, ::-1][:, :16]
    expected = unit_rows(vectors * diffusion_weights(values, 4))
    found = consensus_embedding(labelings[1], 4)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-8)


def test_certainty_is_one_for_unanimous_samples_and_low_for_disputed_ones(labelings):
    truth, noisy = labelings
    np.testing.assert_allclose(agreement_with(truth, [truth, truth[:]]), 1)
    certainty = agreement_with(truth, noisy)
    wrong = np.mean([labels[:25] == np.bincount(labels[:25]).argmax() for labels in noisy], axis=0)
    assert certainty[:25][wrong < 0.6].mean() < certainty[:25][wrong == 1].mean()
    assert certainty.min() >= 0
    assert certainty.max() <= 1


def test_modularity_against_its_definition():
    rng = np.random.default_rng(1)
    W = rng.uniform(size=(20, 20)) * (rng.uniform(size=(20, 20)) < 0.4)
    W = W + W.T
    labels = rng.integers(0, 3, 20)
    degree, total = W.sum(axis=1), W.sum()
    same = labels[:, None] == labels[None]
    expected = ((W - np.outer(degree, degree) / total) * same).sum() / total
    assert modularity(csr_array(W), labels) == pytest.approx(expected)
    assert modularity(csr_array((20, 20)), labels) == 0


def test_certainty_is_the_own_cluster_less_the_next_best():
    labels = np.array([0, 0, 1, 1])
    found = agreement_with(labels, [labels, np.zeros(4, dtype=int)])
    np.testing.assert_allclose(found, 0.5)  # always with its own, in half of the labelings with the others too


def test_more_clusters_in_all_votes_than_samples_give_the_same_embedding():
    rng = np.random.default_rng(3)
    votes = [rng.integers(0, 5, 20) for _ in range(6)]  # about 30 clusters of 20 samples
    assert membership(votes).shape[1] > 20
    P = agreement_matrix(votes)
    degree = P.sum(axis=1)
    values, vectors = np.linalg.eigh(P / np.sqrt(np.outer(degree, degree)))
    values, vectors = values[::-1][:12], vectors[:, ::-1][:, :12]
    expected = unit_rows(vectors * diffusion_weights(values, 3))
    found = consensus_embedding(votes, 3)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-3)


def test_memberships_are_mean_agreements_with_the_members_of_each_cluster(labelings):
    truth, noisy = labelings
    labels = np.where(truth == 3, 2, truth)  # clusters of 25, 25 and 50
    P = agreement_matrix(noisy)
    means = np.stack([P[:, labels == cluster].mean(axis=1) for cluster in range(3)], axis=1)
    np.testing.assert_allclose(shares_of_votes(labels, noisy, 3), means / means.sum(axis=1, keepdims=True))
    # A cluster that nobody is in has no share.
    assert not shares_of_votes(labels, noisy, 4)[:, 3].any()
    own = means[np.arange(100), labels]
    means[np.arange(100), labels] = 0
    np.testing.assert_allclose(agreement_with(labels, noisy), np.clip(own - means.max(axis=1), 0, 1))
