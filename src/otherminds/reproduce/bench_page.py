"""The figures of a benchmark of a language model, beside those of others, and the page that shows them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from otherminds.evaluation.runs import Run
from otherminds.evaluation.statistics import mean, summary_row
from otherminds.evaluation.store import Row
from otherminds.files.toml import packaged
from otherminds.papers.functional.card_and_word_games import SHORT
from otherminds.papers.functional.check_page import words_of
from otherminds.papers.functional.report import CLUE_GAMES
from otherminds.papers.functional.verdicts import FORMATTING, UNMEASURED, Findings
from otherminds.papers.mumatom import experiment as mumatom
from otherminds.papers.mumatom.report import WORDS as MUMATOM_WORDS
from otherminds.papers.people.experiment import standing
from otherminds.papers.protom.report import FEW
from otherminds.papers.story_benchmarks import experiment as stories
from otherminds.reports import page as html
from otherminds.reports.literal_functional_plots import Place, places
from otherminds.reports.page import (
    NOTHING,
    Html,
    Section,
    at_two_widths,
    folded_all,
    interval,
    number,
    prose,
    side_by_side,
    stack,
    table,
)
from otherminds.reports.plots import WIDER
from otherminds.reports.results import Results, RowsByKey, by_key, figures

PARTS = ("check", "clues", "facilitation", "stories", "mumatom", "sets")
CHECK, CLUES, FACILITATION, STORIES, MUMATOM, SETS = PARTS
WORDS: Mapping[str, Any] = packaged("otherminds.reproduce", "bench.toml")
HUMAN = "human"
ACCURACY, ANSWERED = "accuracy", "accuracy_answered"
"""The share of right answers, and that among the answers that could be read, which is the model's."""
BEST_SHOWN = 3  # published models in a row of the table; chosen


class PartResult(NamedTuple):
    """The results of a part, the model's name in its rows, and the findings about it if the part is a check."""

    subject: str
    results: Results
    finding: Findings | None = None


class Benchmark(NamedTuple):
    """A benchmark of a model: the results of its parts, or why there are none, and the runs that these come from."""

    model: str
    seed: int
    results: Mapping[str, PartResult]
    faults: Mapping[str, str]
    runs: Mapping[str, Run]
    has_data: bool = False

    def unmeasured(self, part: str) -> str:
        """Why a part measured nothing: it failed, or too few replies could be read; empty if it measured something."""
        if part not in self.results:
            return self.faults.get(part, "")
        subject, results, finding = self.results[part]
        if finding is not None:
            return finding.verdict.words if finding.verdict.breaks == FORMATTING else ""
        if part == FACILITATION:
            lost = by_key(results.summary)[f"{FEW}all", subject, "lost_share"]["value"]
            return f"in {lost:.0%} of its decisions no reply could be read" if lost > UNMEASURED else ""
        if part == CLUES:
            lost = max(by_key(results.summary)[game, subject, "lost_share"]["value"] for game in SHORT)
            return f"in {lost:.0%} of the turns of a game no reply could be read" if lost > UNMEASURED else ""
        answers = [row for row in results.rows if row["subject"] == subject]
        lost = sum(row["action"] is None for row in answers) / len(answers)
        return f"to {lost:.0%} of the questions no reply could be read" if lost > UNMEASURED else ""


# Figures


class Measure(NamedTuple):
    """A figure: its part and task, its condition and metric in the summary of that part, its name, known players."""

    part: str
    task: str
    condition: str
    metric: str
    name: str
    players: tuple[str, ...]


def _measures_of(part: str, result: PartResult | None) -> list[Measure]:
    """The figures of a part."""
    words, task, facilitators = WORDS["measures"], WORDS["parts"][part], ("protom", "oracle")
    if part == CHECK:
        beside = {"relative_regret": ("bayes_simplicity", "random"), "relative_regret_predicted": ("bayes_simplicity",)}
        beside["relative_tom_regret"] = ("bayes_simplicity",)
        return [Measure(part, task, "all", metric, words[metric], players) for metric, players in beside.items()]
    if part == CLUES:
        players = ("informed", "bayesian", "egocentric")
        games, metrics = {game: CLUE_GAMES[game] for game in SHORT}, ("predicted", "regret")
        return [
            Measure(part, name, game, metric, words[metric].format(game=name), players)
            for game, name in games.items()
            for metric in metrics
        ]
    if part == FACILITATION:
        conditions = {"speedup": "all", "saved": "all", "needless": "not_needed"}
        return [Measure(part, task, FEW + c, metric, words[metric], facilitators) for metric, c in conditions.items()]
    if part == STORIES:
        return [Measure(part, task, "invented/plain", ACCURACY, words["invented"], ("symbolic", "question_only"))]
    if part == SETS:
        sets = dict.fromkeys(map(stories.benchmark_of, _asked_rows(result))) if result else ()
        named = {f"{name}/all": stories.NAMES[name] for name in sets} or {"all": task}
        return [
            Measure(part, name, condition, ACCURACY, words[part].format(name=name), ("symbolic", "chance"))
            for condition, name in named.items()
        ]
    track = _asked_rows(result)[0]["condition"] if result else "text_video"
    return [Measure(part, task, f"{track}/all", ACCURACY, words[part], ("symbolic", "question_only"))]


def measures(benchmark: Benchmark) -> list[Row]:
    """A row for each figure: the model's value with its interval, if it was measured, and those of others beside it."""
    rows = []
    for part in (part for part in PARTS if part in {*benchmark.results, *benchmark.faults}):
        result, why = benchmark.results.get(part), benchmark.unmeasured(part)
        estimates = by_key(_summary(part, result)) if result else {}
        for measure in _measures_of(part, result):
            own_metric = ANSWERED if measure.metric == ACCURACY else measure.metric
            own = estimates.get((measure.condition, result.subject, own_metric)) if result else None
            about = {"part": part, "task": measure.task, "measure": measure.name}
            about |= {"condition": measure.condition, "metric": measure.metric}
            row = about | {"subject": result.subject if result else benchmark.model, "measured": not why}
            row |= {"why": why} if why else {name: own[name] for name in ("value", "low", "high", "n")} if own else {}
            row["players"] = dict(_players(measure, estimates))
            rows.append(row | _people(measure))
    return rows


def _summary(part: str, result: PartResult) -> Sequence[Row]:
    """The summary of a part; of stories only those that the model was asked about, for everybody who reads them."""
    if part in (CHECK, FACILITATION):
        return result.results.summary
    if part == CLUES:
        return list(_clue_scores(result.results.rows))
    if part == SETS:
        return list(_set_scores(result))
    own = _asked_rows(result)
    asked, condition = {row["group"] for row in own}, own[0]["condition"]
    rows = [
        row
        for row in result.results.rows
        if row.get("group", row["episode"]) in asked or (part == STORIES and row["subject"] == "question_only")
    ]
    if part == STORIES:
        return list(mumatom.summarise_invented([row for row in rows if row["condition"] == condition]))
    return list(mumatom.summarise([row for row in rows if not row["condition"].startswith("invented/")]))


def _clue_scores(rows: Sequence[Row]) -> Iterator[Row]:
    """The share of right predictions, and regret a round, in games of one exchange a round; without lost answers."""
    scored: dict[str, tuple[str, Callable[[Row], float]]] = {
        "predicted": ("predicted", lambda row: float(row["predicted"] == row["observed"])),
        "regret": ("action", lambda row: float(row["best"] - row["reward"])),
    }
    by_player = defaultdict[tuple[str, str], list[Row]](list)
    for row in rows:
        by_player[row["condition"], row["subject"]].append(row)
    for (player, own), (metric, (answer, score)) in product(by_player.items(), scored.items()):
        if read := [row for row in own if row[answer] is not None]:
            yield summary_row(CLUES, *player, metric, mean([*map(score, read)], [row["episode"] for row in read]))


def _set_scores(result: PartResult) -> Iterator[Row]:
    """Right answers in each public set: of the model, and of the exact rules and of chance on the same questions."""
    asked = {(row["condition"], row["episode"]) for row in _asked_rows(result)}
    same = [row for row in result.results.rows if (row["condition"], row["episode"]) in asked]
    yield from stories.summarise_models(same)
    for name in dict.fromkeys(map(stories.benchmark_of, same)):
        read = [row for row in same if stories.benchmark_of(row) == name and row["subject"] == stories.READER]
        for player, column in {stories.READER: "correct", "chance": "chance"}.items():
            right = mean([float(row[column]) for row in read], [row["story"] for row in read])
            yield summary_row(SETS, f"{name}/all", player, ACCURACY, right)


def _asked_rows(result: PartResult) -> list[Row]:
    return [row for row in result.results.rows if row["subject"] == result.subject]


def _players(measure: Measure, estimates: RowsByKey) -> Iterator[tuple[str, Row]]:
    for player in measure.players:
        if (row := estimates.get((measure.condition, player, measure.metric))) is not None:
            yield WORDS["known"][player], {name: row[name] for name in ("value", "low", "high")}


def _people(measure: Measure) -> Row:
    """People and published models on the same measure, as columns of a row; none if there are none."""
    if measure.metric == "relative_regret":
        low, high = standing()
        return {"people": {"low": low, "high": high}}
    if measure.part not in (MUMATOM, SETS):
        return {}
    experiment = {MUMATOM: "mumatom", SETS: stories.EXPERIMENT}[measure.part]
    published = {
        figure.subject: figure.value
        for figure in figures().published
        if (figure.experiment, figure.condition, figure.metric) == (experiment, measure.condition, measure.metric)
    }
    people = {"people": {"value": published.pop(HUMAN)}} if HUMAN in published else {}
    return people | {"published": {MUMATOM_WORDS["published"][subject]: value for subject, value in published.items()}}


# The page


def sentences(benchmark: Benchmark) -> list[str]:
    """The verdict of the check, and the model's habits, if it was checked."""
    result = benchmark.results.get(CHECK)
    finding = result.finding if result else None
    if finding is None:
        return []
    habits = [probe.words for probe in finding.probes if probe.is_habit]
    return [f"{finding.name} {words_of(finding)}", *([f"Its habits: it {'; it '.join(habits)}."] if habits else [])]


def unmeasured(benchmark: Benchmark) -> list[str]:
    """A sentence for each part that measured nothing: which, and why."""
    return [f"{WORDS['parts'][part]}: {why}." for part in PARTS if (why := benchmark.unmeasured(part))]


def bench_page(benchmark: Benchmark) -> str:
    """The page: the verdict in words beside one picture, what was not measured, all figures, each part as a chapter."""
    runs = list(benchmark.runs.values())
    lead = WORDS["lead"].format(seed=benchmark.seed, begun=runs[0].begun[:10])
    figures_found = measures(benchmark)
    tasks = places_of(figures_found)
    picture = at_two_widths(lambda width: places(tasks, width), WIDER, WORDS["picture"]) if tasks else Html("")
    found = side_by_side(prose(*sentences(benchmark)), picture)
    numbers = stack(_table(figures_found), WORDS["table"])
    no_data = [] if benchmark.has_data else [WORDS["no_data"]]
    reading = stack(*(WORDS["reading"][part] for part in benchmark.results), *no_data)
    missing = unmeasured(benchmark)
    sections = [
        Section("What was found", found),
        *([Section("What was not measured", stack(*missing))] if missing else []),
        Section("More", folded_all({"All figures": numbers, "How to read them": reading, "Calls": _calls(benchmark)})),
    ]
    reports = {part: result.results.report for part, result in benchmark.results.items()}
    chapters = [html.page(WORDS["parts"][part], page.lead, page.sections) for part, page in reports.items()]
    return html.combined_page(WORDS["title"].format(model=benchmark.model), lead, sections, chapters)


def places_of(rows: Sequence[Row]) -> dict[str, tuple[Place | None, Place | None]]:
    """How well the model predicts and acts in each task, from what needs no understanding (0) to the best (1)."""
    found: dict[str, dict[bool, Place]] = {}
    for row in rows:
        players = {name: player["value"] for name, player in row["players"].items()}
        guess = players.get(WORDS["known"]["chance"], 1 / 3)
        ends = {
            "relative_tom_regret": (False, 1.0, 0.0),
            "relative_regret": (True, 1.0, 0.0),
            "predicted": (False, players.get("egocentric"), players.get("informed")),
            "regret": (True, players.get("egocentric"), 0.0),
            "speedup": (True, 0.0, players.get("oracle")),
            ACCURACY: (False, guess, 1.0),
        }
        acts, worst, best = ends.get(row["metric"], (False, None, None))
        if "value" in row and worst is not None and best is not None and worst != best:
            value, *sides = ((row[name] - worst) / (best - worst) for name in ("value", "low", "high"))
            found.setdefault(row["task"], {})[acts] = (value, min(sides), max(sides))
    return {task: (marks.get(False), marks.get(True)) for task, marks in found.items()}


def _table(rows: Sequence[Row]) -> Html:
    """The figures of the model, of known players, and of people and published models, a line for each measure."""
    lines = [[*line_of(row), f"{row['n']} {WORDS['units'][row['part']]}" if "n" in row else NOTHING] for row in rows]
    columns = ("Measure", "Model", "Known players", "People, papers", "Over")
    return table(columns, lines, stacks=True)


def line_of(row: Row) -> list[str]:
    """A row in words: the measure, the model's figure, known players, and people and published models."""
    own = interval(row["value"], row["low"], row["high"]) if "value" in row else "not measured"
    players = "; ".join(f"{name} {number(figure['value'])}" for name, figure in row["players"].items())
    return [row["measure"], own, players or NOTHING, _others(row) or NOTHING]


def _others(row: Row) -> str:
    """People and the best published models on the measure of a row, in words; empty if there are none."""
    people = row.get("people", {})
    spread = [f"people {number(people['low'])} to {number(people['high'])}"] if "low" in people else []
    mean = [f"people {number(people['value'])}"] if "value" in people else []
    published = sorted(row.get("published", {}).items(), key=lambda pair: -pair[1])[:BEST_SHOWN]
    return "; ".join([*spread, *mean, *(f"{name} {number(value)}" for name, value in published)])


def _calls(benchmark: Benchmark) -> Html:
    """The calls of every part on record, with their tokens and cost."""
    lines = []
    for part, run in benchmark.runs.items():
        calls, prompts, written, dollars = run.answered
        lines.append([WORDS["parts"][part], calls, prompts, written, f"${dollars:,.4f}" if dollars else NOTHING])
    return table(("Part", "Calls", "Tokens of prompts", "Tokens written", "Cost"), lines, stacks=True)
