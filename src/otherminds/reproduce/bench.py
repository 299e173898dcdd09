"""A benchmark of one language model: whatever this library can measure about it, on one page.

Each part is a run of its own in a folder below that of the benchmark: the check in games with unknown partners, games
of clues, help in a few levels, invented stories, and public sets of stories whose files are there. A part that fails is
reported and costs no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.experiment import Options, described
from otherminds.evaluation.runs import finished, look
from otherminds.evaluation.store import FILE, Entry
from otherminds.files.database import Database
from otherminds.files.text import read_text, write_whole
from otherminds.language.call_records import SCHEMA
from otherminds.language.model import Usage
from otherminds.language.model_names import served
from otherminds.language.prices import BudgetError, CallEstimate
from otherminds.papers.functional import model_episodes
from otherminds.papers.functional.agents import CheckEpisode, LanguageAgent, agent
from otherminds.papers.functional.check import CheckOptions, check_as_asked
from otherminds.papers.functional.reproduction import CLUE_GAMES
from otherminds.papers.functional.verdicts import LEAST_PASSES
from otherminds.papers.mumatom.reproduction import ALONE
from otherminds.papers.people.experiment import standing
from otherminds.papers.story_benchmarks.experiment import has_benchmarks
from otherminds.reports.results import write_results
from otherminds.reproduce.bench_page import (
    CHECK,
    CLUES,
    FACILITATION,
    MUMATOM,
    PARTS,
    SETS,
    STORIES,
    Benchmark,
    PartResult,
    bench_page,
    measures,
)
from otherminds.reproduce.run import EXPERIMENTS, reproduce
from otherminds.stories.mumatom_files import is_mumatom

LEVELS = ("keys-to-spare", "two-purple-doors", "closed-quarter", "purple-gate", "key-upstairs", "short-cut")
"""Three levels in which help is not needed and three in which it is useful: those with the fewest decisions."""
NAME = "bench.txt"
"""The file that names the benchmark of a folder, by all that decides its results but the data."""
MUMATOM_EPISODES = 24  # of three questions each; chosen for running time


@dataclass(frozen=True)
class BenchOptions:
    """Which model is measured and how it is asked, the folder of the results, the seed, and a folder of public sets."""

    out: Path
    asking: Asking
    seed: int = 42
    data: Path | None = None


class Part(NamedTuple):
    """A part of a benchmark: its name, the episodes in which the model is asked, and how many calls these take.

    `run` plays the part with the model asked as given, within its limits, and returns the results.
    """

    name: str
    entries: Sequence[Entry]
    estimate: Callable[[Sequence[Any]], CallEstimate]
    run: Callable[[Asking], PartResult]


def bench(options: BenchOptions) -> Benchmark:
    """Measure a model part by part, and write the page; what is on record in the folder is not asked again.

    Raises InputError for a model that cannot be asked or of which nothing could be measured, and BudgetError, after the
    page is written, if a limit on money or calls ends it early.
    """
    model, parts = options.asking.find(), _parts(options)
    with _named_folder(options):
        _tell_ahead(model.name, options, parts)
        results, faults, end = _played(options, parts)
        runs = {part.name: look(options.out / part.name) for part in parts if (options.out / part.name / FILE).exists()}
        benchmark = Benchmark(model.name, options.seed, results, faults, runs, options.data is not None)
        write_results(options.out, measures(benchmark), bench_page(benchmark))
        if end is not None:
            raise end
    return benchmark


def _played(
    options: BenchOptions, parts: Sequence[Part]
) -> tuple[dict[str, PartResult], dict[str, str], BudgetError | None]:
    """The results of the parts, why others have none, and the error if a limit on money or calls was reached.

    Raises the first error if no part has results.
    """
    results, faults, end = dict[str, PartResult](), dict[str, str](), None
    first: InputError | None = None
    sent_before = _sent(options.out)
    is_limited = options.asking.budget is not None or options.asking.most_calls is not None  # a part may limit itself
    for part in parts:
        if end is not None:
            faults[part.name] = "a limit on money or calls was reached before"
            continue
        try:
            results[part.name] = part.run(_allowed(options, part.name, sent_before))
        except InputError as error:
            first, faults[part.name] = first or error, str(error)
            end = error if is_limited and isinstance(error, BudgetError) else None
    if first is not None and not results:
        raise first
    return results, faults, end


@contextmanager
def _named_folder(options: BenchOptions) -> Iterator[None]:
    """Name the benchmark in its folder, and say how it is resumed in the notes of errors.

    Raises InputError for a folder with another benchmark. The name is removed if nothing else was written.
    """
    asking, path = options.asking, options.out / NAME
    ways = (*asking.strategies, *asking.names, asking.shuffle, asking.length)
    name = described("bench", asking.model, f"seed {options.seed}", *ways)
    if path.exists() and read_text(path).strip() != name:
        hint = "choose another folder with --out"
        raise InputError(f"belongs to another benchmark than `{name}`", path=path, hint=hint)
    write_whole(path, [f"{name}\n".encode()])
    try:
        yield
    except (KeyboardInterrupt, InputError) as error:
        error.__notes__ = [f"the same command with --out {options.out} goes on"]
        if not any(options.out.glob(f"*/{FILE}")):
            path.unlink()
            with suppress(OSError):  # other files stay
                options.out.rmdir()
        raise


# Parts


def _parts(options: BenchOptions) -> list[Part]:
    """The parts of a benchmark.

    Raises InputError for an agent that is no language model, one asked in two ways, or data without public sets.
    """
    quick = Options(options.out, options.seed, scale="quick", asking=options.asking)
    public, data = list[Part](), options.data
    if data is not None and is_mumatom(data):
        asking = replace(options.asking, episodes=MUMATOM_EPISODES)
        public.append(_experiment(MUMATOM, "mumatom", replace(quick, data=data, agents=(ALONE,), asking=asking)))
    if data is not None and has_benchmarks(data):
        public.append(_experiment(SETS, "stories", replace(quick, data=data)))
    if data is not None and not public:
        raise InputError("holds none of the public sets", path=data, hint="such as a folder of MuMA-ToM's files")
    return [
        _check(options),
        _experiment(CLUES, CLUE_GAMES, replace(quick, asking=_without_examples(options.asking))),
        _experiment(FACILITATION, "protom-dkg", replace(quick, levels=LEVELS)),
        _experiment(STORIES, "mumatom", quick),
        *public,
    ]


def _check(options: BenchOptions) -> Part:
    """The check with the usual games and partners."""
    subject, where = (options.asking.model,), options.out / CHECK
    check = CheckOptions(where, options.asking, subject, seed=options.seed, people=standing())
    with Database(None, SCHEMA) as nowhere:
        player = agent(options.asking.model, replace(options.asking, replay=None), nowhere)
    if not isinstance(player, LanguageAgent):
        raise InputError(f"{player.name} is no language model", hint=f"otherminds check --agent {options.asking.model}")
    plan = check.plan()
    entries = [entry for number in range(LEAST_PASSES) for entry in plan.encounters(player.name, number=number)]

    def estimate(todo: Sequence[CheckEpisode]) -> CallEstimate:
        return model_episodes.estimate([player.entry(encounter) for encounter in todo])

    def run(asking: Asking) -> PartResult:
        checked = check_as_asked(replace(check, asking=asking))
        finding = next(finding for finding in checked.findings if finding.name in checked.subjects)
        assert checked.results is not None
        return PartResult(finding.name, checked.results, finding)

    return Part(CHECK, entries, estimate, run)


def _experiment(part: str, name: str, options: Options) -> Part:
    """An experiment of the library with the model taking part, as a part of the benchmark."""
    options = replace(options, out=options.out / part)
    spoken = EXPERIMENTS[name](options).model_part
    assert spoken is not None
    subject = spoken.entries[0].subject

    def run(asking: Asking) -> PartResult:
        assert options.asking is not None
        own = replace(asking, episodes=options.asking.episodes, strategies=options.asking.strategies)
        return PartResult(subject, reproduce(name, replace(options, asking=own)))

    return Part(part, spoken.entries, spoken.estimate, run)


def _without_examples(asking: Asking) -> Asking:
    """The same without worked examples, which are of repeated games, before thinking step by step."""
    return replace(asking, strategies=tuple("cot" if way == "cot3" else way for way in asking.strategies))


# Calls and money


def _tell_ahead(model: str, options: BenchOptions, parts: Sequence[Part]) -> None:
    """Print in one line the calls, tokens and dollars that all parts are still going to take."""
    ahead = {}
    for part in parts:
        done = finished(options.out / part.name)
        ahead[part.name] = part.estimate([entry for entry in part.entries if entry.key not in done])
    calls, usage = sum(part.calls for part in ahead.values()), sum((part.usage for part in ahead.values()), Usage())
    by_part = ", ".join(f"{name} {part.calls:,}" for name, part in ahead.items())
    asking = options.asking
    cost = "nothing to pay"
    if asking.price is not None:
        cost = f"about ${asking.price.cost(usage):,.2f}"
    elif served(asking.model):
        cost = f"price unknown: {calls:,} calls"
    message = (
        f"{model}, all parts: {calls:,} calls ({by_part}), about {usage.prompt:,} tokens of prompts and at most "
        f"{usage.written:,} of replies, {cost}; more if replies have to be asked for again, or the verdict stays open"
    )
    if not calls:
        message = f"{model}, all parts: everything is on record"
    Console(stderr=True).print(message, markup=False, highlight=False, soft_wrap=True)


def _allowed(options: BenchOptions, part: str, sent_before: int) -> Asking:
    """How the model is asked in a part: within what the other parts leave of the limits on money and calls."""
    asking = options.asking
    if asking.budget is not None:
        others = (options.out / name for name in PARTS if name != part and (options.out / name / FILE).exists())
        asking = replace(asking, budget=max(0.0, asking.budget - sum(look(folder).dollars for folder in others)))
    if asking.most_calls is not None:
        made = _sent(options.out) - sent_before
        asking = replace(asking, most_calls=max(0, asking.most_calls - made))
    if asking.replay is not None and (asking.replay / part).is_dir():
        asking = replace(asking, replay=asking.replay / part)
    return asking


def _sent(folder: Path) -> int:
    """The calls of all parts on record, answered or not."""
    runs = (look(folder / name) for name in PARTS if (folder / name / FILE).exists())
    return sum(run.answered.calls + len(run.uncertain) for run in runs)
