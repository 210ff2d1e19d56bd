"""What the fuzz suite draws: rows of every unpleasant kind, parameters, masks, known pairs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from masked_subspace import BMSC, GMSC, RMSC, BilevelClustering
from masked_subspace.baselines import BDR, EDSC, LRR, LSR, SSC, SSCOMP, EnSC, NeighborGraph, SoftS3C
from masked_subspace.label.graph import KINDS as AFFINITIES
from masked_subspace.masks import LabelMask, NeighborMask

# `make fuzz` sets it: cases of each property.
_CASES = int(os.environ.get("MASKED_SUBSPACE_FUZZ", "0"))


def bounded(cases: int, dear: bool = False) -> Any:
    """The same `cases` on every run of `make test`; `make fuzz` asks for another number, of dear ones for a tenth."""
    return settings(
        max_examples=max(1, _CASES // 10 if dear else _CASES) if _CASES else cases,
        derandomize=True,
        deadline=None,
        database=None,
        phases=tuple(Phase) if _CASES else (Phase.explicit, Phase.generate),  # making cases smaller takes minutes
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


KINDS = ("normal", "subspaces", "copies", "integers", "constant column", "tiny", "large", "one value", "sparse", "wide")


@st.composite
def samples(draw: Any) -> np.ndarray:
    n, d = draw(st.integers(2, 24)), draw(st.integers(1, 12))
    kind = draw(st.sampled_from(KINDS))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    X = rng.standard_normal((n, 4 * d if kind == "wide" else d))
    if kind == "subspaces":
        X = (rng.integers(0, 2, (n, 1)) == 0) * (X[:, :1] @ rng.standard_normal((1, d))) + 0.1 * X
    elif kind == "copies":
        X = X[rng.integers(0, max(1, n // 2), n)]
    elif kind == "integers":
        X = rng.integers(0, 256, X.shape).astype(np.uint8)
    elif kind == "constant column":
        X[:, 0] = 1e6
    elif kind == "tiny":
        X = X * 1e-12
    elif kind == "large":
        X = X * 1e12
    elif kind == "one value":
        X[:] = X[0]
    elif kind == "sparse":
        X = X * (rng.random(X.shape) < 0.3)
    return X.astype(draw(st.sampled_from([np.float64, np.float32]))) if X.dtype == np.float64 else X


FORMS: dict[str, Any] = {
    "array": lambda X: X,
    "column by column": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "every second": lambda X: np.repeat(X, 2, axis=0)[::2],  # rows that do not lie side by side
    "sparse": csr_array,
}

COMMON = st.fixed_dictionaries(
    {
        "n_clusters": st.integers(1, 6),
        "center": st.booleans(),
        "normalize": st.booleans(),
        "constraints": st.sampled_from(["soft", "hard"]),
        "random_state": st.integers(0, 3),
    }
)
GRAPH = {
    "n_components": st.sampled_from([None, "auto", 1, 3, 50]),
    "affinity": st.sampled_from(list(AFFINITIES)),
    "n_links": st.integers(1, 30),
    "cut": st.sampled_from(["auto", "spectral", "modularity"]),
}
MASKED = GRAPH | {
    "solver": st.sampled_from(["auto", "dense", "sparse"]),
    "n_candidates": st.integers(1, 40),
    "view": st.sampled_from(["auto", "plain", "whitened", "standardized", "homogeneous", "root", 0.3]),
    "affine": st.booleans(),
    "sparsity": st.sampled_from(["auto", 1e-6, 1e-3, 10.0]),
    "penalty": st.sampled_from(["auto", 0.1, 15.0]),
    "hard_mask": st.sampled_from([None, NeighborMask(3), NeighborMask(100), "half"]),
    "min_certainty": st.sampled_from([None, 0.3]),
}
OWN: dict[type, dict[str, Any]] = {
    BMSC: MASKED,
    GMSC: MASKED
    | {
        "soft_mask": st.sampled_from([None, "labels", "prices"]),
        "noise": st.sampled_from([None, 0.5]),
        "outliers": st.sampled_from([None, 0.1, "auto"]),
    },
    RMSC: MASKED
    | {
        "members": st.sampled_from([1, 2, 3, "auto"]),
        "max_rounds": st.integers(1, 3),
        "init": st.sampled_from([None, "labels"]),
    },
    BilevelClustering: {"max_rounds": st.integers(1, 3)},
    NeighborGraph: GRAPH | {"n_neighbors": st.integers(1, 40)},
    LRR: GRAPH | {"noise_weight": st.sampled_from([None, 0.18, 5.0])},
    SSC: GRAPH
    | {
        "alpha": st.sampled_from([2.0, 20.0, 800.0]),
        "affine": st.booleans(),
        "outliers": st.sampled_from([None, 9.0]),
    },
    SSCOMP: GRAPH | {"n_nonzero": st.integers(1, 30)},
    EnSC: GRAPH | {"tau": st.sampled_from([0.1, 0.9, 1.0]), "gamma": st.sampled_from([0.5, 50.0])},
    LSR: GRAPH | {"ridge": st.sampled_from([1e-6, 0.1, 1e3]), "zero_diagonal": st.booleans()},
    BDR: GRAPH | {"output": st.sampled_from(["B", "Z"]), "block_weight": st.sampled_from([0.01, 1.0, 50.0])},
    EDSC: GRAPH | {"outliers": st.sampled_from([None, 0.1]), "threshold": st.sampled_from([0.3, 1.0])},
    SoftS3C: GRAPH | {"structure_weight": st.sampled_from([0.0, 0.1, 5.0]), "max_rounds": st.integers(1, 3)},
}


def with_masks(parameters: dict[str, Any], n_samples: int) -> dict[str, Any]:
    """Masks that were drawn by name, made for so many samples."""
    labels = np.arange(n_samples) % 3
    made = {
        "half": (np.add.outer(np.arange(n_samples), np.arange(n_samples)) % 2 == 1).astype(float),
        "labels": LabelMask(labels, 1.1),
        "prices": np.abs(np.subtract.outer(labels, labels)).astype(float),
    }
    masks = ("hard_mask", "soft_mask", "init")
    return {
        name: made.get(value, value) if name in masks and isinstance(value, str) else value
        for name, value in parameters.items()
    }


@st.composite
def estimators(draw: Any, n_samples: int) -> Any:
    kind = draw(st.sampled_from(sorted(OWN, key=lambda one: one.__name__)))
    own = {name: draw(value) for name, value in OWN[kind].items()}
    return kind(**draw(COMMON), **with_masks(own, n_samples))


@st.composite
def knowledge(draw: Any, n_samples: int) -> dict[str, Any]:
    """Pairs and labels, many of them impossible; mostly nothing."""
    index = st.integers(0, n_samples - 1)
    pairs = st.lists(st.tuples(index, index), max_size=4).map(lambda found: np.array(found, dtype=int).reshape(-1, 2))
    told: dict[str, Any] = {}
    for name in ("must_link", "cannot_link"):
        if draw(st.integers(0, 3)) == 0:
            told[name] = draw(pairs)
    if draw(st.integers(0, 3)) == 0:
        told["partial_labels"] = np.array(draw(st.lists(st.integers(-2, 6), min_size=n_samples, max_size=n_samples)))
    return told
