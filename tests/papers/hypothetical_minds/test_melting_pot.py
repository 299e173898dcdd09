"""Matrix and cooking worlds from end to end in short episodes: plans, rows, figures, pages, and interrupted runs."""

from __future__ import annotations

import dataclasses
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from commands import Run, complaint
from otherminds import world as world_module
from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.store import key
from otherminds.papers.hypothetical_minds import melting_pot
from otherminds.papers.hypothetical_minds.melting_pot import (
    CASES,
    ENOUGH,
    MeltingPotEntry,
    background,
    plan,
    rows,
    summarise,
)
from otherminds.papers.hypothetical_minds.melting_pot_report import WORLDS, report
from otherminds.papers.hypothetical_minds.reproduction import MELTING_POT
from otherminds.reports.page import asset
from otherminds.reports.results import beside_published, verdicts
from otherminds.reports.terminal.tables import results
from otherminds.reproduce import run as reproduce
from otherminds.reproduce.run import Options, names
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.collaborative_cooking.bots import CookingBot, IdleBot, semi_skilled
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.in_the_matrix.bots import DEFT, ORDINARY, SCOUT, WALKER, MatrixBot
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import Ends
from otherminds.worlds.in_the_matrix.scenarios import bot, scenario, scenarios
from otherminds.worlds.in_the_matrix.strategies import Aim, CounterPrevious, FollowUp, Script, TitForTat, specialist
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from run_files import copied, episodes_in, interrupted, rows_in, summary_in
from run_files import results as results_in

pytestmark = pytest.mark.slow

Row = dict[str, Any]
NAME = "melting-pot"
MEANS = ("reward", "steps", "meetings", "per_meeting")
MINUS = "\N{MINUS SIGN}"
SHORT = Ends(after=39, every=10, chance=0.5, limit=90)
BODIES = ("egocentric", "full_information")
FULLY = [name for name, case in CASES.items() if case.substrate != "rws_arena" and name != "random walk v rock"]


@cache
def shortened(substrate: str) -> InTheMatrix:
    world = in_the_matrix(substrate)
    return dataclasses.replace(world, rules=dataclasses.replace(world.rules, ends=SHORT))


def short_kitchen() -> CollaborativeCooking:
    return dataclasses.replace(cooking_asymmetric(), steps=80)


@pytest.fixture(scope="module", autouse=True)
def short() -> Iterator[None]:
    """Episodes of at most ninety steps instead of thousands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(melting_pot, "in_the_matrix", shortened)
        patch.setattr(melting_pot, "cooking_asymmetric", short_kitchen)
        yield


# Plans


def test_a_plan_has_so_many_episodes_of_every_case_and_every_scenario() -> None:
    entries = plan(3, 2, 7)
    counts = Counter((entry.condition, entry.subject) for entry in entries)
    assert [subject for condition, subject in counts if condition == "calibration/egocentric"] == [*CASES]
    assert [subject for condition, subject in counts if condition == "calibration/full_information"] == FULLY
    assert [subject for condition, subject in counts if condition == "scenario"] == [one.id for one in scenarios()]
    assert (len(CASES), len(FULLY), len(scenarios())) == (13, 9, 31)
    assert all(often == (2 if condition == "scenario" else 3) for (condition, _), often in counts.items())
    assert {entry.seed for entry in entries} == {7}
    assert len({entry.key for entry in entries}) == len(entries) == 3 * 22 + 2 * 31


@pytest.mark.parametrize(("scale", "episodes"), [("quick", 75), ("normal", 375), ("full", 1060)])
def test_scales_are_what_they_say(scale: str, episodes: int) -> None:
    assert len(plan(*MELTING_POT[scale], 42)) == episodes


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "episodes"), [("normal", (10, 5)), ("full", (20, 20))])
def test_a_scale_decides_how_many_are_played(
    scale: str, episodes: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def quickly(entry: MeltingPotEntry) -> list[Row]:
        (row,) = made_up(entry.condition, entry.subject, (10.0, 1200, 2))
        return [{**row, "episode": str(entry.number)}]

    monkeypatch.setattr(melting_pot, "rows", quickly)
    table = reproduce.reproduce(NAME, Options(tmp_path, scale=scale)).summary
    sizes = {(row["condition"] == "scenario", row["n"]) for row in table if row["metric"] == "score"}
    assert sizes == {(False, episodes[0]), (True, episodes[1])}
    assert len(rows_in(tmp_path)) == 22 * episodes[0] + 31 * episodes[1]


def test_every_case_has_a_figure_to_be_held_against() -> None:
    fake = [
        {"experiment": NAME, "condition": e.condition, "subject": e.subject, "metric": "score"} for e in plan(1, 0, 1)
    ]
    assert all("published_low" in row for row in beside_published(fake))


MEETS = {
    "paper v rock": ("rws_repeated__rock_margin_0",),
    "cycle v counter": ("rws_repeated__resp2prev_margin_0",),
    "paper, rock v flip": ("rws_repeated__flip_r2s_1",),
    "random walk v rock": ("rws_repeated__rock_margin_0",),
    "defect v cooperator": ("pd_repeated__cooperator_margin_0",),
    "defect v defector": ("pd_repeated__defector_margin_0",),
    "cooperate v TFT": ("pd_repeated__tft_margin_0",),
    "cooperate (margin 1) v TFT": ("pd_repeated__tft_margin_0",),
    "defect v grim": ("pd_repeated__grim_one_strike_margin_0",),
    "DDD, then C v corrigible": ("pd_repeated__corrigible_0",),
    "paper v 7 rock": ("rws_arena__rock_margin_0", "rws_arena__rock_margin_1"),
    "scissors v 7 paper": ("rws_arena__paper_margin_0", "rws_arena__paper_margin_1"),
    "paper v 7 flipping rock": ("rws_arena__flip_r2s_0", "rws_arena__rock_margin_0", "rws_arena__rock_margin_1"),
}


def test_the_cases_are_those_of_the_prototype() -> None:
    assert {name: case.bots for name, case in CASES.items()} == MEETS
    aims = {"paper": Aim(1, 5), "scissors": Aim(2, 5), "cooperate": Aim(0, 5), "defect": Aim(1, 5)}
    for name, case in CASES.items():
        if name.split()[0] in aims and "margin" not in name:
            assert case.focal == specialist(aims[name.split()[0]]), name
    assert CASES["cooperate (margin 1) v TFT"].focal == specialist(Aim(0, 1))
    assert CASES["paper, rock v flip"].focal == Script((Aim(1, 5), Aim(0, 5)))
    assert CASES["DDD, then C v corrigible"].focal == Script((*[Aim(1, 5)] * 3, Aim(0, 5)))
    assert CASES["random walk v rock"].focal is None


def test_the_cycle_beats_who_answers_what_it_played() -> None:
    counter, cycle = bot(*MEETS["cycle v counter"]).strategy, CASES["cycle v counter"].focal
    assert isinstance(counter, CounterPrevious)
    assert isinstance(cycle, FollowUp)
    rewards = in_the_matrix("rws_repeated").rules.payoffs[0]
    for played in range(3):
        answer, mine = counter.replies[played].kind, cycle.aims[played].kind
        assert rewards[mine][answer] > 0


# Rows


@dataclasses.dataclass
class Seen:
    """What was played, how, and what came of it."""

    world: Any
    minds: Mapping[str, Any]
    limit: int
    steps: list[Any]


def played(entry: MeltingPotEntry, monkeypatch: pytest.MonkeyPatch) -> tuple[Row, Seen]:
    """The row of an entry, and what was really played for it."""
    seen: list[Seen] = []

    def spy(world: Any, minds: Mapping[str, Any], *, steps: int, rng: np.random.Generator) -> Iterator[Any]:
        seen.append(Seen(world, minds, steps, []))
        for step in world_module.rollout(world, minds, steps=steps, rng=rng):
            seen[0].steps.append(step)
            yield step

    monkeypatch.setattr(melting_pot, "rollout", spy)
    (row,) = rows(entry)
    (only,) = seen
    return row, only


ENTRIES = [
    MeltingPotEntry("calibration/egocentric", "paper v rock", 0, 1),
    MeltingPotEntry("calibration/egocentric", "paper v 7 rock", 1, 1),
    MeltingPotEntry("calibration/full_information", "cooperate (margin 1) v TFT", 2, 3),
    MeltingPotEntry("scenario", "rws_repeated_3", 0, 9),
    MeltingPotEntry("scenario", "rws_arena_0", 3, 2),
    MeltingPotEntry("scenario", "pd_repeated_6", 4, 4),
    MeltingPotEntry("scenario", "cooking_asymmetric_1", 0, 8),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.subject)
def test_a_row_says_what_was_played(entry: MeltingPotEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    row, seen = played(entry, monkeypatch)
    states = [step.after for step in seen.steps]
    kitchen = entry.subject.startswith("cooking")
    total = sum(state.rewards[0] for state in states)
    assert row["reward"] == pytest.approx(total)
    assert row["score"] == pytest.approx(total * 1200 / len(states))
    assert row["steps"] == len(states) <= seen.limit
    assert row["meetings"] == sum(state.rewards[0] > 0 if kitchen else state.met[0] is not None for state in states)
    assert seen.world.done(states[-1])
    assert seen.limit == {"calibration": 1200, "scenario": 80 if kitchen else 90}[entry.condition.partition("/")[0]]
    assert (row["schema"], row["experiment"], row["seed"]) == (1, NAME, entry.seed)
    assert key(row) == entry.key
    assert len(row["bots"]) == len(seen.world.agents) - 1


@pytest.mark.parametrize("entry", ENTRIES[:6], ids=lambda entry: entry.subject)
def test_those_play_who_are_named(entry: MeltingPotEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    row, seen = played(entry, monkeypatch)
    me, *others = seen.world.agents
    calibration = entry.condition != "scenario"
    allowed = CASES[entry.subject].bots if calibration else scenario(entry.subject).bots
    body = DEFT if entry.condition.endswith("full_information") else ORDINARY
    assert set(row["bots"]) <= set(allowed)
    assert [seen.minds[agent].strategy for agent in others] == [bot(name).strategy for name in row["bots"]]
    assert seen.minds[me].strategy == (CASES[entry.subject].focal if calibration else focal(entry.subject))
    assert {mind.skill for mind in seen.minds.values()} == {body}
    assert [mind.me for mind in seen.minds.values()] == list(range(len(seen.world.agents)))
    assert seen.world.all_seeing == (set(seen.world.agents) if body == DEFT else set())
    assert {mind.world for mind in seen.minds.values()} == {seen.world}


def focal(name: str) -> CounterPrevious | TitForTat:
    """Tit for tat where one can cooperate, else the answer to what was played last."""
    if name.startswith("pd"):
        return TitForTat(Aim(0, 5), Aim(1, 5))
    return CounterPrevious((Aim(1, 5), Aim(2, 5), Aim(0, 5)))


def test_the_random_walk_only_slips(monkeypatch: pytest.MonkeyPatch) -> None:
    _, seen = played(MeltingPotEntry("calibration/egocentric", "random walk v rock", 0, 1), monkeypatch)
    walker, rock = seen.minds.values()
    assert (walker.skill, rock.skill, rock.strategy) == (WALKER, ORDINARY, specialist(Aim(0, 5)))
    found = walker.observe(seen.world.observe(seen.steps[0].state, "player_0")).act()
    assert dict(found) == pytest.approx(dict.fromkeys(ACTIONS, 1 / 8))


def test_a_row_is_the_same_every_time_and_another_for_another_number_or_seed() -> None:
    entry = ENTRIES[3]
    others = [dataclasses.replace(entry, number=1), dataclasses.replace(entry, seed=10)]
    first, again, *different = (rows(one)[0] for one in (entry, entry, *others))
    assert first == again
    assert all(
        (row["reward"], row["steps"], row["bots"]) != (first["reward"], first["steps"], first["bots"])
        for row in different
    )


@pytest.mark.slow
def test_a_slot_meets_any_of_the_bots() -> None:
    found = [rows(MeltingPotEntry("scenario", "rws_repeated_0", number, 5))[0]["bots"] for number in range(20)]
    assert {name for (name,) in found} == set(scenario("rws_repeated_0").bots)
    arena = rows(MeltingPotEntry("scenario", "rws_arena_0", 0, 5))[0]["bots"]
    assert len(set(arena)) > 2


@pytest.mark.parametrize("name", ["cooking_asymmetric_0", "cooking_asymmetric_1", "cooking_asymmetric_2"])
def test_a_skilled_cook_meets_any_of_the_cooks(name: str) -> None:
    cooks = {"skilled": CookingBot(short_kitchen()), "semi-skilled": semi_skilled(short_kitchen()), "idle": IdleBot()}
    found = set()
    for number in range(12):
        with pytest.MonkeyPatch.context() as patch:
            row, seen = played(MeltingPotEntry("scenario", name, number, 5), patch)
        assert [*seen.minds.values()] == [cooks["skilled"], cooks[bot(row["bots"][0]).rule]]
        assert row["reward"] == 20 * row["meetings"]
        found |= {*row["bots"]}
    assert found == {*scenario(name).bots}


def test_a_delivery_in_the_last_step_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = MeltingPotEntry("scenario", "cooking_asymmetric_0", 0, 1)
    with pytest.MonkeyPatch.context() as patch:
        _, seen = played(entry, patch)
    first = next(step.after.t for step in seen.steps if step.after.rewards[0])
    assert 0 < first < 80
    monkeypatch.setattr(
        melting_pot, "cooking_asymmetric", lambda: dataclasses.replace(cooking_asymmetric(), steps=first)
    )
    (row,) = rows(entry)
    assert (row["steps"], row["meetings"], row["reward"], row["score"]) == (first, 1, 20.0, 24_000 / first)


# Those who are met


def test_a_bot_has_its_strategy_in_an_ordinary_body_unless_told_otherwise() -> None:
    world, rng = shortened("pd_repeated"), np.random.default_rng(0)
    name = "pd_repeated__tft_tremble_margin_1"
    found = background(world, "player_1", bot(name), rng)
    assert isinstance(found, MatrixBot)
    assert (found.strategy, found.skill, found.me) == (TitForTat(Aim(0, 7), Aim(1, 7), 0.15), ORDINARY, 1)
    assert background(world, "player_1", bot(name), rng, DEFT).skill == DEFT


@pytest.mark.parametrize("name", ["rws_repeated__free_0", "rws_arena__free_0"])
def test_a_scout_watches_and_replies(name: str) -> None:
    world = shortened(name.partition("__")[0])
    found = background(world, "player_1", bot(name), np.random.default_rng(0), DEFT)
    assert found.skill == SCOUT
    assert found.skill.watchful
    assert found.strategy == CounterPrevious((Aim(1, 3), Aim(2, 3), Aim(0, 3)))


# Figures


def made_up(condition: str, subject: str, *episodes: tuple[float, int, int]) -> list[Row]:
    """Rows with these rewards, steps and meetings."""
    return [
        {
            "condition": condition,
            "subject": subject,
            "episode": str(number),
            "reward": reward,
            "steps": steps,
            "meetings": meetings,
            "score": reward * 1200 / steps,
        }
        for number, (reward, steps, meetings) in enumerate(episodes)
    ]


def figures_of(found: Sequence[Row]) -> dict[tuple[str, str, str], Row]:
    return {(row["condition"], row["subject"], row["metric"]): row for row in summarise(found)}


def test_figures_are_those_that_one_gets_by_hand() -> None:
    rows_ = made_up("scenario", "a", (30.0, 1200, 10), (20.0, 2400, 2), (-5.0, 600, 0))
    other = made_up("scenario", "b", (100.0, 1000, 5))
    found = figures_of([*rows_[:2], *other, *rows_[2:]])
    values = {metric: found["scenario", "a", metric]["value"] for _, subject, metric in found if subject == "a"}
    assert values == pytest.approx(
        {"score": (30 + 10 - 10) / 3, "reward": 15.0, "steps": 1400.0, "meetings": 4.0, "per_meeting": 45 / 12}
    )
    assert {row["n"] for row in found.values() if row["subject"] == "a"} == {3}
    assert found["scenario", "b", "score"] == {
        "experiment": NAME, "condition": "scenario", "subject": "b", "metric": "score",
        "value": 120.0, "low": 120.0, "high": 120.0, "n": 1,
    }  # fmt: skip
    assert all(row["low"] <= row["value"] <= row["high"] for row in found.values())
    assert found["scenario", "a", "score"]["low"] < found["scenario", "a", "score"]["high"]
    assert len(found) == 10


def test_a_case_without_meetings_has_nothing_a_meeting() -> None:
    found = figures_of(made_up("scenario", "a", (0.0, 1000, 0), (0.0, 1100, 0)))
    assert [metric for _, _, metric in found] == ["score", "reward", "steps", "meetings"]


def case(subject: str, score: float, episodes: int = ENOUGH, body: str = "egocentric") -> list[Row]:
    return made_up(f"calibration/{body}", subject, *[(score, 1200, 3)] * episodes)


def test_inside_are_cases_whose_mean_is_in_the_interval_of_the_prototype() -> None:
    found = figures_of(
        [
            *case("paper v rock", 43.1),
            *case("defect v defector", 22.0),
            *case("paper v rock", 99.6, body="full_information"),
            *case("defect v cooperator", 92.5),
            *case("defect v cooperator", 50.9, body="full_information"),
            *made_up("scenario", "rws_repeated_0", *[(900.0, 1200, 3)] * ENOUGH),
        ]
    )
    inside = found["calibration", "all", "inside"]
    assert (inside["value"], inside["n"]) == (0.4, 5)
    assert [row for row in found.values() if row["metric"] == "inside"] == [inside]
    ((target, _, met),) = verdicts([inside])
    assert not met
    assert target.at_least == 1.0


def test_few_episodes_do_not_tell_whether_a_case_is_inside() -> None:
    assert ENOUGH == 5
    few = figures_of([*case("paper v rock", 70.0, 4), *case("defect v grim", 0.0, 4)])
    assert "inside" not in {metric for _, _, metric in few}
    some = figures_of([*case("paper v rock", 70.0, 5), *case("defect v grim", 0.0, 4)])
    assert (some["calibration", "all", "inside"]["value"], some["calibration", "all", "inside"]["n"]) == (1.0, 1)


# Runs


@pytest.fixture(scope="module")
def done(short: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole quick run."""
    folder = tmp_path_factory.mktemp("runs") / "new" / NAME
    assert reproduce.reproduce(NAME, Options(folder, scale="quick")).summary == summary_in(folder)
    return folder


@pytest.mark.slow
def test_every_episode_has_its_row(done: Path) -> None:
    found = rows_in(done)
    entries = plan(2, 1, 42)
    assert [key(row) for row in found] == [entry.key for entry in entries]
    assert {row["run"] for row in found} == {f"{NAME} quick seed 42"}
    chosen = [row for row in found if row["subject"] in ("paper v rock", "cooking_asymmetric_2")]
    again = [
        row for entry in entries if entry.subject in ("paper v rock", "cooking_asymmetric_2") for row in rows(entry)
    ]
    assert [{name: value for name, value in row.items() if name != "run"} for row in chosen] == again
    assert len(again) == 5


def test_the_summary_has_every_case_and_scenario_beside_the_prototype(done: Path) -> None:
    summary = summary_in(done)
    found = {(row["condition"], row["subject"], row["metric"]): row for row in summary}
    assert len(found) == len(summary)
    for entry in plan(1, 1, 42):
        row = found[entry.condition, entry.subject, "score"]
        assert row["n"] == (1 if entry.condition == "scenario" else 2)
        assert ("published" in row) == (entry.condition != "scenario")
        assert {(entry.condition, entry.subject, metric) for metric in ("reward", "steps", "meetings")} <= {*found}
    assert found["calibration/egocentric", "paper v rock", "score"]["published"] == 70.2
    assert not any("published" in row for row in summary if row["metric"] != "score")


@pytest.mark.slow
def test_an_interrupted_run_goes_on_to_the_same_rows(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subjects = ("rws_arena_1", "defect v grim")
    left_out = [about for about in episodes_in(done) if about[1] in subjects]
    interrupted(done, tmp_path, left_out)
    fresh: list[MeltingPotEntry] = []
    monkeypatch.setattr(melting_pot, "rows", lambda entry: fresh.append(entry) or rows(entry))  # type: ignore[func-returns-value]
    reproduce.reproduce(NAME, Options(tmp_path, scale="quick"))
    assert sorted(entry.key for entry in fresh) == sorted(left_out)
    assert len(fresh) == 5
    assert results_in(tmp_path) == results_in(done)


@pytest.mark.parametrize("options", [{"seed": 7, "scale": "quick"}, {"scale": "normal"}])
def test_another_run_does_not_go_on_in_the_same_folder(done: Path, options: dict[str, Any]) -> None:
    before = (done / "run.db").read_bytes()
    with pytest.raises(InputError, match=rf"run\.db: belongs to another run than {NAME} "):
        reproduce.reproduce(NAME, Options(done, **options))
    assert (done / "run.db").read_bytes() == before


# The page


class Cells(HTMLParser):
    """The rows of all tables of a page, as texts."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags = Counter[str]()
        self._inside = False
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag == "tr":
            self.rows.append([])
        self._inside = tag in ("td", "th")
        if self._inside:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = False


def test_the_page_has_every_case_and_every_scenario_with_its_figures(done: Path) -> None:
    page, summary = (done / "report.html").read_text("utf-8"), summary_in(done)
    found = {(row["condition"], row["subject"], row["metric"]): row["value"] for row in summary}
    score = {(row["condition"], row["subject"]): row for row in summary if row["metric"] == "score"}
    lines = Cells(page).rows
    for one in scenarios():
        short_id = one.id.removeprefix(f"{one.substrate}_").replace("_", ", ")
        (line,) = [line for line in lines if line[:2] == [short_id, one.meaning] and line[2] == one.fidelity]
        means = [found.get(("scenario", one.id, metric)) for metric in MEANS]
        digits = zip(means, (1, 1, 1, 2), strict=True)
        assert line[4:] == ["–" if mean is None else f"{mean:.{n}f}".replace("-", MINUS) for mean, n in digits]
        assert line[3].startswith(f"{score['scenario', one.id]['value']:.1f}".replace("-", MINUS))
    for entry in plan(1, 0, 42):
        body = entry.condition.partition("/")[2].replace("_", " ")
        (line,) = [line for line in lines if line[:2] == [entry.subject, body]]
        row = score[entry.condition, entry.subject]
        assert line[2].startswith(f"{row['value']:.1f}".replace("-", MINUS))
        assert line[3].startswith(f"{row['published']:.1f} ")
        assert line[5] == "2"
    for world, name in WORLDS.items():
        ours = [score["scenario", one.id]["value"] for one in scenarios() if one.substrate == world]
        mean = f"{sum(ours) / len(ours):,.1f}".replace("-", MINUS)
        assert [name, str(len(ours)), str(len(ours)), mean] in [line[:4] for line in lines]
    assert page.count('class="wide"') == page.count('class="narrow"') == 2  # figures for a screen and for a phone
    assert page.count("1 episode of each scenario") == 4
    assert page.count("data-replay") >= 1


def test_the_page_needs_nothing_from_elsewhere(done: Path) -> None:
    page = (done / "report.html").read_text("utf-8")
    known = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"""https?://[^\s"'<>)]*""", page)) <= known
    assert not re.findall(r"""(?:src|href)=["']?(?!#|data:)[^"'\s>]+""", page)
    assert not re.findall(r"@import|url\((?!#|data:)", page)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert scripts == [asset("replay.js")]
    assert not re.findall(r"\bNaN\b|\bnan\b|\bNone\b", page.replace(scripts[0], ""))


@pytest.mark.parametrize("name", ["paper v rock", "pd_repeated_3"])
def test_names_are_text_on_the_page_and_in_the_terminal(done: Path, name: str) -> None:
    evil = "<script>alert(1)</script>[bold]"
    summary = [{**row, "subject": row["subject"].replace(name, evil)} for row in summary_in(done)]
    page = report(summary)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;[bold]" in page
    assert evil in " ".join(shown(summary, 160))


def test_a_page_of_calibration_alone_has_no_scenarios(done: Path) -> None:
    page = report([row for row in summary_in(done) if row["condition"] != "scenario"])
    assert [section.title for section in page.sections] == ["Are the bodies as good as the originals?", "In detail"]
    assert scenario("pd_repeated_0").meaning not in page


def test_the_film_is_of_the_episode_that_was_played() -> None:
    filmed, plain = (rows(MeltingPotEntry("scenario", "rws_repeated_0", n, 42))[0] for n in (0, 1))
    assert "film" not in plain
    film = filmed["film"]
    assert len(film["frames"]) == filmed["steps"] + 1
    assert len(film["met"]) == filmed["meetings"]
    paid = sum(meeting["reward"] for meeting in film["met"])
    unpaid = [
        meeting
        for meeting in film["met"]
        if meeting["t"] + in_the_matrix("rws_repeated").rules.frozen > filmed["steps"]
    ]
    assert filmed["reward"] == pytest.approx(paid - sum(meeting["reward"] for meeting in unpaid))


# The terminal


def shown(summary: Sequence[Row], width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(results(summary))
    written = console.file
    assert isinstance(written, io.StringIO)
    return written.getvalue().splitlines()


def wide(done: Path) -> list[Row]:
    """The summary of a run with numbers as long as they get."""
    scale = {"score": (-21.4, -119.9, 108.6), "reward": (-1234.5,) * 3, "steps": (4999.0,) * 3}
    scale |= {"meetings": (88.8,) * 3, "per_meeting": (-13.25,) * 3}
    found = []
    for row in summary_in(done):
        value, low, high = scale.get(row["metric"], (row["value"], row["low"], row["high"]))
        found.append({**row, "value": value, "low": low, "high": high})
    return found


def test_eighty_columns_show_all_rows_and_cut_no_number(done: Path) -> None:
    summary = wide(done)
    met = {row["subject"] for row in summary if row["metric"] == "per_meeting"}
    lines = shown(summary)
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if "…" in line]
    for one in scenarios():
        (line,) = [line for line in lines if line.split()[:1] == [one.id]]
        each = ["-13.25"] * (one.id in met)
        assert line.split()[1:] == ["-21", "[-120,", "109]", "-1,234.5", "4,999.0", "88.8", *each]
    intervals = re.findall(r"-21 \[-120, 109\]", "\n".join(lines))
    assert len(intervals) == 13 + 9 + 31
    published = [row for row in summary if "published" in row]
    for row in published:
        beside = f"{row['published']:.0f} [{row['published_low']:.0f}, {row['published_high']:.0f}]"
        assert beside in "\n".join(lines)
    words = " ".join(" ".join(lines).split())
    assert all(name.split()[0] in words for name in CASES)
    assert "Bodies are scripted" in words


def test_calibration_is_beside_the_prototype_for_each_kind_of_body(done: Path) -> None:
    summary, lines = summary_in(done), shown(summary_in(done), 120)
    score = {(row["condition"], row["subject"]): row for row in summary if row["metric"] == "score"}
    assert next(line.split() for line in lines if line.startswith("calibration")) == [
        *("calibration", "egocentric", "prototype", "all-seeing", "prototype")
    ]
    for name in FULLY:
        both = [score[f"calibration/{body}", name] for body in BODIES]
        expected = [text for row in both for text in (about(row, ""), about(row, "published_"))]
        (line,) = [line for line in lines if line.startswith(f"{name} ")]
        assert re.split(r" {2,}", line.strip())[1:] == expected
    for one in scenarios():
        (line,) = [line for line in lines if line.startswith(f"{one.id} ")]
        assert line.split()[1] == f"{score['scenario', one.id]['value']:.0f}"
        assert "[" not in line


def about(row: Row, prefix: str) -> str:
    """A value and its interval in whole numbers, the value alone if it does not vary."""
    value, low, high = (row[name] for name in (prefix.rstrip("_") or "value", f"{prefix}low", f"{prefix}high"))
    return f"{value:.0f}" if low == high else f"{value:.0f} [{low:.0f}, {high:.0f}]"


def test_what_was_not_played_is_left_blank_in_the_terminal(done: Path) -> None:
    lines = shown(summary_in(done), 120)
    (walk,) = [line for line in lines if line.startswith("random walk v rock")]
    assert len(re.findall(r"\[", walk)) <= 2
    (arena,) = [line for line in lines if line.startswith("paper v 7 rock")]
    assert "[8, 61]" in arena
    assert shown([row for row in summary_in(done) if row["condition"] != "scenario"], 120)


# Language models


def test_no_language_model_plays_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no language model plays melting-pot.*\(leave --model out\)"):
        reproduce.reproduce(NAME, Options(tmp_path / "out", scale="quick", asking=Asking("nobody:nothing")))
    assert not (tmp_path / "out").exists()


def test_the_command_refuses_a_model(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run("reproduce", NAME, "--quick", "--out", "out", "--model", "nobody:nothing")
    complaint(refused, "no language model plays melting-pot")
    assert not (tmp_path / "out").exists()


def test_all_with_a_model_leaves_it_out() -> None:
    assert NAME in names("all", None)
    assert {*names("all", None)} - {*names("all", None, model=True)} == {NAME, "hypothetical", "people", "clue-games"}
    assert names(NAME, None, model=True) == (NAME,)


@pytest.mark.slow
def test_the_command_plays_and_shows_it(done: Path, run: Run, tmp_path: Path) -> None:
    copied(done, tmp_path)
    found = run("reproduce", NAME, "--quick", "--out", str(tmp_path))
    assert (found.code, found.err) == (0, "")
    assert f"Report: {tmp_path / 'report.html'}" in found.out
    assert "rws_arena_3_documented" in found.out
    assert (tmp_path / "rows.jsonl").read_bytes() == (done / "rows.jsonl").read_bytes()
