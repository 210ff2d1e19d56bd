"""The same trial gives the same samples on every machine."""

import hashlib

import numpy as np
import pytest

from masked_subspace.datasets import PROTOCOLS, load_protocol


def digest(indices):
    return hashlib.sha256(np.asarray(indices, dtype="<i8").tobytes()).hexdigest()


@pytest.mark.parametrize(
    ("protocol", "n_served", "pinned"),
    [
        ("mnist-1000", 70_000, "3fc137661fd8981e4004af5b1b1f8d4e55a29c209a5a922c1434b97b982e096e"),
        ("mnist-1000", 5_000, "958ac2369195562be3d3e69376983a3c02c8f66c79e4270971adffc4739ef814"),
        ("usps-random-1000", 9_298, "703d4dd20747de7c95cb14030dd67e093edc5744eb2835c4d5b414ecb60ca04b"),
    ],
)
def test_random_draws_are_pinned(protocol, n_served, pinned):
    trials = [PROTOCOLS[protocol].select(np.zeros(n_served, np.int64), trial) for trial in range(20)]
    for indices in trials:
        assert len(np.unique(indices)) == len(indices) == 1000
        assert 0 <= indices.min() <= indices.max() < n_served
    assert len({digest(indices) for indices in trials}) == 20
    assert digest(np.concatenate(trials)) == pinned


@pytest.mark.parametrize(("protocol", "n"), [("orl", 400), ("coil20", 1440), ("coil100", 7200), ("digits", 1797)])
def test_whole_sets_come_in_their_own_order(protocol, n):
    for trial in (0, 7):
        np.testing.assert_array_equal(PROTOCOLS[protocol].select(np.zeros(n, np.int64), trial), np.arange(n))


def test_usps_takes_the_first_hundred_of_each_digit():
    labels = np.random.default_rng(0).integers(0, 10, 3000)
    indices = PROTOCOLS["usps-1000"].select(labels, 0)
    for k in range(10):
        np.testing.assert_array_equal(indices[100 * k : 100 * (k + 1)], np.flatnonzero(labels == k)[:100])


def test_load_protocol_restricts_the_set(tmp_path):
    X = np.arange(2000, dtype=np.float32)[:, None] * np.ones(4, np.float32)
    np.savez(tmp_path / "mnist.npz", X=X, y=np.arange(2000) % 10, shape=(2, 2))
    bunch = load_protocol("mnist-1000", 3, data_home=tmp_path)
    assert bunch.data.shape == (1000, 4)
    np.testing.assert_array_equal(bunch.data[:, 0], bunch.indices)
    np.testing.assert_array_equal(bunch.target, bunch.indices % 10)
    assert (bunch.name, bunch.protocol, bunch.trial) == ("mnist", "mnist-1000", 3)
    assert bunch.images_shape == (2, 2)
    assert str(tmp_path) in bunch.origin
    assert "trial 3" in bunch.DESCR
    assert "2,000 served" in bunch.DESCR
    again = load_protocol("mnist-1000", np.int64(3), data_home=tmp_path)
    np.testing.assert_array_equal(again.data, bunch.data)


def test_digits_protocol_needs_nothing():
    assert load_protocol("digits").data.shape == (1797, 64)


@pytest.mark.parametrize("trial", [-1, 1.5, True, "0", None])
def test_a_trial_is_a_whole_number(trial):
    with pytest.raises(ValueError, match="trial="):
        load_protocol("mnist-1000", trial)


def test_an_unknown_protocol_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'mnist'.*mnist-1000, usps-1000"):
        load_protocol("mnist")


def test_sets_that_are_too_small_for_the_protocol_are_refused(tmp_path):
    np.savez(tmp_path / "mnist.npz", X=np.zeros((50, 4)), y=np.arange(50) % 10, shape=(2, 2))
    np.savez(tmp_path / "usps.npz", X=np.zeros((50, 4)), y=np.arange(50) % 10, shape=(2, 2))
    with pytest.raises(ValueError, match="draws 1000 samples"):
        load_protocol("mnist-1000", data_home=tmp_path)
    with pytest.raises(ValueError, match="100 samples of each class"):
        load_protocol("usps-1000", data_home=tmp_path)


def test_a_protocol_may_ask_the_public_address_unless_it_is_told_not_to(monkeypatch):
    asked = []

    def serve(*_, download, **__):
        asked.append(download)
        raise LookupError

    monkeypatch.setattr("masked_subspace.datasets.protocols.load", serve)
    for given in ({}, {"download": False}):
        with pytest.raises(LookupError):
            load_protocol("orl", **given)
    assert asked == [True, False]
