"""Videos read by a vision-language model: what people do in a sequence of pictures, checked against known names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from io import BytesIO
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from otherminds.errors import InputError
from otherminds.files.text import opened
from otherminds.language.asking import Unreadable, prompts_of
from otherminds.language.model import LanguageModel, Message
from otherminds.stories.by_model import replies
from otherminds.stories.english.statements import noun_in
from otherminds.stories.english.story_state import StoryState
from otherminds.stories.model import Episode, Event, Reading, Utterance

fill = prompts_of("otherminds.stories.by_model")

MOST_FRAMES = 16  # pictures shown to the model; chosen, not tuned
LARGEST = 20_000_000  # bytes of all pictures together; chosen
MOST_EVENTS, MOST_TOKENS = 200, 4000  # accepted in, and allowed for, one reply; chosen, not tuned
PNG, END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"


class _Event(replies.Form):
    who: replies.Name
    does: Literal["walk", "enter", "leave", "open", "close", "grab", "put", "move", "look", "wait", "talk"]
    thing: replies.Name | None = None
    place: replies.Name | None = None
    room: replies.Name | None = None
    sure: Annotated[float, Field(ge=0.0, le=1.0)]


class _Film(replies.Form):
    events: list[_Event]


def watch(
    model: LanguageModel,
    frames: Sequence[Path | bytes],
    people: Sequence[str],
    things: Sequence[str] = (),
    attempts: int = 3,
) -> Reading:
    """What these people do with these items in the PNG pictures of a video, as a vision-language model reports it.

    The model sees at most `MOST_FRAMES` pictures, evenly spaced. An event's `p` is the model's confidence. Replies with
    other people are refused, and those with other items, unless `things` is empty. If none of `attempts` replies can be
    read, the coverage is 0 and `unread` says why. Raises InputError for files that are not PNG pictures or are too
    large, and without pictures or people; ModelError if the model does not answer.
    """
    if not people:
        raise InputError("a model has to be told whom to watch", hint="name the people")
    if not frames:
        raise InputError("there are no pictures")
    count = min(len(frames), MOST_FRAMES)
    images: tuple[bytes, ...] = ()
    for number in (round(k * (len(frames) - 1) / max(count - 1, 1)) for k in range(count)):
        images = (*images, _png(frames[number], number + 1, LARGEST - sum(map(len, images))))
    prompt = fill("stories-watch", people=", ".join(people), things=", ".join(things) or "not known", count=len(images))

    def sense(film: _Film) -> Reading:
        return _reading(film, people, things)

    reading = replies.dictated(model, Message("user", prompt, images), _Film, sense, "video", attempts, MOST_TOKENS)
    if isinstance(reading, Unreadable):
        return Reading(Episode("", tuple(people)), coverage=0.0, unread=(reading.why,))
    return reading


def _png(frame: Path | bytes, number: int, room: int) -> bytes:
    """The bytes of a picture. Raises InputError if it is not a PNG file, or longer than `room` bytes."""
    path = frame if isinstance(frame, Path) else None
    what = "" if path else f"picture {number} "
    try:
        with opened(frame) if isinstance(frame, Path) else BytesIO(frame) as file:
            image = file.read(room + 1)
    except (OSError, ValueError, TypeError) as error:
        told = getattr(error, "strerror", None) or error
        raise InputError(f"{what}cannot be read: {told}", path=path) from None
    if not image.startswith(PNG):
        raise InputError(f"{what}is not a PNG picture", path=path, hint="convert it to PNG")
    if len(image) > room:
        raise InputError(f"the pictures have more than {LARGEST:,} bytes", path=path, hint="make them smaller")
    if not image.endswith(END):
        raise InputError(f"{what}is a PNG picture that breaks off", path=path)
    return image


def _reading(film: _Film, people: Sequence[str], things: Sequence[str]) -> Reading:
    """The events as a reading of a video. Raises NonsenseError for unlisted people and items."""
    if len(film.events) > MOST_EVENTS:
        raise replies.NonsenseError(f"lists more than {MOST_EVENTS} events")
    scene = StoryState(tuple(people), "video")
    stage = replies.Stage(scene)
    scene.story_rooms = frozenset(room for event in film.events if (room := stage.room(event.room)))
    for name in people:
        scene.of(name)
    for thing in things:
        noun = noun_in(thing.replace("_", " "))
        scene.mention(noun.text if noun else thing, None)
    known = frozenset(scene.objects)
    for event in film.events:
        _add_event(stage, event, known)
    return scene.reading(1.0)


def _add_event(stage: replies.Stage, told: _Event, known: Collection[str]) -> None:
    scene = stage.scene
    who, room = stage.known(told.who), stage.room(told.room)
    spot, where = stage.place(told.place, room)
    where = None if spot else where or room
    obj = stage.thing(told.thing) if told.does in ("grab", "put", "move", "look") else None
    if known and obj is not None and obj not in known:
        raise replies.NonsenseError(f"{replies.one_line(obj)!r} is none of the things")
    if told.sure == 0.0:
        return
    if told.does == "talk":
        scene.emit(Utterance(0, who, "assert", p=told.sure, source="video"))
        return
    scene.emit(Event(0, who, replies.VERBS[told.does], obj, None, where, told.sure, "video"), spot)
