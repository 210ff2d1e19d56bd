"""Masked subspace clustering: group data that lie in a union of low-dimensional subspaces.

`BMSC`, `GMSC` and `RMSC` are scikit-learn clusterers; `BilevelClustering` is the frame they are instances of;
`cluster_graph` cuts a graph of any origin.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from masked_subspace.estimators import BMSC, GMSC, RMSC, BilevelClustering
    from masked_subspace.rounds.graphs import cluster_graph

__version__ = "0.2.0.dev0"
__all__ = ["BMSC", "GMSC", "RMSC", "BilevelClustering", "__version__", "cluster_graph"]


def __getattr__(name: str) -> Any:
    """Estimators are imported when they are asked for, so that `masked-subspace --help` does not wait for them."""
    if name in ("BMSC", "GMSC", "RMSC", "BilevelClustering"):
        from masked_subspace import estimators

        return getattr(estimators, name)
    if name == "cluster_graph":
        from masked_subspace.rounds.graphs import cluster_graph

        return cluster_graph
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
