"""Language models as facilitators: what they are told, what is made of their replies, and what is never made up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from itertools import product
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from kitchens import kitchen, kitchen_plays
from otherminds.files.text import LONGEST_LINE, one_line
from otherminds.language.asking import Asker
from otherminds.language.model import LanguageModel, Message, ModelError, Reply, Request
from otherminds.language.scripted import Scripted, scripted, text_of
from otherminds.papers.protom.episodes import Decision
from otherminds.papers.protom.language_facilitator import (
    RECENT,
    LanguageFacilitator,
    ModelDecision,
    answer_form,
    kitchen_briefing,
    map_briefing,
)
from otherminds.reports.terminal.screens import drawing_of
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import GROUND, USED, DoorsKeysGems, State
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.kitchen import PARTS, RECIPES
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked
from otherminds.worlds.overcooked.rules import State as Kitchen
from strategies import BOTH, generator, world_of, worlds

Speaker = LanguageFacilitator[Any, Any, Any]
Write = Callable[[Request], str]
GATE = world_of("a1 .. dr gr", ".. ## ## ##", "gb a2 kr ky")
ROOMS = kitchen("-t-*-", "-1  -", "--D--", "- 2 /", "-p-l-", recipes=("SimpleTomato", "SimpleLettuce"))
WANTED = {"Ana": "red gem", "Ben": "blue gem"}
RNG = np.random.default_rng(0)


def answer(choice: object = 1, goals: object = WANTED, reason: object = "It helps.", **more: object) -> str:
    return json.dumps({"goals": goals, "reason": reason, "choice": choice, **more})


def speaker(world: DoorsKeysGems | Overcooked, write: Write, **settings: Any) -> Speaker:
    pictures = settings.pop("pictures", False)
    asker = asker_of(Scripted("scripted", write), **settings)
    if isinstance(world, Overcooked):
        return LanguageFacilitator(asker, kitchen_briefing(world), OvercookedAdvice(world), pictures)
    return LanguageFacilitator(asker, map_briefing(world), DoorsKeysGemsAdvice(world), pictures)


def asker_of(model: LanguageModel, **settings: Any) -> Asker:
    return Asker(model, **{"temperature": 0.0, "max_tokens": 300, **settings})


class Log:
    """Writes the replies one after the other, the last one again and again, and keeps what it is asked."""

    def __init__(self, *replies: str) -> None:
        self.replies, self.requests = replies, list[Request]()

    def __call__(self, request: Request) -> str:
        self.requests.append(request)
        return self.replies[min(len(self.requests), len(self.replies)) - 1]

    @property
    def text(self) -> str:
        """The last prompt of a first attempt."""
        return text_of([request for request in self.requests if request.draw.endswith(" 0")][-1])

    @property
    def images(self) -> list[bytes]:
        prompt = self.requests[-1].prompt
        assert isinstance(prompt, tuple)
        return [image for message in prompt for image in message.images]

    def part(self, title: str) -> list[str]:
        """The lines that follow a title, up to the next empty one."""
        return self.text.split(f"\n{title}\n")[1].split("\n\n")[0].split("\n")


def asked(world: DoorsKeysGems | Overcooked, state: Any = None, **settings: Any) -> Log:
    """What a model is asked in a state, by default the first."""
    log = Log("")
    speaker(world, log, **settings).decide(world.initial if state is None else state, 30, RNG)
    return log


def decided(*replies: str, world: DoorsKeysGems = GATE) -> tuple[ModelDecision[Any], Speaker, Log]:
    log = Log(*replies)
    helper = speaker(world, log)
    return helper.decide(world.initial, 30, RNG), helper, log


def candidates(world: DoorsKeysGems) -> list[str]:
    advice = DoorsKeysGemsAdvice(world)
    return [advice.address(message) for message in advice.candidates(world.initial)]


# What a model is told


def test_all_that_can_be_said_is_listed_in_order_after_the_choice_to_say_nothing() -> None:
    both: list[tuple[Any, Any]] = [(GATE, DoorsKeysGemsAdvice(GATE)), (ROOMS, OvercookedAdvice(ROOMS))]
    for world, messages in both:
        expected = ["No Feedback", *map(messages.address, messages.candidates(world.initial))]
        assert asked(world).part("What you can say now:") == [f"{i}: {text}" for i, text in enumerate(expected)]
        assert len(expected) > 2


@pytest.mark.parametrize("steps", [0, 1, RECENT - 1, RECENT, RECENT + 7])
def test_the_last_ten_joint_actions_are_told_exactly(steps: int) -> None:
    assert RECENT == 10
    log, rng = Log(""), generator(steps)
    helper, state, expected = speaker(GATE, log), GATE.initial, list[str]()
    for t in range(1, steps + 1):
        joint = {a: GATE.actions(state, a)[int(rng.integers(len(GATE.actions(state, a))))] for a in GATE.agents}
        state = GATE.step(state, joint)
        helper = helper.watch(joint, state)
        expected.append(f"Step {t}: Ana {GATE.spell(joint['Ana'])}; Ben {GATE.spell(joint['Ben'])}")
    helper.decide(state, 30, RNG)
    assert log.part("What the agents did, up to the last step:") == (expected[-10:] or ["nothing yet"])
    assert f"Step {steps} is over, and 30 are left." in log.text


def test_what_was_said_is_told_with_what_became_of_it() -> None:
    log = Log("")
    helper, advice, state = speaker(GATE, log), DoorsKeysGemsAdvice(GATE), GATE.initial
    give, door = (next(f for f in advice.candidates(state) if f.goal.kind == kind) for kind in ("give", "door"))
    idle = dict.fromkeys(GATE.agents, GATE.vocabulary["stay"])
    helper = helper.watch(idle, state).tell(door, state).watch(idle, state).dismiss(door).tell(give, state)
    helper.watch(idle, state).decide(state, 30, RNG)
    ignored = f"After step 1: {advice.address(door)} (ignored)"
    assert log.part("What you said before:") == [ignored, f"After step 2: {advice.address(give)} (under way)"]
    given, gone = (state._replace(items=(holder, *state.items[1:])) for holder in (1, USED))
    helper.watch(idle, given).tell(door, given).watch(idle, gone).decide(state, 30, RNG)
    assert log.part("What you said before:") == [
        ignored,
        f"After step 2: {advice.address(give)} (done)",
        f"After step 3: {advice.address(door)} (could no longer be done)",
    ]


def test_nothing_that_was_ignored_or_done_changes_any_more() -> None:
    log = Log("")
    helper, advice, state = speaker(GATE, log), DoorsKeysGemsAdvice(GATE), GATE.initial
    door = next(f for f in advice.candidates(state) if f.goal.kind == "door")
    idle = dict.fromkeys(GATE.agents, GATE.vocabulary["stay"])
    helper = helper.tell(door, state).dismiss(door).watch(idle, state._replace(locked=0))
    helper.decide(state, 30, RNG)
    assert log.part("What you said before:") == [f"After step 0: {advice.address(door)} (ignored)"]
    assert "nothing" in asked(GATE).part("What you said before:")


@pytest.mark.slow
@given(worlds(agents=(2, 3), turns=BOTH), st.randoms(use_true_random=False), st.integers(0, 8))
@settings(max_examples=12)
def test_what_people_want_on_a_map_leaves_no_trace(world: DoorsKeysGems, random: Any, steps: int) -> None:
    gems = range(len(world.gems))
    other = DoorsKeysGems(**{**vars_of(world), "goals": tuple(random.choice([*gems, -1]) for _ in world.agents)})
    plan = [random.random() for _ in range(50)]
    assert told_along(world, plan[:steps]) == told_along(other, plan[:steps])


@pytest.mark.slow
@given(kitchen_plays(agents=(2, 3), steps=8), st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_what_people_are_to_cook_leaves_no_trace(
    play: tuple[Overcooked, list[Kitchen], list[tuple[str, ...]]], random: Any
) -> None:
    world, states, deeds = play
    recipes = tuple(random.choice([*RECIPES, None]) for _ in world.agents[1:])
    other = Overcooked(world.layout, world.agents, world.cells, ("OnionSalad", *recipes), world.on)
    joints = [dict(zip(world.agents, deed, strict=True)) for deed in deeds]
    logs = Log(""), Log("")
    for place, log, served in zip((world, other), logs, (0, 1), strict=True):
        helper = speaker(place, log, pictures=True)
        for joint, after in zip(joints, states[1:], strict=True):
            helper = helper.watch(joint, after)
        helper.decide(states[-1]._replace(served=served), 30, RNG)
    first, second = ([(request.prompt, request.schema) for request in log.requests] for log in logs)
    assert first == second


def vars_of(world: DoorsKeysGems) -> dict[str, Any]:
    return {name: getattr(world, name) for name in world.__dataclass_fields__}


def told_along(world: DoorsKeysGems, plan: Sequence[float]) -> list[Any]:
    """All that a model is asked in a play in which actions are drawn by these numbers."""
    log, state = Log(""), world.initial
    helper = speaker(world, log, pictures=True)
    for draw in plan:
        options = {agent: world.actions(state, agent) for agent in world.agents}
        joint = {agent: actions[int(draw * len(actions))] for agent, actions in options.items()}
        state = world.step(state, joint)
        helper = helper.watch(joint, state)
        helper.decide(state, 30, RNG)
    return [(request.prompt, request.schema) for request in log.requests]


def test_a_delivered_dish_is_told_but_not_who_wanted_it() -> None:
    salad = RECIPES["Salad"]
    delivered = ROOMS.initial._replace(delivered=((salad,),))
    texts = {asked(ROOMS, delivered._replace(served=served)).text for served in range(4)}
    assert len(texts) == 1
    assert "Delivered at (3, 0): chopped tomato+chopped lettuce+plate." in texts.pop()


class Blindfolded(DoorsKeysGemsAdvice):
    """Knows what can be said, and refuses to say what it would be good for."""

    def length(self, *_: Any) -> NoReturn:
        raise AssertionError("was asked what a message is worth")

    explain: Any = length
    effort: Any = length
    errand: Any = length


def test_nobody_works_out_what_a_message_is_worth() -> None:
    log = Log(answer(1))
    found = LanguageFacilitator(asker_of(Scripted("s", log)), map_briefing(GATE), Blindfolded(GATE)).decide(
        GATE.initial, 30, RNG
    )
    assert found.message is not None
    assert log.text == asked(GATE).text


def test_the_rules_name_all_actions_and_all_goals() -> None:
    log, verbs = asked(GATE), {word.split()[0] for word in GATE.vocabulary}
    assert verbs == {"up", "down", "left", "right", "stay", "pickup", "unlock", "handover"}
    assert all(re.search(rf"\b{verb}\b", log.text) for verb in verbs)
    assert "one of: red gem, blue gem." in log.text
    kitchen_log = asked(ROOMS)
    assert all(re.search(rf"\b{action}\b", kitchen_log.text) for action in ACTIONS)
    assert "one of: SimpleTomato, SimpleLettuce, SimpleOnion, Salad, OnionSalad." in kitchen_log.text
    assert '{"goals": {"Ana": ..., "Ben": ...}, "reason": "...", "choice": ...}' in log.text


def test_whose_turn_it_is_and_what_is_forbidden_are_told() -> None:
    together, in_turn = (world_of("a1 .. gr", "a2 kr gb", turns=turns) for turns in BOTH)
    assert "turn" not in asked(together).text
    log = asked(in_turn, in_turn.initial._replace(turn=1))
    assert "in the order Ana, Ben" in log.text
    assert "It is the turn of Ben." in log.text
    banned = DoorsKeysGems(**{**vars_of(GATE), "forbidden": frozenset({(1, 0)})})
    assert "Ben can neither take nor be given key1." in asked(banned).text


def test_gems_of_one_colour_are_told_apart() -> None:
    world = DoorsKeysGems(**{**vars_of(GATE), "gems": tuple(gem._replace(colour="red") for gem in GATE.gems)})
    assert map_briefing(world).goals == {"red gem (gem1)": Goal("gem", 0), "red gem (gem2)": Goal("gem", 1)}


# States in words say all that there is to know


@pytest.mark.slow
@given(worlds(agents=(1, 3), turns=BOTH), st.integers(0, 10_000), st.integers(0, 30))
@settings(max_examples=25)
def test_a_map_can_be_told_from_its_words(world: DoorsKeysGems, seed: int, steps: int) -> None:
    state, rng = world.initial, generator(seed)
    for _ in range(steps):
        options = {agent: world.actions(state, agent) for agent in world.agents}
        state = world.step(state, {a: actions[int(rng.integers(len(actions)))] for a, actions in options.items()})
    words = map_briefing(world).describe(state)
    assert map_from(words, world) == state


def map_from(words: str, world: DoorsKeysGems) -> State:
    """A state from what is said of it."""
    people = re.findall(r"^(\w+) \(a\d\) is at \((\d+), (\d+)\) and holds (.*)\.$", words, re.M)
    assert [name for name, *_ in people] == list(world.agents)
    items = []
    for thing in world.items:
        (where,) = re.findall(rf"^{thing.name} \({thing.colour}\) (.*)\.$", words, re.M)
        holders = [name for name, _, _, held in people if thing.name in held.split(", ")]
        if where.startswith("is held by "):
            assert holders == [where.removeprefix("is held by ")]
            items.append(world.agents.index(holders[0]))
        else:
            assert not holders
            assert where in ("is used up", "lies at ({}, {})".format(*world.grid.xy(thing.cell)))
            items.append(USED if where == "is used up" else GROUND)
    doors = re.findall(r"^(\w+) \((\w+)\) is at \((\d+), (\d+)\) and (locked|open)\.$", words, re.M)
    assert [(n, c, int(x), int(y)) for n, c, x, y, _ in doors] == [
        (door.name, door.colour, *world.grid.xy(door.cell)) for door in world.doors
    ]
    turn = re.findall(r"^It is the turn of (\w+)\.$", words, re.M)
    return State(
        tuple(world.grid.cell(int(x), int(y)) for _, x, y, _ in people),
        tuple(items),
        sum((door[-1] == "locked") << d for d, door in enumerate(doors)),
        world.agents.index(turn[0]) if turn else 0,
    )


@pytest.mark.slow
@given(kitchen_plays(agents=(1, 3), steps=12))
@settings(max_examples=25)
def test_a_kitchen_can_be_told_from_its_words(play: tuple[Overcooked, list[Kitchen], Any]) -> None:
    world, states, _ = play
    for state in states:
        assert kitchen_from(kitchen_briefing(world).describe(state), world) == state._replace(served=0)


def thing_of(words: str) -> int:
    return 0 if words == "nothing" else sum(PARTS[part] for part in words.split("+"))


def kitchen_from(words: str, world: Overcooked) -> Kitchen:
    """A state from what is said of it."""
    layout, cell = world.layout, world.layout.grid.cell
    people = re.findall(r"^(\w+) \((\d)\) is at \((\d+), (\d+)\), (.*), and holds (.*)\.$", words, re.M)
    assert [(name, int(i)) for name, i, *_ in people] == [(name, i) for i, name in enumerate(world.agents, 1)]
    lying = re.findall(r"^On the (counter|cutting board) at \((\d+), (\d+)\): (.*)\.$", words, re.M)
    there = {cell(int(x), int(y)): thing_of(thing) for _, x, y, thing in lying}
    assert {cell(int(x), int(y)): kind for kind, x, y, _ in lying}.items() <= {
        at: "cutting board" if k in layout.boards else "counter" for k, at in enumerate(layout.counters)
    }.items()
    brought = re.findall(r"^Delivered at \((\d+), (\d+)\): (.*)\.$", words, re.M)
    assert [cell(int(x), int(y)) for x, y, _ in brought] == list(layout.deliveries)
    return Kitchen(
        tuple(cell(int(x), int(y)) for _, _, x, y, _, _ in people),
        tuple(thing_of(held) for *_, held in people),
        tuple(there.get(at, 0) for at in layout.counters),
        tuple(tuple(map(thing_of, d.split("; "))) if d != "nothing yet" else () for *_, d in brought),
    )


def test_maps_are_numbered_and_show_the_state() -> None:
    lines = asked(GATE).part("The map now:")
    assert lines == ["   0  1  2  3", " 0 a1 .. dr gr", " 1 .. ## ## ##", " 2 gb a2 kr ky"]
    lines = asked(ROOMS, ROOMS.initial._replace(hands=(0, PARTS["plate"]))).part("The map now:")
    assert [line.split() for line in lines] == [
        ["0", "1", "2", "3", "4"],
        ["0", "-", "-t", "-", "*", "-"],
        ["1", "-", "1", ".", ".", "-"],
        ["2", "-", "-", "D", "-", "-"],
        ["3", "-", ".", "2p", ".", "/"],
        ["4", "-", "-p", "-", "-l", "-"],
    ]
    columns = [[match.start() for match in re.finditer(r"\S+", line[2:])] for line in lines]
    assert columns == [[1, 4, 7, 10, 13]] * 6


def test_rooms_are_shown_and_who_is_in_which() -> None:
    door = ROOMS.layout.grid.cell(2, 2)
    log = asked(ROOMS, ROOMS.initial._replace(cells=(ROOMS.cells[0], door)))
    rooms = [line.split() for line in log.text.split("in place of floor:\n")[1].split("\n")[:6]]
    assert rooms[2] == ["1", "-", "1", "1", "1", "-"]
    assert rooms[3] == ["2", "-", "-", "D", "-", "-"]
    assert rooms[4] == ["3", "-", "2", "2", "2", "/"]
    assert "Ana (1) is at (1, 1), in room 1, and holds nothing." in log.text
    assert "Ben (2) is at (2, 2), on a door, in room 1 and room 2, and holds nothing." in log.text


# Pictures


def looked_at(image: bytes) -> Image.Image:
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    found = Image.open(BytesIO(image))
    found.load()
    return found


@pytest.mark.slow
def test_there_are_no_pictures_unless_they_are_asked_for() -> None:
    for world in (GATE, ROOMS):
        assert asked(world).images == []
        assert "picture" not in asked(world).text
        assert len(asked(world, pictures=True).images) == 1
        assert "picture" in asked(world, pictures=True).text


@pytest.mark.slow
def test_pictures_show_the_state() -> None:
    moved = GATE.initial._replace(locked=0)
    busy = ROOMS.initial._replace(hands=(PARTS["plate"], 0))
    for world, state in ((GATE, moved), (ROOMS, busy)):
        (shown,), (first,) = asked(world, state, pictures=True).images, asked(world, pictures=True).images
        file = BytesIO()
        drawing_of(world).draw(world, state).png(file)
        expected = looked_at(file.getvalue())
        assert ImageChops.difference(looked_at(shown), expected).getbbox() is None
        assert ImageChops.difference(looked_at(first), expected).getbbox() is not None


# What is made of replies


def test_a_message_is_the_one_of_that_number_with_the_reason_that_is_given() -> None:
    advice = DoorsKeysGemsAdvice(GATE)
    every = advice.candidates(GATE.initial)
    for number, message in enumerate(every, 1):
        found, helper, log = decided(answer(number, reason="Ben needs it."))
        assert (found.message, found.words, found.silence) == (message, "Ben needs it.", "")
        assert [said.readable for said in found.said] == [True]
        assert found.utilities == ()
        assert helper.decide(GATE.initial, 30, RNG) is found
        assert len(log.requests) == 1


@pytest.mark.parametrize(
    ("reason", "silence"), [("All is well.", "it chose to say nothing: All is well"), ("", "it chose to say nothing")]
)
def test_nothing_is_said_for_zero(reason: str, silence: str) -> None:
    found, _, log = decided(answer(0, reason=reason))
    assert (found.message, found.words, found.silence) == (None, "", silence)
    assert len(log.requests) == 1


def test_a_message_without_a_reason_says_so() -> None:
    assert decided(answer(1, reason=" \n"))[0].words == "No reason given."


def test_a_fenced_reply_can_be_read() -> None:
    assert decided(f"```json\n{answer(1)}\n```\n")[0].message is not None


MANY = len(candidates(GATE))
UNREADABLE = {
    "empty": "",
    "prose": "I would unlock the door.",
    "prose before": f"Sure! {answer(1)}",
    "prose after": f"{answer(1)} I hope that helps.",
    "two": answer(1) + answer(1),
    "list": f"[{answer(1)}]",
    "beyond the list": answer(MANY + 1),
    "far beyond": answer(10**30),
    "too many digits": answer(1).replace(": 1}", f": {'9' * 6000}}}"),
    "negative": answer(-1),
    "true": answer(choice=True),
    "a fraction": answer(1.5),
    "no integer": answer(1.0),
    "a text": answer("1"),
    "none": answer(None),
    "not a number": answer(1).replace(": 1}", ": NaN}"),
    "twice": answer(1).replace("}", "}, ").replace("}, ", ', "choice": 2}', 1),
    "choice twice": '{"goals": {"Ana": "red gem", "Ben": "red gem"}, "reason": "", "choice": 1, "choice": 2}',
    "another goal": answer(1, goals={**WANTED, "Ana": "green gem"}),
    "another case": answer(1, goals={**WANTED, "Ana": "Red gem"}),
    "a goal that is no text": answer(1, goals={**WANTED, "Ana": 0}),
    "nobody's goal": answer(1, goals={}),
    "one goal": answer(1, goals={"Ana": "red gem"}),
    "one too many": answer(1, goals={**WANTED, "Cem": "red gem"}),
    "goals in a list": answer(1, goals=["red gem", "blue gem"]),
    "more keys": answer(1, urgent=True),
    "hostile keys": answer(1, **{"\x1b[31m\u202e\n" + "x" * 500: 1}),
    "hostile names": answer(1, goals={"\x1b[31m\n": 1}),
    "no reason": json.dumps({"goals": WANTED, "choice": 1}),
    "a reason that is no text": answer(1, reason=["because"]),
    "a megabyte": answer(1, reason="x" * 1_000_000),
    "a megabyte of depth": "[" * 1_000_000,
    "half a reply": answer(1)[:-20],
    "half a character": answer(1, reason="\ud800"),
    "control characters": answer(1).replace("It", "\x1b[31m\x00"),
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_asked_for_again_and_then_nothing_is_said(text: str) -> None:
    found, helper, log = decided(text)
    assert (found.message, found.words) == (None, "")
    assert found.silence == "no reply of the model could be read"
    assert [said.readable for said in found.said] == [False] * 3
    assert len(log.requests) == 3
    assert helper.beliefs() == {}
    assert all(said.reading and said.reading.isprintable() and len(said.reading) <= LONGEST_LINE for said in found.said)


def test_who_is_asked_again_is_told_what_was_wrong_with_another_draw_and_seed() -> None:
    found, _, log = decided("what?", answer(99), answer(2, reason="Please."))
    assert found.words == "Please."
    assert found.message == DoorsKeysGemsAdvice(GATE).candidates(GATE.initial)[1]
    assert [said.readable for said in found.said] == [False, False, True]
    assert [said.text for said in found.said] == ["what?", answer(99), answer(2, reason="Please.")]
    first, *others = [request.prompt for request in log.requests]
    told = ["is not JSON: Expecting value: line 1 column 1", "chooses a number that is not on the list"]
    for prompt, why in zip(others, told, strict=True):
        assert isinstance(prompt, tuple)
        assert prompt[:-2] == first
        assert why in prompt[-1].text
    assert len({request.schema for request in log.requests}) == 1
    assert len({request.draw for request in log.requests}) == 3
    assert len({request.seed for request in log.requests}) == 3


def test_how_often_it_is_asked_can_be_chosen() -> None:
    log = Log("no")
    found = speaker(GATE, log, attempts=5).decide(GATE.initial, 30, RNG)
    assert len(found.said) == len(log.requests) == 5


def test_temperature_length_and_draws_go_into_the_request() -> None:
    usual = asked(GATE).requests[0]
    assert (usual.temperature, usual.max_tokens) == (0.0, 300)
    chosen = asked(GATE, temperature=0.7, max_tokens=50, draw="one").requests[0]
    assert (chosen.temperature, chosen.max_tokens) == (0.7, 50)
    others = [asked(GATE, draw=draw, seed=seed).requests[0] for draw, seed in product(("one", "two"), (1, 2))]
    assert len({(request.draw, request.seed) for request in others}) == 4
    assert others[0] == asked(GATE, draw="one", seed=1).requests[0]
    assert isinstance(usual.prompt, tuple)
    assert [message.role for message in usual.prompt] == ["system", "user"]


def test_the_system_message_is_the_same_all_along() -> None:
    def system(state: State) -> Message:
        prompt = asked(GATE, state).requests[0].prompt
        assert isinstance(prompt, tuple)
        return prompt[0]

    assert system(GATE.initial) == system(GATE.initial._replace(locked=0, items=(USED, GROUND, GROUND, 1)))


def test_nobody_is_asked_if_there_is_nothing_to_choose() -> None:
    log = Log(answer(0))
    world = world_of("a1 .. gr", "a2 .. gb")
    assert not DoorsKeysGemsAdvice(world).candidates(world.initial)
    found = speaker(world, log).decide(world.initial, 30, RNG)
    assert (found.message, found.silence) == (None, "nobody could do anything for anybody")
    assert log.requests == []


def test_a_model_that_cannot_be_asked_is_an_error() -> None:
    with pytest.raises(ModelError, match="one more"):
        LanguageFacilitator(asker_of(scripted("short", [])), map_briefing(GATE), DoorsKeysGemsAdvice(GATE)).decide(
            GATE.initial, 30, RNG
        )


def test_it_is_told_if_a_reply_was_cut_off() -> None:
    class Cut(Scripted):
        def complete(self, request: Request) -> Reply:
            return Reply(answer(1)[:40], cut=True)

    found = LanguageFacilitator(asker_of(Cut("cut", str)), map_briefing(GATE), DoorsKeysGemsAdvice(GATE)).decide(
        GATE.initial, 30, RNG
    )
    assert all(said.reading.startswith("was cut off: is not JSON") for said in found.said)


# What people are told


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("Two\nlines\r\nand\ta  tab", "Two lines and a tab"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("a\u202eb\u200bc\u2028d", "abc d"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("x" * 300, "x" * 199 + "…"),
        ("é" * 200, "é" * 200),
    ],
)
def test_reasons_are_one_line_that_can_be_shown(reason: str, words: str) -> None:
    assert decided(answer(1, reason=reason))[0].words == words


@pytest.mark.slow
@given(st.text())
def test_any_text_becomes_one_line(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line) <= LONGEST_LINE
    assert line == line.strip()
    assert one_line(line) == line
    if len(text) <= LONGEST_LINE and text.isprintable() and "  " not in text:
        assert line == text.strip()


@pytest.mark.slow
@given(st.text(max_size=60), st.sampled_from(["goals", "reason", "more"]))
def test_whatever_is_replied_nothing_goes_wrong(text: str, place: str) -> None:
    for reply in (text, json.dumps({text: 1}), answer(**{place: text}), answer(text), answer(1, {text: text})):
        found, _, _ = decided(reply)
        assert found.words.isprintable()
        assert found.silence.isprintable()
        assert bool(found.words) is not bool(found.silence)
        assert (found.message is None) is bool(found.silence)


# What is asked for


def test_the_schema_has_exactly_the_answers_that_can_be_read() -> None:
    schema = json.loads(asked(GATE).requests[0].schema)
    assert list(schema["properties"]) == ["goals", "reason", "choice"]
    goals = schema["properties"]["goals"]
    menus = {agent: menu["enum"] for agent, menu in goals["properties"].items()}
    assert menus == {agent: ["red gem", "blue gem"] for agent in ("Ana", "Ben")}
    numbers = schema["properties"]["choice"]["enum"]
    assert numbers == list(range(MANY + 1))
    for each in (schema, goals):
        assert each["required"] == list(each["properties"])
        assert each["additionalProperties"] is False
    for choice, (ana, ben) in product(range(-1, MANY + 2), product([*menus["Ana"], "gold"], repeat=2)):
        found = answer_form(GATE.agents, WANTED.values(), MANY).read(answer(choice, {"Ana": ana, "Ben": ben}))
        allowed = choice in numbers and ana in menus["Ana"] and ben in menus["Ben"]
        assert hasattr(found, "choice") is allowed


def test_names_of_all_kinds_can_be_asked_about() -> None:
    agents = ("model_dump", "Zoë", "名前", "schema")
    goals = dict.fromkeys(agents, "gem")
    form = answer_form(agents, ["gem"], 1)
    schema = json.loads(form.schema)
    assert list(schema["properties"]["goals"]["properties"]) == list(agents)
    found = form.read(answer(1, goals))
    assert getattr(found, "goals", None) == goals


# Beliefs


def certain(found: Mapping[str, Any]) -> dict[str, Any]:
    assert all(belief.prob(belief.mode) == 1.0 for belief in found.values())
    return {agent: belief.mode for agent, belief in found.items()}


def test_the_goals_that_were_last_named_are_believed() -> None:
    first, second = Goal("gem", 0), Goal("gem", 1)
    log = Log(answer(0), "no", "no", "no", answer(1, {"Ana": "blue gem", "Ben": "blue gem"}))
    helper, idle = speaker(GATE, log), dict.fromkeys(GATE.agents, GATE.vocabulary["stay"])
    assert helper.beliefs() == {}
    helper = helper.watch(idle, GATE.initial)
    assert helper.beliefs() == {}
    helper.decide(GATE.initial, 30, RNG)
    assert certain(helper.beliefs()) == {"Ana": first, "Ben": second}
    assert helper.beliefs()["Ana"].prob(second) == 0.0
    assert helper.beliefs()["Ana"].support == (first, second)
    helper = helper.watch(idle, GATE.initial)
    assert helper.decide(GATE.initial, 29, RNG).silence == "no reply of the model could be read"
    assert certain(helper.beliefs()) == {"Ana": first, "Ben": second}
    helper = helper.watch(idle, GATE.initial)
    found: Decision[Any] = helper.decide(GATE.initial, 28, RNG)
    helper = helper.tell(found.message, GATE.initial)
    assert certain(helper.beliefs()) == {"Ana": second, "Ben": second}


def test_of_two_decisions_at_the_same_moment_the_later_one_counts() -> None:
    helper = speaker(GATE, Log(answer(0), answer(0, {"Ana": "blue gem", "Ben": "red gem"})))
    helper.decide(GATE.initial, 30, RNG)
    helper.decide(GATE.initial, 29, RNG)
    assert certain(helper.beliefs()) == {"Ana": Goal("gem", 1), "Ben": Goal("gem", 0)}


def test_in_kitchens_goals_are_recipes() -> None:
    wanted = {"Ana": "SimpleOnion", "Ben": "OnionSalad"}
    helper = speaker(ROOMS, Log(answer(0, wanted)))
    helper.decide(ROOMS.initial, 30, RNG)
    assert certain(helper.beliefs()) == wanted
    assert set(helper.beliefs()["Ana"].support) == set(RECIPES)
