"""Whole fits on two worker processes: the labels of one process, whatever dies meanwhile, in bounded memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import subspaces
from sklearn.metrics import adjusted_rand_score

from masked_subspace import BMSC
from masked_subspace.distributed import fit_distributed
from masked_subspace.masks import NeighborMask
from masked_subspace.metrics import clustering_accuracy

da = pytest.importorskip("dask.array")

N, K = 3600, 4
X, Y = subspaces(N)


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    """One process with the same search."""
    search = NeighborMask(32, "approximate")
    return np.asarray(BMSC(K, hard_mask=search, cut="spectral", random_state=0, n_jobs=1).fit(X).labels_)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(file, X)
    return file


@pytest.fixture(scope="module")
def by_modularity(path: Path) -> np.ndarray:
    """The labels that the modularity cut gives on one worker, a thread of this process."""
    import distributed

    one = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.Client(**one) as alone:
        return np.asarray(fit(path, alone, cut="modularity").compute())


def fit(source: Any, client: Any, **changes: Any) -> Any:
    return fit_distributed(source, K, client=client, **{"n_candidates": 32, "n_parts": 3} | changes)


def test_labels_are_those_of_one_process(client: Any, path: Path, expected: np.ndarray, tmp_path: Path) -> None:
    result = fit(path, client)
    np.testing.assert_array_equal(result.compute(), expected)
    assert adjusted_rand_score(Y, expected) > 0.99

    result.to_npy(tmp_path / "npy")
    files = sorted((tmp_path / "npy").glob("*.npy"))
    np.testing.assert_array_equal(np.concatenate([np.load(file) for file in files]), expected)
    parquet = pytest.importorskip("pyarrow.parquet")
    result.to_parquet(tmp_path / "parquet")
    table = parquet.read_table(tmp_path / "parquet").to_pydict()
    np.testing.assert_array_equal(np.array(table["label"])[np.argsort(table["sample"])], expected)

    rows, labels = result.anchors.result()
    assert rows.shape == (N, X.shape[1])  # few samples: all of them
    assert set(labels.tolist()) == set(range(K))
    assert result.settings.result().sparsity > 0
    assert len(result.peak_memory) == 2


def test_neither_blocks_nor_parts_nor_a_persisted_input_change_labels(client: Any, expected: np.ndarray) -> None:
    lazy = da.from_array(X, chunks=(700, 9))
    np.testing.assert_array_equal(fit(client.persist(lazy), client, n_parts=5).compute(), expected)


def test_the_modularity_cut_is_as_good_as_in_one_process_on_any_number_of_workers(
    client: Any, path: Path, by_modularity: np.ndarray
) -> None:
    one = BMSC(K, hard_mask=NeighborMask(32, "approximate"), random_state=0, n_jobs=1).fit(X).labels_
    assert clustering_accuracy(Y, by_modularity) >= clustering_accuracy(Y, one) - 0.01
    assert adjusted_rand_score(one, by_modularity) >= 0.99
    np.testing.assert_array_equal(fit(path, client, cut="auto").compute(), by_modularity)
    np.testing.assert_array_equal(fit(da.from_array(X, chunks=(500, 7)), client, cut="auto").compute(), by_modularity)


def test_few_samples_are_cut_spectrally_by_default(client: Any) -> None:
    few = da.from_array(X[:900], chunks=(300, -1))
    spectral, auto = (fit(few, client, cut=cut).compute() for cut in ("spectral", "auto"))
    np.testing.assert_array_equal(auto, spectral)


def test_exact_search_in_one_process_clusters_alike(expected: np.ndarray) -> None:
    exact = BMSC(K, hard_mask=NeighborMask(32, "exact"), random_state=0, n_jobs=1).fit(X).labels_
    assert adjusted_rand_score(exact, expected) >= 0.99


def test_what_cannot_be_fitted_is_refused(client: Any) -> None:
    with pytest.raises(ValueError, match="give a dask array"):
        fit(X, client)
    lazy = da.from_array(X, chunks=(900, -1))
    with pytest.raises(ValueError, match="cut is 'magic'"):
        fit(lazy, client, cut="magic")
    with pytest.raises(ValueError, match="n_parts is 0"):
        fit(lazy, client, n_parts=0)
    with pytest.raises(ValueError, match="needs 400 at least"):
        fit(lazy[:300], client)
    holed = X.copy()
    holed[1234, 3] = np.nan
    with pytest.raises(ValueError, match="first at row 1234"):
        fit(da.from_array(holed, chunks=(900, -1)), client)
    holed[1234] = 0
    with pytest.raises(ValueError, match="row of zeros, row 1234"):
        fit(da.from_array(holed, chunks=(900, -1)), client)


class Killer(threading.Thread):
    """Kills a worker that is about to run a task of each kind named, one kind after the other, each once."""

    def __init__(self, cluster: Any, kinds: list[str]) -> None:
        super().__init__(daemon=True)
        self.cluster, self.left, self.stop = cluster, kinds, threading.Event()

    def run(self) -> None:
        while self.left and not self.stop.is_set():
            busy = self.cluster.scheduler.workers
            for nanny in list(self.cluster.workers.values()):
                worker = busy.get(nanny.worker_address)
                kinds = {task.prefix.name for task in list(worker.processing)} if worker is not None else set()
                if self.left[0] in kinds and nanny.pid:
                    os.kill(nanny.pid, signal.SIGKILL)
                    self.left = self.left[1:]
                    break
            time.sleep(0.001)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cut", "stages"),
    [
        ("spectral", ["train_in_one", "search_own", "solve_links", "product_block", "placed_sums"]),
        ("modularity", ["symmetric_block", "groups_of_block", "cut_groups", "moved_labels"]),
    ],
)
def test_workers_killed_at_every_stage_change_nothing(
    cluster: Any, client: Any, path: Path, request: pytest.FixtureRequest, cut: str, stages: list[str]
) -> None:
    expected = request.getfixturevalue("expected" if cut == "spectral" else "by_modularity")
    killer = Killer(cluster, stages)
    killer.start()
    labels = fit(path, client, cut=cut).compute()
    killer.stop.set()
    killer.join()
    assert killer.left == [], "these stages ended before a worker could be killed"
    np.testing.assert_array_equal(labels, expected)


MEASURE = """
import json, sys
import numpy as np

def private_peak():
    # Without the pages of shared libraries: how many of them are in memory depends on how the system read the files.
    from masked_subspace._common.peak_memory import peak_bytes
    with open("/proc/self/status") as status:
        kilobytes = next(int(line.split()[1]) for line in status if line.startswith("RssFile:"))
    return peak_bytes() - kilobytes * 1024

def main():
    import distributed
    from masked_subspace.distributed import fit_distributed
    path, k, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    options = {"threads_per_worker": 1, "memory_limit": "2GB", "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=2, **options) as cluster:
        with distributed.Client(cluster) as client:
            for cut in ("modularity", "spectral"):
                result = fit_distributed(path, k, client=client, cut=cut)
                np.save(f"{folder}/{cut}.npy", result.compute())
            workers = list(client.run(private_peak).values())
    print(json.dumps({"client": private_peak(), "workers": workers}))

if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the pages of files are told apart by Linux only")
@pytest.mark.parametrize(("n", "compiled"), [(20_000, False), (80_000, True)])
def test_memory_of_client_and_workers_is_bounded(tmp_path: Path, n: int, compiled: bool) -> None:
    """Both cuts one after the other in the same processes, whose peaks are those of the larger one; once as in the
    first fit after an installation."""
    rows, y = subspaces(n, n_clusters=6, dim=4, ambient=50)
    np.save(tmp_path / "rows.npy", rows)
    script = tmp_path / "measure.py"
    script.write_text(MEASURE)
    command = [sys.executable, str(script), str(tmp_path / "rows.npy"), "6", str(tmp_path)]
    environment = dict(os.environ) if compiled else os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "empty")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    peaks = json.loads(done.stdout.strip().splitlines()[-1])
    share = rows.nbytes / 2
    assert peaks["client"] <= 130e6 + 16 * n
    assert max(peaks["workers"]) <= 6 * share + 300e6
    for cut in ("modularity", "spectral"):
        assert adjusted_rand_score(y, np.load(tmp_path / f"{cut}.npy")) > 0.99
