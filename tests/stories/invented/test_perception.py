"""Stories seen through eyes that err: as often as they should, and reported with the probability of being right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.stories.invented.perception import VIDEO_MODEL, Noise, seen_through
from otherminds.stories.model import Entity, Episode, Event, Fact, Happening, Observation, Utterance

PLACES = {"fridge": "kitchen", "table": "kitchen", "stove": "kitchen", "sofa": "den", "desk": "den", "tub": "bath"}
THINGS = ("milk", "cup", "pen", "toy")
PEOPLE = ("Ann", "Bo")
STORIES = 1500
EVERYTHING = Noise(drop=0.3, unnamed=0.2, rename=0.25, misplace=0.3, swap=0.15, invent=0.4)


def story(rng: np.random.Generator, length: int = 10) -> Episode:
    """Two grabs, two things put down, walks, doors, and one question, at times 0, 10, 20, …."""

    def event(verb: str, t: int) -> Happening:
        place, thing = str(rng.choice(list(PLACES))), str(rng.choice(THINGS))
        if verb == "ask":
            return Utterance(t, str(rng.choice(PEOPLE)), "ask", Fact("at", thing))
        obj = thing if verb in ("grab", "put") else None
        return Event(t, str(rng.choice(PEOPLE)), verb, obj, place, PLACES[place], span=(t, t + 5))  # type: ignore[arg-type]

    verbs = ["grab", "grab", "put", "put", "ask", *(["walk", "open", "close"] * length)][:length]
    entities = (
        *(Entity(person, "agent") for person in PEOPLE),
        *(Entity(thing, "object") for thing in THINGS),
        *(Entity(place, "place", room, "in") for place, room in PLACES.items()),
    )
    order = rng.permutation(verbs)
    timeline = tuple(event(str(verb), 10 * i) for i, verb in enumerate(order))
    return Episode("s", PEOPLE, entities, (Fact("in_room", "Ann", "den"),), timeline, complete=True)


@pytest.fixture(scope="module")
def stories() -> list[Episode]:
    return [story(np.random.default_rng(seed)) for seed in range(STORIES)]


def watched(stories: Sequence[Episode], noise: Noise, seed: int = 1) -> list[Episode]:
    rng = np.random.default_rng(seed)
    return [seen_through(episode, noise, rng) for episode in stories]


def events(episode: Episode) -> list[Event]:
    return [happening for happening in episode.timeline if isinstance(happening, Event)]


def pairs(stories: Sequence[Episode], seen: Sequence[Episode]) -> list[tuple[Event, Event]]:
    """Every reported event with the one that happened at that time; only where nothing is made up."""
    found = []
    for true, told in zip(stories, seen, strict=True):
        at = {event.t: event for event in events(true)}
        found += [(at[event.t], event) for event in events(told)]
    return found


def is_right(true: Episode, told: Event) -> bool:
    """Whether there was such an event at that time; a thing that is not named is not wrong."""
    return any(
        (one.t, one.agent, one.verb, one.place, one.room) == (told.t, told.agent, told.verb, told.place, told.room)
        and told.obj in (one.obj, None)
        for one in events(true)
    )


def close(share: float, p: float, n: int) -> bool:
    return bool(abs(share - p) <= 4 * max(p * (1 - p), 1e-9) ** 0.5 / n**0.5)


@pytest.mark.slow
def test_without_noise_everything_is_seen_as_it_is(stories: list[Episode]) -> None:
    for true, told in zip(stories[:50], watched(stories[:50], Noise()), strict=True):
        plain = tuple(replace(h, source="video", span=None) if isinstance(h, Event) else h for h in true.timeline)
        assert told == replace(true, timeline=plain)


@pytest.mark.slow
def test_speech_and_what_the_story_is_about_stay_as_they_are(stories: list[Episode]) -> None:
    sights: list[Happening] = [
        Observation(95, "Bo", Fact("at", "milk", "fridge")),
        Utterance(96, "Bo", "unsure", Fact("at", "pen")),
    ]
    true = replace(stories[0], timeline=(*stories[0].timeline, *sights))
    told = seen_through(true, replace(EVERYTHING, drop=1.0, invent=0.0), np.random.default_rng(0))
    assert told.timeline == tuple(h for h in true.timeline if not isinstance(h, Event))
    assert replace(told, timeline=()) == replace(true, timeline=())


def test_what_is_told_comes_in_the_order_of_time_and_from_the_video(stories: list[Episode]) -> None:
    for told in watched(stories[:100], replace(EVERYTHING, invent=1.0)):
        times = [happening.t for happening in told.timeline]
        assert times == sorted(times)
        assert {event.source for event in events(told)} <= {"video"}
        assert all(event.span is None for event in events(told))


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.1, 0.6])
@pytest.mark.parametrize(
    ("name", "applies", "differs"),
    [
        ("unnamed", lambda e: e.obj is not None, lambda a, b: b.obj is None),
        ("rename", lambda e: e.obj is not None, lambda a, b: b.obj != a.obj),
        ("misplace", lambda e: e.room != "bath", lambda a, b: b.place != a.place),
        ("swap", lambda e: True, lambda a, b: b.agent != a.agent),
    ],
)
def test_every_mistake_is_made_as_often_as_it_should(
    stories: list[Episode],
    name: str,
    p: float,
    applies: Callable[[Event], bool],
    differs: Callable[[Event, Event], bool],
) -> None:
    noise = replace(Noise(), **{name: p})
    found = [pair for pair in pairs(stories, watched(stories, noise)) if applies(pair[0])]
    assert close(np.mean([differs(*pair) for pair in found]).item(), p, len(found))
    field = {"unnamed": "obj", "rename": "obj", "misplace": "place", "swap": "agent"}[name]
    for true, told in found:
        same = replace(told, p=true.p, source=true.source, span=true.span, **{field: getattr(true, field)})
        assert same == true


@pytest.mark.slow
def test_names_are_mistaken_for_others_and_places_for_others_in_the_room(stories: list[Episode]) -> None:
    for true, told in pairs(stories[:300], watched(stories[:300], Noise(rename=1.0, misplace=1.0, swap=1.0))):
        assert told.agent in PEOPLE
        assert told.agent != true.agent
        assert told.obj is None if true.obj is None else told.obj in set(THINGS) - {true.obj}
        assert PLACES[told.place or ""] == true.room == told.room
        assert (told.place == true.place) == (true.place == "tub")


def test_nothing_can_be_mistaken_where_there_is_nothing_else() -> None:
    entities = (Entity("tub", "place", "bath", "in"), Entity("milk", "object"))
    alone = Episode("s", ("Ann",), entities, timeline=(Event(0, "Ann", "grab", "milk", "tub"),))
    told = seen_through(alone, Noise(rename=1.0, misplace=1.0, swap=1.0), np.random.default_rng(0))
    assert told.timeline == (Event(0, "Ann", "grab", "milk", "tub", source="video"),)


@pytest.mark.slow
def test_events_are_missed_as_often_as_they_should_be(stories: list[Episode]) -> None:
    left, n = sum(len(events(told)) for told in watched(stories, Noise(drop=0.3))), STORIES * 9
    assert close(left / n, 0.7, n)


@pytest.mark.slow
def test_grabs_are_made_up_as_often_as_they_should_be_and_never_happen_to_be_right(stories: list[Episode]) -> None:
    seen = watched(stories, Noise(drop=1.0, invent=0.4))
    made_up = [(true, event) for true, told in zip(stories, seen, strict=True) for event in events(told)]
    assert close(len(made_up) / (2 * STORIES), 0.4, 2 * STORIES)
    assert {event.verb for _, event in made_up} == {"grab"}
    assert not any(is_right(true, event) for true, event in made_up)
    assert {event.agent for _, event in made_up} == set(PEOPLE)
    assert {event.obj for _, event in made_up} == set(THINGS)
    assert {event.place for _, event in made_up} == set(PLACES)
    assert all(event.room == PLACES[event.place or ""] for _, event in made_up)
    assert {event.p for _, event in made_up} == {0.0}


@pytest.mark.parametrize(("thing", "place"), [("milk", "tub"), (None, "tub"), ("milk", None), (None, "desk")])
def test_of_what_is_made_up_as_much_is_told_as_of_what_happens(
    stories: list[Episode], thing: str | None, place: str | None
) -> None:
    timeline = tuple(Event(t, "Ann", "grab" if t % 2 else "wait", thing, place) for t in range(400))
    told = seen_through(replace(stories[0], timeline=timeline), Noise(drop=1.0, invent=1.0), np.random.default_rng(0))
    assert len(told.timeline) == 200
    assert {event.obj for event in events(told)} == (set(THINGS) if thing else {None})
    alike = {None: {None}, "tub": {"tub"}, "desk": set(PLACES) - {"tub"}}[place]
    assert {event.place for event in events(told)} == alike


@pytest.mark.slow
@pytest.mark.parametrize("noise", [EVERYTHING, VIDEO_MODEL, Noise(invent=1.0), Noise(drop=0.8, unnamed=0.5, swap=0.4)])
def test_of_what_is_reported_with_a_probability_that_share_is_right(stories: list[Episode], noise: Noise) -> None:
    right = defaultdict[float, list[bool]](list)
    for true, told in zip(stories, watched(stories, noise, 5), strict=True):
        for event in events(told):
            right[event.p].append(is_right(true, event))
    assert sum(map(len, right.values())) > 2000
    for p, found in right.items():
        assert len(found) > 30
        assert close(np.mean(found).item(), p, len(found)), (p, np.mean(found), len(found))


def test_the_probability_follows_from_what_could_have_been_mistaken(stories: list[Episode]) -> None:
    told = [event for episode in watched(stories[:300], EVERYTHING) for event in events(episode)]
    real = 0.7 / (0.7 + 0.4)
    for event in told:
        expected = 0.85 * (0.75 if event.obj else 1.0) * (1.0 if event.place == "tub" else 0.7)
        assert event.p == pytest.approx(expected * (real if event.verb == "grab" else 1.0))


def test_a_report_of_a_report_is_less_certain_still() -> None:
    once = Episode("s", PEOPLE, timeline=(Event(0, "Ann", "walk", room="den", p=0.5),))
    (told,) = seen_through(once, Noise(swap=0.2), np.random.default_rng(0)).timeline
    assert told.p == pytest.approx(0.4)


@pytest.mark.slow
def test_the_video_model_sees_as_little_as_was_measured(stories: list[Episode]) -> None:
    named, right, vague = 0, 0, 0
    for true, told in zip(stories, watched(stories, VIDEO_MODEL), strict=True):
        taken = {(event.t, event.obj) for event in events(true) if event.verb == "grab"}
        grabs = [event for event in events(told) if event.verb == "grab"]
        named += sum(event.obj is not None for event in grabs)
        right += sum((event.t, event.obj) in taken for event in grabs)
        vague += any(event.obj is None for event in grabs)
    assert right / (2 * STORIES) == pytest.approx(0.13, abs=0.02)
    assert right / named == pytest.approx(0.23, abs=0.03)
    assert vague / STORIES == pytest.approx(103 / 150, abs=0.05)


def test_the_same_seed_gives_the_same_report(stories: list[Episode]) -> None:
    assert watched(stories[:50], EVERYTHING, 3) == watched(stories[:50], EVERYTHING, 3)
    assert watched(stories[:50], EVERYTHING, 3) != watched(stories[:50], EVERYTHING, 4)


@pytest.mark.slow
@given(st.builds(Noise, **dict.fromkeys(Noise.__dataclass_fields__, st.floats(0, 1))), st.integers(0, 99))
def test_any_noise_on_any_story_gives_probabilities(noise: Noise, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for told in events(seen_through(story(rng, int(rng.integers(0, 12))), noise, rng)):
        assert 0.0 <= told.p <= 1.0


def test_a_story_of_grabs_alone_and_one_without_entities_can_be_seen_too() -> None:
    bare = Episode("s", ("Ann",), timeline=(Event(0, "Ann", "grab", "cup", "shelf"), Event(1, "Cy", "grab")))
    told = seen_through(bare, Noise(invent=1.0, swap=1.0, rename=1.0), np.random.default_rng(0))
    assert len(told.timeline) == 4
    assert {event.agent for event in events(told)} <= {"Ann", "Cy"}


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan")])
def test_what_is_no_probability_is_refused(p: float) -> None:
    with pytest.raises(InputError, match=r"swap: .* is not a probability"):
        Noise(swap=p)
