"""Views: the ways in which rows can be prepared, by name.

Faces want their principal directions evened out, digits do not; pixel values are often better on a square-root scale;
tables want their features on one scale and an affine model; motions want no centring and a constant column; clouds of
points want their distances. Which view suits the data is decided without labels (rounds/judge.py). A new view is one
line here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

HALF = 0.5


@dataclass(frozen=True)
class View:
    """What happens to a row, in this order: square root, centring, scaling of each feature, a constant column, unit
    length, division of each principal direction by a power of its singular value, unit length."""

    name: str
    root: bool = False
    center: bool = True
    standardize: bool = False
    lift: bool = False
    constant: float = 1.0  # the constant column's length, in mean rows
    whitening: float = 0.0
    low_rank: bool = False
    by_distance: bool = False  # RMSC links a sample to its nearest here, in place of those that rebuild it

    def suits(self, *, nonnegative: bool) -> bool:
        """Whether data of this kind can be seen so."""
        return nonnegative or not self.root


_ALL = (
    View("plain"),
    View("root", root=True),
    View("whitened", whitening=HALF),
    View("uncentered", center=False),
    View("uncentered-root", root=True, center=False),
    View("uncentered-whitened", center=False, whitening=HALF),
    View("lifted", lift=True),
    View("standardized", standardize=True, lift=True),
    View("homogeneous", center=False, lift=True),
    View("homogeneous-whitened", center=False, lift=True, whitening=HALF),
    # Beside a long constant column the angle between unit rows is their distance.
    View("distance", lift=True, constant=3.0, by_distance=True),
    View("distance-standardized", standardize=True, lift=True, constant=3.0, by_distance=True),
    View("low-rank", center=False, lift=True, whitening=1.0, low_rank=True),
)
VIEWS: dict[str, View] = {view.name: view for view in _ALL}


def view_of(spec: float | str, *, center: bool) -> View:
    """The view that a parameter names: a name, or a whitening power between 0 and 1.

    `center=False` takes the centring out of "plain", "root" and the whitening powers; the other names say themselves
    whether they centre.
    """
    if isinstance(spec, str):
        view = VIEWS[spec]
        return replace(view, center=view.center and center) if spec in ("plain", "root", "whitened") else view
    power = float(spec)
    return View("plain" if power == 0 else f"whitened {power:g}", center=center, whitening=power)
