"""The options of every command, in one place, with the standard library only."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from masked_subspace._common.nearest_name import did_you_mean
from masked_subspace.cli.mistyped import Parser
from masked_subspace.registry import METHODS

PARTS = ("table1", "table2", "table3", "figures", "all")


def build_parser() -> argparse.ArgumentParser:
    """The parser of `masked-subspace`."""
    parser = Parser(
        prog="masked-subspace",
        description="Masked subspace clustering: cluster data, look at the result, check the paper.",
        epilog="Exit codes: 0 done, 1 defect, 2 usage, 3 input, 4 output, 5 data set not to be had, "
        "6 some cells failed, 130 interrupted.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _cluster(commands.add_parser("cluster", help="cluster a file or a folder of images"))
    _demo(commands.add_parser("demo", help="five methods on 1,000 MNIST digits, with a report"))
    _reproduce(commands.add_parser("reproduce", help="the paper's tables and figures, resumable"))
    _report(commands.add_parser("report", help="make the report of finished runs again, or compare them"))
    _compare(commands.add_parser("compare", help="how far finished runs agree"))
    _data(commands.add_parser("data", help="list or fetch the data sets"))
    _bench(commands.add_parser("bench", help="measure the solvers on this machine"))
    _completion(commands.add_parser("completion", help="tab completion for bash or zsh"))
    return parser


class _WithKinds(argparse.HelpFormatter):
    """Puts the formats that can be read in the place of KINDS when help is shown: their list comes with scipy, for
    which other commands and tab completion need not wait."""

    def _get_help_string(self, action: argparse.Action) -> str:
        from masked_subspace.inputs.registry import kinds

        return (action.help or "").replace("KINDS", kinds())


def _cluster(parser: argparse.ArgumentParser) -> None:
    parser.description = "Cluster the rows of a file, or the images of a folder, and write labels and a report."
    parser.formatter_class = _WithKinds
    parser.add_argument("file", type=_path, metavar="FILE", help="KINDS, or - for standard input")
    parser.add_argument("-k", "--clusters", type=_clusters, required=True, metavar="K",
                        help="how many clusters: a number, a range like 2-9, or auto")  # fmt: skip
    names = f"{', '.join(METHODS)}, or package.module:Class of any clusterer"
    parser.add_argument("--method", default="rmsc", metavar="NAME", help=f"{names} (default: rmsc)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
                        help="a parameter of the method, e.g. --set sparsity=1e-3 (may be repeated)")  # fmt: skip
    parser.add_argument("--pairs", type=_path, metavar="CSV", help="known pairs: first, second, must|cannot")
    _reading(parser.add_argument_group("reading"))
    parser.add_argument("--seed", type=_seed, default=0, help="seed of everything random (default 0)")
    parser.add_argument("--jobs", type=_jobs, metavar="N", help="threads (default: one for each core)")
    parser.add_argument("--out", type=_path, metavar="DIR", help="where to write (default: FILE-clusters here)")
    parser.add_argument("--no-report", action="store_true", help="leave report.html out")
    _output(parser)


def _reading(group: argparse._ArgumentGroup) -> None:
    """Options about how the input becomes numbers."""
    add = group.add_argument
    add("--features", action="append", default=[], metavar="NAMES", help="columns to use, with commas between them")
    add("--drop", action="append", default=[], metavar="NAMES", help="columns not to use")
    add("--name-column", metavar="NAME", help="the column that holds the samples' names")
    add("--label-column", metavar="NAME", help="the column (or array) that holds known classes, to compare with")
    add("--decimal", choices=(".", ","), help="the mark before fractions (default: recognised)")
    add("--scale", choices=("standard", "none"), default="none", help="standard: mean 0, variance 1 (default none)")
    add("--impute", choices=("median", "knn", "none"), default="none", help="how to fill missing values in")
    add("--missing", choices=("error", "drop", "ignore"), default="error",
        help="rows with missing values: refuse, leave out, or unknown to the method")  # fmt: skip
    add("--image-side", type=_positive, metavar="PIXELS", help="bring images to this size")
    add("--color", action="store_true", help="images: three values a pixel instead of gray")
    add("--skip-unreadable", action="store_true", help="images that cannot be read are listed, not an error")
    add("--max-gb", type=_gigabytes, metavar="GB", help="largest input, unpacked (default: 1 of text, 4 of numbers)")


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.description = "k-means, SSC, BMSC, GMSC and RMSC on 1,000 MNIST digits (8×8 digits where MNIST is not here)."
    parser.add_argument("--out", type=_path, default=Path("demo-report"), metavar="DIR", help="default: demo-report")
    parser.add_argument("--samples", type=_positive, metavar="N", help="fewer digits, for a quick look")
    parser.add_argument("--method", action="append", default=[], metavar="NAME",
                        help="one more method: a name or package.module:Class (may be repeated)")  # fmt: skip
    parser.add_argument("--seed", type=_seed, default=0)
    parser.add_argument("--jobs", type=_jobs, metavar="N", help="threads (default: one for each core)")
    _output(parser)


def _reproduce(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compute the paper's tables and figures. Every cell is kept in a database as soon as it is done: "
        "stop at any time and run the same command again to go on; several may run at once."
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--setting", action="append", choices=("paper", "paper-literal", "tuned", "auto"),
                        help="which settings (default: all of them); may be repeated")  # fmt: skip
    parser.add_argument("--trials", type=_positive, metavar="N", help="trials or seeds a cell (default: as the paper)")
    parser.add_argument("--first-trial", type=int, default=None, metavar="T", help="number of the first trial")
    parser.add_argument("--dataset", action="append", metavar="NAME", help="only these sets; may be repeated")
    parser.add_argument("--method", action="append", metavar="NAME",
                        help="only these methods, or package.module:Class of any; may be repeated")  # fmt: skip
    parser.add_argument("--jobs", type=_positive, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--threads", type=_positive, default=1, metavar="N", help="threads a process (default 1)")
    parser.add_argument("--out", type=_path, default=Path("reproduction"), metavar="DIR", help="default: reproduction")
    parser.add_argument("--accept-older", action="store_true", help="count cells that older code computed")
    parser.add_argument("--retry-failed", action="store_true", help="compute cells again that failed before")
    parser.add_argument("--show-only", action="store_true", help="compute nothing, write the tables from what is there")
    _output(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    parser.description = "Make report.html from the folder of a finished `cluster` or `reproduce`, or compare several."
    parser.add_argument("runs", type=_path, nargs="+", metavar="RUN", help="folder that `cluster` or `reproduce` wrote")
    parser.add_argument("--out", type=_path, metavar="FILE", help="default: report.html in the first folder")
    _output(parser)


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.description = "Adjusted Rand index between finished runs of the same data, and their scores side by side."
    parser.add_argument("runs", type=_path, nargs="+", metavar="RUN", help="folder that `cluster` wrote; two or more")
    _output(parser)


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.description = 'Print a script for your shell: eval "$(masked-subspace completion bash)"'
    parser.add_argument("shell", choices=("bash", "zsh"))


def _data(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="what is where and how big")
    fetching = actions.add_parser("fetch", help="get a set")
    fetching.add_argument("names", nargs="+", metavar="NAME")
    fetching.add_argument("--force", action="store_true", help="fetch again even if it is here")
    for action in (listing, fetching):
        action.add_argument(
            "--data-home", type=_path, metavar="DIR", help="folder of <name>.npz that is looked at first"
        )
        _output(action)


def _bench(parser: argparse.ArgumentParser) -> None:
    parser.description = "Measure the solvers; everything after `bench` is given to the benchmark (try `bench --help`)."
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def _positive(text: str) -> int:
    return _whole(text, 1, "above 0")


def _seed(text: str) -> int:
    return _whole(text, 0, "from 0 to 4294967295", 2**32 - 1)


def _jobs(text: str) -> int:
    return -1 if text == "-1" else _whole(text, 1, "above 0 (or -1 for all cores)")


def _whole(text: str, least: int, wanted: str, most: int = 2**62) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {wanted}")
    return value


def _clusters(text: str) -> int | str | tuple[int, int]:
    if text.strip().lower() == "auto":
        return "auto"
    low, dash, high = text.partition("-")
    if not low.isdecimal() or (dash and not high.isdecimal()):
        wanted = "a whole number above 0, a range like 2-9, or auto"
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number of clusters{did_you_mean(text, ['auto'])}; give {wanted}"
        )
    if not dash:
        return _positive(text)
    bounds = _positive(low), _positive(high)
    if bounds[0] >= bounds[1]:
        raise argparse.ArgumentTypeError(f"{text!r} is no range; write LOW-HIGH with LOW below HIGH, e.g. 2-9")
    return bounds


def _gigabytes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of gigabytes above 0")
    return value


def _path(text: str) -> Path:
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is no possible file name")
    return Path(text)
