"""A real scheduler with two worker processes, started once for this folder."""

from cluster import client, cluster

__all__ = ["client", "cluster"]
