"""scikit-learn's 8×8 digits: small, and always there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_digits

from masked_subspace.datasets.spec import DatasetSpec, ImageSet, PackageSource


def _locate() -> Path:
    return Path(sklearn.__file__).parent / "datasets" / "data" / "digits.csv.gz"


def _read(_path: Path) -> ImageSet:
    # scikit-learn knows its own file.
    X, y = load_digits(return_X_y=True)
    return ImageSet(X.astype(np.uint8), y.astype(np.int64), (8, 8), f"package scikit-learn {sklearn.__version__}")


DIGITS = DatasetSpec(
    name="digits",
    title="1,797 handwritten digits, 8×8, values 0..16: the test part of the UCI optical digits",
    reference="E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI, 1998",
    n_samples=1797,
    n_classes=10,
    shape=(8, 8),
    package=PackageSource("scikit-learn", _locate, _read, "the whole set"),
)
