"""Everything that is public, found by the `__all__` of the modules that people import from."""

from __future__ import annotations

import inspect
from importlib import import_module

from sklearn.utils.metaestimators import available_if

MODULES = (
    "masked_subspace",
    "masked_subspace.baselines",
    "masked_subspace.bench",
    "masked_subspace.cli",
    "masked_subspace.datasets",
    "masked_subspace.distributed",
    "masked_subspace.inputs",
    "masked_subspace.masks",
    "masked_subspace.metrics",
    "masked_subspace.parallel",
    "masked_subspace.plots",
    "masked_subspace.preprocessing",
    "masked_subspace.registry",
    "masked_subspace.report",
)
# What an example needs besides the package itself.
NEEDS = {
    "masked_subspace.baselines.AutoencoderEDSC": "torch",
    "masked_subspace.distributed": "distributed",
    "masked_subspace.plots": "matplotlib",
    "masked_subspace.preprocessing.Scattering": "kymatio",
}


# Methods that a class holds as something other than a function.
_OTHER_METHODS = (property, classmethod, staticmethod, type(available_if(bool)(len)))


def public_objects():
    """Classes and functions by their full names."""
    found = {}
    for module_name in MODULES:
        module = import_module(module_name)
        for name in module.__all__:
            one = getattr(module, name)
            if inspect.isclass(one) or inspect.isfunction(one):
                found[f"{module_name}.{name}"] = one
    return found


def public_methods():
    """Methods and properties of our classes by their full names.

    One that several classes inherit counts for the first; one without a docstring has that of the method it overrides,
    as `help` shows it.
    """
    found, seen = {}, set()
    for path, cls in public_objects().items():
        for name in dir(cls) if inspect.isclass(cls) else ():
            base = next((one for one in cls.__mro__ if name in vars(one)), type)
            one = vars(base).get(name)
            ours = base.__module__.startswith("masked_subspace") and not name.startswith("_")
            is_method = inspect.isfunction(one) or isinstance(one, _OTHER_METHODS)
            if not (ours and is_method) or id(one) in seen:
                continue
            seen.add(id(one))
            if one.__doc__ is not None or not any(name in vars(other) for other in base.__mro__[1:]):
                found[f"{path}.{name}"] = getattr(cls, name)
    return found


def needed_package(path):
    """The optional package without which the example of `path` cannot run, or None."""
    return next((package for start, package in NEEDS.items() if path.startswith(start)), None)
