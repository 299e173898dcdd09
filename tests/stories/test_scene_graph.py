"""Scene graphs: where a thing was, as far as the frames show it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.stories.fusing import scene_events, squeezed
from otherminds.stories.model import Fact, Observation

PLACES = {
    "fridge": "kitchen fridge",
    "cabinet": "living room cabinet",
    "sofa": "living room sofa",
    "coffeetable": "bedroom coffee table",
}
Frames = dict[str, dict[int, tuple[str, ...]]]


def frames(**relations: dict[int, str]) -> Frames:
    """Each relation, frame by frame; the facts of a frame are separated by semicolons."""
    return {
        name: {frame: tuple(filter(None, (part.strip() for part in facts.split(";")))) for frame, facts in said.items()}
        for name, said in relations.items()
    }


def found(graph: Frames, thing: str = "beer") -> list[tuple[int, str | None, bool]]:
    events = scene_events(graph, thing, PLACES)
    for one in events:
        assert (one.agent, one.fact.predicate, one.fact.subject, one.source) == ("", "at", thing, "scene_graph")
        assert 0.0 < one.p < 1.0
    assert [one.t for one in events] == sorted(one.t for one in events)
    return [(one.t, one.fact.value, one.sees) for one in events]


HELD = "The character is holding a beer"
CASES: list[tuple[Frames, list[tuple[int, str | None, bool]]]] = [
    (frames(), []),
    (frames(hold={1: ""}, inside={1: ""}, on={}, opened={}, closeness={}), []),
    # a thing that is held was where it was last seen before
    (frames(inside={4: "A beer is inside the fridge"}, hold={4: "", 5: HELD}), [(5, "kitchen fridge", True)]),
    (frames(inside={4: "A beer is inside the cabinet; A mug is inside the fridge"}, hold={5: HELD}),
     [(5, "living room cabinet", True)]),
    (frames(inside={1: "A beer is inside the fridge", 4: "A beer is inside the cabinet"}, hold={5: HELD}),
     [(5, "living room cabinet", True)]),
    (frames(on={1: "", 4: "A beer is on the sofa"}, hold={5: HELD}), [(5, "living room sofa", True)]),
    (frames(inside={3: "A beer is inside the fridge", 4: "A beer is inside the cabinet"}, hold={5: HELD}),
     [(5, "living room cabinet", True)]),
    # too long ago to say
    (frames(inside={1: "A beer is inside the fridge"}, hold={9: HELD}), []),
    # after it was taken, it is where it was put
    (frames(hold={5: HELD}, inside={6: "A beer is inside the fridge"}), []),
    # it came from what had just been opened, or from somewhere near
    (frames(opened={3: "fridge", 4: "fridge"}, hold={5: HELD}), [(5, "kitchen fridge", True)]),
    (frames(opened={4: "fridge"}, closeness={5: "beer; fridge; sofa"}, hold={5: HELD}), [(5, "kitchen fridge", True)]),
    (frames(opened={4: "fridge"}, closeness={5: "sofa"}, hold={5: HELD}), [(5, "living room sofa", True)]),
    (frames(closeness={4: "fridge", 5: "beer; sofa; lamp"}, hold={5: HELD}), [(5, "living room sofa", True)]),
    # never held: it lay inside where it came into sight
    (frames(inside={3: "A beer is inside the fridge", 4: "A beer is inside the fridge"}),
     [(3, "kitchen fridge", True)]),
    (frames(on={2: "A beer is on the sofa"}), [(2, "living room sofa", True)]),
    # what was opened before another did not have it, perhaps
    (frames(opened={1: "cabinet", 3: "fridge"}, inside={4: "A beer is inside the fridge"}, hold={4: HELD}),
     [(1, "living room cabinet", False), (4, "kitchen fridge", True)]),
    (frames(opened={1: "cabinet", 3: "fridge"}), [(1, "living room cabinet", False)]),
    (frames(opened={1: "cabinet", 2: "cabinet", 3: "fridge", 4: "fridge"}), [(1, "living room cabinet", False)]),
    (frames(opened={1: "cabinet"}), []),
    (frames(opened={1: "fridge", 6: "cabinet"}, inside={2: "A beer is inside the fridge"}, hold={2: HELD}),
     [(2, "kitchen fridge", True)]),
]  # fmt: skip


@pytest.mark.parametrize(("graph", "events"), CASES)
def test_where_a_thing_was(graph: Frames, events: list[tuple[int, str | None, bool]]) -> None:
    assert found(graph) == events


@pytest.mark.parametrize(
    "said", ["A beer is inside the fridge", "a BEER is inside the fridge ", "There is a beer inside the fridge"]
)
def test_facts_are_read_however_they_are_told(said: str) -> None:
    assert found(frames(inside={4: said}, hold={5: "hold beer"})) == [(5, "kitchen fridge", True)]


@pytest.mark.parametrize("said", ["A beermug is inside the fridge", "A beer is inside the oven", "beer fridge", ""])
def test_other_things_and_places_say_nothing(said: str) -> None:
    assert found(frames(inside={4: said}, hold={5: HELD})) == []
    assert found(frames(inside={4: "A beer is inside the fridge"}, hold={5: "holding a beermug"}))[0][0] == 4


def test_names_of_two_words_are_one_in_a_scene_graph() -> None:
    graph = frames(inside={4: "A remotecontrol is inside the cabinet"}, hold={5: "holding a remotecontrol"})
    assert found(graph, "remote control") == [(5, "living room cabinet", True)]
    assert squeezed("Remote control") == "remotecontrol"
    assert found(frames(on={4: "A mug is on the coffeetable"}, hold={5: "a mug"}), "mug") == [
        (5, "bedroom coffee table", True)
    ]


def test_what_is_surer_weighs_more() -> None:
    def p(graph: Frames) -> float:
        (event,) = scene_events(graph, "beer", PLACES)
        return event.p

    seen = p(frames(inside={4: "A beer is inside the fridge"}, hold={5: HELD}))
    opened = p(frames(opened={4: "fridge"}, hold={5: HELD}))
    near = p(frames(closeness={5: "fridge"}, hold={5: HELD}))
    assert near + 0.5 > 0.5
    assert near < opened < seen < 1.0


def test_the_order_of_frames_in_a_file_makes_no_difference() -> None:
    one = frames(inside={3: "A beer is inside the fridge"}, hold={4: HELD, 7: HELD}, opened={1: "cabinet", 2: "fridge"})
    other = {name: dict(reversed(said.items())) for name, said in one.items()}
    assert scene_events(one, "beer", PLACES) == scene_events(other, "beer", PLACES)


NAMES = st.sampled_from((*PLACES, "beer", "mug", "lamp", "("))
FACTS = st.tuples(*([st.lists(st.tuples(NAMES, NAMES), max_size=3)] * 6))


@given(FACTS, FACTS, st.dictionaries(st.integers(0, 9), st.lists(NAMES, max_size=3).map(tuple), max_size=6),
       st.lists(st.booleans(), min_size=6, max_size=6))  # fmt: skip
@settings(max_examples=60)
def test_whatever_the_frames_show_is_told_of_places_there_are(
    inside: Any, on: Any, opened: dict[int, tuple[str, ...]], held: list[bool]
) -> None:
    graph: Frames = {
        name: {n: tuple(f"A {a} is {name} the {b}" for a, b in pairs) for n, pairs in enumerate(said)}
        for name, said in (("inside", inside), ("on", on))
    }
    graph |= {"opened": opened, "hold": {n: (HELD,) if one else () for n, one in enumerate(held)}}
    events = scene_events(graph, "beer", PLACES)
    assert [one.t for one in events] == sorted(one.t for one in events)
    for one in events:
        assert isinstance(one, Observation)
        assert one.fact == Fact("at", "beer", one.fact.value)
        assert one.fact.value in PLACES.values()
        assert 0.0 < one.p < 1.0
    assert sum(one.sees for one in events) <= 1
