"""BMSC of a dask array on the workers of the active Dask client, where its settings are those of a distributed fit."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from joblib.parallel import get_active_backend

from masked_subspace._common.types import MatrixLike
from masked_subspace.parallel.engine import is_dask_array

if TYPE_CHECKING:
    from distributed import Client

    from masked_subspace.estimators.bmsc import BMSC

# Up to here one process compares all pairs, in seconds, where a distributed fit asks an inverted file.
WORKERS_FROM = 20_000
_SAMPLES_A_CLUSTER = 100


def client_for(X: MatrixLike) -> Client | None:
    """The active client, if X is a dask array large enough for a cluster.

    Inside `joblib.parallel_config(backend="dask")` there is none: that asks for a fit in this process whose blocks are
    solved by workers.
    """
    distributed = sys.modules.get("distributed")
    if distributed is None or not is_dask_array(X) or getattr(get_active_backend()[0], "client", None) is not None:
        return None
    shape: tuple[float, ...] = getattr(X, "shape", ())
    # A length that is not known yet is NaN, which is not larger.
    if len(shape) != 2 or not shape[0] > WORKERS_FROM:
        return None
    try:
        client: Client = distributed.default_client()
    except ValueError:
        return None
    return client


def reasons_against(model: BMSC, n_samples: int, *, known: bool) -> list[str]:
    """What of the settings a distributed fit does not do; empty if it does all of them."""
    one_number = isinstance(model.n_clusters, int) and not isinstance(model.n_clusters, bool)
    allowed = {
        f"n_clusters={model.n_clusters!r} is not one number": one_number,
        f"fewer than {_SAMPLES_A_CLUSTER} samples a cluster": not one_number
        or n_samples >= _SAMPLES_A_CLUSTER * int(model.n_clusters),  # type: ignore[arg-type]
        "known pairs or labels are given": not known,
        f"affinity={model.affinity!r}": model.affinity == "top-k",
        "hard_mask is given": model.hard_mask is None,
        f"view={model.view!r}": model.view in ("plain", "auto"),
        f"affine={model.affine!r}": not model.affine,
        f"solver={model.solver!r}": model.solver in ("auto", "sparse"),
        f"min_certainty={model.min_certainty!r}": model.min_certainty is None,
        f"missing={model.missing!r}": model.missing == "error",
    }
    return [reason for reason, fine in allowed.items() if not fine]
