"""Games and stories as tasks of Inspect AI, for its harness, providers and viewer. No score needs a judge model.

    inspect eval otherminds/check --model openai/gpt-4o
    inspect eval otherminds/repeated_games --model openai/gpt-4o -T game=ipd -T partners=tft
    inspect eval otherminds/clue_games --model openai/gpt-4o
    inspect eval otherminds/story_questions --model openai/gpt-4o -T n=72
    inspect eval otherminds/story_sets --model openai/gpt-4o -T data=FOLDER

Games are played with the library's prompts and scored from their rows; questions are asked with Inspect's multiple
choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from math import nan
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple, cast

from otherminds.errors import InputError, install_hint, unknown
from otherminds.evaluation import tasks
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.story_sets import make
from otherminds.evaluation.tasks import Row
from otherminds.papers.functional import card_and_word_games as clues
from otherminds.papers.functional.check import GAMES
from otherminds.papers.functional.experiment import HORIZON, SUITES
from otherminds.papers.functional.model_episodes import ModelGameEntry, rows
from otherminds.papers.functional.prompting import strategy as strategy_of
from otherminds.papers.functional.verdicts import MAX_LOSS, MOST_PASSES, ROUNDS, UNMEASURED
from otherminds.papers.story_benchmarks.experiment import benchmark_of, plan, read_folder, story_of
from otherminds.stories.beliefs.belief_files import Item, read_items
from otherminds.stories.mumatom_files import is_mumatom, read_mumatom
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game

try:
    import anyio.to_thread
    from inspect_ai import Task, dataset, log, task
    from inspect_ai import model as models
    from inspect_ai import scorer as scoring
    from inspect_ai.solver import Generate, Solver, TaskState, multiple_choice, solver

    from otherminds.adapters.inspect_model import Bridge, count_words
    from otherminds.adapters.inspect_verdict import (
        NONE_COMPLETED,
        PassByPass,
        agent_of,
        encounter_of,
        episodes_in,
        findings,
        plan_of,
    )
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.split(".")[0] not in ("anyio", "inspect_ai"):
        raise
    raise InputError("tasks of Inspect need an extra", hint=install_hint("inspect")) from None

Names = str | list[str]
SCORES = ("tom_percent", "functional_regret", "unreadable_share", "lost_share")
CHECK_SCORES = ("tom_percent", "loss", "unreadable_share", "lost_share")
BROKEN_OFF = scoring.Score.unscored(explanation="The game was broken off.")
INVENTED = "invented"


def _listed(names: Names) -> list[str]:
    several = names.split(",") if isinstance(names, str) else names
    return [name.strip() for name in several if name.strip()]


@solver
def offline_mock() -> Solver:
    """Let `mockllm/model` run without a network; no other model is changed."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        count_words(models.get_model())
        return state

    return solve


# Playing


@cache
def game_task(game: str, name: str, rounds: int) -> tasks.Task:
    """The task of playing a game with a partner for `rounds` rounds. Raises InputError for unknown names."""
    loaded_game = find_game(game)
    return tasks.Task(loaded_game, partner(name, loaded_game), rounds)


def entry_of(about: Mapping[str, Any], model: str = "inspect", epoch: int = 1) -> ModelGameEntry:
    """The episode that a sample's metadata describe; later epochs are further episodes with the same partner.

    Raises InputError for unknown names, strategies or shuffles.
    """
    task = game_task(about["game"], about["partner"], about["rounds"])
    condition = f"{task.game.name}/{task.partner.name}"
    number = about["episode"] + about["episodes"] * (epoch - 1)
    return ModelGameEntry(
        task, condition, model, about["strategy"], number, about["seed"], about["names"], about["shuffle"]
    )


@solver
def game_player() -> Solver:
    """Let the model play the game that the sample's metadata describe; adds the rows to them, one per round."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        bridge = Bridge(models.get_model())
        entry = entry_of(state.metadata, bridge.name, state.epoch)
        return await _played(state, entry, partial(rows, entry, bridge))

    return solve


async def _played(state: TaskState, entry: ModelGameEntry, play: Callable[[], list[Row]]) -> TaskState:
    """The state after a repeated game."""
    state.metadata["options"] = {"own": _options(entry, 0), "other": _options(entry, 1)}
    return await _in_thread(state, play, partial(table, entry))


async def _in_thread(
    state: TaskState, play: Callable[[], list[Row]], told: Callable[[Sequence[Row]], str]
) -> TaskState:
    """The state after a game, which is played in a thread of its own: its calls of the model come back to the loop."""
    # a limiter of its own: games that wait for models must not take the threads that these may need
    state.metadata["rows"] = game_rows = await anyio.to_thread.run_sync(play, limiter=anyio.CapacityLimiter(1))
    log.transcript().info(told(game_rows), source="rounds")
    return state


@scoring.scorer(metrics={name: [scoring.mean(), scoring.stderr()] for name in SCORES})
def literal_and_functional() -> scoring.Scorer:
    """Score a game from its rows: correct predictions, lost payoff, unreadable replies.

    If more than a tenth of the moves, or of the predictions, could not be read, their score is missing.
    """

    async def score(state: TaskState, target: scoring.Target) -> scoring.Score:
        game_rows: list[Row] = state.metadata.get("rows", [])
        if not game_rows:
            return BROKEN_OFF
        return _game_score(game_rows, {"functional_regret": game_rows[-1]["functional_regret"]})

    return score


def _game_score(game_rows: Sequence[Row], losses: Mapping[str, float]) -> scoring.Score:
    """The score of a game: predictions, the losses by name, and what could not be read; NaN if that is too much."""
    last, earned = game_rows[-1], sum(row["reward"] for row in game_rows)
    unpredicted = sum(row["predicted"] is None for row in game_rows) / len(game_rows)
    is_measured = last["lost_share"] <= UNMEASURED
    value = {"tom_percent": float(last["tom_percent"]) if unpredicted <= UNMEASURED else nan}
    value |= {name: float(loss) if is_measured else nan for name, loss in losses.items()}
    value |= {name: float(last[name]) for name in ("unreadable_share", "lost_share")}
    answer = f"{earned:g} earned" if is_measured else "not measured"
    return scoring.Score(value=value, answer=answer, explanation=_explained(game_rows, earned))


def _explained(game_rows: Sequence[Row], earned: float) -> str:
    last, rounds = game_rows[-1], len(game_rows)
    partner_name = last.get("partner", "its partner")
    right = sum(row["predicted"] == row["observed"] for row in game_rows)
    lost = sum(row["action"] is None for row in game_rows)
    unreadable = sum(row["unreadable"] for row in game_rows)
    regret = last["functional_regret"]
    return (
        f"It predicted {right} of {rounds} moves of {partner_name}. It earned {earned:g}; a player that knew the "
        f"partner could expect {earned + rounds * regret:.4g}, which is {regret:.4g} more in each round. "
        f"{unreadable} of {last['replies']} replies could not be read, and {lost} rounds were lost because of that."
    )


def table(entry: ModelGameEntry, game_rows: Sequence[Row]) -> str:
    """The rounds of a game as a table in Markdown."""
    own, theirs = ([*_options(entry, seat).items()] for seat in (0, 1))

    def named(options: Sequence[tuple[str, str]], action: int | None) -> str:
        return "unreadable" if action is None else "{} ({})".format(*options[action])

    lines = ["| round | predicted | observed | action | reward | best |", "|---|---|---|---|---|---|"]
    for row in game_rows:
        cells = [named(theirs, row["predicted"]), named(theirs, row["observed"]), named(own, row["action"])]
        lines.append("| " + " | ".join([str(row["t"] + 1), *cells, f"{row['reward']:g}", f"{row['best']:g}"]) + " |")
    return "\n".join(lines)


def _options(entry: ModelGameEntry, seat: int) -> dict[str, str]:
    """The names of the options in the prompts, in the order of the rows' numbers, with the game's own names."""
    labels = (entry.setting.own, entry.setting.theirs)[seat]
    return dict(zip(labels, entry.task.game.actions[seat], strict=True))


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

    `partners` are names, such as tft or tft~0.05, and suites, such as single, memory_one or machines. Raises InputError
    if there is nothing to play, and for unknown names.
    """
    if episodes < 1 or rounds < 1:
        raise InputError(f"there is nothing to play in {episodes} episodes of {rounds} rounds")
    strategy_of(strategy)
    settings = {"rounds": rounds, "strategy": strategy, "names": names, "shuffle": shuffle, "seed": seed}
    about = {"game": game, "episodes": episodes, **settings}
    # each partner's name, once, with the name or suite that was asked for
    loaded_game, suite_by_partner = find_game(game), dict[str, str]()
    for name in _listed(partners):
        suite = SUITES[name](loaded_game) if name in SUITES else (partner(name, loaded_game),)
        suite_by_partner |= {machine.name: name for machine in suite if machine.name not in suite_by_partner}
    if not suite_by_partner:
        raise InputError("there is no partner to play with", hint="name some, as tft")
    samples = []
    for (partner_name, requested_name), number in product(suite_by_partner.items(), range(episodes)):
        metadata = {**about, "partner": partner_name, "suite": requested_name, "episode": number}
        entry = entry_of(metadata)
        _ = entry.setting  # raises what is wrong with the names before anything is asked
        words = f"{entry.task.game.name} with {partner_name} for {rounds} rounds"
        target = f"{entry.task.optimum:.4g} to be expected at most"
        samples.append(dataset.Sample(id=f"{partner_name}/{number}", input=words, target=target, metadata=metadata))
    # with a single partner there is nothing to cluster by
    averages: list[scoring.Metric] = [
        scoring.mean(),
        scoring.stderr(cluster="partner" if len(suite_by_partner) > 1 else None),
    ]
    if len(set(suite_by_partner.values())) > 1:
        averages.append(scoring.grouped(scoring.mean(), "suite", all=False))
    metrics = {name: [*averages] for name in SCORES}
    title = f"{game} with {', '.join(suite_by_partner)}"
    return Task(
        dataset.MemoryDataset(samples, name=title),
        setup=offline_mock(),
        solver=game_player(),
        scorer=literal_and_functional(),
        metrics=metrics,
    )


@task
def clue_games(strategy: str = "qa", shuffle: str = "labels", seed: int = 42) -> Task:
    """Games of clues with partners that have conventions of their own, as in `otherminds bench`: a sample for each.

    Raises InputError for a strategy that is unknown or of repeated games only.
    """
    asking = Asking("inspect", (strategy,), shuffle=shuffle)
    samples = [
        dataset.Sample(
            id=f"{entry.condition}/{entry.partner}",
            input=f"{entry.condition} with {entry.partner} for {entry.rounds} rounds",
            target="what the best play with this partner earns",
            metadata={
                "game": entry.condition,
                "number": number,
                "strategy": strategy,
                "shuffle": shuffle,
                "seed": seed,
            },
        )
        for number, entry in enumerate(clues.spoken(clues.short_plan(seed), "inspect", asking))
    ]
    averages: list[scoring.Metric] = [
        scoring.mean(),
        scoring.stderr(),
        scoring.grouped(scoring.mean(), "game", all=False),
    ]
    return Task(
        dataset.MemoryDataset(samples, name="games of clues"),
        setup=offline_mock(),
        solver=clue_player(),
        scorer=literal_and_functional(),
        metrics={name: [*averages] for name in SCORES},
    )


@solver
def clue_player() -> Solver:
    """Let the model play the game of clues that the sample's metadata describe."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        bridge, about = Bridge(models.get_model()), state.metadata
        asking = Asking(bridge.name, (about["strategy"],), shuffle=about["shuffle"])
        entry = clues.spoken(clues.short_plan(about["seed"]), bridge.name, asking)[about["number"]]
        entry = replace(entry, number=state.epoch - 1)
        return await _in_thread(state, partial(clues.rows, entry, bridge), _turns)

    return solve


def _turns(game_rows: Sequence[Row]) -> str:
    return "\n\n".join(row["words"] for row in game_rows)


@task
def check(
    games: Names = "",
    partners: Names = "",
    rounds: int = ROUNDS,
    passes: int = MOST_PASSES,
    max_regret: float = MAX_LOSS,
    strategy: str = "qa",
    names: str = "neutral",
    shuffle: str = "none",
    seed: int = 42,
) -> Task:
    """Does the model act on what it knows about its partners? A sample for each game, partner and pass of the suite.

    The verdict is that of `otherminds check`, by default in its three games; passes after the one that decides it are
    skipped. Raises InputError if there is nothing to play, for unknown names, and if random play loses nothing with
    these partners.
    """
    if passes < 1 or rounds < 1:
        raise InputError(f"there is nothing to play in {passes} passes of {rounds} rounds")
    settings = {"rounds": rounds, "passes": passes, "max_regret": max_regret, "seed": seed}
    wording = {"strategy": strategy, "names": names, "shuffle": shuffle}
    about = {"games": _listed(games) or [*GAMES], "partners": _listed(partners), **settings, **wording}
    title = f"check in {', '.join(game.name for game in plan_of(about).games)}"
    passes_in_turn = PassByPass(about)
    return Task(
        dataset.MemoryDataset(list(_suite(about)), name=title),
        setup=offline_mock(),
        solver=suite_player(),
        scorer=loss_and_verdict(),
        cleanup=passes_in_turn.end,
        early_stopping=passes_in_turn,
    )


def _suite(about: Mapping[str, Any]) -> Iterator[dataset.Sample]:
    """A sample for each episode of a check, pass by pass. Raises InputError for a suite that cannot be played."""
    suite, speaker = plan_of(about), agent_of(about, "inspect")
    suite.prepare()
    for number in range(suite.passes):
        for encounter in suite.encounters(speaker.name, number=number):
            _ = speaker.entry(encounter).setting  # raises what is wrong with the names before anything is asked
            task = encounter.task
            yield dataset.Sample(
                id=f"{encounter.condition}/{number}",
                input=f"{task.game.name} with {task.partner.name} for {task.horizon} rounds, pass {number + 1}",
                target=f"a loss of at most {about['max_regret']:g} of what random play loses",
                metadata={**about, "condition": encounter.condition, "partner": task.partner.name, "pass": number},
            )


@solver
def suite_player() -> Solver:
    """Let the model play the game that the sample's metadata describe, as `otherminds check` does."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        bridge = Bridge(models.get_model())
        speaker = agent_of(state.metadata, bridge.name, lambda: bridge)
        encounter = encounter_of(state.metadata, speaker.name)
        return await _played(state, speaker.entry(encounter), partial(speaker.rows, encounter))

    return solve


@scoring.metric
def verdict() -> scoring.Metric:
    """The mean loss over the suite with the interval that decides, whether that passes, and the verdict in words.

    `passed` is 1, 0, or NaN if that is open or not measured; the last metric has the verdict as its name.
    """

    def decide(scores: list[scoring.SampleScore]) -> dict[str, float]:
        finding = findings(scores[0].sample_metadata or {}, episodes_in(scores)) if scores else None
        if finding is None:
            return {"passed": nan, f"not measured: {NONE_COMPLETED}": 1.0}
        passed, loss = finding.verdict.passed, finding.functional
        words = {f"{finding.verdict.result}: {finding.verdict.words.partition('. ')[0]}": 1.0}
        if finding.verdict.result == "not measured":
            return {"passed": nan, **words}
        interval = {"loss": loss.value, "low": loss.low, "high": loss.high, "passes": float(finding.passes)}
        return {"passed": nan if passed is None else float(passed), **interval, **words}

    return decide


@scoring.scorer(
    metrics=[verdict(), {name: [scoring.mean(), scoring.stderr(cluster="condition")] for name in CHECK_SCORES}]
)
def loss_and_verdict() -> scoring.Scorer:
    """Score a game of a check: Σ (V − Q) of the moves as a share of what random play loses, and what could be read."""

    async def score(state: TaskState, target: scoring.Target) -> scoring.Score:
        game_rows: list[Row] = state.metadata.get("rows", [])
        if not game_rows:
            return BROKEN_OFF
        game_score = _game_score(game_rows, {"loss": plan_of(state.metadata).loss(game_rows)})
        return game_score.model_copy(update={"metadata": {"rows": game_rows}})

    return score


# Questions


@task
def story_questions(
    n: int = 72, seed: int = 1, phrasings: Names = "", questions: str = "", reasoning: bool = False
) -> Task:
    """Questions about stories, as multiple choice, a sample for each: `n` invented ones, or those of a file.

    `questions` is a file of questions with options, or a folder of MuMA-ToM; `reasoning`: the model thinks step by step
    first. Raises InputError for unknown phrasings and for malformed files.
    """
    samples = _from_file(Path(questions)) if questions else _invented(n, seed, _listed(phrasings))
    return _multiple_choice(list(samples), Path(questions).name or f"{n} invented stories", "kind", reasoning)


@task
def story_sets(
    data: str = "", sets: Names = "", most: int = 24, n: int = 72, seed: int = 1, reasoning: bool = False
) -> Task:
    """Sets of questions about stories, as multiple choice: `n` invented ones, and the public ones in a folder.

    `data` is a folder with the public benchmarks' own files; of these, `most` questions of each kind are asked. `sets`
    are the names of those to ask, such as invented or tomi; all by default. Raises InputError for unknown sets, and for
    a folder without any.
    """
    by_set = {INVENTED: list(_invented(n, seed, ()))}
    for entry in plan(read_folder(Path(data)).questions, seed, most) if data else ():
        name, item = benchmark_of({"condition": entry.condition}), entry.item
        question = _question(item, entry.options, Path(data))
        sample = _sample(f"{entry.condition}/{item.id}", question, entry.condition, story_of(item), set=name)
        by_set.setdefault(name, []).append(sample)
    requested = _listed(sets) or [*by_set]
    for name in requested:
        if name not in by_set:
            raise unknown("set of stories", name, by_set, "name a folder with its files, -T data=FOLDER")
    samples = [sample for name in requested for sample in by_set[name]]
    return _multiple_choice(samples, ", ".join(requested), "set", reasoning)


def _multiple_choice(samples: list[dataset.Sample], title: str, by: str, reasoning: bool) -> Task:
    """Multiple choice among the options of each sample, with accuracy in all and for each value of `by`."""
    metrics: list[scoring.Metric | dict[str, list[scoring.Metric]]] = [
        accuracy(),
        stderr(cluster="group"),
        unreadable_share(),
        scoring.grouped(accuracy(), by, all=False),
        scoring.grouped(stderr(cluster="group"), by, all=False, name_template="{group_name}_stderr"),
    ]
    return Task(
        dataset.MemoryDataset(samples, name=title),
        setup=offline_mock(),
        solver=multiple_choice(cot=reasoning),
        scorer=scoring.choice(),
        metrics=metrics,
    )


def _unreadable(scores: Sequence[scoring.SampleScore]) -> float:
    return sum(not sample_score.score.answer for sample_score in scores) / max(len(scores), 1)


def _if_readable(metric: scoring.MetricProtocol) -> scoring.Metric:
    """The metric of answers; NaN if more than a tenth of them could not be read."""

    def value(scores: list[scoring.SampleScore]) -> scoring.Value:
        return metric(scores) if _unreadable(scores) <= UNMEASURED else nan

    return value


@scoring.metric
def accuracy() -> scoring.Metric:
    """The share of right answers. An unreadable one is wrong; NaN if more than a tenth of them are unreadable."""
    return _if_readable(cast("scoring.MetricProtocol", scoring.accuracy()))


@scoring.metric
def stderr(cluster: str) -> scoring.Metric:
    """The clustered standard error of the accuracy; NaN without that."""
    return _if_readable(cast("scoring.MetricProtocol", scoring.stderr(cluster=cluster)))


@scoring.metric
def unreadable_share() -> scoring.Metric:
    """The share of questions without a readable answer."""

    def share(scores: list[scoring.SampleScore]) -> float:
        return _unreadable(scores)

    return share


class _Question(NamedTuple):
    """A question about a story, its options, and the number of the right one."""

    story: str
    stem: str
    options: Sequence[str]
    gold: int


def _invented(n: int, seed: int, phrasings: Sequence[str]) -> Iterator[dataset.Sample]:
    """Questions about invented stories; those of a group share their wording, and every option is right once."""
    if n < 1:
        raise InputError(f"there is nothing to ask about {n} stories")
    for row in make(n, seed, phrasing_names=phrasings, quiet=True):
        kind, polarity, condition = row["cell"].split("/")
        about = {"polarity": polarity, "condition": condition, "phrasing": row["phrasing"], "margin": row["margin"]}
        gold = row["options"].index(row["answer"])
        question = _Question(row["story"], row["question"], row["options"], gold)
        yield _sample(row["id"], question, kind, row["group"], set=INVENTED, **about)


def _from_file(path: Path) -> Iterator[dataset.Sample]:
    """The questions of a file, or of a folder of MuMA-ToM."""
    if path.is_dir() or is_mumatom(path):
        for story in read_mumatom(path):
            for number, asked in enumerate(story.questions, 1):
                question = _Question(story.full, asked.stem, asked.options, asked.gold)
                yield _sample(f"{story.id}-{number}", question, asked.kind, story.id)
        return
    groups: dict[str, str] = {}
    for item in read_items(path):
        question = _question(item, item.options, path)
        group = groups.setdefault(item.story, str(len(groups)))
        yield _sample(item.id, question, item.group or "question", group)


def _question(item: Item, options: Sequence[str], path: Path) -> _Question:
    """The question of a benchmark with its options in this order. Raises InputError unless there are 2 to 26."""
    if not 2 <= len(options) <= len(ascii_uppercase):
        message = f"question {item.id} has {len(options)} options, not 2 to {len(ascii_uppercase)}"
        raise InputError(message, path=path, line=item.line)
    return _Question(item.story, item.question, options, options.index(item.gold))


def _sample(id: str, question: _Question, kind: str, group: str, **about: Any) -> dataset.Sample:
    """A question of a kind. Standard errors are clustered by `group`; no metadata are shown to the model."""
    return dataset.Sample(
        id=id,
        input=f"{question.story}\n\n{question.stem}",
        choices=list(question.options),
        target=ascii_uppercase[question.gold],
        metadata={"kind": kind, "group": group, **about},
    )
