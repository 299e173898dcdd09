"""Language models in repeated games: episodes for every prompting strategy, set of names, and order of payoffs.

An episode is a pure function of its entry and the model's answers, so it can be replayed from a record of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from otherminds.errors import unknown
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.engines import stream
from otherminds.evaluation.store import Row, first_columns
from otherminds.evaluation.tasks import Task, converse
from otherminds.language.model import LanguageModel, Usage
from otherminds.language.prices import CallEstimate, CountingModel
from otherminds.papers.functional import experiment as functional
from otherminds.papers.functional.experiment import CELLS, tasks
from otherminds.papers.functional.game_prompts import GameSetting
from otherminds.papers.functional.prompting import Prompted, Sampling, strategy
from otherminds.papers.functional.scripted_models import scripted_player

NAMES = "neutral"
FOUR_SETS = ("neutral", "canonical", "repeated", "nonsense")
SHUFFLES = ("none", "labels", "payoffs", "both")
SHOWN = 300  # characters of a reply that a row keeps; chosen
EXTRA = ("said", "unreadable", "kinds", "constrained", "tokens", "evaluated", "mass")


@dataclass(frozen=True)
class ModelGameEntry:
    """One episode of a plan: a model asked by a strategy, a set of names for the actions, and a partner.

    `shuffle` permutes, from episode to episode, the names among the actions ("labels"), the payoff lines ("payoffs"),
    or both. Raises InputError for any other value.
    """

    task: Task
    condition: str
    model: str
    strategy: str
    number: int
    seed: int
    names: str = NAMES
    shuffle: str = "none"
    sampling: Sampling = field(default_factory=Sampling)

    def __post_init__(self) -> None:
        if self.shuffle not in SHUFFLES:
            raise unknown("shuffle", self.shuffle, SHUFFLES)

    @property
    def subject(self) -> str:
        """The model, the strategy, and the set of names unless it is the usual one."""
        model = self.model.replace(":", "-")
        return ":".join(["lm", model, self.strategy, *([self.names] if self.names != NAMES else [])])

    @property
    def episode(self) -> str:
        """The partner, and the number of the episode with it."""
        return f"{self.task.partner.name}/{self.number}"

    @property
    def key(self) -> tuple[str, str, str]:
        """Condition, subject and episode, which identify it in the rows."""
        return (self.condition, self.subject, self.episode)

    @property
    def setting(self) -> GameSetting:
        """The game's wording in this episode."""
        streams = {part: stream(self.seed, self.condition, self.episode, part) for part in ("labels", "payoffs")}
        labels, payoffs = (streams[p] if self.shuffle in (p, "both") else None for p in ("labels", "payoffs"))
        task = self.task
        return GameSetting.of(task.game, task.horizon, self.names, labels_rng=labels, payoffs_rng=payoffs)


def player(entry: ModelGameEntry, model: LanguageModel) -> Prompted:
    """The player of an episode before the first round."""
    draw = f"{entry.condition} {entry.subject} {entry.episode}"
    return Prompted(model, strategy(entry.strategy), entry.setting, draw, entry.seed, entry.sampling)


def rows(entry: ModelGameEntry, model: LanguageModel) -> list[Row]:
    """Play an episode. One row per round; the last one also has the scores of the episode.

    Raises ModelError if the model cannot be asked.
    """
    partner_rng = stream(entry.seed, entry.condition, entry.episode, "partner")
    rounds = list(converse(entry.task, player(entry, model), rng=partner_rng, note=_note))
    base = first_columns(functional.EXPERIMENT, entry.key, entry.seed)
    base |= {"partner": entry.task.partner.name, "policy": "own", "names": entry.names, "strategy": entry.strategy}
    scored_rows = functional.episode_rows(entry.task, base, rounds, EXTRA)
    scored_rows[-1] |= shares_unread(rounds)
    return scored_rows


def shares_unread(rounds: Sequence[Row]) -> Row:
    """The number of replies, the share of them that could not be read, and the share of rounds that this lost."""
    replies = sum(len(row["said"]) for row in rounds)
    return {
        "replies": replies,
        "unreadable_share": sum(row["unreadable"] for row in rounds) / max(replies, 1),
        "lost_share": sum(row["action"] is None for row in rounds) / len(rounds),
    }


def _note(subject: Prompted) -> Row:
    used = sum((exchange.usage for exchange in subject.exchanges), Usage())
    return {
        # a lone surrogate, which no file can hold, becomes a question mark
        "said": [
            {
                "of": exchange.purpose,
                "read": exchange.reading,
                "text": exchange.text[:SHOWN].encode("utf-8", "replace").decode(),
            }
            for exchange in subject.exchanges
        ],
        "unreadable": sum(not exchange.readable for exchange in subject.exchanges),
        "kinds": [exchange.kind for exchange in subject.exchanges if not exchange.readable],
        "constrained": sum(exchange.constrained for exchange in subject.exchanges),
        "tokens": used.prompt + used.written,
        "evaluated": used.prompt - used.cached + used.written,
        "mass": subject.moved.mass,
    }


# Plans


SCALES: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "quick": (("rps/single",), (NAMES,)),
    "normal": (CELLS, (NAMES,)),
    "full": (CELLS, FOUR_SETS),
}
"""The cells and the sets of names of each scale."""


def plan(scale: str, model: str, asking: Asking, seed: int) -> list[ModelGameEntry]:
    """The episodes of `asking` with each partner of each cell, for every strategy and set of names.

    Raises InputError for an unknown strategy or set of names.
    """
    cells, sets = SCALES[scale]
    entries = [
        ModelGameEntry(task, cell, model, way, number, seed, called, asking.shuffle, Sampling.within(asking.max_tokens))
        for way, called, cell, number in product(asking.ways, asking.names or sets, cells, range(asking.episodes))
        for task in tasks(cell)
    ]
    for entry in entries:  # both raise InputError
        strategy(entry.strategy)
        _ = entry.setting
    return entries


def estimate(entries: Sequence[ModelGameEntry]) -> CallEstimate:
    """Calls and tokens of a plan if every reply can be read, estimated by playing it with a scripted random player."""
    counters: dict[tuple[str, str, str, int, int], CountingModel] = {}
    counted = []
    for entry in entries:
        about = (entry.task.game.name, entry.strategy, entry.names, entry.task.horizon, len(entry.task.partner.outputs))
        if about not in counters:
            counters[about] = CountingModel(scripted_player("nash_mixer", entry.setting, entry.task.partner))
            rows(entry, counters[about])
        counted.append(counters[about])
    return CallEstimate(sum(counter.calls for counter in counted), sum((counter.usage for counter in counted), Usage()))
