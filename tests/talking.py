"""Models that remember what they were asked, and what prompts of repeated games say, read by other means."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.evaluation.tasks import Row, Task, converse
from otherminds.language.model import Continuations, LanguageModel, Reply, Request, Scores
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional.game_prompts import NAME_SETS, GameSetting, Round
from otherminds.papers.functional.prompting import Prompted, Sampling, strategy
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import Game, Outcome

RPS, IBS, IPD = find_game("rps"), find_game("ibs"), find_game("ipd")

NEUTRAL = ("J", "F", "B")
ODD = (
    ("Rock and roll", "Rock", "Answer"),
    ("X", "option", "plans"),
    (r"a.*b", r"(?P<x>", "[a-z]+"),
    ('say "hi"', "it's", "`tick` tock"),
    ("J" * 21, "F" * 21, "B" * 21),
    ("Zürich", "東京", "🂡 ace"),
    ("a: b", "a, b", "Answer: a"),
    ("option J", "J", "j2"),
    ("$own", "\\1", "{0}"),
    ("None", "null", "-1"),
)
"""Names of options that a reader could take for something else."""

PAYOFF = re.compile(
    r"^If you choose option (.+) and the other player chooses option (.+),"
    r" you (?:win|receive a score of) (\S+)(?: points)?"
    r" and the other player (?:wins|receives a score of) (\S+?)(?: points)?\.$",
    re.MULTILINE,
)
PAST = re.compile(
    r"^In round (\d+), you chose option (.+) and the other player chose option (.+)\."
    r" You (?:won (\S+) points|received a score of (\S+?))\.$",
    re.MULTILINE,
)
LOST = re.compile(r"^Round (\d+) was not played, because your answer could not be read\.$", re.MULTILINE)


class Call(NamedTuple):
    """One question to a model: whether it was to write or to score, what for, and the whole prompt."""

    kind: str
    purpose: str
    prompt: str
    request: Request | None = None
    texts: tuple[str, ...] = ()


class Listening:
    """A model that answers as another one does, and remembers what it was asked."""

    def __init__(self, inner: LanguageModel) -> None:
        self.inner, self.calls = inner, list[Call]()
        self.name, self.identity = inner.name, inner.identity

    def complete(self, request: Request) -> Reply:
        text = text_of(request)
        self.calls.append(Call("write", purpose(text), text, request))
        return self.inner.complete(request)

    def score(self, request: Continuations) -> Scores:
        self.calls.append(Call("score", purpose(request.prompt), request.prompt, texts=request.texts))
        return self.inner.score(request)

    def prompts(self, kind: str) -> list[str]:
        """The prompts that were for this purpose."""
        return [call.prompt for call in self.calls if call.purpose == kind]


def purpose(prompt: str) -> str:
    """What a prompt asks for, by its words."""
    if "Write two or three sentences to yourself." in prompt:
        return "reflect"
    if prompt.startswith("Below is what is known"):
        return "rewrite act" if "which option you should choose" in prompt else "rewrite predict"
    if "Which option do you choose in round" in prompt or prompt.endswith(", you chose option"):
        return "act"
    assert "Which option will the other player choose in round" in prompt or prompt.endswith(
        "other player chose option"
    )
    return "predict"


Reader = Callable[[str, str], str]


def model(reply: Reader, likely: Callable[[str, str], float] = lambda _prompt, _text: -1.0) -> Listening:
    """A model that replies by a function of purpose and prompt."""
    return Listening(Scripted("model", lambda r: reply(purpose(text_of(r)), text_of(r)), likely))


def answering(act: str, predict: str, *, likely: float = -0.01) -> Listening:
    """A model that always gives the same two answers, in any form in which it may be asked."""

    def reply(kind: str, _prompt: str) -> str:
        if kind in ("reflect", "rewrite act", "rewrite predict"):
            return f"what matters to {kind}"
        return f"Plans: plan to {kind}\nInsights: insight to {kind}\nAnswer: option {act if kind == 'act' else predict}"

    def weigh(prompt: str, text: str) -> float:
        return likely if text == f" {act if purpose(prompt) == 'act' else predict}" else -9.0

    return model(reply, weigh)


def payoffs_told(prompt: str) -> dict[tuple[str, str], tuple[float, float]]:
    """The payoffs that a prompt tells, by the names of both actions; every joint action is told once."""
    found = [(own, theirs, float(mine), float(yours)) for own, theirs, mine, yours in PAYOFF.findall(prompt)]
    told = {(own, theirs): (mine, yours) for own, theirs, mine, yours in found}
    assert len(told) == len(found)
    return told


def past_told(prompt: str) -> dict[int, tuple[str, str, float]]:
    """The rounds that a prompt tells of as played: both names and one's own payoff."""
    return {int(t): (own, theirs, float(won or got)) for t, own, theirs, won, got in PAST.findall(prompt)}


def lost_told(prompt: str) -> list[int]:
    """The rounds that a prompt tells of as lost."""
    return [int(t) for t in LOST.findall(prompt)]


def payoffs_of(game: Game, own: tuple[str, ...], theirs: tuple[str, ...]) -> dict[tuple[str, str], tuple[float, float]]:
    """The payoffs of a game as it is defined: joint actions in lexicographic order."""
    pairs = [(a, b) for a in own for b in theirs]
    return {pair: (float(mine), float(yours)) for pair, (mine, yours) in zip(pairs, game.payoffs, strict=True)}


def asked(
    way: str,
    speaker: LanguageModel,
    game: Game = RPS,
    *,
    rounds: int = 5,
    names: str = "neutral",
    sampling: Sampling | None = None,
    draw: str = "episode",
) -> Prompted:
    """A player before the first round."""
    setting = GameSetting.of(game, rounds, names)
    return Prompted(speaker, strategy(way), setting, draw, 0, sampling or Sampling(compare=True))


def play_out(player: Prompted, machine: Machine | None = None, *, seed: int = 0) -> tuple[Task, list[Row]]:
    """An episode with a partner, tit for tat unless another one is given, with all that was said in its rows."""
    setting = player.setting
    assert isinstance(setting, GameSetting)
    task = Task(setting.game, machine or partner("tft", setting.game), setting.horizon)
    rng = np.random.default_rng(seed)
    return task, list(converse(task, player, rng=rng, note=lambda subject: {"said": subject.exchanges}))


# Any game in words

sizes = st.integers(1, 4)
numbers = st.integers(-30, 30) | st.floats(-1e9, 1e9) | st.sampled_from([0.1, 1 / 3, 1e16, 1234567, -0.0, 1e-7])
words = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=6).filter(
    lambda word: word == word.strip() and word.isprintable()
)
name_sets = st.sampled_from([name for name in NAME_SETS if name != "initials"])


@st.composite
def games(draw: st.DrawFn, names: st.SearchStrategy[str] = words) -> Game:
    shape = draw(sizes), draw(sizes)
    called = [tuple(draw(st.lists(names, min_size=size, max_size=size, unique=True))) for size in shape]
    if shape[0] == shape[1] and draw(st.booleans()):
        called[1] = called[0]
    cells = st.tuples(numbers, numbers)
    rows = draw(st.lists(cells, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return Game("drawn", ("you", "partner"), tuple(called), tuple((float(a), float(b)) for a, b in rows))


@st.composite
def settings(draw: st.DrawFn) -> GameSetting:
    """A game in words that can be read back, with or without shuffles."""
    game, shuffles = draw(games()), draw(st.tuples(st.booleans(), st.booleans()))
    rngs = [np.random.default_rng(draw(st.integers(0, 99))) if wanted else None for wanted in shuffles]
    try:
        return GameSetting.of(game, draw(st.integers(1, 9)), draw(name_sets), labels_rng=rngs[0], payoffs_rng=rngs[1])
    except InputError:
        assume(False)
        raise


@st.composite
def played(draw: st.DrawFn, lost: bool = True) -> tuple[GameSetting, list[Round]]:
    """A setting with some rounds that are over."""
    setting = draw(settings())
    rounds: list[Round] = []
    for _ in range(draw(st.integers(0, 4))):
        a, b = (draw(st.integers(0, size - 1)) for size in setting.game.shape)
        outcome = Outcome(a, b, float(setting.game.payoff()[a, b]))
        rounds.append(None if lost and draw(st.booleans()) else outcome)
    return setting, rounds
