"""What a distributed fit hands from stage to stage and what it leaves; how tasks are noted. Stages are stand-ins."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from in_process import WORKERS, Done, SerialClient

from masked_subspace.distributed import DistributedResult, fit, fit_distributed, warm_up
from masked_subspace.distributed.labels import write_npy, write_parquet
from masked_subspace.distributed.tasks import Result, Workers, active_client, task
from masked_subspace.parallel import dask_engine

da = pytest.importorskip("dask.array")


class EnoughError(Exception):
    """Raised where a test has seen enough."""


X = np.random.default_rng(0).standard_normal((700, 6)).astype(np.float32)


class Stages:
    """Stand-ins for the stages of a fit, which write down what they are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.given: dict[str, Any] = {}
        self.parts = SimpleNamespace(preparation=Result((abs, (-9,)), "preparation"))
        self.graph = SimpleNamespace(n_samples=700, sizes=[400, 300])
        answers = {
            "shuffle_by_list": self.parts,
            "find_candidates": ["near"],
            "decide_settings": "settings",
            "solve_parts": ["links"],
            "build_graph": self.graph,
            "_rows_and_ids": (["rows"], ["ids"]),
            "spectral_cut": (["spectral"], ["placed"]),
            "modularity_cut_blocks": (["modularity"], ["placed"]),
            "_finished": (["named"], SimpleNamespace(future="anchors")),
            "labels_by_block": ["by block"],
            "_as_array": "array",
        }
        for name, answer in answers.items():
            monkeypatch.setattr(fit, name, self._stage(name, answer))
        monkeypatch.setattr(fit, "Workers", self._workers)
        self.parts.preparation.known("preparation")  # type: ignore[arg-type]

    def _stage(self, name: str, answer: Any) -> Any:
        def stage(*given: Any) -> Any:
            self.given[name] = given
            return answer

        return stage

    def _workers(self, client: Any) -> Any:
        self.given["client"] = client
        self.workers = SimpleNamespace(
            keep=lambda values: [SimpleNamespace(future=one) if isinstance(one, str) else one for one in values],
            fetch=WORKERS.fetch,
            wait=lambda values: self.given.update(waited=values),
            peak_memory=lambda: {"a": 5},
        )
        return self.workers


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> Stages:
    return Stages(monkeypatch)


def test_every_setting_reaches_its_stage(stages: Stages) -> None:
    lazy = da.from_array(X, chunks=(300, 4))
    settings = {"sparsity": 0.2, "penalty": 3.0, "penalty_growth": 1.4, "max_iter": 17, "tol": 1e-3}
    others = {"n_candidates": 19, "n_links": 7, "n_components": 6, "center": False, "normalize": False, "n_parts": 3}
    result = fit_distributed(lazy, 4, client="client", cut="spectral", random_state=8, **settings, **others)
    near = [SimpleNamespace(future="near")]
    given, seed = stages.given, np.random.RandomState(8).randint(2**31 - 1)
    assert given["client"] == "client"
    workers, blocks, sizes, width, m, options = given["shuffle_by_list"]
    assert workers is stages.workers
    assert [block.compute().tolist() for block in blocks] == [X[a : a + 300].tolist() for a in (0, 300, 600)]
    assert (sizes, width, m) == ([300, 300, 100], 6, 19)
    assert options == {"center": False, "normalize": False, "seed": seed, "n_parts": 3}
    assert given["find_candidates"] == (stages.parts, 19)
    assert given["decide_settings"] == (stages.parts, near, {**settings, "mask_weight": 0.0}, seed)
    assert given["solve_parts"][:2] == (stages.parts, near)
    assert given["solve_parts"][2].future == "settings"
    assert given["solve_parts"][3] == 7
    assert given["build_graph"] == (stages.workers, stages.parts, ["links"])
    assert given["spectral_cut"] == (stages.workers, stages.graph, ["rows"], 4, 6, seed)
    assert given["_finished"] == (stages.workers, ["spectral"], ["placed"], (["rows"], ["ids"]), [400, 300], 4, seed)
    assert given["labels_by_block"] == (stages.workers, ["named"], ["ids"], [300, 300, 100])
    assert given["waited"] == ["by block"]
    assert given["_as_array"] == (["by block"], [300, 300, 100])
    left = (result.labels, result.settings, result.anchors, result.preparation, result.peak_memory)
    assert left == ("array", "settings", "anchors", "preparation", {"a": 5})


@pytest.mark.parametrize(
    ("cut", "n_samples", "taken"),
    [("spectral", 9_000, "spectral"), ("modularity", 700, "modularity"), ("auto", 2_000, "spectral"),
     ("auto", 2_001, "modularity")],
)  # fmt: skip
def test_the_cut_is_the_one_asked_for(stages: Stages, cut: str, n_samples: int, taken: str) -> None:
    stages.graph.n_samples = n_samples
    fit_distributed(da.from_array(X, chunks=(300, -1)), 4, client="client", cut=cut)
    assert stages.given["_finished"][1] == [taken]


def test_few_samples_have_all_others_for_candidates_and_a_path_is_opened(stages: Stages, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", X[:200])
    fit_distributed(tmp_path / "rows.npy", 2, client="client", n_candidates=500)
    assert stages.given["find_candidates"][1] == 199
    assert stages.given["shuffle_by_list"][2:5] == ([200], 6, 199)
    fit_distributed(str(tmp_path / "rows.npy"), 2, client="client", n_candidates=199)
    assert stages.given["find_candidates"][1] == 199


def test_without_a_client_the_active_one_is_asked(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "active_client", lambda: "active")
    fit_distributed(da.from_array(X), 2)
    assert stages.given["client"] == "active"


def test_a_fit_has_the_seed_that_an_estimator_draws() -> None:
    random = np.random.RandomState(4)
    assert fit._seed_of(random) == np.random.RandomState(4).randint(2**31 - 1) == fit._seed_of(4)
    assert fit._seed_of(random) != fit._seed_of(4)  # it has moved on


def test_samples_of_all_parts_get_names_by_appearance_and_anchors_the_same() -> None:
    """Cluster 1 holds the first sample of the input; a sample without a link follows its nearest of either sign."""
    rows = [np.eye(3)[[0, 1, 1]], -np.eye(3)[[1, 0, 0]]]
    found = [np.array([0, 1, -1], dtype=np.int32), np.array([1, 0, -1], dtype=np.int32)]
    placed, ids = [one >= 0 for one in found], [np.array([4, 0, 2]), np.array([1, 3, 5])]
    kept = [WORKERS.keep([task(lambda one=one: one)() for one in values]) for values in (found, placed, rows, ids)]
    named, anchors = fit._finished(WORKERS, kept[0], kept[1], (kept[2], kept[3]), [3, 3], 2, 7)
    assert [one.tolist() for one in WORKERS.fetch(named)] == [[1, 0, 0], [0, 1, 1]]
    theirs, known = WORKERS.fetch([anchors])[0]
    assert len(theirs) == 4
    np.testing.assert_array_equal(known, np.abs(theirs[:, 0]) > 0)


def test_labels_are_computed_and_written_block_by_block(tmp_path: Path) -> None:
    labels = np.arange(7, dtype=np.int32) % 3
    result = DistributedResult(da.from_array(labels, chunks=(3,)), None, None, None, {})
    np.testing.assert_array_equal(result.compute(), labels)
    assert result.compute().dtype == np.int32
    folder = tmp_path / "new" / "labels"
    for _ in range(2):  # into a folder that is there already too
        result.to_npy(folder)
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"labels-00000{n}.npy" for n in range(3)]
    assert [np.load(file).tolist() for file in files] == [[0, 1, 2], [0, 1, 2], [0]]
    parquet = pytest.importorskip("pyarrow.parquet")
    result.to_parquet(tmp_path / "parquet")
    tables = [parquet.read_table(file).to_pydict() for file in sorted((tmp_path / "parquet").iterdir())]
    assert tables[1] == {"sample": [3, 4, 5], "label": [0, 1, 2]}
    assert tables[2] == {"sample": [6], "label": [0]}
    write_npy(labels, str(tmp_path), 12, 99)
    assert (tmp_path / "labels-000012.npy").exists()
    write_parquet(labels, str(tmp_path), 12, 99)
    assert parquet.read_table(tmp_path / "labels-000012.parquet").to_pydict()["sample"] == list(range(99, 106))


def test_labels_as_a_dask_array_have_the_blocks_of_the_input() -> None:
    from dask.delayed import delayed

    blocks = [SimpleNamespace(future=delayed(np.arange)(a, b, dtype=np.int32)) for a, b in ((0, 3), (3, 7))]
    found = fit._as_array(blocks, [3, 4])  # type: ignore[arg-type]
    assert (found.chunks, found.dtype) == (((3, 4),), np.int32)
    np.testing.assert_array_equal(found.compute(), np.arange(7))


class Counting(SerialClient):
    """A client that counts how often it is asked, and for how many tasks."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def get(self, graph: dict[Any, Any], keys: list[Any], sync: bool) -> list[Done]:
        self.asked.append(len(graph))
        return super().get(graph, keys, sync)


def test_a_result_is_computed_once_and_what_it_needs_is_in_the_same_graph() -> None:
    workers = Workers(Counting())
    one = task(abs)(-3)
    two = task(sum)([one, task(abs)(-4), one])
    assert workers.fetch([two, one]) == [10, 3]
    assert workers.client.asked == [3]
    assert workers.fetch([task(divmod)(two, 4)[1], one]) == [2, 3]
    assert workers.client.asked == [3, 2]  # the remainder and the item of it
    assert workers.keep([one, two]) == [one, two]
    assert workers.client.asked == [3, 2]


def test_tasks_bear_the_names_of_their_functions_and_keep_named_arguments() -> None:
    noted = task(np.full)(3, fill_value=7)
    assert noted.key.startswith("full-")
    assert noted.key != task(np.full)(3, fill_value=7).key
    assert WORKERS.fetch([noted])[0].tolist() == [7, 7, 7]


def test_blocks_of_a_dask_array_are_put_into_the_graph_once() -> None:
    block = (da.from_array(X, chunks=(300, -1)) * 2).to_delayed().ravel().tolist()[1]
    twice = [task(np.sum)(block), task(len)(block), task(len)([block, block])]
    total, length, both = WORKERS.fetch(twice)
    assert total == pytest.approx(2 * X[300:600].sum(), rel=1e-3)
    assert (length, both) == (300, 2)


def test_who_waits_has_five_minutes_or_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(dask_engine, "wait_for", lambda *given: asked.append(given))
    client: Any = SerialClient()
    for workers, patience in ((Workers(client), 300.0), (Workers(client, 2.0), 2.0)):
        kept = workers.keep([task(abs)(-3)])
        workers.wait(kept)
        assert asked.pop() == (client, [kept[0].future], patience)


def test_the_memory_of_every_worker_is_asked_for() -> None:
    from masked_subspace._common.peak_memory import peak_bytes

    client: Any = SimpleNamespace(run=lambda function: {"a": function is peak_bytes})
    assert Workers(client).peak_memory() == {"a": True}


def test_where_no_client_is_active_the_error_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")

    def none_there() -> None:
        raise ValueError

    monkeypatch.setattr(distributed, "default_client", none_there)
    with pytest.raises(ValueError, match="no Dask client is active"):
        active_client()
    monkeypatch.setattr(distributed, "default_client", lambda: "this one")
    assert active_client() == "this one"


class Locked:
    """A lock that says for what and how long it is waited for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: Exception | None = None) -> None:
        self.asked: list[tuple[str, float]] = []
        self.error = error
        locket = pytest.importorskip("locket")
        monkeypatch.setattr(locket, "lock_file", self._lock)

    def _lock(self, path: str, timeout: float) -> Any:
        from contextlib import nullcontext

        self.asked.append((path, timeout))
        if self.error is not None:
            raise self.error
        return nullcontext()


def begun_by(monkeypatch: pytest.MonkeyPatch, there: list[bool], sign: Path) -> list[Any]:
    """What is compiled where kernels are there or not, each time somebody looks."""
    looks, begun = iter(there), []
    monkeypatch.setattr(warm_up, "_sign", lambda: sign)
    monkeypatch.setattr(warm_up, "_are_there", lambda: next(looks))
    monkeypatch.setattr(warm_up, "_done", False)
    monkeypatch.delenv("MASKED_SUBSPACE_COMPILING", raising=False)
    process = SimpleNamespace(wait=lambda seconds: begun.append(seconds))
    monkeypatch.setattr(warm_up, "compile_beside", lambda *given: begun.append(given) or process)
    warm_up.kernels_on_disk()
    assert warm_up._done
    return begun


def test_one_of_several_workers_compiles_and_the_others_wait_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    locked, sign = Locked(monkeypatch), tmp_path / "new" / "sign"
    compiling = ("masked_subspace.distributed.warm_up:fit_small", {"MASKED_SUBSPACE_COMPILING": "1"})
    assert begun_by(monkeypatch, [False, False], sign) == [compiling, 300.0]
    assert locked.asked == [(f"{sign}.lock", 300.0)]
    assert sign.parent.is_dir()
    # Another one has compiled while this one waited for the lock.
    assert begun_by(monkeypatch, [False, True], sign) == []


def test_a_lock_that_is_never_given_and_a_folder_for_nobody_are_no_errors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from locket import LockError

    for error in (LockError(), PermissionError()):
        Locked(monkeypatch, error)
        assert begun_by(monkeypatch, [False], tmp_path / "sign") == []


def test_the_compiling_process_fits_with_each_cut_and_then_signs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    distributed = pytest.importorskip("distributed")
    sign, cuts = tmp_path / "sign", []

    class Client:
        def __init__(self, **how: Any) -> None:
            assert (how["n_workers"], how["processes"]) == (1, False)

        def __enter__(self) -> str:
            return "client"

        def __exit__(self, *_: object) -> None:
            pass

    def fit_one(rows: Any, n_clusters: int, *, client: Any, cut: str) -> Any:
        assert (rows.shape, rows.dtype, rows.numblocks, n_clusters) == ((2000, 20), np.float32, (4, 1), 4)
        assert client == "client"
        assert not sign.exists()
        return SimpleNamespace(compute=lambda: cuts.append(cut))

    monkeypatch.setattr(warm_up, "_sign", lambda: sign)
    monkeypatch.setattr(distributed, "Client", Client)
    monkeypatch.setattr(fit, "fit_distributed", fit_one)
    warm_up.fit_small()
    assert cuts == ["spectral", "modularity"]
    assert sign.exists()


def test_the_sign_lies_beside_the_compiled_kernels() -> None:
    from masked_subspace.represent.neighbors.kernels import scan_rows

    assert warm_up._sign() == Path(os.fspath(scan_rows.stats.cache_path)) / "kernels_of_a_distributed_fit"
