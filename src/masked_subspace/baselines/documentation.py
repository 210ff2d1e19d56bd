"""The part of the docstrings that all baselines share, written once; `documented` puts it into each class.

A class docstring marks the places with `{shared parameters}` and `{shared attributes}`; defaults are read from the
signature, so that they cannot differ from it.
"""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, TypeVar

_SHARED_PARAMETERS = """
affinity : {{"symmetric", "normalized", "unit-length", "top-k", "code-neighbors", "shape-interaction"}}, \
default={affinity!r}
    The graph of the codes C; the default is the one this method was published with. "symmetric" is (|C| + |C|ᵀ)/2.
    "normalized" divides each code by its largest entry first, "unit-length" by its Euclidean length; "top-k" keeps the
    `n_links` largest entries of each normalized code. "code-neighbors" links each sample with weight 1 to the `n_links`
    samples whose unit-length codes are nearest to its own. "shape-interaction" is (M Mᵀ)^power elementwise, M = UΣ^½
    with unit rows from the skinny SVD of C.
n_links : int, default={n_links}
    Links a sample keeps in "top-k" and "code-neighbors"; the other graphs do not read it.
n_components : int, "auto" or None, default={n_components}
    Eigenvectors in the spectral embedding. None: as many as clusters. "auto": up to four times as many, each weighted
    by a power of its eigenvalue.
cut : {{"spectral", "modularity", "auto"}}, default={cut!r}
    How the graph becomes K clusters: k-means on leading eigenvectors (published), communities of the largest
    modularity, or "auto": the second for more than 2,000 samples.
center : bool, default={center}
    Whether the mean of the samples is subtracted first.
normalize : bool, default={normalize}
    Whether each sample is scaled to unit length first (after centring).
constraints : {{"soft", "hard"}}, default={constraints!r}
    Known pairs given to `fit` are a preference or are never violated.
random_state : int, RandomState or None, default={random_state}
    Seed of everything random; with the same one the labels are the same.
n_jobs : int or None, default={n_jobs}
    Threads. None: one for each core; −1: the same.
verbose : int, default={verbose}
    1 shows a progress bar, 0 nothing.
"""

_SHARED_ATTRIBUTES = """
labels_ : ndarray of shape (n_samples,)
    Cluster of each sample, from 0.
representation_matrix_ : csr_array of shape (n_samples, n_samples)
    The codes; row i rebuilds sample i.
affinity_matrix_ : csr_array of shape (n_samples, n_samples)
    The graph that was cut: symmetric, nonnegative, zero diagonal.
embedding_ : ndarray of shape (n_samples, n_vectors)
    The spectral embedding, unit rows.
certainty_ : ndarray of shape (n_samples,)
    0 to 1: how much nearer a sample is to its own cluster's centre in the embedding than to the next.
view_ : str
    "plain": the samples were centred and scaled as `center` and `normalize` say.
subspaces_ : list of Bunch
    One record a cluster, in the features of X: mean, basis (dim × d, orthonormal rows), dim, explained, size.
n_iter_ : int
    Iterations of the solver (of its last round, where there are several).
n_rounds_ : int
    Rounds of representing and labelling; 1 for all but `SoftS3C`.
history_ : list of dict
    One record a round: objective, residuals, seconds.
n_features_in_ : int
    Features of the samples seen by `fit`.
"""

Class = TypeVar("Class", bound=type[Any])


def documented(cls: Class) -> Class:
    """Fill the two marks of a class docstring."""
    defaults = {name: one.default for name, one in inspect.signature(cls).parameters.items()}
    text = inspect.cleandoc(cls.__doc__ or "")
    text = text.replace("{shared parameters}", _SHARED_PARAMETERS.strip().format(**defaults))
    text = text.replace("{shared attributes}", _SHARED_ATTRIBUTES.strip())
    cls.__doc__ = textwrap.indent(text, "    ").strip() + "\n    "
    return cls
