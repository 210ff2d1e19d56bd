"""`model.report("x.html")` for every clusterer that inherits this."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any


class ReportMixin:
    """Gives a fitted clusterer the method `report`.

    Reports are made from estimators, so the import points from there to here; by name and at the call it costs nothing
    to those who never ask for one.
    """

    def report(self, path: str | Path, X: Any = None, **about: Any) -> Path:
        """Write one HTML file that shows what this clustering did and why, and return its path.

        Parameters
        ----------
        path : str or Path
        X : the samples of `fit`; with them the page shows which features tell the clusters apart
        **about : y, names, feature_names, class_names, images, title; see `masked_subspace.report.content_of`
        """
        written: Path = import_module("masked_subspace.report").write_report(self, X, path, **about)
        return written
