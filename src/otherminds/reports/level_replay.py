"""Episodes of Doors-Keys-Gems and Overcooked for the viewer: beliefs about goals, and messages with their reasons.

The joint actions of the rows are replayed in their world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from otherminds.errors import InputError
from otherminds.files.text import printable
from otherminds.mind import NONE_OF_THESE
from otherminds.observer import surprise_in_words
from otherminds.reports.page import WORDS, Html, number, safe, stack
from otherminds.reports.replay import Caption, ReplayEpisode, ReplayGoal, ReplayLevel, TimelineMark, viewer
from otherminds.worlds import own_world, text_grid
from otherminds.worlds.doors_keys_gems import drawing as map_drawing
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
from otherminds.worlds.map_file import WorldLevel
from otherminds.worlds.overcooked import drawing as kitchen_drawing
from otherminds.worlds.overcooked.drawing import Fog
from otherminds.worlds.overcooked.kitchen import DISHES
from otherminds.worlds.overcooked.level_files import KitchenLevel
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked
from otherminds.worlds.own_world import goal_colours
from otherminds.worlds.sprites import GREY, PEOPLE, MovingPart, hue, labels
from otherminds.worlds.text_grid import TextGrid

FACILITATOR = "facilitator"
KINDS: Mapping[str, str] = WORDS["classes"]
SUBJECTS: Mapping[str, str] = WORDS["facilitators"]
ENDINGS: Mapping[str, str] = WORDS["endings"]
ENDED = ("completed", "impossible", "ignored")

Row = Mapping[str, Any]
Playable = Level | KitchenLevel
Levels = Mapping[str, Playable]


# Worlds


@dataclass(frozen=True)
class LevelScene:
    """A world of levels, in which nothing is random, as viewers and pages show it.

    vocabulary: the actions by their spelling. picture: the start, as SVG. parts: what may move in a state. fog: what
    an agent does not see of a state; None if all agents see everything. goals: in the order in which they are listed.
    icon: the kind of drawing that stands for a goal. ends: the last sentence if all agents have reached their goals,
    and if not.
    """

    world: Any
    vocabulary: Mapping[str, Any]
    picture: str
    parts: Callable[[Any], Iterable[MovingPart]]
    fog: Callable[[Any, str], Fog] | None
    goals: Mapping[str, ReplayGoal]
    icon: str
    ends: tuple[str, str]

    def goal(self, name: str) -> ReplayGoal:
        """The goal of this name; a grey one if the world has none."""
        if name == NONE_OF_THESE:
            return ReplayGoal.of(name, "?", GREY, "none")
        return self.goals.get(name) or ReplayGoal.of(name, printable(name)[:1].upper(), GREY, self.icon)

    def rank(self, name: str) -> tuple[int, str]:
        """The position of a goal in the order; unknown ones come after the others, and none of these last."""
        return _position([*self.goals, *[name] * (name != NONE_OF_THESE)], name), name


def level_scene(level: WorldLevel[Any]) -> LevelScene:
    """The drawing of a level's world for viewers: its start, moving parts, fog, goals and their icons."""
    world = level.world
    if isinstance(world, Overcooked):
        marks = {recipe: (name, *kitchen_drawing.recipe_mark(recipe)) for recipe, name in DISHES.items()}
        return LevelScene(
            world=world,
            vocabulary={action: action for action in ACTIONS},
            picture=kitchen_drawing.draw(world, world.initial, numbered=True).svg(),
            parts=partial(kitchen_drawing.moving_parts, world),
            fog=partial(kitchen_drawing.fog, world),
            goals={recipe: ReplayGoal.of(*mark, "dish") for recipe, mark in marks.items()},
            icon="dish",
            ends=("Every dish is delivered", "Not every dish was delivered"),
        )
    if not isinstance(world, DoorsKeysGems):
        return _own_scene(world)
    letters = map_drawing.colour_labels(world)
    colours = dict.fromkeys(gem.colour for gem in world.gems)
    return LevelScene(
        world=world,
        vocabulary=world.vocabulary,
        picture=map_drawing.draw(world, world.initial, goals=True).svg(),
        parts=partial(map_drawing.moving_parts, world, goals=True),
        fog=None,
        goals={colour: ReplayGoal.of(f"{colour} gem", letters[colour], hue(colour), "gem") for colour in colours},
        icon="gem",
        ends=("Everybody has their gem", "Not everybody had their gem"),
    )


def _own_scene(world: Any) -> LevelScene:
    """A world of the user's, which draws itself, or a grid drawn as text."""
    drawing = text_grid if isinstance(world, TextGrid) else own_world
    colours = {str(goal): colour for goal, colour in goal_colours(world).items()}
    letters = labels(colours)
    return LevelScene(
        world=world,
        vocabulary={},
        picture=drawing.draw(world, world.start(np.random.default_rng(0))).svg(),
        parts=partial(drawing.moving_parts, world),
        fog=None,
        goals={name: ReplayGoal.of(name, letters[name], colour, "gem") for name, colour in colours.items()},
        icon="gem",
        ends=("Everybody reached their goal", "Not everybody reached their goal"),
    )


# Which episodes, in which order


def replays(levels: Levels, rows: Sequence[Row]) -> Html:
    """An element to step through the episodes of these levels; other levels, and held-out ones, are left out.

    Of several episodes of a level with the same facilitator, it shows the one with the lowest seed.
    Raises InputError if rows are missing, double or do not fit their level.
    """
    rows_by_episode = _choose(levels, rows)
    if not rows_by_episode:
        return stack("There is no episode to show.")
    kinds, subject_order = list(KINDS), list(SUBJECTS)
    played = {name for name, _ in rows_by_episode}
    names = sorted((name for name in levels if name in played), key=lambda name: _position(kinds, levels[name].kind))
    subjects = sorted(
        {subject for _, subject in rows_by_episode}, key=lambda subject: (_position(subject_order, subject), subject)
    )
    replay_levels = []
    level_episodes = []
    for name in names:
        scene = level_scene(levels[name])
        plays = {s: _Played.of(scene, rows_by_episode[name, s]) for s in subjects if (name, s) in rows_by_episode}
        goals = sorted({goal for episode in plays.values() for goal in episode.goals()}, key=scene.rank)
        initials = labels(scene.world.agents).items()
        people = [(agent, letters, PEOPLE[i % len(PEOPLE)]) for i, (agent, letters) in enumerate(initials)]
        start = {part.name: part for part in scene.parts(scene.world.initial)}
        replay_levels.append(ReplayLevel(levels[name].name, scene.picture, start, people, [*map(scene.goal, goals)]))
        level_episodes.append([plays[s].episode(goals, plays.get("none")) if s in plays else None for s in subjects])
    options = dict.fromkeys((*KINDS.values(), "Other levels"), "")
    for i, level in enumerate(levels[name] for name in names):
        options[KINDS.get(level.kind, "Other levels")] += f'<option value="{i}">{safe(level.name)}</option>'
    groups = "".join(f'<optgroup label="{safe(k)}">{inside}</optgroup>' for k, inside in options.items() if inside)
    choices = (
        f'<label>Level <select data-at="level">{groups}</select></label>\n'
        '<fieldset data-at="subjects"><legend>Facilitator</legend></fieldset>\n'
    )
    titled = [(subject, SUBJECTS.get(subject, subject)) for subject in subjects]
    return viewer(replay_levels, level_episodes, titled, choices=Html(choices))


def _choose(levels: Levels, rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """The rows of every level and facilitator, of the lowest seed there is."""
    by_episode: dict[tuple[str, str], dict[int, list[Row]]] = {}
    for row in rows:
        if row["episode"] in levels and not row["condition"].startswith("heldout/"):
            seeds = by_episode.setdefault((row["episode"], row["subject"]), {})
            seeds.setdefault(row["seed"], []).append(row)
    return {key: seeds[min(seeds)] for key, seeds in by_episode.items()}


def _position(order: Sequence[str], value: str) -> int:
    """The index of a value in an order; that after the last if it is not in it."""
    return order.index(value) if value in order else len(order)


# One episode


class _Message(NamedTuple):
    """A message of the facilitator.

    `t` is the step at which it was sent, `words` its reason, `saves` the steps that it was expected to save (None if
    not recorded), `end` the step at which it ended, and `status` how: one of ENDED, or `running`.
    """

    t: int
    message: str
    words: str
    saves: float | None
    end: int
    status: str

    @property
    def fate(self) -> str:
        """A sentence on the steps that the message was expected to save, and on its end."""
        ending = f"{ENDINGS.get(self.status, ENDINGS['running'])} {self.end}."
        promise = "" if self.saves is None else f"was expected to save {number(self.saves, 1)} steps and "
        return f"It {promise}{ending}"

    @property
    def story(self) -> str:
        """The message with its step and its fate."""
        return f"Step {self.t}: {self.message}. {self.fate}"


@dataclass(frozen=True)
class _Played:
    """An episode that was played.

    `acts[t]` are the rows of step t by agent, `facilitator[t]` the facilitator's row ({} if it has none), and `states`
    the states before each step and after the last.
    """

    scene: LevelScene
    acts: list[dict[str, Row]]
    facilitator: list[Row]
    states: list[Any]

    @classmethod
    def of(cls, scene: LevelScene, rows: Sequence[Row]) -> _Played:
        """The rows, sorted and replayed. Raises InputError if an action is missing, double or unknown."""
        steps = 1 + max(row["t"] for row in rows)
        if steps > len(rows) or min(row["t"] for row in rows) < 0:
            raise InputError(f"{_where(rows[-1], steps - 1)}: the steps before it do not count up from 0")
        acts: list[dict[str, Row]] = [{} for _ in range(steps)]
        for row in rows:
            if acts[row["t"]].setdefault(row["agent"], row) is not row:
                raise InputError(f"{_where(row)} has two rows for {row['agent']}")
        facilitator = [step_rows.pop(FACILITATOR, {}) for step_rows in acts]
        world, states = scene.world, [scene.world.initial]
        for t, step_rows in enumerate(acts):
            if set(step_rows) != set(world.agents):
                people, present = ", ".join(world.agents), ", ".join(step_rows) or "nobody"
                raise InputError(f"{_where(rows[0], t)} has rows for {present}, the level has {people}")
            for row in step_rows.values():
                if row["action"] not in scene.vocabulary:
                    raise InputError(f"{_where(row, t)}: no such action as `{row['action']}`")
            joint = {agent: scene.vocabulary[row["action"]] for agent, row in step_rows.items()}
            states.append(world.step(states[-1], joint))
        return cls(scene, acts, facilitator, states)

    def goals(self) -> set[str]:
        """Every goal that an agent has or is thought to have."""
        rows = [row for step_rows in self.acts for row in step_rows.values()]
        return {str(goal) for row in rows for goal in (row.get("goal"), *row.get("posterior", ())) if goal}

    @property
    def done(self) -> bool:
        """Whether all agents reached their goals."""
        return bool(self.scene.world.done(self.states[-1]))

    def episode(self, goals: Sequence[str], alone: _Played | None) -> ReplayEpisode:
        """The episode as the viewer shows it, compared with the one without a facilitator, if any."""
        agents, fog = self.scene.world.agents, self.scene.fog
        inferred = any("posterior" in row for step_rows in self.acts for row in step_rows.values())
        messages, outcome = self._messages(), self._outcome(alone)
        parts = [{part.name: part for part in self.scene.parts(state)} for state in self.states]
        fogs = [[fog(state, agent) for agent in agents] for state in self.states] if fog else None
        farewell = [
            Caption("heading", "The end"),
            Caption("text", outcome),
            Caption("heading", "What was said" if messages else "Nothing was said"),
            *(Caption("text", message.story) for message in messages),
        ]
        beliefs = [
            [[round(1000 * step_rows[a].get("posterior", {}).get(goal, 0.0)) for goal in goals] for a in agents]
            for step_rows in self.acts
        ]
        captions = [self._captions(t, messages, parts[t], fogs[t] if fogs else None) for t in range(len(self.acts))]
        return ReplayEpisode(
            parts=parts,
            captions=[*captions, farewell],
            marks=[
                TimelineMark(message.t, f"Step {message.t}: {message.message}", message.end, message.status)
                for message in messages
            ],
            outcome=outcome,
            length=f"{len(self.acts)} steps" if self.done else "failed",
            views=fogs,
            wants=[goals.index(goal) if (goal := self.acts[0][agent].get("goal")) else None for agent in agents],
            beliefs=beliefs if inferred else None,
        )

    def _outcome(self, alone: _Played | None) -> str:
        """How the episode ended, compared with the episode without a facilitator."""
        steps, (reached, missed) = len(self.acts), self.scene.ends
        ended = f"{reached} after" if self.done else f"{missed} when time was up, after"
        ended = f"{ended} {steps} step{'s' * (steps != 1)}."
        if alone is None or alone is self:
            return ended
        saved = len(alone.acts) - steps
        if not alone.done:
            return f"{ended} Without a facilitator it did not come to that in {len(alone.acts)} steps."
        if not saved:
            return f"{ended} Without a facilitator it takes as many."
        return f"{ended} That is {abs(saved)} {'fewer' if saved > 0 else 'more'} than without a facilitator."

    def _messages(self) -> list[_Message]:
        """The messages of the facilitator in order. A message ends at the first later step with a status in ENDED."""
        messages = []
        last_step = len(self.facilitator)
        for t, row in enumerate(self.facilitator):
            if row.get("action"):
                message, words = row["action"], row.get("words") or ""
                later_statuses = ((u, _status(self.facilitator[u], message)) for u in range(t + 1, last_step))
                unended = last_step, _status(self.facilitator[-1], message, "outcome", "outcomes") or "running"
                end, status = next(((u, s) for u, s in later_statuses if s in ENDED), unended)
                saves = next((p["saves"] for p in row.get("prices", ()) if p["message"] == message), None)
                messages.append(_Message(t, message, words, saves, end, status))
        return messages

    def _captions(
        self, t: int, messages: Sequence[_Message], parts: Mapping[str, MovingPart], fogs: Sequence[Fog] | None
    ) -> list[Caption]:
        """The account of a step: actions, messages and reasons, what each agent does not see, and possible messages."""
        agents, row = self.scene.world.agents, self.facilitator[t]
        action_lines = []
        for i, agent in enumerate(agents):
            act = self.acts[t][agent]
            words = surprise_in_words(act.get("surprise") or 0.0)
            action_lines.append((i, f"{printable(agent)}: {act['action']}" + f" ({words})" * bool(words)))
        captions = [Caption("heading", "What everybody does next"), Caption("people", lines=action_lines)]
        messages_now = [message for message in messages if message.t == t]
        for message in messages_now:
            captions += [Caption("heading", "The facilitator says"), Caption("quote", f"{message.message}.")]
            captions += [Caption("text", message.words)] if message.words else []
            captions.append(Caption("quiet", message.fate))
        if not messages_now:
            why = f"Because {row['why']}." if row.get("why") else "No reason is recorded."
            captions += [Caption("heading", "The facilitator is silent"), Caption("text", why)]
        captions += [Caption("quiet", message.story) for message in messages if message.t < t <= message.end]
        if fogs:
            unseen = []
            for i, fog in enumerate(fogs):
                hidden = Counter(parts[name].title for name in fog.parts if parts[name].place and parts[name].title)
                things = ", ".join(title if n == 1 else f"{title} ({n})" for title, n in hidden.items())
                unseen.append((i, f"{printable(agents[i])}: {things or 'nothing'}"))
            captions += [Caption("heading", "What each does not see now"), Caption("eyes", lines=unseen)]
        if row.get("prices"):
            prices = sorted(row["prices"], key=lambda price: -price["saves"])
            lines = [(p["message"], round(p["saves"], 2), round(p["changes"], 2)) for p in prices]
            marked_lines = [n for n, (text, *_) in enumerate(lines) if messages_now and text == messages_now[0].message]
            head = ("Message", "Steps saved", "What it would change")
            captions.append(Caption("heading", "What it could say"))
            captions.append(Caption("table", lines=lines, head=head, marked=marked_lines[0] if marked_lines else -1))
        return captions


def _status(row: Row, message: str, latest: str = "status", status_by_message: str = "statuses") -> str | None:
    """The status of a message: from the column of each, or in rows without it from that of the latest."""
    status: str | None = row[status_by_message].get(message) if status_by_message in row else row.get(latest)
    return status


def _where(row: Row, t: int | None = None) -> str:
    return f"step {row['t'] if t is None else t} of `{row['episode']}` with `{row['subject']}`"
