"""What the constants of the rule for the number of clusters are worth: each set left out of their choice in turn.

    python benchmarks/accuracy/number_rules.py --sets usps-1000 mnist-1000 digits coil20 orl isolet palm breast-cancer

For each set the looks are cut into every number and what the clusters predict is computed once. Then the price θ, the
flat part and its reach are those with which most of the other sets are within 20 % of their classes. Where settings
tie, the share of them with which the set left out is right counts.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from typing import Any

import numpy as np
from number_of_clusters import cases_of
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from masked_subspace import RMSC
from masked_subspace._common.progress import SilentEvents
from masked_subspace._common.rows import content_order
from masked_subspace.estimators.base import Task
from masked_subspace.label import number_of_clusters as rule
from masked_subspace.label.graph import in_order
from masked_subspace.rounds.defaults import NUMBERED_SAMPLES
from masked_subspace.rounds.judge import yardsticks

PRICES, FLAT, REACH = (0.55, 0.6, 0.65, 0.7, 0.75), (0, 0.025, 0.05, 0.075, 0.1), (0.5, 0.6, 0.7, 0.8, 0.9)


def curves(X: Any) -> dict[str, Any]:
    """Agreement, information and prediction for every number that is tried, of the family that decides."""
    model = RMSC("auto", random_state=0, n_jobs=1)
    seed = int(check_random_state(0).randint(2**31 - 1))
    model._set_bounds(len(X), None, hard=False)
    seen = model._see(Task(X, None, False, seed, 1, SilentEvents()), NUMBERED_SAMPLES)
    order = content_order(seen.X)
    samples = [rows[order] for rows in yardsticks(seen.X)]
    graphs = [[in_order(links, order) for links in family.absolute_codes()] for family in seen.families]
    searches = [rule._Family.of(family, seed, 1) for family in graphs]
    tried = rule._first_numbers(*model._bounds)
    for one in searches:
        one.try_all(tried)
    lead = rule._leading(searches, tried)
    near = rule._between_neighbours(tried, np.array([lead.score(k) for k in tried]))
    lead.try_all(near)
    tried = sorted({*tried, *near})
    records = [lead.records[k] for k in tried]
    return {
        "numbers": tried,
        "agreement": [record["agreement"] for record in records],
        "information": np.array([record["information"] for record in records]),
        "predicted": {k: rule._prediction(lead.looks, k, samples, seed) for k in tried},
    }


def number(of: dict[str, Any], price: float, flat: float, reach: float) -> int:
    """The number that the rule takes with these constants."""
    rule._FLAT, rule._REACH = flat, reach
    score = (np.array(of["agreement"]) - price) * of["information"]
    return of["numbers"][rule._coarsest(of["numbers"], score, of["agreement"], of["predicted"].__getitem__)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", required=True)
    names = parser.parse_args().sets
    warnings.simplefilter("ignore")
    settings = list(product(PRICES, FLAT, REACH))
    right: dict[str, dict[Any, bool]] = {}
    with threadpool_limits(1):
        for name in names:
            _, X, y = next(iter(cases_of(name)))
            of, true = curves(X), len(np.unique(y))
            right[name] = {one: abs(number(of, *one) - true) <= 0.2 * true for one in settings}
            print(name, true, "taken:", number(of, 0.65, 0.05, 0.8), flush=True)
    total = 0.0
    for name in names:
        others = {one: sum(right[other][one] for other in names if other != name) for one in settings}
        tied = [one for one in settings if others[one] == max(others.values())]
        share = float(np.mean([right[name][one] for one in tied]))
        total += share
        print(f"without {name}: {len(tied)} settings tie, right for it in {share:.2f}")
    print(f"right when left out: {total:.2f} of {len(names)}")


if __name__ == "__main__":
    main()
