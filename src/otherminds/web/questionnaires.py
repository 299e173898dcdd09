"""Questionnaires of a study: their questions, and what participants may answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

Key = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=40)]
Line = Annotated[str, Field(min_length=1, max_length=200)]
When = Literal["before", "after_round", "after"]
POINTS = 11  # points of a scale; chosen
WRITTEN = 8000  # characters of all texts in a questionnaire, so that its answers fit into one message; chosen


class BaseQuestion(BaseModel, extra="forbid", frozen=True):
    """What all questions have: the `key` of their answer, and their `text`. One not `required` may be left out."""

    key: Key
    text: str = Field(min_length=1, max_length=2000)
    required: bool = True

    def fault(self, answer: object) -> str:
        """What is wrong with an answer; empty if nothing is."""
        raise NotImplementedError


class ScaleQuestion(BaseQuestion):
    """A whole number from `low` to `high`; labels: those of both ends, of all points, or none."""

    kind: Literal["scale"]
    low: int = Field(1, ge=-1000, le=1000)
    high: int = Field(7, ge=-1000, le=1000)
    labels: tuple[Line, ...] = Field((), max_length=POINTS)

    @model_validator(mode="after")
    def _check_points(self) -> Self:
        """Raise ValueError for a scale that cannot be shown."""
        points = self.high - self.low + 1
        if not 2 <= points <= POINTS:
            raise ValueError(f"a scale has 2 to {POINTS} points")
        if len(self.labels) not in (0, 2, points):
            raise ValueError(f"a scale has no labels, one for each end, or one for each of its {points} points")
        return self

    def fault(self, answer: object) -> str:
        """What is wrong with an answer; empty if nothing is."""
        right = type(answer) is int and self.low <= answer <= self.high
        return "" if right else f"is a whole number from {self.low} to {self.high}"


class ChoiceQuestion(BaseQuestion):
    """One of the `options`."""

    kind: Literal["choice"]
    options: tuple[Line, ...] = Field(min_length=2, max_length=50)

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        """Raise ValueError for options that cannot be told apart."""
        if len(set(self.options)) < len(self.options):
            raise ValueError("no option may be given twice")
        return self

    def fault(self, answer: object) -> str:
        """What is wrong with an answer; empty if nothing is."""
        return "" if isinstance(answer, str) and answer in self.options else "is one of the options"


class NumberQuestion(BaseQuestion):
    """A number from `min` to `max`."""

    kind: Literal["number"]
    min: float = Field(0.0, ge=-1e9, le=1e9, allow_inf_nan=False)
    max: float = Field(1e9, ge=-1e9, le=1e9, allow_inf_nan=False)

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        """Raise ValueError if no number is allowed."""
        if self.min > self.max:
            raise ValueError("`min` is larger than `max`")
        return self

    def fault(self, answer: object) -> str:
        """What is wrong with an answer; empty if nothing is."""
        is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
        right = is_number and self.min <= answer <= self.max  # type: ignore[operator]
        return "" if right else f"is a number from {self.min:.12g} to {self.max:.12g}"


class TextQuestion(BaseQuestion):
    """Text of at most `max` characters."""

    kind: Literal["text"]
    max: int = Field(1000, ge=1, le=2000)

    def fault(self, answer: object) -> str:
        """What is wrong with an answer; empty if nothing is."""
        if not isinstance(answer, str) or any("\ud800" <= c <= "\udfff" for c in answer):
            return "is text"
        if self.required and not answer.strip():
            return "is missing"
        return "" if len(answer) <= self.max else f"has at most {self.max} characters"


Question = Annotated[ScaleQuestion | ChoiceQuestion | NumberQuestion | TextQuestion, Field(discriminator="kind")]
KINDS: Mapping[str, type[BaseQuestion]] = {
    "scale": ScaleQuestion,
    "choice": ChoiceQuestion,
    "number": NumberQuestion,
    "text": TextQuestion,
}


class Questionnaire(BaseModel, extra="forbid", frozen=True):
    """Questions that are asked together: before the first round, after each round, or after the last one."""

    name: Key
    when: When
    title: Line = "Questions"
    questions: tuple[Question, ...] = Field(min_length=1, max_length=60)

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        """Raise ValueError if answers could be mistaken for one another."""
        keys = [question.key for question in self.questions]
        if len(set(keys)) < len(keys):
            raise ValueError(f"two questions of `{self.name}` have the same key")
        if sum(question.max for question in self.questions if isinstance(question, TextQuestion)) > WRITTEN:
            raise ValueError(f"the answers to `{self.name}` may have more than {WRITTEN:,} characters in all")
        return self

    def checked(self, answers: object) -> dict[str, Any]:
        """The answers by key, without those left out. Raises ValueError if one is missing, wrong or unasked."""
        if not isinstance(answers, dict) or not set(answers) <= {question.key for question in self.questions}:
            raise ValueError("answers are those to the questions asked")
        given = {key: answer for key, answer in answers.items() if answer is not None}
        for question in self.questions:
            if question.key not in given:
                if question.required:
                    raise ValueError(f"`{question.key}` needs an answer")
            elif fault := question.fault(given[question.key]):
                raise ValueError(f"the answer to `{question.key}` {fault}")
        return given
