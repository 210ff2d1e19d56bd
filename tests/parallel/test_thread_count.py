"""How many threads a fit takes."""

import pytest

from masked_subspace.parallel import engine
from masked_subspace.parallel.engine import thread_count


@pytest.mark.parametrize(
    ("allowed", "threads"), [(None, 4), ("", 4), ("2", 2), ("99", 4), ("0", 1), ("many", 4)], ids=str
)
def test_one_for_each_core_but_no_more_than_the_environment_allows(monkeypatch, allowed, threads):
    monkeypatch.setattr(engine, "cpu_count", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if allowed is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", allowed)
    assert thread_count(None) == threads


def test_a_number_is_what_joblib_says(monkeypatch):
    monkeypatch.setattr(engine, "effective_n_jobs", lambda n_jobs: {3: 3, -1: 7, -99: 0}[n_jobs])
    assert [thread_count(n_jobs) for n_jobs in (3, -1, -99)] == [3, 7, 1]
