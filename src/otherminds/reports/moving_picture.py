"""A moving picture of an episode: the map, the beliefs about each agent's goal, and what the facilitator says.

One SVG file that needs neither a script nor a network, as for the first page of a repository or for slides.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from otherminds.distribution import Categorical
from otherminds.files.text import printable
from otherminds.reports.level_replay import level_scene
from otherminds.worlds.canvas import svg_look, svg_text
from otherminds.worlds.map_file import WorldLevel
from otherminds.worlds.sprites import GREY, INK, PAPER, MovingPart, labels

STEP = 0.55  # seconds that a step takes; chosen
REST = 2.5  # seconds that the end stays; chosen
GAP, LINE = 16.0, 22.0  # the margin, and the height of a line, in units of the map; chosen
NAMES, BAR = 118.0, 150.0  # widths of the columns of goals and of bars, in units of the map; chosen
WIDEST = 62  # characters of a line of words, for a map and bars of usual size; chosen


class Scene(NamedTuple):
    """One moment: the state, what everybody is thought to want, and what was said last, empty if nothing."""

    state: object
    beliefs: Mapping[str, Categorical[Hashable]]
    words: str


def moving_picture(level: WorldLevel[Any], scenes: Sequence[Scene], name_of: Callable[[Hashable], str]) -> str:
    """The scenes one after the other, for ever. `name_of` names a goal as the goals of the level are named."""
    stage = level_scene(level)
    drawn = [{part.name: part for part in stage.parts(scene.state)} for scene in scenes]
    picture = stage.picture
    left, top, width, height = map(float, picture.partition('viewBox="')[2].partition('"')[0].split())
    ground = picture[: picture.index("<g data-part=")].partition(">")[2]
    clock = _Clock(len(scenes))
    parts = "".join(_part([moment[name] for moment in drawn], clock) for name in drawn[0])
    x, y = left + width + GAP, top + LINE
    panels = list[str]()
    for agent, label in labels(stage.world.agents).items():
        if agent not in scenes[0].beliefs:
            continue
        panels.append(_text(x, y, f"{label}  {agent} wants", bold=True))
        for goal in scenes[0].beliefs[agent].support:
            y += LINE
            goal_icon = stage.goal(name_of(goal))
            shares = [round(BAR * scene.beliefs[agent].prob(goal), 1) for scene in scenes]
            panels.append(_text(x, y, goal_icon.name))
            bar = f'x="{x + NAMES:g}" y="{y - 12:g}" height="13" rx="2"'
            panels.append(f'<rect {bar} width="{BAR:g}" fill="#e8e8e8"/>')
            panels.append(
                f'<rect {bar} width="{shares[0]:g}" fill="{goal_icon.colour}">{clock.moves("width", shares)}</rect>'
            )
        y += 1.6 * LINE
    bottom = max(top + height, y - LINE) + LINE
    messages = list(dict.fromkeys(scene.words for scene in scenes if scene.words))
    rows = [textwrap.wrap(printable(words), WIDEST) for words in messages]
    for words, lines in zip(messages, rows, strict=True):
        opacities = [float(scene.words == words) for scene in scenes]
        inside = "".join(_text(left, bottom + n * LINE, line, bold=True) for n, line in enumerate(lines))
        panels.append(f'<g opacity="0">{inside}{clock.jumps("opacity", opacities)}</g>')
    box = (
        left - GAP,
        top - GAP,
        width + BAR + NAMES + 3 * GAP,
        bottom + LINE * max(map(len, rows), default=0) - top + GAP,
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{svg_text(f"An episode in {level.name}")}"'
    paper = f'<rect x="{box[0]:g}" y="{box[1]:g}" width="{box[2]:g}" height="{box[3]:g}" fill="{PAPER}"/>'
    return (
        f'{head} viewBox="{" ".join(f"{value:g}" for value in box)}" width="{box[2]:g}" height="{box[3]:g}" '
        f'font-family="system-ui, sans-serif">{paper}'
        f'<g font-weight="700" text-anchor="middle">{ground}{parts}</g>{"".join(panels)}</svg>\n'
    )


class _Clock(NamedTuple):
    """The times of a number of scenes, as shares of the whole, and SVG that changes an attribute with them."""

    scenes: int

    @property
    def _timing(self) -> str:
        """The attributes for times: one for each scene as a share of the whole, and one more for the end."""
        seconds = STEP * self.scenes + REST
        times = [*(STEP * t / seconds for t in range(self.scenes)), 1.0]
        return f'keyTimes="{";".join(f"{t:.4g}" for t in times)}" dur="{seconds:g}s" repeatCount="indefinite"'

    def moves(self, attribute: str, values: Sequence[object], element: str = "animate") -> str:
        """An attribute that goes smoothly from value to value and rests at the last; nothing if it never changes."""
        if len(set(values)) == 1:
            return ""
        return f'<{element} attributeName="{attribute}" values="{_joined(values)}" {self._timing}/>'

    def jumps(self, attribute: str, values: Sequence[object]) -> str:
        """An attribute that changes at once."""
        return f'<animate attributeName="{attribute}" calcMode="discrete" values="{_joined(values)}" {self._timing}/>'


def _joined(values: Sequence[object]) -> str:
    """The values of an animation separated by semicolons, the last of them twice, as it stays until the end."""
    return ";".join(f"{value:g}" if isinstance(value, float) else str(value) for value in (*values, values[-1]))


def _part(moments: Sequence[MovingPart], clock: _Clock) -> str:
    """A part of the map through all scenes: a group for each look that it ever has, visible while it has it.

    A part that is not on the map stays, invisible, where it was last.
    """
    svg = ""
    places = [part.place for part in moments]
    first = next((place for place in places if place), None)
    if first is None:
        return ""
    last_places = [first]
    for place in places:
        last_places.append(place or last_places[-1])
    path = [f"{x:g} {y:g}" for x, y in last_places[1:]]
    walk = clock.moves("transform", path, 'animateTransform type="translate"')
    for look in dict.fromkeys(part._replace(place=None) for part in moments):
        opacities = [float(part.place is not None and part._replace(place=None) == look) for part in moments]
        if any(opacities):
            fade = "" if all(opacities) else clock.jumps("opacity", opacities)
            svg += f'<g transform="translate({path[0]})" opacity="{opacities[0]:g}">{svg_look(look)}{walk}{fade}</g>'
    return svg


def _text(x: float, y: float, words: str, *, bold: bool = False) -> str:
    weight = ' font-weight="700"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="15"{weight} fill="{INK if bold else GREY}">{svg_text(words)}</text>'
