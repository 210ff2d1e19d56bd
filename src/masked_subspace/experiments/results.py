"""The results database: one SQLite file, one row a cell; several processes may fill it, any may be killed."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from masked_subspace._common.files import FileError, ensure_folder
from masked_subspace._common.types import Record, RecordView

DATABASE = "results.sqlite"
_VERSION = 1  # of the tables below; another number is another program's file
_TABLES = ("cells", "data", "artifacts")
_FOREIGN_CLAIM_SECONDS = 6 * 3600.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
  key TEXT PRIMARY KEY,           -- hash of: data, fit (method, all parameters), seed, clusters, code version
  loose_key TEXT NOT NULL,        -- the same without the code version
  dataset TEXT NOT NULL, trial INTEGER NOT NULL, data_hash TEXT NOT NULL, origin TEXT NOT NULL,
  method TEXT NOT NULL, fit TEXT NOT NULL, n_clusters INTEGER NOT NULL, seed INTEGER NOT NULL,
  code_version TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('claimed', 'done', 'failed')),
  claimed_by TEXT NOT NULL, claimed_at REAL NOT NULL,
  accuracy REAL, nmi REAL, bca REAL, seconds REAL, wall_seconds REAL, cpu_seconds REAL, peak_mb REAL,
  n_iter INTEGER, n_rounds INTEGER, labels BLOB, details TEXT, error TEXT,
  finished_at TEXT, provenance TEXT
);
CREATE INDEX IF NOT EXISTS cells_by_loose_key ON cells (loose_key, state);
CREATE TABLE IF NOT EXISTS data (
  dataset TEXT, trial INTEGER, hash TEXT NOT NULL, origin TEXT NOT NULL, PRIMARY KEY (dataset, trial)
);
CREATE TABLE IF NOT EXISTS artifacts (key TEXT PRIMARY KEY, content BLOB NOT NULL);
"""


def own_name() -> str:
    """Who claims: machine, process, and when it started, so that a number used again is not taken for us."""
    return f"{socket.gethostname()}:{os.getpid()}:{_start_of(os.getpid())}"


def _start_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "?"


def _is_alive(claimant: str) -> bool:
    """Whether the process behind a claim of this machine still runs."""
    _, pid, started = claimant.rsplit(":", 2)
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return started == "?" or _start_of(int(pid)) == started


class Results:
    """Reading and writing cells. Every write is one transaction: it is there completely or not at all."""

    def __init__(self, path: Path, patience: float = 60.0) -> None:
        ensure_folder(path.parent)
        self.path = path
        if path.exists() and not path.is_file():
            raise FileError(f"{path} is no plain file, so no results database; choose another --out")
        with self._explaining():
            self._connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
            self._connection.row_factory = sqlite3.Row
            try:
                self._begin()
            except BaseException:
                self._connection.close()
                raise

    def _begin(self) -> None:
        """Nothing is written before it is known whose file this is."""
        self._check_version()
        self._check_tables()
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.executescript(_SCHEMA)
        self._connection.execute(f"PRAGMA user_version={_VERSION}")

    def _check_version(self) -> None:
        (found,) = self._connection.execute("PRAGMA user_version").fetchone()
        if found not in (0, _VERSION):  # 0: a new file, or one from before versions were written
            raise FileError(
                f"{self.path} has version {found} of the results database, this program knows {_VERSION}; "
                "use the program that made it or choose another --out"
            )

    def _check_tables(self) -> None:
        """A file of another program holds other tables, or tables of our names with other columns."""
        names = {row[0] for row in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        foreign = sorted(name for name in names - set(_TABLES) if not name.startswith("sqlite_"))
        if foreign and not names.issuperset(_TABLES):
            raise FileError(
                f"{self.path} is no results database of this program: it holds the table {foreign[0]!r}; "
                "choose another --out"
            )
        with sqlite3.connect(":memory:") as fresh:
            fresh.executescript(_SCHEMA)
            for table in sorted(names.intersection(_TABLES)):
                wanted = {row[1] for row in fresh.execute(f"PRAGMA table_info({table})")}
                there = {row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")}
                if not wanted <= there:
                    raise FileError(
                        f"{self.path} is no results database of this program: its table {table} lacks "
                        f"{', '.join(sorted(wanted - there))}; choose another --out"
                    )

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """sqlite's errors as one line that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "locked" in text or "busy" in text:
                remedy = "another process is writing to it: wait for it or choose another --out"
            elif "malformed" in text or "not a database" in text or isinstance(error, sqlite3.IntegrityError):
                remedy = "the file is damaged: move it away and compute again, or choose another --out"
            elif "full" in text or "disk" in text:
                remedy = "free some space or choose another --out"
            else:
                remedy = "choose another --out"
            raise FileError(f"cannot use {self.path} as the results database: {text}; {remedy}") from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._explaining():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _rows(self, query: str, values: tuple[object, ...] = ()) -> list[sqlite3.Row]:
        with self._explaining():
            return self._connection.execute(query, values).fetchall()

    def claim(self, key: str, identity: RecordView, *, retry_failed: bool = False) -> bool:
        """Take a cell that nobody has; a claim whose process is gone counts as nobody's."""
        with self._writing() as connection:
            row = connection.execute("SELECT state, claimed_by, claimed_at FROM cells WHERE key = ?", (key,)).fetchone()
            if row is not None and not self._is_free(row, retry_failed):
                return False
            values = {**identity, "key": key, "state": "claimed", "claimed_by": own_name(), "claimed_at": time.time()}
            names = ", ".join(values)
            marks = ", ".join("?" for _ in values)
            connection.execute(f"INSERT OR REPLACE INTO cells ({names}) VALUES ({marks})", list(values.values()))
            return True

    @staticmethod
    def _is_free(row: sqlite3.Row, retry_failed: bool) -> bool:
        if row["state"] != "claimed":
            return bool(row["state"] == "failed" and retry_failed)
        if row["claimed_by"].split(":")[0] == socket.gethostname():
            return not _is_alive(row["claimed_by"])
        return bool(time.time() - row["claimed_at"] > _FOREIGN_CLAIM_SECONDS)

    def finish(self, key: str, outcome: RecordView) -> None:
        """Store what a claimed cell gave."""
        names = ", ".join(f"{name} = ?" for name in outcome)
        with self._writing() as connection:
            connection.execute(f"UPDATE cells SET {names} WHERE key = ?", [*outcome.values(), key])

    def release(self, key: str) -> None:
        """Give an unfinished claim back."""
        with self._writing() as connection:
            connection.execute("DELETE FROM cells WHERE key = ? AND state = 'claimed'", (key,))

    def get(self, key: str, loose_key: str | None = None) -> Record | None:
        """A finished or failed cell; with `loose_key` also one that other code computed, the newest first."""
        row = next(iter(self._rows("SELECT * FROM cells WHERE key = ?", (key,))), None)
        if (row is None or row["state"] != "done") and loose_key is not None:
            query = "SELECT * FROM cells WHERE loose_key = ? AND state = 'done' ORDER BY finished_at DESC LIMIT 1"
            row = next(iter(self._rows(query, (loose_key,))), row)
        return None if row is None or row["state"] == "claimed" else dict(row)

    def all_done(self) -> list[Record]:
        """Every finished cell."""
        return [dict(row) for row in self._rows("SELECT * FROM cells WHERE state = 'done' ORDER BY key")]

    def remember_data(self, dataset: str, trial: int, data_hash: str, origin: str) -> None:
        """Keep which samples a trial had, so that tables can be written without loading them."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO data VALUES (?, ?, ?, ?)", (dataset, trial, data_hash, origin))

    def known_data(self) -> dict[tuple[str, int], str]:
        """The hash of every trial seen so far."""
        rows = self._rows("SELECT dataset, trial, hash FROM data")
        return {(row["dataset"], row["trial"]): row["hash"] for row in rows}

    def artifact(self, key: str) -> bytes | None:
        """Stored bytes (the arrays behind Table 3 and the figures)."""
        row = next(iter(self._rows("SELECT content FROM artifacts WHERE key = ?", (key,))), None)
        return None if row is None else bytes(row["content"])

    def store_artifact(self, key: str, content: bytes) -> None:
        """Keep bytes under a key."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO artifacts VALUES (?, ?)", (key, content))

    def count(self, keys: Iterable[str]) -> int:
        """How many of these cells are over, well or badly."""
        rows = self._rows("SELECT key FROM cells WHERE state != 'claimed'")
        over = {row["key"] for row in rows}
        return sum(key in over for key in keys)


def as_json(value: object) -> str:
    """One spelling for one value: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
