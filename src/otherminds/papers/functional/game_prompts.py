"""Repeated games in words: the prompts that language models are given, and the answers that they write.

An answer counts if it chooses exactly one option; any other is unreadable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from otherminds.errors import InputError, unknown
from otherminds.language.asking import Unreadable, prompts_of, unreadable
from otherminds.language.choices import AROUND, read_choice
from otherminds.worlds.repeated_games.machines import reactive
from otherminds.worlds.repeated_games.players.best_responders import response_to
from otherminds.worlds.repeated_games.rules import Game, Outcome

fill = prompts_of("otherminds.papers.functional")

Round = Outcome | None
"""A past round; None if it was lost because no move could be read."""
Question = Literal["act", "predict"]

NAME_SETS = ("neutral", "canonical", "repeated", "nonsense", "initials")
"""Names for the actions: J, F, B; the game's own; JJJ…, FFF…; Pasta, Rice, Bread; the first letters of the game's own.

The first four are the paper's (§4.1, appendix C.4), `initials` is ours.
"""
LETTERS = ("J", "F", "B", "K", "M", "Q", "V", "W")
NONSENSE = ("Pasta", "Rice", "Bread", "Beans", "Corn", "Soup", "Salad", "Cheese")
BLANKS = "XYZUVWABCDEFGHIJKLMNOPQRST0123456789"
REPEATS = 21  # letters of a repeated name (paper, appendix C.4)
AHEAD = 10  # rounds that a worked example plans ahead; chosen, not tuned
LONGEST_NOTE = 1000  # characters of a note that the model sees again in every round; chosen


class Wording(Protocol):
    """What a model is told of a game of several rounds, and the names of what it chooses and predicts.

    `kind` begins the names of the templates that depend on the game. `known` and `unfinished` are as the functions of
    this module are for repeated games; `rounds` are past rounds, None if lost.
    """

    @property
    def kind(self) -> str:
        """The beginning of the names of the game's templates."""

    @property
    def horizon(self) -> int:
        """The number of rounds."""

    def labels(self, question: Question) -> tuple[str, ...]:
        """The names of what a question is about, in order; empty if it cannot be asked now."""

    def known(self, rounds: Sequence[Any], *, with_payoffs: bool = True, with_history: bool = True) -> str:
        """Rules, payoffs and history, each if it is wanted."""

    def unfinished(self, rounds: Sequence[Any], stub: str, own: int | None = None, asides: Sequence[str] = ()) -> str:
        """All that is known, and a line up to the name of an option, which the model has to continue."""

    def examples(self, question: Question) -> str:
        """Worked examples."""


@dataclass(frozen=True)
class GameSetting:
    """The wording of a game: names of both players' actions, and the order of the payoff lines.

    `order` has the joint actions (own, theirs) in the order of their lines.
    """

    game: Game
    horizon: int
    own: tuple[str, ...]
    theirs: tuple[str, ...]
    order: tuple[tuple[int, int], ...]

    @classmethod
    def of(
        cls,
        game: Game,
        horizon: int,
        names: str = "canonical",
        *,
        labels_rng: np.random.Generator | None = None,
        payoffs_rng: np.random.Generator | None = None,
    ) -> GameSetting:
        """A setting with a set of names; a generator shuffles the names among the actions, or the payoff lines.

        Raises InputError unless the game is for two players, the set has enough names, and answers can be told apart.
        """
        if len(game.agents) != 2:
            raise InputError(f"{game.name} is not a game of two", hint="language models play games of two")
        own, theirs = (_names(names, game, actions) for actions in game.actions)
        for labels in (own, theirs):
            if any(read_choice(f"Answer: option {label}", labels) != i for i, label in enumerate(labels)):
                hint = "use another set of names"
                raise InputError(f"the actions of {game.name} have names that answers blur", hint=hint)
        if labels_rng is not None:  # the same permutation for both players if they share their names
            shared = own == theirs
            own = tuple(own[i] for i in labels_rng.permutation(len(own)))
            theirs = own if shared else tuple(theirs[i] for i in labels_rng.permutation(len(theirs)))
        pairs = list(product(range(len(own)), range(len(theirs))))
        if payoffs_rng is not None:
            pairs = [pairs[i] for i in payoffs_rng.permutation(len(pairs))]
        return cls(game, horizon, own, theirs, tuple(pairs))

    @cached_property
    def signed(self) -> bool:
        """Whether payoffs are worded as scores with a sign, because some are negative, and not as points to win."""
        return any(value < 0 for row in self.game.payoffs for value in row)

    @property
    def kind(self) -> str:
        """`game`: its templates are those of repeated games."""
        return "game"

    def labels(self, question: Question) -> tuple[str, ...]:
        """The names of the actions that a question is about: the player's own, or the partner's."""
        return self.own if question == "act" else self.theirs

    def known(self, rounds: Sequence[Round], *, with_payoffs: bool = True, with_history: bool = True) -> str:
        """As the function `known`."""
        return known(self, rounds, with_payoffs=with_payoffs, with_history=with_history)

    def unfinished(self, rounds: Sequence[Round], stub: str, own: int | None = None, asides: Sequence[str] = ()) -> str:
        """As the function `unfinished`."""
        return unfinished(self, rounds, stub, own, asides)

    def examples(self, question: Question) -> str:
        """As the function `examples`."""
        return examples(self, question)

    def worth(self, value: float) -> str:
        """A payoff in as few digits as possible, with a plus sign if payoffs are signed."""
        sign = "+" if self.signed and value else ""
        return f"{float(value) + 0.0:{sign}}".removesuffix(".0")


def _names(names: str, game: Game, actions: Sequence[str]) -> tuple[str, ...]:
    if names == "canonical":
        return tuple(actions)
    if names == "initials":
        initials = tuple(action[0].upper() for action in actions)
        if len(set(initials)) < len(initials):
            raise InputError(f"two actions of {game.name} have the same first letter", hint="use another set of names")
        return initials
    sets = {"neutral": LETTERS, "repeated": tuple(letter * REPEATS for letter in LETTERS), "nonsense": NONSENSE}
    if names not in sets:
        raise unknown("set of names", names, NAME_SETS)
    if len(actions) > len(sets[names]):
        raise InputError(f"{game.name} has more than {len(sets[names])} actions", hint="use the canonical names")
    return sets[names][: len(actions)]


# What is known


def listed(labels: Sequence[str]) -> str:
    """The options in alphabetical order, which is independent of what they do: `option B, option F`…"""
    return ", ".join(f"option {label}" for label in sorted(labels))


def blank(labels: Sequence[str]) -> str:
    """A letter that stands for an option in the form of an answer, and is none of the options."""
    taken = {label.casefold() for label in labels}
    return next(letter for letter in BLANKS if letter.casefold() not in taken)


def intro(setting: GameSetting) -> str:
    """The rules of the repeated game, without its payoffs."""
    if sorted(setting.own) == sorted(setting.theirs):
        options = listed(setting.own)
    else:
        options = f"you {listed(setting.own)}; the other player {listed(setting.theirs)}"
    return fill("game-intro", rounds=setting.horizon, options=options)


def payoffs(setting: GameSetting) -> str:
    """Both players' payoffs, a line for each joint action."""
    mine, yours = setting.game.payoff(0), setting.game.payoff(1)
    kind = "game-payoff-score" if setting.signed else "game-payoff-points"
    lines = []
    for a, b in setting.order:
        worths = {"mine": setting.worth(mine[a, b]), "theirs": setting.worth(yours[b, a])}
        lines.append(fill(kind, own=setting.own[a], other=setting.theirs[b], **worths))
    return "\n".join(lines)


def history(setting: GameSetting, rounds: Sequence[Round]) -> Iterator[str]:
    """The past rounds, a line each."""
    for t, outcome in enumerate(rounds, 1):
        yield fill("game-round-lost", t=t) if outcome is None else round_line(setting, t, outcome)


def round_line(setting: GameSetting, t: int, outcome: Outcome) -> str:
    """What both chose in round t, counted from 1, and what the player got for it."""
    kind = "game-round-score" if setting.signed else "game-round-points"
    own, theirs = setting.own[outcome.own], setting.theirs[outcome.theirs]
    return fill(kind, t=t, own=own, other=theirs, mine=setting.worth(outcome.payoff))


def known(
    setting: GameSetting, rounds: Sequence[Round], *, with_payoffs: bool = True, with_history: bool = True
) -> str:
    """Rules, payoffs and history, each if it is wanted."""
    blocks = [intro(setting)]
    if with_payoffs:
        blocks.append(payoffs(setting))
    if with_history and rounds:
        blocks.append("\n".join(history(setting, rounds)))
    return "\n\n".join(blocks)


def unfinished(
    setting: GameSetting, rounds: Sequence[Round], stub: str, own: int | None = None, asides: Sequence[str] = ()
) -> str:
    """Rules, payoffs, history and the next line up to the name of an action, which the model has to continue.

    Except for `asides`, every such text begins with the one of the round before, so a model can reuse its evaluation.
    """
    fields = {} if own is None else {"own": setting.own[own]}
    lines = [intro(setting), "", payoffs(setting), "", *history(setting, rounds), *asides]
    return "\n".join([*lines, fill(f"game-stub-{stub}", t=len(rounds) + 1, **fields)])


# Worked examples


def examples(setting: GameSetting, question: Question) -> str:
    """Three worked examples with the game's options: a partner that repeats, one that reacts, one hardly known."""
    example_texts = {name: _example(setting, question, name) for name in ("always", "reacts", "unclear")}
    return fill("game-examples", **example_texts)


def _example(setting: GameSetting, question: Question, name: str) -> str:
    game, name_of, other_of = setting.game, setting.own, setting.theirs
    kind = f"game-example-{question}-{name}"
    if name == "always":
        theirs = len(other_of) - 1
        best = int(game.payoff()[:, theirs].argmax())
        return fill(kind, other=other_of[theirs], best=name_of[best], mine=setting.worth(game.payoff()[best, theirs]))
    if name == "unclear":
        return fill(kind, other=other_of[0], tried=name_of[0], best=name_of[1 % len(name_of)])
    # a partner that answers each own action with another one, and has just seen the first
    replies = [own % len(game.actions[1]) for own in range(len(game.actions[0]))]
    machine = reactive("example", game, replies[0], replies)
    best = int(response_to(game, machine, AHEAD).actions[0, 0])
    after = "; ".join(f"option {other_of[reply]} after option {name_of[own]}" for own, reply in enumerate(replies))
    return fill(kind, replies=after, last=name_of[0], other=other_of[replies[0]], best=name_of[best])


# Answers


class AnswerWithNotes(NamedTuple):
    """A move with the notes that came with it; empty notes if none were asked for."""

    action: int
    plans: str
    insights: str


def read_action(
    text: str, labels: Sequence[str], question: Question = "act", round_number: int | None = None
) -> int | Unreadable:
    """The action that a reply names, or why it names none; `the first option` is the first that the prompt lists."""
    options = sorted(labels)
    choice = read_choice(text, options, theirs=question == "predict", round_number=round_number)
    return choice if isinstance(choice, Unreadable) else labels.index(options[choice])


def read_plans(text: str, labels: Sequence[str], question: Question = "act") -> AnswerWithNotes | Unreadable:
    """The answer, with the plans and insights before it. A note extends to the beginning of the next one.

    A note that is missing is empty; one that is there twice makes the reply unreadable.
    """
    action = read_action(text, labels, question)
    if isinstance(action, Unreadable):
        return action
    sections: dict[str, list[str]] = {}
    current = None
    for line in text.split("\n"):
        head, colon, rest = line.strip(AROUND).partition(":")
        field = head.strip(AROUND).casefold()
        if colon and field in ("plans", "insights", "answer"):
            if field in sections:
                return unreadable(f"gives {field} twice", text)
            current, line = field, rest
            sections[field] = []
        if current:
            sections[current].append(line.strip())
    plans, insights = (" ".join(sections.get(field, [])).strip()[:LONGEST_NOTE] for field in ("plans", "insights"))
    return AnswerWithNotes(action, plans, insights)
