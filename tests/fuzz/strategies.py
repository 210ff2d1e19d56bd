"""What the fuzz suite draws: rows of every unpleasant kind, parameters, known pairs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace.baselines import BDR, EDSC, LRR, LSR, SSC, SSCOMP, EnSC, SoftS3C

_CASES = int(os.environ.get("MASKED_SUBSPACE_FUZZ", "0"))


def bounded(cases: int) -> Any:
    """The same cases on every run; `make fuzz` asks for more of them."""
    return settings(
        max_examples=_CASES or cases,
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


COMMON = st.fixed_dictionaries(
    {
        "n_clusters": st.integers(1, 6),
        "center": st.booleans(),
        "normalize": st.booleans(),
        "n_components": st.sampled_from([None, "auto", 1, 3, 50]),
        "affinity": st.sampled_from(["top-k", "symmetric", "normalized", "shape-interaction"]),
        "constraints": st.sampled_from(["soft", "hard"]),
        "random_state": st.integers(0, 3),
    }
)
MASKED = {"solver": st.sampled_from(["auto", "dense", "sparse"]), "n_candidates": st.integers(1, 40)}
OWN: dict[type, dict[str, Any]] = {
    BMSC: MASKED,
    GMSC: MASKED | {"noise": st.sampled_from([None, 0.5]), "outliers": st.sampled_from([None, 0.1])},
    RMSC: MASKED | {"members": st.sampled_from([1, 2, 3]), "max_rounds": st.integers(1, 3)},
    LRR: {"noise_weight": st.sampled_from([None, 0.18, 5.0])},
    SSC: {
        "alpha": st.sampled_from([2.0, 20.0, 800.0]),
        "affine": st.booleans(),
        "outliers": st.sampled_from([None, 9.0]),
    },
    SSCOMP: {"n_nonzero": st.integers(1, 30)},
    EnSC: {"tau": st.sampled_from([0.1, 0.9, 1.0]), "gamma": st.sampled_from([0.5, 50.0])},
    LSR: {"ridge": st.sampled_from([1e-6, 0.1, 1e3]), "zero_diagonal": st.booleans()},
    BDR: {"output": st.sampled_from(["B", "Z"]), "block_weight": st.sampled_from([0.01, 1.0, 50.0])},
    EDSC: {"outliers": st.sampled_from([None, 0.1]), "threshold": st.sampled_from([0.3, 1.0])},
    SoftS3C: {"structure_weight": st.sampled_from([0.0, 0.1, 5.0]), "max_rounds": st.integers(1, 3)},
}


@st.composite
def estimators(draw: Any) -> Any:
    kind = draw(st.sampled_from(sorted(OWN, key=lambda one: one.__name__)))
    return kind(**draw(COMMON), **{name: draw(value) for name, value in OWN[kind].items()})


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
