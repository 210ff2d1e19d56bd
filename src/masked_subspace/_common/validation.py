"""What scikit-learn uses to check parameters and samples: private there, so it is imported in this one place."""

from __future__ import annotations

from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import _check_n_features as check_n_features

__all__ = ["Interval", "InvalidParameterError", "StrOptions", "check_n_features"]
