"""The data of a study as tables, without pairs that only tried it out; `codebook.toml` says what their columns mean.

The rows of decisions are like those of simulated episodes, so that one analysis fits both.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from otherminds.evaluation import tabular
from otherminds.evaluation.assistance import FACILITATOR
from otherminds.evaluation.store import first_columns
from otherminds.files.toml import packaged
from otherminds.papers.protom.episodes import BEFORE_FIRST_STEP, latest_status
from otherminds.web import stages
from otherminds.web.event_log import LogEvent
from otherminds.web.games import GameMessage, LiveGame
from otherminds.web.lobby import Lobby
from otherminds.web.studies import ASPECTS, TRYING, Participant, ParticipantPair, Study
from otherminds.web.thinking import GOT_IT

NOBODY, BUSY = "there is no facilitator", "it was still thinking"
FATES = ("completed", "ignored", "impossible")  # of messages
Row = dict[str, Any]
Table = Literal["rounds", "messages", "answers", "events", "rows"]
WRITERS = {"jsonl": tabular.write_jsonl, "csv": tabular.write_csv, "parquet": tabular.write_parquet}
TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
TYPES["zip"] = "application/zip"
CODEBOOK = packaged("otherminds.web", "codebook.toml")
ABOUT_COLUMNS = ("name", "type", "unit", "meaning", "values")
SECRET = ("token", "invitation", "visit")  # parts of events that would let others take a participant's place
IN_ROWS = ("prices", "beliefs")  # parts of thoughts that would make events too long, and are in the rows


def rows(lobby: Lobby, study: Study) -> list[Row]:
    """The rows of all finished rounds, pair by pair, without practice and trial runs."""
    return [row for pair, i, game in _played(lobby, study) for row in trial(study, pair, i, game)]


def _played(lobby: Lobby, study: Study) -> Iterator[tuple[ParticipantPair, int, LiveGame]]:
    """All finished rounds: the pair, the index of the round, and the game."""
    for number, pair in sorted(study.pairs.items()):
        for i, room in enumerate(pair.rooms if number <= TRYING else ()):
            game = lobby.game(room)
            if game and game.ended and game.t:
                yield pair, i, game


def trial(study: Study, pair: ParticipantPair, index: int, game: LiveGame) -> list[Row]:
    """The rows of one round: for each step one for each agent and one for the facilitator. The last has the outcome."""
    planned_trial = pair.trials[index]
    about = {"pair": pair.number, "trial": index + 1, "level": planned_trial.level}
    episode = f"{pair.number:02}-{index + 1} {planned_trial.level}"
    key = (game.setup.level.kind or "unclassified", planned_trial.facilitator, episode)
    base = first_columns("study", key, planned_trial.seed) | about
    people = {agent: participant.name for agent, participant in _people(study, game).items()}
    steps = (row for t in range(game.t) for row in _step(game, t))
    trial_rows = [base | row | ({"person": people[row["agent"]]} if row["agent"] in people else {}) for row in steps]
    done = game.ended == "finished"
    outcomes = _outcomes(game)
    trial_rows[-1] |= {
        "success": done,
        "length": game.t if done else game.setup.level.horizon,
        "ended": game.ended,
        "by": {agent: "person" if agent in game.people else "simulated" for agent in game.world.agents},
        **({"outcome": latest_status(outcomes.values()), "outcomes": outcomes} if outcomes else {}),
        **_answers(study, index, game),
    }
    return trial_rows


def _people(study: Study, game: LiveGame) -> dict[str, Participant]:
    """The participants of a game by agent, including those that a simulated person has replaced."""
    seats = {**game.replaced, **game.people}
    return {agent: study.people[_name(seats[agent])] for agent in game.world.agents if seats.get(agent)}


def _name(participant_id: str) -> str:
    """A participant's name, from their id in the event log."""
    return participant_id.rpartition("/")[2]


def _step(game: LiveGame, t: int) -> Iterator[Row]:
    """The rows of a step: one for each agent, and one for the facilitator's decision before it."""
    step, thought, later = game.steps[t], game.thoughts.get(t), game.thoughts.get(t + 1)
    vocabulary = game.board.scene.vocabulary
    joint = {agent: vocabulary[word] for agent, word in step.joint.items()}
    rewards = game.world.reward(game.states[t], joint, game.states[t + 1])
    for agent in game.world.agents:
        yield {
            "t": t,
            "agent": agent,
            "action": step.joint[agent],
            "reward": rewards[agent],
            "goal": stages.wants(game, agent),
            "at": game.times[t],
            "chosen": agent in game.choosers[t] or agent not in game.people,
            **(thought.beliefs.get(agent, {}) if thought else {}),
            **({"surprise": later.surprise[agent]} if later and agent in later.surprise else {}),
        }
    why = NOBODY if not game.facilitated else BEFORE_FIRST_STEP if t == 0 else BUSY
    row = dict(thought.row) if thought else {"action": "", "why": why, **({} if why == BUSY else {"ms": 0.0})}
    replies = [message.reply for message in game.messages if message.t == t and message.reply]
    yield {"t": t, "agent": FACILITATOR, **row, **({"reply": replies[0]} if replies else {})}


def _outcomes(game: LiveGame) -> dict[str, Any]:
    """The new statuses of messages after the last step; a person may have ignored one when the facilitator was done."""
    outcomes = dict(game.thoughts[game.t].row.get("statuses", {})) if game.t in game.thoughts else {}
    for message in game.messages:
        thoughts = (thought.row for t, thought in game.thoughts.items() if message.t < t < game.t)
        noted = {row.get("statuses", {}).get(message.address, "running") for row in thoughts}
        if message.status == "ignored" and noted <= {"running"}:
            outcomes[message.address] = "ignored"
    return outcomes


def _answers(study: Study, index: int, game: LiveGame) -> Row:
    """The players' ratings of and comments on a round, by agent."""
    given = {agent: study.ratings.get((person.name, index)) for agent, person in _people(study, game).items()}
    ratings = {agent: dict(answer["ratings"]) for agent, answer in given.items() if answer}
    comments = {agent: answer["comment"] for agent, answer in given.items() if answer and answer["comment"]}
    return {column: by_agent for column, by_agent in (("ratings", ratings), ("comments", comments)) if by_agent}


# The other tables


def rounds(lobby: Lobby, study: Study) -> list[Row]:
    """One row for each person in each finished round."""
    times = {(event.kind, event.body.get("name")): _iso(event.at) for event in lobby.event_log.events(study.id)}
    table = []
    for pair, i, game in _played(lobby, study):
        in_time, followed = game.decided
        common = {
            **_round(study, pair, i, game),
            "class": game.setup.level.kind or "unclassified",
            "codename": study.codename(game.setup.facilitator),
            "success": game.ended == "finished",
            "steps": game.t,
            "horizon": game.setup.level.horizon,
            "ended": game.ended,
            "seconds": round(game.times[-1] - game.begun_at, 3),
            "messages_to_both": len(_sent(game)),
            "decided_in_time": in_time / followed if followed else None,
        }
        for agent, person in _people(study, game).items():
            about = {f"{kind}_at": times.get((kind, person.name)) for kind in ("consented", "finished")}
            about |= {"person": person.name, "label": person.label or None}
            table.append({**common, **about, **_own(study, i, game, agent, person)})
    return _tidy("rounds", table)


def _round(study: Study, pair: ParticipantPair, index: int, game: LiveGame) -> Row:
    """The columns that say which round it is."""
    number = {"study": study.id, "pair": pair.number, "round": index + 1}
    return {**number, "level": pair.trials[index].level, "facilitator": game.setup.facilitator}


def _sent(game: LiveGame) -> list[GameMessage]:
    """The messages that somebody could still follow."""
    return [message for message in game.messages if message.t < game.t]


def _own(study: Study, index: int, game: LiveGame, agent: str, person: Participant) -> Row:
    """What one person did in a round, was told, and thought of it."""
    messages = [message for message in _sent(game) if message.to == agent]
    answer = study.ratings.get((person.name, index), {"ratings": {}, "comment": ""})
    return {
        "agent": agent,
        "partner": "person" if {*game.people} - {agent} else "simulated",
        "replaced": agent in game.replaced,
        "gave_up": agent in game.gave_up,
        "goal": stages.wants(game, agent),
        "reached": stages.reached(game, agent),
        "messages": len(messages),
        "got_it": sum(message.reply == GOT_IT for message in messages),
        **{fate: sum(message.status == fate for message in messages) for fate in FATES},
        **{aspect: answer["ratings"].get(aspect) for aspect in ASPECTS},
        "comment": answer["comment"] or None,
    }


def messages(lobby: Lobby, study: Study) -> list[Row]:
    """One row for each message in each finished round."""
    table = []
    for pair, i, game in _played(lobby, study):
        people = _people(study, game)
        history = lobby.event_log.events(pair.rooms[i])
        took = {event.body["advice"]: event.body.get("ms") for event in history if event.kind == "heard"}
        for number, message in enumerate(_sent(game)):
            told = {"agent": message.to, "person": people[message.to].name if message.to in people else None}
            said = {"step": message.t, "text": message.text, "why": message.why, "saves": message.saves}
            became = {"status": message.status, "reply": message.reply or None, "reply_ms": took.get(number)}
            table.append({**_round(study, pair, i, game), **told, **said, **became})
    return _tidy("messages", table)


def answers(lobby: Lobby, study: Study) -> list[Row]:
    """One row for each answer: ratings of and comments on rounds, and questionnaires."""
    given: list[tuple[str, str, int | None, Row]] = []
    for (name, index), body in list(study.ratings.items()):
        given.append((name, "ratings", index, {**body["ratings"], "comment": body["comment"]}))
    given += [(*key, by_question) for key, by_question in list(study.answers.items())]
    table = []
    for name, form, trial_index, by_question in given:
        person, number = study.people[name], None if trial_index is None else trial_index + 1
        about = {"study": study.id, "pair": person.pair or None, "round": number, "person": name, "form": form}
        asked = by_question.items() if person.kind != "try" else ()
        table += [{**about, "question": key, "answer": answer} for key, answer in asked if answer != ""]
    return _tidy("answers", table)


def events(lobby: Lobby, study: Study) -> list[Row]:
    """One row for each event of the study and its rooms, in order of time, without keys and without trial runs."""
    people = {person.name: person for person in list(study.people.values()) if person.kind != "try"}
    pairs = sorted(study.pairs.items())
    numbers = {room: (n, i) for n, pair in pairs for i, room in enumerate(pair.rooms, 1) if n <= TRYING}
    table = []
    for stream in (study.id, *numbers, *(person.practice for person in people.values() if person.practice)):
        history = lobby.event_log.events(stream)
        seats = history[0].body.get("people", {}) if history else {}  # empty until the room is on disk
        for event in history:
            acting = event.actor or seats.get(event.body.get("agent")) or event.body.get("name") or ""
            pair, number = numbers.get(stream, (event.body.get("pair"), None))
            if (acting and _name(acting) not in people) or (pair or 0) > TRYING:
                continue
            place = {"room": None if stream == study.id else stream, "pair": pair, "round": number}
            about = {"at": _iso(event.at), "study": study.id, **place, "person": _name(acting) or None}
            table.append({**about, "kind": event.kind, "detail": _detail(event)})
    return _tidy("events", sorted(table, key=lambda row: str(row["at"])))


def _detail(event: LogEvent) -> Row:
    """What an event says, without keys, and without what other files have at length."""
    body = {key: value for key, value in event.body.items() if key not in (*SECRET, "plan")}
    if event.kind == "thought":
        thought = {**body["thought"], "row": {k: v for k, v in body["thought"]["row"].items() if k not in IN_ROWS}}
        body["thought"] = {key: value for key, value in thought.items() if key not in IN_ROWS}
    return body


def _iso(at: float) -> str:
    """A Unix time in ISO 8601 format, UTC, to the millisecond."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _tidy(name: Table, table: list[Row]) -> list[Row]:
    """The rows with their columns in the order of the codebook, without missing values."""
    return [{column: row[column] for column in CODEBOOK[name] if row[column] is not None} for row in table]


# Files

TABLES: Mapping[Table, Callable[[Lobby, Study], list[Row]]]
TABLES = {"rounds": rounds, "messages": messages, "answers": answers, "events": events, "rows": rows}


def exported(study_rows: list[Row], form: str) -> bytes:
    """The rows as the bytes of a file. Raises InputError if there are none, or Parquet is not installed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"rows.{form}"
        WRITERS[form](path, study_rows)
        return path.read_bytes()


def exported_table(lobby: Lobby, study: Study, name: Table, form: str) -> bytes:
    """A table as the bytes of a file. Raises InputError if Parquet is not installed."""
    table = TABLES[name](lobby, study)
    return _csv(table, CODEBOOK[name]) if form == "csv" and name != "rows" else exported(table, form)


def codebook(name: Table) -> bytes:
    """What the columns of a table mean, as a CSV file."""
    return _csv([{"name": column, **about} for column, about in CODEBOOK[name].items()], ABOUT_COLUMNS)


def _csv(table: list[Row], columns: Iterable[str]) -> bytes:
    """A CSV file with all of these columns, also those without a value: a first row with all of them is cut out."""
    head, _, cells = exported([dict.fromkeys(columns, ""), *table], "csv").split(b"\r\n", 2)
    return head + b"\r\n" + cells


def archive(lobby: Lobby, study: Study) -> bytes:
    """A ZIP file with all tables and their codebooks, the study's plan, and how to read them."""
    readme, file = CODEBOOK["readme"], io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("README.txt", readme["text"].format(**readme))
        packed.writestr("plan.json", json.dumps(study.plan.model_dump(mode="json"), ensure_ascii=False, indent=2))
        for name in TABLES:
            packed.writestr(f"{name}.csv", exported_table(lobby, study, name, "csv"))
            packed.writestr(f"{name}.codebook.csv", codebook(name))
    return file.getvalue()
