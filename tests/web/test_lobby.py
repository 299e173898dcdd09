"""A study as participants live it, without the network, from the invitation to the export, whatever happens."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest

from otherminds.evaluation.assistance import outcomes
from otherminds.papers.protom.facilitator import SURE
from otherminds.web import exports, stages
from otherminds.web import lobby as lobby_module
from otherminds.web.connections import take_message
from otherminds.web.games import RefusedError
from otherminds.web.lobby import Lobby
from otherminds.web.studies import ASPECTS, Participant, Study
from otherminds.worlds.overcooked.kitchen import DISHES
from otherminds.worlds.overcooked.level_files import KitchenLevel
from web_lobbies import LEVELS, Page, beyond, opened, people, perform, plan, quick, running, script, settle

__all__ = ["quick"]
RATED = dict.fromkeys(ASPECTS, 6)


async def at(pages: list[Page], stage: str) -> None:
    await settle(lambda: all(page.stage == stage for page in pages))
    await settle(lambda: all(page.last("page").get("stage") == stage for page in pages))
    await settle(lambda: stage != "game" or all(page.seen >= 0 for page in pages))


async def rated(pages: list[Page]) -> None:
    """Answer what is asked after a round, until all is revealed."""
    await settle(lambda: all(page.stage in ("questions", "reveal") for page in pages))
    for page in pages:
        if page.stage == "questions":
            page.do("rate", ratings=RATED, comment="=1+1")
    await at(pages, "reveal")


async def play_trial(pages: list[Page]) -> None:
    """Get ready, play, answer what is asked, and only then see what comes to light."""
    await at(pages, "ready")
    for page in pages:
        page.do("ready")
    await at(pages, "game")
    await perform(pages, script(pages[0].level))
    await rated(pages)
    for page in pages:
        page.do("next")
    await settle(lambda: all(page.stage != "reveal" for page in pages))


@pytest.mark.slow
def test_a_study_from_consent_to_code(tmp_path: Path) -> None:
    async def study_with_two() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(consent="Do you agree?", tutorial=True, practice=True))
            ana, ben = people(lobby, study)
            for page in (ana, ben):
                page.do("consent")
                page.do("tutorial", answers=[1, 1, 1])
                await at([page], "tutorial")
                assert page.last("page")["data"]["wrong"] == [0]
                page.do("tutorial", answers=[0, 1, 1])
                await at([page], "ready")
                page.do("ready")
                await at([page], "game")
                assert page.last("page")["data"]["practice"] is True
                start = page.last("page")["data"]
                steps = chain(script(page.level), repeat({start["you"]: "stay"}))
                while page.stage == "game":
                    await perform([page], [next(steps)])
                page.do("next")
            for _ in range(3):
                await play_trial([ana, ben])
            await at([ana, ben], "thanks")
            codes = {page.last("page")["data"]["code"] for page in (ana, ben)}
            assert len(codes) == 2
            assert None not in codes
            check_export(lobby, study)

    running(study_with_two())


def check_export(lobby: Lobby, study: Study) -> None:
    rows = exports.rows(lobby, study)
    found = outcomes(rows)
    assert [outcome.success for outcome in found] == [True, True, True]
    assert sorted(outcome.length for outcome in found) == sorted(len(script(name)) for name in study.plan.levels)
    assert {outcome.subject for outcome in found} == {"none", "protom", "oracle"}
    assert all(outcome.messages == 0 for outcome in found if outcome.subject == "none")
    assert any(outcome.messages > 0 for outcome in found if outcome.subject == "oracle")
    ends = [row for row in rows if "success" in row]
    assert [("ratings" in row) for row in ends] == [row["subject"] != "none" for row in ends]
    assert all(row["ratings"] == {"Ana": RATED, "Ben": RATED} for row in ends if "ratings" in row)
    text = json.dumps(rows)
    assert not any(one.token in text or (one.label and one.label in text) for one in study.people.values())


@pytest.mark.slow
def test_a_round_reveals_what_was_believed_and_ignored_and_what_was_not_said(tmp_path: Path) -> None:
    async def ignore_and_see() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(levels=("hatch",), facilitators=("protom",)))
            pages = people(lobby, study)
            for page in pages:
                page.do("ready")
            await at(pages, "game")
            game = lobby.game(lobby.place(pages[0].one))
            assert game is not None
            for joint in script("hatch"):
                await perform(pages, [joint])
                await settle(lambda: game.ended or game.t in game.thoughts)
                for number, said in enumerate(game.messages):
                    if not said.reply and said.status == "running":
                        reader = next(page for page in pages if game.people[said.to] == page.one.id)
                        reader.do("heard", advice=number, reply="ignore")
                        assert said.status == "ignored"
            await at(pages, "questions")
            assert "people" not in pages[0].last("page")["data"], "what was believed would colour the answers"
            await rated(pages)
            await settle(lambda: pages[0].last("page")["data"]["people"][0]["sure"])
            data = pages[0].last("page")["data"]
            assert {one["status"] for one in data["messages"]} == {"Ignored"}
            heard = [row for row in exports.rows(lobby, study) if "ignored" in row.get("statuses", {}).values()]
            assert len(heard) == len(data["messages"])
            for person in data["people"]:
                believed = {one["goal"]["name"]: one["p"] for one in person["belief"]}
                assert set(believed) == {"lettuce dish", "onion dish", "none of these"}
                posterior = game.thoughts[data["halfway"]].beliefs[person["name"]]["posterior"]
                assert list(believed.values()) == list(posterior.values())
                sure = [t for t, one in game.thoughts.items() if one.beliefs[person["name"]]["p_true"] < SURE]
                assert person["sure"] == max(sure) + 1
            assert abs(2 * data["halfway"] - data["steps"]) <= 1
            silent = [row for row in (one.row for one in game.thoughts.values()) if not row["action"]]
            best = [max(row["prices"], key=lambda one: one["worth"])["saves"] for row in silent if row.get("prices")]
            assert len(data["unsaid"]) <= stages.UNSAID
            assert bool(data["unsaid"]) == (max(best, default=0.0) >= stages.NOTABLE)
            for one in data["unsaid"]:
                row = game.thoughts[one["t"]].row
                assert (row["action"], row["why"]) == ("", one["why"])
                saves = {price["message"]: price["saves"] for price in row["prices"]}
                assert saves[one["message"]] == one["saves"] >= stages.NOTABLE

    running(ignore_and_see())


@pytest.mark.slow
def test_what_was_rated_survives_and_can_be_forgotten(tmp_path: Path) -> None:
    async def rate_and_forget() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(levels=("hatch",), facilitators=("oracle",), keep_labels=True))
            pages = people(lobby, study)
            await play_trial(pages)
            await at(pages, "thanks")
            lobby.forget(study, pages[0].one).result(10)
            name = study.id
        with opened(tmp_path / "j.sqlite") as lobby:
            last = exports.rows(lobby, lobby.studies[name])[-1]
            seats = {agent: last["ratings"].get(agent) for agent in ("Ana", "Ben")}
            assert sorted(map(bool, seats.values())) == [False, True]
            assert list(last["comments"].values()) == ["=1+1"]
        assert b"=1+1" in (tmp_path / "j.sqlite").read_bytes() + wal(tmp_path / "j.sqlite")

    running(rate_and_forget())


def wal(path: Path) -> bytes:
    file = path.with_name(path.name + "-wal")
    return file.read_bytes() if file.exists() else b""


# What is hidden


def rooms_of(level: KitchenLevel) -> dict[tuple[int, int], set[int]]:
    """The rooms that each square is in, found by walking; written apart from the library's own."""
    rows = level.world.layout.rows
    tiles = {(x, y): tile for y, row in enumerate(rows) for x, tile in enumerate(row)}
    found: dict[tuple[int, int], set[int]] = {place: set() for place in tiles}
    number = 0
    for kind in (" ", "D"):
        for start in tiles:
            if tiles[start] != kind or found[start]:
                continue
            number, edge = number + 1, [start]
            while edge:
                x, y = edge.pop()
                if tiles.get((x, y)) == kind and number not in found[x, y]:
                    found[x, y].add(number)
                    edge += [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
    inside = {place: set(numbers) for place, numbers in found.items()}
    for (x, y), tile in tiles.items():
        if tile != " ":
            for place in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                found[x, y] |= inside.get(place, set()) if tile != "#" else set()
    return found


@pytest.mark.slow
def test_nothing_hidden_is_sent_in_hundreds_of_frames_each(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)

    async def wander() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            names = [name for name, level in LEVELS.items() if isinstance(level, KitchenLevel)][-14::4]
            study = lobby.create(plan(levels=names, facilitators=("none",), ratings=False))
            pages = people(lobby, study)
            frames = {page.one.name: 0 for page in pages}
            for _ in names:
                await at(pages, "ready")
                for page in pages:
                    page.told.clear()
                    page.do("ready")
                await at(pages, "game")
                while pages[0].stage == "game":
                    t = pages[0].last("frame")["t"]
                    for page in pages:
                        page.do("act", action=["up", "down", "left", "right", "stay"][rng.integers(5)], t=t)
                    await beyond(pages, t)
                for page in pages:
                    frames[page.one.name] += check_frames(page, study, pages)
                    page.do("next")
            assert min(frames.values()) >= 250

    running(wander())


def check_frames(page: Page, study: Study, pages: list[Page]) -> int:
    start = next(m for m in page.told if m["type"] == "page" and m["stage"] == "game")["data"]
    level = LEVELS[page.level]
    assert isinstance(level, KitchenLevel)
    rooms, agents = rooms_of(level), level.world.agents
    other = level.world.recipes[1 - agents.index(start["you"])]
    mine = level.world.recipes[agents.index(start["you"])]
    told = [m for m in page.told if m["type"] != "page" or m["stage"] == "game"]
    text = json.dumps(told)
    assert not any(one.one.token in text for one in pages)
    assert other == mine or (DISHES[str(other)] not in text and f'"{other}"' not in text)
    frames = [m for m in told if m["type"] == "frame"]
    for frame in frames:
        x, y = next((x, y) for name, _, x, y in frame["parts"] if name == frame["mine"])
        here = rooms[int(x // 48), int(y // 48)]
        for v, row in enumerate(frame["rows"]):
            for u, sign in enumerate(row):
                if level.world.layout.rows[v][u] == "#":
                    around = [rooms.get((u + du, v + dv), set()) for du in (-1, 0, 1) for dv in (-1, 0, 1)]
                    assert sign == "?" or any(here & near for near in around)
                else:
                    assert (sign == "?") == (not here & rooms[u, v]), (here, (u, v), row)
        for name, _, px, py in frame["parts"]:
            assert here & rooms[int(px // 48), int(py // 48)], name
    return len(frames)


# What goes wrong


def test_who_comes_back_in_time_keeps_the_seat(tmp_path: Path) -> None:
    async def come_back() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(levels=("hatch",), facilitators=("none",), grace=30.0))
            pages = people(lobby, study)
            await at(pages, "ready")
            for page in pages:
                page.do("ready")
            await at(pages, "game")
            await perform(pages, script("hatch")[:3])
            pages[0].close()
            assert pages[1].last("pause")["who"] == [pages[0].last("page")["data"]["you"]]
            pages[0] = Page(lobby, pages[0].one)
            await at(pages, "game")
            assert pages[1].told[-1]["type"] == "go"
            assert pages[0].last("frame")["t"] == 3
            await perform(pages, script("hatch")[3:])
            await rated(pages)
            assert pages[0].last("page")["data"]["ended"] == "finished"

    running(come_back())


@pytest.mark.slow
@pytest.mark.parametrize(("dropout", "reason"), [("simulated", "finished"), ("end", "left")])
def test_who_does_not_come_back_is_dropped(dropout: str, reason: str, tmp_path: Path) -> None:
    async def drop_out() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(levels=("hatch",), facilitators=("oracle",), grace=0.2, dropout=dropout))
            ana, ben = people(lobby, study)
            await at([ana, ben], "ready")
            ana.do("ready")
            ben.do("ready")
            await at([ana, ben], "game")
            await perform([ana, ben], script("hatch")[:3])
            ana.close()
            room = lobby.place(ben.one)
            await settle(lambda: ana.one.finished)
            if dropout == "simulated":
                await settle(lambda: ben.last("note"))
                me = ben.last("page")["data"]["you"]
                for joint in script("hatch")[3:]:
                    t = ben.last("frame")["t"]
                    ben.do("act", action=joint[me], t=t)
                    await beyond([ben], t)
                await at([ben], "questions")
                ben.do("rate", ratings=RATED, comment="")
                await at([ben], "reveal")
                assert sorted(one["simulated"] for one in ben.last("page")["data"]["people"]) == [False, True]
                ben.do("next")
            await at([ben], "thanks")
            game = lobby.game(room)
            assert game is not None
            assert game.ended == reason
            assert ben.last("page")["data"]["code"]
            assert ana.one.code
            last = exports.rows(lobby, study)[-1]
            assert last["ended"] == reason
            assert sorted(last["by"].values()) == ["person", dropout if dropout == "simulated" else "person"]
            seats = {row["agent"]: row["person"] for row in exports.rows(lobby, study) if "person" in row}
            assert sorted(seats.values()) == [ana.one.name, ben.one.name]
            assert seats[stages.seat(game, ben.one)] == ben.one.name
            back = Page(lobby, ana.one)
            await at([back], "thanks")

    running(drop_out())


@pytest.mark.slow
def test_leaving_between_rounds_lets_the_other_go_on_or_ends_it(tmp_path: Path) -> None:
    async def leave(dropout: str) -> None:
        with opened(tmp_path / f"{dropout}.sqlite") as lobby:
            study = lobby.create(plan(dropout=dropout))
            ana, ben = people(lobby, study)
            await play_trial([ana, ben])
            await at([ana, ben], "ready")
            ben.do("ready")
            ana.do("leave")
            await at([ana], "thanks")
            await at([ben], "game" if dropout == "simulated" else "thanks")

    running(leave("simulated"))
    running(leave("end"))


def test_who_keeps_others_waiting_too_long_has_left(tmp_path: Path) -> None:
    async def wait() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(grace=0.1))
            ana, ben = people(lobby, study)
            await at([ana, ben], "ready")
            ben.do("ready")
            ana.close()
            await at([ben], "game")
            assert ana.one.finished == "left"

    running(wait())


def test_who_never_moves_while_others_wait_has_left(tmp_path: Path) -> None:
    async def sleep() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(lobby_minutes=0.005))
            ana, ben = people(lobby, study)
            await at([ana, ben], "ready")
            ana.do("ready")
            ben.do("ready")
            await at([ana, ben], "game")
            ben.do("act", action="stay", t=0)
            await at([ana], "thanks")
            await beyond([ben], 0)
            assert ben.stage == "game"

    running(sleep())


def test_nobody_to_play_with(tmp_path: Path) -> None:
    async def alone() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(lobby_minutes=0.002))
            lonely = Page(lobby, study.people["P01"])
            await at([lonely], "thanks")
            assert "Nobody else" in lonely.last("page")["data"]["text"]
            pair = [Page(lobby, study.people["P02"]), Page(lobby, lobby.join(study, "open"))]
            await at(pair, "ready")
            late = Page(lobby, lobby.join(study, "open"))
            await at([late], "thanks")
            assert "all the participants" in late.last("page")["data"]["text"]

    running(alone())


# What is kept


@pytest.mark.slow
def test_a_lobby_that_is_killed_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    for name in plan().levels:
        monkeypatch.setitem(LEVELS, name, replace(LEVELS[name], horizon=12))
    for _ in range(8):
        before: list[object] = []
        running(live(tmp_path / "j.sqlite", 25, rng, before))
        after: list[object] = []
        running(live(tmp_path / "j.sqlite", 0, rng, after))
        assert after == before
    with closing(sqlite3.connect(tmp_path / "j.sqlite")) as base, base:
        kinds = dict(base.execute("select kind, count(*) from events group by kind"))
    assert kinds["step"] > 30
    assert kinds["thought"] > 10
    assert kinds["rated"] > 1


async def live(path: Path, numbers: int, rng: np.random.Generator, told: list[object]) -> None:
    """Live for a while in whatever stage, and tell where everybody is when the lobby is killed."""
    with opened(path) as lobby:
        study = next(iter(lobby.studies.values()), None) or lobby.create(plan())
        if numbers:
            pages = people(lobby, study)
            await settle(lambda: all(page.told for page in pages))
        for _ in range(numbers):
            await live_on(lobby, pages[int(rng.integers(2))], rng)
        told += [where(lobby, page) for page in study.people.values()]


async def live_on(lobby: Lobby, page: Page, rng: np.random.Generator) -> None:
    game = lobby.game(lobby.place(page.one))
    if page.stage == "game" and game:
        t, me = game.t, stages.seat(game, page.one)
        last = {*game.pending, me} == {*game.people}
        page.do("act", action=["up", "down", "left", "right", "stay"][rng.integers(5)], t=t)
        await settle(lambda: game.t > t or not last)
        await settle(lambda: game.ended or not game.over())
    elif page.stage == "ready" and not page.one.ready:
        page.do("ready")
    elif page.stage == "reveal":
        page.do("next")
    elif page.stage == "questions":
        page.do("rate", ratings=RATED, comment="")


def where(lobby: Lobby, one: Participant) -> object:
    game = lobby.game(lobby.place(one))
    found = (lobby.stage(one), one.trial, one.ready, lobby.last.get(one.id, 0))
    if game is None:
        return found
    frame = stages.frame(game, stages.seat(game, one), {})
    return *found, frame["rows"], frame["parts"], dict(game.pending), list(game.steps), list(map(vars, game.messages))


def test_games_that_were_left_long_ago_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def forget() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            alone = lobby.create(
                plan(levels=("hatch",), facilitators=("none",), partner="simulated", ratings=False), "solo"
            )
            page = Page(lobby, lobby.join(alone, "solo", seat=0))
            kept = lobby.create(plan())
            await at([page], "game")
            page.do("leave")
            monkeypatch.setattr(lobby_module, "STALE", 0.05)
            await settle(lambda: page.told)
            assert alone.id in lobby.studies
            page.close()
            await settle(lambda: alone.id not in lobby.studies)
            assert page.one.token not in lobby.seats
            assert kept.id in lobby.studies
        with opened(tmp_path / "j.sqlite") as lobby:
            assert set(lobby.studies) == {kept.id}

    running(forget())


def test_every_deed_is_taken_once(tmp_path: Path) -> None:
    async def repeat() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(levels=("hatch",), facilitators=("none",)))
            pages = people(lobby, study)
            await at(pages, "ready")
            for page in pages:
                page.do("ready")
                page.n -= 1
                page.do("ready")
            await at(pages, "game")
            for page in pages:
                t = page.last("frame")["t"]
                page.do("act", action="up", t=t)
                page.n -= 1
                page.do("act", action="down", t=t)
            await settle(lambda: all(page.last("frame")["t"] == 1 for page in pages))
            room = lobby.place(pages[0].one)
        with closing(sqlite3.connect(tmp_path / "j.sqlite")) as base, base:
            numbers = base.execute(
                "select who, n, count(*) from events where who is not null group by who, n"
            ).fetchall()
            assert {count for _, _, count in numbers} == {1}
            acts = base.execute("select body from events where stream = ? and kind = 'act'", (room,)).fetchall()
            assert [json.loads(body)["action"] for (body,) in acts] == ["up", "up"]
            numbers = base.execute("select stream, max(seq), count(*) from events group by stream").fetchall()
            assert all(last == count for _, last, count in numbers)

    running(repeat())


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    async def refuse() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(levels=("hatch",), facilitators=("none",)))
            ana, ben = people(lobby, study)
            await at([ana, ben], "ready")
            with pytest.raises(RefusedError, match="not possible at this stage"):
                ana.do("act", action="up", t=0)
            with pytest.raises(RefusedError, match="no such action"):
                ana.do("fly")
            with pytest.raises(RefusedError, match="needs a number"):
                take_message(lobby, ana.one, {"n": "1", "do": "ready"})
            ana.do("ready")
            ben.do("ready")
            await at([ana, ben], "game")
            for wrong in ({"action": "fly", "t": 0}, {"action": "up", "t": 7}, {"action": None, "t": 0}, {"t": 0}):
                with pytest.raises(RefusedError):
                    ana.do("act", **wrong)
            with pytest.raises(RefusedError, match="no such advice"):
                ana.do("heard", advice=0, reply="got it")
            game = lobby.game(lobby.place(ana.one))
            assert game is not None
            assert game.pending == {}

    running(refuse())
