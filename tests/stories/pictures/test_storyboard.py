"""Storyboards: one picture for everything that happens, showing who and what is where, whatever they are called."""

from __future__ import annotations

import io
import sys
import types
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from otherminds.errors import InputError
from otherminds.stories.homes import SOMEWHERE
from otherminds.stories.invented.invention import Story, invent
from otherminds.stories.model import Entity, Episode, Event, Fact, Happening, Observation, Utterance
from otherminds.stories.pictures.floor_plan import MOST_ROOMS, SOMETHING, STRIP, story_states
from otherminds.stories.pictures.frames import (
    HEIGHT,
    LONGEST,
    OPEN,
    PEOPLE,
    PLAN,
    WIDTH,
    WOOD,
    bubble,
    caption,
    cut,
    frames_of,
    lines,
    width_of,
)
from otherminds.stories.pictures.storyboard import MOST_FRAMES, SPACE, frames, storyboard_svg, write_png, write_video
from otherminds.worlds.sprites import Box, Disc, TextLine

SVG = "{http://www.w3.org/2000/svg}"
Boxed = tuple[float, float, float, float]
PLACES = (
    Entity("kitchen fridge", "place", "kitchen", "in"),
    Entity("kitchen table", "place", "kitchen", "on"),
    Entity("bedroom drawer", "place", "bedroom", "in"),
)
OPENING = (Fact("in_room", "Mary", "kitchen"), Fact("in_room", "John", "bedroom"), Fact("at", "wine", "kitchen table"))
MOVES: tuple[Happening, ...] = (
    Event(0, "Mary", "grab", "wine", "kitchen table"),
    Event(1, "Mary", "open", place="kitchen fridge"),
    Event(2, "Mary", "put", "wine", "kitchen fridge"),
    Utterance(3, "John", "ask", Fact("at", "wine")),
    Utterance(4, "Mary", "assert", Fact("at", "wine", "kitchen table")),
    Event(5, "Mary", "close", place="kitchen fridge"),
    Event(6, "John", "walk", room="kitchen"),
    Event(7, "Mary", "leave", room="kitchen"),
    Event(8, "John", "grab", "wine", "kitchen fridge"),
)


def story(*timeline: Happening, opening: tuple[Fact, ...] = OPENING) -> Episode:
    entities = (*PLACES, Entity("wine", "object"), Entity("kitchen", "room"), Entity("bedroom", "room"))
    return Episode("s", ("Mary", "John"), entities, opening, timeline or MOVES)


@pytest.fixture(scope="module")
def invented() -> list[Story]:
    return list(invent(36, np.random.default_rng(4)))


def texts(picture: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def boxes(picture: str) -> list[tuple[str, Boxed]]:
    """Every rectangle: its fill, and left, top, right and bottom."""
    found = []
    for rect in ElementTree.fromstring(picture).iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
        found.append((rect.get("fill", ""), (x, y, x + width, y + height)))
    return found


def where(picture: str, text: str) -> tuple[float, float]:
    (found,) = (one for one in ElementTree.fromstring(picture).iter(f"{SVG}text") if one.text == text)
    return float(found.get("x", "")), float(found.get("y", ""))


def rooms(picture: str, names: tuple[str, ...]) -> dict[str, Boxed]:
    """The smallest rectangle that each of these titles stands in."""
    found = {}
    for name in names:
        if name in texts(picture):
            found[name] = around(picture, where(picture, name))
    return found


def around(picture: str, at: tuple[float, float]) -> Boxed:
    holding = [box for _, box in boxes(picture) if box[0] <= at[0] <= box[2] and box[1] <= at[1] <= box[3]]
    return min(holding, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))


def inside(at: tuple[float, float], box: Boxed) -> bool:
    return box[0] <= at[0] <= box[2] and box[1] <= at[1] <= box[3]


def disc(picture: str, colour: str) -> tuple[float, float]:
    """Where a person's disc is; the dots of a trail are paler."""
    (found,) = (c for c in ElementTree.fromstring(picture).iter(f"{SVG}circle") if c.get("fill") == colour)
    return float(found.get("cx", "")), float(found.get("cy", ""))


# Where everybody and everything is


def test_a_story_is_followed_step_by_step() -> None:
    states = story_states(story()).states
    assert len(states) == len(MOVES) + 1
    assert [state.where("wine") for state in states] == [
        "kitchen table", None, None, *["kitchen fridge"] * 6, None,
    ]  # fmt: skip
    assert [name for state in states for name, p in state.people if "wine" in p.holds] == ["Mary", "Mary", "John"]
    assert [state.person("Mary").room for state in states] == ["kitchen"] * 8 + [SOMEWHERE] * 2
    assert [state.person("John").room for state in states] == ["bedroom"] * 7 + ["kitchen"] * 3
    assert ["kitchen fridge" in state.opened for state in states] == [False, False, *[True] * 4, *[False] * 3, True]


def test_things_are_where_the_story_showed_them_not_where_somebody_says_they_are() -> None:
    told = story(
        Event(0, "Mary", "grab", None, "kitchen fridge"),
        Event(1, "Mary", "put", None, "kitchen table"),
        Utterance(2, "John", "assert", Fact("at", "key", "bedroom drawer")),
        Observation(3, "John", Fact("at", "pen", "bedroom drawer")),
        Observation(4, "John", Fact("at", "cup", "bedroom drawer"), sees=False),
        Event(5, "John", "move", "pen", "kitchen table"),
        Event(6, "Zed", "grab", "pen", "kitchen table"),
        opening=(*OPENING, Fact("holds", "John", "torch")),
    )
    states = story_states(told).states
    assert states[0].person("John").holds == {"torch"}
    assert states[1].person("Mary").holds == {SOMETHING}
    assert dict(states[2].things) == {"wine": "kitchen table", SOMETHING: "kitchen table"}
    assert dict(states[5].things) == {"wine": "kitchen table", SOMETHING: "kitchen table", "pen": "bedroom drawer"}
    assert states[7].where("pen") == "kitchen table"


def test_the_replay_of_a_story_that_tells_every_act_is_the_run_it_was_told_of(invented: list[Story]) -> None:
    for episode in (story.episode for story in invented):
        room = {fact.subject: fact.value for fact in episode.init}
        held = {name: set[str | None]() for name in episode.agents}
        course = story_states(episode)
        for happening, state in zip(episode.timeline, course.states[1:], strict=True):
            if isinstance(happening, Event):
                room[happening.agent] = happening.room if happening.verb == "walk" else room[happening.agent]
                held[happening.agent] |= {happening.obj} if happening.verb == "grab" else set()
                held[happening.agent] -= {happening.obj} if happening.verb == "put" else set()
            assert {name: person.room for name, person in state.people} == room
            assert {name: set(person.holds) for name, person in state.people} == held


@pytest.mark.slow
def test_people_are_drawn_in_the_room_where_the_replay_has_them(invented: list[Story]) -> None:
    for episode in [story(), *(story.episode for story in invented[::5])]:
        course = story_states(episode)
        for picture, state in zip(frames(episode), course.states[1:], strict=True):
            drawn = rooms(picture, course.home.rooms)
            for number, name in enumerate(episode.agents):
                assert inside(disc(picture, PEOPLE[number]), drawn[state.person(name).room])


def test_names_stay_in_the_room_of_those_they_name() -> None:
    wide = (Entity("kitchen cup", "place", "kitchen", "on"), *(replace(p, room="kitchen") for p in PLACES))
    for place in (one.id for one in wide):
        tall = Episode("s", ("Bartholomew", "Jo"), wide, (), (Event(0, "Bartholomew", "walk", place=place),))
        tall = replace(tall, entities=(*wide, *(Entity(f"r{i}", "room") for i in range(5))))
        (frame,) = frames_of(tall)
        (name,) = (one for one in frame.drawn if isinstance(one, TextLine) and one.text.startswith("Bar") and one.bold)
        half = width_of(name.text, name.size, bold=True) / 2
        kitchen = rooms(frames(tall)[0], ("kitchen",))["kitchen"]
        assert kitchen[0] <= name.x - half
        assert name.x + half <= kitchen[2]


def test_who_is_at_a_place_stands_in_front_of_it_and_apart_from_others() -> None:
    walks = (Event(0, "Mary", "walk", place="kitchen fridge"), Event(1, "John", "walk", place="kitchen fridge"))
    first, second = frames(story(*walks))
    fridge = around(first, where(first, "fridge"))
    x, y = disc(first, PEOPLE[0])
    assert fridge[0] < x < fridge[2]
    assert 0 < y - fridge[3] < 30
    (x, y), (u, v) = (disc(second, PEOPLE[n]) for n in (0, 1))
    assert abs(x - u) > 20 or abs(y - v) > 20


def test_things_are_drawn_where_they_lie_or_beside_who_holds_them() -> None:
    pictures = frames(story())
    table = around(pictures[0], where(pictures[0], "table"))
    assert not inside(where(pictures[0], "wine"), table)
    assert abs(where(pictures[0], "wine")[0] - disc(pictures[0], PEOPLE[0])[0]) < 60
    fridge = around(pictures[2], where(pictures[2], "fridge"))
    assert inside(where(pictures[2], "wine"), fridge)
    assert inside(where(pictures[6], "wine"), fridge)


def test_what_can_be_closed_has_a_door_and_is_yellow_while_it_is_open() -> None:
    pictures = frames(story())
    fill = {box: colour for colour, box in boxes(pictures[0])}
    fridge, drawer, table = (around(pictures[0], where(pictures[0], name)) for name in ("fridge", "drawer", "table"))
    assert fill[fridge] == fill[drawer] == WOOD != fill[table]
    yellow = [[box for colour, box in boxes(picture) if colour == OPEN] for picture in pictures]
    assert yellow == [[], *[[fridge]] * 4, *[[]] * 3, [fridge]]


def test_who_is_in_no_room_the_story_names_is_drawn_elsewhere() -> None:
    picture = frames(story(Event(0, "Mary", "leave", room="kitchen")))[0]
    strip = rooms(picture, (SOMEWHERE,))[SOMEWHERE]
    assert strip[3] - strip[1] == STRIP
    assert inside(disc(picture, PEOPLE[0]), strip)
    assert SOMEWHERE not in texts(frames(story(MOVES[0]))[0])


def test_furniture_the_story_does_not_name_is_not_drawn() -> None:
    assert "stove" not in texts(frames(story())[0])
    assert "microwave" not in texts(frames(story())[0])


def test_who_moves_leaves_a_trail_and_who_acts_is_ringed() -> None:
    (walk,) = frames_of(story(MOVES[6]))
    dots = [shape for shape in walk.drawn if isinstance(shape, Disc) and shape.radius < 2 and shape.fill != OPEN]
    assert len(dots) > 5
    (ask,) = frames_of(story(MOVES[3]))
    assert not [shape for shape in ask.drawn if isinstance(shape, Disc) and shape.radius < 2 and shape.fill != OPEN]
    mary, john = (disc(frames(story(MOVES[3]))[0], PEOPLE[n]) for n in (0, 1))
    centres = [(shape.x, shape.y) for shape in ask.drawn if isinstance(shape, Disc)]
    assert centres.count(john) == 2
    assert centres.count(mary) == 1


# TextLine


@pytest.mark.parametrize(
    ("happening", "sentence"),
    [
        (Event(0, "Mary", "walk", room="kitchen"), "Mary walks into the kitchen."),
        (Event(0, "Mary", "walk", place="kitchen table"), "Mary walks to the table in the kitchen."),
        (Event(0, "Mary", "enter", room="kitchen"), "Mary enters the kitchen."),
        (Event(0, "Mary", "leave", room="kitchen"), "Mary leaves the kitchen."),
        (Event(0, "Mary", "leave"), "Mary leaves."),
        (Event(0, "Mary", "grab", "wine", "kitchen table"), "Mary takes the wine from the table in the kitchen."),
        (Event(0, "Mary", "grab"), "Mary takes something."),
        (Event(0, "Mary", "put", "wine", "bedroom drawer"), "Mary puts the wine in the drawer in the bedroom."),
        (Event(0, "Mary", "put", "wine"), "Mary puts the wine down."),
        (Event(0, "Mary", "move", "wine", "box"), "Mary moves the wine to the box."),
        (Event(0, "Mary", "open", place="kitchen fridge"), "Mary opens the fridge in the kitchen."),
        (Event(0, "Mary", "close"), "Mary closes something."),
        (Event(0, "Mary", "look", place="bedroom drawer"), "Mary looks in the drawer in the bedroom."),
        (Event(0, "Mary", "look", room="bedroom"), "Mary looks around in the bedroom."),
        (Event(0, "Mary", "wait"), "Mary waits."),
        (Utterance(0, "Mary", "ask", Fact("at", "wine"), ("John",)), "Mary asks John: “Where is the wine?”"),
        (Utterance(0, "Mary", "ask", Fact("at", "wine", "kitchen")), "Mary asks: “Is the wine in the kitchen?”"),
        (Utterance(0, "Mary", "ask", Fact("holds", "John", "wine")), "Mary asks: “Does John have the wine?”"),
        (Utterance(0, "Mary", "assert", Fact("holds", "John", "wine")), "Mary says: “John has the wine.”"),
        (Utterance(0, "Mary", "assert", Fact("is", "wine", "red")), "Mary says: “The wine is red.”"),
        (
            Utterance(0, "Mary", "deny", Fact("at", "wine", "kitchen table"), ("John",)),
            "Mary says to John: “The wine is not on the table in the kitchen.”",
        ),
        (Utterance(0, "Mary", "unsure", Fact("at", "wine")), "Mary says: “I don’t know where the wine is.”"),
        (
            Utterance(0, "Mary", "unsure", Fact("at", "wine", "box")),
            "Mary says: “I don’t know whether the wine is at the box.”",
        ),
        (Utterance(0, "Mary", "silence"), "Mary says nothing."),
        (
            Observation(0, "Mary", Fact("in_room", "John", "bedroom")),
            "Mary sees that John is in the bedroom.",
        ),
        (
            Observation(0, "Mary", Fact("at", "wine", "bedroom drawer"), sees=False),
            "Mary does not notice whether the wine is in the drawer in the bedroom.",
        ),
    ],
)
def test_captions_say_what_happens(happening: Happening, sentence: str) -> None:
    assert caption(story(), happening) == sentence


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Utterance(0, "Mary", "ask", Fact("at", "wine")), "wine?"),
        (Utterance(0, "Mary", "assert", Fact("at", "wine", "box")), "wine → box"),
        (Utterance(0, "Mary", "deny", Fact("at", "wine", "box")), "wine: not box"),
        (Utterance(0, "Mary", "unsure", Fact("at", "wine")), "wine? No idea"),
        (Utterance(0, "Mary", "silence", Fact("at", "wine")), "…"),
        (Utterance(0, "Mary", "unsure"), "…"),
    ],
)
def test_what_is_said_stands_in_a_bubble(said: Utterance, words: str) -> None:
    assert bubble(said) == words
    assert words in texts(frames(story(said))[0])


def test_every_frame_has_its_number_and_its_whole_caption() -> None:
    pictures = frames(story())
    assert len(pictures) == len(MOVES)
    for number, (picture, happening) in enumerate(zip(pictures, MOVES, strict=True), 1):
        assert str(number) in texts(picture)
        sentence = caption(story(), happening)
        assert sentence in " ".join(texts(picture))
        assert ElementTree.fromstring(picture).get("aria-label") == sentence


def test_what_is_not_certain_is_marked() -> None:
    certain, doubtful = frames(story(MOVES[0], replace(MOVES[0], p=0.33, source="video")))
    assert "video, 33%" in texts(doubtful)
    assert not any("%" in text for text in texts(certain))


def test_text_is_cut_to_fit_and_otherwise_left_alone() -> None:
    assert cut("milk", 100, 8) == "milk"
    short = cut("a very long name indeed", 50, 8)
    assert short.endswith("…")
    assert width_of(short, 8) <= 50
    assert lines("one two three", 1000, 8, 2) == ("one two three",)
    assert lines("one two three", width_of("one two", 8) + 0.1, 8, 2) == ("one two", "three")
    assert cut("x" * (LONGEST + 1), 1e9, 8).endswith("…")


# Hostile names


STRANGE = "</text><script>alert(1)</script>&\"'\x00\x1b\u202e\ud800\n{x}%s"


def renamed(name: str) -> Episode:
    """The story with everything called by this name, or nearly."""
    names = {"Mary": name, "John": name + "2", "wine": name + "3", "kitchen": name + "4", "kitchen fridge": name + "5"}

    def new(value: str | None) -> str | None:
        return None if value is None else names.get(value, value)

    def fact(old: Fact) -> Fact:
        return replace(old, subject=new(old.subject) or "", value=new(old.value))

    entities = tuple(replace(e, id=new(e.id) or "", room=new(e.room)) for e in story().entities)
    timeline: list[Happening] = []
    for one in MOVES:
        if isinstance(one, Event):
            agent = new(one.agent) or ""
            timeline.append(replace(one, agent=agent, obj=new(one.obj), place=new(one.place), room=new(one.room)))
        elif isinstance(one, Utterance) and one.content is not None:
            timeline.append(replace(one, speaker=new(one.speaker) or "", content=fact(one.content)))
    agents = (names["Mary"], names["John"])
    return Episode(name, agents, entities, tuple(map(fact, OPENING)), tuple(timeline))


def test_names_are_text_and_never_markup() -> None:
    tame, wild = renamed("N"), renamed(STRANGE)
    sheet = storyboard_svg(wild)
    assert not any(c in sheet for c in "\x00\x1b\u202e\ud800")
    drawn = [{element.tag for element in ElementTree.fromstring(s).iter()} for s in (storyboard_svg(tame), sheet)]
    assert drawn[0] == drawn[1]
    assert len(frames(wild)) == len(MOVES)


@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_blank_names_do_no_harm(name: str) -> None:
    opening = (Fact("at", name, "kitchen table"), Fact("in_room", name, "kitchen"), Fact("holds", name, "wine"))
    asks = (Utterance(0, name, "ask", Fact("at", name)), Event(1, name, "walk", room=name))
    assert len(frames(Episode(name, (name,), (*PLACES, Entity(name, "place", "kitchen", "in")), opening, asks))) == 2


@pytest.mark.slow
@settings(max_examples=40)
@given(st.text(max_size=300))
def test_no_text_reaches_beyond_its_frame(name: str) -> None:
    for frame in frames_of(renamed("~" + name)):
        for words in (one for one in frame.drawn if isinstance(one, TextLine)):
            wide = width_of(words.text, words.size, words.bold)
            left = words.x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[words.anchor]
            assert left >= 0
            assert left + wide <= WIDTH
            assert 0 < words.y < HEIGHT
        for box in (one for one in frame.drawn if isinstance(one, Box)):
            assert box.width > 0
            assert box.height > 0


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(1, MOST_ROOMS), st.integers(0, 16), st.integers(1, 8))
def test_homes_of_any_size_are_drawn_inside_the_frame(n_rooms: int, n_places: int, n_people: int) -> None:
    names = [f"room {i}" for i in range(n_rooms)]
    people = tuple(f"person {i}" for i in range(n_people))
    entities = tuple(Entity(f"place {i}", "place", names[i % n_rooms], "in") for i in range(n_places))
    opening = tuple(Fact("in_room", person, names[i % 2 % n_rooms]) for i, person in enumerate(people))
    named = tuple(Entity(room, "room") for room in names)
    episode = Episode("s", people, (*named, *entities), opening, (Event(0, people[0], "wait"),), complete=True)
    (picture,) = frames(episode)
    assert len(rooms(picture, tuple(names))) == n_rooms
    for _, (left, top, right, bottom) in boxes(picture):
        assert left >= 0
        assert top >= 0
        assert right <= WIDTH
        assert bottom <= HEIGHT
    for i in range(n_people):
        room = rooms(picture, tuple(names))[names[i % 2 % n_rooms]]
        circles = list(ElementTree.fromstring(picture).iter(f"{SVG}circle"))
        at = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in circles if c.get("fill") == PEOPLE[i % 7]]
        assert any(inside(place, room) for place in at)


# What cannot be drawn


def test_a_home_of_too_many_rooms_is_refused() -> None:
    entities = tuple(Entity(f"room {i}", "room") for i in range(MOST_ROOMS + 1))
    with pytest.raises(InputError, match=r"episode 's' has 13 rooms \(12 can be drawn at most\)"):
        frames(Episode("s", ("Mary",), entities, (Fact("in_room", "Mary", "room 1"),), MOVES[:1], complete=True))


def test_a_story_in_which_nothing_happens_has_no_frames_and_no_sheet(tmp_path: Path) -> None:
    quiet = replace(story(), timeline=())
    assert frames(quiet) == ()
    for write in (storyboard_svg, lambda s: write_png(s, tmp_path / "x.png"), lambda s: write_video(s, "x.gif")):
        with pytest.raises(InputError, match="nothing happens in it"):
            write(quiet)


def test_a_story_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match=rf"has {MOST_FRAMES + 1} happenings \({MOST_FRAMES} can be drawn"):
        storyboard_svg(story(*[MOVES[3]] * (MOST_FRAMES + 1)))


def test_people_and_places_that_the_story_does_not_introduce_do_no_harm() -> None:
    odd = (Event(0, "Zed", "walk", room="attic"), Utterance(1, "Zed", "silence"), Event(2, "Mary", "put", "x", "void"))
    pictures = frames(Episode("s", ("Mary",), (), (), odd, complete=True))
    assert len(pictures) == 3
    assert "Zed walks into the attic." in " ".join(texts(pictures[0]))


# Files


def test_the_sheet_holds_all_frames_in_rows() -> None:
    root = ElementTree.fromstring(storyboard_svg(story(), columns=4))
    groups = root.findall(f"{SVG}g")
    assert [group.get("transform") for group in groups[:5]] == [
        "translate(10 10)", "translate(340 10)", "translate(670 10)", "translate(1000 10)", "translate(10 260)",
    ]  # fmt: skip
    assert len(groups) == len(MOVES)
    assert root.get("viewBox") == f"0 0 {SPACE + 4 * (320 + SPACE)} {SPACE + 3 * (240 + SPACE)}"
    few = ElementTree.fromstring(storyboard_svg(story(MOVES[0]), columns=4))
    assert few.get("viewBox") == "0 0 340 260"


@pytest.mark.slow
def test_the_same_story_gives_the_same_pictures(tmp_path: Path) -> None:
    assert storyboard_svg(story()) == storyboard_svg(story())
    for name in ("a.gif", "b.gif"):
        write_video(story(), tmp_path / name)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


@pytest.mark.slow
def test_a_frame_as_png_shows_what_the_svg_shows(tmp_path: Path) -> None:
    write_png(story(), tmp_path / "one.png", number=7, scale=3)
    with Image.open(tmp_path / "one.png") as file:
        image = file.convert("RGB")
    assert image.size == (960, 720)
    for number in (0, 1):
        x, y = disc(frames(story())[6], PEOPLE[number])
        pixel = image.getpixel((round(3 * (x - 7)), round(3 * y)))
        assert pixel == pytest.approx(tuple(bytes.fromhex(PEOPLE[number][1:])), abs=4)
    assert image.getpixel((3, 3 * int(PLAN.height + 25))) == (255, 255, 255)


@pytest.mark.slow
def test_a_sheet_as_png_has_the_size_of_the_svg(tmp_path: Path) -> None:
    write_png(story(), tmp_path / "all.png", columns=3, scale=1)
    with Image.open(tmp_path / "all.png") as image:
        assert image.size == (SPACE + 3 * 330, SPACE + 3 * 250)


@pytest.mark.parametrize("number", [0, len(MOVES) + 1])
def test_a_frame_that_there_is_not_is_refused(tmp_path: Path, number: int) -> None:
    with pytest.raises(InputError, match=rf"has no frame {number} \(there are {len(MOVES)}\)"):
        write_png(story(), tmp_path / "one.png", number=number)


@pytest.mark.slow
def test_a_gif_has_every_frame_for_as_long_as_it_takes_to_read(tmp_path: Path) -> None:
    write_video(story(), tmp_path / "story.GIF", scale=1)
    with Image.open(tmp_path / "story.GIF") as image:
        assert image.format == "GIF"
        assert getattr(image, "n_frames", 1) == len(MOVES)
        assert image.size == (320, 240)
        durations = []
        for number in range(len(MOVES)):
            image.seek(number)
            durations.append(image.info["duration"])
    lengths = [len(caption(story(), happening)) for happening in MOVES]
    assert min(durations) >= 1000
    assert durations[int(np.argmax(lengths))] == max(durations) > durations[int(np.argmin(lengths))]


def test_an_mp4_needs_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(InputError, match=r"story\.mp4: .* needs an extra \(.*pip install -e '\.\[video\]'\)$"):
        write_video(story(), tmp_path / "story.mp4")
    assert not (tmp_path / "story.mp4").exists()


@pytest.mark.slow
def test_an_mp4_shows_every_frame_for_some_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []

    def write_frames(path: str, size: tuple[int, int], *, fps: int, codec: str) -> Generator[None, bytes]:
        assert size == (640, 480)
        assert path == str(tmp_path / "story.mp4")
        while True:
            sent.append((yield))

    fake = types.ModuleType("imageio_ffmpeg")
    monkeypatch.setattr(fake, "write_frames", write_frames, raising=False)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", fake)
    write_video(story(), tmp_path / "story.mp4")
    assert {len(pixels) for pixels in sent} == {640 * 480 * 3}
    assert len(set(sent)) == len(MOVES)
    assert len(sent) > 10 * len(MOVES)


@pytest.mark.parametrize("name", ["story.avi", "story"])
def test_other_kinds_of_videos_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"no kind of video .* \(use \.gif or \.mp4\)"):
        write_video(story(), tmp_path / name)


@pytest.mark.slow
def test_a_file_that_cannot_be_written_is_reported_in_one_line(tmp_path: Path) -> None:
    for name, write in (("x.png", write_png), ("x.gif", write_video)):
        with pytest.raises(InputError, match=rf"^.*{name}: cannot be written: No such file or directory$"):
            write(story(), tmp_path / "nowhere" / name)


def test_pictures_can_be_written_to_memory() -> None:
    file = io.BytesIO()
    write_png(story(), file, number=1)
    assert Image.open(file).size == (640, 480)
