"""One report on all experiments that were run: the systems, their figures beside the papers', the scoreboard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from otherminds.evaluation.scoreboard import scores
from otherminds.evaluation.statistics import Estimate
from otherminds.evaluation.story_sets import make
from otherminds.files.toml import packaged
from otherminds.papers.food_trucks.experiment import SCENARIOS as RATIONAL
from otherminds.papers.food_trucks.models import JOINT, TRUE_BELIEF
from otherminds.papers.food_trucks.report import beside_people
from otherminds.papers.functional.verdicts import MAX_LOSS
from otherminds.papers.hypothetical_minds.report import thoughts
from otherminds.papers.people.report import NAMES as BOTS
from otherminds.papers.people.report import USUAL, losses
from otherminds.reports import literal_functional_plots as plots
from otherminds.reports import page as html
from otherminds.reports.level_replay import replays
from otherminds.reports.page import (
    Html,
    Section,
    agent_name,
    at_two_widths,
    framed,
    interval,
    number,
    stack,
    table,
)
from otherminds.reports.plots import WIDER
from otherminds.reports.results import Results, by_key, cell, figures, verdicts, write_results
from otherminds.reproduce.scoreboard_episodes import FAMILIES, GAMES, WORDS, episodes
from otherminds.stories.files import episode_of
from otherminds.stories.pictures.storyboard import storyboard_svg
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels
from otherminds.worlds.in_the_matrix.scenarios import scenarios

Row = Mapping[str, Any]
ResultsByName = Mapping[str, Results]
AGREES, BETTER, WORSE, HIGHER, LOWER = "agrees", "better", "worse", "higher", "lower"
ENOUGH = 5  # independent units that a verdict needs; chosen
TOO_FEW = "too few to say"
WIDE, PANEL = 6.4, 4.8  # inches of figures on a wide screen
SHOWN = 8  # rows of what falls short that are not folded; chosen
PROTOTYPE = "prototype"  # how the source of a figure begins that is our own
METRICS: Mapping[str, str] = WORDS["metrics"]
SCENARIOS = {scenario.id: scenario for scenario in scenarios()}
SUBSTRATES: Mapping[str, str] = WORDS["substrates"]
DILEMMA, KNOWING = GAMES["ipd"], "fictitious_play"
FRONT_WORDS: Mapping[str, Mapping[str, str]] = WORDS["fronts"]
SHOWN_LEVEL, SHOWN_STORY = "garden-gate", 42
LOST, PREDICTED = "relative_regret", "relative_regret_predicted"
ROUNDING = 1e-9
"""Difference of two bounds that counts as none: rounding of sums."""
MORE_IS_BETTER = (
    "success",
    "speedup",
    "speedup_ratio_of_means",
    "score",
    "accuracy",
    "tom_percent",
    "r",
    "desire_r",
    "belief_r",
)
LESS_IS_BETTER = ("functional_regret", "tom_regret_paper")
ORDER = (
    *("protom-dkg", "protom-overcooked", "study", "dkg-human", "food-trucks"),
    *("functional", "check", "clue-games", "people", "hypothetical", "melting-pot", "mumatom", "stories"),
)
"""The order of the chapters."""


def write_combined_report(folder: Path, results_by_name: ResultsByName) -> Path:
    """Write one report on the results of several experiments, given by name, and return its path.

    Raises InputError if it cannot be written.
    """
    results_by_name = {name: results_by_name[name] for name in ORDER if name in results_by_name}
    board = scores(episode for name, results in results_by_name.items() for episode in episodes(name, results.rows))
    summary = [row for results in results_by_name.values() for row in results.summary]
    write_results(folder, [*summary, *board], page(results_by_name, summary, board))
    return folder / "report.html"


def page(results_by_name: ResultsByName, summary: Sequence[Row], board: Sequence[Row]) -> str:
    """The HTML of the report: front pages, then a chapter for each experiment."""
    covered = {*results_by_name, *(f"{row['experiment']}/{row['condition']}" for row in summary)}
    all_entries = packaged("otherminds.reproduce", "not_compared.toml")["entry"]
    entries = [entry for entry in all_entries if entry.get("unless") not in covered]
    missing = [[entry["what"], html.with_code(entry["why"])] for entry in entries]
    compared = (_compared_table(results) for results in results_by_name.values() if _published(results.summary))
    beside_papers = stack(WORDS["verdicts"], *compared)
    front = [
        Section("What was found", fronts(results_by_name)),
        Section("What falls short", _shortfalls(summary)),
        Section("One scoreboard", _scoreboard_section(board)),
        Section(
            "Beside the papers",
            stack(
                html.folded("Every figure that a paper prints", beside_papers),
                html.folded("What could not be compared, and why", table(("What", "Why"), missing)),
            ),
        ),
    ]
    chapters = [results.report for results in results_by_name.values()]
    return html.combined_page("otherminds", html.with_code(WORDS["lead"]), front, chapters)


# Beside the papers


def _published(rows: Sequence[Row]) -> list[Row]:
    """The rows that stand beside a published figure."""
    return [row for row in rows if "published" in row]


def _compared_table(results: Results) -> Html:
    """The figures of an experiment beside the published ones, with a verdict on each, and a tally of the verdicts."""
    rows = _published(results.summary)
    tally = ", ".join(f"{words}: {n}" for words, n in Counter(map(verdict, rows)).most_common())
    ours = rows[0]["source"].startswith(PROTOTYPE)
    lines = [[*_about(row), _own(row), row["n"], _theirs(row), verdict(row)] for row in rows]
    columns = ("Where", "Who", "Measure", "Ours", "n", "Prototype" if ours else "Published", "Verdict")
    source = rows[0]["source"].partition(":")[0]
    from_ = "Beside figures of our own, not published ones" if ours else "Published"
    caption = f"{results.report.heading}. {tally.capitalize()}, of {len(rows)}. {from_}: {source}."
    return table(columns, lines, caption, stacks=True)


def _about(row: Row) -> list[str]:
    """The world or level, the agent and the metric of a row, in words."""
    condition_name = row["condition"].replace("_", " ")
    scenario = SCENARIOS.get(row["condition"])
    if scenario:
        number_of = row["condition"].rpartition("_")[2]
        condition_name = f"{SUBSTRATES[scenario.substrate]}, partner {number_of}: {scenario.meaning}"
    return [condition_name, agent_name(row["subject"]), METRICS.get(row["metric"], row["metric"].replace("_", " "))]


def _own(row: Row) -> str:
    return _interval(row, row["value"], row["low"], row["high"])


def _theirs(row: Row) -> str:
    return _interval(row, row["published"], row.get("published_low"), row.get("published_high"))


def _interval(row: Row, value: float, low: float | None, high: float | None) -> str:
    """An interval with the digits that help to compare."""
    size = max(abs(row["value"]), abs(row["published"]))
    digits = 3 if size < 1 else 2 if size < 10 else 1 if size < 200 else 0
    return interval(value, low, high, digits)


# The scoreboard


def _scoreboard_section(board: Sequence[Row]) -> Html:
    """The scoreboard: one figure of all worlds, a figure for each world, and a table of all numbers."""
    points = plots.points(board)
    families = {family: worlds for family, worlds in FAMILIES.items() if any(world in points for world in worlds)}
    panels = [at_two_widths(partial(plots.panel, agents), PANEL, world) for world, agents in points.items()]
    draw = partial(plots.overview, points, families)
    overview = at_two_widths(draw, WIDE, "Every agent in every world") if points else ""
    values = by_key(board)
    lines = []
    previous_world = ""
    worlds = list(dict.fromkeys(row["condition"] for row in board))
    everybody = dict.fromkeys((row["condition"], row["subject"]) for row in board)
    for world, agent in sorted(everybody, key=lambda pair: worlds.index(pair[0])):
        agent_rows = [values.get((world, agent, metric)) for metric in ("literal", "calibration_error", "functional")]
        n = " · ".join(str(number) for number in sorted({row["n"] for row in agent_rows if row}, reverse=True))
        lost = values.get((world, agent, "regret"))
        name = "" if world == previous_world else world
        lines.append([name, agent_name(agent), *map(_share, agent_rows), cell(lost), n])
        previous_world = world
    columns = ("World", "Who", "Literal, %", "Miscalibrated by, %", "Functional, %", "Regret an episode", "n")
    worlds_apart = html.folded("World by world", html.side_by_side(*panels))
    numbers = html.folded("All numbers", table(columns, lines, WORDS["no_score"]))
    return stack(_cards([html.block(WORDS["reading"]), overview]), worlds_apart, numbers)


def _share(row: Row | None) -> str:
    return html.NOTHING if row is None else interval(100 * row["value"], 100 * row["low"], 100 * row["high"], 0)


# What falls short


def _shortfalls(summary: Sequence[Row]) -> Html:
    """The figures worse than published ones and the targets missed: a sentence, and a table folded after SHOWN rows."""
    comparable = [row for row in _published(summary) if not row["source"].startswith(PROTOTYPE)]
    worse = [row for row in comparable if verdict(row).startswith(WORSE)]
    lines = [[" · ".join(_about(row)), _own(row), row["n"], _theirs(row), verdict(row)] for row in worse]
    for target, row, met in verdicts(summary):
        if not met:
            lines.append([str(target).replace("_", " "), cell(row), row["n"], "", "target missed"])
    number_of = f"{len(worse)} {'is' if len(worse) == 1 else 'are'} worse"
    worse_by_few = sum(row["n"] < ENOUGH for row in worse)
    how_many = "all" if worse_by_few == len(worse) else worse_by_few
    unsure = f", {how_many} with fewer than {ENOUGH} independent units" if worse_by_few else ""
    sentence = f"Of {len(comparable)} figures that stand beside a published one, {number_of}{unsure}."
    columns = ("What", "Ours", "n", "Published", "Verdict")
    shown_rows, folded_rows = (table(columns, some, stacks=True) for some in (lines[:SHOWN], lines[SHOWN:]))
    more = html.folded(f"{len(lines) - SHOWN} more", folded_rows) if len(lines) > SHOWN else Html("")
    return stack(sentence, shown_rows, more) if lines else stack(WORDS["nothing_short"])


def verdict(row: Mapping[str, Any]) -> str:
    """`agrees` if our interval and the published one overlap, else `better` or `worse`.

    A figure published without an interval is a point. For metrics where neither more nor less is better, the verdict
    is `higher` or `lower`. Of fewer than ENOUGH units nothing is said but that, and who is ahead so far.
    """
    is_few = row["n"] < ENOUGH
    low = row.get("published_low", row["published"])
    high = row.get("published_high", row["published"])
    if row["low"] <= high + ROUNDING and low <= row["high"] + ROUNDING:
        return TOO_FEW if is_few else AGREES
    is_above = row["value"] > row["published"]
    if row["metric"] in (*MORE_IS_BETTER, *LESS_IS_BETTER):
        ahead = BETTER if is_above == (row["metric"] in MORE_IS_BETTER) else WORSE
    else:
        ahead = HIGHER if is_above else LOWER
    return f"{ahead} so far, {TOO_FEW}" if is_few else ahead


def fronts(results_by_name: Mapping[str, Results]) -> Html:
    """A card for every system that was run: a few sentences and a picture."""
    cards = []
    for i, (name, results) in enumerate(results_by_name.items(), 1):
        if name in FRONTS:
            card = f"<h3>{html.chapter_link(i, results.report.heading)}</h3>"
            with suppress(LookupError):  # only the heading if some of its agents or levels were not played
                words, image = FRONTS[name](results)
                card += f"{html.block(words)}{image}"
            cards.append(card)
    return _cards(cards)


def _cards(contents: Sequence[str]) -> Html:
    """Parts of the page in two columns where there is room."""
    cards = "".join(f'<div class="card">{content}</div>' for content in contents)
    return Html(f'<div class="cards">{cards}</div>')


class Values:
    """The values of a summary, by condition, subject and metric."""

    def __init__(self, summary: Sequence[Row]) -> None:
        self.rows = by_key(summary)

    def told(self, condition: str, subject: str, metric: str, digits: int = 2) -> str:
        """A value in words, with the published one if there is one."""
        row = self.rows[condition, subject, metric]
        value = number(row["value"], digits)
        return f"{value} (published: {number(row['published'], digits)})" if "published" in row else value

    def over(self, condition: str, subject: str, metric: str) -> str:
        """A value in words, with its interval."""
        row = self.rows[condition, subject, metric]
        return interval(row["value"], row["low"], row["high"])

    def share(self, condition: str, subject: str, metric: str) -> str:
        """A value as a percentage."""
        return f"{number(100 * self.rows[condition, subject, metric]['value'], 0)} %"


def _protom(results: Results) -> tuple[str, Html]:
    """The front page of ProToM: success and speed-up, with a replay of one level."""
    values = Values(results.summary)
    front = FRONT_WORDS["protom"]
    fields = {metric: values.told("all", "protom", metric) for metric in ("success", "speedup", "messages")}
    words = front["words"].format(**fields, unhelped=values.told("all", "none", "success"))
    level = next(level for level in bundled_levels() if level.name == SHOWN_LEVEL)
    level_rows = [row for row in results.rows if row["episode"] == SHOWN_LEVEL and row["subject"] in ("none", "protom")]
    return words, replays({SHOWN_LEVEL: level}, level_rows)


def _functional(results: Results) -> tuple[str, Html]:
    """The front page of literal and functional Theory of Mind: one world of the scoreboard."""
    values = Values(results.summary)
    front = FRONT_WORDS["functional"]
    board = scores(episode for episode in episodes("functional", results.rows) if episode.world == DILEMMA)
    values_by_key = {(row["subject"], row["metric"]): row["value"] for row in board}
    shares = {metric: number(100 * values_by_key[KNOWING, metric], 0) for metric in ("literal", "functional")}
    lost = {agent: values.told("ipd/tft", agent, "functional_regret", 3) for agent in ("rmax", "bayes_simplicity")}
    draw = partial(plots.panel, plots.points(board)[DILEMMA])
    return front["words"].format(**shares, **lost), at_two_widths(draw, PANEL, front["picture"])


def _hypothetical(results: Results) -> tuple[str, Html]:
    """The front page of Hypothetical Minds: in how many scenarios the published score is reached, with a replay."""
    rows = [row for row in results.summary if row["metric"] == "score" and "published" in row]
    ahead = sum(row["value"] >= row["published"] for row in rows)
    times = max(row["n"] for row in rows)
    episodes = "one episode" if times == 1 else f"{times} episodes"
    words = FRONT_WORDS["hypothetical"]["words"].format(ahead=ahead, n=len(rows), episodes=episodes)
    return words, thoughts("rws_repeated_4", "programs", results.rows)


def _mumatom(results: Results) -> tuple[str, Html]:
    """The front page of stories: the share of right answers, on MuMA-ToM if it was played, with a storyboard."""
    values, front = Values(results.summary), FRONT_WORDS["mumatom"]
    real = ("text_video/all", "symbolic", "accuracy")
    fields = {subject: values.share("invented/plain", subject, "accuracy") for subject in ("symbolic", "question_only")}
    invented = [key for key in values.rows if key[0].startswith("invented/") and key[1:] == ("symbolic", "accuracy")]
    fields["least"] = values.share(*min(invented, key=lambda key: values.rows[key]["value"]))
    answers = (
        front["real"].format(right=values.share(*real), **_published_shares())
        if real in values.rows
        else front["invented"].format(**fields)
    )
    episode = episode_of(next(make(1, SHOWN_STORY, quiet=True))["episode"])
    wide, narrow = (
        storyboard_svg(episode, columns).replace("<svg ", f'<svg class="storyboard {kind}" ', 1)
        for kind, columns in (("wide", 3), ("narrow", 1))
    )
    return front["words"].format(answers=answers), framed(wide + narrow, front["picture"])


def _published_shares() -> dict[str, str]:
    """LIMP's and people's shares of right answers from text and video text, as published."""
    published = {p.subject: p.value for p in figures().published if p.condition == "text_video/all"}
    return {name: f"{number(100 * published[s], 0)} %" for name, s in (("limp", "limp:gpt-4o"), ("people", "human"))}


def _check(results: Results) -> tuple[str, Html]:
    """The front page of a check: what known players and a small language model lose."""
    front, rows = FRONT_WORDS["check"], by_key(results.summary)
    bars = [
        plots.LossBar(
            agent, Estimate(*(row[part] for part in Estimate._fields)), rows[about, agent, PREDICTED]["value"]
        )
        for (about, agent, metric), row in rows.items()
        if metric == LOST
    ]
    return front["words"], at_two_widths(lambda width: plots.losses(bars, MAX_LOSS, width), WIDER, front["picture"])


def _food_trucks(results: Results) -> tuple[str, Html]:
    """The front page of food trucks: correlations with people's judgements, beside the control model."""
    values = Values(results.summary)
    model = (RATIONAL, JOINT)
    belief = values.rows[*model, "belief_r"]
    fields = {judgement: values.over(*model, f"{judgement}_r") for judgement in ("desire", "belief")}
    fields |= {"control": values.over(RATIONAL, TRUE_BELIEF, "belief_r"), "n": belief["n"], "verdict": verdict(belief)}
    words = FRONT_WORDS["food-trucks"]["words"].format(**fields, published=number(belief["published"]))
    return words, beside_people(results.rows)


def _people(results: Results) -> tuple[str, Html]:
    """The front page of people: what they lose to their easiest and hardest bot, and whether a player loses less."""
    values = Values(results.summary)
    front = FRONT_WORDS["people"]
    lost = {bot: values.rows[f"rps/{bot}", "people", "loss"]["value"] for bot in BOTS}
    fields: dict[str, str] = {}
    for end, bot in (("easy", min(lost, key=lambda bot: lost[bot])), ("hard", max(lost, key=lambda bot: lost[bot]))):
        fields |= {end: values.over(f"rps/{bot}", "people", "loss"), f"{end}_bot": BOTS[bot]}
    people, usual = (values.rows["rps/all", subject, "loss"] for subject in ("people", USUAL))
    fields["verdict"] = "less than people do" if usual["high"] < people["low"] else "no less than people for sure"
    everybody = {subject: values.over("rps/all", subject, "loss") for subject in ("people", USUAL)}
    words = front["words"].format(**fields, **everybody, n=people["n"])
    return words, at_two_widths(partial(losses, values.rows), WIDER, front["picture"])


FRONTS: Mapping[str, Callable[[Results], tuple[str, Html]]] = {
    "protom-dkg": _protom,
    "food-trucks": _food_trucks,
    "functional": _functional,
    "hypothetical": _hypothetical,
    "mumatom": _mumatom,
    "check": _check,
    "people": _people,
}
