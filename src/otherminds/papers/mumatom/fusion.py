"""Information fusion of LIMP (MuMA-ToM, §4): who does and says what, in which order, and how things were at the start.

One part of a story is told in words, another was filmed and described by a vision-language model. Both are read by a
language model, which also names the things that the film leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from otherminds.language.asking import prompts_of
from otherminds.papers.mumatom.replies import (
    MOST_STEPS,
    Asking,
    actions_form,
    names_form,
    objects_form,
    shown_form,
    state_form,
    steps_form,
)

fill = prompts_of("otherminds.papers.mumatom")

LINES = re.compile(r"\n+")
SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[.!?][\"”’'])\s+")
SPOKEN = re.compile(r"\w[\w.'’-]*( \w[\w.'’-]*){0,2}: ")
A_SENTENCE, A_TURN, WORDS_OF_AN_ACTION = 8, 2, 2


@dataclass(frozen=True)
class Step:
    """Somebody did or said something, in words."""

    agent: str
    kind: Literal["action", "utterance"]
    text: str
    source: Literal["text", "video"] = "text"

    def __str__(self) -> str:
        return f'{self.agent} says: "{self.text}"' if self.kind == "utterance" else f"{self.agent}: {self.text}"


@dataclass(frozen=True)
class Fused:
    """What is known of a story: whose mind is asked about, the others, all steps in order, and the start.

    It is a conversation if somebody speaks in the text.
    """

    main: str
    others: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    initial: tuple[str, ...] = ()
    conversation: bool = False

    @property
    def people(self) -> tuple[str, ...]:
        """The main person first."""
        return (self.main, *self.others)


@dataclass(frozen=True)
class Source:
    """The parts of a story as they come: the text, and the description of the film, each empty if there is none."""

    text: str
    video: str = ""
    people: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of a dialogue, or else the sentences."""
        return tuple(part for line in LINES.split(self.text) for part in _parts(line.strip()) if part)

    @property
    def most_told(self) -> int:
        """How many steps of one person the text can tell of: a model that goes on and on is not followed."""
        return min(MOST_STEPS, sum(A_TURN if speaker(line) else A_SENTENCE for line in self.lines))

    @property
    def most_filmed(self) -> int:
        """How many actions the description of the film can tell of."""
        return min(MOST_STEPS, max(1, len(self.video.split()) // WORDS_OF_AN_ACTION))


def fuse(source: Source, question: str, asking: Asking) -> Fused:
    """All that is known of a story, for questions about the person whom this one is about.

    It takes one call for the names, one for each person's part of the text, one for the film, or three if nobody speaks
    in the text, and one for the start. Raises UnansweredError if one of these cannot be read.
    """
    form = names_form(source.people, f"{source.text}\n{source.video}\n{question}")
    main, *others = asking.written("names", fill("limp-names", question=question), form).people
    known = Fused(main, tuple(others))
    told = _told(source, known.people, asking)
    speaks = not set(map(speaker, source.lines)).isdisjoint(known.people)
    known = replace(known, conversation=speaks or any(step.kind == "utterance" for _, step in told))
    steps = [*told, *_filmed(source, known, asking)]
    ordered = tuple(step for _, step in sorted(steps, key=lambda placed: placed[0]))
    return replace(known, steps=ordered, initial=_initial(ordered, asking))


def speaker(line: str) -> str:
    """Who speaks in a line of a dialogue; nobody in others."""
    return line.partition(":")[0] if SPOKEN.match(line) else ""


def listed(items: Sequence[object]) -> str:
    """Items on lines of their own."""
    return "\n".join(f"- {item}" for item in items) or "nothing"


def joined(names: Sequence[str]) -> str:
    """Names as in a sentence."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _parts(line: str) -> list[str]:
    return [line] if speaker(line) else SENTENCES.split(line)


def _numbered(lines: Sequence[str]) -> str:
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1)) or "(nothing is told)"


def _told(source: Source, people: Sequence[str], asking: Asking) -> list[tuple[float, Step]]:
    """What everybody does and says in the text, each with the number of its line; what others say is not theirs."""
    lines, found = source.lines, list[tuple[float, Step]]()
    for name in people:
        theirs = [n for n, line in enumerate(lines, 1) if speaker(line) not in {*people} - {name}]
        if not theirs:
            continue
        prompt = fill("limp-text", lines=_numbered(lines), person=name)
        steps = asking.written(f"text of {name}", prompt, steps_form(theirs, source.most_told)).steps
        found += [(told.line, Step(name, told.kind, told.text)) for told in steps]
    return sorted(found, key=lambda placed: placed[0])


def _filmed(source: Source, known: Fused, asking: Asking) -> list[tuple[float, Step]]:
    """What is done in the film, each placed after a line of the text."""
    if not source.video.strip():
        return []
    lines, video, people = source.lines, source.video.strip(), joined(known.people)
    shown, hints = known.people, ""
    fields = {"people": people, "lines": _numbered(lines), "video": video}
    if not known.conversation:
        things = asking.written("video: objects", fill("limp-objects", lines=_numbered(lines)), objects_form()).objects
        name = asking.written("video: name", fill("limp-shown", **fields), shown_form(known.people)).name
        told = fill("limp-video-hints", person=name, objects=", ".join(things) or "none")
        shown, hints = (name,), f"\n{told}\n"
    prompt = fill("limp-video", **fields, agents=joined(shown), hints=hints)
    form = actions_form(shown, len(lines), source.most_filmed)
    found = asking.written("video: actions", prompt, form).actions
    return [(one.after + 0.5, Step(one.agent, "action", f"{one.verb} {one.rest}", "video")) for one in found]


def _initial(steps: Sequence[Step], asking: Asking) -> tuple[str, ...]:
    prompt = fill("limp-state", steps=listed(steps))
    return tuple(asking.written("initial state", prompt, state_form()).facts)
