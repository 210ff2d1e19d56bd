"""The report's first words: how many clusters, how real, why so, what is doubtful, and what to try next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from masked_subspace._common.types import IntArray, Record, RecordView
from masked_subspace.label.modularity import modularity
from masked_subspace.report.doubts import ClusterFacts, examine
from masked_subspace.report.record import AGREEMENT, Run
from masked_subspace.rounds.defaults import DOUBTFUL_STRUCTURE

GOOD, FAIR, POOR = "good", "fair", "poor"
_STRUCTURE = (
    (0.6, GOOD, "stand out clearly"),
    (DOUBTFUL_STRUCTURE, FAIR, "are more than noise, but not clear-cut"),
    (0.0, POOR, "are hardly supported"),
)
_MODULARITY = (
    (0.6, GOOD, "are well apart in the graph"),
    (0.3, FAIR, "overlap in the graph"),
    (-1.0, POOR, "are hardly apart in the graph"),
)
_MODEL_WORDS = {
    "mixture": "the vote of Gaussian mixtures",
    "shared-mixture": "the vote of Gaussian mixtures of one shape",
    "topics": "the vote along the topics of its words",
}
# What is advised in the words of Python, in those of the command.
_AS_OPTIONS = {
    'n_clusters="auto"': "--clusters auto",
    "min_certainty": "--set min_certainty",
    "(must_link, cannot_link)": "(--pairs)",
    "random_state": "--seed",
    "another view": "another --set view",
}
_CLOSE = 0.02  # scores nearer than this are called a tie
_RIVAL = 0.25  # a cluster that sends this share of its links to one other is hard to tell from it
_UNSURE = 0.5  # a mean certainty below this makes a cluster doubtful
_MANY_UNSURE = 0.3  # a share of samples below that certainty which the headline mentions
_EQUAL = 0.005  # certainties that differ by less are equal
_NAMED = 6  # at most so many clusters are named one by one


def verdict(run: Run, others: Sequence[Run] = ()) -> Record:
    """`headline`, `tone`, `points` (title, text, tone) and `next`: plain texts, made from this run's numbers."""
    clusters, codes = np.unique(run.labels, return_inverse=True)
    names = [str(cluster) for cluster in clusters]
    assigned = clusters >= 0
    n_clusters = int(assigned.sum())
    if n_clusters < 2:
        return _of_one_cluster(n_clusters, examine(run.affinity, codes, run.certainty))
    facts = examine(run.affinity, codes, run.certainty)
    facts_of = {name: fact for name, fact, real in zip(names, facts, assigned, strict=True) if real}
    tone, words, reality = _reality(run, codes)
    if float(np.mean(run.certainty < _UNSURE)) > _MANY_UNSURE:
        tone, words = (FAIR if tone == GOOD else tone), f"{words}, with many uncertain samples"
    doubts = _doubts(facts_of, names)
    points: list[Record] = [{"title": "How real", "text": reality, "tone": tone}]
    points += [_point("How many", _how_many(run, n_clusters)), _point("Which way", _which_way(run))]
    points += [_point("Certainty", _certainty(run)), _point("Not assigned", _unassigned(run))]
    points.append(_point("Unknown values", _missing(run)))
    if doubts:
        points.append({"title": "Doubtful clusters", "text": " ".join(doubts), "items": doubts, "tone": FAIR})
    elif n_clusters > 1:
        points.append(
            {
                "title": "Doubtful clusters",
                "text": (
                    "None: no two are strongly linked, none falls into two blocks, none is of low certainty "
                    "or very small."
                ),
                "tone": GOOD,
            }
        )
    points += [_point("Other methods", _agreement(run, others)), _point("Known classes", _known(run))]
    return {
        "headline": f"{n_clusters} clusters that {words}",
        "tone": tone,
        "points": [point for point in points if point["text"]],
        "next": _next_steps(run, tone, facts_of, names),
    }


def as_options(step: str) -> str:
    """An advice in the words of the command."""
    for name, option in _AS_OPTIONS.items():
        step = step.replace(name, option)
    return step


def _point(title: str, text: str) -> Record:
    return {"title": title, "text": text, "tone": "info"}


def _of_one_cluster(n_clusters: int, facts: Sequence[ClusterFacts]) -> Record:
    text = (
        "All samples are in one cluster, so there is nothing to compare." if n_clusters else "No sample was assigned."
    )
    advice = 'Ask for at least two clusters, or let the method choose with n_clusters="auto".'
    points = [_point("How many", text)]
    if n_clusters and len(facts) == 1 and facts[0].smaller_part:
        smaller, larger = facts[0].smaller_part, facts[0].size - facts[0].smaller_part
        cut = f"its best cut parts {larger} from {smaller} samples"
        seen = f"The graph falls into blocks: {cut}. There is more to divide."
        points.append({"title": "Doubtful", "text": seen, "tone": FAIR})
    return {
        "headline": "One cluster: nothing was divided" if n_clusters else "No clusters",
        "tone": FAIR,
        "points": points,
        "next": [advice if n_clusters else "Lower min_certainty: every sample is below it."],
    }


def _reality(run: Run, codes: IntArray) -> tuple[str, str, str]:
    """Tone, words for the headline, and the sentence behind them."""
    kept = modularity(run.affinity, codes)
    if run.structure is not None:
        tone, words = next((tone, words) for least, tone, words in _STRUCTURE if run.structure >= least)
        return (
            tone,
            words,
            (
                f"Structure {run.structure:.2f} of 1: how far independent views of the data agree on these clusters "
                f"and new samples would be put into them; pure noise stays below {DOUBTFUL_STRUCTURE} as a rule. "
                f"Modularity of the graph: {kept:.2f}."
            ),
        )
    tone, words = next((tone, words) for least, tone, words in _MODULARITY if kept >= least)
    graph = "its graph" if run.graph_kind == "own" else "the graph of nearest neighbors"
    return (
        tone,
        words,
        (
            f"Modularity {kept:.2f} on {graph}. This method gives no structure score, so whether the "
            "clusters would come back in new data is not known."
        ),
    )


def _how_many(run: Run, n_clusters: int) -> str:
    ranked = sorted((one for one in run.n_clusters_scores if _score(one) is not None), key=_score_of, reverse=True)
    if len(ranked) < 2:
        asked = not run.parameters or {"n_clusters", "n_components"} & set(run.parameters)
        how = "as asked for" if asked else "which the method found itself"
        return f"{n_clusters}, {how}." if not run.n_clusters_scores else ""
    tried = sorted(int(one["n_clusters"]) for one in run.n_clusters_scores)
    taken = next((one for one in ranked if int(one["n_clusters"]) == n_clusters), ranked[0])
    other = next(one for one in ranked if one is not taken)
    text = (
        f"{n_clusters} was chosen among {len(tried)} numbers from {tried[0]} to {tried[-1]}, with "
        f"a score of {_score_of(taken):.2f}."
    )
    others = [str(number) for number in run.n_clusters_candidates if number != n_clusters]
    if others:
        verb = "has" if len(others) == 1 else "have"
        return (
            f"{text} The evidence is split: {' and '.join(others)} {verb} nearly as much; look at {_them(others)} too."
        )
    if run.n_clusters_candidates:
        return f"{text} No other number comes near it."
    gap = _score_of(taken) - _score_of(other)
    if abs(gap) < _CLOSE:
        return f"{text} {other['n_clusters']} is as good ({_score_of(other):.2f}): look at both."
    return f"{text} Next is {other['n_clusters']} with {_score_of(other):.2f}."


def _them(things: Sequence[str]) -> str:
    return "it" if len(things) == 1 else "them"


def _which_way(run: Run) -> str:
    choices = list(run.choices) or _choices_of_history(run)
    ranked = sorted((one for one in choices if _score(one) is not None), key=_score_of, reverse=True)
    taken = next((one for one in choices if one.get("taken")), ranked[0] if ranked else None)
    if taken is None:
        return ""
    text = f"{_capital(_way(taken))} was taken"
    if _score(taken) is None:
        gap = taken.get("gap")
        if gap is None:
            return f"{text}."
        return (
            f"{text}: all samples together have a low rank, and its graph has a clear gap ({gap:.2f}) after "
            f"{len(np.unique(run.labels[run.labels >= 0]))} clusters."
        )
    others = [one for one in ranked if one is not taken]
    if not others:
        return f"{text}, with a score of {_score_of(taken):.2f}{_why(taken)}."
    gap = _score_of(taken) - _score_of(others[0])
    text += f" from {len(choices)} that were judged without labels: score {_score_of(taken):.2f}{_why(taken)}"
    other = _way(others[0], short=True)
    if others[0].get("agreement") is not None and others[0].get("strength") is None:
        return f"{text}. No other could lead: {other} would have {_score_of(others[0]):.2f} at most."
    if abs(gap) < _CLOSE:
        return f"{text}. {_capital(other)} is as good ({_score_of(others[0]):.2f}), so the choice says little."
    return f"{text}, then {other} with {_score_of(others[0]):.2f}."


def _why(choice: RecordView) -> str:
    """What the judge's score is made of, where the record says so."""
    agreement, strength = choice.get("agreement"), choice.get("strength")
    if agreement is None or strength is None:
        return ""
    return f" (its members agree to {agreement:.2f}, halves of the samples predict each other to {strength:.2f})"


def _choices_of_history(run: Run) -> list[RecordView]:
    last = run.history[-1] if run.history else {}
    scores = last.get("view_scores") or {}
    taken = str(last.get("view"))
    return [
        {"view": name, "score": score, "taken": name.removeprefix("whitened ") == taken}
        for name, score in scores.items()
    ]


def _way(choice: RecordView, short: bool = False) -> str:
    """`the family of plain views (plain, root, …), cut by spectral and modularity`, or what else the record names."""
    if "way" not in choice:
        parts = [f"{key} {choice[key]}" for key in ("view", "cut", "links") if choice.get(key) is not None]
        return ", ".join(parts) or "the way"
    name, views = str(choice["way"]), [str(view) for view in choice.get("views", ())]
    if name in _MODEL_WORDS:
        text = _MODEL_WORDS[name]
    elif len(views) < 2:
        text = f"view {views[0] if views else name}"
    else:
        text = f"the family of {name} views" + ("" if short else f" ({', '.join(views)})")
    cuts = dict.fromkeys(str(cut).partition(" ")[0] for cut in choice.get("cuts", ()))
    return text if short or not cuts else f"{text}, cut by {' and '.join(cuts)},"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _certainty(run: Run) -> str:
    sure = run.certainty
    kind = (
        "how far the members agree on a sample"
        if run.certainty_kind == AGREEMENT
        else "how much nearer a sample is to its own cluster than to the next"
    )
    if np.ptp(sure) < _EQUAL:
        return f"All samples are equally certain ({sure[0]:.2f}), so certainty ranks nobody here. It says {kind}."
    low = int((sure < _UNSURE).sum())
    return f"Median {np.median(sure):.2f}; {low} of {len(sure)} samples are below {_UNSURE}. It says {kind}."


def _unassigned(run: Run) -> str:
    count = int((run.labels < 0).sum())
    return f"{count} of {len(run.labels)} samples are in no cluster (label −1)." if count else ""


def _missing(run: Run) -> str:
    if not run.missing:
        return ""
    count, share, error = run.missing["count"], run.missing["share"], run.missing["error"]
    text = f"{count} values ({share:.1%}) were unknown and were estimated from the samples that are alike. "
    if error >= 1:
        return text + "Known values that were hidden for a test could not be told better than by their mean."
    return text + (
        f"Known values that were hidden for a test came back with {error:.0%} of the error that the mean of their "
        "feature has."
    )


def _known(run: Run) -> str:
    parts = [f"{key} {value:.3f}" for key, value in run.scores.items() if isinstance(value, float) and value == value]
    return f"Compared with the known classes, which the method did not see: {', '.join(parts)}." if parts else ""


def _agreement(run: Run, others: Sequence[Run]) -> str:
    from sklearn.metrics import adjusted_rand_score

    shares = [(float(adjusted_rand_score(run.labels, one.labels)), one.name) for one in others if one is not run]
    if not shares:
        return ""
    told = ", ".join(f"{name} {share:.2f}" for share, name in sorted(shares, reverse=True)[:_NAMED])
    return f"ARI with the labels of the others: {told}. Clusters that several methods find are safer."


def _doubts(facts: Mapping[str, ClusterFacts], names: Sequence[str]) -> list[str]:
    sentences = []
    for one, other, share in rivals(facts, names)[:_NAMED]:
        sentences.append(
            f"Clusters {one} and {other} are hard to tell apart: {share:.0%} of the links of {one} lead to {other}."
        )
    blocks = _blocks(facts)
    for name in blocks[:_NAMED]:
        fact = facts[name]
        sentences.append(
            f"Cluster {name} looks like two blocks, of {fact.size - fact.smaller_part} and "
            f"{fact.smaller_part} samples, with {fact.between_parts:.1%} of the links between them."
        )
    if len(blocks) > _NAMED:
        sentences.append(f"So do {len(blocks) - _NAMED} more.")
    unsure = [name for name, fact in facts.items() if fact.certainty < _UNSURE]
    if unsure:
        sentences.append(f"Of low certainty: cluster {_listed(unsure, facts)}.")
    small = _small(facts)
    if small:
        sentences.append(f"Very small: cluster {_listed(small, facts)}.")
    return sentences


def _listed(chosen: Sequence[str], facts: Mapping[str, ClusterFacts]) -> str:
    shown = ", ".join(f"{name} ({facts[name].size} samples, {facts[name].certainty:.2f})" for name in chosen[:_NAMED])
    return shown + (f" and {len(chosen) - _NAMED} more" if len(chosen) > _NAMED else "")


def rivals(facts: Mapping[str, ClusterFacts], names: Sequence[str]) -> list[tuple[str, str, float]]:
    """Pairs of clusters of which one sends a quarter of its links or more to the other, the closest first."""
    found: dict[frozenset[str], tuple[str, str, float]] = {}
    for name, fact in sorted(facts.items(), key=lambda item: -item[1].to_rival):
        if fact.rival >= 0 and fact.to_rival >= _RIVAL and names[fact.rival] in facts:
            found.setdefault(frozenset((name, names[fact.rival])), (name, names[fact.rival], fact.to_rival))
    return list(found.values())


def _blocks(facts: Mapping[str, ClusterFacts]) -> list[str]:
    return [name for name, fact in facts.items() if fact.smaller_part]


def _small(facts: Mapping[str, ClusterFacts]) -> list[str]:
    mean = float(np.mean([fact.size for fact in facts.values()]))
    return [name for name, fact in facts.items() if fact.size < max(3, 0.1 * mean)]


def _next_steps(run: Run, tone: str, facts: Mapping[str, ClusterFacts], names: Sequence[str]) -> list[str]:
    steps = []
    n_clusters, close, split = len(facts), rivals(facts, names), _blocks(facts)
    ours = not run.parameters or "min_certainty" in run.parameters  # a masked estimator, which has all that is advised
    pairs = "give known pairs (must_link, cannot_link)" if ours else "give known pairs to BMSC, GMSC or RMSC"
    if split and close:
        steps.append(
            "Some clusters look merged and others torn: the number may be right and the borders wrong. Try "
            f"{'another view' if ours else 'another method'}, or {pairs}, first between clusters "
            f"{close[0][0]} and {close[0][1]}."
        )
    elif split:
        more = n_clusters + len(split)
        many = "each" if len(split) > 1 else "clusters"
        rest = f" and {len(split) - _NAMED} more" if len(split) > _NAMED else ""
        steps.append(f"Try {more} clusters: {', '.join(split[:_NAMED])}{rest} may be two {many}.")
    elif close and n_clusters > 2:
        steps.append(f"Try {n_clusters - 1} clusters, or {pairs} between clusters {close[0][0]} and {close[0][1]}.")
    others = [str(number) for number in run.n_clusters_candidates if number != n_clusters]
    if others:
        steps.append(f"Look at {' and '.join(others)} clusters too: nearly as much speaks for {_them(others)}.")
    if tone != GOOD and not run.n_clusters_scores:
        steps.append(
            'Let the number of clusters be chosen: n_clusters="auto".'
            if ours
            else "Try other numbers of clusters; BMSC, GMSC and RMSC can choose one."
        )
    if tone == FAIR and (not run.parameters or "random_state" in run.parameters):
        steps.append(
            "Fit once more with another random_state: clusters that come back can be relied on, the others not."
        )
    if tone == POOR:
        steps.append(
            f"Compare with {'k-means or another view' if ours else 'RMSC'} before using these labels; the data may "
            "have no such clusters."
        )
    if float(np.mean(run.certainty < _UNSURE)) > 0.1:
        steps.append(
            f"Leave doubtful samples out with min_certainty={_UNSURE}, or label some of the least certain ones."
            if ours
            else "Look at the least certain samples, and label some of them or leave them out."
        )
    if not steps and np.ptp(run.certainty) < _EQUAL:
        steps.append("Nothing speaks against these labels. Look at a few samples of each cluster before using them.")
    elif not steps:
        steps.append("Look at the least certain samples; if they look right, the labels can be used.")
    return steps


def _score(record: RecordView) -> float | None:
    value = record.get("score")
    return float(value) if isinstance(value, int | float) and value == value else None


def _score_of(record: RecordView) -> float:
    found = _score(record)
    return -np.inf if found is None else found
