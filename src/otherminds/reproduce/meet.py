"""Meeting a partner with any agent: its score beside the best that is known, in a scenario, a game, or a clue game.

    encounter = meet_scenario("rws-rock", "my_agent.py:make", episodes=4, seed=42)
    encounter.measures                       # score, reference, regret, … with 95 % intervals over episodes

A best response that is exact, in expectation, is called a bound; one that was itself played is called a reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import isclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from otherminds.distribution import Categorical
from otherminds.errors import InputError, unknown
from otherminds.evaluation.asking import Asking, tell_ahead
from otherminds.evaluation.engines import stream
from otherminds.evaluation.literal_functional import functional_regret, tom_percent
from otherminds.evaluation.own_players import blamed_if_own, is_own
from otherminds.evaluation.progress import shown
from otherminds.evaluation.statistics import Estimate, exact, mean, paired, student
from otherminds.evaluation.store import FILE, Row
from otherminds.evaluation.tasks import Task
from otherminds.language.find import blamed, load
from otherminds.language.model import LanguageModel
from otherminds.language.model_names import is_model
from otherminds.language.prices import CallEstimate
from otherminds.papers.functional import clue_game_models, model_episodes
from otherminds.papers.functional.agents import pair_episode
from otherminds.papers.functional.card_and_word_games import games
from otherminds.papers.functional.clue_game_models import ClueGameModel, converse, of_rounds
from otherminds.papers.functional.model_episodes import ModelGameEntry
from otherminds.papers.functional.prompting import Sampling
from otherminds.papers.hypothetical_minds.experiment import COOKING, MindMaker, ScenarioEntry, estimate, rows
from otherminds.papers.hypothetical_minds.melting_pot import NORMED
from otherminds.papers.hypothetical_minds.players import PLAYERS
from otherminds.reports.matrix_replay import matrix_replay
from otherminds.reports.page import Page, Section, interval, number, page, stack, table
from otherminds.worlds.clue_games.clue_game import ClueGame
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import scenario
from otherminds.worlds.repeated_games.partners import partners_in
from otherminds.worlds.repeated_games.payoff_files import bundled_games, find_game
from otherminds.worlds.repeated_games.rules import Game

COOK, KNOWING = COOKING[0], "bound"  # the players whose scores are references
REFERENCES = {
    KNOWING: "score of a player that knows the partner's strategy and the map, in the same episodes; no bound",
    COOK: "score of a scripted cook that infers what its partner does, in the same episodes; no bound",
}
TINY = {"hanabi/signals": "tiny-hanabi"}  # short names of clue games where another game has the first part as its own
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
    """A user's mind, whose errors are InputErrors of one line.

    `actions` are those that it may do; if empty, they are not checked here.
    """

    name: str
    mind: Any
    actions: tuple[Any, ...]

    def observe(self, obs: Any, /) -> OwnMind:
        """The mind after an observation."""
        with blamed(self.name):
            mind = self.mind.observe(obs)
        if not hasattr(mind, "act"):
            raise InputError(f"`observe` of {self.name} returns `{str(mind)[:60]}`", hint="return the mind after it")
        return replace(self, mind=mind)

    def act(self) -> OwnPolicy:
        """Its policy. Raises InputError if that is no distribution."""
        with blamed(self.name):
            policy = self.mind.act()
        if not hasattr(policy, "sample"):
            hint = "return a distribution, as Categorical.uniform(actions) or point_mass(action)"
            raise InputError(f"{self.name} acts by `{str(policy)[:60]}`", hint=hint)
        return OwnPolicy(self.name, policy, self.actions)

    def predict(self) -> Categorical[Any] | None:
        """What it expects of its partner; None if it does not say. Raises InputError if that is no distribution."""
        if not hasattr(self.mind, "predict"):
            return None
        with blamed(self.name):
            expected = self.mind.predict()
        if not isinstance(expected, Categorical):
            raise InputError(f"{self.name} predicts `{str(expected)[:60]}`", hint="return a Categorical")
        return expected


class OwnPolicy(NamedTuple):
    """A user's distribution over actions, of which only those listed may be drawn, if any are."""

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
        if action is None or (self.actions and action not in self.actions):
            hint = f"one of {', '.join(self.actions)}" if self.actions else "return a distribution over actions"
            raise InputError(f"{self.name} does `{str(action)[:60]}`", hint=hint)
        return action


def own_mind_maker(name: str, *, same_actions: bool = True) -> MindMaker:
    """The function that makes a user's minds, from `module:make` or `file.py:make`, or always returns the mind named.

    `same_actions`: the world has the same actions in all states, and only these are let through.

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
        fixed = world.actions(world.start(np.random.default_rng(0)), agent) if same_actions else ()
        return OwnMind(name, mind, fixed)

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
        words = "expected reward per meeting that is lost by the kind played: exact, never below 0"
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
    if asking is not None and is_spoken(agent):
        spoken = [replace(entry, agent=MODEL_AGENT, model=agent) for entry in entries]
        model = _recorded(asking, estimate(spoken))
        return partial(rows, model=model), [replace(entry, model=model.name) for entry in spoken]
    if is_own(agent):
        return partial(rows, make=own_mind_maker(agent)), [*entries]
    able = COOKING if cooks else tuple(PLAYERS)
    if agent not in able:
        raise unknown("agent", agent, able, f"or one of your own as module:make, {MAKERS}")
    return rows, [*entries]


def is_spoken(agent: str) -> bool:
    """Whether the agent is a language model. Raises InputError if it cannot be imported."""
    return is_model(agent) or (is_own(agent) and hasattr(load(agent), "complete"))


def _recorded(asking: Asking, ahead: CallEstimate) -> LanguageModel:
    """The model with a record of its calls, whose expected number is printed."""
    folder = Path("runs") / "meet"
    folder.mkdir(parents=True, exist_ok=True)
    asking = asking.limited(2 * ahead.calls)
    model = asking.recorded(asking.find(), folder / FILE)
    tell_ahead(model, ahead, asking.price)
    return model


# Repeated games


def repeated_game(name: str) -> Game:
    """The game of a name or in a file. Raises InputError for another name, which may be almost that of a clue game."""
    try:
        return find_game(name)
    except InputError:
        if Path(name).suffix or Path(name).is_file():
            raise
        names = [*(game.name for game in bundled_games()), *clue_game_names()]
        raise unknown("game", name, names, "ordinal-001 to ordinal-144, or a file") from None


def meet_partner(
    name: str, game: str, agent: str, *, rounds: int, episodes: int, seed: int, asking: Asking | None = None
) -> Encounter:
    """Episodes of a player with a partner of a repeated game, beside the exact optimum.

    The player is `module:object`, a name, or a language model, which `asking` says how to ask. Figures are payoffs per
    round. Raises InputError for an unknown game, partner or player.
    """
    loaded_game = repeated_game(game)
    (partner,) = partners_in(loaded_game, [name])
    task = Task(loaded_game, partner, rounds)
    play = _pair_player(task, agent, episodes, seed, asking or Asking(agent))
    played = [play(n) for n in shown(range(episodes), episodes, "Playing")]
    rewards = [sum(row["reward"] for row in episode) / rounds for episode in played]
    regrets = [functional_regret(task, episode) for episode in played]
    bound = "expected payoff a round of the best response that knows the partner: an exact bound in expectation"
    measures = (
        Measure("score", student(rewards), "payoff a round"),
        Measure("bound", exact(task.optimum / rounds, episodes), bound),
        Measure("regret", student(regrets), "bound less score, a round"),
        Measure("predicted, %", student([tom_percent(episode) for episode in played]), "rounds foreseen"),
        *_readability(played, rounds),
    )
    return Encounter(partner.name, f"a partner in {loaded_game.name}", agent, seed, measures, _numbered(played))


def _pair_player(task: Task, agent: str, episodes: int, seed: int, asking: Asking) -> Callable[[int], list[Row]]:
    """The function that plays an episode, by its number."""
    if not is_spoken(agent):
        return lambda n: pair_episode(task, agent, n, seed)
    names, sampling = asking.names[0] if asking.names else model_episodes.NAMES, Sampling.within(asking.max_tokens)
    about = (task, task.game.name, agent, _way(asking))
    entries = [ModelGameEntry(*about, n, seed, names, asking.shuffle, sampling) for n in range(episodes)]
    model = _recorded(asking, model_episodes.estimate(entries))
    return lambda n: model_episodes.rows(replace(entries[n], model=model.name), model)


def _way(asking: Asking) -> str:
    """The prompting strategy. Raises InputError for several."""
    if len(asking.ways) > 1 or len(asking.names) > 1:
        raise InputError("a partner is met with one strategy and one set of names")
    return asking.ways[0]


def _readability(played: Sequence[Sequence[Row]], rounds: int) -> list[Measure]:
    """How much of what a language model wrote could be read; nothing for other agents."""
    if "said" not in played[0][0]:
        return []
    lost = [100.0 * sum(row["action"] is None for row in episode) / rounds for episode in played]
    unreadable = [
        100.0 * sum(row["unreadable"] for row in episode) / max(sum(len(row["said"]) for row in episode), 1)
        for episode in played
    ]
    words = "replies that could not be read and were asked for again, or given up"
    return [
        Measure("lost, %", student(lost), "rounds lost because no move could be read"),
        Measure("unreadable, %", student(unreadable), words),
    ]


def _numbered(played: Sequence[Sequence[Row]]) -> tuple[Row, ...]:
    """The rows of all episodes, with the numbers of these."""
    return tuple({**row, "episode": str(n)} for n, episode in enumerate(played) for row in episode)


# Clue games


def clue_game_names() -> Mapping[str, str]:
    """The conditions of the clue games by their short names, as `wavelength`."""
    return {TINY.get(condition, condition.partition("/")[0]): condition for condition in games()}


def clue_game(name: str) -> ClueGame:
    """The clue game of a short name. Raises KeyError for another."""
    return games()[clue_game_names()[name]]


def meet_clue_partner(
    name: str, game: str, agent: str, *, rounds: int | None, episodes: int, seed: int, asking: Asking | None = None
) -> Encounter:
    """Episodes of an agent with a partner of a clue game, beside the exact best response to that partner.

    The agent is `informed`, which knows the partner, another subject of the game, `module:make`, or a language model,
    which `asking` says how to ask. Figures are rewards per round; None: as many rounds as the game usually has. Raises
    InputError for an unknown partner or agent, KeyError for an unknown game.
    """
    condition, played_game = clue_game_names()[game], clue_game(game)
    if name not in played_game.partners:
        raise unknown("partner", name, played_game.partners, f"`otherminds meet --game {game}` lists them")
    if rounds is not None:
        played_game = of_rounds(played_game, rounds)
    make = _subjects(played_game, condition, name, agent, seed, asking or Asking(agent), episodes)

    def play(n: int) -> list[Row]:
        roles = {"deals": "deals", "partner": "partner", "subject": agent}
        streams = {role: stream(seed, condition, f"{name}/{n}", part) for role, part in roles.items()}
        with blamed_if_own(agent):
            return list(converse(played_game, name, make(n), streams))

    played = [play(n) for n in shown(range(episodes), episodes, "Playing")]
    scores = [sum(row["reward"] for row in episode) / played_game.world.rounds for episode in played]
    partner = played_game.partners[name]
    optimum = played_game.earned(partner, partner)
    bound = "expected reward a round of the best response that knows the partner: an exact bound in expectation"
    measures = [
        Measure("score", student(scores), "reward a round"),
        Measure("bound", exact(optimum, episodes), bound),
        Measure("regret", student([optimum - score for score in scores]), "bound less score, a round"),
    ]
    if is_spoken(agent) or any(row["predicted"] is not None for episode in played for row in episode):
        predicted = student([tom_percent(episode) for episode in played])
        measures.append(Measure("predicted, %", predicted, "predictions that were right"))
    measures += _readability(played, played_game.world.rounds)
    return Encounter(name, f"a partner in {game}", agent, seed, tuple(measures), _numbered(played))


def _subjects(
    game: ClueGame, condition: str, partner: str, agent: str, seed: int, asking: Asking, episodes: int
) -> Callable[[int], Any]:
    """The function that makes the agent of an episode. Raises InputError for an unknown agent."""
    if is_spoken(agent):
        if asking.shuffle not in ("none", "labels"):
            raise unknown("shuffle of a clue game", asking.shuffle, ("none", "labels"))
        way, shuffle, sampling = _way(asking), asking.shuffle == "labels", Sampling.within(asking.max_tokens)
        model = _recorded(asking, clue_game_models.estimate(game, partner, way, episodes, shuffle=shuffle))
        return lambda n: ClueGameModel.of(
            game, model, way, draw=f"{condition} {partner}/{n}", seed=seed, shuffle=shuffle, sampling=sampling
        )
    if is_own(agent):
        make = own_mind_maker(agent, same_actions=False)
        return lambda n: make(game.world, game.seat, stream(seed, condition, f"{partner}/{n}", agent, "player"))
    if agent not in game.subjects:
        raise unknown("agent", agent, game.subjects, f"or one of your own as module:make, {MAKERS}")
    known = game.informed(game.partners[partner]) if agent == "informed" else game.uninformed[agent]
    return lambda _n: known


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
    elif "words" in first[-1]:
        turns = [(row["t"] + 1, row["words"], number(row["reward"])) for row in first]
        body = table(("Turn", "What happened", "Reward"), turns)
    elif "t" in first[-1]:
        rounds = [(row["t"] + 1, row["action"], row["observed"], number(row["reward"])) for row in first]
        body = table(("Round", "Its action", "The partner's", "Payoff"), rounds)
    else:
        body = stack(f"{first[-1]['meetings']} dishes were delivered in {first[-1]['steps']} steps.")
    return page(title, f"Seed {encounter.seed}.", [Section("Figures", figures), Section("The first episode", body)])
