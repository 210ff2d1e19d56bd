"""Where the baselines stop, how large their blocks are, and what becomes of samples that nothing resembles."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from masked_subspace.baselines import BDR, EDSC, LRR, SSC, EnSC, SoftS3C, bdr
from masked_subspace.baselines.autoencoder import AutoencoderSettings, train_codes
from masked_subspace.baselines.bdr import BdrSettings, represent_bdr
from masked_subspace.baselines.elastic_net import ElasticNetProblem, _with_room, solve_elastic_net
from masked_subspace.baselines.elastic_net_kernels import Codes
from masked_subspace.baselines.ensc import represent_ensc
from masked_subspace.baselines.result import Representation, block_length
from masked_subspace.baselines.ssc import PreparedSsc, SscSettings
from masked_subspace.baselines.ssc_admm import AdmmProblem, SharedFactor, _Block


def test_bdr_stops_at_the_first_step_below_its_tolerance(noisy_rows):
    rows = noisy_rows[:40]
    loose, tight = (represent_bdr(rows, BdrSettings(3, 5.0, 0.2, tol)) for tol in (1e-2, 1e-4))
    assert loose.converged
    assert loose.stopping_value < 1e-2
    assert 1 < loose.n_iter < tight.n_iter
    before = represent_bdr(rows, BdrSettings(3, 5.0, 0.2, 1e-2, max_iter=loose.n_iter - 1))
    assert not before.converged
    assert before.stopping_value >= 1e-2


@pytest.mark.parametrize(
    "model",
    [
        BDR(3, tol=1e-12, max_iter=4),
        EDSC(3, outliers=0.1, tol=1e-12, max_iter=4),
        EnSC(3, gamma=500.0, max_iter=2),
        LRR(3, max_iter=4),
        SSC(3, solver="admm", tol=1e-12, max_iter=4),
        SSC(3, alpha=100.0, max_iter=2),
        SoftS3C(3, solver="admm", tol=1e-12, max_iter=4, max_rounds=1),
    ],
    ids=lambda model: f"{type(model).__name__} {model.max_iter}",
)
def test_every_method_makes_as_many_iterations_as_it_may(noisy_rows, model):
    with pytest.warns(ConvergenceWarning, match=f"stopped after {model.max_iter} iterations"):
        model.set_params(random_state=0).fit(noisy_rows)
    assert model.n_iter_ == model.max_iter


def test_affine_codes_of_every_class_sum_to_one(noisy_rows):
    for model in (SSC(3, affine=True), SoftS3C(3, affine=True, max_rounds=1)):
        model.set_params(tol=1e-4, random_state=0).fit(noisy_rows[:20])
        np.testing.assert_allclose(model.representation_matrix_.sum(axis=1), 1, atol=1e-3)


@pytest.mark.parametrize(("field", "value"), [("stopping_value", np.nan), ("objective", np.array([1.0, np.nan]))])
def test_what_ends_without_a_number_has_not_converged(field, value):
    assert Representation(np.eye(3)).converged
    assert not Representation(np.eye(3), **{field: value}).converged
    assert not Representation(np.full((3, 3), np.nan)).converged


def test_a_method_without_a_mask_has_no_residual_of_one():
    found = Representation(np.eye(3), n_iter=7, stopping_value=0.25).as_solver_result(1.5)
    assert (found.mask_residual, found.sparsity_residual) == (0, 0)
    assert (found.n_iter, found.stopping_value, found.seconds) == (7, 0.25, 1.5)


def test_a_block_has_32_samples_at_least_and_1024_at_most():
    assert block_length(1 << 40) == 32
    assert block_length(1) == 1024
    assert block_length(1 << 14) == 256  # 32 MB of float64


def test_samples_that_nothing_resembles_have_no_say_in_the_weights():
    """Orthogonal rows: λ_z is α itself, and every code is empty."""
    found = PreparedSsc(np.eye(5), SscSettings(alpha=7.0))
    assert found.data_weight == 7.0
    assert found.solve().matrix.nnz == 0
    rows = np.vstack([np.eye(5), [[0.6, 0.8, 0, 0, 0]]])  # resembles two of them, by .6 and .8
    assert PreparedSsc(rows, SscSettings(alpha=7.0)).data_weight == pytest.approx(7.0 / 0.6)
    codes = represent_ensc(rows, gamma=50.0).matrix
    assert np.diff(codes.indptr)[2:5].tolist() == [0, 0, 0]


def test_lists_grow_by_as_much_as_is_asked_for():
    rng = np.random.default_rng(0)
    support, coef = rng.integers(0, 9, (2, 10)), rng.normal(size=(2, 10))
    codes = Codes(support, coef, np.array([4, 10]))
    for extra in (1, 6, 40):
        wider = _with_room(codes, extra)
        assert wider.support.shape == wider.coef.shape
        assert wider.support.shape[1] >= 10 + extra
        np.testing.assert_array_equal(wider.support[:, :10], support)
        np.testing.assert_array_equal(wider.coef[:, :10], coef)
    assert _with_room(Codes(support, coef, np.array([4, 7])), 3).support is support


def test_atoms_that_were_listed_and_never_used_are_no_entries(noisy_rows):
    n = len(noisy_rows)
    problem = ElasticNetProblem(noisy_rows, noisy_rows, np.full(n, 0.02), np.full(n, 0.01), np.arange(n))
    found = solve_elastic_net(problem, max_rounds=2)
    assert not found.converged  # the last round has listed atoms
    assert (found.coefficients.data != 0).all()


def test_codes_of_a_large_gamma_stop_at_four_times_rounding(noisy_rows):
    """Where the tolerance asked for is below that, and at what was asked for elsewhere."""
    asked = []

    def noted(problem, *, start, tol, max_rounds, n_threads):
        asked.append(tol)
        raise StopIteration

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("masked_subspace.baselines.ensc.solve_elastic_net", noted)
        for dtype, gamma in ((np.float32, 1e5), (np.float64, 50.0)):
            with pytest.raises(StopIteration):
                represent_ensc(noisy_rows.astype(dtype), gamma=gamma)
    assert asked == [pytest.approx(4e5 * np.finfo(np.float32).eps), 1e-5]


def test_every_block_of_the_published_iteration_is_told(noisy_rows, monkeypatch):
    monkeypatch.setattr("masked_subspace.baselines.ssc_admm.block_length", lambda _: 45)
    heard = []
    settings = SscSettings(solver="admm", max_iter=30)
    found = PreparedSsc(noisy_rows, settings).solve(progress=lambda step, left: heard.append((step, left)))
    assert [step for step, _ in heard] == [15, 30]
    assert heard[-1][1] == found.stopping_value > 0


def test_an_epoch_makes_a_step_for_every_batch(monkeypatch):
    """Seven images in batches of three at most are three batches."""
    torch = pytest.importorskip("torch")
    steps, sizes = [], []
    step = torch.optim.Adam.step
    monkeypatch.setattr(torch.optim.Adam, "step", lambda self: steps.append(self.defaults["lr"]) or step(self))
    split = np.array_split
    monkeypatch.setattr(
        np, "array_split", lambda *one: sizes.append([len(part) for part in split(*one)]) or split(*one)
    )
    X = np.random.default_rng(0).random((7, 16))
    train_codes(X, (4, 4), AutoencoderSettings(filters=(2,), max_epochs=2, batch_size=3, learning_rate=0.02), seed=0)
    assert steps == [0.02] * 6
    assert sizes == [[3, 2, 2]] * 2


def test_training_gives_the_threads_back():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    X = np.random.default_rng(0).random((5, 16))
    train_codes(X, (4, 4), AutoencoderSettings(filters=(2,), max_epochs=1), seed=0, n_threads=before + 1)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("size", [2, 6])
def test_kernels_without_a_centre_are_refused(size):
    with pytest.raises(ValueError, match="sizes must be odd"):
        AutoencoderSettings(filters=(2, 2), kernel_sizes=(3, size))


def test_codes_of_the_autoencoder_keep_the_type_of_the_images():
    pytest.importorskip("torch")
    for dtype in (np.float32, np.float64):
        X = np.random.default_rng(0).random((5, 16)).astype(dtype)
        assert train_codes(X, (4, 4), AutoencoderSettings(max_epochs=1), seed=0).codes.dtype == dtype


def test_a_fit_that_has_converged_does_not_warn(noisy_rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        found = EnSC(3, random_state=0).fit(noisy_rows)
    assert csr_array(found.representation_matrix_).has_sorted_indices


def test_the_tolerance_is_not_below_twenty_times_rounding(noisy_rows, monkeypatch):
    asked = []

    def noted(*parts):
        asked.append(parts[4])
        raise StopIteration

    monkeypatch.setattr("masked_subspace.baselines.elastic_net._Shared", noted)
    for dtype in (np.float32, np.float64):
        rows = noisy_rows.astype(dtype)
        problem = ElasticNetProblem(rows, rows, np.full(90, 0.02), np.zeros(90), np.arange(90))
        for tol in (1e-5, 1e-9, 0.0):
            with pytest.raises(StopIteration):
                solve_elastic_net(problem, tol=tol)
    single, double = (20 * float(np.finfo(dtype).eps) for dtype in (np.float32, np.float64))
    assert asked == [1e-5, single, single, 1e-5, 1e-9, double]


def test_an_error_that_is_spread_over_many_samples_is_an_error_too(monkeypatch):
    """A vector a tenth above what is accepted as residual is solved for directly, though no entry of it is large."""
    rng = np.random.default_rng(0)
    B = rng.random((320, 320))
    B = (B + B.T) / 2
    np.fill_diagonal(B, 0)
    degree = B.sum(axis=1)
    vectors = np.linalg.eigh(np.diag(degree) - B)[1][:, [0]]
    for size, direct in ((0.9e-3, False), (1.1e-3, True)):
        off = np.where(np.arange(320) % 2, 1.0, -1.0)[:, None]
        off -= vectors * (vectors.T @ off)
        residual = np.linalg.norm(degree[:, None] * off - B @ off)
        near = vectors + off * size * degree.max() / residual
        asked = []
        monkeypatch.setattr(bdr, "lobpcg", lambda *_, near=near, **__: (np.zeros(1), near))
        monkeypatch.setattr(bdr, "smallest_eigenpairs", lambda _, k, asked=asked: asked.append(k) or (None, vectors))
        bdr.smallest_eigenvectors(B, 1, vectors)
        assert asked == [1] * direct


def test_steps_are_rounded_only_where_no_finer_tolerance_is_asked_for(noisy_rows):
    factor = SharedFactor.of(noisy_rows, 20.0, 20.0, False)
    for tol, kind in ((2e-4, np.float32), (1e-5, np.float32), (9e-6, np.float64)):
        assert _Block(AdmmProblem(factor, 90, 20.0, tol, 5), 0, 4).step_dtype == kind


def test_rounds_of_soft_s3c_end_where_the_prices_move_by_less_than_asked(noisy_rows):
    """No price is above 2, so that none moves by more."""
    rounds = [SoftS3C(3, max_rounds=3, mask_tol=tol, random_state=0).fit(noisy_rows).n_rounds_ for tol in (2.5, 0.0)]
    assert rounds[0] == 1 < rounds[1]


def test_what_a_method_found_is_handed_on_whole():
    matrix, outliers = csr_array(np.eye(3)), csr_array(2 * np.eye(3))
    noise, trace, details = np.full((3, 2), 4.0), np.array([3.0, 2.0]), {"data_weight": 5.0}
    found = Representation(matrix, 7, False, 0.25, trace, noise, outliers, details).as_solver_result(1.5)
    assert (found.n_iter, found.converged, found.stopping_value, found.seconds) == (7, False, 0.25, 1.5)
    assert found.representation is matrix
    assert found.objective is trace
    assert found.noise is noise
    assert found.outliers is outliers
    assert found.details is details
