"""Repeated games and story questions as tasks of Inspect AI, for its harness, providers and viewer.

    inspect eval otherminds/repeated_games --model openai/gpt-4o -T game=ipd -T partners=tft
    inspect eval otherminds/story_questions --model openai/gpt-4o -T n=72

Games are played with the library's prompts and scored from their rows; questions are asked with Inspect's multiple
choice. Inspect waits for its models on an event loop, and our players call theirs in turn: so a game is played in a
thread of its own, and each call goes back to the loop from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np

from otherminds.errors import InputError, install_hint
from otherminds.evaluation import tasks
from otherminds.evaluation.story_sets import make
from otherminds.evaluation.tasks import Row
from otherminds.language.model import NOTHING, Continuations, Message, ModelError, Prompt, Reply, Request, Scores, Usage
from otherminds.language.wire import NO_SCORES, TOP
from otherminds.papers.functional.experiment import HORIZON, SUITES
from otherminds.papers.functional.model_episodes import ModelGameEntry, rows
from otherminds.papers.functional.prompting import strategy as strategy_of
from otherminds.stories.beliefs.belief_files import read_items
from otherminds.stories.mumatom_files import is_mumatom, read_mumatom
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game

try:
    import anyio.from_thread
    import anyio.to_thread
    from inspect_ai import Task, dataset, log, task
    from inspect_ai import model as models
    from inspect_ai import scorer as scoring
    from inspect_ai.solver import Generate, Solver, TaskState, multiple_choice, solver
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.split(".")[0] not in ("anyio", "inspect_ai"):
        raise
    raise InputError("tasks of Inspect need an extra", hint=install_hint("inspect")) from None

SCORES = ("tom_percent", "functional_regret", "unreadable_share", "lost_share")
FEWEST_TOKENS = 16  # the smallest limit on tokens that every provider accepts
ROLES = {"system": models.ChatMessageSystem, "user": models.ChatMessageUser, "assistant": models.ChatMessageAssistant}


# The model


@dataclass(frozen=True)
class Bridge:
    """A model of Inspect as a LanguageModel, called from a thread that the event loop waits for.

    The user's settings of the model in Inspect (`--temperature`, `--max-tokens`, `--seed`) override those of requests.
    """

    model: models.Model

    @property
    def name(self) -> str:
        """Its name in Inspect, with the provider."""
        return str(self.model)

    @property
    def identity(self) -> str:
        """`inspect:` and its name; Inspect tells nothing else."""
        return f"inspect:{self.name}"

    def complete(self, request: Request) -> Reply:
        """The reply to a prompt. Raises ModelError for pictures and schemas, which games do not need."""
        if request.schema:
            raise ModelError(f"{self.name} is asked for plain text here, not for JSON")
        settings: dict[str, Any] = {"max_tokens": request.max_tokens, "temperature": request.temperature}
        settings |= {"seed": request.seed, "stop_seqs": list(request.stop) or None}
        own = self.model.config
        output = self._ask(request.prompt, {name: v for name, v in settings.items() if getattr(own, name) is None})
        # a provider can pass on half a character, which no file can hold
        text = output.completion.encode("utf-8", "replace").decode()
        cut = not output.empty and output.stop_reason in ("max_tokens", "model_length")
        return Reply(text, cut, _usage(output))

    def score(self, request: Continuations) -> Scores:
        """log p(the reply begins with a text), as one token with or without the space before it, for every text.

        Raises ModelError if the provider gives no log-probabilities, or a text is not among the likeliest tokens.
        """
        settings = {"max_tokens": FEWEST_TOKENS, "temperature": 1.0, "logprobs": True, "top_logprobs": TOP}
        output = self._ask(request.prompt, settings)
        scored = None if output.empty else output.choices[0].logprobs
        first = scored.content[0] if scored is not None and scored.content else None
        # the likeliest first tokens; none if the provider does not tell
        tokens = {t.token: t.logprob for t in (*(first.top_logprobs or ()), first)} if first is not None else {}
        if not tokens:
            raise ModelError(f"{self.name} gives no log-probabilities", hint=NO_SCORES)
        log_probs = []
        for text in request.texts:
            values = [tokens[form] for form in {text, text.strip()} if form in tokens]
            if not values:
                limitation = f"{self.name} tells the {len(tokens)} most probable tokens alone"
                raise ModelError(f"{limitation}, and `{text.strip()[:40]}` is not there", hint=NO_SCORES)
            log_probs.append(min(0.0, float(np.logaddexp.reduce(values))))
        return Scores(tuple(log_probs), (1,) * len(log_probs), usage=_usage(output))

    def _ask(self, prompt: Prompt, settings: Mapping[str, Any]) -> models.ModelOutput:
        prompt_messages = [Message("user", prompt)] if isinstance(prompt, str) else prompt
        if any(message.images for message in prompt_messages):
            raise ModelError(f"{self.name} is shown no pictures here")
        messages: list[models.ChatMessage] = [ROLES[message.role](content=message.text) for message in prompt_messages]
        config = models.GenerateConfig(**settings)
        output = anyio.from_thread.run(partial(self.model.generate, messages, config=config))
        if output.error:
            raise ModelError(f"{self.name}: {output.error}")
        return output


def _usage(output: models.ModelOutput) -> Usage:
    used = output.usage
    if used is None:
        return NOTHING
    cached = used.input_tokens_cache_read or 0
    return Usage(used.input_tokens + cached + (used.input_tokens_cache_write or 0), cached, used.output_tokens)


# The game


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
        # a limiter of its own: games that wait for models must not take the threads that these may need
        game_rows = await anyio.to_thread.run_sync(rows, entry, bridge, limiter=anyio.CapacityLimiter(1))
        state.metadata["options"] = {"own": _options(entry, 0), "other": _options(entry, 1)}
        state.metadata["rows"] = game_rows
        log.transcript().info(table(entry, game_rows), source="rounds")
        return state

    return solve


@scoring.scorer(metrics={name: [scoring.mean(), scoring.stderr()] for name in SCORES})
def literal_and_functional() -> scoring.Scorer:
    """Score a game from its rows: correct predictions, lost payoff, unreadable replies."""

    async def score(state: TaskState, target: scoring.Target) -> scoring.Score:
        game_rows: list[Row] = state.metadata.get("rows", [])
        if not game_rows:
            return scoring.Score.unscored(explanation="The game was broken off.")
        last = game_rows[-1]
        earned = sum(row["reward"] for row in game_rows)
        value = {name: float(last[name]) for name in SCORES}
        return scoring.Score(value=value, answer=f"{earned:g} earned", explanation=_explained(game_rows, earned))

    return score


def _explained(game_rows: Sequence[Row], earned: float) -> str:
    last, rounds = game_rows[-1], len(game_rows)
    right = sum(row["predicted"] == row["observed"] for row in game_rows)
    lost = sum(row["action"] is None for row in game_rows)
    unreadable = sum(row["unreadable"] for row in game_rows)
    regret = last["functional_regret"]
    return (
        f"It predicted {right} of {rounds} moves of {last['partner']}. It earned {earned:g}; a player that knew the "
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
        solver=game_player(),
        scorer=literal_and_functional(),
        metrics=metrics,
    )


def _listed(names: Names) -> list[str]:
    several = names.split(",") if isinstance(names, str) else names
    return [name.strip() for name in several if name.strip()]


# Questions


@task
def story_questions(
    n: int = 72, seed: int = 1, phrasings: Names = "", questions: str = "", reasoning: bool = False
) -> Task:
    """Questions about stories, as multiple choice, a sample for each: `n` invented ones, or those of a file.

    `questions` is a file of questions with options, or a folder of MuMA-ToM; `reasoning`: the model thinks step by step
    first. Raises InputError for unknown phrasings and for malformed files.
    """
    samples = list(_from_file(Path(questions)) if questions else _invented(n, seed, _listed(phrasings)))
    metrics: list[scoring.Metric | dict[str, list[scoring.Metric]]] = [
        scoring.accuracy(),
        scoring.stderr(cluster="group"),
        unreadable_share(),
        scoring.grouped(scoring.accuracy(), "kind", all=False),
        scoring.grouped(scoring.stderr(cluster="group"), "kind", all=False, name_template="{group_name}_stderr"),
    ]
    title = Path(questions).name or f"{n} invented stories"
    return Task(
        dataset.MemoryDataset(samples, name=title),
        solver=multiple_choice(cot=reasoning),
        scorer=scoring.choice(),
        metrics=metrics,
    )


@scoring.metric
def unreadable_share() -> scoring.Metric:
    """The share of questions without a readable answer; they count as wrong."""

    def share(scores: list[scoring.SampleScore]) -> float:
        return sum(not sample_score.score.answer for sample_score in scores) / max(len(scores), 1)

    return share


def _invented(n: int, seed: int, phrasings: Sequence[str]) -> Iterator[dataset.Sample]:
    """Questions about invented stories; those of a group share their wording, and every option is right once."""
    if n < 1:
        raise InputError(f"there is nothing to ask about {n} stories")
    for row in make(n, seed, phrasing_names=phrasings, quiet=True):
        kind, polarity, condition = row["cell"].split("/")
        about = {"polarity": polarity, "condition": condition, "phrasing": row["phrasing"], "margin": row["margin"]}
        gold = row["options"].index(row["answer"])
        yield _sample(row["id"], row["story"], row["question"], row["options"], gold, kind, row["group"], **about)


def _from_file(path: Path) -> Iterator[dataset.Sample]:
    """The questions of a file. Raises InputError for a question with fewer than 2 or more than 26 options."""
    if path.is_dir() or is_mumatom(path):
        for story in read_mumatom(path):
            for number, question in enumerate(story.questions, 1):
                name = f"{story.id}-{number}"
                yield _sample(name, story.full, question.stem, question.options, question.gold, question.kind, story.id)
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
) -> dataset.Sample:
    """One question. The model does not see `about`; questions of one `group` are clustered in standard errors."""
    return dataset.Sample(
        id=name,
        input=f"{story}\n\n{stem}",
        choices=list(options),
        target=ascii_uppercase[gold],
        metadata={"kind": kind, "group": group, **about},
    )
