"""The data of participants' pages at each stage of a study, with the tutorial."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from otherminds.files.toml import packaged
from otherminds.observer import surprise_in_words
from otherminds.papers.protom.facilitator import SURE
from otherminds.web.board import board, goal, options, person, words
from otherminds.web.games import NAMES, LiveGame
from otherminds.web.markdown import blocks
from otherminds.web.questionnaires import Questionnaire, When
from otherminds.web.studies import ASPECTS, WORDS, Participant, ParticipantPair, Study
from otherminds.web.thinking import FacilitatorThought, GameSetup, alone
from otherminds.worlds.canvas import svg_look
from otherminds.worlds.overcooked.level_files import KitchenLevel
from otherminds.worlds.sprites import CELL

ENDINGS, FAREWELLS, SCALE, HOPELESS = WORDS["endings"], WORDS["farewells"], WORDS["scale"], WORDS["hopeless"]
LESSONS = packaged("otherminds.web", "tutorial.toml")
NOTABLE = 0.1  # steps that a message must promise to save to be shown among those not said; chosen
UNSAID = 3  # messages that the facilitator kept to itself and a reveal shows; chosen
Data = dict[str, Any]


def world_of(level: Any) -> str:
    """The name of a level's world."""
    return "overcooked" if isinstance(level, KitchenLevel) else "doors-keys-gems"


def where(participant: Participant, game: LiveGame | None) -> str:
    """The stage of a participant; `game` is their current or latest game."""
    if participant.declined or participant.finished:
        return "closed" if participant.declined else "thanks"
    if not participant.consented:
        return "consent"
    if not participant.instructed:
        return "instructions"
    if not participant.taught:
        return "tutorial"
    if game is not None and not game.ended:
        return "game"
    if game is not None and asked(participant, game):  # before the reveal, which would colour the answers
        return "questions"
    if asked_form(participant, game)[0]:
        return "form"
    if game is not None and not participant.reveal_done:
        return "reveal"
    if not participant.practised or (participant.pair and game is None):
        return "ready"
    return "reveal" if participant.pair else "lobby"


def asked(participant: Participant, game: LiveGame) -> bool:
    """Whether the participant still has questions to answer about a round that is over."""
    study = participant.study
    has_questions = study.plan.ratings and game.facilitated and study.kind == "study" and not game.practice
    return has_questions and (participant.name, participant.trial) not in study.ratings


def has_played(participant: Participant) -> bool:
    """Whether a participant has played all rounds, so that nobody waits for them any more."""
    pair = participant.study.pairs.get(participant.pair)
    return pair is not None and participant.trial >= len(pair.trials)


def asked_form(participant: Participant, game: LiveGame | None) -> tuple[Questionnaire | None, int | None]:
    """The questionnaire that a participant is to answer now, if there is one, and the round that it is about."""
    study = participant.study
    if not participant.pair:
        return study.pending(participant, "before"), None
    if has_played(participant):
        return study.pending(participant, "after"), None
    if game is not None and game.ended:
        return study.pending(participant, "after_round", participant.trial), participant.trial
    return None, None


def page(participant: Participant, game: LiveGame | None) -> tuple[str, Data]:
    """The stage of a participant, and the data of its page."""
    stage, data = where(participant, game), Data()
    form, _ = asked_form(participant, game)
    match stage:
        case "game" if game:
            data = playing(participant, game)
        case "reveal" if game:
            data = reveal(participant, game)
        case "form" if form:
            data = form_page(participant, form)
        case _ if stage in PLAIN:
            data = PLAIN[stage](participant)
    return stage, data


def agreement(participant: Participant) -> Data:
    """What a participant is asked to agree to."""
    plan = participant.study.plan
    return {"title": plan.title, "text": plan.consent, "minutes": plan.announced}


def instructions(participant: Participant) -> Data:
    """The researcher's instructions."""
    return {"title": participant.study.plan.title, "blocks": blocks(participant.study.plan.instructions)}


def waiting_room(participant: Participant) -> Data:
    """How long a participant has waited for a partner."""
    seconds = time.time() - participant.waiting if participant.waiting else 0.0
    return {"waiting": round(seconds, 1), "text": "Waiting for another person."}


def farewell(participant: Participant) -> Data:
    """Why it is over, with the completion code and where to go; who was dropped is told what happened."""
    study, code = participant.study, participant.code
    reason = f"{participant.finished} {participant.cause}".strip()
    text = FAREWELLS.get(reason, FAREWELLS["finished"])
    text = text.format(grace=f"{study.plan.grace:g}", minutes=f"{study.plan.lobby_minutes:g}")
    url = study.plan.hand_off.replace("{code}", code) or None
    return {"code": code or None, "url": url, "text": text, "solo": study.kind == "solo"}


def form_page(participant: Participant, form: Questionnaire) -> Data:
    """A questionnaire, which is about a round or the whole study."""
    about = rounds(participant) if form.when == "after_round" else {"trial": 0, "trials": 0}
    asked = [question.model_dump(mode="json") for question in form.questions]
    return {"form": form.name, "title": form.title, "questions": asked, **about}


def rules(world: str) -> list[Data]:
    """The rules of a world in a few paragraphs, as in the tutorial."""
    return [{**page, "text": " ".join(page["text"].split())} for page in LESSONS[world]["pages"]]


def lesson(participant: Participant) -> Data:
    """The tutorial without the answers to its checks, and the checks answered wrongly at the last try."""
    study = participant.study
    level = study.levels[study.plan.levels[0]]
    tutorial, advice = LESSONS[world_of(level)], LESSONS["advice"]
    paragraphs = [*rules(world_of(level)), {**advice, "text": " ".join(advice["text"].split())}]
    pages = [{**page, "looks": []} for page in paragraphs]
    pages[1]["looks"] = board(level).legend()
    checks = [{"question": check["question"], "options": check["options"]} for check in tutorial["checks"]]
    progress = {"wrong": list(participant.wrong), "tries": participant.tries}
    return {"world": world_of(level), "pages": pages, "checks": checks, **progress}


def ready(participant: Participant) -> Data:
    """The page before a round, with whom it waits for; before practice, what that is."""
    study = participant.study
    pair = study.pairs.get(participant.pair)
    if pair is None:
        text = "Now a round to practise, with a simulated person. It does not count."
        return {"text": text, **rounds(participant), "facilitator": None, "waits": []}
    trial = pair.trials[participant.trial]
    name = study.codename(trial.facilitator)
    partners = [study.people[name] for name in pair.people if name and name != participant.name]
    text = f"In this round {name} looks on and may give advice." if name else "In this round nobody gives advice."
    away = [p for p in partners if participant.ready and not (p.ready and p.trial == participant.trial)]
    waits = ["the other person"] * len(away)
    return {"text": text, **rounds(participant), "facilitator": name, "waits": waits, "ready": participant.ready}


def seat(game: LiveGame, participant: Participant) -> str:
    """The agent that a participant plays, or played until replaced."""
    return next(a for a, participant_id in {**game.people, **game.replaced}.items() if participant_id == participant.id)


def playing(participant: Participant, game: LiveGame) -> Data:
    """A round: all that is fixed during it and that this participant may know."""
    study, agent, game_board, agents = participant.study, seat(game, participant), game.board, list(game.world.agents)
    return {
        "world": world_of(game.setup.level),
        **({"level": game.setup.level.name} if study.kind == "solo" else {}),  # it could tell the condition
        "you": agent,
        "others": [partner for partner in agents if partner != agent],
        "goal": goal(game_board.scene, wants(game, agent)),
        "facilitator": helper(study, game),
        "actions": options(game.world, game.world.initial, agent),
        "legend": [*(person(game_board.scene, i) for i in range(len(agents))), *game_board.legend()],
        "clock": {"waits": game.waits, "seconds": game.seconds},
        "hopeless": study.plan.give_up and study.kind == "study" and not game.practice,
        "gave_up": agent in game.gave_up,
        "rules": rules(world_of(game.setup.level)) if study.kind == "solo" else [],
        **place(game),
        **counted(participant, game),
    }


def place(game: LiveGame) -> Data:
    """The size of a game's board, the drawings of its squares, and the steps that the game may take."""
    game_board, steps = game.board, game.setup.level.horizon
    return {"size": list(game_board.size), "cell": CELL, "squares": dict(game_board.squares), "steps": steps}


def helper(study: Study, game: LiveGame) -> str | None:
    """The name under which participants know the facilitator; None if there is none."""
    if not game.facilitated:
        return None
    return "The facilitator" if game.practice or study.kind == "solo" else study.codename(game.setup.facilitator)


def rounds(participant: Participant) -> Data:
    """The number of the round and of rounds in all (0 for practice)."""
    pair = participant.study.pairs.get(participant.pair)
    return {"trial": participant.trial + 1, "trials": len(pair.trials)} if pair else {"trial": 0, "trials": 0}


def counted(participant: Participant, game: LiveGame) -> Data:
    """Which round it is, and whether it is for practice or a solo game."""
    return {"practice": game.practice, "solo": participant.study.kind == "solo", **rounds(participant)}


def wants(game: LiveGame, agent: str) -> str | None:
    """The name of an agent's goal: its recipe, or the colour of its gem."""
    world, i = game.world, game.world.agents.index(agent)
    is_kitchen = isinstance(game.setup.level, KitchenLevel)
    goal_name: str | None = world.recipes[i] if is_kitchen else world.gems[world.goals[i]].colour
    return goal_name


def reached(game: LiveGame, agent: str) -> bool:
    """Whether an agent has reached its goal."""
    world, i = game.world, game.world.agents.index(agent)
    is_kitchen = isinstance(game.setup.level, KitchenLevel)
    return bool(world.is_served(game.state, i) if is_kitchen else world.has_gem(game.state, i))


def messages(game: LiveGame) -> list[Data]:
    """All messages of the facilitator, with their recipients, status and replies."""
    return [{**vars(message), "status": NAMES[message.status]} for message in game.messages]


def unsaid(game: LiveGame) -> list[Data]:
    """The most promising messages that the facilitator kept to itself, each when it promised most, and why."""
    best = dict[str, Data]()
    for t, thought in sorted(game.thoughts.items()):
        prices = () if thought.row["action"] else thought.row.get("prices", ())
        if not prices:
            continue
        price = max(prices, key=lambda row: (row["worth"], row["saves"]))
        message, saves = price["message"], price["saves"]
        if saves >= NOTABLE and (message not in best or saves > best[message]["saves"]):
            best[message] = {"t": t, "message": message, "saves": saves, "why": thought.row["why"]}
    most_promising = sorted(best.values(), key=lambda row: -row["saves"])[:UNSAID]
    return sorted(most_promising, key=lambda row: row["t"])


def believed(game: LiveGame, thought: FacilitatorThought, agent: str) -> Data:
    """An agent's goal, and what the facilitator believed of it; no belief if it infers no goals."""
    scene, posterior = game.board.scene, thought.beliefs.get(agent, {}).get("posterior", {})
    belief = [{"goal": goal(scene, name), "p": p} for name, p in posterior.items()]
    about_agent = {"name": agent, "goal": goal(scene, wants(game, agent)), "simulated": agent not in game.people}
    return {**about_agent, "belief": belief}


def sure_from(game: LiveGame, agent: str) -> int | None:
    """The step from which the facilitator was sure of an agent's goal to the end; None if it was not in the end."""
    backwards = sorted(game.thoughts.values(), key=lambda thought: -thought.t)
    sure = takewhile(lambda thought: thought.beliefs.get(agent, {}).get("p_true", 0.0) >= SURE, backwards)
    return min((thought.t for thought in sure), default=None)


def surprises(game: LiveGame, agent: str) -> list[str]:
    """The surprising steps of an agent, in words."""
    steps = ((t, surprise_in_words(thought.surprise.get(agent, 0.0))) for t, thought in sorted(game.thoughts.items()))
    return [f"step {t} was {words}" for t, words in steps if words]


def reveal(participant: Participant, game: LiveGame) -> Data:
    """The end of a round: all agents' goals, what was believed of them, all messages, and what was not said."""
    study, agent, done = participant.study, seat(game, participant), game.ended == "finished"
    steps = alone(game.setup.level) if study.kind == "solo" else None
    count = f"{game.t} step{'' if game.t == 1 else 's'}"
    halfway = min(game.thoughts.values(), key=lambda thought: abs(2 * thought.t - game.t), default=game.last_thought())
    people = [
        {
            **believed(game, halfway, name),
            "reached": reached(game, name),
            "you": name == agent,
            "sure": sure_from(game, name),
            "surprises": surprises(game, name),
        }
        for name in game.world.agents
    ]
    return {
        "done": done,
        "steps": game.t,
        "of": game.setup.level.horizon,
        "ended": game.ended,
        "text": f"{game.board.scene.ends[0]} after {count}." if done else ENDINGS.get(game.ended, ENDINGS["lost"]),
        "people": people,
        "messages": messages(game),
        "halfway": halfway.t,
        "unsaid": unsaid(game),
        "alone": round(steps) if steps and steps < math.inf else None,
        "hopeless": steps == math.inf,
        "facilitator": helper(study, game),
        "last": bool(participant.pair) and participant.trial + 1 == len(study.pairs[participant.pair].trials),
        **counted(participant, game),
    }


def questions(participant: Participant) -> Data:
    """The questions about a round with a facilitator."""
    study = participant.study
    pair = study.pairs[participant.pair]
    return {
        "facilitator": study.codename(pair.trials[participant.trial].facilitator),
        "aspects": [{"key": key, "text": text} for key, text in ASPECTS.items()],
        **SCALE,
        "comment": "Anything else you would like to tell us? (optional)",
        **rounds(participant),
    }


def time_left(game: LiveGame) -> Data:
    """The seconds that are left of the round, if it has a time limit."""
    return {"left": round(game.seconds_left(time.time()))} if game.minutes else {}


def frame(game: LiveGame, agent: str | None, looks: dict[str, int]) -> Data:
    """What an agent sees now (None: everything). `looks` numbers the drawings already sent, and is updated."""
    rows, parts, first_new = game.board.rows(game.state, agent), [*game.board.drawn(game.state, agent)], len(looks)
    placed = [[part.name, looks.setdefault(svg_look(part), len(looks)), *part.place] for part in parts if part.place]
    new_looks = {str(number): look for look, number in looks.items() if number >= first_new}
    data: Data = {"type": "frame", "t": game.t, "rows": rows, "parts": placed, "looks": new_looks, "text": words(parts)}
    data |= time_left(game)
    if agent is not None:
        data["mine"] = f"agent-{game.world.agents.index(agent)}"
        data["chosen"] = sorted(game.pending)
        if world_of(game.setup.level) == "doors-keys-gems":
            data["actions"] = options(game.world, game.state, agent)
    return data


def advice(study: Study, game: LiveGame, number: int) -> Data:
    """A message as its recipient sees it, without what it is expected to save."""
    message = game.messages[number]
    status = "open" if message.status == "running" else NAMES[message.status]
    fields = {key: value for key, value in vars(message).items() if key not in ("to", "saves")}  # not for the recipient
    return {"type": "advice", "id": number, "from": helper(study, game), **fields, "status": status}


def watched(study: Study, game: LiveGame) -> Mapping[str, Any]:
    """All about a round, including beliefs and goals, for the researcher."""
    thought = game.last_thought()
    row = thought.row
    people = [
        {**believed(game, thought, agent), "surprise": surprise_in_words(thought.surprise.get(agent, 0.0))}
        for agent in game.world.agents
    ]
    return {
        **place(game),
        "frame": frame(game, None, {}),
        "people": people,
        "facilitator": game.setup.facilitator,
        "ended": game.ended,
        "thought": {"t": thought.t, "said": row["action"], "why": row.get("why", ""), "prices": row.get("prices", [])},
        "messages": messages(game),
    }


def wrong_answers(world: str, answers: object) -> list[int] | None:
    """The indices of the checks answered wrongly; None if `answers` is not a full list of option numbers."""
    checks = LESSONS[world]["checks"]
    if not isinstance(answers, list) or len(answers) != len(checks) or not all(type(a) is int for a in answers):
        return None
    return [i for i, (check, answer) in enumerate(zip(checks, answers, strict=True)) if answer != check["right"]]


# Of these stages the data follow from the participant alone.
PLAIN: Mapping[str, Callable[[Participant], Data]] = {
    "closed": lambda _: {"text": WORDS["declined"]},
    "thanks": farewell,
    "consent": agreement,
    "instructions": instructions,
    "tutorial": lesson,
    "ready": ready,
    "questions": questions,
    "lobby": waiting_room,
}


# Every page of a study, for whoever plans it

CODE = "ABCD-2345"  # stands for a completion code


def preview(study: Study) -> list[tuple[str, Data]]:
    """Every page that a participant of a study can see, as (stage, data), in order; nothing of it is logged.

    The data of a game also have its first `frame`; the tutorial's have `at`, the number of its page.
    """
    guest = Participant("P01", Study("preview", study.plan, study.levels), "", "link")
    return [*_beginning(guest), *_middle(guest), *_end(guest)]


def _forms(guest: Participant, when: When) -> list[tuple[str, Data]]:
    plan = guest.study.plan
    return [("form", form_page(guest, form)) for form in plan.questionnaires if form.when == when]


def _beginning(guest: Participant) -> Iterator[tuple[str, Data]]:
    """The pages before the first round."""
    plan = guest.study.plan
    if plan.consent:
        yield "consent", agreement(guest)
        yield "closed", PLAIN["closed"](guest)
    if plan.instructions.strip():
        yield "instructions", instructions(guest)
    if plan.tutorial:
        shown = lesson(guest)
        for at in range(len(shown["pages"]) + 1):
            yield "tutorial", {**shown, "at": at}
        yield "tutorial", {**shown, "wrong": [0], "tries": 1}
    yield from _forms(guest, "before")
    if plan.practice:
        yield "ready", ready(guest)
    if plan.partner == "person":
        yield "lobby", waiting_room(guest)


def _middle(guest: Participant) -> Iterator[tuple[str, Data]]:
    """The pages of a round with each facilitator, and the ways in which a round can end."""
    study, plan = guest.study, guest.study.plan
    trials, now = study.trials(1), time.time()
    guest.pair, study.pairs[1] = 1, ParticipantPair(1, [guest.name, ""], trials)
    first = {trial.facilitator: i for i, trial in reversed(list(enumerate(trials)))}
    for guest.trial in sorted(first.values()):
        trial = trials[guest.trial]
        level = study.levels[trial.level]
        setup, people = GameSetup("preview", level, trial.facilitator, trial.seed), {level.world.agents[0]: guest.id}
        game = LiveGame(setup, people, plan.waits, plan.seconds, minutes=plan.round_minutes, begun_at=now, latest=now)
        yield "ready", ready(guest)
        yield "game", {**playing(guest, game), "frame": frame(game, level.world.agents[0], {})}
        if plan.ratings and game.facilitated:
            yield "questions", questions(guest)
    yield from _forms(guest, "after_round")
    endings = {"time": True, "given up": plan.give_up, "time limit": plan.round_minutes > 0}
    for game.ended in (ending for ending, is_possible in endings.items() if is_possible):
        yield "reveal", reveal(guest, game)


def _end(guest: Participant) -> Iterator[tuple[str, Data]]:
    """The last pages: what is asked in the end, and all farewells."""
    yield from _forms(guest, "after")
    alone_too = ("finished", "left", "left away", "full")
    guest.code = CODE
    for reason in FAREWELLS:
        if reason != "played" and (reason in alone_too or guest.study.plan.partner == "person"):
            guest.finished, _, guest.cause = reason.partition(" ") if reason.startswith("left ") else (reason, "", "")
            yield "thanks", farewell(guest)
