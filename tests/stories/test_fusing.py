"""What a text tells, a video model saw and a scene graph shows, as one story."""

from __future__ import annotations

from otherminds.stories.english.reading import read_story
from otherminds.stories.fusing import fuse
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
