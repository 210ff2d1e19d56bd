"""What can go wrong on the way to a data set."""

from __future__ import annotations


class DatasetError(RuntimeError):
    """A data set could not be served; the message says what to do about it.

    The other errors of this module are kinds of it, so one `except` catches them all.

    Examples
    --------
    >>> from masked_subspace.datasets import DatasetError, load
    >>> try:
    ...     load("coil20", data_home=".", download=False)
    ... except DatasetError as error:
    ...     print(type(error).__name__)
    DatasetNotAvailableError
    """


class InvalidDataError(DatasetError):
    """A file was found, but it does not hold what it should.

    Examples
    --------
    >>> from pathlib import Path
    >>> from masked_subspace.datasets import InvalidDataError, load
    >>> _ = Path("coil20.npz").write_text("no archive")
    >>> try:
    ...     load("coil20", data_home=".")
    ... except InvalidDataError as error:
    ...     print(str(error).partition("(")[0])
    coil20.npz is not a readable .npz file
    """


class DownloadError(DatasetError):
    """A file could not be fetched completely and unchanged.

    It is the cause of the `DatasetNotAvailableError` that `load` and `fetch` raise.

    Examples
    --------
    >>> from masked_subspace.datasets import DatasetError, DownloadError
    >>> issubclass(DownloadError, DatasetError)
    True
    """


class DatasetNotAvailableError(DatasetError):
    """No source has the set: no folder of yours, no cache, no installed package, no address.

    The message names the file that is wanted and the folder to put it into.

    Examples
    --------
    >>> from masked_subspace.datasets import DatasetNotAvailableError, load
    >>> try:
    ...     load("coil100", data_home=".", download=False)
    ... except DatasetNotAvailableError as error:
    ...     print("coil100.npz" in str(error))
    True
    """
