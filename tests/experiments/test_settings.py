"""The TOML files: every cell of every table resolves to an estimator that accepts its parameters."""

import json
import tomllib

import numpy as np
import pytest

from masked_subspace.experiments import settings as settings_module
from masked_subspace.experiments.compute import cell_keys
from masked_subspace.experiments.settings import (
    SETTINGS,
    Cell,
    FitSetting,
    cells,
    paper_entry,
    paper_numbers,
    paper_rows,
    resolve,
)
from masked_subspace.experiments.settings import table_entry as entry_of
from masked_subspace.registry import METHODS, SettingError, make_estimator


def all_fits():
    fits = {}
    for table in ("table1", "table2"):
        for cell in cells(table, trials=1):
            fit = cell.fit
            while fit is not None:
                fits[json.dumps(fit.plain(), sort_keys=True)] = fit
                fit = fit.mask_from
    return list(fits.values())


@pytest.mark.parametrize("fit", all_fits(), ids=lambda fit: f"{fit.method}-{len(fit.parameters)}")
def test_every_setting_fits_its_method(fit):
    estimator = make_estimator(fit.method, 3, fit.parameters, seed=0, n_jobs=1)
    if hasattr(estimator, "_validate_params"):
        estimator._validate_params()
    for name, value in fit.parameters.items():
        assert getattr(estimator, name) == value


def test_the_papers_values_of_lambda():
    expected = {"mnist-1000": 1e-3, "usps-1000": 5e-2, "orl": 3e-4, "coil20": 1e-3, "coil100": 1e-4}
    for dataset, sparsity in expected.items():
        for row in ("bmsc", "gmsc", "rmsc", "rmsc-v2"):
            fit = resolve("paper", row, dataset)
            assert fit.parameters["sparsity"] == sparsity
            assert fit.parameters["affinity"] == "symmetric"
            assert fit.parameters["penalty_growth"] in (1.1, 2.0)
    for row in ("gmsc", "rmsc"):
        assert resolve("paper", row, "orl").parameters["mask_strength"] in (1.05, 1.1)


def test_the_literal_setting_differs_from_the_papers_only_in_the_masks_direction():
    literal, corrected = resolve("paper-literal", "rmsc", "orl"), resolve("paper", "rmsc", "orl")
    assert literal.parameters == {**corrected.parameters, "mask_orientation": "paper"}
    assert literal.mask_from == corrected.mask_from


def test_auto_gives_rmsc_nothing_but_the_number_of_clusters():
    for dataset in entry_of("table2")["datasets"] + ["mnist-1000"]:
        assert resolve("auto", "rmsc", dataset) == FitSetting("rmsc")


def test_a_tuned_row_exists_only_where_it_was_tuned():
    assert resolve("tuned", "rmsc", "orl") is not None
    assert resolve("tuned", "rmsc", "digits") is None
    assert resolve("tuned", "knn", "orl") is None


def test_mnist_is_reported_on_draws_that_chose_nothing():
    found = cells("table1", methods=["knn"], settings=["auto"])
    assert [cell.trial for cell in found] == list(range(10, 30))


def test_restrictions_and_unknown_names():
    found = cells("table2", datasets=["orl"], methods=["rmsc"], settings=["auto"], trials=3, first_trial=5)
    assert [(cell.dataset, cell.row, cell.trial) for cell in found] == [("orl", "rmsc", trial) for trial in (5, 6, 7)]
    with pytest.raises(SettingError, match="--dataset 'nowhere'"):
        cells("table1", datasets=["nowhere"])
    with pytest.raises(SettingError, match="--method 'magic'"):
        cells("table1", methods=["magic"])
    with pytest.raises(SettingError, match="no method 'magic'"):
        make_estimator("magic", 3, {}, 0)
    with pytest.raises(SettingError, match="bmsc has no parameter 'magic'"):
        make_estimator("bmsc", 3, {"magic": 1}, 0)


INVENTED = """
[table1.mnist-1000]
rmsc = { accuracy = [61.5, 4.5], nmi = [62.5, 2.5] }
[table2.coil20]
rmsc = { accuracy = [12.5] }
ssc = { accuracy = [10.5] }
"""


def test_numbers_of_the_paper_are_read_by_table_set_and_row(monkeypatch):
    tables = settings_module._toml("tables")
    read = {"tables": tables, "paper": tomllib.loads(INVENTED)}
    monkeypatch.setattr(settings_module, "_toml", read.__getitem__)
    assert paper_numbers("table1", "mnist-1000", "rmsc")["accuracy"] == [61.5, 4.5]
    assert paper_numbers("table2", "coil20", "rmsc") == {"accuracy": [12.5]}
    assert paper_numbers("table1", "coil20", "rmsc") == paper_numbers("table2", "coil20", "edsc") == {}
    assert paper_rows("coil20") == {"rmsc": {"accuracy": [12.5]}, "ssc": {"accuracy": [10.5]}}
    assert list(paper_rows("mnist-1000")) == ["rmsc"]
    assert paper_rows("digits") == {}


def test_in_the_papers_third_table_rounds_strengthen_pairs_of_one_class_and_weaken_others():
    pairs = paper_entry("table3")
    same = np.array(pairs["same_class"])
    assert (np.array(pairs["rmsc"])[same] > np.array(pairs["bmsc"])[same]).all()
    assert (np.array(pairs["rmsc"])[~same] < np.array(pairs["bmsc"])[~same]).all()


def test_keys_depend_on_what_determines_a_cell_and_on_nothing_else():
    def keys(data="d", trial=0, setting="auto", table="table1", **parameters):
        return cell_keys(Cell(table, "bmsc", setting, "orl", trial, FitSetting("bmsc", parameters)), data)

    assert keys() == keys(setting="paper", table="table2")
    different = [keys(), keys(data="e"), keys(trial=1), keys(sparsity=0.1), keys(sparsity=0.2)]
    assert len(set(different)) == len(different)
    assert len({exact for exact, _ in different} | {loose for _, loose in different}) == 2 * len(different)


def test_settings_and_methods_are_the_ones_the_command_offers():
    from masked_subspace.cli.parser import build_parser

    for method in METHODS:
        arguments = ["cluster", "x.npy", "--clusters", "2", "--method", method]
        assert build_parser().parse_args(arguments).method == method
    for setting in SETTINGS:
        assert build_parser().parse_args(["reproduce", "table1", "--setting", setting]).setting == [setting]
