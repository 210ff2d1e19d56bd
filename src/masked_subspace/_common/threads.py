"""How many threads a fit may use."""

from __future__ import annotations

import os

from joblib import cpu_count, effective_n_jobs


def thread_count(n_jobs: int | None) -> int:
    """`None` means all cores, as for scikit-learn's k-means, but no more than OMP_NUM_THREADS allows.

    joblib sets that variable in its worker processes, so a fit inside a grid search does not oversubscribe.
    """
    if n_jobs is not None:
        return max(1, int(effective_n_jobs(n_jobs)))
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(int(cpu_count()), int(allowed))) if allowed.isdigit() else max(1, int(cpu_count()))
