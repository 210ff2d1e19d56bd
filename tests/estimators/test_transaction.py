import pytest

from masked_subspace.estimators.base import all_or_nothing


class Model:
    def __init__(self):
        self.size = 1

    @all_or_nothing
    def fit(self, value, *, fail=None):
        """Fit."""
        self.value_ = value
        self.size = 2
        if fail is not None:
            raise fail
        return self


def test_a_method_that_succeeds_keeps_what_it_set():
    model = Model()
    assert model.fit(5) is model
    assert vars(model) == {"size": 2, "value_": 5}
    assert Model.fit.__doc__ == "Fit."


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_a_method_that_fails_leaves_what_was_there(error):
    model = Model()
    with pytest.raises(type(error)):
        model.fit(5, fail=error)
    assert vars(model) == {"size": 1}
    model.fit(5)
    with pytest.raises(type(error)):
        model.fit(6, fail=error)
    assert vars(model) == {"size": 2, "value_": 5}
