"""The pictures of the guide, each in a light and a dark version: python docs/pictures.py docs/_pictures [NAME …]

What is there already is not drawn again; delete the folder to draw it anew. Fits are made once for both themes.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from drawings import PICTURES, findings, kinds, questions, settings, start, understanding  # noqa: F401 (each adds its own)
from drawings.samples import digits, fitted
from sklearn.datasets import load_digits
from two_themes import style

from masked_subspace import RMSC
from masked_subspace.plots import THEMES


def sample_report(path: Path) -> None:
    """A report of digits, for the page that explains reports."""
    X, y = digits()
    images = (load_digits().images[: len(y)] * (255 / 16)).astype(np.uint8)
    fitted(RMSC, digits, 10).report(path, X, y=y, images=images, title="500 handwritten digits")


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # some pictures show settings that a fit warns of
    for name in sys.argv[2:] or PICTURES:
        for theme in THEMES:
            path = folder / f"{name}-{theme}.png"
            if not path.exists():
                with plt.rc_context(style(theme)):
                    PICTURES[name](theme).savefig(path, dpi=140)
                plt.close("all")
    if not (folder / "sample-report.html").exists():
        sample_report(folder / "sample-report.html")


if __name__ == "__main__":
    main()
