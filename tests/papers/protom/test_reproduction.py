"""Language models as facilitators in the experiments: rows, figures, records of calls, and the command itself."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from math import ceil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from commands import Run, complaint
from otherminds.errors import InputError
from otherminds.evaluation import experiment as runner
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.store import key
from otherminds.language.ledger import Recorded
from otherminds.language.model import LanguageModel, Reply, Request
from otherminds.language.prices import TOKENS_PER_IMAGE
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.protom import report as protom_report
from otherminds.papers.protom import reproduction
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS, SETS
from otherminds.papers.protom.episodes import Reason
from otherminds.papers.protom.experiment import SUBJECTS, PlannedEpisode, assess, estimate, reply_metrics
from otherminds.papers.protom.facilitated_world import FacilitatedWorld
from otherminds.papers.protom.language_facilitator import subject
from otherminds.papers.protom.levels import kitchens
from otherminds.papers.protom.levels.level_sets import Design
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.papers.protom.people import KINDS, NEED_SPARE
from otherminds.reports.page import safe
from otherminds.reproduce.run import Options, reproduce
from otherminds.worlds.doors_keys_gems.level_files import Level, bundled_levels
from otherminds.worlds.overcooked.level_files import KitchenLevel, read_kitchen
from paths import KITCHENS_BY_CLASS
from run_files import episodes_in, interrupted, read, results, rows_in, same_results, summary_in

Row = dict[str, Any]
Write = Callable[[Request], str]
ABOUT_REPLIES = ("said", "unreadable", "tokens", "evaluated")
ABOUT_BELIEFS = ("posterior", "predicted", "p_true")
LEVELS = {level.name: level for level in bundled_levels()}
NOT_NEEDED, NECESSARY = (read_kitchen(KITCHENS_BY_CLASS / f"{kind}.txt") for kind in ("not_needed", "necessary"))
WORLDS: Mapping[type, FacilitatedWorld] = {Level: DOORS_KEYS_GEMS, KitchenLevel: OVERCOOKED}
FEW: list[Level] = [LEVELS[name] for name in ("own-key", "purple-gate", "locked-in")]
PLAYED = FEW[1:]
ALL: list[Level | KitchenLevel] = [*FEW, NOT_NEEDED, NECESSARY]
WANTED = ("goals", "properties")


def entry(level: Level | KitchenLevel, who: str, seed: int = 42) -> PlannedEpisode:
    return PlannedEpisode(level, who, level.kind, seed)


@cache
def usual(level_name: str, who: str) -> list[Row]:
    level = next(level for level in ALL if level.name == level_name)
    return WORLDS[type(level)].rows(entry(level, who))


def advised(level: Level | KitchenLevel, model: LanguageModel, seed: int = 42, *, pictures: bool = False) -> list[Row]:
    return WORLDS[type(level)].rows(entry(level, subject(model.name), seed), model, pictures=pictures)


def without(rows: Sequence[Row], *names: str) -> list[Row]:
    return [{name: value for name, value in row.items() if name not in ("ms", *names)} for row in rows]


def advice(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["agent"] == "facilitator"]


def reply(request: Request, choice: int, pick: int = 0, reason: str = "It helps.") -> str:
    """A reply that can be read, which names one of the goals that there are for everybody."""
    menus = json.loads(request.schema)["properties"]["goals"]["properties"]
    goals = {agent: menu["enum"][pick % len(menu["enum"])] for agent, menu in menus.items()}
    return json.dumps({"goals": goals, "reason": reason, "choice": choice})


def listed(request: Request) -> list[str]:
    """What can be said, as the model is told."""
    lines = text_of(request).split("\nWhat you can say now:\n")[1].split("\n\n")[0].split("\n")
    assert [line.partition(": ")[0] for line in lines] == [str(i) for i in range(len(lines))]
    return [line.partition(": ")[2] for line in lines]


def mute(request: Request) -> str:
    return reply(request, 0)


def babble(request: Request) -> str:
    """Something else every time, now and then unreadable."""
    n = len(listed(request))
    return reply(request, request.seed % (n + 1), request.seed // 7)


def refuse(_: Request) -> NoReturn:
    raise AssertionError("the model was asked")


# Who is known to do what


@pytest.mark.parametrize("level", ALL, ids=lambda level: level.name)
@pytest.mark.parametrize("write", [mute, lambda request: "I am not sure."], ids=["mute", "unreadable"])
def test_who_says_nothing_changes_nothing(level: Level | KitchenLevel, write: Write) -> None:
    found = advised(level, Scripted("model", write))
    bare = without(found, "subject", "why", *ABOUT_BELIEFS, *ABOUT_REPLIES)
    assert bare == without(usual(level.name, "none"), "subject", "why")
    assert {row["subject"] for row in found} == {"lm:model"}


@pytest.mark.slow
@pytest.mark.parametrize("level", ALL, ids=lambda level: level.name)
def test_who_says_what_protom_says_does_as_well(level: Level | KitchenLevel) -> None:
    expected = usual(level.name, "protom")
    chosen = {row["t"]: row["action"] or "No Feedback" for row in advice(expected)}
    asked: list[int] = []

    def as_protom(request: Request) -> str:
        asked.append(int(text_of(request).split("\n\nStep ")[1].split(" is over")[0]))
        return reply(request, listed(request).index(chosen[asked[-1]]))

    found = advised(level, Scripted("model", as_protom))
    other = (
        "subject",
        "why",
        "words",
        "prices",
        "surprise",
        *Reason._fields,
        "stated",
        "stated_p",
        *ABOUT_BELIEFS,
        *ABOUT_REPLIES,
    )
    assert without(found, *other) == without(expected, *other)
    assert [row["t"] for row in advice(found) if row.get("said")] == asked
    assert any(row["action"] for row in advice(found)) == any(row["action"] for row in advice(expected))


def test_protom_has_something_to_say_in_some_of_these() -> None:
    said = {level.name for level in ALL if any(row["action"] for row in advice(usual(level.name, "protom")))}
    assert {"locked-in", NECESSARY.name} <= said < {level.name for level in ALL}


# What rows say


def test_what_was_believed_is_what_the_model_named() -> None:
    level = LEVELS["own-key"]
    found = advised(level, Scripted("model", mute))
    named = next(row["t"] for row in advice(found) if row.get("said"))
    gems = [gem.colour for gem in level.world.gems]
    for row in found:
        if row["agent"] == "facilitator" or row["t"] < named:
            assert not {*row} & {*ABOUT_BELIEFS}
        else:
            assert row["posterior"] == {gems[0]: 1.0, **dict.fromkeys(gems[1:], 0.0)}
            assert row["predicted"] == gems[0]
            assert row["p_true"] == float(row["goal"] == gems[0])
    metrics = {r["metric"]: r["value"] for r in assess("protom-dkg", [*usual("own-key", "none"), *found])}
    wrong = 1.0 - sum(row["goal"] == gems[0] for row in found if "goal" in row) / (2 * len(advice(found)))
    assert metrics["top1"] == pytest.approx(1.0 - wrong)
    assert metrics["brier"] == pytest.approx(2.0 * wrong)


def test_replies_are_kept_and_counted() -> None:
    level, replies = LEVELS["locked-in"], list[str]()

    def write(request: Request) -> str:
        text = "hm\x1b\n" + "x" * 1000 if len(replies) < 2 else reply(request, 1)
        replies.append(text)
        return text

    model = Scripted("model", write)
    found = advice(advised(level, model))
    first = next(row for row in found if row.get("said"))
    assert [len(said["text"]) for said in first["said"]][:2] == [300, 300]
    assert all(said["text"].isprintable() for said in first["said"])
    assert first["said"][2] == {"read": "1", "text": replies[2]}
    assert (first["unreadable"], first["words"]) == (2, "It helps.")
    assert first["tokens"] == first["evaluated"] > 3 * 300
    assert sum(len(row.get("said", ())) for row in found) == len(replies)
    assert "said" not in found[0]


def test_tokens_that_were_known_are_not_counted_as_evaluated() -> None:
    class Remembers(Scripted):
        def complete(self, request: Request) -> Reply:
            found = super().complete(request)
            return replace(found, usage=found.usage._replace(prompt=100, cached=60, written=5))

    for row in advice(advised(LEVELS["locked-in"], Remembers("model", mute))):
        n = len(row.get("said", ()))
        assert (row.get("tokens", 0), row.get("evaluated", 0)) == (105 * n, 45 * n)


def told(episode: str, *decisions: tuple[int, int, int]) -> Iterator[Row]:
    """The rows of an episode with so many replies, unreadable ones and tokens, decision by decision."""
    for t, (replies, unreadable, tokens) in enumerate(decisions):
        counted = {"said": [{}] * replies, "unreadable": unreadable, "tokens": tokens, "evaluated": tokens - 1}
        yield {"episode": episode, "agent": "Ana", "t": t, "tokens": 999}
        yield {"episode": episode, "agent": "facilitator", "t": t, **(counted if replies else {})}


def test_what_is_made_of_replies() -> None:
    rows = [*told("a", (0, 0, 0), (1, 0, 50), (3, 3, 150)), *told("b", (2, 1, 100)), *told("c", (0, 0, 0))]
    found = {metric: (estimate.value, estimate.n) for metric, estimate in reply_metrics(rows).items()}
    assert found == {
        "unreadable_share": (4 / 6, 3),
        "replies": (6 / 3, 3),
        "tokens": (300 / 3, 3),
        "evaluated": (297 / 3, 3),
    }
    assert reply_metrics(list(told("c", (0, 0, 0)))) == {}
    assert reply_metrics(usual("locked-in", "protom")) == {}


# What decides what is in the rows


@pytest.mark.slow
@pytest.mark.parametrize("level", [LEVELS["purple-gate"], NECESSARY], ids=lambda level: level.name)
def test_the_same_seed_gives_the_same_rows_and_another_one_does_not(level: Level | KitchenLevel) -> None:
    model = Scripted("model", babble)
    first = without(advised(level, model))
    assert without(advised(level, model)) == first
    assert without(advised(level, model, seed=1), "seed") != without(first, "seed")


@pytest.mark.slow
@pytest.mark.parametrize("level", [LEVELS["purple-gate"], NECESSARY], ids=lambda level: level.name)
@pytest.mark.parametrize("pictures", [False, True])
def test_an_episode_can_be_played_again_from_its_record(
    level: Level | KitchenLevel, pictures: bool, tmp_path: Path
) -> None:
    path, level = tmp_path / "calls.db", replace(level, horizon=16)
    first = advised(level, Recorded(Scripted("model", babble), path), pictures=pictures)
    again = advised(level, Recorded(Scripted("model", refuse), path, replay=True), pictures=pictures)
    assert without(again) == without(first)
    assert any(row["action"] for row in advice(first))
    calls = sum(len(row.get("said", ())) for row in first)
    assert read(path, "select state, count(*) from calls group by state") == [("done", calls)]


@pytest.mark.slow
def test_every_call_of_a_run_is_another_one() -> None:
    requests: list[Request] = []

    def write(request: Request) -> str:
        requests.append(request)
        return "no"

    for level in (*FEW, LEVELS["gem-shelf"]):
        for seed in (1, 2):
            advised(level, Scripted("model", write), seed)
    assert len({(request.draw, request.seed) for request in requests}) == len(requests)
    assert len({request.draw for request in requests}) == len(requests) // 2 > 100


# What it will take


@pytest.mark.slow
def test_the_estimate_is_that_of_a_model_that_never_says_anything() -> None:
    plan = [entry(level, "lm:model") for level in FEW]
    found = estimate(plan, DOORS_KEYS_GEMS.setup)
    assert found == estimate(plan, DOORS_KEYS_GEMS.setup)
    requests: list[Request] = []

    def write(request: Request) -> str:
        requests.append(request)
        return mute(request)

    for level in FEW:
        advised(level, Scripted("model", write))
    tokens = sum(ceil(len(text_of(request)) / 4) for request in requests)
    assert found.usage.written == 300 * found.calls
    assert found.calls == len(requests) > 0
    assert found.usage.prompt == tokens
    seen = estimate(plan, DOORS_KEYS_GEMS.setup, pictures=True)
    assert seen.usage.prompt - found.usage.prompt == TOKENS_PER_IMAGE * found.calls
    assert estimate([], DOORS_KEYS_GEMS.setup) == (0, (0, 0, 0))


def test_names_of_models_have_no_colons() -> None:
    assert subject("qwen2.5:72b") == "lm:qwen2.5-72b"
    assert subject("o3") == "lm:o3"


# The command


SCRIPT = """
import json
from otherminds.language.scripted import Scripted

ASKED = []

def write(request):
    ASKED.append(request)
    wanted = json.loads(request.schema)["properties"]
    goals = {agent: menu["enum"][0] for agent, menu in wanted["goals"]["properties"].items()}
    choice = request.seed // 2 % len(wanted["choice"]["enum"]) if request.seed % 2 else 99
    return json.dumps({"goals": goals, "reason": REASON, "choice": choice})

REASON = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\\x1b[31m\\u202e${x}"
evil = Scripted("[b]evil:model[/b]", write)
garbled = Scripted("garbled", lambda request: "no idea " * len(ASKED))
"""


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two levels and two kitchens instead of all, fewer sets, and models in a module of the current folder."""
    levels = {kitchens.DESIGN.folder: [NOT_NEEDED, NECESSARY]}
    monkeypatch.setattr(Design, "bundled", lambda design: list(levels.get(design.folder, PLAYED)))
    monkeypatch.setattr(Design, "level_set", lambda _, name: SimpleNamespace(levels=lambda: [FEW[-1]]))
    for name in ("heldout", "tuning"):
        monkeypatch.setitem(SETS, name, ("none", "protom"))
    (tmp_path / "talkers.py").write_text(SCRIPT, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "talkers", raising=False)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are made, but not drawn, and episodes are not drawn either, which would take most of the time."""
    monkeypatch.setattr(protom_report, "inline", lambda figure, caption="": safe(caption))
    monkeypatch.setattr(protom_report, "replays", lambda levels, rows: safe(""))


def rows_of(folder: str) -> list[Row]:
    return rows_in(Path(folder))


def summary_of(folder: str) -> dict[tuple[str, str, str], Row]:
    return {(row["condition"], row["subject"], row["metric"]): row for row in summary_in(Path(folder))}


def answers(folder: str) -> int:
    """How many answers of a model are on record."""
    ((found,),) = read(Path(folder, "run.db"), "select count(*) from calls where state = 'done'")
    return int(found)


def asked() -> list[Request]:
    found: list[Request] = sys.modules["talkers"].ASKED
    return found


class Tags(HTMLParser):
    """The tags of a page, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


EVIL = "lm:[b]evil-model[/b]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "levels"), [("protom-dkg", PLAYED), ("protom-overcooked", [NOT_NEEDED, NECESSARY])], ids=["map", "kitchen"]
)
def test_a_model_takes_part_beside_the_others(name: str, levels: list[Level | KitchenLevel], run: Run) -> None:
    result = run("reproduce", name, "--model", "talkers:evil", "--out", "one", "--price", "1/2")
    assert result.code == 0
    expected = [(level.kind, who, level.name) for level in levels for who in SUBJECTS]
    expected += [(level.kind, EVIL, level.name) for level in levels]
    rows, summary = rows_of("one"), summary_of("one")
    assert list(dict.fromkeys(map(key, rows))) == expected
    assert [key(row) for row in rows if "success" in row] == expected
    metrics = {metric for condition, who, metric in summary if (condition, who) == ("all", "protom")}
    theirs = {metric for condition, who, metric in summary if (condition, who) == ("all", EVIL)}
    reasons = {metric for metric in metrics if metric.startswith("stated")} | {"friend_right"}
    assert theirs == metrics - reasons | {"unreadable_share", "replies", "tokens", "evaluated"}
    assert 0 < summary["all", EVIL, "unreadable_share"]["value"] < 1
    assert summary["all", EVIL, "replies"]["value"] == len(asked()) / len(levels)
    # in the terminal
    assert len([line for line in result.out.splitlines() if line.startswith("   lm:[b]evil")]) == 1 + len(levels)
    assert "…" not in result.out
    assert f"{EVIL}: {len(asked()) / len(levels):.1f} replies" in result.out
    assert all(c.isprintable() or c == "\n" for c in result.out)
    assert max(map(len, result.out.splitlines())) <= 80
    assert f"{len(asked())} calls made" in " ".join(result.err.split())
    # in the report
    page = Tags(Path("one", "report.html").read_text("utf-8"))
    assert page.tags.count("script") == 2
    assert "img" not in page.tags
    assert "Language models" in page.text
    assert page.text.count(EVIL) > 8
    # in the record
    assert answers("one") == len(asked())


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_people_who_are_not_as_expected_have_conditions_of_their_own(run: Run) -> None:
    assert run("reproduce", "protom-dkg", "--robust", "--out", "one").code == 0
    found = summary_of("one")
    kinds = {condition.split("/")[1] for condition, *_ in found if condition.startswith("robust/")}
    assert kinds >= {*KINDS} - {*NEED_SPARE}
    assert found["robust/ignore_all/all", "oracle", "success"]["value"] < found["all", "oracle", "success"]["value"]
    assert found["robust/idle/all", "oracle", "slowed"]["n"] == 1
    usual = {about: row["value"] for about, row in found.items() if about[2] != "decision_ms"}
    assert run("reproduce", "protom-dkg", "--out", "two").code == 0
    without = {about: row["value"] for about, row in summary_of("two").items() if about[2] != "decision_ms"}
    assert without == {about: value for about, value in usual.items() if "/" not in about[0]}
    assert "Other people" in Tags(Path("one", "report.html").read_text("utf-8")).text
    assert "Other people" not in Tags(Path("two", "report.html").read_text("utf-8")).text
    complaint(run("reproduce", "functional", "--robust"), "--robust is not for functional .*protom-dkg")


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_run_that_was_finished_asks_nothing_and_a_replay_neither(run: Run) -> None:
    options = ("reproduce", "protom-dkg", "--model", "talkers:evil", "--seed", "3")
    assert run(*options, "--out", "one").code == 0
    calls, before = len(asked()), results(Path("one"))
    assert run(*options, "--out", "one").code == 0
    assert results(Path("one")) == before
    assert run("export", "one", "calls.jsonl", "--what", "calls").code == 0
    for number, record in enumerate(("one", "one/run.db", "calls.jsonl")):
        assert run(*options, "--out", f"again-{number}", "--replay", record, "--at-once", "3").code == 0
        assert same_results(Path(f"again-{number}"), Path("one"))
        assert answers(f"again-{number}") == 0
    assert len(asked()) == calls == answers("one") > 0


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_an_interrupted_run_goes_on_where_it_stopped(run: Run) -> None:
    options = ("reproduce", "protom-dkg", "--model", "talkers:evil")
    assert run(*options, "--out", "one").code == 0
    calls = len(asked())
    left_out = [about for about in episodes_in(Path("one")) if about[1] == EVIL][-2:]
    interrupted(Path("one"), Path("two"), left_out)
    assert run(*options, "--out", "two").code == 0
    assert len(asked()) == calls
    assert same_results(Path("two"), Path("one"))


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_models_stay_away_from_levels_that_are_held_out(run: Run) -> None:
    assert run("reproduce", "protom-dkg", "--full", "--model", "talkers:evil", "--out", "one").code == 0
    conditions = {row["condition"] for row in rows_of("one")}
    assert {"heldout/necessary", "tuning/necessary"} < conditions
    assert {row["condition"] for row in rows_of("one") if row["subject"] == EVIL} == {level.kind for level in PLAYED}
    assert ("all", EVIL, "speedup") in summary_of("one")
    assert not [found for found in summary_of("one") if found[1] == EVIL and "/" in found[0]]


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_pictures_are_shown_if_they_are_wanted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Design, "bundled", lambda _: [FEW[-1]])

    def images() -> set[int]:
        return {len(message.images) for request in asked() for message in request.prompt[1:2]}  # type: ignore[union-attr]

    assert run("reproduce", "protom-dkg", "--model", "talkers:evil", "--out", "one").code == 0
    assert images() == {0}
    complaint(run("reproduce", "protom-dkg", "--model", "talkers:evil", "--pictures", "--out", "one"), "another run")
    asked().clear()
    result = run("reproduce", "protom-dkg", "--model", "talkers:evil", "--pictures", "--out", "two")
    assert (result.code, images()) == (0, {1})
    ahead = re.search(r"([\d,]+) calls, about ([\d,]+) tokens of prompts", " ".join(result.err.split()))
    assert ahead
    calls, tokens = (int(number.replace(",", "")) for number in ahead.groups())
    assert tokens > TOKENS_PER_IMAGE * calls > 0


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_model_that_cannot_be_read_says_nothing_and_that_is_told(run: Run) -> None:
    result = run("reproduce", "protom-dkg", "--model", "talkers:garbled", "--out", "one")
    assert result.code == 0
    summary = summary_of("one")
    assert summary["all", "lm:garbled", "unreadable_share"]["value"] == 1.0
    for metric in ("success", "speedup", "messages"):
        assert summary["all", "lm:garbled", metric]["value"] == summary["all", "none", metric]["value"]
    assert ("all", "lm:garbled", "top1") not in summary
    assert "100% unreadable" in result.out


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_without_a_model_everything_is_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Design, "bundled", lambda _: [FEW[-1]])
    reproduce("protom-dkg", Options(tmp_path / "plain"))
    with_model = Options(tmp_path / "spoken", asking=Asking("talkers:evil"))
    reproduce("protom-dkg", with_model)
    rows = [row for row in rows_of(str(tmp_path / "spoken")) if row["subject"] != EVIL]
    assert without(rows, "run") == without(rows_of(str(tmp_path / "plain")), "run")
    assert "Language models" not in (tmp_path / "plain" / "report.html").read_text("utf-8")
    with pytest.raises(InputError, match="another run"):
        reproduce("protom-dkg", Options(tmp_path / "spoken"))


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_published_figures_stand_beside_a_model_of_the_same_name(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setattr(Design, "bundled", lambda _: [FEW[-1]])
    monkeypatch.setattr(reproduction, "model_subject", lambda name: "lm:o3")
    result = run("reproduce", "protom-dkg", "--model", "talkers:evil", "--out", "one")
    assert summary_of("one")["all", "lm:o3", "speedup"]["published"] == 0.16
    lines = result.out.splitlines()
    place = next(i for i, line in enumerate(lines) if line.split()[:1] == ["lm:o3"])
    assert lines[place + 1].split()[:2] == ["published", "0.95"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [("talkers:nobody",), ("talkers:evil", "--replay", "none"), ("talkers:evil", "--budget", "1")],
    ids=["no model", "no record", "no price"],
)
@pytest.mark.parametrize("name", ["protom-dkg", "protom-overcooked", "functional", "hypothetical"])
def test_a_model_that_cannot_be_used_is_told_before_anything_is_played(
    name: str, options: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for played in ("play", "ask"):
        monkeypatch.setattr(runner, played, None)
    said = "has no `nobody`|cannot be read|the price is unknown"
    complaint(run("reproduce", name, "--quick", "--model", *options, "--out", "one"), said)
    assert not [path for path in Path("one").glob("*") if path.name not in ("run.db", "run.lock")]


# A few levels


@pytest.mark.slow
def test_a_few_levels_are_compared_with_nothing_published(tmp_path: Path) -> None:
    options = Options(tmp_path / "one", asking=Asking("talkers:garbled"), levels=("purple-gate",))
    results_of_few = reproduce("protom-dkg", options)
    summary = summary_of("one")
    assert {row["episode"] for row in rows_of("one")} == {"purple-gate"}
    assert {condition for condition, _, _ in summary} == {"few/all", "few/useful"}
    assert not [row for row in summary.values() if "published" in row]
    alone, helped = (usual("purple-gate", who)[-1]["length"] for who in ("none", "oracle"))
    assert summary["few/all", "oracle", "saved"]["value"] == alone - helped > 0
    assert summary["few/all", "lm:garbled", "saved"]["value"] == 0
    assert summary["few/all", "lm:garbled", "lost_share"]["value"] == 1.0
    assert ("few/all", "protom", "lost_share") not in summary
    assert "purple-gate" in results_of_few.report
    assert "ublished" not in results_of_few.report
    with pytest.raises(InputError, match="another run"):
        reproduce("protom-dkg", replace(options, levels=()))


def test_a_level_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no level `purple-gat`.*did you mean purple-gate"):
        reproduce("protom-dkg", Options(tmp_path / "one", levels=("purple-gat",)))
