"""Can the paper's rise from BMSC over GMSC to RMSC be had? A seeded search over what the paper leaves open.

    python benchmarks/accuracy/paper_rise.py search --results rise.jsonl --sets orl --settings 300
    python benchmarks/accuracy/paper_rise.py table --results rise.jsonl

λ is the paper's for each set, β ∈ {1.05, 1.1}, p ∈ {1.1, 2}, one member, its own labels, the weight of the mask 1.
Open are: pixels 0..1, 0..255 or unit rows; centring; μ₀; T; the first mask (of BMSC's labels, of k-means, one price for
all pairs); the direction of the mask; φ; the number of eigenvectors; λ₁ and λ₂ of v2. Accuracy chooses, as it must have
for the paper's authors: nothing here is a fair comparison, it asks what can be reached.

Three stages, each resumed where it stopped: BMSC under every setting; rounds under those whose BMSC is within
`--near` points of the printed one; v2 under the best of these.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from masked_subspace.estimators.bilevel import LabelPsi
from masked_subspace.experiments.compute import Trial, load_trial
from masked_subspace.experiments.settings import paper_rows, resolve
from masked_subspace.label.labeler import Evidence, GraphLabeler
from masked_subspace.masks.soft import first_soft_mask
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rounds.recursion import OneMember, run_rounds
from masked_subspace.rows.preparation import Preparation, view_of

sys.path.append(str(Path(__file__).parents[1]))
from records import append_record, load_records

SETS = ("mnist-1000", "usps-1000", "orl", "coil20", "coil100")
RISE = ("bmsc", "gmsc", "rmsc", "rmsc-v2")
SPARSITY = {name: resolve("paper", "bmsc", name).parameters["sparsity"] for name in SETS}
PRINTED = {name: [paper_rows(name).get(row, {}).get("accuracy", [None])[0] for row in RISE] for name in SETS}
ROUNDS = 5
# --solver sparse: a sample sees so many others, and a setting of COIL100 takes seconds in place of minutes.
SOLVER, CANDIDATES = "dense", 100
_BEST = 10  # of v1 settings that v2 is tried under, and λ₁, λ₂ for each
_PAIRS_OF_V2 = ((0.1, 0.01), (0.1, 0.1), (1.0, 0.05), (1.0, 0.01), (10.0, 0.05), (0.5, 0.2))


@dataclass(frozen=True)
class Setting:
    """One answer to everything the paper leaves open."""

    rows: str  # "unit", "0..1", "0..255"
    center: bool
    start: float  # μ₀ in mean squared row norms
    growth: float
    max_iter: int
    strength: float
    orientation: str
    first: str  # "bmsc", "k-means", "constant"
    affinity: str
    components: str  # "K", "2K", "auto"


def drawn(count: int, seed: int = 0) -> list[Setting]:
    """The same `count` settings on every machine."""
    rng = np.random.default_rng(seed)

    def one_of(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    return [
        Setting(
            one_of("unit", "unit", "0..1", "0..255"),
            bool(one_of(False, True)),
            float(10 ** rng.uniform(-3, 2)),
            one_of(1.1, 2.0),
            one_of(50, 100, 200, 500),
            one_of(1.05, 1.1),
            one_of("corrected", "paper"),
            one_of("bmsc", "bmsc", "k-means", "constant"),
            one_of("symmetric", "symmetric", "normalized", "top-k", "shape-interaction"),
            one_of("K", "K", "2K", "auto"),
        )
        for _ in range(count)
    ]


def near_the_found(count: int, seed: int = 1) -> list[Setting]:
    """Settings like those under which rounds lift ORL and COIL20: unit rows, centred, the largest links kept."""
    rng = np.random.default_rng(seed)
    return [
        Setting(
            "unit", True, float(10 ** rng.uniform(-2.5, 0.5)), (1.1, 2.0)[number % 2], int(rng.choice([50, 200])), 1.1,
            ("paper", "corrected")[int(rng.integers(2))], ("bmsc", "k-means")[int(rng.integers(2))], "top-k",
            ("K", "auto")[number // 2 % 2],
        )
        for number in range(count)
    ]  # fmt: skip


def prepared_rows(X: Any, setting: Setting) -> Any:
    X = np.asarray(X, dtype=np.float64)
    X = X / X.max() * (255 if setting.rows == "0..255" else 1)
    view = view_of("plain", center=setting.center)
    return Preparation.learn(X, view, normalize=setting.rows == "unit").apply(X)


def parts_of(
    data: Trial,
    sparsity: float,
    setting: Setting,
    weight: float,
    v2: tuple[float, float] | None = None,
) -> tuple[Any, MaskedRepresenter, GraphLabeler]:
    """Rows, Algorithm 1 and the labels of φ(Z) under a setting; `weight` is that of the mask."""
    rows = prepared_rows(data.X, setting)
    noise, outliers = v2 or (None, None)
    representer = MaskedRepresenter(
        sparsity=sparsity,
        mask_weight=weight,
        penalty=setting.start * float((rows**2).sum(axis=1).mean()),
        penalty_growth=setting.growth,
        max_iter=setting.max_iter,
        noise=noise,
        outliers=outliers,
        solver=SOLVER,
        n_candidates=CANDIDATES,
        n_jobs=1,
    )
    components: Any = {"K": data.n_clusters, "2K": 2 * data.n_clusters, "auto": "auto"}[setting.components]
    return rows, representer, GraphLabeler(data.n_clusters, affinity=setting.affinity, n_components=components)


def bmsc(data: Trial, sparsity: float, setting: Setting) -> tuple[Any, float]:
    """Labels, and links a sample."""
    rows, representer, labeler = parts_of(data, sparsity, setting, 0.0)
    solution = representer.prepare(rows).represent(None, None)
    return labeler.label(solution.representation, Evidence(rows), 0).labels, solution.representation.nnz / len(rows)


def rounds_of(
    data: Trial, sparsity: float, setting: Setting, v2: tuple[float, float] | None
) -> tuple[list[float], float]:
    """Accuracy after each round, in %, and links a sample of the last."""
    rows, representer, labeler = parts_of(data, sparsity, setting, 1.0, v2)
    first = None
    if setting.first == "bmsc":
        first = bmsc(data, sparsity, setting)[0]
    elif setting.first == "k-means":
        first = KMeans(data.n_clusters, n_init=10, random_state=0).fit_predict(rows)
    psi = LabelPsi(setting.strength, setting.orientation)  # type: ignore[arg-type]
    mask = first_soft_mask(first, rows, psi.strength, psi.orientation, 0, "first")
    strategy = OneMember(representer.prepare(rows, rounds=ROUNDS), labeler, psi, Evidence(rows), 0)
    played = run_rounds(strategy, mask, max_rounds=ROUNDS, tol=0.0)
    return [accuracy(data, one.labels) for one in played.labelings], played.history[-1]["sparsity"]


def accuracy(data: Trial, labels: Any) -> float:
    return 100 * clustering_accuracy(data.target, labels)


def search(options: argparse.Namespace) -> None:
    global SOLVER
    SOLVER = options.solver
    path = Path(options.results)
    records = load_records(path)
    done = {(one["set"], one["stage"], one["number"], str(one.get("v2"))) for one in records}
    settings = drawn(options.settings)
    if options.like_found:
        settings = near_the_found(options.settings)

    def write(record: dict[str, Any]) -> None:
        records.append(record)
        append_record(path, record)

    def run(name: str, stage: str, number: int, v2: tuple[float, float] | None = None) -> None:
        if (name, stage, number, str(v2)) in done:
            return
        data, setting, started = load_trial(name, 0), settings[number], time.process_time()
        scores, links = [0.0], 0.0
        try:
            if stage == "bmsc":
                labels, links = bmsc(data, SPARSITY[name], setting)
                scores = [accuracy(data, labels)]
            else:
                scores, links = rounds_of(data, SPARSITY[name], setting, v2)
        except ValueError as error:  # a graph without links, a representation that left the range of numbers
            print(f"{name} {stage} {number}: {error}"[:150])
        write(
            {
                "set": name, "stage": stage, "number": number, "v2": v2, "scores": [round(one, 2) for one in scores],
                "links": round(links, 1), "cpu_seconds": round(time.process_time() - started, 1),
                "setting": vars(setting), "solver": SOLVER,
            }
        )  # fmt: skip
        print(f"{name:10} {stage:5} {number:3} {scores} {links:.1f}", flush=True)

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name in options.sets:
            for number in range(options.settings):
                run(name, "bmsc", number)
            alone = of_stage(records, name, "bmsc")
            near = [number for number in alone if abs(alone[number][0] - PRINTED[name][0]) <= options.near]
            for number in sorted(near)[: options.rounds]:
                run(name, "v1", number)
            v1 = {number: scores[-1] for number, scores in of_stage(records, name, "v1").items()}
            for number in sorted(v1, key=lambda one: -v1[one])[:_BEST]:
                for v2 in _PAIRS_OF_V2:
                    run(name, "v2", number, v2)


def of_stage(records: list[dict[str, Any]], name: str, stage: str) -> dict[int, list[float]]:
    """Scores by the setting's number."""
    return {one["number"]: one["scores"] for one in records if (one["set"], one["stage"]) == (name, stage)}


def table(options: argparse.Namespace) -> None:
    """Of each set what is printed, the best of each stage, and the setting whose rise is nearest to the printed one."""
    records = load_records(Path(options.results))
    print("| set | | BMSC | GMSC | RMSC v1 | RMSC v2 | setting |\n|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(one["set"] for one in records):
        of = {
            stage: [one for one in records if one["set"] == name and one["stage"] == stage]
            for stage in ("bmsc", "v1", "v2")
        }
        print(f"| {name} | printed | {' | '.join('–' if one is None else f'{one:.1f}' for one in PRINTED[name])} | |")
        alone = {one["number"]: one["scores"][0] for one in of["bmsc"]}
        best_v2: dict[int, float] = {}
        for one in of["v2"]:
            best_v2[one["number"]] = max(best_v2.get(one["number"], 0.0), one["scores"][-1])
        rows = []
        for one in of["v1"]:
            got = (alone[one["number"]], one["scores"][0], one["scores"][-1])
            miss = sum(abs(a - b) for a, b in zip(got, PRINTED[name][:3], strict=True))
            rows.append((miss, got, best_v2.get(one["number"]), one))
        labelled = [
            ("nearest rise", min(rows, key=lambda row: row[0], default=None)),
            ("highest v1", max(rows, key=lambda row: row[1][2], default=None)),
            ("largest gain", max(rows, key=lambda row: row[1][2] - row[1][0], default=None)),
        ]
        for what, row in labelled:
            if row is None:
                continue
            _, got, v2, one = row
            setting = ", ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
                                for key, value in one["setting"].items())  # fmt: skip
            last = "–" if v2 is None else f"{v2:.1f}"
            print(f"| {name} | {what} | {got[0]:.1f} | {got[1]:.1f} | {got[2]:.1f} | {last} | {setting} |")
        gains = [row[1][2] - row[1][0] for row in rows]
        if gains:
            print(
                f"| {name} | {len(of['bmsc'])} settings, {len(rows)} with rounds | best {max(alone.values()):.1f} | "
                f"mean gain of v1 over BMSC {np.mean(gains):+.1f}, largest {max(gains):+.1f} | | | |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("search")
    one.add_argument("--results", required=True)
    one.add_argument("--sets", nargs="+", default=["orl", "coil20", "usps-1000"])
    one.add_argument("--settings", type=int, default=300)
    one.add_argument("--rounds", type=int, default=100, help="most settings that get rounds")
    one.add_argument("--near", type=float, default=8.0, help="points between BMSC and the printed one")
    one.add_argument("--like-found", action="store_true", help="draw settings like those that lift ORL and COIL20")
    one.add_argument("--solver", choices=["dense", "sparse"], default="dense")
    one.set_defaults(run=search)
    two = commands.add_parser("table")
    two.add_argument("--results", required=True)
    two.set_defaults(run=table)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
