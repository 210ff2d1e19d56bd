"""A run in a folder: what `cluster` writes as one unit, and reading it back so that its report can be made again.

`result.json` is the seal: it is written last, names the run, holds the check sum of every other file and one of itself.
A folder whose files do not agree with it (a run that was killed, files of two runs, a flipped bit) is not read, and of
the files in it only those that it vouches for are ever replaced.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, save_npz

from masked_subspace._common.files import FileError, write_text, write_with
from masked_subspace._common.together import held, refuse_foreign, written_together
from masked_subspace._common.types import Record, RecordView
from masked_subspace.inputs import InputError
from masked_subspace.inputs.text import cell_text
from masked_subspace.inputs.zipped import ZippedArrays
from masked_subspace.report.encoding import finite
from masked_subspace.report.page import is_page
from masked_subspace.report.record import ReportContent
from masked_subspace.report.stored import checked_graph, decoded, encoded

SEAL = "result.json"
PAGE = "report.html"
FILES = ("labels.csv", "affinity.npz", "details.npz", PAGE, SEAL)
_LARGEST_IMAGES = 64_000_000  # bytes of pixels that details.npz may carry
_LARGEST_JSON = 500_000_000


class IncompleteRunError(InputError, FileError):
    """A folder that holds no complete run."""


def labels_csv(content: ReportContent) -> str:
    """One line a sample: its name or number, its cluster, the certainty, and its class where it is known."""
    run = content.runs[0]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    known = content.target is not None
    writer.writerow(["sample", "cluster", "certainty", *(["class"] if known else [])])
    for row, (cluster, certainty) in enumerate(zip(run.labels.tolist(), run.certainty.tolist(), strict=True)):
        name = cell_text(str(content.names[row])) if content.names is not None else row
        truth = [cell_text(_class_name(content, row))] if known else []
        writer.writerow([name, cluster, f"{certainty:.4f}", *truth])
    return text.getvalue()


def _class_name(content: ReportContent, row: int) -> str:
    assert content.target is not None
    code = int(content.target[row])
    return content.class_names[code] if content.class_names is not None else str(code)


def save_run(folder: Path, content: ReportContent, result: RecordView, page: str | None = None) -> list[Path]:
    """Write labels.csv, affinity.npz, details.npz, the page if there is one, and result.json, all of them or none."""
    run = content.runs[0]
    with written_together(folder, SEAL, FILES, _doubt) as aside:
        written = [
            write_text(aside / "labels.csv", labels_csv(content)),
            write_with(aside / "affinity.npz", lambda stream: save_npz(stream, csr_array(run.affinity))),
            write_with(aside / "details.npz", lambda stream: np.savez_compressed(stream, **_details(content))),
        ]
        if page is not None:
            written.append(write_text(aside / PAGE, page))
        sums = {path.name: _checksum(path.read_bytes()) for path in written}
        written.append(write_text(aside / SEAL, _sealed(result, sums)))
    return [folder / path.name for path in written]


def refuse_to_replace(folder: Path) -> None:
    """An error if a run in this folder would replace a file that none of ours wrote; said before hours of fitting."""
    refuse_foreign(folder, SEAL, FILES, _doubt)


def _doubt(path: Path, seals: Sequence[Path]) -> str:
    """What speaks against a file being written by a run that these seals speak of; "" if nothing does."""
    if path.is_symlink() or not path.is_file():
        return "that no run wrote"
    try:
        with path.open("rb") as stream:
            said = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        return f"that cannot be read ({error.strerror})"
    if path.name == SEAL:
        return "" if _sealed_file(path) else "that no run wrote"
    vouching = [result for result in map(_sealed_file, seals) if result]
    named = [result["checksums"][path.name] for result in vouching if path.name in result["checksums"]]
    if said in named or (path.name == PAGE and vouching and is_page(path)):  # `report` makes a page again
        return ""
    return "that was changed after a run wrote it" if named else "that no run wrote"


def sealed_result(folder: Path) -> Record | None:
    """What the run in a folder says of itself, without a look at its other files; None if there is no run."""
    return _sealed_file(folder / SEAL)


def _sealed_file(path: Path) -> Record | None:
    try:
        result = None if path.is_symlink() or not path.is_file() else _unsealed(path)
    except (OSError, ValueError, RecursionError):
        return None
    return result if result and isinstance(result.get("checksums"), dict) else None


def _sealed(result: RecordView, sums: Mapping[str, str]) -> str:
    body = {"run": uuid.uuid4().hex, **result, "checksums": dict(sums)}
    body = json.loads(to_json(body))
    return to_json({**body, "seal": _seal(body)})


def _seal(body: RecordView) -> str:
    return _checksum(json.dumps(body, sort_keys=True, ensure_ascii=True).encode("ascii"))


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def to_json(value: object) -> str:
    """Readable JSON; what is not finite becomes null."""
    return json.dumps(finite(value), indent=2, ensure_ascii=False) + "\n"


def _details(content: ReportContent) -> Record:
    """Everything the page needs but the final graph, which stands in a file of its own."""
    kept = replace(content, runs=(replace(content.runs[0], affinity=csr_array((0, 0))),))
    if content.images is not None and content.images.nbytes > _LARGEST_IMAGES:
        kept = replace(kept, images=None)
    arrays: Record = {}
    text = json.dumps(encoded(kept, arrays))
    return {"json": np.frombuffer(text.encode("utf-8"), dtype=np.uint8), **arrays}


def load_result(folder: Path) -> Record:
    """The sealed result.json of a complete run, its files compared with their check sums."""
    return _read_sealed(folder)[0]


def load_run(folder: Path) -> ReportContent:
    """Read back what `save_run` wrote."""
    _, files = _read_sealed(folder)
    try:
        with ZippedArrays(io.BytesIO(files["affinity.npz"]), str(folder / "affinity.npz")) as archive:
            parts = archive.read("data"), archive.read("indices"), archive.read("indptr")
            affinity = checked_graph(parts, archive.read("shape").tolist(), str(folder / "affinity.npz"))
        with ZippedArrays(io.BytesIO(files["details.npz"]), str(folder / "details.npz")) as archive:
            arrays = {key: archive.read(key) for key in archive.keys}
        content: ReportContent = decoded(json.loads(arrays.pop("json").tobytes()), arrays)
        content = replace(content, runs=(replace(content.runs[0], affinity=affinity),))
        _check_agreement(content)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise IncompleteRunError(f"{folder} is not a complete run of `masked-subspace cluster`: {error}") from error
    return content


def _read_sealed(folder: Path) -> tuple[Record, dict[str, bytes]]:
    try:
        with held(folder):
            result = _unsealed(folder / SEAL)
            names = [name for name in result["checksums"] if name != PAGE]  # a page may be made again
            if not set(names) >= {"labels.csv", "affinity.npz", "details.npz"} or not set(names) <= set(FILES):
                raise ValueError(f"{SEAL} does not name the files of a run")
            files = {name: _plain_file(folder / name).read_bytes() for name in names}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IncompleteRunError(f"{folder} is not a complete run of `masked-subspace cluster`: {reason}") from error
    for name, content in files.items():
        if _checksum(content) != result["checksums"][name]:
            raise IncompleteRunError(
                f"{folder} is not a complete run of `masked-subspace cluster`: {name} is not the file that this run "
                "wrote (edited, damaged or of another run); run `cluster` again"
            )
    return result, files


def _plain_file(path: Path) -> Path:
    if path.exists() and not path.is_file():  # a pipe would wait for ever
        raise ValueError(f"{path.name} is no plain file")
    return path


def _unsealed(path: Path) -> Record:
    if _plain_file(path).stat().st_size > _LARGEST_JSON:
        raise ValueError(f"{SEAL} is larger than any run makes it")
    result = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(result, dict) or "seal" not in result:
        raise ValueError(f"{SEAL} has no seal; it comes from an older version or another program: run `cluster` again")
    if _seal({key: value for key, value in result.items() if key != "seal"}) != result["seal"]:
        raise ValueError(f"{SEAL} was changed after it was written; run `cluster` again")
    return result


def _check_agreement(content: ReportContent) -> None:
    """Every part speaks of the same samples."""
    run = content.runs[0]
    n = len(run.labels)
    lengths = {"embedding": run.embedding, "certainty": run.certainty, "names": content.names,
               "target": content.target, "images": content.images}  # fmt: skip
    wrong = [name for name, part in lengths.items() if part is not None and len(part) != n]
    if run.affinity.shape != (n, n) or any(one.affinity.shape != (n, n) for one in run.rounds):
        wrong.append("affinity")
    if wrong:
        raise ValueError(f"{', '.join(wrong)} and labels speak of different numbers of samples")
    if not np.isfinite(run.affinity.data).all():
        raise ValueError("the graph holds values that are no numbers")
