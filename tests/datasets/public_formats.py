"""The public files of each set, made from arrays: what a server would send."""

import bz2
import gzip
import io
import struct
import zipfile

import numpy as np


def idx(values):
    header = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    return gzip.compress(header + values.astype(np.uint8).tobytes(), compresslevel=1, mtime=0)


def mnist_files(images, labels, n_train):
    """``images`` n × 28 × 28."""
    return {
        "train-images-idx3-ubyte.gz": idx(images[:n_train]),
        "train-labels-idx1-ubyte.gz": idx(labels[:n_train]),
        "t10k-images-idx3-ubyte.gz": idx(images[n_train:]),
        "t10k-labels-idx1-ubyte.gz": idx(labels[n_train:]),
    }


def libsvm(values, labels):
    """``values`` −1..1 with three decimals, one-based indices and labels, zeros left out."""
    lines = []
    for row, label in zip(values, labels, strict=True):
        entries = " ".join(f"{i + 1}:{value:.3f}" for i, value in enumerate(row) if value)
        lines.append(f"{label + 1} {entries}\n")
    return bz2.compress("".join(lines).encode(), compresslevel=1)


def usps_files(values, labels, n_train):
    return {
        "usps.bz2": libsvm(values[:n_train], labels[:n_train]),
        "usps.t.bz2": libsvm(values[n_train:], labels[n_train:]),
    }


def olivetti_file(pictures):
    """``pictures`` 400 × 64 × 64, stored as MATLAB stores them: a picture a column, pixels column by column."""
    from scipy.io import savemat

    stream = io.BytesIO()
    savemat(stream, {"faces": pictures.transpose(0, 2, 1).reshape(len(pictures), -1).T, "p": np.zeros((1, 1))})
    return stream.getvalue()


def coil_archive(pictures, degrees_per_step):
    """``pictures`` objects × 72 × 128 × 128 (× 3)."""
    from PIL import Image

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number, views in enumerate(pictures, start=1):
            for view, picture in enumerate(views):
                content = io.BytesIO()
                Image.fromarray(picture).save(content, "PNG", compress_level=1)
                archive.writestr(f"coil/obj{number}__{view * degrees_per_step}.png", content.getvalue())
    return stream.getvalue()
