"""What can go wrong on the way to a data set."""

from __future__ import annotations


class DatasetError(RuntimeError):
    """A data set could not be served; the message says what to do about it."""


class InvalidDataError(DatasetError):
    """A file was found, but it does not hold what it should."""


class DownloadError(DatasetError):
    """A file could not be fetched completely and unchanged."""


class DatasetNotAvailableError(DatasetError):
    """No source has the set."""
