"""Replies that LIMP asks a language model for: their forms, what is wrong with them, and the calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field, RootModel

from otherminds.distribution import IMPOSSIBLE
from otherminds.files.text import one_line
from otherminds.language.asking import (
    Asker,
    Exchange,
    ReplyForm,
    Schema,
    StrictReply,
    Unreadable,
    enum_schema,
    list_schema,
    object_schema,
    plain,
    schema_text,
)
from otherminds.language.choices import read_choice
from otherminds.language.model import Continuations, Message

M = TypeVar("M", bound=BaseModel)

LONGEST = 200  # characters of a text in a reply; chosen
LONGEST_NAME = 40  # characters of a person's name; chosen
MOST_ITEMS = 24  # steps, objects or facts in a reply; chosen, above all stories of the benchmark
MOST_PEOPLE = 8  # in a story; chosen
VERBS = ("walk", "grab", "open", "close", "put")  # of the video's actions, as in the published prompts
LIKELY, UNLIKELY = " A", " B"  # the labels whose probabilities are compared
TEXT: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST}


# Content


def _checked_words(text: str) -> str:
    """A text on one line, so that it cannot pass for another part of a later prompt, with at least one letter."""
    line = plain(text)
    if len(line) > LONGEST or not any(c.isalnum() for c in line):
        raise ValueError(f"has no letter, or more than {LONGEST} characters")
    return line


Words = Annotated[str, AfterValidator(_checked_words)]


class NamesReply(StrictReply):
    """The person whose mind the options are about, and the other people."""

    main: Words
    other_people: list[Words] = Field(alias="others")

    @property
    def people(self) -> tuple[str, ...]:
        """All people once, the main person first."""
        return tuple(dict.fromkeys((self.main, *self.other_people)))


class ToldStep(StrictReply):
    """An action or an utterance, and the line that tells it."""

    line: int
    kind: Literal["action", "utterance"]
    text: Words


class StepsReply(StrictReply):
    """All actions and utterances of one person in a text."""

    steps: list[ToldStep]


class ObjectsReply(StrictReply):
    """The objects that a text names."""

    objects: list[Words]


class PersonReply(StrictReply):
    """The person in a video."""

    name: Words


class FilmedAction(StrictReply):
    """An action in a video, and the line of the text after which it happens."""

    after: int
    agent: Words
    verb: Literal["walk", "grab", "open", "close", "put"]
    rest: Words


class ActionsReply(StrictReply):
    """All actions in a video."""

    actions: list[FilmedAction]


class StateReply(StrictReply):
    """The places of things at the start."""

    facts: list[Words]


class OptionMind(StrictReply):
    """The meaning of an option: LIMP's three mental variables, in words."""

    belief: Words
    social_goal: Words
    believed_goal: Words


class OptionMinds(RootModel[dict[str, OptionMind]]):
    """The meaning of every option, by its letter."""


class ChoiceReply(StrictReply):
    """The letter of an option."""

    choice: Words


# Forms


def names_form(people: Sequence[str], mentioned: str) -> ReplyForm[NamesReply]:
    """The form for the names of at least two people: of the known ones, or else of any that the texts mention."""

    def fault(reply: NamesReply) -> str | None:
        """What is wrong with a reply, in words that follow `it`; None if nothing is."""
        if not 2 <= len(reply.people) <= MOST_PEOPLE:
            return f"does not name 2 to {MOST_PEOPLE} people"
        if people:
            strange = [name for name in reply.people if name not in people]
        else:  # a name is mentioned as a whole word; a single letter is an option and no name
            candidates = [name for name in reply.people if 1 < len(name) <= LONGEST_NAME]
            known_names = {name for name in candidates if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", mentioned)}
            strange = [name for name in reply.people if name not in known_names]
        return f"names {one_line(strange[0])}, who is not in the story" if strange else None

    name = enum_schema(people) if people else TEXT
    return ReplyForm(schema_text(main=name, others=list_schema(name, MOST_PEOPLE)), NamesReply, fault)


def steps_form(lines: Sequence[int], most: int) -> ReplyForm[StepsReply]:
    """The form for one person's actions and utterances in these lines, at most `most` of them."""
    step_schema = object_schema(line=enum_schema(lines), kind=enum_schema(("action", "utterance")), text=TEXT)
    schema = schema_text(steps=list_schema(step_schema, most))
    return ReplyForm(schema, StepsReply, lambda reply: _lines_fault([step.line for step in reply.steps], lines, most))


def objects_form() -> ReplyForm[ObjectsReply]:
    """The form for the objects that a text names."""
    schema = schema_text(objects=list_schema(TEXT, MOST_ITEMS))
    return ReplyForm(schema, ObjectsReply, lambda reply: _size_fault(reply.objects))


def shown_form(people: Sequence[str]) -> ReplyForm[PersonReply]:
    """The form for one of these people."""
    schema, strange = schema_text(name=enum_schema(people)), "names somebody who is not in the story"
    return ReplyForm(schema, PersonReply, lambda reply: None if reply.name in people else strange)


def actions_form(people: Sequence[str], lines: int, most: int) -> ReplyForm[ActionsReply]:
    """The form for these people's actions in a video, placed among `lines` lines, at most `most` of them."""
    places = range(lines + 1)

    def fault(reply: ActionsReply) -> str | None:
        strange = any(filmed.agent not in people for filmed in reply.actions)
        return "tells of somebody else" if strange else _lines_fault([a.after for a in reply.actions], places, most)

    filmed = object_schema(after=enum_schema(places), agent=enum_schema(people), verb=enum_schema(VERBS), rest=TEXT)
    return ReplyForm(schema_text(actions=list_schema(filmed, most)), ActionsReply, fault)


def state_form() -> ReplyForm[StateReply]:
    """The form for the places of things at the start."""
    return ReplyForm(
        schema_text(facts=list_schema(TEXT, MOST_ITEMS)), StateReply, lambda reply: _size_fault(reply.facts)
    )


def minds_form(letters: Sequence[str]) -> ReplyForm[OptionMinds]:
    """The form for the meaning of each option."""
    mind = object_schema(belief=TEXT, social_goal=TEXT, believed_goal=TEXT)
    schema, strange = schema_text(**dict.fromkeys(letters, mind)), "is not about all options and nothing else"
    return ReplyForm(schema, OptionMinds, lambda reply: None if reply.root.keys() == set(letters) else strange)


def choice_form(letters: Sequence[str]) -> ReplyForm[ChoiceReply]:
    """The form for the letter of one of the options, which may also be chosen in words."""

    def fault(reply: ChoiceReply) -> str | None:
        return None if reply.choice in letters else "chooses something that is not on the list"

    def in_words(text: str) -> ChoiceReply | Unreadable:
        choice = read_choice(text, letters)
        return choice if isinstance(choice, Unreadable) else ChoiceReply(choice=letters[choice])

    return ReplyForm(schema_text(choice=enum_schema(letters)), ChoiceReply, fault, in_words)


def _lines_fault(numbers: Sequence[int], lines: Sequence[int], most: int) -> str | None:
    """What is wrong with the numbers of lines in a reply; None if all of them may be meant and there are few enough."""
    wrong = not set(numbers) <= set(lines)
    return "has the number of a line that cannot be meant" if wrong else _size_fault(numbers, most)


def _size_fault(entries: Sequence[object], most: int = MOST_ITEMS) -> str | None:
    """What is wrong with the length of a list in a reply; None if it is short enough."""
    return f"lists more than {most}" if len(entries) > most else None


# Calls


class UnansweredError(Exception):
    """The model gave no readable reply to something that a question needs. The message says which, in one line."""


@dataclass(frozen=True)
class LimpCalls:
    """The calls of LIMP for one question or story, with all exchanges."""

    asker: Asker
    exchanges: list[Exchange] = field(default_factory=list)

    def written(self, purpose: str, prompt: str, form: ReplyForm[M]) -> M:
        """A reply of this form. Raises UnansweredError if none can be read, ModelError if there is no answer."""
        answer = self.asker.ask(purpose, (Message("user", prompt),), form)
        self.exchanges.extend(answer.exchanges)
        if answer.value is None:
            raise UnansweredError(f"no reply could be read: {purpose}")
        return answer.value

    def likely(self, purpose: str, prompt: str) -> tuple[float, float]:
        """log p of `Likely` and of `Unlikely`, in nats. Raises ModelError if the model does not tell them."""
        scores = self.asker.model.score(Continuations(prompt, (LIKELY, UNLIKELY)))
        yes, no = scores.log_probs
        text = f"log p: Likely {yes:.4f}, Unlikely {no:.4f}"
        self.exchanges.append(Exchange(purpose, "", text, scores.usage, readable=max(yes, no) > IMPOSSIBLE))
        return yes, no
