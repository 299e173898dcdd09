"""Study files: what they may say, and the pages, questionnaires and endings of rounds that follow from them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.web import stages
from otherminds.web.games import RefusedError
from otherminds.web.lobby import Lobby
from otherminds.web.markdown import blocks
from otherminds.web.questionnaires import Questionnaire
from otherminds.web.studies import ASPECTS, Study, StudyPlan
from otherminds.web.study_files import LARGEST, read_study
from web_lobbies import LEVELS, Page, opened, people, perform, plan, quick, running, script, settle
from web_seats import Server, serving

__all__ = ["quick"]

FILE = """
title = "Two in a kitchen"
levels = ["hatch", "upstairs"]
facilitators = ["none", "protom"]
consent = ""
instructions = "# Welcome"
recruiting = ["PROLIFIC_PID", "STUDY_ID"]
round_minutes = 5
give_up = false

[[questionnaires]]
name = "about"
when = "before"
title = "About you"

[[questionnaires.questions]]
key = "age"
text = "How old are you?"
kind = "number"
min = 18
max = 120

[[questionnaires.questions]]
key = "games"
text = "How often do you play?"
kind = "choice"
options = ["never", "sometimes", "often"]
required = false

[[questionnaires]]
name = "load"
when = "after_round"

[[questionnaires.questions]]
key = "hard"
text = "How hard was it?"
kind = "scale"
low = 0
high = 10
labels = ["easy", "hard"]

[[questionnaires]]
name = "end"
when = "after"

[[questionnaires.questions]]
key = "why"
text = "What did you notice?"
kind = "text"
max = 50
"""


# Reading


def test_a_study_file_is_a_plan_and_so_is_its_json() -> None:
    found = read_study(FILE)
    assert [form.name for form in found.questionnaires] == ["about", "load", "end"]
    assert (found.round_minutes, found.give_up, found.recruiting) == (5.0, False, ("PROLIFIC_PID", "STUDY_ID"))
    found.check(LEVELS)
    assert read_study(found.model_dump_json(), "study.json") == found
    assert StudyPlan.model_validate(found.model_dump(mode="json")) == found, "as the log keeps it"
    assert found.announced >= read_study(FILE.partition("[[")[0]).announced


def question(**more: Any) -> str:
    """A file with one question."""
    asked = {"key": "a", "text": "?", "kind": "text", **more}
    given = {"levels": ["hatch"], "facilitators": ["none"]}
    form = {"name": "f", "when": "after", "questions": [{key: x for key, x in asked.items() if x is not None}]}
    return json.dumps({**given, "questionnaires": [form]})


WRONG = {
    'levls = ["hatch"]': "study.toml: unknown key `levls` (did you mean levels?)",
    "pairs = 3": "study.toml: the key `levels` is missing",
    'levels = ["hatch"\npairs = 3': "study.toml: is not TOML: ",
    'levels = ["a"]\nlevels = ["b"]': "study.toml: is not TOML: Cannot overwrite a value",
    '{"levels": ["a"], "levels": ["b"]}': "study.toml:1: `levels` is given twice",
    'levels = ["hatch"]\npairs = "9"': "study.toml: pairs: input should be a valid integer",
    'levels = ["hatch"]\ntutorial = 1': "study.toml: tutorial: input should be a valid boolean",
    'levels = ["hatch"]\nseconds = nan': "study.toml: numbers must be finite",
    'levels = ["hatch"]\ntitle = 2026-01-01': "study.toml: a date or a time must be text, in quotes",
    'levels = ["hatch"]\nround_minutes = -1': "study.toml: round_minutes: input should be greater than or equal to 0",
    'levels = ["hatch"]\nrecruiting = ["a b"]': "study.toml: recruiting.1: string should match pattern",
    'levels = ["a"]\nrecruiting = ["visit"]\nfacilitators = ["b"]': "study.toml: the parameters in `recruiting` differ",
    'levels = ["hatch", "hatch"]\nfacilitators = ["none"]': "study.toml: no level and no facilitator may be",
    'title = "\\u001b[31m"\nlevels = [7]': "study.toml: levels.1: input should be a valid string",
    '"\\u001b[31m<b>" = 1\nlevels = ["hatch"]': "study.toml: unknown key `\\x1b[31m<b>` (there is title, levels",
    "levels = " + "[" * 5000 + "]" * 5000: "study.toml: is nested too deeply",
    "pairs = " + "9" * 5000: "study.toml: has a number too long to be read",
    "# " + "x" * LARGEST: "study.toml: is larger than 65,536 bytes",
    '{"levels": ["\\ud800"]}': "study.toml: ",
    "[1, 2]": "study.toml: is not TOML: ",
    '{"levels": [}': "study.toml:1:13: is not JSON: ",
    '{"levels": []} x': "study.toml:1:16: is not JSON: ",
    question(key=None): "study.toml: the key `key` is missing in questionnaires.1.questions.1",
    question(kind=None): "study.toml: the key `kind` is missing in questionnaires.1.questions.1",
    question(kind="slider"): "study.toml: a question is of the kind scale, choice, number, text (in questionnaires.1.",
    question(
        kind="scale", hihg=5
    ): "study.toml: unknown key `hihg` in questionnaires.1.questions.1 (did you mean high?)",
    question(kind="scale", high=50): "study.toml: questionnaires.1.questions.1: a scale has 2 to 11 points",
    question(kind="scale", labels=["a", "b", "c"]): "study.toml: questionnaires.1.questions.1: a scale has no labels",
    question(
        kind="choice", options=["a", "a"]
    ): "study.toml: questionnaires.1.questions.1: no option may be given twice",
    question(
        kind="choice", options=["a"]
    ): "study.toml: questionnaires.1.questions.1.options: tuple should have at least",
    question(kind="number", min=2, max=1): "study.toml: questionnaires.1.questions.1: `min` is larger than `max`",
    question(max=1e5): "study.toml: questionnaires.1.questions.1.max: ",
    question(required="yes"): "study.toml: questionnaires.1.questions.1.required: input should be a valid boolean",
}


@pytest.mark.parametrize(("text", "problem"), WRONG.items(), ids=range(len(WRONG)))
def test_what_is_wrong_with_a_study_file_is_said_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read_study(text)
    assert str(caught.value).startswith(problem)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


def test_bytes_that_are_no_text_and_repeated_names_are_refused() -> None:
    with pytest.raises(InputError, match=r"my\.toml: is not UTF-8 text"):
        read_study(b"\xff", "my.toml")
    twice = FILE.replace('"load"', '"about"')
    with pytest.raises(InputError, match="two questionnaires have the same name"):
        read_study(twice)
    with pytest.raises(InputError, match="two questions of `about` have the same key"):
        read_study(FILE.replace('"games"', '"age"'))
    long = [{"key": f"q{i}", "text": "?", "kind": "text", "max": 2000} for i in range(5)]
    with pytest.raises(InputError, match="the answers to `f` may have more than 8,000 characters in all"):
        read_study(
            json.dumps(
                {**json.loads(question()), "questionnaires": [{"name": "f", "when": "after", "questions": long}]}
            )
        )


@given(st.text(max_size=300) | st.binary(max_size=300))
def test_whatever_is_sent_is_read_or_refused_in_one_line(text: str | bytes) -> None:
    with pytest.raises(InputError) as caught:
        read_study(text)
    assert str(caught.value).isprintable()


@given(st.text(max_size=300))
def test_whatever_instructions_say_becomes_blocks(text: str) -> None:
    urls = [span.get("url", "https:") for block in blocks(text) for span in block.get("spans", ())]
    assert all(url.startswith(("http:", "https:")) for url in urls)


# Instructions


def test_instructions_are_blocks_without_html_and_with_links_to_web_pages_only() -> None:
    text = (
        "# Hi\n\nA **bold** and *it* <b>x</b> [web](https://a.example/?q=1) [bad](javascript:alert(1))\n\n- one\n- two"
    )
    heading, paragraph, points = blocks(text)
    assert heading == {"kind": "heading", "level": 2, "spans": [{"text": "Hi"}]}
    assert {"text": "bold", "bold": True} in paragraph["spans"]
    assert {"text": "it", "italic": True} in paragraph["spans"]
    assert {"text": "web", "url": "https://a.example/?q=1"} in paragraph["spans"]
    assert "<b>x</b>" in "".join(span["text"] for span in paragraph["spans"])
    assert [span["url"] for span in paragraph["spans"] if "url" in span] == ["https://a.example/?q=1"]
    assert points == {"kind": "list", "ordered": False, "items": [[{"text": "one"}], [{"text": "two"}]]}
    schemes = "".join(f"[x]({scheme}:a) " for scheme in ("data", "file", "ftp", "vbscript", "mailto"))
    assert not any("url" in span for span in blocks(schemes)[0]["spans"])


# Answers


FORM = Questionnaire.model_validate(
    {
        "name": "all",
        "when": "before",
        "questions": [
            {"key": "s", "text": "?", "kind": "scale"},
            {"key": "c", "text": "?", "kind": "choice", "options": ["a", "b"]},
            {"key": "n", "text": "?", "kind": "number", "min": 0, "max": 9},
            {"key": "t", "text": "?", "kind": "text", "max": 5, "required": False},
        ],
    }
)
RIGHT = {"s": 7, "c": "b", "n": 2.5, "t": "<b>"}


@pytest.mark.parametrize(
    "answers",
    [
        None,
        [],
        {},
        RIGHT | {"s": 0},
        RIGHT | {"s": 8},
        RIGHT | {"s": True},
        RIGHT | {"s": 3.0},
        RIGHT | {"s": "3"},
        RIGHT | {"c": "d"},
        RIGHT | {"c": 0},
        RIGHT | {"c": ["a"]},
        RIGHT | {"n": 10},
        RIGHT | {"n": True},
        RIGHT | {"n": float("nan")},
        RIGHT | {"n": 10**400},
        RIGHT | {"n": None},
        RIGHT | {"t": "longer"},
        RIGHT | {"t": "\ud800"},
        RIGHT | {"t": {"$": 1}},
        RIGHT | {"x": 1},
    ],
)
def test_answers_that_were_not_asked_for_are_refused(answers: object) -> None:
    with pytest.raises(ValueError, match=r"^(answers are|`.` needs an answer|the answer to `.` )"):
        FORM.checked(answers)


def test_answers_are_kept_as_given_without_those_left_out() -> None:
    assert FORM.checked(RIGHT) == RIGHT
    assert FORM.checked(RIGHT | {"t": None}) == {key: RIGHT[key] for key in ("s", "c", "n")}


# The way through a study


RATED = dict.fromkeys(ASPECTS, 6)


def filed(**more: Any) -> StudyPlan:
    """The study of FILE with one round, without a limit."""
    found = read_study(FILE).model_dump()
    plain = {"levels": ("hatch",), "facilitators": ("oracle",), "pairs": 1, "tutorial": False, "practice": False}
    plain |= {"seconds": 0.0, "round_minutes": 0.0, "recruiting": ("pid",), "keep_labels": True}
    return StudyPlan.model_validate(found | plain | more)


async def at(pages: list[Page], stage: str) -> None:
    await settle(lambda: all(page.stage == stage and page.last("page").get("stage") == stage for page in pages))


async def begun(lobby: Lobby, given: StudyPlan) -> tuple[Study, list[Page]]:
    """A study whose pair has begun its first round."""
    study = lobby.create(given)
    pages = people(lobby, study)
    for page in pages:
        if page.stage == "instructions":
            page.do("instructed")
        if page.stage == "form":
            page.do("answer", form="about", answers={"age": 30})
    await at(pages, "ready")
    for page in pages:
        page.do("ready")
    await at(pages, "game")
    await settle(lambda: all(page.seen >= 0 for page in pages))
    return study, pages


@pytest.mark.slow
def test_questionnaires_are_answered_before_after_each_round_and_at_the_end(tmp_path: Path) -> None:
    async def answer_all() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(filed())
            pages = people(lobby, study)
            for page in pages:
                await at([page], "instructions")
                assert page.last("page")["data"]["blocks"] == blocks("# Welcome")
                page.do("instructed")
                await at([page], "form")
                data = page.last("page")["data"]
                assert (data["form"], data["title"], data["trials"]) == ("about", "About you", 0)
                assert [one["key"] for one in data["questions"]] == ["age", "games"]
                with pytest.raises(RefusedError, match=r"^the answer to `age` is a number from 18 to 120$"):
                    page.do("answer", form="about", answers={"age": 12})
                with pytest.raises(RefusedError, match="not asked now"):
                    page.do("answer", form="end", answers={"why": "x"})
                page.do("answer", form="about", answers={"age": 30, "games": "often"})
            await at(pages, "ready")
            for page in pages:
                page.do("ready")
            await at(pages, "game")
            await settle(lambda: all(page.seen >= 0 for page in pages))
            await perform(pages, script("hatch"))
            await at(pages, "questions")
            for page in pages:
                page.do("rate", ratings=RATED, comment="")
            await at(pages, "form")
            for page in pages:
                assert page.last("page")["data"]["form"] == "load"
                assert page.last("page")["data"]["trial"] == 1
                page.do("answer", form="load", answers={"hard": 0})
            await at(pages, "reveal")
            for page in pages:
                page.do("next")
            await at(pages, "form")
            pages[0].do("answer", form="end", answers={"why": "=1+1"})
            await at(pages[:1], "thanks")
            assert pages[1].stage == "form"
            pages[1].do("leave")
            await at(pages, "thanks")
            assert [page.one.finished for page in pages] == ["finished", "left"]
            assert all(study.pairs[1].people), "nobody is replaced after the last round"
            name, before = study.id, dict(study.answers)
        with opened(tmp_path / "j.sqlite") as lobby:
            assert lobby.studies[name].answers == before
            assert before["P01", "load", 0] == {"hard": 0}
            assert before["P01", "about", None] == {"age": 30, "games": "often"}

    running(answer_all())


def test_who_is_forgotten_loses_answers_and_labels_here_and_in_the_log(tmp_path: Path) -> None:
    async def forget() -> None:
        path = tmp_path / "j.sqlite"
        with opened(path) as lobby:
            study = lobby.create(filed(instructions="", recruiting=("a", "b")))
            guest = lobby.join(study, "open", "Lovelace", labels={"a": "Lovelace", "b": "session"})
            page = Page(lobby, guest)
            page.do("answer", form="about", answers={"age": 44, "games": "never"})
            assert guest.labels == {"a": "Lovelace", "b": "session"}
            lobby.forget(study, guest).result(10)
            assert (guest.label, guest.labels, study.answers) == ("", {}, {(guest.name, "about", None): {}})
            name = study.id
        with opened(path) as lobby:
            study = lobby.studies[name]
            assert study.answers == {("Q01", "about", None): {}}
            assert study.people["Q01"].labels == {}
            assert study.people["Q01"].label == ""
        with closing(sqlite3.connect(path)) as base:
            kept = " ".join(
                body for (body,) in base.execute("select body from events where kind in ('joined', 'answered')")
            )
        assert not any(word in kept for word in ("Lovelace", "session", "never", "age"))

    running(forget())


def test_labels_are_kept_only_if_the_plan_says_so(tmp_path: Path) -> None:
    async def join() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(filed(keep_labels=False))
            guest = lobby.join(study, "open", "Ada", labels={"pid": "Ada"})
            assert (guest.label, guest.labels) == ("", {})
            assert "Ada" not in json.dumps([event.body for event in lobby.event_log.events(study.id)])

    running(join())


# Endings of rounds


def test_a_round_ends_once_all_have_given_up(tmp_path: Path) -> None:
    async def give_up() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study, (ana, ben) = await begun(lobby, filed(give_up=True, ratings=False, questionnaires=()))
            assert ana.last("page")["data"]["hopeless"] is True
            game = lobby.game(lobby.place(ana.one))
            assert game is not None
            ana.do("give up")
            assert game.gave_up == {stages.seat(game, ana.one)}
            assert not game.ended
            await settle(lambda: "We cannot do this" in ben.last("note").get("text", ""))
            with pytest.raises(RefusedError):
                ana.do("give up")
            ben.do("give up")
            await at([ana, ben], "reveal")
            assert lobby.over[study.pairs[1].rooms[0]].ended == "given up"
            assert ana.last("page")["data"]["text"] == stages.ENDINGS["given up"]
            room, name = study.pairs[1].rooms[0], study.id
        with opened(tmp_path / "j.sqlite") as lobby:
            found = lobby.game(room)
            assert found is not None
            assert (found.ended, found.gave_up) == ("given up", {"Ana", "Ben"})
            assert lobby.stage(lobby.studies[name].people["P01"]) == "reveal"

    running(give_up())


def test_who_gave_up_need_not_wait_for_a_partner_that_has_left(tmp_path: Path) -> None:
    async def leave() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            _, (ana, ben) = await begun(lobby, filed(give_up=True, ratings=False, questionnaires=()))
            game = lobby.game(lobby.place(ana.one))
            assert game is not None
            ana.do("give up")
            ben.do("leave")
            await at([ana], "reveal")
            assert game.ended == "given up"

    running(leave())


def test_nobody_can_give_up_unless_the_plan_lets_them(tmp_path: Path) -> None:
    async def refuse() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            _, (ana, _) = await begun(lobby, filed())
            assert ana.last("page")["data"]["hopeless"] is False
            with pytest.raises(RefusedError, match="not possible"):
                ana.do("give up")

    running(refuse())


def test_the_time_of_a_round_stands_still_in_pauses_and_while_the_server_is_down(tmp_path: Path) -> None:
    async def play() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study, _ = await begun(lobby, filed(round_minutes=2, questionnaires=()))
            first, *_ = lobby.event_log.events(study.pairs[1].rooms[0])
            lived = [("gave_up", 10), ("away", 20), ("thought", 50), ("back", 80), ("resumed", 300), ("gave_up", 310)]
            seconds_left = []
            game = lobby.begun(first)
            for kind, seconds in lived:
                body = {"agent": "Ana", "thought": {"t": 0, "row": {"action": ""}, "beliefs": {}}}
                game.apply(first._replace(kind=kind, body=body, at=first.at + seconds))
                seconds_left.append(game.seconds_left(first.at + seconds))
            assert seconds_left == [110, 100, 100, 100, 100, 90]
            assert lobby.begun(first).seconds_left(first.at + 300) == 0.0

    async def resume() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            (room,) = lobby.rooms
            await settle(lambda: "resumed" in [event.kind for event in lobby.event_log.events(room)])

    running(play())
    running(resume())


@pytest.mark.parametrize("partner", ["person", "simulated"])
def test_a_round_ends_when_its_time_is_up(partner: str, tmp_path: Path) -> None:
    async def wait() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            given = filed(round_minutes=0.04, partner=partner, ratings=False, questionnaires=())
            study, pages = await begun(lobby, given)
            assert pages[0].last("frame")["left"] <= 2
            await at(pages, "reveal")
            assert pages[0].last("page")["data"]["text"] == stages.ENDINGS["time limit"]
            events = [event.kind for event in lobby.event_log.events(study.pairs[1].rooms[0])]
            assert events.count("ended") == 1
            assert events[-1] != "step"

    running(wait())


def test_who_was_away_is_told_so_and_for_how_long_others_wait(tmp_path: Path) -> None:
    async def go_away() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            _, (ana, ben) = await begun(lobby, filed(grace=0.2))
            ana.close()
            await settle(lambda: ana.one.finished)
            back = Page(lobby, ana.one)
            await at([back], "thanks")
            text = back.last("page")["data"]["text"]
            assert text.startswith("You were away for longer than the 0.2 seconds that others wait")
            ben.do("leave")
            await at([ben], "thanks")
            assert ben.last("page")["data"]["text"] == stages.FAREWELLS["left"]

    running(go_away())


# Over the network


def sent(server: Server, path: str, raw: bytes, **headers: str) -> tuple[int, Any]:
    """What the server answers to bytes that need not be JSON: the status and the content."""
    given = {"origin": server.address, "content-type": "text/plain", "cookie": server.cookie} | headers
    try:
        with urlopen(Request(server.address + path, raw, given), timeout=20) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.mark.slow
def test_a_study_file_is_sent_becomes_a_study_and_recruits(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert sent(server, "/api/studies/read", FILE.encode(), cookie="")[0] == 401
        status, found = sent(server, "/api/studies/read?name=mine.toml", FILE.encode())
        assert (status, StudyPlan.model_validate(found)) == (200, read_study(FILE))
        status, refused = sent(server, "/api/studies/read?name=mine.toml", b'levls = ["hatch"]')
        assert (status, refused["detail"]) == (422, "mine.toml: unknown key `levls` (did you mean levels?)")
        status, refused = sent(server, "/api/studies/read", FILE.replace('"hatch"', '"hutch"').encode())
        assert (status, refused["detail"]) == (422, "study.toml: there is no level `hutch`")
        assert sent(server, "/api/studies/read", b"#" * (LARGEST + 1))[0] == 413
        study = server.study(**found | {"keep_labels": True})
        pages = server.ask(f"/api/studies/{study}/preview")["pages"]
        assert next(page["data"]["title"] for page in pages if page["stage"] == "form") == "About you"
        invitation = server.ask(f"/api/studies/{study}")["invitation"]
        assert server.ask(f"/api{invitation}")["label"] == "PROLIFIC_PID"
        assert server.status(f"{invitation}?PROLIFIC_PID=a&STUDY_ID=s&other=x", {}) == 200
        assert server.status(f"{invitation}?PROLIFIC_PID=a&STUDY_ID=t", {}) == 409
        assert server.status(f"{invitation}?PROLIFIC_PID=b&STUDY_ID=s", {}) == 200
        with closing(sqlite3.connect(server.store)) as base:
            joined = [json.loads(body) for (body,) in base.execute("select body from events where kind = 'joined'")]
        kept = [body["labels"] for body in joined if body["kind"] == "open"]
        assert sorted(kept, key=str) == [{"PROLIFIC_PID": name, "STUDY_ID": "s"} for name in "ab"]


# What participants are sent


@pytest.mark.slow
def test_no_page_of_a_study_names_its_level(tmp_path: Path) -> None:
    async def play() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            _, pages = await begun(lobby, filed(levels=("far-plate",)))
            await perform(pages, script("far-plate"))
            await at(pages, "questions")
            told = json.dumps([page.told for page in pages])
            assert "far-plate" not in told
            assert '"level"' not in told

    running(play())


@pytest.mark.parametrize(
    "name", ["hatch", next(name for name, one in LEVELS.items() if stages.world_of(one)[0] == "d")]
)
def test_a_preview_has_every_stage_and_nothing_of_it_is_kept(name: str, tmp_path: Path) -> None:
    async def preview() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            given = plan(
                levels=(name,),
                facilitators=("oracle",),
                consent="Do you agree?",
                tutorial=True,
                practice=True,
                round_minutes=5.0,
                hand_off="https://a.example/?c={code}",
                instructions="Hello",
                questionnaires=read_study(FILE).questionnaires,
            )
            study = lobby.create(given)
            lobby.event_log.written().result(10)
            before = [event.seq for event in lobby.event_log.events(study.id)]
            pages = json.loads(json.dumps(stages.preview(study)))
            assert {stage for stage, _ in pages} == {"form", "game", "reveal", *stages.PLAIN}
            assert [data["form"] for stage, data in pages if stage == "form"] == ["about", "load", "end"]
            farewells = [data for stage, data in pages if stage == "thanks"]
            assert len(farewells) == len(stages.FAREWELLS) - 1
            assert {data["url"] for data in farewells} == {f"https://a.example/?c={stages.CODE}"}
            assert all("{" not in data["text"] for data in farewells)
            ends = {data["text"] for stage, data in pages if stage == "reveal"}
            assert ends == {stages.ENDINGS[end] for end in ("time", "given up", "time limit")}
            assert name not in json.dumps(pages)
            assert study.pairs == {}
            lobby.event_log.written().result(10)
            assert [event.seq for event in lobby.event_log.events(study.id)] == before

    running(preview())


def test_old_plans_are_still_read(tmp_path: Path) -> None:
    async def old() -> None:
        new = {"instructions", "questionnaires", "recruiting", "round_minutes", "give_up"}
        old = {key: value for key, value in plan().model_dump(mode="json").items() if key not in new}
        with opened(tmp_path / "j.sqlite") as lobby:
            study = Study.created(
                lobby.event_log.append("old", "created", {"plan": old, "kind": "study", "invitation": "x"})[0], LEVELS
            )
            assert study.plan.recruiting == ("pid",)
            assert study.plan.questionnaires == ()

    running(old())
