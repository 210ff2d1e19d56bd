"""`masked-subspace compare A B…`: how far finished runs of the same data agree."""

from __future__ import annotations

from argparse import Namespace

from masked_subspace.cli.exits import CommandError, Exit
from masked_subspace.cli.printing import say, say_json
from masked_subspace.cli.stored_runs import load_alike
from masked_subspace.experiments.render import aligned


def run(options: Namespace) -> int:
    """Read the runs, compare every two."""
    from sklearn.metrics import adjusted_rand_score

    if len(options.runs) < 2:
        raise CommandError("compare needs at least two runs: masked-subspace compare A B")
    runs = load_alike(options.runs)
    labels = [one.content.runs[0].labels for one in runs]
    agreement = [[float(adjusted_rand_score(first, second)) for second in labels] for first in labels]
    titles = [one.title for one in runs]
    say(options, "Adjusted Rand index (1: the same clusters, 0: no more alike than by chance)\n")
    rows = [(title, *(f"{value:.3f}" for value in row)) for title, row in zip(titles, agreement, strict=True)]
    say(options, aligned(("run", *(str(number) for number in range(1, len(runs) + 1))), _numbered(rows)))
    keys = list(dict.fromkeys(key for one in runs for key in one.result["scores"]))
    if keys:
        scored = [(one.title, *(_score(one.result["scores"].get(key)) for key in keys)) for one in runs]
        say(options, "\nAgainst the known classes\n\n" + aligned(("run", *keys), scored))
    say_json(options, {
        "runs": [str(folder) for folder in options.runs], "titles": titles, "adjusted_rand": agreement,
        "scores": [one.result["scores"] for one in runs],
    })  # fmt: skip
    return Exit.OK


def _numbered(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [(f"{number} {row[0]}", *row[1:]) for number, row in enumerate(rows, start=1)]


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
