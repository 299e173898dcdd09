"""Models that watch: pictures reach them, what they see becomes events, and what cannot be seen is refused."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from endpoint_server import serve
from otherminds.errors import InputError
from otherminds.language.endpoint import Endpoint
from otherminds.language.model import ModelError, Request
from otherminds.language.scripted import Scripted, scripted, text_of
from otherminds.stories.by_model.vision import LARGEST, watch
from otherminds.stories.model import Entity, Event, Reading, Utterance

Data = dict[str, Any]
PEOPLE, THINGS = ("Mary", "David"), ("wine glass", "book")


def png(shade: int, junk: bytes = b"") -> bytes:
    """A PNG picture of one grey point, with a comment."""
    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    chunks = [
        (b"IHDR", head),
        (b"tEXt", b"junk\x00" + junk),
        (b"IDAT", zlib.compress(bytes((0, shade)))),
        (b"IEND", b""),
    ]
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def event(who: str = "Mary", does: str = "walk", **told: object) -> Data:
    """An event as a model writes it down."""
    return {"who": who, "does": does, "thing": None, "place": None, "room": None, "sure": 1.0, **told}


SEEN = [
    event(room="kitchen", sure=0.9),
    event(does="open", place="cabinet", room="kitchen", sure=0.8),
    event(does="grab", thing="wineglass", place="kitchen cabinet", sure=0.5),
    event("David", "talk", sure=0.7),
    event(does="put", thing="some object", place="the coffee table", room="living room", sure=0.6),
    event(does="look", thing="the book", sure=0.0),
    event("David", "move", thing="book", place="box", sure=1),
]


def model_of(*replies: object) -> tuple[Scripted, list[Request]]:
    """A model that gives these replies in turn, and the list of what it was asked."""
    asked: list[Request] = []
    inner = scripted("watcher", [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies])

    def write(request: Request) -> str:
        asked.append(request)
        return inner.write(request)

    return Scripted("watcher", write), asked


def seen(*events: Data, attempts: int = 1) -> Reading:
    """What comes of a model that sees these events."""
    return watch(model_of({"events": list(events)})[0], [png(0)], PEOPLE, THINGS, attempts)


def images_of(request: Request) -> tuple[bytes, ...]:
    """The pictures of a request."""
    assert isinstance(request.prompt, tuple)
    return tuple(image for turn in request.prompt for image in turn.images)


class TestWatching:
    """What a model sees, as a reading."""

    def test_events_are_as_sure_as_the_model_is(self) -> None:
        reading = seen(*SEEN)
        assert reading.episode.timeline == (
            Event(0, "Mary", "walk", None, None, "kitchen", 0.9, "video"),
            Event(1, "Mary", "open", None, "kitchen cabinet", "kitchen", 0.8, "video"),
            Event(2, "Mary", "grab", "wineglass", "kitchen cabinet", "kitchen", 0.5, "video"),
            Utterance(3, "David", "assert", p=0.7, source="video"),
            Event(4, "Mary", "put", None, "living room coffee table", "living room", 0.6, "video"),
            Event(5, "David", "move", "book", "box", None, 1.0, "video"),
        )
        assert (reading.coverage, reading.unread) == (1.0, ())

    def test_everybody_and_all_places_are_among_the_entities(self) -> None:
        episode = seen(*SEEN).episode
        assert episode.agents == PEOPLE
        assert set(episode.entities) == {
            Entity("Mary", "agent"),
            Entity("David", "agent"),
            Entity("wineglass", "object"),
            Entity("book", "object"),
            Entity("kitchen cabinet", "place", "kitchen", "in"),
            Entity("living room coffee table", "place", "living room", "on"),
            Entity("box", "place", None, "in"),
            Entity("kitchen", "room"),
            Entity("living room", "room"),
        }

    def test_things_are_those_that_were_named_to_it(self) -> None:
        model, _ = model_of({"events": [event(does="grab", thing="potato"), event(does="grab", thing="bucket")]})
        timeline = watch(model, [png(0)], PEOPLE, ("potatoes", "green_bucket")).episode.timeline
        assert [one.obj for one in timeline if isinstance(one, Event)] == ["potato", "green bucket"]

    def test_it_may_see_nothing(self) -> None:
        reading = seen()
        assert (reading.episode.timeline, reading.coverage) == ((), 1.0)

    def test_without_things_any_thing_can_be_seen(self) -> None:
        model, asked = model_of({"events": [event(does="grab", thing="umbrella")]})
        (only,) = watch(model, [png(0)], PEOPLE).episode.timeline
        assert isinstance(only, Event)
        assert only.obj == "umbrella"
        assert "not known" in text_of(asked[0])

    def test_it_is_told_whom_and_what_to_watch_for(self) -> None:
        model, asked = model_of({"events": []})
        watch(model, [png(shade) for shade in range(3)], PEOPLE, THINGS)
        assert all(word in text_of(asked[0]) for word in ("Mary, David", "wine glass, book", "3 pictures"))

    @pytest.mark.parametrize(
        ("told", "why"),
        [
            (event("Zoe"), "'Zoe' is not among the people"),
            (event(does="grab", thing="diamond"), "'diamond' is none of the things"),
            (event(does="grab", thing="kitchen"), "'kitchen' is no thing"),
            (event(does="open", place="David"), "'David' is no place"),
            (event(does="fly"), "events.0.does: Input should be"),
            (event(sure=1.5), "events.0.sure: Input should be less"),
            (event(sure=-0.1), "events.0.sure: Input should be greater"),
            (event(sure="very"), "events.0.sure: Input should be"),
            (event(sure=True), "events.0.sure: Input should be"),
            (event(why="bored"), "events.0.why: Extra inputs"),
            ({"who": "Mary", "does": "walk"}, "events.0.sure: Field required"),
        ],
    )
    def test_what_cannot_be_seen_is_refused(self, told: Data, why: str) -> None:
        reading = seen(told)
        assert (reading.coverage, reading.episode.timeline) == (0.0, ())
        assert why in reading.unread[0]

    @pytest.mark.parametrize(
        ("reply", "why"),
        [
            ("Mary walks to the kitchen.", "is not JSON"),
            ('{"events": [', "is not JSON"),
            ("[" * 5000, "nested too deeply"),
            ({"events": [event()] * 201}, "lists more than 200 events"),
            ({"events": [event()] * 10_000}, "is longer than 100,000"),
        ],
    )
    def test_garbage_is_asked_for_again_and_then_is_nothing(self, reply: object, why: str) -> None:
        model, asked = model_of(reply, reply, reply)
        reading = watch(model, [png(0)], PEOPLE, THINGS)
        assert len(asked) == 3
        assert reading.coverage == 0.0
        assert why in reading.unread[0]
        assert len(watch(model_of(reply, {"events": SEEN})[0], [png(0)], PEOPLE, THINGS).episode.timeline) == 6


class TestPictures:
    """Which pictures are shown."""

    @pytest.mark.parametrize(
        ("count", "shown"),
        [
            (1, [0]),
            (2, [0, 1]),
            (16, list(range(16))),
            (31, list(range(0, 31, 2))),
            (100, [round(6.6 * k) for k in range(16)]),
        ],
    )
    def test_they_are_evenly_spaced_and_16_at_most(self, count: int, shown: list[int]) -> None:
        model, asked = model_of({"events": []})
        watch(model, [png(shade) for shade in range(count)], PEOPLE)
        assert list(images_of(asked[0])) == [png(shade) for shade in shown]

    def test_files_and_bytes_can_be_mixed(self, tmp_path: Path) -> None:
        path = tmp_path / "frame.png"
        path.write_bytes(png(1))
        model, asked = model_of({"events": []})
        watch(model, [png(0), path], PEOPLE)
        assert images_of(asked[0]) == (png(0), png(1))

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"\xff\xd8\xff\xe0 a photograph", "is not a PNG picture"),
            (b"GIF89a", "is not a PNG picture"),
            (b"", "is not a PNG picture"),
            (png(0)[:-6], "breaks off"),
        ],
    )
    def test_what_is_no_whole_png_picture_is_refused_and_named(self, content: bytes, why: str, tmp_path: Path) -> None:
        path = tmp_path / "odd.png"
        path.write_bytes(content)
        model, asked = model_of()
        with pytest.raises(InputError, match=f"picture 2 .*{why}"):
            watch(model, [png(0), content], PEOPLE)
        with pytest.raises(InputError, match=f"odd.png: .*{why}"):
            watch(model, [path], PEOPLE)
        assert asked == []

    def test_what_cannot_be_opened_is_refused(self, tmp_path: Path) -> None:
        for frame in (tmp_path / "none.png", tmp_path):
            with pytest.raises(InputError, match="cannot be read"):
                watch(model_of()[0], [frame], PEOPLE)
        with pytest.raises(InputError, match="picture 1 cannot be read"):
            watch(model_of()[0], ["frame.png"], PEOPLE)  # type: ignore[list-item]

    @pytest.mark.slow
    def test_their_bytes_together_are_limited(self) -> None:
        half = LARGEST // 2
        fits = [png(shade, bytes(half - len(png(shade)))) for shade in (0, 1)]
        assert sum(map(len, fits)) == LARGEST
        model, asked = model_of({"events": []})
        watch(model, fits, PEOPLE)
        assert len(asked) == 1
        with pytest.raises(InputError, match="more than 20,000,000 bytes"):
            watch(model_of()[0], [fits[0], png(1, bytes(half))], PEOPLE)

    def test_without_pictures_or_people_nothing_is_asked(self) -> None:
        with pytest.raises(InputError, match="no pictures"):
            watch(model_of()[0], [], PEOPLE)
        with pytest.raises(InputError, match="whom to watch"):
            watch(model_of()[0], [png(0)], ())


class TestEndpoint:
    """The way to a model behind an address, and back."""

    def test_pictures_reach_it_and_what_it_sees_comes_back(self) -> None:
        frames = [png(shade) for shade in range(3)]
        model, asked = model_of("no, sorry", {"events": SEEN})
        with serve(model) as server:
            reading = watch(Endpoint("any", server.url, key=""), frames, PEOPLE, THINGS)
        assert [images_of(request) for request in asked] == [tuple(frames)] * 2
        assert reading == seen(*SEEN)
        content = server.heard[0].body["messages"][0]["content"]
        links = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
        assert links == ["data:image/png;base64," + base64.b64encode(frame).decode() for frame in frames]
        assert server.heard[0].body["response_format"]["type"] == "json_schema"

    def test_a_model_that_cannot_see_is_an_error(self) -> None:
        def refuse(_request: Request) -> str:
            raise ModelError("cannot see pictures")

        with serve(Scripted("blind", refuse)) as server, pytest.raises(ModelError, match="cannot see pictures"):
            watch(Endpoint("any", server.url, key=""), [png(0)], PEOPLE)
