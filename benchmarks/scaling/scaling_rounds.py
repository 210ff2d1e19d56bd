"""Inside a large fit: what each round of RMSC costs by stage, and how the λ rule's target moves accuracy.

    python benchmarks/scaling/scaling_rounds.py rounds  raw pixels, `RMSC(10, members=1)` taken apart
    python benchmarks/scaling/scaling_rounds.py rounds --features FILE.npy
    python benchmarks/scaling/scaling_rounds.py targets --features FILE.npy   12, 24, 36 and 48 of 64 candidates kept
    python benchmarks/scaling/scaling_rounds.py targets --samples 20000 --noise 1  the synthetic subspaces of scaling.py

One JSON record a line. The first round on a small part of the data compiles, outside the clock.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from masked_subspace.label.graph import affinity_matrix, spectral_embedding
from masked_subspace.label.labeler import Evidence, label_rows
from masked_subspace.masks.soft import ConstantMask, LabelMask
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rows.preparation import VIEWS, Preparation
from scaling import digits, measured, peak_megabytes, subspaces

TARGETS = (12, 24, 36, 48)


def label(Z: Any, evidence: Evidence, clusters: int, seed: int) -> tuple[np.ndarray, dict[str, dict[str, float]]]:
    """The labels of a representation, and what each stage cost."""
    cost = {}
    W, cost["affinity"] = measured(lambda: affinity_matrix(Z))
    embedding, cost["eigenvectors"] = measured(
        lambda: spectral_embedding(W, clusters, "auto", seed, evidence.n_threads)
    )
    labels, cost["k-means"] = measured(
        lambda: label_rows(embedding.vectors, embedding.placed, W, clusters, evidence, seed)
    )
    return labels, cost


def rows_of(X: np.ndarray) -> np.ndarray:
    rows = np.asarray(X, dtype=np.float32)
    return Preparation.learn(rows, VIEWS["plain"]).apply(rows)


def rounds(X: np.ndarray, y: np.ndarray, clusters: int, seed: int, threads: int, count: int) -> list[dict[str, Any]]:
    """Algorithm 2 with one member, round by round."""
    rows = rows_of(X)
    representer = MaskedRepresenter(solver="sparse", n_jobs=threads)
    prepared, cost = measured(lambda: representer.prepare(rows, seed=seed, rounds=count))
    records: list[dict[str, Any]] = [{"round": 0, "prepare": cost}]
    evidence, mask = Evidence(rows, n_threads=threads), ConstantMask(len(rows))
    for number in range(1, count + 1):
        solution, solve = measured(lambda mask=mask: prepared.represent(mask))
        labels, stages = label(solution.representation, evidence, clusters, seed)
        stages = {"solve": solve} | stages
        new = LabelMask(labels)
        change, stages["mask change"] = measured(lambda new=new, mask=mask: new.change(mask))
        mask = new
        records.append(
            {"round": number}
            | {kind: round(sum(one[kind] for one in stages.values()), 2) for kind in ("wall", "cpu")}
            | {"stages": stages, "change": change, "accuracy": round(float(clustering_accuracy(y, labels)), 4)}
        )
    return records


def targets(X: np.ndarray, y: np.ndarray, clusters: int, seed: int, threads: int) -> list[dict[str, Any]]:
    """BMSC with λ for each of the targets, on the same candidates."""
    rows = rows_of(X)
    evidence = Evidence(rows, n_threads=threads)
    prepared = MaskedRepresenter(solver="sparse", n_jobs=threads).prepare(rows, seed=seed, rounds=len(TARGETS))
    rule = prepared.sparsity_rule(seed)
    records = []
    for target in TARGETS:
        # The rule keeps four candidates for a link.
        price = rule.sparsity(prepared.template.penalty, target / 4)
        settings = replace(prepared.template, sparsity=price)
        Z = prepared.represent_many([settings], None)[0].representation
        labels, _ = label(Z, evidence, clusters, seed)
        accuracy = round(float(clustering_accuracy(y, labels)), 4)
        records.append({"target": target, "links": round(Z.nnz / len(rows), 1), "accuracy": accuracy})
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("rounds", "targets"))
    parser.add_argument("--features")
    parser.add_argument("--samples", type=int, help="so many synthetic samples instead of digits")
    parser.add_argument("--noise", type=float, default=0.1, help="of the synthetic samples, as a share of the signal")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for seed in range(options.seeds):
            if options.samples:
                X, y = subspaces(options.samples, seed, folder, options.noise)
            else:
                X, y = digits(options.features)
            clusters = 20 if options.samples else 10
            run = (lambda *a: rounds(*a, options.rounds)) if options.command == "rounds" else targets
            run(X[:3000], y[:3000], clusters, seed, options.threads)
            for record in run(X, y, clusters, seed, options.threads):
                print(json.dumps({"seed": seed, "threads": options.threads} | record), flush=True)
    print(json.dumps({"peak_mb": peak_megabytes()}))


if __name__ == "__main__":
    main()
