"""What people ran into when they tried the library on data of their own, and the tests that keep it mended.

Each line of `PINNED` is something that once went wrong or was asked for; each test named there exists, so that none is
renamed or removed without this list being looked at.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from masked_subspace.cli.exits import Exit
from masked_subspace.cli.parser import build_parser

TESTS = Path(__file__).parent
CLI_PAGE = TESTS.parent / "docs" / "guide" / "cli.md"

PINNED = {
    # Tables
    "doubt is said where clusters may not be real": [
        "cli/test_doing.py::test_the_verdict_is_told_in_the_words_of_the_command",
        "report/test_verdict.py::test_low_structure_warns_and_says_what_to_do",
        "report/test_verdict.py::test_a_structure_that_noise_cannot_reach_is_not_called_noise",
    ],
    "one column that outweighs the others is pointed out": [
        "cli/test_doing.py::test_unlike_scales_are_pointed_out_where_the_method_does_not_weigh_them",
    ],
    "ids, texts and labels are no features, and every role is said and stored": [
        "inputs/test_columns.py::test_ids_texts_and_labels_are_no_features_and_all_of_it_is_said",
        "inputs/test_columns.py::test_columns_that_number_rows_are_ids",
        "inputs/test_columns.py::test_a_column_named_like_labels_is_the_truth_only_if_it_can_be",
        "inputs/test_columns.py::test_names_that_repeat_are_not_names",
        "inputs/test_columns.py::test_parquet_columns_have_roles_too",
        "cli/test_doing.py::test_roles_are_printed_and_stored",
    ],
    "columns are chosen and left out by name": [
        "inputs/test_columns.py::test_columns_can_be_dropped_and_wrong_names_are_said",
    ],
    "decimal commas and thousands lose no measurement": [
        "inputs/test_columns.py::test_decimal_commas_lose_no_measurement",
        "inputs/test_columns.py::test_numbers_as_people_write_them",
        "inputs/test_columns.py::test_points_and_commas_in_one_column_are_refused_not_guessed",
    ],
    "all missing values are counted by column, rows from 0 everywhere, and can be filled, dropped or passed on": [
        "inputs/test_columns.py::test_all_missing_values_are_counted_by_column",
        "inputs/test_columns.py::test_missing_values_are_filled_dropped_or_passed_on",
        "cli/test_doing.py::test_missing_values_from_file_to_labels",
        "cli/test_doing.py::test_missing_values_are_unknown_to_the_method",
    ],
    "compressed text and standard input": [
        "inputs/test_columns.py::test_compressed_text_and_standard_input",
        "inputs/test_formats.py::test_a_compressed_matrix_is_known_in_a_stream",
    ],
    "a grid search without scoring": [
        "estimators/test_out_of_sample.py::test_grid_search_without_scoring_splits_no_cluster",
    ],
    "the number of clusters is not known": [
        "estimators/test_chosen_number.py::test_the_number_is_found",
        "cli/test_cluster.py::test_a_chosen_number_of_clusters_is_told_stored_and_drawn",
        "cli/test_doing.py::test_numbers_of_clusters_reach_the_estimator",
        "cli/test_doing.py::test_a_method_that_cannot_choose_the_number_is_told_before_work",
    ],
    "memberships": ["estimators/test_calibration.py::test_the_largest_membership_is_the_label"],
    "samples of no cluster": [
        "estimators/test_calibration.py::test_samples_below_the_certainty_asked_for_are_in_no_cluster",
        "cli/test_doing.py::test_a_method_that_finds_the_number_itself_and_leaves_samples_out",
        "report/test_in_no_cluster.py::test_leaving_samples_out_never_raises_accuracy",
        "report/test_in_no_cluster.py::test_noise_is_no_cluster_in_a_report",
        "report/test_in_no_cluster.py::test_the_command_says_how_many_and_what_scores_count",
    ],
    "transform": ["estimators/test_out_of_sample.py::test_new_samples_of_a_subspace_lie_beside_its_training_samples"],
    "a graph that is given": ["estimators/test_chosen_number.py::test_a_graph_of_any_origin"],
    "a text column of a DataFrame is named": ["rows/test_tables.py::test_text_columns_are_named"],
    "predict repeats the labels of the training samples": [
        "estimators/test_out_of_sample.py::test_training_samples_keep_their_labels_and_places",
    ],
    "compiling is said, once, and is not the method's time": [
        "_common/test_compilation.py::test_a_fit_says_that_it_compiles_and_the_next_does_not",
        "cli/test_doing.py::test_compile_time_is_counted_once_and_apart",
        "cli/test_doing.py::test_compiling_is_told_when_it_happens",
    ],
    # Text, cells, matrices of other programs
    "sparse samples, also from save_npz": [
        "estimators/test_sparse_input.py::test_sparse_samples_have_the_labels_of_the_array",
        "inputs/test_formats.py::test_what_save_npz_writes_is_read_as_sparse",
        "cli/test_doing.py::test_a_sparse_matrix_reaches_a_method",
    ],
    "AnnData": [
        "rows/test_tables.py::test_anndata_is_refused_at_once_with_what_to_give",
        "inputs/test_formats.py::test_cells",
        "inputs/test_formats.py::test_without_anndata_the_extra_is_named",
    ],
    "Matrix Market, MATLAB and Hopkins155's folders": [
        "inputs/test_formats.py::test_matrix_market",
        "inputs/test_formats.py::test_matlab_with_samples_as_rows_or_columns",
        "inputs/test_formats.py::test_trajectories_of_the_hopkins_kind",
    ],
    # Images
    "16 bits and floats are scaled by their range": [
        "inputs/test_formats.py::test_sixteen_bits_and_floats_are_scaled_by_their_range",
    ],
    "one damaged image does not stop the run if asked, and colour is kept if asked": [
        "inputs/test_formats.py::test_unreadable_images_are_skipped_when_asked_and_listed",
        "inputs/test_formats.py::test_colour_is_kept_when_asked",
    ],
    "the camera's rotation": ["inputs/test_formats.py::test_the_camera_s_rotation_is_heeded"],
    # Research
    "a table that the paper does not have is refused or kept apart": [
        "cli/test_mistakes.py::test_a_set_of_another_table_is_refused_with_the_right_command",
        "cli/test_other_commands.py::test_a_set_that_the_paper_does_not_have_is_kept_apart",
    ],
    "names in any case": [
        "cli/test_doing.py::test_names_in_any_case_also_in_reproduce",
        "cli/test_mistakes.py::test_options_that_make_no_sense",
    ],
    "anybody's clusterer in the command, the demo, the tables and the report": [
        "cli/test_doing.py::test_k_means_has_labels_and_a_report",
        "cli/test_doing.py::test_names_in_any_case_also_in_reproduce",
        "cli/test_doing.py::test_compile_time_is_counted_once_and_apart",
        "report/test_fitted.py::test_any_clusterer_is_shown_on_its_neighbors",
    ],
    # The command
    "every line of --pairs counts, and how many were used and kept is told": [
        "cli/test_mistakes.py::test_every_line_of_pairs_counts_also_the_first",
        "cli/test_mistakes.py::test_pairs_used_and_kept_are_told",
    ],
    "no file of an older run stays beside a new one": [
        "cli/test_one_unit.py::test_a_run_without_a_page_leaves_no_older_page_beside_it",
    ],
    "runs of different data do not compare": [
        "cli/test_doing.py::test_a_page_of_several_runs_speaks_of_all_of_them",
        "cli/test_doing.py::test_compare_shows_agreement_and_refuses_other_data",
        "cli/test_doing.py::test_folders_of_the_same_names_are_other_data",
    ],
    "exit codes, --json and --quiet are as documented": [
        "test_asked_by_users.py::test_exit_codes_are_those_of_the_page",
        "test_asked_by_users.py::test_every_command_but_two_has_json_and_quiet",
        "cli/test_cluster.py::test_errors_are_one_line_and_an_exit_code",
    ],
    "tab completion": [
        "cli/test_completion.py::test_bash_completes_commands_options_values_and_files",
        "cli/test_completion.py::test_zsh_completes_the_same_without_any_set_up",
    ],
    # Anyone
    "a row of zeros is a sample where centring gives it a direction": [
        "estimators/test_sparse_input.py::test_a_row_of_zeros_is_a_sample_where_it_has_a_direction",
    ],
    "help has types, defaults, shapes and examples": [
        "test_docstrings.py::test_parameters_are_those_of_the_signature_with_their_defaults",
        "test_docstrings.py::test_nothing_is_left_to_another_docstring",
    ],
    # The report
    "words are explained": [
        "report/test_browser.py::test_a_term_is_explained_on_hover_and_on_focus",
        "report/test_browser.py::test_how_to_read_opens_by_keyboard_beside_every_panel",
        "report/test_browser.py::test_certainty_is_explained_for_the_method_on_show",
    ],
    "an objective that rises does not look like a failure": [
        "report/test_payload.py::test_rounds_are_drawn_on_the_scale_of_the_last",
    ],
    "ties are ties": [
        "report/test_payload.py::test_ties_are_counted",
        "report/test_verdict.py::test_equal_certainties_are_called_equal",
    ],
    "the map is whole, zooms, is searched, has thumbnails and shows what is inside a cluster": [
        "report/test_browser_map.py::test_nothing_is_cut_off",
        "report/test_browser_map.py::test_zoom_and_pan_by_buttons_keys_pointer_and_wheel",
        "report/test_browser_map.py::test_search_and_legend_select",
        "report/test_browser_map.py::test_the_lasso_selects_what_it_surrounds",
        "report/test_browser_map.py::test_pointing_shows_the_sample_and_its_thumbnail",
        "report/test_layout.py::test_the_map_shows_two_parts_of_one_cluster_apart",
        "test_plots.py::test_the_map_is_that_of_the_report",
    ],
    "tables of numbers say what tells clusters apart": [
        "report/test_browser_cases.py::test_a_table_shows_what_tells_clusters_apart",
        "report/test_browser_cases.py::test_features_that_tell_nothing_apart_are_not_said_to",
        "report/test_profiles.py::test_the_telling_features_come_first_with_their_means",
        "report/test_browser.py::test_samples_are_searched_sorted_and_turned_over",
    ],
    "quality is in the headline without a truth": [
        "report/test_verdict.py::test_clear_clusters_are_called_so",
        "report/test_verdict.py::test_many_uncertain_samples_reach_the_headline",
    ],
    "classes have colours of their own, and 40 clusters 40 looks, which show on light and dark grounds": [
        "report/test_palette.py::test_every_colour_has_a_contrast_of_three_with_every_ground_of_its_theme",
        "report/test_palette.py::test_classes_have_colours_of_their_own",
        "report/test_palette.py::test_the_first_56_clusters_have_56_looks",
        "report/test_browser_cases.py::test_forty_clusters_have_forty_looks",
    ],
    "columns that scroll say so": ["report/test_browser.py::test_a_table_that_scrolls_says_so"],
    "version, date and command in the footer": [
        "report/test_browser.py::test_the_footer_says_what_made_the_page",
        "report/test_payload.py::test_the_footer_knows_version_date_and_command",
    ],
    "any model from Python": [
        "report/test_fitted.py::test_one_model_from_python",
        "report/test_fitted.py::test_noise_and_sparse_rows_are_compared",
    ],
}  # fmt: skip


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(one.name for one in tree.body if isinstance(one, ast.FunctionDef))


@pytest.mark.parametrize("asked", PINNED)
def test_what_was_asked_for_has_tests(asked):
    for place in PINNED[asked]:
        file, _, name = place.partition("::")
        assert name in names_in(file), place


def test_exit_codes_are_those_of_the_page():
    section = CLI_PAGE.read_text(encoding="utf-8").partition("## Exit codes")[2]
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", section, flags=re.MULTILINE)} == set(map(int, Exit))


def test_every_command_but_two_has_json_and_quiet(capsys):
    commands = ["cluster", "demo", "reproduce", "report", "compare", "data list", "data fetch", "bench", "completion"]
    for command in commands:
        with pytest.raises(SystemExit):
            build_parser().parse_args([*command.split(), "--help"])
        offered = capsys.readouterr().out
        assert offered.startswith(f"usage: masked-subspace {command}")
        wanted = command not in ("bench", "completion")
        assert all((option in offered) == wanted for option in ("--json", "--quiet", "-q")), command
