"""Image sets of the paper, their protocols, and synthetic unions of subspaces."""

from masked_subspace.datasets.catalog import DatasetStatus, fetch, list_datasets
from masked_subspace.datasets.errors import DatasetError, DatasetNotAvailableError, DownloadError, InvalidDataError
from masked_subspace.datasets.loading import load
from masked_subspace.datasets.protocols import PROTOCOLS, load_protocol
from masked_subspace.datasets.registry import DATASETS
from masked_subspace.datasets.synthetic import make_subspaces

__all__ = [
    "DATASETS",
    "PROTOCOLS",
    "DatasetError",
    "DatasetNotAvailableError",
    "DatasetStatus",
    "DownloadError",
    "InvalidDataError",
    "fetch",
    "list_datasets",
    "load",
    "load_protocol",
    "make_subspaces",
]
