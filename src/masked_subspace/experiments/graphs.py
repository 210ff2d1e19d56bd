"""The graphs behind Table 3 and Figure 4: fitted once, kept in the database."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass

from scipy.sparse import csr_array, load_npz, save_npz

from masked_subspace._common.provenance import code_version
from masked_subspace.experiments.compute import fit_estimator, load_trial
from masked_subspace.experiments.results import Results, as_json
from masked_subspace.experiments.settings import FitSetting, resolve
from masked_subspace.registry import SettingError

DRAWN_METHODS = ("bmsc", "gmsc", "rmsc")


@dataclass(frozen=True)
class Graphs:
    """What a fit links: the paper's φ(Z) = (|Z| + |Z|ᵀ)/2, and the affinity that the fit itself cut."""

    paper_affinity: csr_array
    own_affinity: csr_array


def graphs_of(method: str, setting: str, dataset: str, results: Results, *, trial: int = 0, threads: int = 1) -> Graphs:
    """Fit, or take what was kept of an earlier time."""
    fit = resolve(setting, method, dataset)
    if fit is None:
        raise SettingError(f"--setting {setting} has nothing for {method} on {dataset}; choose paper or auto")
    key = _key(fit, dataset, trial)
    paper, own = results.artifact(key + "-paper"), results.artifact(key + "-own")
    if paper is None or own is None:
        data = load_trial(dataset, trial)
        estimator = fit_estimator(fit, data.X, data.n_clusters, trial, threads)
        Z = abs(csr_array(estimator.representation_matrix_))
        paper, own = _packed(csr_array((Z + Z.T) / 2)), _packed(csr_array(estimator.affinity_matrix_))
        results.store_artifact(key + "-paper", paper)
        results.store_artifact(key + "-own", own)
    return Graphs(_unpacked(paper), _unpacked(own))


def _key(fit: FitSetting, dataset: str, trial: int) -> str:
    determined_by = {"data": load_trial(dataset, trial).hash, "fit": fit.plain(), "seed": trial, "code": code_version()}
    return hashlib.sha256(as_json(determined_by).encode()).hexdigest()[:32]


def _packed(matrix: csr_array) -> bytes:
    stream = io.BytesIO()
    save_npz(stream, matrix)
    return stream.getvalue()


def _unpacked(content: bytes) -> csr_array:
    return csr_array(load_npz(io.BytesIO(content)))
