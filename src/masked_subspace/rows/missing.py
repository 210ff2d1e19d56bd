"""Samples with unknown entries: estimated from the subspaces that the samples lie in, before anything is clustered.

Rounds that alternate between codes and unknown entries, as in "Sparse subspace clustering for data with missing entries
and high-rank matrix completion" (Neural Networks 2017) and arXiv 1709.01467; no clusters take part, so that a wrong
cluster cannot fix a wrong value:

1. a low-rank table (rows/missing_low_rank.py);
2. for each row the nearest by its observed part, among the rows as they are now estimated;
3. its unknown entries from these rows and the principal directions, by codes fitted to its observed entries
   (rows/missing_rows.py); again from 2 with the better table.

How low the rank, how far neighbours count more than principal directions, how many of them, how much of a row is noise,
and how many rounds, is decided without labels: some observed entries are hidden, and what rebuilds them best is taken.
A round that does not help is not played; if nothing rebuilds hidden entries better than the mean of their feature, that
mean is what unknown entries get.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from masked_subspace._common.types import BoolArray, FloatArray, IntArray
from masked_subspace.rows.checks import SeenRows
from masked_subspace.rows.missing_low_rank import completed_by_rank, leading_directions
from masked_subspace.rows.missing_rows import Asked, Atoms, Setting, estimates, nearest_by_observed

# Entries are hidden in so many rows at most, this share of the observed ones.
_TRIED_ROWS, _HIDDEN = 100, 0.15
_NEAREST = (10, 30)
_SETTINGS = tuple(
    Setting(share, count, noise)
    for share, count, noise in product((0.0, 0.5, 0.9, 1.0), _NEAREST, (0.003, 0.03, 0.3))
    if share > 0 or count == _NEAREST[0]
)
# Rounds at most, and by how much one must lower the error to be played.
_ROUNDS, _WORTHWHILE = 6, 0.99
# The spread of a feature counts as at least this share of the root mean square of all spreads.
_LEAST_SPREAD = 0.1


@dataclass(frozen=True)
class Plan:
    """What hidden entries chose: the low rank's length, the rounds, the setting for new rows, the error left.

    The error is the root mean square of what was not rebuilt, 1 for the means of the features.
    """

    n_prices: int
    rounds: tuple[Setting, ...]
    of_new_rows: Setting | None
    error: float


@dataclass(frozen=True)
class Frame:
    """Where zero and one of each feature lie: its mean and spread over the observed entries.

    A feature of which `fit` saw no value has no spread: it is zero in every row, and values of it in new rows are
    unknown.
    """

    mean: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: FloatArray, observed: BoolArray) -> Frame:
        count = np.maximum(observed.sum(axis=0), 1)
        mean = np.where(observed, X, 0).sum(axis=0, dtype=np.float64) / count
        square = np.where(observed, (X - mean) ** 2, 0).sum(axis=0, dtype=np.float64) / count
        # Features in different units weigh the same, but one that hardly varies is not blown up.
        least = _LEAST_SPREAD * float(np.sqrt(np.mean(square))) or 1.0
        scale = np.where(observed.any(axis=0), np.maximum(np.sqrt(square), least), 0)
        return cls(mean.astype(X.dtype), scale.astype(X.dtype))

    def observed(self, X: FloatArray) -> BoolArray:
        """Which entries say something."""
        said: BoolArray = ~np.isnan(X) & (self.scale > 0)
        return said

    def inside(self, X: FloatArray, observed: BoolArray) -> FloatArray:
        """Rows in units of the spread, zeros where unknown."""
        values: FloatArray = np.where(observed, (X - self.mean) / np.where(self.scale > 0, self.scale, 1), 0)
        return values

    def outside(self, values: FloatArray) -> FloatArray:
        """Rows in the units of X."""
        rows: FloatArray = values * self.scale + self.mean
        return rows


@dataclass
class _Table:
    """The rows in their frame as they are estimated now; unknown entries change from round to round."""

    values: FloatArray  # zeros where unknown
    observed: BoolArray
    n_threads: int
    estimate: FloatArray
    directions: FloatArray

    @classmethod
    def start(
        cls,
        values: FloatArray,
        observed: BoolArray,
        seed: int,
        n_threads: int,
        *,
        n_prices: int = 0,
        error: Callable[[FloatArray], float] | None = None,
    ) -> tuple[_Table, int]:
        low_rank = completed_by_rank(values, observed, seed=seed, n_prices=n_prices, error=error)
        return cls(values, observed, n_threads, low_rank.table, low_rank.directions), low_rank.n_prices

    def atoms(self) -> Atoms:
        self.directions, singular = leading_directions(self.estimate, self.directions)
        lengths = (singular / np.sqrt(len(self.estimate))).astype(self.values.dtype)
        variance = float(np.sum(self.values.astype(np.float64) ** 2) / max(1, self.observed.sum()))
        return Atoms(self.estimate, (self.directions * lengths).T, variance or 1.0)

    def asked(self, rows: IntArray, wanted: BoolArray) -> Asked:
        return Asked(self.values[rows], self.observed[rows], wanted, rows)

    def errors(self, rows: IntArray, hidden: BoolArray, truth: FloatArray, atoms: Atoms) -> list[float]:
        """Root mean square error of the hidden entries of some rows for every setting."""
        asked = self.asked(rows, hidden)
        nearest = nearest_of(asked, atoms)
        squares = np.zeros(len(_SETTINGS))
        for found, row, of_row in zip(
            estimates(asked, atoms, nearest, _SETTINGS, self.n_threads), truth, hidden, strict=True
        ):
            squares += [float(np.sum((one - row[of_row]) ** 2)) for one in found]
        return list(np.sqrt(squares / hidden.sum()))

    def play(self, setting: Setting, atoms: Atoms) -> None:
        """One round: all unknown entries anew."""
        rows = np.flatnonzero(~self.observed.all(axis=1))
        asked = self.asked(rows, ~self.observed[rows])
        found = estimates(asked, atoms, nearest_of(asked, atoms), [setting], self.n_threads)
        table = self.estimate.copy()
        for row, wanted, (values,) in zip(rows, asked.wanted, found, strict=True):
            table[row, wanted] = values
        self.estimate = table


def nearest_of(asked: Asked, atoms: Atoms) -> IntArray:
    """As many of the nearest rows as any setting wants."""
    others = len(atoms.rows) - (asked.own is not None)
    return nearest_by_observed(asked, atoms.rows, min(max(_NEAREST), others))


def chosen_plan(values: FloatArray, observed: BoolArray, seed: int, n_threads: int) -> Plan:
    """What rebuilds hidden entries best."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(len(values), min(len(values), _TRIED_ROWS), replace=False))
    hidden = observed[rows] & (rng.random((len(rows), values.shape[1])) < _HIDDEN)
    # A row keeps at least one entry.
    hidden[observed[rows].sum(axis=1) == hidden.sum(axis=1)] = False
    if not hidden.any():
        return Plan(0, (), None, 1.0)
    truth = values[rows]
    seen = observed.copy()
    seen[rows] &= ~hidden
    of_means = float(np.sqrt(np.mean(truth[hidden] ** 2))) or 1.0

    def error(table: FloatArray) -> float:
        return float(np.sqrt(np.mean((table[rows][hidden] - truth[hidden]) ** 2)))

    table, n_prices = _Table.start(np.where(seen, values, 0), seen, seed, n_threads, error=error)
    lowest, played, best = error(table.estimate), [], None
    for _ in range(_ROUNDS):
        atoms = table.atoms()
        errors = table.errors(rows, hidden, truth, atoms)
        best = _SETTINGS[int(np.argmin(errors))] if min(errors) < of_means else best
        if min(errors) > _WORTHWHILE * lowest or best is None:
            break
        lowest = min(errors)
        played.append(best)
        table.play(best, atoms)
    return Plan(n_prices, tuple(played), best, lowest / of_means)


@dataclass(frozen=True)
class Completion:
    """What was learnt from the rows of `fit`: how unknown entries of any row are estimated."""

    frame: Frame
    plan: Plan
    atoms: Atoms
    n_missing: int
    known_rows: SeenRows  # the rows of fit as given, with their unknown entries
    n_threads: int

    @classmethod
    def learn(cls, X: FloatArray, *, seed: int, n_threads: int) -> Completion:
        """X with NaN where unknown; no row may be unknown as a whole."""
        observed = ~np.isnan(X)
        frame = Frame.of(X, observed)
        values = frame.inside(X, observed)
        plan = chosen_plan(values, observed, seed, n_threads)
        table, _ = _Table.start(values, observed, seed, n_threads, n_prices=plan.n_prices)
        for setting in plan.rounds:
            table.play(setting, table.atoms())
        known = SeenRows.of(_with_one_nan(X))
        return cls(frame, plan, table.atoms(), int((~observed).sum()), known, n_threads)

    def apply(self, X: FloatArray) -> FloatArray:
        """Rows without unknown entries; a row of `fit` gets what it got there."""
        observed = self.frame.observed(X)
        rows = np.flatnonzero(~observed.all(axis=1))
        if len(rows) == 0:
            return X
        filled = X.copy()
        known = self.known_rows.find(_with_one_nan(X[rows]))
        seen, new = known >= 0, rows[known < 0]
        estimate = np.zeros((len(rows), X.shape[1]), dtype=self.atoms.rows.dtype)
        estimate[seen] = self.atoms.rows[known[seen]]
        if self.plan.of_new_rows is not None and len(new):
            asked = Asked(self.frame.inside(X[new], observed[new]), observed[new], np.ones_like(observed[new]))
            nearest = nearest_of(asked, self.atoms)
            found = estimates(asked, self.atoms, nearest, [self.plan.of_new_rows], self.n_threads)
            estimate[~seen] = [one for (one,) in found]
        unknown = ~observed[rows]
        filled[rows] = np.where(unknown, self.frame.outside(estimate), X[rows])
        return filled


def _with_one_nan(X: FloatArray) -> FloatArray:
    """NaN comes in many bit patterns, and rows are recognised by their bits."""
    rows: FloatArray = np.where(np.isnan(X), X.dtype.type(np.nan), X)
    return rows


def refuse_unknown_rows(X: FloatArray) -> None:
    """Rows of which nothing is known."""
    empty = np.flatnonzero(np.isnan(X).all(axis=1))
    if len(empty):
        raise ValueError(
            f"X has {len(empty)} row(s) without any value, first row {empty[0]}; nothing is known about such a sample: "
            "remove it."
        )


def warn_of_unknown_features(X: FloatArray) -> None:
    """Features of which nothing is known: they are the same for all samples, so they decide nothing."""
    empty = np.flatnonzero(np.isnan(X).all(axis=0))
    if len(empty):
        warnings.warn(
            f"X has {len(empty)} feature(s) without any value, first column {empty[0]}; they are left out of account.",
            UserWarning,
            stacklevel=4,
        )
