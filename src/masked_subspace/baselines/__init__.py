"""The methods that the paper compares with, and three more, on the base class and the spectral step of `BMSC`.

>>> from masked_subspace.baselines import SSC
>>> labels = SSC(10, random_state=0).fit_predict(X)  # doctest: +SKIP
"""

from masked_subspace.baselines.autoencoder_edsc import AutoencoderEDSC
from masked_subspace.baselines.bdr import BDR
from masked_subspace.baselines.edsc import EDSC
from masked_subspace.baselines.ensc import EnSC
from masked_subspace.baselines.knn import NeighborGraph
from masked_subspace.baselines.lrr import LRR
from masked_subspace.baselines.lsr import LSR
from masked_subspace.baselines.omp import SSCOMP
from masked_subspace.baselines.soft_s3c import SoftS3C
from masked_subspace.baselines.ssc import SSC

__all__ = ["BDR", "EDSC", "LRR", "LSR", "SSC", "SSCOMP", "AutoencoderEDSC", "EnSC", "NeighborGraph", "SoftS3C"]
