"""The report on a study: figure 6 beside the published figures, ratings, messages, and every trial."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from otherminds.errors import InputError
from otherminds.evaluation.assistance import FACILITATOR
from otherminds.files.toml import packaged
from otherminds.papers.protom.levels.kitchens import DESIGN
from otherminds.papers.protom.report import p_value, published_lines
from otherminds.papers.protom.study.export import ASPECTS, EXPERIMENT, TO_THE_END, Row, statuses, trials
from otherminds.papers.protom.study.plan import NOBODY
from otherminds.papers.protom.study.scores import FIGURES, compare, in_order, results
from otherminds.reports.level_replay import KINDS, replays
from otherminds.reports.page import Html, Page, Section, inline, interval, number, page, stack, table
from otherminds.reports.plots import ratings
from otherminds.reports.results import cell
from otherminds.worlds.doors_keys_gems.level_files import Level, bundled_levels
from otherminds.worlds.overcooked.level_files import KitchenLevel

Summary = Sequence[Row]

WORDS: Mapping[str, str] = packaged("otherminds.papers.protom", "report.toml")[EXPERIMENT]
NAMES = {
    "success": "Success",
    "speedup": "Speed-up",
    "messages": "Messages",
    "ignored": "Ignored, in all",
    "helpful": "Helpful",
    "appropriate": "Appropriate",
    "clear": "Clear",
    "understood": "Understood my goal",
}
STATUS_WORDS = {
    "completed": "completed",
    "ignored": "ignored",
    "impossible": "not executable",
    "running": "still under way at the end",
}
SHOWN = 60  # trials that can be watched: more would make the page too large
LISTED = 400  # messages that are listed, for the same reason


def report(rows: Sequence[Row], summary: Summary) -> Page:
    """The whole page, from rows and summary alone."""
    ends = [trial[-1] for trial in trials(rows)]
    early = sum(end.get("ended") not in TO_THE_END for end in ends)
    counts = Counter((end["subject"], str(end.get("ended") or "no end")) for end in ends)
    endings = [[subject, how, n] for (subject, how), n in sorted(counts.items())]
    note = WORDS["left_out"].format(early, len(ends)) if early else WORDS["all_ended"].format(len(ends))
    conditions = dict.fromkeys(r["condition"] for r in summary if r["condition"] != "all")
    classes = [*(kind for kind in KINDS if kind in conditions), *(c for c in conditions if c not in KINDS)]
    lines = [
        line for condition in classes for line in _result_lines(summary, condition, KINDS.get(condition, condition))
    ]
    comments = [
        [_trial_label(end), end["subject"], agent, comment]
        for end in ends
        for agent, comment in (end.get("comments") or {}).items()
        if comment
    ]
    sections = {
        "Results": _results(rows, summary),
        "What people thought of it": _ratings(rows, summary),
        "Comments": table(("Trial", "Facilitator", "Who", "Comment"), comments) if comments else "",
        "By class of level": table(_columns("Levels", "Facilitator"), lines),
        "Tests": _tests(rows),
        "What was said, and what became of it": _messages(rows),
        "Watch the trials": _replays(rows),
        "Who played what": _design(rows),
        "How trials ended": stack(note, table(("Facilitator", "How it ended", "Trials"), endings)),
    }
    return page(WORDS["title"], WORDS["lead"], [Section(title, body) for title, body in sections.items() if body])


def _results(rows: Sequence[Row], summary: Summary) -> Html:
    """The figures of each facilitator over all levels beside the published ones, with notes on the trials."""
    trial_results = results(rows)
    without = sum(not r.values["speedup"] for r in trial_results)
    notes = [WORDS["speedup"], WORDS["published"], *([WORDS["no_baseline"].format(without)] if without else [])]
    ends = [trial[-1] for trial in trials(rows)]
    if simulated := sum("simulated" in (last.get("by") or {}).values() for last in ends):
        notes.insert(0, WORDS["simulated"].format(of=simulated, all=len(ends)))
    lines = list(_result_lines(summary, "all"))
    # the paper's study: nine pairs, two trials with each facilitator
    lines += [[subject, 18, *cells, 9] for subject, *cells in published_lines(EXPERIMENT, "all", FIGURES)]
    return stack(table(_columns("Facilitator"), lines), *notes)


def _columns(*first: str) -> tuple[str, ...]:
    return (*first, "Trials", *(NAMES[metric] for metric in FIGURES), "n")


def _result_lines(summary: Summary, condition: str, *leading_cells: str) -> Iterator[list[object]]:
    """A line for each facilitator in one condition; `first`: the leading cells of the first line."""
    estimates = {(r["subject"], r["metric"]): r for r in summary if r["condition"] == condition}
    for subject in dict.fromkeys(subject for subject, _ in estimates):
        trials_row, ignored = estimates[subject, "trials"], estimates.get((subject, "ignored"), {}).get("value")
        cells = [*(cell(estimates.get((subject, metric))) for metric in FIGURES[:-1]), number(ignored, 0)]
        yield [*leading_cells, subject, int(trials_row["value"]), *cells, trials_row["n"]]
        leading_cells = ("",) * len(leading_cells)


def _ratings(rows: Sequence[Row], summary: Summary) -> Html:
    """How often each point of the scales was given, and the mean rating of each facilitator by aspect."""
    points_given = defaultdict[tuple[str, str], list[int]](list)
    for result, aspect in product(results(rows), ASPECTS):
        points_given[result.subject, aspect].extend(map(int, result.values[aspect]))
    if not any(points_given.values()):
        return stack("Nobody has rated anything.")
    drawn = inline(ratings(points_given, summary, {aspect: NAMES[aspect] for aspect in ASPECTS}))
    estimates = {(r["subject"], r["metric"]): r for r in summary if r["condition"] == "all"}
    subjects = in_order(subject for (subject, _), points in points_given.items() if points)
    answers = Counter(subject for (subject, _), points in points_given.items() for _ in points)
    lines = [
        [subject, *(cell(estimates.get((subject, aspect))) for aspect in ASPECTS), answers[subject]]
        for subject in subjects
    ]
    return stack(drawn, table(("Facilitator", *(NAMES[aspect] for aspect in ASPECTS), "Answers"), lines))


def _trial_label(row: Row) -> str:
    return f"pair {row['pair']}, trial {row['trial']}: {row['level']}"


def _tests(rows: Sequence[Row]) -> Html:
    """The tests of ProToM against each other facilitator, and differences within pairs."""
    lines: list[list[object]] = []
    for c in compare(rows):
        p_values = p_value(c.p), p_value(c.p_corrected)
        lines.append([c.reference, NAMES[c.metric], c.test, *p_values, interval(*c.difference[:3]), c.difference.n])
    columns = ("Against", "Metric", "Test", "p", "p corrected", "Difference within pairs", "Pairs with both")
    return stack(WORDS["tests"], table(columns, lines)) if lines else stack("There is nothing to compare ProToM with.")


def _messages(rows: Sequence[Row]) -> Html:
    """How many messages of each facilitator had which fate, and the messages themselves."""
    sent = [(trial[-1], *message) for trial in trials(rows) for message in sent_messages(trial)]
    if not sent:
        return stack("Nothing was said.")
    kinds = Counter((end["subject"], status) for end, *_, status in sent)
    subjects = in_order(end["subject"] for end, *_ in sent)
    counts = [[subject, *(kinds[subject, status] for status in STATUS_WORDS.values())] for subject in subjects]
    lines = [[_trial_label(end), end["subject"], *message] for end, *message in sent[:LISTED]]
    columns = ("Trial", "Facilitator", "After step", "Message", "In what words", "What became of it")
    return stack(
        table(("Facilitator", *(status.capitalize() for status in STATUS_WORDS.values())), counts),
        table(columns, lines),
        *([f"Only the first {LISTED} of {len(sent)} messages are listed."] if len(sent) > LISTED else []),
    )


def sent_messages(trial: Sequence[Row]) -> Iterator[tuple[int, str, str, str]]:
    """Each message of a trial: the step after which it was sent, the message, its words, and its final status."""
    advice = [row for row in trial if row["agent"] == FACILITATOR]
    for i, row in enumerate(advice):
        if row["action"]:
            later = (by_message.get(row["action"], by_message.get("")) for by_message in statuses(trial)[i + 1 :])
            fate = next((status for status in later if status not in (None, "running")), "running")
            yield row["t"], row["action"], row.get("words") or "", STATUS_WORDS[fate]


def _replays(rows: Sequence[Row]) -> Html:
    """The trials one by one; the viewer gets a level of its own for each trial, named like the trial."""
    every: list[Level | KitchenLevel] = [*bundled_levels(), *DESIGN.bundled()]
    by_name = {level.name: level for level in every}
    levels = {row["episode"]: row["level"] for row in rows}
    playable = [episode for episode, name in levels.items() if name in by_name][:SHOWN]
    missing = list(dict.fromkeys(name for name in levels.values() if name not in by_name))
    notes = [WORDS["not_shown"].format(", ".join(missing))] if missing else []
    if len(levels) > SHOWN:
        notes.append(f"Only {SHOWN} trials are shown here.")
    try:
        by_episode = {episode: replace(by_name[levels[episode]], name=episode) for episode in playable}
        return stack(*notes, replays(by_episode, rows))
    except InputError as error:
        return stack(*notes, f"The trials cannot be shown: {error}")


def _design(rows: Sequence[Row]) -> Html:
    """The trials of every pair, in order."""
    cells: dict[tuple[int, int], str] = {}
    for *_, last in trials(rows):
        mark = "" if last.get("ended") in TO_THE_END else " (ended early)"
        facilitator = "nobody" if last["subject"] == NOBODY else last["subject"]
        cells[last["pair"], last["trial"]] = f"{last['level']} with {facilitator}{mark}"
    numbers = sorted({number for _, number in cells})
    lines = [[str(p), *(cells.get((p, n), "–") for n in numbers)] for p in sorted({pair for pair, _ in cells})]
    return table(("Pair", *(f"Trial {n}" for n in numbers)), lines)
