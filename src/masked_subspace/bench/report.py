"""A bench run as text, as a picture of growth, and against a stored run."""

from __future__ import annotations

from pathlib import Path

from masked_subspace._common.types import Record
from masked_subspace.bench.fits import fit_line
from masked_subspace.bench.measure import Row

Run = Record


def as_text(run: Run) -> str:
    """The whole run as lines for a terminal."""
    machine = run["machine"]
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, 1 thread, load {machine['load']}; CPU seconds, "
        "ratio = plain / ours",
        "",
        f"{'case':32}{'n':>6}{'ours s':>9}{'plain s':>10}{'ratio':>8}{'goal':>7}  iterations, agreement",
    ]
    lines += [case_line(row) for row in run["cases"]]
    if run.get("fits"):
        lines += ["", f"{'default fits of RMSC':32}{'n':>6}{'ours s':>9}{'k-means s':>10}{'ratio':>8}{'most':>7}  way"]
        lines += [fit_line(row) for row in run["fits"]]
    if run.get("peers"):
        lines += ["", "scikit-learn on the same rows"]
        lines += [f"{row['peer']:32}{row['n']:>6}{row['cpu']:>9.2f}" for row in run["peers"]]
    if run.get("threads"):
        found = run["threads"]
        lines += [
            "",
            f"two threads, n={found['n']}: {found['speed_up']:.2f}× in wall time (goal 1.6 on an idle machine)",
        ]
    for found in run.get("rounds", ()):
        lines += [
            f"RMSC, n={found['n']}, {found['settings']}: {found['n_rounds_5']} rounds cost {found['ratio']:.2f}× one "
            f"(goal ≤ 3); labeling takes {found['labeling_share_1']:.0%} of a fit (goal < 20 %)"
        ]
    if "import_seconds" in run:
        lines += [f"import masked_subspace: {run['import_seconds']:.2f} s (goal ≤ 1)"]
    if run.get("growth"):
        found = run["growth"]
        lines += ["", f"growth: time ∝ n^{found['seconds_slope']:.2f}, memory ∝ n^{found['memory_slope']:.2f}"]
        lines += [f"  n={p['n']:<6}{p['seconds']:>9.2f} s{p['megabytes']:>9.0f} MB" for p in found["points"]]
    return "\n".join(lines)


def case_line(row: Row) -> str:
    """One row of the table."""
    plain = f"{row['plain_seconds']:.1f}" if "plain_seconds" in row else "–"
    ratio = f"{row['ratio']:.1f}" if "ratio" in row else "–"
    goal = f"{row['goal']:g}" if row["goal"] else "–"
    notes = [f"{row['n_iter']}"]
    if "plain_sampled" in row:
        notes.append(f"plain: {row['plain_sampled']} iterations timed")
    if "ari" in row:
        notes.append(f"ARI {row['ari']:.4f}, supports differ in {row['support_difference']:.1e}")
    if row["most_seconds"] is not None:
        notes.append(f"goal ≤ {row['most_seconds']:g} s")
    if row["most_megabytes"] is not None:
        notes.append(f"{row['megabytes']:.0f} MB above the data, goal ≤ {row['most_megabytes']:g}")
    mark = "" if row["met"] else "  MISSED"
    return (
        f"{row['case']:32}{row['n']:>6}{row['seconds']:>9.2f}{plain:>10}{ratio:>8}{goal:>7}  " + "; ".join(notes) + mark
    )


def compare(run: Run, stored: Run) -> str:
    """Each case's ratio (or seconds, where there is no ratio) now and in the stored run."""
    old = {(row["case"], row["n"]): row for row in stored["cases"]}
    lines = ["", f"{'against the stored run':32}{'n':>6}{'then':>9}{'now':>9}"]
    for row in run["cases"]:
        before = old.get((row["case"], row["n"]))
        if before is not None:
            key = "ratio" if "ratio" in row and "ratio" in before else "seconds"
            lines.append(f"{row['case'] + ', ' + key:32}{row['n']:>6}{before[key]:>9.2f}{row[key]:>9.2f}")
    return "\n".join(lines)


def draw_growth(growth: Record, path: Path) -> None:
    """Time and memory against n on logarithmic axes."""
    from matplotlib.figure import Figure

    sizes = [point["n"] for point in growth["points"]]
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    for axes, key, label, slope in zip(
        figure.subplots(1, 2),
        ("seconds", "megabytes"),
        ("CPU seconds", "MB above the data"),
        (growth["seconds_slope"], growth["memory_slope"]),
        strict=True,
    ):
        axes.loglog(sizes, [point[key] for point in growth["points"]], "o-")
        axes.set(xlabel="samples", ylabel=label, title=f"slope {slope:.2f}", xticks=sizes, xticklabels=sizes)
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    figure.savefig(path)
