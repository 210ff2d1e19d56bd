"""A convolutional autoencoder in PyTorch (extra `deep`), trained alone on a set of images."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from masked_subspace._common.types import FloatArray
from masked_subspace.baselines.result import Progress


class DeepExtraMissingError(ImportError):
    """PyTorch is not installed."""


def import_torch() -> Any:
    """PyTorch, or an error that says how to get it."""
    try:
        import torch
    except ImportError as error:
        raise DeepExtraMissingError(
            'AutoencoderEDSC needs PyTorch, which is not installed; get it with: pip install "masked-subspace[deep]"'
        ) from error
    return torch


@dataclass(frozen=True)
class AutoencoderSettings:
    """Architecture and training. Every layer is a convolution with stride 2 and a ReLU."""

    filters: tuple[int, ...] = (15,)
    kernel_sizes: tuple[int, ...] = (3,)
    max_epochs: int = 300
    batch_size: int = 256
    learning_rate: float = 1e-3
    patience: int = 20
    min_improvement: float = 1e-3

    def __post_init__(self) -> None:
        if len(self.kernel_sizes) != len(self.filters):
            raise ValueError(
                f"kernel_sizes has {len(self.kernel_sizes)} entries but filters has {len(self.filters)}; "
                "give one for each layer."
            )
        for size in self.kernel_sizes:
            if size % 2 == 0:
                raise ValueError(f"kernel_sizes contains {size}; sizes must be odd, so that a kernel has a centre.")


@dataclass(frozen=True)
class TrainedCodes:
    """The code of every image, flattened, and the loss of every epoch."""

    codes: FloatArray
    losses: list[float] = field(default_factory=list)
    stopped_early: bool = False


def infer_image_shape(n_features: int, image_shape: tuple[int, int] | None) -> tuple[int, int]:
    """The given shape, else a square if there is one, else a single line of pixels."""
    if image_shape is not None:
        height, width = image_shape
        if height * width != n_features:
            raise ValueError(
                f"image_shape is {tuple(image_shape)}, which has {height * width} pixels, but X has {n_features} "
                "features; give the (height, width) of the images in X."
            )
        return int(height), int(width)
    side = math.isqrt(n_features)
    return (side, side) if side * side == n_features else (1, n_features)


def build_autoencoder(torch: ModuleType, settings: AutoencoderSettings) -> tuple[Any, Any]:
    """Encoder and mirrored decoder; the decoder's output is cut to the image's size afterwards."""
    channels = (1, *settings.filters)
    encoder: list[Any] = []
    decoder: list[Any] = []
    for before, after, size in zip(channels[:-1], channels[1:], settings.kernel_sizes, strict=True):
        encoder += [torch.nn.Conv2d(before, after, size, stride=2, padding=size // 2), torch.nn.ReLU()]
        mirrored = torch.nn.ConvTranspose2d(after, before, size, stride=2, padding=size // 2, output_padding=1)
        decoder = [mirrored, torch.nn.ReLU(), *decoder]
    return torch.nn.Sequential(*encoder), torch.nn.Sequential(*decoder)


def train_codes(
    X: FloatArray,
    image_shape: tuple[int, int],
    settings: AutoencoderSettings,
    seed: int,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> TrainedCodes:
    """Train on the images by their reconstruction error, stop when it no longer falls, and encode them.

    The same seed gives the same codes; the global random state of PyTorch and its number of threads are put back.
    """
    torch = import_torch()
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(n_threads)
        try:
            return _train(torch, X, image_shape, settings, seed, progress)
        finally:
            torch.set_num_threads(threads)


def _train(
    torch: ModuleType,
    X: FloatArray,
    image_shape: tuple[int, int],
    settings: AutoencoderSettings,
    seed: int,
    progress: Progress | None,
) -> TrainedCodes:
    height, width = image_shape
    scale = float(np.abs(X).max()) or 1.0
    images = torch.from_numpy((X / scale).astype(np.float32)).reshape(len(X), 1, height, width)
    encoder, decoder = build_autoencoder(torch, settings)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=settings.learning_rate)
    order = np.random.default_rng(seed)
    losses: list[float] = []
    best, waited = np.inf, 0
    while len(losses) < settings.max_epochs and waited < settings.patience:
        total = 0.0
        for batch in np.array_split(order.permutation(len(X)), math.ceil(len(X) / settings.batch_size)):
            target = images[torch.from_numpy(batch)]
            rebuilt = decoder(encoder(target))[:, :, :height, :width]
            loss = ((rebuilt - target) ** 2).sum()
            optimizer.zero_grad()
            (loss / len(batch)).backward()
            optimizer.step()
            total += float(loss.detach())
        losses.append(total / len(X))
        # Only a fall that can be seen counts, so that training does not creep on for ever.
        improved = losses[-1] < best * (1 - settings.min_improvement)
        waited = 0 if improved else waited + 1
        best = min(best, losses[-1])
        if progress is not None:
            progress(len(losses), losses[-1])
    with torch.no_grad():
        codes = encoder(images).reshape(len(X), -1).numpy().astype(X.dtype)
    return TrainedCodes(codes, losses, waited >= settings.patience)
