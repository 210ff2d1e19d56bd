"""All sets by name: a new one is one new module and one line here."""

from __future__ import annotations

from masked_subspace.datasets.coil import COIL20, COIL100
from masked_subspace.datasets.digits import DIGITS
from masked_subspace.datasets.mnist import MNIST
from masked_subspace.datasets.orl import ORL
from masked_subspace.datasets.spec import DatasetSpec
from masked_subspace.datasets.usps import USPS

DATASETS: dict[str, DatasetSpec] = {spec.name: spec for spec in (MNIST, USPS, ORL, COIL20, COIL100, DIGITS)}


def find_spec(name: str) -> DatasetSpec:
    if name not in DATASETS:
        raise ValueError(f"name={name!r} is not a known data set; choose one of {', '.join(DATASETS)}")
    return DATASETS[name]
