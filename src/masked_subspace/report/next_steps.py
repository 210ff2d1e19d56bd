"""What to try next, from what the graph and the certainties say of a clustering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from masked_subspace._common.types import Array
from masked_subspace.report.doubts import ClusterFacts, in_two_blocks, rivals
from masked_subspace.report.record import Run
from masked_subspace.report.scoring import in_clusters

GOOD, FAIR, POOR = "good", "fair", "poor"
UNSURE = 0.5  # a certainty below this is doubtful
EQUAL = 0.005  # certainties that differ by less are equal
NAMED = 6  # at most so many clusters are named one by one
# What is advised in the words of Python, in those of the command.
_AS_OPTIONS = {
    'n_clusters="auto"': "--clusters auto",
    "min_certainty": "--set min_certainty",
    "(must_link, cannot_link)": "(--pairs)",
    "random_state": "--seed",
    "another view": "another --set view",
}


def as_options(step: str) -> str:
    """An advice in the words of the command."""
    for name, option in _AS_OPTIONS.items():
        step = step.replace(name, option)
    return step


def certainty_in_clusters(run: Run) -> Array:
    """Certainties of the samples that are in a cluster; those of the others say nothing of the clusters."""
    return np.asarray(run.certainty[in_clusters(run.labels)])


def them(things: Sequence[str]) -> str:
    """How a sentence calls things that it named."""
    return "it" if len(things) == 1 else "them"


def takes_a_number(run: Run) -> bool:
    """Whether the method is told how many clusters to find."""
    return not run.parameters or bool({"n_clusters", "n_components"} & set(run.parameters))


def _ours(run: Run) -> bool:
    """A masked estimator, which has all that is advised."""
    return not run.parameters or "min_certainty" in run.parameters


def steps_without_clusters(run: Run, n_clusters: int) -> list[str]:
    """Where there is one cluster, or none."""
    if n_clusters:
        if _ours(run):
            return ['Ask for at least two clusters, or let the method choose with n_clusters="auto".']
        return ["Ask for at least two clusters." if takes_a_number(run) else "Try other settings of the method."]
    if _ours(run):
        return ["Lower min_certainty: every sample is below it."]
    return ["Try other settings of the method: with these it leaves every sample out."]


def next_steps(run: Run, tone: str, facts: Mapping[str, ClusterFacts], names: Sequence[str]) -> list[str]:
    """One sentence each, the most useful first."""
    steps = _about_borders(run, facts, names)
    others = [str(number) for number in run.n_clusters_candidates if number != len(facts)]
    if others:
        steps.append(f"Look at {' and '.join(others)} clusters too: nearly as much speaks for {them(others)}.")
    if tone != GOOD and not run.n_clusters_scores and takes_a_number(run):
        steps.append(
            'Let the number of clusters be chosen: n_clusters="auto".'
            if _ours(run)
            else "Try other numbers of clusters; BMSC, GMSC and RMSC can choose one."
        )
    if tone == FAIR and (not run.parameters or "random_state" in run.parameters):
        steps.append(
            "Fit once more with another random_state: clusters that come back can be relied on, the others not."
        )
    if tone == POOR:
        steps.append(
            f"Compare with {'k-means or another view' if _ours(run) else 'RMSC'} before using these labels; the data "
            "may have no such clusters."
        )
    sure = certainty_in_clusters(run)
    if float(np.mean(sure < UNSURE)) > 0.1:
        steps.append(
            f"Leave doubtful samples out with min_certainty={UNSURE}, or label some of the least certain ones."
            if _ours(run)
            else "Look at the least certain samples, and label some of them or leave them out."
        )
    if not steps and np.ptp(sure) < EQUAL:
        steps.append("Nothing speaks against these labels. Look at a few samples of each cluster before using them.")
    elif not steps:
        steps.append("Look at the least certain samples; if they look right, the labels can be used.")
    return steps


def _about_borders(run: Run, facts: Mapping[str, ClusterFacts], names: Sequence[str]) -> list[str]:
    """Clusters that look merged, and clusters that look torn."""
    close, split = rivals(facts, names), in_two_blocks(facts)
    ours, n_clusters = _ours(run), len(facts)
    pairs = "give known pairs (must_link, cannot_link)" if ours else "give known pairs to BMSC, GMSC or RMSC"
    if split and close:
        return [
            "Some clusters look merged and others torn: the number may be right and the borders wrong. Try "
            f"{'another view' if ours else 'another method'}, or {pairs}, first between clusters "
            f"{close[0][0]} and {close[0][1]}."
        ]
    if split:
        what = f"{n_clusters + len(split)} clusters" if takes_a_number(run) else "settings that divide more"
        many = "each" if len(split) > 1 else "clusters"
        rest = f" and {len(split) - NAMED} more" if len(split) > NAMED else ""
        return [f"Try {what}: {', '.join(split[:NAMED])}{rest} may be two {many}."]
    if close and n_clusters > 2:
        what = f"{n_clusters - 1} clusters" if takes_a_number(run) else "settings that divide less"
        return [f"Try {what}, or {pairs} between clusters {close[0][0]} and {close[0][1]}."]
    return []
