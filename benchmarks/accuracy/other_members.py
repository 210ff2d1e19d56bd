"""Would RMSC's consensus gain from members of another kind, from resampling, margins, or a stronger mask?

    python benchmarks/accuracy/other_members.py --results other_members.jsonl --trials 5
    python benchmarks/accuracy/other_members.py --results other_members.jsonl --table

One default fit a trial; every variant adds to the votes of its last round or weighs them, and cuts the consensus again.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from neighbours import neighbour_graph
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from accuracy import SETS, table
from masked_subspace import GMSC, RMSC
from masked_subspace.baselines import LSR
from masked_subspace.datasets import load_protocol
from masked_subspace.label.agreement import consensus_embedding
from masked_subspace.label.kmeans import cluster_means, cluster_rows, squared_distances
from masked_subspace.label.labeler import Evidence, label_graph
from masked_subspace.masks import ConsensusMask
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rows.preparation import Preparation, View

sys.path.append(str(Path(__file__).parents[1]))
from records import append_record, load_records

Votes = list[Any]


class Trial:
    """A default fit, its rows in the view it picked, and its votes."""

    def __init__(self, X: Any, k: int, seed: int) -> None:
        self.X, self.k, self.seed = X, k, seed
        self.model = RMSC(k, random_state=seed, n_jobs=1).fit(X)
        view = self.model.view_
        whitening = 0.0 if isinstance(view, str) else view
        prepare = Preparation.learn(X, View("picked", root=view == "root", whitening=whitening))
        self.rows = prepare.apply(X)
        self.votes: Votes = list(self.model.member_labels_)

    def cut(self, votes: Votes) -> Any:
        return cluster_rows(consensus_embedding(votes, self.k), self.k, self.seed)


def neighbour_votes(trial: Trial) -> Votes:
    evidence = Evidence(trial.rows)
    return [
        label_graph(neighbour_graph(trial.rows, k, 1), trial.k, "auto", evidence, trial.seed, n_init=5).labels
        for k in (3, 4, 5)
    ]


def lsr_votes(trial: Trial) -> Votes:
    settings = {"affinity": "top-k", "n_links": 4, "n_components": "auto", "random_state": trial.seed, "n_jobs": 1}
    return [LSR(trial.k, ridge=ridge, **settings).fit_predict(trial.rows) for ridge in (0.01, 0.1, 1.0)]


def mixture_votes(trial: Trial) -> Votes:
    votes = []
    for parts in (10, 20, 40):
        rows = PCA(parts, random_state=trial.seed).fit_transform(trial.rows)
        mixture = GaussianMixture(trial.k, covariance_type="diag", reg_covar=1e-4, random_state=trial.seed)
        votes.append(mixture.fit_predict(rows.astype(np.float64)))
    return votes


def feature_votes(trial: Trial) -> Votes:
    """Members that see two thirds of the features each."""
    rng = np.random.default_rng(trial.seed)
    width = trial.rows.shape[1]
    chosen = [np.sort(rng.choice(width, 2 * width // 3, replace=False)) for _ in range(3)]
    return [_gmsc(trial).fit_predict(np.ascontiguousarray(trial.rows[:, one])) for one in chosen]


def sample_votes(trial: Trial) -> Votes:
    """Members that see four fifths of the samples each and predict the others."""
    rng = np.random.default_rng(trial.seed)
    votes = []
    for _ in range(3):
        seen = np.sort(rng.choice(len(trial.rows), 4 * len(trial.rows) // 5, replace=False))
        votes.append(_gmsc(trial).fit(trial.rows[seen]).predict(trial.rows))
    return votes


def _gmsc(trial: Trial) -> GMSC:
    return GMSC(trial.k, solver="sparse", n_links=4, random_state=trial.seed, n_jobs=1)


def added(more: Callable[[Trial], Votes]) -> Callable[[Trial], Any]:
    return lambda trial: trial.cut(trial.votes + more(trial))


def margin_weighted(trial: Trial) -> Any:
    """k-means in the consensus embedding in which a sample weighs as it stands apart from the second-nearest centre."""
    embedding = consensus_embedding(trial.votes, trial.k)
    labels = cluster_rows(embedding, trial.k, trial.seed)
    for _ in range(10):
        distance = squared_distances(embedding, cluster_means(embedding, labels, trial.k))
        nearest = np.sort(distance, axis=1)[:, :2]
        margin = 1 - nearest[:, 0] / np.maximum(nearest[:, 1], 1e-12)
        centres = cluster_means(embedding, labels, trial.k, weights=margin)
        labels = squared_distances(embedding, centres).argmin(axis=1)
    return labels


def stronger_round(trial: Trial) -> Any:
    """A third round under a mask of strength 9 in place of 3."""
    model = RMSC(trial.k, init=ConsensusMask(trial.votes, 9.0), max_rounds=1, view=trial.model.view_, n_jobs=1)
    return model.set_params(random_state=trial.seed).fit_predict(trial.X)


VARIANTS: dict[str, Callable[[Trial], Any]] = {
    "default": lambda trial: trial.model.labels_,
    "3 k-NN graphs more": added(neighbour_votes),
    "3 LSR members more": added(lsr_votes),
    "3 Gaussian mixtures more": added(mixture_votes),
    "3 members on ⅔ of the features more": added(feature_votes),
    "3 members on ⅘ of the samples more": added(sample_votes),
    "samples weighed by their margin": margin_weighted,
    "third round, mask strength 9": stronger_round,
}


def run(results: Path, sets: list[str], trials: range) -> None:
    done = {(r["variant"], r["set"], r["trial"]) for r in load_records(results)}
    for number in trials:
        for name in sets:
            missing = [variant for variant in VARIANTS if (variant, name, number) not in done]
            if not missing:
                continue
            data = load_protocol(name, number)
            trial = Trial(data.data.astype(np.float32), SETS[name], number)
            for variant in missing:
                began = time.process_time()
                accuracy = clustering_accuracy(data.target, VARIANTS[variant](trial))
                record = {"variant": variant, "set": name, "trial": number, "accuracy": accuracy}
                append_record(results, record | {"cpu": time.process_time() - began})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=["mnist-1000", "usps-1000", "orl", "coil20"])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="print what is there and stop")
    given = parser.parse_args()
    if given.table:
        print(table(given.results, VARIANTS))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(given.results, given.sets, range(given.trials))


if __name__ == "__main__":
    main()
