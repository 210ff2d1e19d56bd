"""Pictures of the benchmarks for the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def save_with_legend_below(figure: Any, axes: Any, path: Path, *, columns: int, room: float) -> None:
    """One legend for all axes, in the lowest `room` of the figure; written as PNG and as SVG."""
    entries = {
        label: handle for axis in axes.ravel() for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(entries.values(), entries.keys(), loc="lower center", ncols=columns, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, room, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_suffix(".png"), dpi=130)
    figure.savefig(path.with_suffix(".svg"))
