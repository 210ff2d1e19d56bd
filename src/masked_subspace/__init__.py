"""Masked subspace clustering: group data that lie in a union of low-dimensional subspaces.

`BMSC`, `GMSC` and `RMSC` are scikit-learn clusterers; `BilevelClustering` is the frame they are instances of.
"""

from masked_subspace.estimators import BMSC, GMSC, RMSC, BilevelClustering

__version__ = "0.1.0"
__all__ = ["BMSC", "GMSC", "RMSC", "BilevelClustering", "__version__"]
