"""`masked-subspace data list|fetch`."""

from __future__ import annotations

from argparse import Namespace

from masked_subspace._common.nearest_name import did_you_mean
from masked_subspace._common.types import Record
from masked_subspace.cli.exits import CommandError, Exit
from masked_subspace.cli.printing import say, say_json
from masked_subspace.datasets import DATASETS, DatasetStatus, fetch, list_datasets
from masked_subspace.experiments.render import aligned


def run(options: Namespace) -> int:
    """List or fetch."""
    if options.action == "fetch":
        unknown = [name for name in options.names if name not in DATASETS]
        if unknown:
            hint = did_you_mean(unknown[0], DATASETS)
            raise CommandError(f"there is no data set {unknown[0]!r}{hint}; choose of {', '.join(DATASETS)}")
        found = [fetch(name, data_home=options.data_home, force=options.force) for name in options.names]
    else:
        found = list_datasets(data_home=options.data_home)
    header = ("name", "samples", "features", "classes", "here", "size", "where")
    say(options, aligned(header, [_row(status) for status in found]))
    say_json(options, {"datasets": [_record(status) for status in found]})
    return Exit.OK


def _row(status: DatasetStatus) -> tuple[object, ...]:
    size = f"{status.size_bytes / 1e6:.1f} MB" if status.available else "–"
    where = " ".join(part for part in (str(status.location or "to be fetched"), status.remark) if part)
    here = status.source if status.available else "no"
    return status.name, status.n_samples, status.n_features, status.n_classes, here, size, where


def _record(status: DatasetStatus) -> Record:
    return {
        "name": status.name,
        "samples": status.n_samples,
        "features": status.n_features,
        "classes": status.n_classes,
        "available": status.available,
        "source": status.source,
        "location": str(status.location) if status.location else None,
        "bytes": status.size_bytes,
        "remark": status.remark,
    }
