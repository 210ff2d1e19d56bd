"""The list of methods, and that a baseline of one class, one line and one settings entry is everywhere."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from baseline_contract import CHECKS, baselines
from masked_subspace import registry
from masked_subspace.baselines.base import BaselineClusterer
from masked_subspace.baselines.result import Representation
from masked_subspace.cli.parser import build_parser
from masked_subspace.experiments import settings
from masked_subspace.experiments.results import DATABASE, Results
from masked_subspace.experiments.runner import RunOptions, run_cells
from masked_subspace.experiments.tables import report_tables, table_rows
from masked_subspace.registry import METHODS, Method, SettingError, make_estimator, resolve


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("BMSC", "bmsc"),
        ("SSC-OMP", "ssc-omp"),
        ("sscomp", "ssc-omp"),
        ("ssc_omp", "ssc-omp"),
        ("Soft S³C", "soft-s3c"),
        ("AE+EDSC", "ae-edsc"),
        ("AutoencoderEDSC", "ae-edsc"),
        ("k-means", "kmeans"),
        ("k-NN graph", "knn"),
    ],
)
def test_a_method_is_found_by_key_title_and_class_in_any_spelling(name, key):
    assert resolve(name) is METHODS[key]


def test_no_two_methods_share_a_name():
    for method in METHODS.values():
        assert all(resolve(name) is method for name in method.names)


def test_every_class_loads_and_takes_its_tiny_settings():
    for key, method in METHODS.items():
        assert isinstance(make_estimator(key, 3, method.tiny, seed=0), method.load())


def test_a_wrong_name_gets_the_nearest_right_one():
    with pytest.raises(SettingError, match=r"no method 'bmcs' \(did you mean 'bmsc'\?\); choose one of bmsc, gmsc"):
        resolve("bmcs")
    with pytest.raises(SettingError, match=r"ssc has no parameter 'aplha' \(did you mean 'alpha'\?\)"):
        make_estimator("ssc", 3, {"aplha": 1.0}, seed=0)
    with pytest.raises(SettingError, match=r"--method 'sscc' is not in this table \(did you mean 'ssc'\?\)"):
        settings.cells("table1", methods=["sscc"])


def test_any_clusterer_by_its_path():
    found = make_estimator("sklearn.cluster:AgglomerativeClustering", 3, {"linkage": "single"}, seed=0, n_jobs=1)
    assert found.get_params()["n_clusters"] == 3
    assert found.linkage == "single"
    labels = make_estimator("sklearn.cluster:DBSCAN", 3, {"eps": 1.0}, seed=0).fit_predict(np.eye(4))
    assert labels.shape == (4,)
    for path, reason in {
        "sklearn.nowhere:KMeans": "cannot be imported",
        "sklearn.cluster:Nobody": "cannot be imported",
        ":KMeans": "cannot be imported",
        "sklearn.preprocessing:StandardScaler": "not a clusterer",
        "sklearn.cluster:k_means": "not a clusterer",
    }.items():
        with pytest.raises(SettingError, match=reason):
            resolve(path)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("sklearn.clusters:KMeans", "sklearn.cluster"),
        ("SKLEARN.CLUSTER:KMEANS", "sklearn"),
        ("sklearn.cluster:kmeans", "KMeans"),
    ],
)
def test_a_mistyped_module_or_class_is_answered_with_the_nearest(path, meant):
    with pytest.raises(SettingError, match=f"did you mean '{meant}'"):
        resolve(path)


def test_a_mixture_takes_the_number_of_clusters_as_components():
    assert make_estimator("sklearn.mixture:GaussianMixture", 3, {}, seed=0).n_components == 3
    assert make_estimator("sklearn.mixture:GaussianMixture", 3, {"n_components": 2}, seed=0).n_components == 2


def test_rows_of_a_table_are_chosen_by_title_too():
    by_title = settings.cells(
        "table2", datasets=["COIL20"], methods=["RMSC-v2", "SSC-OMP"], settings=["auto"], trials=1
    )
    assert [cell.row for cell in by_title] == ["ssc-omp", "rmsc-v2"]


class Toy(BaselineClusterer):
    """Ridge regression without the diagonal: a baseline as short as one can be."""

    def __init__(self, n_clusters=8, *, affinity="symmetric", n_links=5, n_components=None, cut="spectral",
                 center=False, normalize=True, constraints="soft", random_state=None, n_jobs=None,
                 verbose=0):  # fmt: skip
        super().__init__(
            n_clusters,
            affinity,
            n_links,
            n_components,
            cut,
            center,
            normalize,
            constraints,
            random_state,
            n_jobs,
            verbose,
        )

    def _solve(self, rows, _work):
        P = np.linalg.inv(rows @ rows.T + 0.1 * np.eye(len(rows), dtype=rows.dtype))
        return Representation(np.eye(len(rows), dtype=rows.dtype) - P / np.diag(P)[:, None])


@pytest.fixture
def toy(monkeypatch):
    """One class, one line of the registry, one settings entry."""
    module = ModuleType("toy_package")
    module.Toy = Toy
    monkeypatch.setitem(sys.modules, "toy_package", module)
    monkeypatch.setitem(registry.METHODS, "toy", Method("toy", "Toy method", "toy_package:Toy"))
    monkeypatch.setitem(settings._toml("settings")["auto"], "toy", {"tables": ["table1"]})


@pytest.mark.usefixtures("toy")
def test_a_new_baseline_is_in_the_command():
    options = build_parser().parse_args(["cluster", "x.npy", "--clusters", "3", "--method", "toy"])
    assert isinstance(make_estimator(options.method, 3, {}, seed=0), Toy)


@pytest.mark.usefixtures("toy")
def test_a_new_baseline_is_in_its_table(tmp_path):
    found = settings.cells("table1", datasets=["digits"], methods=["Toy method", "knn"], settings=["auto"], trials=1)
    run_cells(found, tmp_path / DATABASE, RunOptions())
    with Results(tmp_path / DATABASE) as results:
        (table,) = report_tables(table_rows(found, results))
    assert [row[0] for row in table.rows] == ["5-NN graph (control)", "Toy method"]
    assert table.rows[1][2] == "1/1"
    assert table.rows[1][3] > 10
    assert "toy" not in settings.table_methods("table2")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.usefixtures("toy")
def test_a_new_baseline_is_held_to_the_contract(check):
    check(baselines()["toy"])
