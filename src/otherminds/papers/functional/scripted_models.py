"""Scripted stand-ins for language models: each reads the prompts of repeated games and shows one behaviour of models.

They use the same prompts, parsers and counts as any model, so all of these can be tried without one. Two of them know
the partner, since no program could play perfectly from the prompts alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log

import numpy as np

from otherminds.errors import unknown
from otherminds.language.model import Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional.game_prompts import GameSetting
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.players.best_responders import Informed
from otherminds.worlds.repeated_games.rules import Outcome

ROUND = re.compile(r"In round (\d+), you chose option (.+?) and the other player chose option (.+?)\. You ")
TRUTH = re.compile(r"You know for certain that the other player chooses option (.+?) in this round\.")
EXPECTED = re.compile(r"You expect that the other player will choose option (.+?) in this round\.")
OWN_STUB = re.compile(r"In round \d+, you chose option\Z")
LIKELY, UNLIKELY = log(0.98), log(0.005)  # log p of the chosen and of any other option; chosen


@dataclass(frozen=True)
class ParsedPrompt:
    """The content of a prompt: past rounds as joint actions (own, theirs), the told or expected move, the question."""

    setting: GameSetting
    joint: tuple[tuple[int, int], ...]
    truth: int | None
    question: str

    @classmethod
    def read(cls, setting: GameSetting, text: str) -> ParsedPrompt:
        """The content of a prompt that was made from this setting."""
        own, theirs = ({label: i for i, label in enumerate(names)} for names in (setting.own, setting.theirs))
        joint = {int(t): (own[a], theirs[b]) for t, a, b in ROUND.findall(text) if a in own and b in theirs}
        match = TRUTH.search(text) or EXPECTED.search(text)
        truth = theirs.get(match[1]) if match else None
        return cls(setting, tuple(joint.values()), truth, _question(text))

    @property
    def likely(self) -> int:
        """The partner's likeliest action: told, or most frequent after the last joint action, or else overall."""
        if self.truth is not None:
            return self.truth
        after = [b for before, (_, b) in zip(self.joint, self.joint[1:], strict=False) if before == self.joint[-1]]
        counted = Counter(after or [b for _, b in self.joint])
        return max(range(len(self.setting.theirs)), key=lambda b: (counted[b], -b))


def _question(text: str) -> str:
    if "Write two or three sentences to yourself" in text:
        return "reflect"
    if text.startswith("Below is what is known about a game"):
        return "rewrite"
    if OWN_STUB.search(text) or "Which option do you choose" in text:
        return "act"
    return "predict"


Policy = Callable[[ParsedPrompt, Machine, int], int]
"""An action from the prompt, the partner (which most policies ignore) and a random number."""


def _perfectly(page: ParsedPrompt, machine: Machine, _chance: int) -> int:
    return _informed(page, machine).act().mode


def _perfect_prediction(page: ParsedPrompt, machine: Machine, _chance: int) -> int:
    return _informed(page, machine).predict().mode if page.truth is None else page.truth


def _informed(page: ParsedPrompt, machine: Machine) -> Informed:
    """The player that knows the partner, after the past rounds."""
    informed, payoff = _at_start(page.setting, machine), page.setting.game.payoff()
    for a, b in page.joint:
        informed = informed.observe(Outcome(a, b, float(payoff[a, b])))
    return informed


@lru_cache(maxsize=64)
def _at_start(setting: GameSetting, machine: Machine) -> Informed:
    return Informed(setting.game, machine.start, setting.horizon)


def _counting(page: ParsedPrompt, _machine: Machine, _chance: int) -> int:
    return page.likely


def _uniformly(page: ParsedPrompt, _machine: Machine, chance: int) -> int:
    # seeds are checksums: the last bits of those of two passes may be the same in every round
    return int(np.random.default_rng(chance).integers(len(page.setting.own)))


def _first(page: ParsedPrompt, _machine: Machine, _chance: int) -> int:
    return page.setting.own.index(min(page.setting.own))


@dataclass(frozen=True)
class ScriptedBehaviour:
    """How a scripted model acts, predicts, and breaks the form of answers: never, always, or at each first attempt.

    If it mixes, all of its own options have the same probability.
    """

    act: Policy
    predict: Policy
    breaks: str = "never"
    mixes: bool = False


BEHAVIOURS: Mapping[str, ScriptedBehaviour] = {
    "perfect": ScriptedBehaviour(_perfectly, _perfect_prediction),
    "nash_mixer": ScriptedBehaviour(_uniformly, _counting, mixes=True),
    # its own first choice again and again: the text that it has seen most often
    "echo": ScriptedBehaviour(
        lambda page, *_: page.joint[-1][0] if page.joint else len(page.setting.own) - 1, _counting
    ),
    "biased": ScriptedBehaviour(_first, lambda page, *_: page.setting.theirs.index(min(page.setting.theirs))),
    "format_breaker": ScriptedBehaviour(_first, _counting, breaks="always"),
    "stutterer": ScriptedBehaviour(_perfectly, _perfect_prediction, breaks="first"),
    "r1_like": ScriptedBehaviour(_perfectly, lambda page, *_: (page.likely + 1) % len(page.setting.theirs)),
}
"""nash_mixer predicts well and plays the equilibrium; echo repeats itself; biased always names the first option listed;
format_breaker never keeps to the form, stutterer only at the second attempt; r1_like acts well but predicts wrongly."""


def scripted_player(name: str, setting: GameSetting, machine: Machine) -> Scripted:
    """The scripted model of that name for a setting and a partner. Raises InputError for an unknown name."""
    if name not in BEHAVIOURS:
        raise unknown("scripted player", name, BEHAVIOURS)
    manner = BEHAVIOURS[name]

    def choose(text: str, chance: int) -> tuple[str, str]:
        page = ParsedPrompt.read(setting, text)
        acts = page.question == "act"
        labels = setting.own if acts else setting.theirs
        return labels[(manner.act if acts else manner.predict)(page, machine, chance)], page.question

    def write(request: Request) -> str:
        text = text_of(request)
        label, question = choose(text, request.seed)
        if question == "rewrite":
            return text.partition("\n\n")[2]
        if question == "reflect":
            return f"From now on I will keep to option {label}."
        again = request.draw.endswith((" 1", " 2"))
        if manner.breaks == "always" or (manner.breaks == "first" and not again):
            return f"That is hard to say. Not option {label}, I think; let me consider the other ones first."
        return _formed(text, label)

    def weigh(prompt: str, continuation: str) -> float:
        label, question = choose(prompt, 0)
        if manner.mixes and question == "act":
            return -log(len(setting.own))
        return LIKELY if continuation == f" {label}" else UNLIKELY

    return Scripted(name, write, weigh)


def _formed(text: str, label: str) -> str:
    answer = f"Answer: option {label}"
    if "Plans: what you are going to do" in text:
        return f"Plans: keep to option {label}\nInsights: it follows from what happened\n{answer}"
    if "Think step by step first" in text:
        return f"I look at what happened so far, and at what each option gives.\n{answer}"
    return answer
