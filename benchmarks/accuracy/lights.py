"""Faces that do not exist under many lights: RMSC beside other methods, on images that are generated.

    python benchmarks/accuracy/lights.py --draws 3

A face is a smooth height and a smooth albedo, most of both common to all faces. A light from a direction l shines on it
with albedo × max(0, ⟨normal, l⟩), which leaves its images near a subspace of nine dimensions (Basri and Jacobs 2003);
each image may be moved by a pixel. The size of the ridge (rows/preparation.py) was chosen with images like these in
sight.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.cluster import KMeans

from masked_subspace import RMSC
from masked_subspace.baselines import LSR, SSC, EnSC
from masked_subspace.metrics import clustering_accuracy

SIDE = 32
# Faces, images of each, how much of a face is its own, most pixels that an image is moved by.
CASES = ((10, 60, 0.5, 0), (20, 30, 0.3, 0), (15, 11, 0.5, 0), (10, 21, 0.4, 1), (20, 40, 0.4, 1), (15, 11, 0.5, 1))
METHODS: dict[str, Callable[[int], Any]] = {
    "RMSC": lambda k: RMSC(k, random_state=0),
    "LSR": lambda k: LSR(k, random_state=0),
    "SSC": lambda k: SSC(k, random_state=0),
    "EnSC": lambda k: EnSC(k, random_state=0),
    "k-means": lambda k: KMeans(k, n_init=10, random_state=0),
}


def faces(n_faces: int, images: int, own: float, shift: int, seed: int) -> tuple[Any, Any]:
    """Images as rows, from 0 to 255, and whose they are."""
    rng = np.random.default_rng(seed)

    def smooth(width: float) -> Any:
        field = gaussian_filter(rng.standard_normal((SIDE, SIDE)), width)
        return field / field.std()

    common_height, common_albedo = smooth(5) + 0.5 * smooth(3), 1 + 0.4 * smooth(3)
    X = []
    for _ in range(n_faces):
        height = common_height + own * smooth(4)
        albedo = np.clip(common_albedo + 0.5 * own * smooth(2), 0.1, None)
        down, right = np.gradient(3 * height)
        normal = np.stack([-right, -down, np.ones_like(right)], axis=-1)
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
        for _ in range(images):
            across, up = np.deg2rad(rng.uniform((-75, -40), (75, 60)))
            light = np.array([np.sin(across) * np.cos(up), np.sin(up), np.cos(across) * np.cos(up)])
            image = albedo * (np.maximum(normal @ light, 0) + 0.05)
            image = np.roll(image, rng.integers(-shift, shift + 1, 2), axis=(0, 1))
            X.append(np.clip(80 * (image + 0.01 * rng.standard_normal(image.shape)), 0, 255).ravel())
    return np.array(X), np.repeat(np.arange(n_faces), images)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| faces × images, own share, moved by | " + " | ".join(METHODS) + " | ways | RMSC, CPU s |")
    print("|---|" + "---|" * (len(METHODS) + 2))
    for n_faces, images, own, shift in CASES:
        found: dict[str, list[float]] = {name: [] for name in METHODS}
        ways, seconds = [], []
        for draw in range(options.draws):
            X, y = faces(n_faces, images, own, shift, draw)
            for name, method in METHODS.items():
                started = time.process_time()
                model = method(n_faces).fit(X)
                found[name].append(100 * clustering_accuracy(y, model.labels_))
                if name == "RMSC":
                    seconds.append(time.process_time() - started)
                    ways.append(next(one["way"] for one in model.choices_ if one["taken"]))
        cells = " | ".join(f"{np.mean(one):.1f} ± {np.std(one):.1f}" for one in found.values())
        named = ", ".join(f"{way} {ways.count(way)}" for way in dict.fromkeys(ways))
        title = f"{n_faces} × {images}, {own}, {shift}"
        print(f"| {title} | {cells} | {named} | {np.mean(seconds):.1f} |", flush=True)


if __name__ == "__main__":
    main()
