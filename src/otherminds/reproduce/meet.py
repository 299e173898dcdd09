"""Meeting a partner with any agent: its score beside the best that is known, in a scenario or in a repeated game.

    encounter = meet_scenario("rws-rock", "my_agent.py:make", episodes=4, seed=42)
    encounter.measures                       # score, reference, regret, … with 95 % intervals over episodes

A best response that is exact, in expectation, is called a bound; one that was itself played is called a reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import isclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from otherminds.errors import InputError, unknown
from otherminds.evaluation.asking import Asking, tell_ahead
from otherminds.evaluation.literal_functional import functional_regret, tom_percent
from otherminds.evaluation.own_players import is_own
from otherminds.evaluation.progress import shown
from otherminds.evaluation.statistics import Estimate, exact, mean, paired, student
from otherminds.evaluation.store import FILE, Row
from otherminds.evaluation.tasks import Task
from otherminds.language.find import blamed, load
from otherminds.language.model import LanguageModel
from otherminds.language.model_names import is_model
from otherminds.papers.functional.agents import pair_episode
from otherminds.papers.hypothetical_minds.experiment import COOKING, MindMaker, ScenarioEntry, estimate, rows
from otherminds.papers.hypothetical_minds.melting_pot import NORMED
from otherminds.papers.hypothetical_minds.players import PLAYERS
from otherminds.reports.matrix_replay import matrix_replay
from otherminds.reports.page import Page, Section, interval, number, page, stack, table
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import scenario
from otherminds.worlds.repeated_games.partners import partners_in
from otherminds.worlds.repeated_games.payoff_files import find_game

COOK, KNOWING = COOKING[0], "bound"  # the players whose scores are references
REFERENCES = {
    KNOWING: "score of a player that knows the partner's strategy and the map, in the same episodes; no bound",
    COOK: "score of a scripted cook that infers what its partner does, in the same episodes; no bound",
}
MODEL_AGENT = "HM"  # the agent that a language model takes part in: Hypothetical Minds
MAKERS = "a function of world, agent and generator that returns a mind, or a mind"


class Measure(NamedTuple):
    """A figure of an encounter: its mean with a 95 % interval over episodes, and what it means."""

    name: str
    estimate: Estimate
    meaning: str


class Encounter(NamedTuple):
    """Episodes of an agent with a partner. `partner` says what the partner does, `rows` has the agent's rows."""

    name: str
    partner: str
    agent: str
    seed: int
    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]


# Agents


@dataclass(frozen=True)
class OwnMind:
    """A user's mind in a scenario, whose errors are InputErrors of one line."""

    name: str
    mind: Any
    actions: tuple[Any, ...]

    def observe(self, obs: Any, /) -> OwnMind:
        """The mind after an observation."""
        with blamed(self.name):
            return replace(self, mind=self.mind.observe(obs))

    def act(self) -> OwnPolicy:
        """Its policy. Raises InputError if that is no distribution."""
        with blamed(self.name):
            policy = self.mind.act()
        if not hasattr(policy, "sample"):
            hint = "return a distribution, as Categorical.uniform(actions) or point_mass(action)"
            raise InputError(f"{self.name} acts by `{str(policy)[:60]}`", hint=hint)
        return OwnPolicy(self.name, policy, self.actions)


class OwnPolicy(NamedTuple):
    """A user's distribution over actions, of which only the world's own may be drawn."""

    name: str
    policy: Any
    actions: tuple[Any, ...]

    def log_prob(self, action: Any, /) -> float:
        """log π(a)."""
        return float(self.policy.log_prob(action))

    def sample(self, rng: np.random.Generator, /) -> Any:
        """Draw an action. Raises InputError for one that the world does not have."""
        with blamed(self.name):
            action = self.policy.sample(rng)
        if action not in self.actions:
            raise InputError(f"{self.name} does `{str(action)[:60]}`", hint=f"one of {', '.join(self.actions)}")
        return action


def own_mind_maker(name: str) -> MindMaker:
    """The function that makes a user's minds, from `module:make` or `file.py:make`, or always returns the mind named.

    Raises InputError if it is neither such a function nor a mind.
    """
    loaded = load(name)
    is_mind = all(hasattr(loaded, method) for method in ("observe", "act"))
    if isclass(loaded) or not (is_mind or callable(loaded)):
        raise InputError(f"{name} is no agent", hint=f"name {MAKERS}")

    def make(world: Any, agent: str, rng: np.random.Generator) -> OwnMind:
        with blamed(name):
            mind = loaded if is_mind else loaded(world, agent, rng)
        if not all(hasattr(mind, method) for method in ("observe", "act")):
            raise InputError(f"{name} returns no mind", hint="a mind has `observe` and `act`")
        return OwnMind(name, mind, world.actions(world.start(np.random.default_rng(0)), agent))

    return make


# Scenarios


def meet_scenario(
    name: str, agent: str, *, episodes: int, seed: int, asking: Asking | None = None, filmed: bool = False
) -> Encounter:
    """Episodes of an agent in a scenario, or with one of its bots, beside a reference player in the same episodes.

    The agent is `module:make`, a name in PLAYERS, or a language model, which `asking` says how to ask. Figures are
    reward in 1200 steps. Raises InputError for an unknown scenario or agent.
    """
    spec = scenario(name)
    entries = [ScenarioEntry(spec.id, agent, n, seed, filmed=filmed and n == 0) for n in range(episodes)]
    play, entries = _player(agent, entries, asking)
    reference = COOK if entries[0].cooks else KNOWING
    benchmark = [replace(entry, agent=reference, model="", filmed=False) for entry in entries]
    planned = [(play, entry) for entry in entries] + [(rows, entry) for entry in benchmark]
    played = [episode(entry) for episode, entry in shown(planned, len(planned), "Playing")]
    ours = [row for episode_rows in played[:episodes] for row in episode_rows]
    scores, best_scores = (
        {episode[-1]["episode"]: episode[-1]["score"] for episode in part}
        for part in (played[:episodes], played[episodes:])
    )
    measures = [
        Measure("score", student([*scores.values()]), f"reward in {NORMED} steps"),
        Measure("reference", student([*best_scores.values()]), REFERENCES[reference]),
        Measure("regret", paired(best_scores, scores), "reference less score, paired by episode"),
    ]
    meetings = [row for row in ours if "loss" in row]
    if meetings:
        losses = mean([row["loss"] for row in meetings], [row["episode"] for row in meetings])
        words = "expected reward of a meeting that the kind played loses to the best response: exact, never below 0"
        measures.append(Measure("loss by choice", losses, words))
    ends = [row for row in ours if "score" in row]
    words = "dishes delivered in an episode" if entries[0].cooks else "meetings in an episode"
    measures.append(Measure("meetings", student([float(row["meetings"]) for row in ends]), words))
    return Encounter(spec.id, spec.meaning, agent, seed, tuple(measures), tuple(ours))


def _player(
    agent: str, entries: Sequence[ScenarioEntry], asking: Asking | None
) -> tuple[Callable[[ScenarioEntry], list[Row]], list[ScenarioEntry]]:
    """The function that plays an entry with the agent, and the entries as it needs them."""
    cooks = entries[0].cooks
    is_spoken = is_model(agent) or (is_own(agent) and hasattr(load(agent), "complete"))
    if asking is not None and is_spoken:
        model, spoken = _recorded(asking, [replace(entry, agent=MODEL_AGENT, model=agent) for entry in entries])
        return partial(rows, model=model), spoken
    if is_own(agent):
        return partial(rows, make=own_mind_maker(agent)), [*entries]
    able = COOKING if cooks else tuple(PLAYERS)
    if agent not in able:
        raise unknown("agent", agent, able, f"or one of your own as module:make, {MAKERS}")
    return rows, [*entries]


def _recorded(asking: Asking, entries: list[ScenarioEntry]) -> tuple[LanguageModel, list[ScenarioEntry]]:
    """The model with a record of its calls, whose expected number is printed, and the entries with its name."""
    ahead = estimate(entries)
    folder = Path("runs") / "meet"
    folder.mkdir(parents=True, exist_ok=True)
    asking = asking.limited(2 * ahead.calls)
    model = asking.recorded(asking.find(), folder / FILE)
    tell_ahead(model, ahead, asking.price)
    return model, [replace(entry, model=model.name) for entry in entries]


# Repeated games


def meet_partner(name: str, game: str, agent: str, *, rounds: int, episodes: int, seed: int) -> Encounter:
    """Episodes of a player with a partner of a repeated game, beside the exact optimum.

    The player is `module:object` or a name. Figures are payoffs per round. Raises InputError for an unknown game,
    partner or player, and for a language model.
    """
    if is_model(agent):
        hint = f"otherminds check --agent {agent} --game {game}"
        raise InputError("language models play games in a check", hint=hint)
    loaded_game = find_game(game)
    (partner,) = partners_in(loaded_game, [name])
    task = Task(loaded_game, partner, rounds)
    played = [pair_episode(task, agent, n, seed) for n in shown(range(episodes), episodes, "Playing")]
    rewards = [sum(row["reward"] for row in episode) / rounds for episode in played]
    regrets = [functional_regret(task, episode) for episode in played]
    bound = "expected payoff a round of the best response that knows the partner: an exact bound in expectation"
    measures = (
        Measure("score", student(rewards), "payoff a round"),
        Measure("bound", exact(task.optimum / rounds, episodes), bound),
        Measure("regret", student(regrets), "bound less score, a round"),
        Measure("predicted, %", student([tom_percent(episode) for episode in played]), "rounds foreseen"),
    )
    ours = tuple(row | {"episode": str(n)} for n, episode in enumerate(played) for row in episode)
    return Encounter(partner.name, f"a partner in {loaded_game.name}", agent, seed, measures, ours)


# The page


def encounter_page(encounter: Encounter) -> Page:
    """The figures of an encounter, and its first episode: to step through in a matrix world, else as a table."""
    lines = [(m.name, interval(*m.estimate[:3]), m.estimate.n, m.meaning) for m in encounter.measures]
    figures = table(("Figure", "Mean [95 % interval]", "Episodes", "What it is"), lines)
    first = [row for row in encounter.rows if row["episode"] == encounter.rows[0]["episode"]]
    film = first[-1].get("film")
    title = f"{encounter.agent} meets {encounter.name}: {encounter.partner}"
    if film is not None:
        world = in_the_matrix(scenario(encounter.name).substrate)
        meetings = [row for row in first if "partner" in row]
        body = matrix_replay(world, film["kinds"], film["frames"], meetings, title)
    elif "t" in first[-1]:
        rounds = [(row["t"] + 1, row["action"], row["observed"], number(row["reward"])) for row in first]
        body = table(("Round", "Its action", "The partner's", "Payoff"), rounds)
    else:
        body = stack(f"{first[-1]['meetings']} dishes were delivered in {first[-1]['steps']} steps.")
    return page(title, f"Seed {encounter.seed}.", [Section("Figures", figures), Section("The first episode", body)])
