"""Image sets of the paper, their protocols, and synthetic unions of subspaces."""

from masked_subspace.datasets.loading import load
from masked_subspace.datasets.protocols import PROTOCOLS, load_protocol
from masked_subspace.datasets.synthetic import make_subspaces

__all__ = ["PROTOCOLS", "load", "load_protocol", "make_subspaces"]
