"""Tab completion in the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from masked_subspace.cli import main
from masked_subspace.cli.completion import script


def in_bash(line: str, folder: Path) -> list[str]:
    """What bash offers after `line`."""
    words = line.split(" ")
    code = f"""{script("bash")}
COMP_WORDS=({" ".join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}
_masked_subspace; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(
        ["bash", "--norc", "-c", code], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.split()


LINES = {
    "masked-subspace clu": "cluster",
    "masked-subspace cluster wi": "wine.csv",
    "masked-subspace cluster wine.csv --lab": "--label-column",
    "masked-subspace cluster wine.csv --method rm": "rmsc",
    "masked-subspace cluster wine.csv --impute k": "knn",
    "masked-subspace cluster wine.csv --pairs wi": "wine.csv",
    "masked-subspace reproduce fig": "figures",
    "masked-subspace data fetch --forc": "--force",
    "masked-subspace report wi": "wine.csv",
}


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "wine.csv").touch()
    return tmp_path


@pytest.mark.parametrize("line", LINES)
def test_bash_completes_commands_options_values_and_files(line, folder):
    assert in_bash(line, folder) == [LINES[line]]


def test_bash_offers_files_where_a_file_is_due_and_all_parts(folder):
    assert in_bash("masked-subspace cluster ", folder) == ["wine.csv"]
    assert in_bash("masked-subspace reproduce tab", folder) == ["table1", "table2", "table3"]


def test_zsh_completes_the_same_without_any_set_up(folder, tmp_path_factory, capsys):
    """In a shell that has read no start-up file, where the completion system is not loaded yet."""
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    assert main(["completion", "zsh"]) == 0
    source = tmp_path_factory.mktemp("zsh") / "script.zsh"
    source.write_text(capsys.readouterr().out)
    program = Path(__file__).parent / "complete.zsh"
    arguments = ["zsh", "-f", str(program), str(source), str(folder), *LINES]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=120)
    begun = [line.rpartition(" ")[0] for line in LINES]
    expected = [f"{start} {word}" for start, word in zip(begun, LINES.values(), strict=True)]
    assert [line.strip() for line in done.stdout.splitlines()] == expected
