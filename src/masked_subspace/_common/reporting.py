"""`model.report("x.html")` for every clusterer that inherits this."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from masked_subspace._common.types import MatrixLike


class ReportMixin:
    """Gives a fitted clusterer the method `report`.

    Reports are made from estimators, so the import points from there to here; by name and at the call it costs nothing
    to those who never ask for one.
    """

    def report(self, path: str | Path, X: MatrixLike | None = None, **about: object) -> Path:
        """Write one HTML file that shows what this clustering did and why.

        Parameters
        ----------
        path : str or Path
            Where the page goes.
        X : array, sparse array or data frame of shape (n_samples, n_features) or None, default=None
            The samples of `fit`; with them the page shows which features tell the clusters apart.
        **about : object
            What else is known: `y` (known classes), `names` of samples, `feature_names`, `class_names`, `images`,
            `title`; they are the parameters of `masked_subspace.report.content_of`.

        Returns
        -------
        path : Path
            Of the written page.

        Examples
        --------
        >>> from masked_subspace import BMSC
        >>> from masked_subspace.datasets import make_subspaces
        >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
        >>> BMSC(3, random_state=0).fit(X).report("page.html", X).name
        'page.html'
        """
        written: Path = import_module("masked_subspace.report").write_report(self, X, path, **about)
        return written
