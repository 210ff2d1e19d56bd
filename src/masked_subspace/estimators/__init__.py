"""What a user fits."""

from masked_subspace.estimators.bilevel import BilevelClustering
from masked_subspace.estimators.bmsc import BMSC
from masked_subspace.estimators.gmsc import GMSC
from masked_subspace.estimators.rmsc import RMSC

__all__ = ["BMSC", "GMSC", "RMSC", "BilevelClustering"]
