"""The one list of methods: the command, the tables and the tests read it, and nothing else names them all.

A new baseline is one file in `baselines/` and one line in `_LISTED` below. To stand in a table of the paper it needs an
entry in `experiments/data/settings.toml` besides. Classes are named by their path and imported when they are asked
for.
"""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from masked_subspace._common.nearest_name import did_you_mean
from masked_subspace._common.types import RecordView

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["METHODS", "Method", "SettingError", "did_you_mean", "make_estimator", "match", "resolve"]


class SettingError(ValueError):
    """A method or parameter that does not exist, or a value that does not fit it.

    Examples
    --------
    >>> from masked_subspace.registry import SettingError, resolve
    >>> try:
    ...     resolve("rmcs")
    ... except SettingError as error:
    ...     print(str(error).partition(";")[0])
    there is no method 'rmcs' (did you mean 'rmsc'?)
    """


@dataclass(frozen=True)
class Method:
    """One line of the list of methods.

    Parameters
    ----------
    key : str
        What a person types and what stored results are filed under.
    title : str
        What tables and pages print.
    path : str
        Where the class is: "package.module:Class".
    tiny : mapping of str to object, optional
        Parameters under which a test's fit takes no time.

    Examples
    --------
    >>> from masked_subspace.registry import METHODS
    >>> METHODS["ssc-omp"].title
    'SSC-OMP'
    """

    key: str
    title: str
    path: str
    tiny: RecordView = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Everything a person may call it: key, title, name of the class."""
        return self.key, self.title, self.path.partition(":")[2]

    def load(self) -> BaseEstimator:
        """Import the estimator.

        Returns
        -------
        cls : type
            The class that `path` names.
        """
        module, _, attribute = self.path.partition(":")
        return getattr(import_module(module), attribute)


_LISTED = (
    Method("bmsc", "BMSC", "masked_subspace.estimators:BMSC"),
    Method("gmsc", "GMSC", "masked_subspace.estimators:GMSC"),
    Method("rmsc", "RMSC", "masked_subspace.estimators:RMSC"),
    Method("lrr", "LRR", "masked_subspace.baselines:LRR"),
    Method("ssc", "SSC", "masked_subspace.baselines:SSC"),
    Method("ssc-omp", "SSC-OMP", "masked_subspace.baselines:SSCOMP"),
    Method("ensc", "EnSC", "masked_subspace.baselines:EnSC"),
    Method("lsr", "LSR", "masked_subspace.baselines:LSR"),
    Method("bdr", "BDR", "masked_subspace.baselines:BDR"),
    Method("edsc", "EDSC", "masked_subspace.baselines:EDSC"),
    Method("ae-edsc", "AE+EDSC", "masked_subspace.baselines:AutoencoderEDSC", {"max_epochs": 20}),
    Method("soft-s3c", "Soft S³C", "masked_subspace.baselines:SoftS3C"),
    Method("knn", "k-NN graph", "masked_subspace.baselines:NeighborGraph"),
    Method("kmeans", "k-means", "sklearn.cluster:KMeans", {"n_init": 2}),
)
METHODS: dict[str, Method] = {method.key: method for method in _LISTED}


def resolve(name: str) -> Method:
    """Find the method that a person means.

    Parameters
    ----------
    name : str
        A key, a title or a class in any spelling, or "package.module:Class" of any clusterer.

    Returns
    -------
    method : Method
        The line of the list, or a new one for a clusterer that is not on it.

    Raises
    ------
    SettingError
        If there is no such method, with the nearest name there is, or the class is no clusterer.

    Examples
    --------
    >>> from masked_subspace.registry import resolve
    >>> resolve("SSC_OMP").key
    'ssc-omp'
    >>> resolve("sklearn.cluster:DBSCAN").load().__name__
    'DBSCAN'
    """
    if ":" in name:
        return _of_any_package(name)
    found = match(name, {method.key: method.names for method in METHODS.values()})
    if found is None:
        raise SettingError(
            f"there is no method {name!r}{did_you_mean(name, METHODS)}; choose one of {', '.join(METHODS)}, "
            "or name any scikit-learn clusterer as package.module:Class"
        )
    return METHODS[found]


def match(name: str, known: Mapping[str, Iterable[str]]) -> str | None:
    """Find a name among several, whatever the case and the marks between letters.

    Parameters
    ----------
    name : str
        What a person typed.
    known : mapping of str to iterable of str
        Keys, and the names each goes by.

    Returns
    -------
    key : str or None
        The first key that has the name; None if none has.

    Examples
    --------
    >>> from masked_subspace.registry import match
    >>> match("K Means", {"kmeans": ["k-means"], "ssc": ["SSC"]})
    'kmeans'
    """
    wanted = _plain(name)
    return next((key for key, names in known.items() if wanted in map(_plain, names)), None)


def make_estimator(
    name: str, n_clusters: int, settings: RecordView, seed: int, n_jobs: int | None = None
) -> BaseEstimator:
    """Make an unfitted estimator by the name of its method.

    Parameters
    ----------
    name : str
        A key, a title or a class in any spelling, or "package.module:Class" of any clusterer.
    n_clusters : int
        Number of clusters, for those that take it.
    settings : mapping of str to object
        Further parameters of the class.
    seed : int
        The `random_state`, for those that take it.
    n_jobs : int or None, default=None
        Threads, for those that take it.

    Returns
    -------
    estimator : clusterer
        With the defaults of its class in all that is not given.

    Raises
    ------
    SettingError
        If there is no such method, or the class has no such parameter.

    Examples
    --------
    >>> from masked_subspace.registry import make_estimator
    >>> make_estimator("ensc", 10, {"gamma": 20.0}, seed=0).gamma
    20.0
    """
    cls = resolve(name).load()
    known = set(inspect.signature(cls).parameters)
    unknown = sorted(set(settings) - known)
    if unknown:
        raise SettingError(
            f"{name} has no parameter {unknown[0]!r}{did_you_mean(unknown[0], known)}; "
            f"it has {', '.join(sorted(known - {'n_clusters'}))}"
        )
    arguments = {"n_clusters": n_clusters, "random_state": seed, "n_jobs": n_jobs, **settings}
    if "n_clusters" not in known and isinstance(n_clusters, int):  # a mixture calls them components
        arguments = {"n_components": n_clusters, **arguments}
    return cls(**{key: value for key, value in arguments.items() if key in known})


def _of_any_package(path: str) -> Method:
    method = Method(path, path.partition(":")[2], path)
    try:
        cls = method.load()
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingError(
            f"method {path!r} cannot be imported as package.module:Class ({error}){_nearest_class(path)}"
        ) from error
    if not (inspect.isclass(cls) and hasattr(cls, "fit_predict")):
        raise SettingError(f"method {path!r} is not a clusterer: it must be a class with a method fit_predict")
    return method


def _nearest_class(path: str) -> str:
    """What may have been meant: a class of the module, or, where there is no such module, one of its package."""
    module, _, name = path.partition(":")
    try:
        if find_spec(module) is not None:
            return did_you_mean(name, [one for one in dir(import_module(module)) if not one.startswith("_")])
    except ModuleNotFoundError:
        pass
    except Exception:  # whatever a stranger's module raises was said already
        return ""
    return did_you_mean(module, _modules_beside(module))


def _modules_beside(module: str) -> list[str]:
    """Modules of the same package; of a package that is not there, the packages that are."""
    package = module.rpartition(".")[0]
    try:
        places = import_module(package).__path__ if package else None
    except Exception:
        package, places = "", None
    return [f"{package}.{one.name}".removeprefix(".") for one in iter_modules(places)]


def _plain(name: str) -> str:
    """Letters and digits in lower case, so that "SSC-OMP", "ssc_omp" and "SSCOMP" are one name."""
    return "".join(one for one in unicodedata.normalize("NFKC", name).casefold() if one.isalnum())
