"""`masked-subspace bench`: how fast the exact solver is, as ratios to the plain Algorithm 1 on the same machine, and
whole fits beside k-means."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from masked_subspace._common.types import Record

__all__ = ["main", "run_bench"]

PARTS = ("cases", "fits", "large", "peers", "threads", "rounds", "import", "growth")


def run_bench(*, quick: bool = False, parts: Sequence[str] = ("all",)) -> Record:
    """Measure how fast the exact solver and whole fits are.

    Parameters
    ----------
    quick : bool, default=False
        Whether only "cases" and "fits" are measured, at n = 1000, in under two minutes on a free core.
    parts : sequence of str, default=("all",)
        What is measured. "cases": the solver beside the plain Algorithm 1, up to n = 4,000. "fits": default fits of
        RMSC beside k-means. "large": the solver at sizes that the plain one cannot do. "peers": scikit-learn's
        SpectralClustering and k-means on the same rows. "threads": one thread and two. "rounds": one round and five.
        "import": the time of `import masked_subspace`. "growth": seconds and memory against n. "all": all of them.

    Returns
    -------
    run : dict
        Everything as plain data: `machine`, `quick`, `cases` (one record a case, those of "large" too), and one entry
        for each other part; that of "import" is called `import_seconds`.

    Examples
    --------
    >>> from masked_subspace.bench import run_bench
    >>> run = run_bench(parts=["import"])
    >>> sorted(run)
    ['cases', 'import_seconds', 'machine', 'quick']
    """
    from masked_subspace._common.provenance import provenance
    from masked_subspace.bench import cases, extras, fits
    from masked_subspace.bench.measure import bench_rows, measure

    run: Record = {"machine": provenance(threads=1), "quick": quick, "cases": []}
    if quick:
        chosen = cases.model_cases((1000,), full_run_up_to=0, sampled=5)
        chosen += [case for case in cases.regime_cases(1000, 5) if "p=2" in case.name]
    else:
        chosen = cases.model_cases((1000, 2000, 4000), full_run_up_to=2000, sampled=3)
        chosen += cases.regime_cases(1000, 10)
    wanted = set(PARTS if "all" in parts else parts)
    if "cases" in wanted:
        for case in chosen:
            X, y = bench_rows(case.n_samples)
            run["cases"].append(measure(case, X, y, repeats=1 if quick else 3))
            _say(run["cases"][-1])
    if "fits" in wanted:
        run["fits"] = fits.fits(quick=quick)
    if quick:
        return run
    if "large" in wanted:
        for case in cases.large_cases():
            run["cases"].append(extras.isolated(case))
            _say(run["cases"][-1])
    if "peers" in wanted:
        run["peers"] = extras.peers((1000, 2000, 4000))
    if "threads" in wanted:
        run["threads"] = extras.threads(2000)
    if "rounds" in wanted:
        run["rounds"] = extras.rounds(1000)
    if "import" in wanted:
        run["import_seconds"] = extras.import_seconds()
    if "growth" in wanted:
        run["growth"] = extras.growth()
    return run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `masked-subspace bench`.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        What follows the command; None: what the process was started with.

    Returns
    -------
    code : int
        The exit code: 1 when a ratio falls under half its goal, or a whole fit takes twice its goal.

    Examples
    --------
    >>> from contextlib import redirect_stdout
    >>> from io import StringIO
    >>> from masked_subspace.bench import main
    >>> with redirect_stdout(StringIO()):  # without --part it measures the solver, in under two minutes
    ...     code = main(["--quick", "--part", "import", "--json", "bench.json"])
    >>> code
    0
    """
    parser = argparse.ArgumentParser(prog="masked-subspace bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="n = 1000 only, under two minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the run as JSON")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="set the run beside one that --json wrote")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw growth with n (full runs)")
    parser.add_argument(
        "--part",
        action="append",
        choices=PARTS,
        help="measure only this part (may be repeated)",
    )
    options = parser.parse_args(arguments)
    stored = json.loads(options.compare.read_text(encoding="utf-8")) if options.compare else None
    run = run_bench(quick=options.quick, parts=options.part or ("all",))

    from masked_subspace.bench import report
    from masked_subspace.bench.fits import too_slow
    from masked_subspace.bench.measure import missed

    sys.stdout.write(report.as_text(run) + "\n")
    if stored is not None:
        sys.stdout.write(report.compare(run, stored) + "\n")
    if options.json:
        options.json.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.plot and run.get("growth"):
        report.draw_growth(run["growth"], options.plot)
    slow = missed(run["cases"], share=0.5)
    for row in slow:
        sys.stderr.write(f"{row['case']} at n={row['n']} is under half its goal\n")
    late = too_slow(run.get("fits", []), share=0.5)
    for row in late:
        sys.stderr.write(f"a default fit of {row['fit']} takes more than twice its goal beside k-means\n")
    return 1 if slow or late else 0


def _say(row: Record) -> None:
    """One line as soon as a case is measured: a full run takes long."""
    from masked_subspace.bench.report import case_line

    sys.stderr.write(case_line(row) + "\n")
