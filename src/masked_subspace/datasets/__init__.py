"""Image sets of the paper, their protocols, and synthetic unions of subspaces."""

from masked_subspace.datasets.synthetic import make_subspaces

__all__ = ["make_subspaces"]
