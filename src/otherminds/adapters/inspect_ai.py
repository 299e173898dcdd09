"""Repeated games and story questions as tasks of Inspect AI, for its harness, its providers and its viewer.

    inspect eval otherminds/repeated_games --model openai/gpt-4o -T game=ipd -T partners=tft
    inspect eval otherminds/story_questions --model openai/gpt-4o -T n=72

Games are played through our own prompts, and their rows are scored as everywhere else; questions are asked by Inspect's
own multiple choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from otherminds.errors import InputError
from otherminds.evaluation.story_sets import make
from otherminds.papers.functional.experiment import HORIZON, SUITES
from otherminds.papers.functional.prompting import strategy as strategy_of
from otherminds.stories.beliefs.belief_files import read_items
from otherminds.stories.mumatom_files import is_mumatom, read_mumatom
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import Metric, SampleScore, accuracy, choice, grouped, mean, metric, stderr
    from inspect_ai.solver import multiple_choice
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.split(".")[0] != "inspect_ai":
        raise
    raise InputError("tasks of Inspect need an extra", hint="pip install 'otherminds[inspect]'") from None

from otherminds.adapters.inspect_games import SCORES, entry_of, game_player, literal_and_functional

Names = str | list[str]


# Games


@task
def repeated_games(
    game: str = "ipd",
    partners: Names = "single,tft",
    rounds: int = HORIZON,
    episodes: int = 1,
    strategy: str = "qa",
    names: str = "neutral",
    shuffle: str = "none",
    seed: int = 0,
) -> Task:
    """Literal and functional Theory of Mind in a repeated game: a sample for each partner and episode.

    `partners` are names, as tft or tft~0.05, and suites, as single, memory_one or machines. Raises InputError for
    whatever of this there is not.
    """
    if episodes < 1 or rounds < 1:
        raise InputError(f"there is nothing to play in {episodes} episodes of {rounds} rounds")
    strategy_of(strategy)
    told = {"rounds": rounds, "strategy": strategy, "names": names, "shuffle": shuffle, "seed": seed}
    about = {"game": game, "episodes": episodes, **told}
    chosen = _partners(game, partners)
    samples = [
        _game_sample({**about, "partner": who, "suite": suite, "episode": number})
        for (who, suite), number in product(chosen.items(), range(episodes))
    ]
    metrics = {name: _averages(chosen) for name in SCORES}
    title = f"{game} with {', '.join(chosen)}"
    return Task(
        MemoryDataset(samples, name=title), solver=game_player(), scorer=literal_and_functional(), metrics=metrics
    )


def _partners(game: str, wanted: Names) -> dict[str, str]:
    """The names of the partners, those of suites among them, each once, and what was asked for that it is from."""
    found, chosen = find_game(game), dict[str, str]()
    for name in _listed(wanted):
        suite = SUITES[name](found) if name in SUITES else (partner(name, found),)
        chosen |= {machine.name: name for machine in suite if machine.name not in chosen}
    if not chosen:
        raise InputError("there is no partner to play with", hint="name some, as tft")
    return chosen


def _listed(names: Names) -> list[str]:
    several = names.split(",") if isinstance(names, str) else names
    return [name.strip() for name in several if name.strip()]


def _game_sample(about: dict[str, Any]) -> Sample:
    entry = entry_of(about)
    _ = entry.setting  # raises what is wrong with the names before anything is asked
    return Sample(
        id=f"{about['partner']}/{about['episode']}",
        input=f"{entry.task.game.name} with {about['partner']} for {about['rounds']} rounds",
        target=f"{entry.task.optimum:.4g} to be expected at most",
        metadata=about,
    )


def _averages(chosen: Mapping[str, str]) -> list[Metric]:
    """What is said of a score over all samples; with one partner alone there is nothing to cluster by."""
    by_suite = [grouped(mean(), "suite", all=False)] if len(set(chosen.values())) > 1 else []
    return [mean(), stderr(cluster="partner" if len(chosen) > 1 else None), *by_suite]


# Questions


@task
def story_questions(
    n: int = 72, seed: int = 1, phrasings: Names = "", questions: str = "", reasoning: bool = False
) -> Task:
    """Questions about stories, as multiple choice, a sample for each: `n` invented ones, or those of a file.

    `questions` is a file of questions with options, or a folder of MuMA-ToM; `reasoning`: step by step first. Raises
    InputError for phrasings that there are not, and for what is wrong with the file.
    """
    samples = list(_from_file(Path(questions)) if questions else _invented(n, seed, _listed(phrasings)))
    metrics: list[Metric | dict[str, list[Metric]]] = [
        accuracy(),
        stderr(cluster="group"),
        unreadable_share(),
        grouped(accuracy(), "kind", all=False),
        grouped(stderr(cluster="group"), "kind", all=False, name_template="{group_name}_stderr"),
    ]
    title = Path(questions).name or f"{n} invented stories"
    return Task(
        MemoryDataset(samples, name=title), solver=multiple_choice(cot=reasoning), scorer=choice(), metrics=metrics
    )


@metric
def unreadable_share() -> Metric:
    """The share of questions to which no answer could be read; they count as wrong."""

    def share(scores: list[SampleScore]) -> float:
        return sum(not one.score.answer for one in scores) / max(len(scores), 1)

    return share


def _invented(n: int, seed: int, phrasings: Sequence[str]) -> Iterator[Sample]:
    """Invented stories; those of a group share their question, and every option is right once."""
    if n < 1:
        raise InputError(f"there is nothing to ask about {n} stories")
    for row in make(n, seed, wanted=phrasings, quiet=True):
        kind, polarity, condition = row["cell"].split("/")
        about = {"polarity": polarity, "condition": condition, "phrasing": row["phrasing"], "margin": row["margin"]}
        gold = row["options"].index(row["answer"])
        yield _sample(row["id"], row["story"], row["question"], row["options"], gold, kind, row["group"], **about)


def _from_file(path: Path) -> Iterator[Sample]:
    """The questions of a file. Raises InputError if one has no options, as it cannot be asked in this form."""
    if path.is_dir() or is_mumatom(path):
        for source in read_mumatom(path):
            for number, asked in enumerate(source.questions, 1):
                name = f"{source.id}-{number}"
                yield _sample(name, source.full, asked.stem, asked.options, asked.gold, asked.kind, source.id)
        return
    groups: dict[str, str] = {}
    for item in read_items(path):
        if not 2 <= len(item.options) <= len(ascii_uppercase):
            message = f"question {item.id} has {len(item.options)} options, not 2 to {len(ascii_uppercase)}"
            raise InputError(message, path=path, line=item.line)
        group = groups.setdefault(item.story, str(len(groups)))
        gold = item.options.index(item.gold)
        yield _sample(item.id, item.story, item.question, item.options, gold, item.group or "question", group)


def _sample(
    name: str, story: str, stem: str, options: Sequence[str], gold: int, kind: str, group: str, **about: Any
) -> Sample:
    """One question. What is said of it is never shown to the model; `group` are questions that hang together."""
    return Sample(
        id=name,
        input=f"{story}\n\n{stem}",
        choices=list(options),
        target=ascii_uppercase[gold],
        metadata={"kind": kind, "group": group, **about},
    )
