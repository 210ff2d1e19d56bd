"""The lock of a download: what cannot be locked is a data set that is not to be had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from masked_subspace._common import locking
from masked_subspace.datasets.errors import DatasetError


@contextmanager
def exclusive(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock file ``path``; wait at most ``patience`` seconds for another holder."""
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locking.exclusive(path, patience))
        except TimeoutError as error:
            raise DatasetError(f"{error}; wait for its download to end, or stop it") from error
        except OSError as error:
            raise DatasetError(
                f"cannot write to {path.parent} ({error.strerror}); let MASKED_SUBSPACE_CACHE name a folder of yours"
            ) from error
        yield
