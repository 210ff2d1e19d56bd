"""Shared parameters in docstrings and constraints: defaults from the signature, the nearest constraint wins."""

import pytest

from masked_subspace._common.documentation import Parameter, described, in_words

SHARED = {
    "depth": Parameter(["shared depth"], "int", "How deep."),
    "width": Parameter(["shared width"], "float or None", "How wide, in a sentence that is long. " * 5),
}
ATTRIBUTES = """
found_ : int
    What was found.
seen_ : int
    What was seen.
"""


class Base:
    _parameter_constraints = {"depth": ["base depth"], "height": ["base height"]}


@described(SHARED, ATTRIBUTES)
class Thing(Base):
    """A thing.

    Parameters
    ----------
    color : str, default="red"
        Its color.
    {parameters}
    height : int, default=1
        How high.

    Attributes
    ----------
    seen_ : float
        Said by the class itself.
    {attributes}
    """

    _parameter_constraints = {"color": [str]}

    def __init__(self, color="red", *, depth=3, width=None, height=1):
        self.color, self.depth, self.width, self.height = color, depth, width, height


def test_constraints_come_from_the_class_the_table_and_the_bases():
    wanted = {"color": [str], "depth": ["shared depth"], "width": ["shared width"], "height": ["base height"]}
    assert Thing._parameter_constraints == wanted
    assert list(Thing._parameter_constraints) == list(wanted)


def test_entries_have_the_defaults_of_the_signature_and_fit_the_line():
    assert "    depth : int, default=3\n        How deep.\n" in Thing.__doc__
    assert "    width : float or None, default=None\n" in Thing.__doc__
    assert Thing.__doc__.count("color : ") == 1
    assert max(map(len, Thing.__doc__.splitlines())) <= 120


def test_what_the_class_lists_itself_is_not_repeated():
    assert "    seen_ : float\n        Said by the class itself.\n    found_ : int\n" in Thing.__doc__
    assert "What was seen" not in Thing.__doc__


def test_values_in_words():
    assert in_words({"a": "is one", "b": "is two"}) == '"a" is one; "b" is two'


def test_a_parameter_without_a_meaning_is_an_error():
    class Forgetful:
        """No place for it."""

        def __init__(self, mood="good"):
            self.mood = mood

    with pytest.raises(TypeError, match="Forgetful has the parameters mood, which neither its docstring nor"):
        described(SHARED, ATTRIBUTES)(Forgetful)
