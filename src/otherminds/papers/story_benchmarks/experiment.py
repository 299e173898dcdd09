"""Public benchmarks of stories with questions, from the authors' own files, answered without a language model.

Every question is answered by `ask`, which may abstain, and its label is audited under the conventions of its benchmark.
Beside the reader stand shortcuts that need no understanding of other minds. The value of a shortcut is its probability
of a right answer, so none of them draws at random.
"""

from __future__ import annotations

import re
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

from otherminds.errors import InputError, shortened
from otherminds.evaluation.engines import stream
from otherminds.evaluation.statistics import exact, mean, ratio, summary_row
from otherminds.evaluation.store import Row, first_columns
from otherminds.evaluation.story_audits import judge, mumatom_items
from otherminds.reports.terminal.stories import happening
from otherminds.stories.answering import answer_benchmark
from otherminds.stories.audit import OF_BENCHMARKS, Verdict, family, most_followed, tried_for, verdict
from otherminds.stories.beliefs.belief_files import Format, Item, plain, read_items
from otherminds.stories.beliefs.perspectives import Conventions
from otherminds.stories.model import Answer, abstention
from otherminds.stories.mumatom_files import is_mumatom
from otherminds.worlds.household.agent import ANSWERING, RESERVED, SpeakingCosts

EXPERIMENT, READER, MUMATOM = "stories", "symbolic", "mumatom"
CONDITIONS = ("forward_belief", "forward_action", "backward_belief")
PRECISE = ("location_cg_fo", "location_cg_so", "location_fg_fo_new", "location_fg_so_new")
FILES: Mapping[Format, Sequence[str]] = {
    "mmtom_qa": ("mmtom-qa.jsonl",),
    "tomi": ("tomi_balanced.jsonl",),
    "hi_tom": ("hi-tom.json",),
    "bigtom": tuple(
        f"bigtom/0_{condition}_{belief}_belief_stories.csv" for condition in CONDITIONS for belief in ("true", "false")
    ),
    "opentom": tuple(f"opentom/{name}.json" for name in (*PRECISE, "multihop_fo", "multihop_so", "attitude")),
    "tombench": ("tombench/*.jsonl",),
    "fantom": tuple(
        f"fantom/{a}accessible_short_context_{n}-order.csv" for a in ("", "in") for n in ("first", "second")
    ),
}
"""The files of each benchmark in the folder; an asterisk stands for all such names."""
NAMES = {
    "mmtom_qa": "MMToM-QA",
    "tomi": "ToMi",
    "hi_tom": "Hi-ToM",
    "bigtom": "BigToM",
    "opentom": "OpenToM",
    "tombench": "ToMBench",
    "fantom": "FANToM",
    MUMATOM: "MuMA-ToM",
}
FIRST = ("False Belief Task", "Percepts-Knowledge Links", "Unexpected Outcome Test", "Scalar Implicature Test")
"""The files of ToMBench about belief and knowledge, which come before the others."""
SHORTCUTS = ("chance", "majority", "longest", "last_place")
HINT = "--data DIR, a folder with the benchmarks' own files; docs/systems/stories.md says which"
FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
FAILED = "the reader failed"
SHOWN = 120  # characters of an option in a row


class BenchmarkFolder(NamedTuple):
    """The questions of each benchmark in a folder, the files that are missing, and the rows that cannot be read.

    `faults` says for each benchmark where such a row is, from the folder on, and what is wrong with it.
    """

    questions: dict[str, tuple[Item, ...]]
    missing: list[str]
    faults: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class StoryEntry:
    """One question of a benchmark, and the probability that the majority option of other stories is right."""

    item: Item
    condition: str
    majority: float
    seed: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart in the rows."""
        return (self.condition, READER, self.item.id)

    @property
    def options(self) -> list[str]:
        """The options in random order: in BigToM's and FANToM's files the right one is first."""
        order = stream(self.seed, *self.key).permutation(len(self.item.options))
        return [self.item.options[i] for i in order]


def story_of(item: Item) -> str:
    """The story or scenario, by which answers are clustered: its name, or a checksum of its text."""
    return item.scenario or f"{zlib.crc32(item.story.encode()):08x}"


def read_folder(folder: Path) -> BenchmarkFolder:
    """What a folder has of the benchmarks. A row that cannot be read is left out, with its fault.

    Raises InputError if no benchmark is there, or for the first fault of a file of which no row can be read.
    """
    questions, missing = defaultdict[str, list[Item]](list), list[str]()
    faults = defaultdict[str, list[InputError]](list)
    for benchmark, names in FILES.items():
        for name in names:
            paths = sorted(folder.glob(name), key=lambda path: (path.stem not in FIRST, path))
            missing += [] if paths else [name]
            for path in paths:
                questions[benchmark] += _with_options(read_items(path, benchmark, faults[benchmark]), path)
    folders = [inner for inner in (folder, *sorted(folder.glob("mumatom*"))) if is_mumatom(inner)]
    missing += [] if folders else ["mumatom*/questions.json"]
    if folders:
        questions[MUMATOM] += mumatom_items(folders[0], faults[MUMATOM])
    if not questions:
        raise InputError("has none of the benchmarks' files", path=folder, hint=HINT)
    return BenchmarkFolder(
        {benchmark: tuple(items) for benchmark, items in questions.items()},
        missing,
        {name: tuple(str(fault).removeprefix(f"{folder}/") for fault in faults[name]) for name in questions},
    )


def _with_options(items: tuple[Item, ...], path: Path) -> tuple[Item, ...]:
    """The same items. Raises InputError for the first that has no options, as in the numbered lines of ToMi."""
    for item in items:
        if not item.options:
            raise InputError("the question has no choices", path=path, line=item.line, hint=HINT)
    return items


def has_benchmarks(folder: Path) -> bool:
    """Whether a folder has files of benchmarks other than MuMA-ToM, which has an experiment of its own."""
    return any(any(folder.glob(name)) for names in FILES.values() for name in names)


def condition_of(benchmark: str, item: Item) -> str:
    """The benchmark and type of a question: `tomi/order 1`."""
    kind = item.group.removeprefix(NAMES[benchmark]).removesuffix(" with deception").strip()
    kind = re.sub("_[01]_(no_)?tom$", "", kind).replace("_", " ")
    for number, words in enumerate(("reality", "first order", "second order")):
        kind = kind.replace(words, f"order {number}")
    return f"{benchmark}/{'questions' if kind in ('', 'all') else kind}"


def plan(questions: dict[str, tuple[Item, ...]], seed: int, most: int | None = None) -> list[StoryEntry]:
    """An entry for each question; with `most`, so many of each type at most, evenly spread over the files."""
    by_type = defaultdict[str, list[Item]](list)
    for benchmark, items in questions.items():
        for item in items:
            by_type[condition_of(benchmark, item)].append(item)
    entries = []
    for condition, candidates in by_type.items():
        selected = candidates if most is None else candidates[:: -(-len(candidates) // most)]
        labels = Counter(plain(item.gold) for item in selected)
        own = Counter((story_of(item), plain(item.gold)) for item in selected)
        for item in selected:
            votes = {option: labels[plain(option)] - own[story_of(item), plain(option)] for option in item.options}
            entries.append(StoryEntry(item, condition, best(item, votes.__getitem__), seed))
    return entries


def sample(entries: Iterable[StoryEntry], most: int, seed: int) -> list[StoryEntry]:
    """At most so many questions of each benchmark but MuMA-ToM, drawn by the seed; of those with up to 26 options."""
    by_benchmark = defaultdict[str, list[StoryEntry]](list)
    for entry in entries:
        if len(entry.item.options) <= len(ascii_uppercase) and not entry.condition.startswith(MUMATOM):
            by_benchmark[entry.condition.partition("/")[0]].append(entry)
    return [
        candidates[i]
        for name, candidates in by_benchmark.items()
        for i in sorted(stream(seed, name, "asked").permutation(len(candidates))[:most])
    ]


def best(item: Item, score: Callable[[str], float]) -> float:
    """The probability that one of the options with the highest score, drawn at random, is the label."""
    scores = [score(option) for option in item.options]
    top = [option for option, option_score in zip(item.options, scores, strict=True) if option_score == max(scores)]
    return (item.gold in top) / len(top)


def last_place(item: Item) -> Callable[[str], float]:
    """Where an option is last mentioned in the story; before its beginning if it is not."""
    text = item.story.replace("_", " ").casefold()
    return lambda option: text.rfind(plain(option))


def rows(entry: StoryEntry) -> list[Row]:
    """The answer to one question, with what shortcuts are worth and the verdicts on its label."""
    item, options = entry.item, entry.options
    conventions = next(iter(OF_BENCHMARKS.get(family(item), ())), None)
    costs = ANSWERING if entry.condition.startswith(MUMATOM) else RESERVED
    began = time.perf_counter()
    answer, coverage = _answer_and_coverage(item, options, conventions, costs)
    ms = 1000 * (time.perf_counter() - began)
    selected = None if answer.option is None else options[answer.option]
    guess = selected if answer.leaning is None else options[answer.leaning]
    verdicts = {convention.name: _verdict(item, convention) for convention in tried_for(item)}
    proofs = [judgement.because for judgement in verdicts.values() if judgement.outcome == "contradicts"]
    row = first_columns(EXPERIMENT, entry.key, entry.seed) | {
        "t": 0,
        "story": story_of(item),
        "line": item.line,
        "options": len(options),
        "gold": item.options.index(item.gold),
        "action": None if selected is None else item.options.index(selected),
        "correct": selected == item.gold,
        "p": round(max(answer.posterior, default=0.0), 6),
        "coverage": round(coverage, 4),
        "chance": 1 / len(options),
        "guessing": 1 / len(options) if guess is None else float(guess == item.gold),
        "majority": entry.majority,
        "longest": best(item, len),
        "last_place": best(item, last_place(item)),
        "audit": {name: judgement.outcome for name, judgement in verdicts.items()},
        "ms": ms,
    }
    if answer.abstained:
        row["abstained"] = shortened(answer.abstained, SHOWN)
    if selected is not None and selected != item.gold:
        row |= {"chosen": shortened(selected, SHOWN), "label": shortened(item.gold, SHOWN)}
    if proofs:
        row["because"] = [happening(premise) for premise in proofs[0]]
    return [row]


def _answer_and_coverage(
    item: Item, options: Sequence[str], conventions: Conventions | None, costs: SpeakingCosts
) -> tuple[Answer, float]:
    """The answer and the share of the story that was read. A story on which the reader fails is not answered."""
    try:
        response = answer_benchmark(item.story, item.question, options, conventions=conventions, costs=costs)
    except FAULTS as error:
        return abstention(len(options), f"{FAILED}: {error!r}"), 0.0
    return response.answer, response.reading.coverage


def _verdict(item: Item, conventions: Conventions) -> Verdict:
    try:
        return verdict(item, conventions, judge)
    except FAULTS as error:
        return Verdict(item, "unread", why=f"{FAILED}: {error!r}")


def judged(benchmark_rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """The outcome of the audit for each row of one benchmark, by condition and item.

    `contradicts` if the label is wrong under every convention that most labels of the benchmark follow, `agrees` if it
    is right under any of them.
    """
    columns = {
        name: [row["audit"][name] for row in benchmark_rows]
        for name in (benchmark_rows[0]["audit"] if benchmark_rows else ())
    }
    followed = most_followed(columns)
    outcomes = {}
    for row in benchmark_rows:
        verdicts = [row["audit"][name] for name in followed]
        others = [name for name in verdicts if name != "contradicts"]
        outcomes[row["condition"], row["episode"]] = "agrees" if "agrees" in verdicts else (others or verdicts)[0]
    return outcomes


def benchmark_of(row: Mapping[str, Any]) -> str:
    """The benchmark that a row is of."""
    return str(row["condition"].partition("/")[0])


def summarise_faults(folder: BenchmarkFolder) -> Iterator[Row]:
    """For each benchmark, how many rows of its files could not be read, of all questions and such rows."""
    for benchmark, faults in folder.faults.items():
        count = exact(float(len(faults)), len(folder.questions[benchmark]) + len(faults))
        yield summary_row(EXPERIMENT, f"{benchmark}/all", READER, "skipped", count)


def summarise(all_rows: Sequence[Row]) -> Iterator[Row]:
    """Counts, accuracy and the worth of shortcuts, by type of question and benchmark, with intervals over stories."""
    for benchmark in dict.fromkeys(map(benchmark_of, all_rows)):
        mine = [row for row in all_rows if benchmark_of(row) == benchmark and row["subject"] == READER]
        labels = judged(mine)
        types = list(dict.fromkeys(row["condition"] for row in mine))
        for condition in (f"{benchmark}/all", *(types if benchmark == "tombench" else sorted(types))):
            condition_rows = [row for row in mine if condition in (f"{benchmark}/all", row["condition"])]
            yield from _scores(condition, condition_rows, labels)


def summarise_models(rows: Iterable[Row]) -> Iterator[Row]:
    """The accuracy of language models in each benchmark, of the answers that could be read, over stories."""
    by_set = defaultdict[tuple[str, str], list[Row]](list)
    for row in rows:
        if row["subject"] != READER and row["action"] is not None:
            by_set[f"{benchmark_of(row)}/all", row["subject"]].append(row)
    for key, read in by_set.items():
        right = mean([float(row["correct"]) for row in read], [row["story"] for row in read])
        yield summary_row(EXPERIMENT, *key, "accuracy_answered", right)


def _scores(condition: str, condition_rows: Sequence[Row], labels: Mapping[tuple[str, str], str]) -> Iterator[Row]:
    """The summary rows of one condition: counts and accuracy of the reader, and the worth of each shortcut."""
    stories = [row["story"] for row in condition_rows]
    answered = [float(row["action"] is not None) for row in condition_rows]
    right = [float(row["correct"]) for row in condition_rows]
    outcomes = Counter(labels[row["condition"], row["episode"]] for row in condition_rows)
    counts = {
        "questions": len(condition_rows),
        "right": sum(right),
        "wrong": sum(answered) - sum(right),
        "abstained": len(condition_rows) - sum(answered),
        "failed": sum(row.get("abstained", "").startswith(FAILED) for row in condition_rows),
        "confirmed": outcomes["agrees"],
        "contradicted": outcomes["contradicts"],
    }
    estimates = {name: exact(float(count), len(condition_rows)) for name, count in counts.items()}
    guessing = mean([row["guessing"] for row in condition_rows], stories)
    estimates |= {"answered": mean(answered, stories), "accuracy_guessing": guessing}
    if any(answered):
        estimates["accuracy_answered"] = ratio(right, answered, stories)
    estimates["decision_ms"] = mean([row["ms"] for row in condition_rows], stories)
    yield from (summary_row(EXPERIMENT, condition, READER, metric, value) for metric, value in estimates.items())
    for shortcut in SHORTCUTS:
        values = [float(row[shortcut]) for row in condition_rows]
        on_answered = [value * is_answered for value, is_answered in zip(values, answered, strict=True)]
        scores = {"accuracy": mean(values, stories)}
        if any(answered):
            scores["accuracy_answered"] = ratio(on_answered, answered, stories)
        yield from (summary_row(EXPERIMENT, condition, shortcut, metric, value) for metric, value in scores.items())


def digest(entries: Iterable[StoryEntry]) -> str:
    """A checksum of the questions, in hexadecimal."""
    return f"{zlib.crc32(repr([entry.item for entry in entries]).encode()):08x}"
