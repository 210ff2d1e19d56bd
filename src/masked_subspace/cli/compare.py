"""`masked-subspace compare A B…`: how far finished runs of the same data agree."""

from __future__ import annotations

from argparse import Namespace

from masked_subspace.cli.exits import CommandError, Exit
from masked_subspace.cli.printing import say, say_json
from masked_subspace.cli.stored_runs import load_alike
from masked_subspace.experiments.render import aligned
from masked_subspace.report.scoring import COUNTED, agreement


def run(options: Namespace) -> int:
    """Read the runs, compare every two."""
    if len(options.runs) < 2:
        raise CommandError("compare needs at least two runs: masked-subspace compare A B")
    runs = load_alike(options.runs)
    labels = [one.content.runs[0].labels for one in runs]
    agreed = [[agreement(first, second) for second in labels] for first in labels]
    left_out = [int((one < 0).sum()) for one in labels]
    titles = [one.title for one in runs]
    say(options, "Adjusted Rand index (1: the same clusters, 0: no more alike than by chance)\n")
    rows = [(title, *(_score(value) for value, _ in row)) for title, row in zip(titles, agreed, strict=True)]
    say(options, aligned(("run", *(str(number) for number in range(1, len(runs) + 1))), _numbered(rows)))
    if any(left_out):
        told = ", ".join(f"{count} in {title}" for title, count in zip(titles, left_out, strict=True) if count)
        rule = "two runs are compared on the samples that both have in clusters"
        say(options, f"\nsamples in no cluster: {told}; {rule}")
    found = [one.content.runs[0].scores for one in runs]
    keys = list(dict.fromkeys(key for one in found for key in one))
    if keys:
        scored = [(title, *(_score(one.get(key)) for key in keys)) for title, one in zip(titles, found, strict=True)]
        rule = f" (samples in no cluster: {COUNTED})" if any(left_out) else ""
        say(options, f"\nAgainst the known classes{rule}\n\n" + aligned(("run", *keys), scored))
    say_json(options, {
        "runs": [str(folder) for folder in options.runs], "titles": titles,
        "adjusted_rand": [[value for value, _ in row] for row in agreed],
        "compared": [[count for _, count in row] for row in agreed], "unassigned": left_out,
        "scores": [dict(one) for one in found],
    })  # fmt: skip
    return Exit.OK


def _numbered(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [(f"{number} {row[0]}", *row[1:]) for number, row in enumerate(rows, start=1)]


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
