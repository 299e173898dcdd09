"""The scenes of one episode for the viewer: any world that can be drawn, actions, beliefs and what is said."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from otherminds.files.text import printable
from otherminds.reports.level_replay import level_scene
from otherminds.reports.moving_picture import Scene
from otherminds.reports.page import Html
from otherminds.reports.replay import Caption, ReplayEpisode, ReplayLevel, TimelineMark, viewer
from otherminds.worlds.map_file import WorldLevel
from otherminds.worlds.sprites import PEOPLE, labels


def scene_replay(
    level: WorldLevel[Any],
    scenes: Sequence[Scene],
    actions: Sequence[Mapping[str, str]],
    name_of: Callable[[Hashable], str],
    truths: Mapping[str, Hashable],
) -> Html:
    """An element to step through the scenes, of which there is one more than there are joint actions in words.

    `name_of` names a goal as the goals of the level are named; `truths` are the goals that agents have, if known.
    """
    stage = level_scene(level)
    agents = list(labels(stage.world.agents).items())
    parts = [{part.name: part for part in stage.parts(scene.state)} for scene in scenes]
    supports = [belief.support for belief in scenes[0].beliefs.values()]
    goals = list(dict.fromkeys(goal for support in supports for goal in support))
    people = [(agent, label, PEOPLE[i % len(PEOPLE)]) for i, (agent, label) in enumerate(agents)]
    replay_level = ReplayLevel(level.name, stage.picture, parts[0], people, [stage.goal(name_of(g)) for g in goals])
    beliefs = [[_thousandths(scene, agent, goals) for agent, _ in agents] for scene in scenes[:-1]]
    spoken = [t for t, scene in enumerate(scenes) if scene.words and (t == 0 or scenes[t - 1].words != scene.words)]
    episode = ReplayEpisode(
        parts=parts,
        captions=[_captions(joint, scene, agents) for joint, scene in zip([*actions, {}], scenes, strict=True)],
        marks=[TimelineMark(t, f"Step {scenes[t].words}") for t in spoken],
        outcome=f"{len(actions)} steps.",
        wants=[goals.index(truths[agent]) if truths.get(agent) in goals else None for agent, _ in agents],
        beliefs=beliefs if goals else None,
    )
    return viewer([replay_level], [[episode]], title=level.name)


def _thousandths(scene: Scene, agent: str, goals: Sequence[Hashable]) -> list[int]:
    """P(goal) of an agent in thousandths; 0 for agents whose goals are not inferred."""
    belief = scene.beliefs.get(agent)
    return [round(1000 * belief.prob(goal)) if belief else 0 for goal in goals]


def _captions(joint: Mapping[str, str], scene: Scene, agents: Sequence[Any]) -> list[Caption]:
    """What everybody does next, or that this is the end, and what was said last."""
    lines = [(i, f"{printable(agent)}: {joint[agent]}") for i, (agent, _) in enumerate(agents) if agent in joint]
    captions = [Caption("heading", "What everybody does next" if joint else "The end"), Caption("people", lines=lines)]
    return captions + ([Caption("quote", scene.words)] if scene.words else [])
