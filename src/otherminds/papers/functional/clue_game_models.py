"""Language models in clue games, by the prompting strategies of repeated games (Riemer et al., §4.1).

The model is told what its seat sees, and is asked what it expects of the partner and what it does. A reply that cannot
be read is never replaced by a made-up move: its round is lost.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from otherminds.distribution import Categorical, point_mass
from otherminds.errors import InputError
from otherminds.language.asking import Exchange
from otherminds.language.choices import read_choice
from otherminds.language.model import LanguageModel, Request, Usage
from otherminds.language.prices import CallEstimate, CountingModel
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional.game_prompts import Question, fill
from otherminds.papers.functional.model_episodes import SHOWN
from otherminds.papers.functional.prompting import Prompted, PromptingStrategy, Sampling, strategy
from otherminds.worlds.clue_games import codenames, small_hanabi, taboo, tiny_hanabi, wavelength
from otherminds.worlds.clue_games.clue_game import ClueGame, Row, Spoken, Streams

QUESTIONS: Mapping[type, str] = {
    codenames.Codenames: "Which words are own?",
    small_hanabi.SmallHanabi: "Which card do you hold?",
    taboo.Taboo: "Which word will your partner guess?",
    tiny_hanabi.TinyHanabi: "Which card does your partner hold?",
    wavelength.Wavelength: "Where will your partner set the dial?",
}
"""What a prediction is about, by the kind of game."""
LISTED = re.compile("with one of (option .+?) in place of")


@dataclass(frozen=True)
class ClueSetting:
    """The wording of one decision in a clue game, whose rounds may have several turns.

    `described` is what the seat sees after `finished` turns; `own` and `theirs` name what it may do, and what may be
    expected of the partner. Both are empty if there is nothing to choose or to expect now.
    """

    rules: str
    finished: int = 0
    described: str = ""
    own: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """`clue`: its templates are those of clue games."""
        return "clue"

    @property
    def horizon(self) -> int:
        """More turns than an episode has: how many there will be is unknown."""
        return sys.maxsize

    def labels(self, question: Question) -> tuple[str, ...]:
        """The names of the options that a question is about."""
        return self.own if question == "act" else self.theirs

    def known(self, rounds: Sequence[str | None], *, with_payoffs: bool = True, with_history: bool = True) -> str:
        """Rules with payoffs, past turns, and what the seat sees now, unless that turn is over."""
        past = ["\n".join(self._history(rounds))] if with_history and rounds else []
        return "\n\n".join([self.rules, *past, *self._now(rounds)])

    def unfinished(
        self, rounds: Sequence[str | None], stub: str, own: int | None = None, asides: Sequence[str] = ()
    ) -> str:
        """All that is known, and a line up to the name of an option, which the model has to continue."""
        lines = [self.rules, "", *self._history(rounds), *self._now(rounds), *asides]
        return "\n".join([*lines, fill(f"clue-stub-{'act' if stub == 'act' else 'predict'}", t=len(rounds) + 1)])

    def examples(self, question: Question) -> str:
        """None: raises InputError, as the worked examples are of repeated games."""
        raise InputError("there are no worked examples of clue games")

    def _history(self, rounds: Sequence[str | None]) -> Iterator[str]:
        for t, text in enumerate(rounds, 1):
            yield fill("clue-turn-lost", t=t) if text is None else fill("clue-turn", t=t, finished=text)

    def _now(self, rounds: Sequence[str | None]) -> list[str]:
        over = len(rounds) > self.finished
        return [] if over else [fill("clue-view", t=self.finished + 1, described=self.described)]


def clue_strategy(way: str) -> PromptingStrategy:
    """The strategy of that name.

    Raises InputError if it is unknown, or of repeated games only: with worked examples or the partner's action.
    """
    chosen = strategy(way)
    if chosen.shots or chosen.oracle:
        raise InputError(f"`{way}` is for repeated games only", hint="as qa, cot, social_qa, lm")
    return chosen


@dataclass(frozen=True)
class ClueGameModel:
    """A language model in the subject's seat of a clue game: a mindreader, whose choices are None if unreadable.

    `actions` and `answers` are the values of what it may do and expect, in the order of their names. `steps` counts the
    views of this turn.
    """

    player: Prompted
    spoken: Spoken
    way: PromptingStrategy
    draw: str
    last: Any = None
    steps: int = 0
    actions: tuple[int, ...] = ()
    answers: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        game: ClueGame,
        model: LanguageModel,
        way: str,
        *,
        draw: str = "",
        seed: int = 0,
        shuffle: bool = False,
        sampling: Sampling | None = None,
    ) -> ClueGameModel:
        """The player before the first turn. `shuffle` exchanges names in the game, by `draw` and `seed`.

        Raises InputError for a strategy that `clue_strategy` refuses, or a shuffle of a game without names.
        """
        chosen = clue_strategy(way)
        question = QUESTIONS.get(type(game.world), "What will your partner do next?")
        if shuffle and not game.names:
            raise InputError("this game has no names to shuffle")
        spoken = game.shuffled(zlib.crc32(f"{seed} {draw}".encode())) if shuffle else game.spoken
        spoken = spoken._replace(rules=fill("clue-rules", rules=spoken.rules, question=question))
        player = Prompted(model, chosen, ClueSetting(spoken.rules), draw, seed, sampling or Sampling())
        return cls(player, spoken, chosen, draw)

    def observe(self, view: Any) -> ClueGameModel:
        """The player after it has seen its view, and what came of the last turn if that is new."""
        # two turns in succession may be alike, and views may have copies of the same turn
        is_over = view.last is not None and (view.last != self.last or (view.last is not self.last and self.steps > 1))
        player = self.player.observe(self.spoken.finished(view.last)) if is_over else self.player
        steps = 0 if is_over else self.steps
        draw = f"{self.draw} step {steps}"
        described, actions, answers = self.spoken.described(view), self.spoken.options(view), self.spoken.answers(view)
        own, theirs = (_distinct(tuple(names.values())) for names in (actions, answers))
        setting = ClueSetting(self.spoken.rules, len(player.rounds), described, own, theirs)
        # a seat that acts before there is anything to expect is asked without a prediction
        way = self.way if answers else replace(self.way, social="")
        player = player.turn(setting, draw) if steps else replace(player, setting=setting, draw=draw)
        return replace(
            self,
            player=replace(player, strategy=way),
            last=view.last,
            steps=steps + 1,
            actions=tuple(actions),
            answers=tuple(answers),
        )

    def lose(self) -> ClueGameModel:
        """The player after a round that was lost because no move could be read."""
        return replace(self, player=self.player.lose(), steps=0)

    def act(self) -> Categorical[int | None]:
        """The chosen action with probability 1; None if no reply could be read, PASS out of turn. Raises ModelError."""
        if not self.actions:
            return point_mass(tiny_hanabi.PASS)
        return self.player.act().map(lambda i: None if i is None else self.actions[i])

    def predict(self) -> Categorical[int | None]:
        """What is expected of the partner; None if no reply could be read, PASS if there is nothing to expect."""
        if not self.answers:
            return point_mass(tiny_hanabi.PASS)
        return self.player.predict().map(lambda i: None if i is None else self.answers[i])

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All exchanges of this decision so far, including reflections on the turn before."""
        return self.player.exchanges


@lru_cache(maxsize=1024)
def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of options. Raises InputError if answers cannot be told apart."""
    listed = sorted(names)
    if any(read_choice(f"Answer: option {name}", listed) != i for i, name in enumerate(listed)):
        raise InputError(f"the options {', '.join(listed)[:200]} have names that answers blur")
    return names


# Episodes


def of_rounds(game: ClueGame, rounds: int) -> ClueGame:
    """The game with another number of rounds, which its rules tell."""
    world: Any = game.world  # a dataclass
    rules = fill("clue-rounds", rules=game.spoken.rules, rounds=rounds)
    return replace(game, world=replace(world, rounds=rounds), spoken=game.spoken._replace(rules=rules))


def least(game: ClueGame) -> float:
    """The lowest reward of a round, which a lost round earns."""
    world = game.world
    if isinstance(world, taboo.Taboo):
        return -taboo.COST * taboo.CLUES
    return min(codenames.PAY) if isinstance(world, codenames.Codenames) else 0.0


def converse(game: ClueGame, partner: str, subject: Any, streams: Streams) -> Iterator[Row]:
    """One episode of any subject with a partner: rows as of `ClueGame.play`, with each turn in `words`.

    A round in which the subject's action is None is lost: all in all it earns the least that a round can, neither side
    sees how it ends, and the next one is dealt afresh. Its predictions count like any other. Rows of language models
    also have what was `said`, and how many replies were `unreadable`.

    Raises KeyError for an unknown partner, InputError for an illegal action.
    """
    world, seat, partner_mind = game.world, game.seat, game.partners[partner]

    def seen(minds: Mapping[str, Any], state: Any) -> dict[str, Any]:
        return {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}

    state = world.start(streams["deals"])
    minds = seen({agent: subject if agent == seat else partner_mind for agent in world.agents}, state)
    opening, earned = minds, 0.0
    for t in count():
        if world.done(state):
            return
        start, lost, reward, expected, exchanges = state, False, 0.0, None, list[Exchange]()
        for step in count():
            if state.last is not start.last:
                break
            joint = {agent: mind.act().sample(streams["partner"]) for agent, mind in minds.items() if agent != seat}
            if not lost:
                subject = minds[seat]
                expected = subject.predict() if step == 1 else expected
                action = _legal(subject.act().sample(streams["subject"]), world.actions(state, seat))
                exchanges += getattr(subject, "exchanges", ())
                lost = action is None
            if lost:  # played to its end only to learn what was predicted
                action = world.actions(state, seat)[0]
            joint[seat] = action
            after = world.step(state, joint, streams["deals"])
            reward += world.reward(state, joint, after)[seat]
            state, minds = after, seen(minds if not lost else {a: minds[a] for a in minds if a != seat}, after)
        row = game.shown(state.last)
        reward = least(game) - earned if lost else reward
        yield {
            "t": t,
            "predicted": None if expected is None else expected.mode,
            "p_predicted": None if expected is None else expected.prob(expected.mode),
            "p_true": None if expected is None else expected.prob(row["observed"]),
            **row,
            "action": None if lost else row["action"],
            "reward": reward,
            "best": game.best(partner_mind, state.last),
            "words": fill("clue-turn-lost", t=t + 1) if lost else game.spoken.finished(state.last),
            **(_said(exchanges) if hasattr(subject, "exchanges") else {}),
        }
        if lost:
            state = world.start(streams["deals"])._replace(rounds=start.rounds + 1)
            minds = seen(opening | {seat: subject.lose()}, state)
        if lost or state.rounds > start.rounds:
            opening, earned = minds, 0.0
        else:
            earned += reward


def _legal(action: Any, actions: Sequence[int]) -> int | None:
    """The action as the world's own value, or None. Raises InputError for an illegal one."""
    if action is not None and action not in actions:
        raise InputError(f"`{str(action)[:60]}` is not allowed now", hint=f"one of {', '.join(map(str, actions))}")
    return None if action is None else actions[actions.index(action)]


def _said(exchanges: Sequence[Exchange]) -> Row:
    used = sum((exchange.usage for exchange in exchanges), Usage())
    return {
        # a lone surrogate, which no file can hold, becomes a question mark
        "said": [
            {"of": said.purpose, "read": said.reading, "text": said.text[:SHOWN].encode("utf-8", "replace").decode()}
            for said in exchanges
        ],
        "unreadable": sum(not exchange.readable for exchange in exchanges),
        "tokens": used.prompt + used.written,
    }


def estimate(game: ClueGame, partner: str, way: str, episodes: int, *, shuffle: bool = False) -> CallEstimate:
    """Calls and tokens of episodes if every reply can be read, estimated by playing one with a scripted model."""
    counter = CountingModel(Scripted("first option", _first_listed, lambda _prompt, _text: -1.0))
    streams = {role: np.random.default_rng(0) for role in ("deals", "partner", "subject")}
    list(converse(game, partner, ClueGameModel.of(game, counter, way, shuffle=shuffle), streams))
    return CallEstimate(counter.calls * episodes, Usage(*(tokens * episodes for tokens in counter.usage)))


def _first_listed(request: Request) -> str:
    options = LISTED.search(text_of(request))
    return f"Answer: {options[1].split(', option ')[0]}" if options else "Nothing yet."
