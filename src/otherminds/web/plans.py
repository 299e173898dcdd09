"""The plan of a study: who plays what with which facilitator, and what participants are told and asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from otherminds.web.board import Playable

FACILITATORS = {
    "none": "Nobody",
    "random": "Random: says anything, half of the time",
    "oracle": "Oracle: knows what everybody wants",
    "protom": "ProToM: infers what people want",
}
ASPECTS = {
    "helpful": "The feedback was helpful.",
    "appropriate": "The amount of feedback and what it said were appropriate.",
    "clear": "The explanations were clear.",
    "understood": "The facilitator understood what I was trying to do.",
}
CONSENT = """\
You are going to play a cooperative game with another person, in several rounds. Some of them are accompanied by a
facilitator, a program that may give you advice. You are free to follow it or not.

We record what you do in the game and how you answer our questions, and nothing about who you are. You may stop at any
time, without giving a reason.

I have read this, I am of age, and I agree to take part."""

Name = Annotated[str, Field(min_length=1, max_length=100)]


class Plan(BaseModel):
    """All that makes a study, as its maker gives it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field("", max_length=200)
    levels: tuple[Name, ...] = Field(min_length=1, max_length=60)
    facilitators: tuple[Name, ...] = Field(("none", "protom", "random"), min_length=1, max_length=10)
    pairs: int = Field(9, ge=1, le=500)
    seed: int = Field(1, ge=0, lt=2**31)
    partner: Literal["person", "simulated"] = "person"
    consent: str = Field(CONSENT, max_length=20_000)
    minutes: int = Field(60, ge=1, le=600)
    tutorial: bool = True
    practice: bool = True
    ratings: bool = True
    waits: bool = True
    seconds: float = Field(2.0, ge=0.0, le=600.0)
    grace: float = Field(60.0, ge=0.1, le=3600.0)
    dropout: Literal["simulated", "end"] = "simulated"
    lobby_minutes: float = Field(10.0, gt=0.0, le=600.0)
    keep_labels: bool = False
    hand_off: str = Field("", max_length=1000)

    @field_validator("hand_off")
    @classmethod
    def _address(cls, text: str) -> str:
        address = urlsplit(text := text.strip())
        if text and (address.scheme not in ("http", "https") or not address.netloc or not text.isprintable()):
            raise ValueError("must be the address of a web page")
        return text

    @model_validator(mode="after")
    def _in_time(self) -> Self:
        if not self.waits and self.seconds < 0.05:
            raise ValueError("a clock that does not wait needs seconds of at least 0.05")
        if len(self.levels) % len(self.facilitators):
            raise ValueError("the number of levels must be a multiple of the number of facilitators")
        if len(set(self.levels)) < len(self.levels) or len(set(self.facilitators)) < len(self.facilitators):
            raise ValueError("no level and no facilitator may be given twice")
        return self

    def check(self, levels: Mapping[str, Playable], models: Collection[str] = ()) -> None:
        """Whether there are these levels, with two people each, and these facilitators. Raises ValueError."""
        known = (*FACILITATORS, *models)
        for name in self.facilitators:
            if name not in known:
                raise ValueError(f"there is no facilitator `{name}`; there are {', '.join(known)}")
        for name in self.levels:
            if name not in levels:
                raise ValueError(f"there is no level `{name}`")
            if len(levels[name].world.agents) != 2:
                raise ValueError(f"`{name}` is not for two people")
        if len({type(levels[name]) for name in self.levels}) > 1:
            raise ValueError("all levels of a study are of one world: the tutorial is about that")
