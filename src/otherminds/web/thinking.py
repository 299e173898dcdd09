"""Thinking for simulated people and facilitators during games, in separate processes.

Both are pure functions of a game's setup and its steps; earlier results are only cached. So nothing is lost with a
process, or with the server.
"""

from __future__ import annotations

import asyncio
import gc
import math
import os
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context, parent_process
from statistics import mean
from typing import Any, NamedTuple, TypeVar

from otherminds.evaluation.engines import end_with, stream
from otherminds.language.find import find_model
from otherminds.operating_system import lower_priority
from otherminds.papers.protom import experiment as facilitated
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.episodes import Decision, SilentFacilitator, Status
from otherminds.papers.protom.experiment import EpisodeSetup, PlannedEpisode
from otherminds.papers.protom.facilitated_world import FacilitatedWorld
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.web.board import Playable, board
from otherminds.worlds.overcooked.level_files import KitchenLevel

T = TypeVar("T")
EXPERIMENTS: Mapping[str, FacilitatedWorld] = {"doors-keys-gems": DOORS_KEYS_GEMS, "overcooked": OVERCOOKED}
REMEMBERED = 256  # games that a process keeps in its cache; chosen
IGNORE, GOT_IT = "ignore", "got it"  # what people may answer to a message
ASKERS = 4  # processes that wait for language models; chosen
COLLECT = (700, 10, 10)  # Python's own; where garbage is looked for as rarely as in short commands, people wait .3 s
POLITENESS = 10  # niceness of thinking processes, so that serving pages comes first; chosen


class PlayedStep(NamedTuple):
    """One step of a game: the joint action in words, and the message sent after it (empty if none).

    heard: what people answered to messages before it, each with the message.
    """

    joint: Mapping[str, str]
    message: str = ""
    heard: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class GameSetup:
    """The setup of a game, with a unique `key`. It leaves out who plays, as minds do not know it.

    model: the specification of the language model that facilitates; empty if none does.
    """

    key: str
    level: Playable
    facilitator: str
    seed: int
    model: str = ""

    def cast(self) -> EpisodeSetup:
        """A mind for every seat, and the facilitator."""
        entry = self.entry()
        world = EXPERIMENTS["overcooked" if isinstance(self.level, KitchenLevel) else "doors-keys-gems"]
        return world.setup(entry, model=_model(self.model) if self.model else None)

    def entry(self) -> PlannedEpisode:
        """The game as an entry in the plan of an experiment."""
        return PlannedEpisode(self.level, self.facilitator, self.level.kind or "unclassified", self.seed)


_model = cache(find_model)


class FacilitatorThought(NamedTuple):
    """A facilitator's decision after step t: its row, its beliefs as rows, and the recipient of its message, if any.

    `saves` is the expected number of steps saved, `place` the square that the message is about, `surprise` how
    surprising each agent's action in step t was, in nats.
    """

    t: int
    row: Mapping[str, Any]
    beliefs: Mapping[str, Mapping[str, Any]]
    helper: str = ""
    saves: float | None = None
    place: Sequence[int] | None = None
    surprise: Mapping[str, float] = {}


class _FollowedGame:
    """An episode, replayed up to step `t`, with minds for the simulated people, and the facilitator if it advises."""

    def __init__(self, setup: GameSetup, simulated: Sequence[str], advises: bool) -> None:
        """The game before its first step. `answers` has the facilitator's latest thought, by its step."""
        self.setup, self.cast, self.board = setup, setup.cast(), board(setup.level)
        self.episode = facilitated.episode(setup.entry(), self.cast)
        self.episode.minds = {agent: self.cast.people[agent] for agent in simulated}
        if not advises:
            self.episode.facilitator = SilentFacilitator()
        self.state = self.cast.world.start(self.episode.people_rng)
        self.episode.look(self.state)
        self.t = 0
        self.statuses: dict[Any, Status] = {}
        self.surprise: Mapping[str, float] = {}
        self.answers: dict[int, FacilitatorThought] = {}

    def follow(self, steps: Sequence[PlayedStep], decided: int, since: int = 0) -> None:
        """Replay the remaining steps. The facilitator's decision after step `decided` is still open.

        The statuses of messages are collected from step `since` on.
        """
        vocabulary = self.board.scene.vocabulary
        for step in steps[self.t :]:
            self.t += 1
            self._seed()
            ignored = self._hear(step.heard)
            joint = {agent: vocabulary[word] for agent, word in step.joint.items()}
            self.state = self.cast.world.step(self.state, joint, self.episode.people_rng)
            self.episode.look(self.state)
            if self.t == len(steps):
                self.surprise = self.episode.facilitator.surprise(joint)
            self.episode.watch(joint, self.state, self.t)
            if self.t > since:
                self.statuses |= ignored | self.episode.statuses
            if step.message and self.t != decided:
                for message in self.cast.messages.candidates(self.state):
                    if self.cast.messages.address(message) == step.message:
                        self.episode.tell(message, self.state, self.t)

    def _hear(self, heard: Sequence[tuple[str, str]]) -> dict[Any, Status]:
        """Tell the facilitator what people answered to messages under way; returns those that they ignore."""
        ignored: dict[Any, Status] = {}
        for address, reply in heard:
            for message, _ in list(self.episode.under_way.values()):
                if self.cast.messages.address(message) == address and reply == IGNORE:
                    self.episode.ignore(message)
                    ignored[message] = "ignored"
                elif self.cast.messages.address(message) == address:
                    self.episode.accept(message)
        return ignored

    def _seed(self) -> None:
        """Reseed for this step: randomness must not depend on how often minds have thought before."""
        level, seed = self.setup.level.name, self.setup.seed
        self.episode.people_rng = stream(seed, "people", level, str(self.t))
        self.episode.facilitator_rng = stream(seed, self.setup.facilitator, level, str(self.t))


_games: OrderedDict[tuple[str, tuple[str, ...], bool], _FollowedGame] = OrderedDict()


def _game(setup: GameSetup, steps: Sequence[PlayedStep], simulated: Sequence[str], advises: bool) -> _FollowedGame:
    """The cached game, or a new one if there is none or it is ahead of these steps."""
    key = (setup.key, tuple(simulated), advises)
    game = _games.pop(key, None)
    if game is None or game.t > len(steps):
        game = _FollowedGame(setup, simulated, advises)
    _games[key] = game
    while len(_games) > REMEMBERED:
        _games.popitem(last=False)
    return game


def act(setup: GameSetup, steps: Sequence[PlayedStep], simulated: Sequence[str]) -> dict[str, str]:
    """The next actions of these simulated people, in words."""
    game = _game(setup, steps, simulated, advises=False)
    game.follow(steps, decided=0)
    game._seed()
    return {agent: game.cast.spell(action) for agent, action in game.episode.choose().items()}


def advise(setup: GameSetup, steps: Sequence[PlayedStep], since: int = 0) -> FacilitatorThought:
    """The facilitator's decision now, with its beliefs and the statuses of its messages since step `since`."""
    began = time.perf_counter()
    game = _game(setup, steps, (), advises=True)
    t = len(steps)
    if t not in game.answers:
        game.follow(steps, t, since)
        decision = game.episode.decide(game.state, t)
        statuses, game.statuses = facilitated.statuses(game.cast, game.statuses), {}
        if decision.message is not None:
            game.episode.tell(decision.message, game.state, t)
        game.answers = {t: _thought(game, decision, statuses, 1e3 * (time.perf_counter() - began))}
    return game.answers[t]


def _thought(
    game: _FollowedGame, decision: Decision[Any], statuses: Mapping[str, Status], ms: float
) -> FacilitatorThought:
    """A decision with the beliefs behind it, and what its message is about; `ms` is the time that it took."""
    cast, message = game.cast, decision.message
    row = facilitated.decision_row(cast, decision, statuses, ms)
    agent_beliefs = {} if game.setup.facilitator == "oracle" else game.episode.facilitator.beliefs()
    surprise = game.surprise if agent_beliefs else {}
    beliefs = {agent: facilitated.belief_row(cast, cast.goals[agent], b) for agent, b in agent_beliefs.items()}
    if message is None:
        return FacilitatorThought(game.t, row, beliefs, surprise=surprise)
    saves = next((price.saves for price in decision.utilities if price.message == message), None)
    place = game.board.place(game.state, message)
    return FacilitatorThought(game.t, row, beliefs, cast.messages.helper(message), saves, place, surprise)


PACED = 12  # decisions that are timed to know how many a processor makes; chosen


def pace(level: Playable, facilitator: str) -> float:
    """The mean milliseconds in which this facilitator decides about a step of this level, while people walk about."""
    setup = GameSetup(f"pace of {level.name}", level, facilitator, seed=0)
    game = _FollowedGame(setup, level.world.agents, advises=True)
    steps: list[PlayedStep] = []
    times = []
    for _ in range(PACED):
        joint = {agent: game.cast.spell(action) for agent, action in game.episode.choose().items()}
        steps.append(PlayedStep(joint))
        game.follow(steps, len(steps))
        began = time.perf_counter()
        game.episode.decide(game.state, game.t)
        times.append(time.perf_counter() - began)
        if game.cast.world.done(game.state):
            break
    return 1e3 * mean(times)


def prepare() -> None:
    """Initialise a thinking process: lower its priority, look for garbage in time, and end it when the server ends."""
    lower_priority(POLITENESS)
    gc.set_threshold(*COLLECT)
    gc.freeze()  # what modules made stays
    if server := parent_process():
        end_with(server.sentinel)  # a killed server cannot end its processes


class ThinkingProcesses:
    """Processes for simulated people, facilitators, and facilitators that wait for language models.

    A game always goes to the same process of each kind, whose cache holds it. There are as many processes for
    facilitators as processors.
    """

    def __init__(self, facilitators: int = 0) -> None:
        """No process is started before it is needed. `facilitators`: processes for them, 0 for one a processor."""
        self.facilitators = facilitators or os.cpu_count() or 1
        self._pools: dict[str, ProcessPoolExecutor] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    async def act(self, setup: GameSetup, steps: Sequence[PlayedStep], simulated: Sequence[str]) -> dict[str, str]:
        """`act`, in another process."""
        return await self._in("act", act, setup, tuple(steps), tuple(simulated))

    async def advise(self, setup: GameSetup, steps: Sequence[PlayedStep], since: int = 0) -> FacilitatorThought:
        """`advise`, in the game's process; facilitators that are language models have processes of their own."""
        return await self._in(self._adviser(setup), advise, setup, tuple(steps), since)

    def turn(self, setup: GameSetup) -> asyncio.Lock:
        """A lock of the process in which this game's facilitator thinks.

        Whoever holds it asks about the latest step: games wait for their turn, and no work queues for states that are
        over by the time it is done.
        """
        return self._turns.setdefault(self._adviser(setup), asyncio.Lock())

    def _adviser(self, setup: GameSetup) -> str:
        """The process in which a game's facilitator thinks."""
        kind, processes = ("ask", ASKERS) if setup.model else ("advise", self.facilitators)
        return f"{kind} {zlib.crc32(setup.key.encode()) % processes}"

    async def call(self, work: Callable[..., T], *args: Any) -> T:
        """Any other long computation, in a process of its own."""
        return await self._in("else", work, *args)

    async def _in(self, which: str, work: Callable[..., T], *args: Any) -> T:
        """Run the work in that process; once more if the process was lost."""
        try:
            return await asyncio.wrap_future(self._pool(which).submit(work, *args))
        except BrokenProcessPool:
            self._pools.pop(which, None)
            return await asyncio.wrap_future(self._pool(which).submit(work, *args))

    def _pool(self, which: str) -> ProcessPoolExecutor:
        """The process for this kind of work, started when it is first needed."""
        if which not in self._pools:
            self._pools[which] = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=prepare)
        return self._pools[which]

    def wake(self) -> None:
        """Start the processes that all games need, so that the first game need not wait for them."""
        for which in ("act", *(f"advise {n}" for n in range(self.facilitators))):
            if which not in self._pools:
                self._pool(which).submit(os.getpid)

    def close(self) -> None:
        """End all processes."""
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)


def alone(level: Playable) -> float | None:
    """The mean number of steps of simulated people without a facilitator, from the level's certificate.

    Infinite if they fail, None if the certificate does not say.
    """
    certified_steps = level.certificate.get("L0") or level.certificate.get("alone")
    if not certified_steps:
        return None
    mean_steps = mean(int(word) if word.isdecimal() else level.horizon for word in certified_steps.split())
    return mean_steps if mean_steps < level.horizon else math.inf
