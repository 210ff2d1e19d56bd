"""A run in a folder: what `cluster` writes, and reading it back so that its report can be made again or compared."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, load_npz, save_npz

from masked_subspace._common.files import FileError, write_text, write_with
from masked_subspace.report.record import ReportContent, Round, Run

_LARGEST_IMAGES = 64_000_000  # bytes of pixels that details.npz may carry


def labels_csv(content: ReportContent) -> str:
    """One line a sample: its name or number, its cluster, the certainty, and its class where it is known."""
    run = content.runs[0]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    known = content.target is not None
    writer.writerow(["sample", "cluster", "certainty", *(["class"] if known else [])])
    for row, (cluster, certainty) in enumerate(zip(run.labels.tolist(), run.certainty.tolist(), strict=True)):
        name = content.names[row] if content.names is not None else row
        truth = [_class_name(content, row)] if known else []
        writer.writerow([name, cluster, f"{certainty:.4f}", *truth])
    return text.getvalue()


def _class_name(content: ReportContent, row: int) -> str:
    assert content.target is not None
    code = int(content.target[row])
    return content.class_names[code] if content.class_names is not None else str(code)


def save_run(folder: Path, content: ReportContent, result: Mapping[str, Any]) -> list[Path]:
    """Write labels.csv, affinity.npz, details.npz and, last, result.json: a folder with result.json is complete."""
    run = content.runs[0]
    return [
        write_text(folder / "labels.csv", labels_csv(content)),
        write_with(folder / "affinity.npz", lambda stream: save_npz(stream, run.affinity)),
        write_with(folder / "details.npz", lambda stream: np.savez_compressed(stream, **_details(content))),
        write_text(folder / "result.json", to_json(result)),
    ]


def to_json(value: Any) -> str:
    """Readable JSON; what is not finite becomes null."""
    return json.dumps(_plain(value), indent=2, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    return value


def _details(content: ReportContent) -> dict[str, Any]:
    run = content.runs[0]
    arrays: dict[str, Any] = {
        "labels": run.labels,
        "embedding": run.embedding.astype(np.float32),
        "certainty": run.certainty.astype(np.float32),
    }
    if content.target is not None:
        arrays["target"] = content.target
    texts = {"names": content.names, "class_names": content.class_names}
    for key, names in texts.items():
        if names is not None:  # as bytes of JSON: an array of texts is as wide as its longest
            arrays[key] = np.frombuffer(json.dumps(list(names)).encode("utf-8"), dtype=np.uint8)
    if content.images is not None and content.images.nbytes <= _LARGEST_IMAGES:
        arrays["images"] = content.images
    for number, one in enumerate(run.rounds):
        for part in ("data", "indices", "indptr"):
            arrays[f"round{number}_{part}"] = getattr(one.affinity, part)
    return arrays


def load_run(folder: Path) -> ReportContent:
    """Read back what `save_run` wrote."""
    try:
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        affinity = csr_array(load_npz(folder / "affinity.npz"))
        with np.load(folder / "details.npz", allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (OSError, ValueError, KeyError) as error:
        raise FileError(f"{folder} is not a complete run of `masked-subspace cluster`: {error}") from error
    run = Run(
        name=result["name"],
        labels=arrays["labels"],
        affinity=affinity,
        embedding=arrays["embedding"],
        certainty=arrays["certainty"],
        parameters=result["parameters"],
        rounds=_stored_rounds(arrays, affinity.shape[0]),
        history=tuple(result["history"]),
        scores=result["scores"],
        seconds=result["timings"]["fit"],
    )
    return ReportContent(
        title=result["title"],
        subtitle=result["subtitle"],
        facts=result["facts"],
        names=_texts(arrays, "names"),
        target=arrays.get("target"),
        class_names=_texts(arrays, "class_names"),
        images=arrays.get("images"),
        runs=(run,),
        notes=tuple(result["notes"]),
    )


def _stored_rounds(arrays: Mapping[str, Any], n: int) -> tuple[Round, ...]:
    rounds: list[Round] = []
    while f"round{len(rounds)}_data" in arrays:
        parts = tuple(arrays[f"round{len(rounds)}_{part}"] for part in ("data", "indices", "indptr"))
        rounds.append(Round(f"round {len(rounds) + 1}", csr_array(parts, shape=(n, n))))
    return tuple(rounds)


def _texts(arrays: Mapping[str, Any], key: str) -> list[str] | None:
    return json.loads(arrays[key].tobytes().decode("utf-8")) if key in arrays else None
