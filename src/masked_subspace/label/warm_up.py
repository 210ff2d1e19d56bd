"""Both cuts of a small graph. A process beside a first fit runs this: it compiles the kernels of this folder while the
fit compiles those of the representation (_common/compilation.py)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from masked_subspace.label.graph import affinity_matrix
from masked_subspace.label.labeler import Evidence, label_graph

_SAMPLES = 400  # enough for the iterative eigensolver and for more than one level of communities


def cut_small_graph() -> None:
    """Cut a graph of eight groups by eigenvectors and by modularity."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(_SAMPLES), 8)
    columns = (rows + 8 * rng.integers(1, _SAMPLES // 8, len(rows))) % _SAMPLES
    links = csr_array((rng.random(len(rows)), (rows, columns)), shape=(_SAMPLES, _SAMPLES))
    W = affinity_matrix(links)
    evidence = Evidence(rng.random((_SAMPLES, 4)))
    for cut in ("spectral", "modularity"):
        label_graph(W, 8, "auto", evidence, 0, cut=cut)
