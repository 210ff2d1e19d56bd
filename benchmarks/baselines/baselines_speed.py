"""CPU seconds of each baseline's representation beside its plain transliteration, on MNIST pixels with unit rows."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import plain_baselines as plain

from masked_subspace._common.provenance import provenance
from masked_subspace.baselines.bdr import BdrSettings, represent_bdr
from masked_subspace.baselines.edsc import EdscSettings, represent_edsc
from masked_subspace.baselines.ensc import represent_ensc
from masked_subspace.baselines.lrr import LrrSettings, represent_lrr
from masked_subspace.baselines.lsr import represent_lsr
from masked_subspace.baselines.omp import represent_omp
from masked_subspace.baselines.soft_s3c import WeightedSparseRepresenter
from masked_subspace.baselines.ssc import SscSettings, represent_ssc
from masked_subspace.datasets import load
from masked_subspace.label.graph import affinity_matrix, spectral_embedding
from masked_subspace.masks.soft import ConstantMask, EmbeddingMask

ROUNDS = 3
PLAIN_ENSC_SAMPLES = 50  # the plain loop over samples is timed on these and scaled up


def embedding_of(C: Any) -> Any:
    return spectral_embedding(affinity_matrix(C, "normalized"), 10, None, 0).vectors


def soft_s3c(rows: Any) -> Any:
    """Three rounds from Θ = 0, each warm-started, with one spectral embedding a round."""
    prepared = WeightedSparseRepresenter(n_jobs=1).prepare(rows)
    mask: Any = ConstantMask(len(rows), 0.0)
    for _ in range(ROUNDS):
        found = prepared.represent(mask).representation
        mask = EmbeddingMask(embedding_of(found))
    return found


def cases(rows: Any) -> dict[str, tuple[Callable[[], Any], Callable[[], Any], float]]:
    """Name → ours, plain, and the factor by which the plain time is scaled up."""
    X = np.ascontiguousarray(rows.T)
    scale = len(rows) / PLAIN_ENSC_SAMPLES
    return {
        "LSR": (lambda: represent_lsr(rows, 0.1, zero_diagonal=True), lambda: plain.plain_lsr(X), 1.0),
        "EDSC": (lambda: represent_edsc(rows, EdscSettings()), lambda: plain.plain_edsc(X), 1.0),
        "SSC-OMP": (lambda: represent_omp(rows), lambda: plain.plain_omp(X), 1.0),
        "EnSC": (lambda: represent_ensc(rows), lambda: plain.plain_ensc(X, count=PLAIN_ENSC_SAMPLES), scale),
        "SSC": (lambda: represent_ssc(rows, SscSettings()), lambda: plain.plain_ssc(X), 1.0),
        "SSC, ADMM": (lambda: represent_ssc(rows, SscSettings(solver="admm")), lambda: plain.plain_ssc(X), 1.0),
        "Soft S³C, 3 rounds": (
            lambda: soft_s3c(rows),
            lambda: plain.plain_soft_s3c(X, lambda C: embedding_of(C.T), ROUNDS),
            1.0,
        ),
        "LRR": (lambda: represent_lrr(rows, LrrSettings()), lambda: plain.plain_lrr(X), 1.0),
        "BDR": (lambda: represent_bdr(rows, BdrSettings(10)), lambda: plain.plain_bdr(X, 10), 1.0),
    }


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Median of three."""
    found = []
    for _ in range(3):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return float(np.median(found))


def measure_speed(n_samples: int, methods: list[str] | None, out: Path) -> None:
    pixels = load("mnist").data
    chosen = np.random.default_rng(0).choice(len(pixels), n_samples, replace=False)
    rows = pixels[chosen].astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for name, (ours, _, _) in cases(rows[:60]).items():
        if not methods or name in methods:
            ours()  # compilation stays outside the clock
    print("| method | ours, CPU s | plain, CPU s | ratio |\n|---|---|---|---|")
    results = json.loads(out.read_text())["results"] if out.exists() else {}
    for name, (ours, plainly, factor) in cases(rows).items():
        if methods and name not in methods:
            continue
        mine, theirs = cpu_seconds(ours), cpu_seconds(plainly) * factor
        results[name] = {"ours": mine, "plain": theirs, "ratio": theirs / mine}
        print(f"| {name} | {mine:.2f} | {theirs:.1f} | {theirs / mine:.1f} |", flush=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"n_samples": n_samples, "results": results, "provenance": provenance(1)}, indent=1))
