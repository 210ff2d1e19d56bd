"""The report's first words: how many clusters, how real, why so, what is doubtful, and what to try next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from masked_subspace._common.types import Record, RecordView
from masked_subspace.report.doubts import ClusterFacts, examine, in_two_blocks, rivals, very_small
from masked_subspace.report.next_steps import (
    EQUAL,
    FAIR,
    GOOD,
    NAMED,
    POOR,
    UNSURE,
    certainty_in_clusters,
    next_steps,
    steps_without_clusters,
    takes_a_number,
    them,
)
from masked_subspace.report.record import AGREEMENT, Run
from masked_subspace.report.scoring import COUNTED, agreement, cluster_modularity, in_clusters
from masked_subspace.rounds.defaults import DOUBTFUL_STRUCTURE

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
    "linear-mixture": "the vote of mixtures of linear subspaces",
    "affine-mixture": "the vote of mixtures of affine subspaces",
    "topics": "the vote along the topics of its words",
}
_CLOSE = 0.02  # scores nearer than this are called a tie
_MANY = 0.3  # a share of samples that are uncertain, or in no cluster, which lowers the tone of the headline


def verdict(run: Run, others: Sequence[Run] = ()) -> Record:
    """`headline`, `tone`, `points` (title, text, tone) and `next`: plain texts, made from this run's numbers."""
    clusters, codes = np.unique(run.labels, return_inverse=True)
    names = [str(cluster) for cluster in clusters]
    assigned = clusters >= 0
    n_clusters = int(assigned.sum())
    facts = examine(run.affinity, codes, run.certainty)
    if any(one.get("taken") and one.get("way") in _MODEL_WORDS for one in run.choices):
        facts = [replace(fact, smaller_part=0) for fact in facts]  # models voted: blocks of a graph say nothing
    if n_clusters < 2:
        return _of_one_cluster(run, n_clusters, facts[-1] if n_clusters else None)
    facts_of = {name: fact for name, fact, real in zip(names, facts, assigned, strict=True) if real}
    tone, words, reality = _reality(run)
    if float(np.mean(certainty_in_clusters(run) < UNSURE)) > _MANY:
        tone, words = (FAIR if tone == GOOD else tone), f"{words}, with many uncertain samples"
    if tone == GOOD and float(np.mean(run.labels < 0)) > _MANY:
        tone = FAIR
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
        "headline": f"{n_clusters} clusters that {words}{_left_out(run)}",
        "tone": tone,
        "points": [point for point in points if point["text"]],
        "next": next_steps(run, tone, facts_of, names),
    }


def _point(title: str, text: str) -> Record:
    return {"title": title, "text": text, "tone": "info"}


def _of_one_cluster(run: Run, n_clusters: int, facts: ClusterFacts | None) -> Record:
    held = int(in_clusters(run.labels).sum())
    text = "All samples are in one cluster" if held == len(run.labels) else f"One cluster holds {held} samples"
    text = f"{text}, so there is nothing to compare." if n_clusters else "No sample was assigned."
    points = [_point("How many", text), _point("Not assigned", _unassigned(run) if n_clusters else "")]
    if facts is not None and facts.smaller_part:
        smaller, larger = facts.smaller_part, facts.size - facts.smaller_part
        cut = f"its best cut parts {larger} from {smaller} samples"
        seen = f"The graph falls into blocks: {cut}. There is more to divide."
        points.append({"title": "Doubtful", "text": seen, "tone": FAIR})
    return {
        "headline": f"One cluster: nothing was divided{_left_out(run)}" if n_clusters else "No clusters",
        "tone": FAIR,
        "points": [point for point in points if point["text"]],
        "next": steps_without_clusters(run, n_clusters),
    }


def _left_out(run: Run) -> str:
    """The end of a headline: it must not speak for samples that are in none of the clusters."""
    count = int((~in_clusters(run.labels)).sum())
    return f"; {count} of {len(run.labels)} samples are in none" if count else ""


def _reality(run: Run) -> tuple[str, str, str]:
    """Tone, words for the headline, and the sentence behind them."""
    kept = cluster_modularity(run.affinity, run.labels)
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
        how = "as asked for" if takes_a_number(run) else "which the method found itself"
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
            f"{text} The evidence is split: {' and '.join(others)} {verb} nearly as much; look at {them(others)} too."
        )
    if run.n_clusters_candidates:
        return f"{text} No other number comes near it."
    gap = _score_of(taken) - _score_of(other)
    if abs(gap) < _CLOSE:
        return f"{text} {other['n_clusters']} is as good ({_score_of(other):.2f}): look at both."
    return f"{text} Next is {other['n_clusters']} with {_score_of(other):.2f}."


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
    evened = choice.get("evened_strength")
    also = "" if evened is None else f", with directions evened out to {evened:.2f}"
    return f" (its members agree to {agreement:.2f}, parts of the samples predict each other to {strength:.2f}{also})"


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
    sure = certainty_in_clusters(run)
    kind = (
        "how far the members agree on a sample"
        if run.certainty_kind == AGREEMENT
        else "how much nearer a sample is to its own cluster than to the next"
    )
    if np.ptp(sure) < EQUAL:
        return f"All samples are equally certain ({sure[0]:.2f}), so certainty ranks nobody here. It says {kind}."
    low = int((sure < UNSURE).sum())
    whose = "samples" if len(sure) == len(run.labels) else "samples in clusters"
    return f"Median {np.median(sure):.2f}; {low} of {len(sure)} {whose} are below {UNSURE}. It says {kind}."


def _unassigned(run: Run) -> str:
    count = int((run.labels < 0).sum())
    if not count:
        return ""
    rule = f" Against the known classes, {COUNTED}." if run.scores else ""
    return f"{count} of {len(run.labels)} samples are in no cluster (label −1).{rule}"


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
    found = [(agreement(run.labels, one.labels)[0], one.name) for one in others if one is not run]
    shares = [(share, name) for share, name in found if share is not None]
    if not shares:
        return ""
    told = ", ".join(f"{name} {share:.2f}" for share, name in sorted(shares, reverse=True)[:NAMED])
    return f"ARI with the labels of the others: {told}. Clusters that several methods find are safer."


def _doubts(facts: Mapping[str, ClusterFacts], names: Sequence[str]) -> list[str]:
    sentences = []
    for one, other, share in rivals(facts, names)[:NAMED]:
        sentences.append(
            f"Clusters {one} and {other} are hard to tell apart: {share:.0%} of the links of {one} lead to {other}."
        )
    blocks = in_two_blocks(facts)
    for name in blocks[:NAMED]:
        fact = facts[name]
        sentences.append(
            f"Cluster {name} looks like two blocks, of {fact.size - fact.smaller_part} and "
            f"{fact.smaller_part} samples, with {fact.between_parts:.1%} of the links between them."
        )
    if len(blocks) > NAMED:
        sentences.append(f"So do {len(blocks) - NAMED} more.")
    unsure = [name for name, fact in facts.items() if fact.certainty < UNSURE]
    if unsure:
        sentences.append(f"Of low certainty: cluster {_listed(unsure, facts)}.")
    small = very_small(facts)
    if small:
        sentences.append(f"Very small: cluster {_listed(small, facts)}.")
    return sentences


def _listed(chosen: Sequence[str], facts: Mapping[str, ClusterFacts]) -> str:
    shown = ", ".join(f"{name} ({facts[name].size} samples, {facts[name].certainty:.2f})" for name in chosen[:NAMED])
    return shown + (f" and {len(chosen) - NAMED} more" if len(chosen) > NAMED else "")


def _score(record: RecordView) -> float | None:
    value = record.get("score")
    return float(value) if isinstance(value, int | float) and value == value else None


def _score_of(record: RecordView) -> float:
    found = _score(record)
    return -np.inf if found is None else found
