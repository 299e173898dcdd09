"""What is shown to who conducts a study."""

from __future__ import annotations

import time
from typing import Any

from otherminds.web import stages
from otherminds.web.lobby import Lobby
from otherminds.web.plans import FACILITATORS, Plan
from otherminds.web.studies import TRYING, Pair, Participant, Study, moment

NEWEST = 30
Data = dict[str, Any]


def line(hall: Lobby, study: Study) -> Data:
    """A study in one line."""
    real = [pair for number, pair in study.pairs.items() if number <= TRYING]
    return {
        "id": study.id,
        "title": study.plan.title,
        "made": moment(study.made),
        "state": "open" if study.open else "closed",
        "pairs": study.plan.pairs,
        "finished": sum(map(study.done, real)),
        "running": sum(not study.done(pair) for pair in real),
    }


def offers(hall: Lobby, plan: Plan) -> Data:
    """What a new study can be made of, beginning with the usual plan."""
    levels = [level for level in hall.levels.values() if len(level.world.agents) == 2]
    return {
        "levels": [{"name": level.name, "kind": level.kind, "world": stages.world_of(level)} for level in levels],
        "facilitators": [
            *({"name": name, "title": title} for name, title in FACILITATORS.items()),
            *({"name": name, "title": f"Language model: {name.removeprefix('lm:')}"} for name in hall.models),
        ],
        "plan": plan.model_dump(mode="json"),
    }


def overview(hall: Lobby, study: Study) -> Data:
    """Where a study stands: its links, pairs and rounds, and what has happened last."""
    return {
        **line(hall, study),
        "plan": study.plan.model_dump(mode="json"),
        "invitation": f"/join/{study.invitation}",
        "links": [_link(hall, one) for one in study.people.values()],
        "pairs": [_pair(hall, study, pair) for pair in study.pairs.values()],
        "planned": study.plan.pairs,
        "trials": [
            {
                "pair": pair.number,
                "trial": i + 1,
                "level": trial.level,
                "facilitator": trial.facilitator,
                "codename": study.codename(trial.facilitator),
            }
            for pair in study.pairs.values()
            for i, trial in enumerate(pair.trials)
        ],
        "events": [{"at": moment(at), "text": text} for at, text in sorted(study.log)[: -NEWEST - 1 : -1]],
    }


def _link(hall: Lobby, one: Participant) -> Data:
    return {
        "id": one.name,
        "link": f"/p/{one.token}",
        "kind": one.kind,
        "stage": one.finished or hall.stage(one),
        "since": round(time.time() - one.since, 1),
        "pair": one.pair or None,
        "here": one.id in hall.lines,
        "label": one.label,
    }


def _pair(hall: Lobby, study: Study, pair: Pair) -> Data:
    room = pair.rooms[-1] if pair.rooms else ""
    game = hall.game(room)
    running = bool(game and not game.ended)
    return {
        "pair": pair.number,
        "people": pair.people,
        "trial": len(pair.rooms),
        "trials": len(pair.trials),
        "room": room if running else None,
        "state": "running" if running else "over" if study.done(pair) else "between rounds",
        "t": game.t if game else 0,
    }


def room(hall: Lobby, study: Study, name: str) -> Any:
    """A round that is being played."""
    return stages.watched(study, hall.rooms[name].game)
