"""Accuracy of the nine baselines on the paper's sets, and their speed against plain transliterations.

    python benchmarks/baselines/baselines.py accuracy --sets orl coil20 --seeds 3          every setting, quickly
    python benchmarks/baselines/baselines.py accuracy --sets orl coil20 --seeds 20 --best  the default and the best
    python benchmarks/baselines/baselines.py table --into benchmarks/baselines/accuracy.md  all of it
    python benchmarks/baselines/baselines.py accuracy --sets coil100 --limit 1800  give up after 30 CPU minutes a method
    python benchmarks/baselines/baselines.py speed  CPU seconds and ratios at n = 1000

Results are lines of JSON, one for each set, trial, method, setting and post-processing; what is there is not run again.
MASKED_SUBSPACE_DATA names the folder of the sets.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from baselines_settings import PRINTED, SETTINGS, Setting
from sklearn.exceptions import ConvergenceWarning

from masked_subspace.baselines.labeler import keep_mass
from masked_subspace.datasets import load_protocol
from masked_subspace.label.graph import affinity_matrix, spectral_embedding
from masked_subspace.label.kmeans import cluster_rows
from masked_subspace.label.labeler import attach_to_nearest
from masked_subspace.metrics import clustering_accuracy, normalized_mutual_info

sys.path.append(str(Path(__file__).parents[1]))
from records import append_record, load_records

DEFAULT_RESULTS = Path("benchmark-results/baselines.jsonl")
PLAIN_IS_PUBLISHED = {"SSCOMP", "EnSC", "LSR"}
VARYING = {"mnist-1000"}
MARKS = ("<!-- accuracy -->", "<!-- /accuracy -->")


def scores(embedding: Any, rows: Any, truth: Any, n_clusters: int, seeds: list[int]) -> dict[str, list[float]]:
    """Accuracy and NMI of one embedding for each seed of k-means."""
    placed = np.abs(embedding).max(axis=1) > 0
    found = []
    for seed in seeds:
        labels = np.zeros(len(rows), dtype=np.int32)
        labels[placed] = cluster_rows(embedding[placed], n_clusters, seed)
        attach_to_nearest(labels, placed, rows)
        found.append(labels)
    return {
        "accuracy": [float(clustering_accuracy(truth, labels)) for labels in found],
        "nmi": [float(normalized_mutual_info(truth, labels)) for labels in found],
    }


@contextmanager
def cpu_limit(seconds: float | None) -> Iterator[None]:
    """TimeoutError inside the block once it has used that much CPU time."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    previous = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds or 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


Embeddings = dict[tuple[str, str], Any]  # (method, post-processing) → rows for k-means


def embed_setting(X: Any, n_clusters: int, setting: Setting, seed: int) -> tuple[Embeddings, dict[str, Any]]:
    """One fit; its representation is embedded with the published and with the plain graph."""
    estimator = setting.make(n_clusters, random_state=seed, n_jobs=1)
    started = time.process_time()
    estimator.fit(X)
    facts = {
        "cpu_seconds": round(time.process_time() - started, 3),
        "solver_seconds": round(estimator.history_[-1]["solver_seconds"], 3),
        "n_iter": int(estimator.n_iter_),
    }
    found: Embeddings = {(setting.method, "published"): estimator.embedding_}

    def embed(Z: Any, kind: str) -> Any:
        return spectral_embedding(affinity_matrix(Z, kind), n_clusters, estimator.n_components, seed).vectors

    if setting.class_name == "SoftS3C":
        # Its graph feeds back into the codes, so the plain graph is another run.
        found[setting.method, "plain"] = estimator.set_params(affinity="symmetric").fit(X).embedding_
    elif setting.class_name not in PLAIN_IS_PUBLISHED:
        found[setting.method, "plain"] = embed(estimator.representation_matrix_, "symmetric")
    if setting.class_name == "BDR":
        # One run gives both outputs.
        Z = estimator.coefficient_matrix_
        found["BDR-Z", "published"] = embed(keep_mass(Z, estimator.threshold), "normalized")
        found["BDR-Z", "plain"] = embed(Z, "symmetric")
    return found, facts


def run_setting(
    data: Any, setting: Setting, seeds: list[int], cache: Path, limit: float | None
) -> list[dict[str, Any]]:
    """The scores of one setting with every seed; embeddings are kept in `cache`, so that more seeds cost little."""
    X = data.data / np.float32(data.data.max())
    n_clusters = len(np.unique(data.target))
    if cache.exists():
        stored = np.load(cache, allow_pickle=False)
        facts = json.loads(str(stored["facts"]))
        found = {tuple(key.split("|")): stored[key] for key in stored.files if key != "facts"}
    else:
        with cpu_limit(limit):
            found, facts = embed_setting(X, n_clusters, setting, seeds[0])
        cache.parent.mkdir(parents=True, exist_ok=True)
        np.savez(cache, facts=json.dumps(facts), **{"|".join(key): rows for key, rows in found.items()})
    common = {"setting": setting.label, "params": {name: str(value) for name, value in setting.params.items()}, **facts}
    return [
        {"method": method, "post": post, **common, **scores(rows, X, data.target, n_clusters, seeds)}
        for (method, post), rows in found.items()
    ]


def best_labels(records: list[dict[str, Any]], name: str, method: str) -> set[str]:
    """The default setting and the one with the best mean accuracy so far: chosen by label, and said so in the table."""
    means: dict[str, list[float]] = defaultdict(list)
    for record in records:
        if (record["set"], record["method"], record["post"]) == (name, method, "published") and record["accuracy"]:
            means[record["setting"]] += record["accuracy"]
    best = max(means, key=lambda label: float(np.mean(means[label])), default="default")
    return {"default", best}


def measure_accuracy(arguments: argparse.Namespace) -> None:
    for name in arguments.sets:
        trials = range(arguments.seeds) if name in VARYING else [0]
        for trial in trials:
            data = load_protocol(name, trial)
            seeds = [trial] if name in VARYING else list(range(arguments.seeds))
            for setting in SETTINGS[name]:
                if arguments.methods and setting.method not in arguments.methods:
                    continue
                if arguments.default and setting.label != "default":
                    continue
                if arguments.settings and setting.label not in arguments.settings:
                    continue
                records = load_records(arguments.results)
                if arguments.best and setting.label not in best_labels(records, name, setting.method):
                    continue
                key = (name, trial, setting.method, setting.label)
                if any(
                    (r["set"], r["trial"], r["method"], r["setting"]) == key
                    and (len(r["accuracy"]) >= len(seeds) or r.get("unfinished", 0) >= (arguments.limit or np.inf))
                    for r in records
                ):
                    continue
                named = re.sub(r"[^A-Za-z0-9.=]+", "-", f"{name}-{trial}-{setting.method}-{setting.label}")
                cache = arguments.results.with_name("embeddings") / f"{named}.npz"
                measure_setting(data, setting, seeds, cache, {"set": name, "trial": trial}, arguments)


def measure_setting(
    data: Any, setting: Setting, seeds: list[int], cache: Path, where: dict[str, Any], arguments: argparse.Namespace
) -> None:
    """Run one setting and write down what came out, or that it took too long."""
    name = f"{where['set']} {where['trial']}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            results = run_setting(data, setting, seeds, cache, arguments.limit)
        except TimeoutError:
            unfinished = {"setting": setting.label, "unfinished": arguments.limit, "accuracy": [], "nmi": []}
            for method in setting.methods():
                append_record(arguments.results, {**where, "method": method, "post": "published", **unfinished})
            print(f"{name} {setting.method} {setting.label}: not finished in {arguments.limit:.0f} s CPU", flush=True)
            return
    for result in results:
        append_record(arguments.results, {**where, **result})
        print(
            f"{name} {result['method']} {setting.label} {result['post']}: "
            f"{np.mean(result['accuracy']):.3f} ({result['cpu_seconds']} s CPU)",
            flush=True,
        )


def summary(records: list[dict[str, Any]], name: str, method: str, label: str, post: str) -> tuple[str, str, int]:
    """Accuracy and NMI as mean ± std over seeds or trials, and how many of them."""
    longest: dict[int, dict[str, Any]] = {}
    for record in records:
        here = (record["set"], record["method"], record["setting"], record["post"])
        if here == (name, method, label, post) and record["accuracy"]:
            known = longest.get(record["trial"])
            if known is None or len(record["accuracy"]) > len(known["accuracy"]):
                longest[record["trial"]] = record
    if not longest:
        return "–", "–", 0
    accuracy = np.concatenate([record["accuracy"] for record in longest.values()])
    nmi = np.concatenate([record["nmi"] for record in longest.values()])
    show = [f"{100 * values.mean():.1f} ± {100 * values.std():.1f}" for values in (accuracy, nmi)]
    return show[0], show[1], len(accuracy)


def unfinished_row(records: list[dict[str, Any]], name: str, method: str, label: str) -> list[str]:
    """The row of a method that was given up, if it was."""
    for record in records:
        if (record["set"], record["method"], record["setting"]) == (name, method, label) and "unfinished" in record:
            minutes = record["unfinished"] / 60
            shown = PRINTED.get((name, method), "–")
            return [f"| {method} | {label} | did not finish in {minutes:.0f} CPU minutes | – | – | – | 0 | {shown} |"]
    return []


def set_table(records: list[dict[str, Any]], name: str) -> list[str]:
    """One set as Markdown: the default and the best setting of each method, then everything that was tried."""
    settings = SETTINGS[name]
    methods = dict.fromkeys(method for setting in settings for method in setting.methods())
    lines = [
        f"### {name}",
        "",
        "| method | setting | published graph: ACC | NMI | plain graph: ACC | NMI | runs | printed ACC |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method in methods:
        for label in sorted(best_labels(records, name, method), key=lambda one: (one != "default", one)):
            accuracy, nmi, runs = summary(records, name, method, label, "published")
            plain = summary(records, name, method, label, "plain")
            if not runs:
                lines += unfinished_row(records, name, method, label)
                continue
            setting = next(one for one in settings if method in one.methods() and one.label == label)
            same = setting.class_name in PLAIN_IS_PUBLISHED and "affinity" not in setting.params
            cells = "same | same" if same else f"{plain[0]} | {plain[1]}"
            shown = PRINTED.get((name, method), "–") if label == "default" else ""
            lines.append(f"| {method} | {setting.describe()} | {accuracy} | {nmi} | {cells} | {runs} | {shown} |")
    tries = []
    for method in methods:
        found = {
            setting.describe(): summary(records, name, method, setting.label, "published")
            for setting in settings
            if method in setting.methods()
        }
        tried = [f"| {method} | {described} | {one[0]} |" for described, one in found.items() if one[2]]
        if len(tried) > 1:
            tries += tried
    return [*lines, "", *folded("Everything tried, accuracy with the published graph", tries)] if tries else lines


def folded(title: str, rows: list[str]) -> list[str]:
    """A table that a reader unfolds."""
    head = ["<details>", f"<summary>{title}</summary>", "", "| method | setting | ACC |", "|---|---|---|"]
    return [*head, *rows, "", "</details>"]


def write_table(arguments: argparse.Namespace) -> None:
    """Print the tables, or put them between the two marks in a page."""
    records = load_records(arguments.results)
    measured = [name for name in SETTINGS if any(record["set"] == name for record in records)]
    text = "\n\n".join("\n".join(set_table(records, name)) for name in measured)
    if arguments.into is None:
        print(text)
        return
    page = arguments.into.read_text()
    head, _, rest = page.partition(MARKS[0])
    tail = rest.partition(MARKS[1])[2]
    arguments.into.write_text(f"{head}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{tail}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=DEFAULT_RESULTS)
    actions = parser.add_subparsers(dest="action", required=True)
    accuracy = actions.add_parser("accuracy")
    accuracy.add_argument("--sets", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    accuracy.add_argument("--methods", nargs="+", default=None)
    accuracy.add_argument("--seeds", type=int, default=20)
    accuracy.add_argument("--default", action="store_true", help="only the default setting of each method")
    accuracy.add_argument("--settings", nargs="+", default=None, help="only those with one of these labels")
    accuracy.add_argument("--best", action="store_true", help="only the default and the best setting so far")
    accuracy.add_argument("--limit", type=float, default=None, help="give a fit up after so many CPU seconds")
    table = actions.add_parser("table")
    table.add_argument("--into", type=Path, default=None, help="a page with the marks <!-- accuracy --> in it")
    speed = actions.add_parser("speed")
    speed.add_argument("--samples", type=int, default=1000)
    speed.add_argument("--methods", nargs="+", default=None)
    arguments = parser.parse_args()
    if arguments.action == "accuracy":
        measure_accuracy(arguments)
    elif arguments.action == "table":
        write_table(arguments)
    else:
        from baselines_speed import measure_speed

        measure_speed(arguments.samples, arguments.methods, arguments.results.with_name("baselines-speed.json"))


if __name__ == "__main__":
    main()
