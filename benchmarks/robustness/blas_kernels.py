"""Which kernels numpy's and scipy's BLAS take here, one name for both if they agree; `make test-cpus` asks.

An OpenBLAS that was built without the kernels of a CPU takes those of another one for it, and says so. A product is
computed, so that kernels with instructions that this machine does not have end the process.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info


def kernels() -> str:
    scipy.linalg.blas.dgemm(1.0, np.ones((300, 300)), np.eye(300)) + np.ones((300, 300)) @ np.eye(300)
    return "+".join(sorted({one["architecture"] for one in threadpool_info() if one.get("internal_api") == "openblas"}))


if __name__ == "__main__":
    print(kernels())
