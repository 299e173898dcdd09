"""The forms of LIMP's replies, with examples about a story of Sally and Anne."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otherminds.papers.mumatom import replies as limp

MIND = {"belief": "b", "social_goal": "s", "believed_goal": "g"}


def limp_forms(story: str) -> Iterator[tuple[Any, ...]]:
    """For every form: its name, the form, an illegal reply, a legal choice, and good replies."""
    people = ("Sally", "Anne")
    names = {"main": "Sally", "others": ["Anne"]}
    strange = {"main": "Zed", "others": ["Quux"]}
    yield ("LIMP names", limp.names_form(people, story), strange, "Sally", names)
    yield ("LIMP names found", limp.names_form((), story), strange, "Sally", names)
    step = {"line": 2, "kind": "action", "text": "puts the marble in the basket"}
    yield (
        "LIMP steps",
        limp.steps_form([1, 2, 3], 12),
        {"steps": [{**step, "line": 9}]},
        "line 2",
        {"steps": [step] * 3},
    )
    yield ("LIMP objects", limp.objects_form(), {"objects": [""]}, "marble", {"objects": ["marble", "box"]})
    yield ("LIMP person", limp.shown_form(people), {"name": "Zed"}, "Sally", {"name": "Anne"})
    film = {"after": 1, "agent": "Anne", "verb": "open", "rest": "the box"}
    yield (
        "LIMP actions",
        limp.actions_form(people, 4, 9),
        {"actions": [{**film, "after": 5}]},
        "1",
        {"actions": [film] * 2},
    )
    yield ("LIMP state", limp.state_form(), {"facts": ["..."]}, "the box", {"facts": ["the marble is in the box"]})
    minds = dict.fromkeys("ABC", MIND)
    yield ("LIMP minds", limp.minds_form("ABC"), {**minds, "D": MIND}, "A", minds)
    yield ("LIMP choice", limp.choice_form("ABC"), {"choice": "D"}, "A", {"choice": "B"})
