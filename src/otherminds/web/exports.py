"""What a study has found, as rows like those of simulated episodes, so that one analysis fits both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from otherminds.evaluation import tabular
from otherminds.evaluation.assistance import FACILITATOR
from otherminds.papers.protom.episodes import BEFORE_FIRST_STEP
from otherminds.web import stages
from otherminds.web.games import Game
from otherminds.web.lobby import Lobby
from otherminds.web.studies import TRYING, Pair, Study

NOBODY, BUSY = "there is no facilitator", "it was still thinking"
Row = dict[str, Any]
WRITERS = {"jsonl": tabular.write_jsonl, "csv": tabular.write_csv, "parquet": tabular.write_parquet}
TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def rows(hall: Lobby, study: Study) -> list[Row]:
    """The rows of all rounds that are over, pair by pair; practice and trying out are left out."""
    found = []
    for number, pair in sorted(study.pairs.items()):
        for i, room in enumerate(pair.rooms if number <= TRYING else ()):
            game = hall.game(room)
            if game and game.ended and game.t:
                found += trial(study, pair, i, game)
    return found


def trial(study: Study, pair: Pair, index: int, game: Game) -> list[Row]:
    """The rows of one round."""
    played = pair.trials[index]
    base = {
        "schema": 1,
        "experiment": "study",
        "condition": game.setup.level.kind or "unclassified",
        "subject": played.facilitator,
        "seed": played.seed,
        "episode": f"{pair.number:02}-{index + 1} {played.level}",
        "pair": pair.number,
        "trial": index + 1,
        "level": played.level,
    }
    told = [{**base, **row} for t in range(game.t) for row in _step(game, t)]
    done = game.ended == "finished"
    last = game.thoughts.get(game.t)
    outcome = last.row.get("status") if last else None
    told[-1] |= {
        "success": done,
        "length": game.t if done else game.setup.horizon,
        "ended": game.ended,
        "by": {agent: "person" if agent in game.people else "simulated" for agent in game.world.agents},
        **({"outcome": outcome} if outcome else {}),
        **_answers(study, index, game),
    }
    return told


def _step(game: Game, t: int) -> Iterator[Row]:
    """What everybody did in a step, and what the facilitator had to say before it."""
    beat, thought = game.beats[t], game.thoughts.get(t)
    vocabulary = game.board.scene.vocabulary
    joint = {agent: vocabulary[word] for agent, word in beat.joint.items()}
    rewards = game.world.reward(game.states[t], joint, game.states[t + 1])
    for agent in game.world.agents:
        deed = {
            "agent": agent,
            "action": beat.joint[agent],
            "reward": rewards[agent],
            "goal": stages.wants(game, agent),
        }
        when = {"at": game.times[t], "chosen": agent in game.chosen[t] or agent not in game.people}
        yield {"t": t, **deed, **when, **(thought.beliefs.get(agent, {}) if thought else {})}
    why = NOBODY if not game.facilitated else BEFORE_FIRST_STEP if t == 0 else BUSY
    row = dict(thought.row) if thought else {"action": "", "why": why, **({} if why == BUSY else {"ms": 0.0})}
    replies = [said.reply for said in game.said if said.t == t and said.reply]
    yield {"t": t, "agent": FACILITATOR, **row, **({"reply": replies[0]} if replies else {})}


def _answers(study: Study, index: int, game: Game) -> Row:
    """How those who played have answered the questions about a round."""
    seats = {who: agent for agent, who in {**game.replaced, **game.people}.items()}
    ratings, comments = {}, {}
    for (name, at), answer in study.ratings.items():
        agent = seats.get(study.people[name].id)
        if at == index and agent:
            ratings[agent] = dict(answer["ratings"])
            if answer["comment"]:
                comments[agent] = answer["comment"]
    return {**({"ratings": ratings} if ratings else {}), **({"comments": comments} if comments else {})}


def exported(found: list[Row], form: str) -> bytes:
    """The rows as a file. Raises InputError if there is nothing, or if Parquet is wanted and not installed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"rows.{form}"
        WRITERS[form](path, found)
        return path.read_bytes()
