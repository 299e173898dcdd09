"""What a text tells, a video model saw and a scene graph shows, as one story."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.stories.english.reading import read_story
from otherminds.stories.fusing import fuse, scene_events, squeezed
from otherminds.stories.model import Entity, Episode, Event, Fact, Happening, Observation, Reading, Utterance

ASK = Utterance(0, "Zoe", "ask", Fact("at", "milk"))
REPLY = Utterance(1, "Jon", "assert", Fact("at", "milk", "kitchen fridge"))
FRIDGE, TABLE = Entity("kitchen fridge", "place", "kitchen", "in"), Entity("kitchen table", "place", "kitchen", "on")
MILK, KITCHEN = Entity("milk", "object"), Entity("kitchen", "room")
TALK = Reading(Episode("t", ("Zoe", "Jon"), (FRIDGE, MILK), (), (ASK, REPLY)), (), 0.9, ("One more thing",))
DEEDS = Reading(Episode("t", ("Zoe",), (TABLE, MILK), (), (Event(0, "Zoe", "put", "milk", "kitchen table"),)))


def seen(*happenings: Happening, entities: tuple[Entity, ...] = (), agents: tuple[str, ...] = ("Zoe",)) -> Reading:
    return Reading(Episode("v", agents, entities, (), happenings), (), 0.5, ("blurred",))


def event(t: int, verb: str, obj: str | None = None, place: str | None = None, agent: str = "Zoe") -> Event:
    return Event(t, agent, verb, obj, place, p=0.8, source="video")  # type: ignore[arg-type]


def told(reading: Reading) -> list[str]:
    """The timeline in words: who, what."""
    assert [happening.t for happening in reading.episode.timeline] == list(range(len(reading.episode.timeline)))
    found = []
    for one in reading.episode.timeline:
        match one:
            case Utterance(speaker=who, act=act):
                found.append(f"{who} {act}")
            case Event(agent=who, verb=verb, obj=thing, place=place):
                found.append(" ".join(filter(None, (who, verb, thing, place))))
            case Observation(fact=fact, sees=sees):
                found.append(f"{'seen' if sees else 'unseen'} {fact.value}")
    return found


def test_without_anything_else_a_text_remains_as_it_is() -> None:
    assert fuse(TALK) == TALK
    assert fuse(TALK, None, {}) == TALK


def test_what_was_read_of_the_text_counts() -> None:
    found = fuse(TALK, seen(event(0, "walk")))
    assert (found.coverage, found.unread, found.episode.id) == (0.9, ("One more thing",), "t")


def test_what_is_said_happens_when_something_is_said_in_the_video() -> None:
    heard = Utterance(1, "Zoe", "ask", Fact("at", "beer"), source="video")
    video = seen(event(0, "walk", None, "kitchen table"), heard, event(2, "open", None, "kitchen fridge"))
    assert told(fuse(TALK, video)) == [
        "Zoe walk kitchen table",
        "Zoe ask",
        "Jon assert",
        "Zoe open kitchen fridge",
    ]


def test_what_is_said_happens_with_the_last_that_is_said_in_the_video() -> None:
    first, last = (Utterance(t, who, "unsure", source="video") for t, who in ((0, "Zoe"), (2, "Jon")))
    video = seen(first, event(1, "walk", None, "kitchen table"), last, event(3, "open", None, "kitchen fridge"))
    assert told(fuse(TALK, video)) == ["Zoe walk kitchen table", "Zoe ask", "Jon assert", "Zoe open kitchen fridge"]


def test_without_talk_in_the_video_talk_comes_first() -> None:
    video = seen(event(0, "walk", None, "kitchen table"), event(1, "open", None, "kitchen fridge"))
    assert told(fuse(TALK, video)) == ["Zoe ask", "Jon assert", "Zoe walk kitchen table", "Zoe open kitchen fridge"]


def test_what_the_text_says_was_said_replaces_what_the_video_model_heard() -> None:
    heard = [Utterance(t, "Jon", "assert", Fact("at", "milk", "kitchen table"), source="video") for t in (0, 1)]
    found = fuse(TALK, seen(*heard, event(2, "walk", None, "kitchen table"), agents=("Zoe", "Jon")))
    said = [one for one in found.episode.timeline if isinstance(one, Utterance)]
    assert [(one.act, one.content, one.source) for one in said] == [
        (one.act, one.content, "text") for one in (ASK, REPLY)
    ]


def test_things_that_only_the_video_names_are_some_thing_or_other() -> None:
    video = seen(event(0, "grab", "milk", "kitchen fridge"), event(1, "grab", "beer", "kitchen fridge"))
    right, doubted = fuse(TALK, video).episode.timeline[2:]
    assert isinstance(right, Event)
    assert isinstance(doubted, Event)
    assert (right.obj, right.p) == ("milk", 0.8)
    assert doubted.obj is None
    assert doubted.place == "kitchen fridge"
    assert doubted.p < right.p


def test_people_whom_a_text_of_two_does_not_name_are_left_out() -> None:
    video = seen(
        event(0, "walk", None, "kitchen table", "Max"), event(1, "open", None, "kitchen fridge"), agents=("Zoe", "Max")
    )
    found = fuse(TALK, video)
    assert told(found) == ["Zoe ask", "Jon assert", "Zoe open kitchen fridge"]
    assert found.episode.agents == ("Zoe", "Jon")


def test_of_one_person_the_video_tells_who_else_there_is() -> None:
    video = seen(event(0, "grab", "milk", "kitchen table", "Max"), agents=("Max",))
    found = fuse(DEEDS, video)
    assert found.episode.agents == ("Zoe", "Max")
    assert told(found) == ["Zoe put milk kitchen table", "Max grab milk kitchen table"]


def test_the_story_has_all_places_of_both_once() -> None:
    sofa = Entity("living room sofa", "place", "living room", "on")
    video = seen(event(0, "walk", None, "living room sofa"), entities=(sofa, FRIDGE))
    assert fuse(TALK, video).episode.entities == (FRIDGE, MILK, sofa)


def test_a_place_without_a_room_is_the_one_that_the_text_speaks_of() -> None:
    bare = Entity("fridge", "place", None, "in")
    found = fuse(TALK, seen(event(0, "open", None, "fridge"), entities=(bare,)))
    assert told(found)[-1] == "Zoe open kitchen fridge"
    assert bare not in found.episode.entities


def test_of_places_of_a_kind_the_one_in_the_text_is_meant() -> None:
    cabinet, bare = Entity("bedroom cabinet", "place", "bedroom", "in"), Entity("cabinet", "place", None, "in")
    text = Reading(Episode("t", ("Zoe", "Jon"), (cabinet, MILK), (), (ASK, REPLY)))
    assert told(fuse(text, seen(event(0, "open", None, "cabinet"), entities=(bare,))))[-1] == "Zoe open bedroom cabinet"


def test_a_place_without_a_room_is_that_of_any_home() -> None:
    bare = Entity("microwave", "place", None, "in")
    assert told(fuse(TALK, seen(event(0, "open", None, "microwave"), entities=(bare,))))[-1] == (
        "Zoe open kitchen microwave"
    )
    odd = Entity("trunk", "place", None, "in")
    found = fuse(TALK, seen(event(0, "open", None, "trunk"), entities=(odd,)))
    assert told(found)[-1] == "Zoe open trunk"
    assert odd in found.episode.entities


def test_what_a_scene_graph_shows_comes_first() -> None:
    frames = {"inside": {4: ("A milk is inside the fridge",)}, "hold": {5: ("holding a milk",)}}
    video = seen(event(0, "walk", None, "kitchen table"))
    found = fuse(TALK, video, frames)
    assert told(found) == ["seen kitchen fridge", "Zoe ask", "Jon assert", "Zoe walk kitchen table"]
    assert told(fuse(TALK, None, frames)) == ["seen kitchen fridge", "Zoe ask", "Jon assert"]


def test_a_cabinet_of_a_scene_graph_is_the_one_that_was_spoken_of() -> None:
    cabinet = Entity("bathroom cabinet", "place", "bathroom", "in")
    for place in ("living room cabinet", "bedroom cabinet"):
        reply = Utterance(1, "Jon", "assert", Fact("at", "milk", place))
        text = Reading(Episode("t", ("Zoe", "Jon"), (cabinet, MILK), (), (ASK, reply)))
        frames = {"inside": {4: ("A milk is inside the cabinet",)}, "hold": {5: ("holding a milk",)}}
        assert told(fuse(text, None, frames))[0] == f"seen {place}"


def test_a_scene_graph_calls_a_kitchen_cabinet_by_its_whole_name() -> None:
    reply = Utterance(1, "Jon", "assert", Fact("at", "milk", "kitchen cabinet"))
    text = Reading(Episode("t", ("Zoe", "Jon"), (MILK,), (), (ASK, reply)))
    for name, place in (("kitchencabinet", "kitchen cabinet"), ("cabinet", "living room cabinet")):
        frames = {"inside": {4: (f"A milk is inside the {name}",)}, "hold": {5: ("holding a milk",)}}
        assert told(fuse(text, None, frames))[0] == f"seen {place}"


def test_of_a_story_in_which_nobody_asks_a_scene_graph_tells_nothing() -> None:
    frames = {"inside": {4: ("A milk is inside the fridge",)}, "hold": {5: ("holding a milk",)}}
    assert fuse(DEEDS, None, frames) == DEEDS


def test_two_readings_of_words_make_one_story() -> None:
    text = read_story('Zoe asked, "Where is the milk?" Jon answered, "The milk is in the kitchen fridge."')
    words = "Zoe asks something. Zoe walks to the fridge, opens it and grabs some object from it."
    video = read_story(words, source="video", p=0.8, cast=text.episode.agents)
    found = fuse(text, video)
    assert told(found)[:2] == ["Zoe ask", "Jon assert"]
    assert "Zoe open kitchen fridge" in told(found)
    assert {one.source for one in found.episode.timeline} == {"text", "video"}
    assert {entity.id for entity in found.episode.entities if entity.kind == "place"} == {"kitchen fridge"}


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


@pytest.mark.slow
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
