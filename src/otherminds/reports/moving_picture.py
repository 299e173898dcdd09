"""A moving picture of an episode: the map, the beliefs about each agent's goal, and what the facilitator says.

One SVG file that needs neither a script nor a network, as for the first page of a repository or for slides.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

from otherminds.distribution import Categorical
from otherminds.files.text import printable
from otherminds.reports.level_replay import Playable, level_scene
from otherminds.worlds.canvas import svg_look, svg_text
from otherminds.worlds.sprites import GREY, INK, PAPER, MovingPart, labels

STEP, REST = 0.55, 2.5  # seconds that a step takes, and that the end stays; chosen
GAP, LINE, BAR, NAMES = 16.0, 22.0, 150.0, 118.0  # lengths beside the map, in its units; chosen
WIDEST = 62  # characters of a line of words, for a map and bars of usual size; chosen


class Scene(NamedTuple):
    """One moment: the state, what everybody is thought to want, and what was said last, empty if nothing."""

    state: object
    beliefs: Mapping[str, Categorical[Hashable]]
    words: str


def moving_picture(level: Playable, scenes: Sequence[Scene], name_of: Callable[[Hashable], str]) -> str:
    """The scenes one after the other, for ever. `name_of` names a goal as the goals of the level are named."""
    stage = level_scene(level)
    drawn = [{part.name: part for part in stage.parts(scene.state)} for scene in scenes]
    picture = stage.picture
    left, top, width, height = map(float, picture.partition('viewBox="')[2].partition('"')[0].split())
    ground = picture[: picture.index("<g data-part=")].partition(">")[2]
    clock = _Clock(len(scenes))
    parts = "".join(_part([now[name] for now in drawn], clock) for name in drawn[0])
    x, y, panels = left + width + GAP, top + LINE, list[str]()
    for agent, label in labels(stage.world.agents).items():
        panels.append(_text(x, y, f"{label}  {agent} wants", bold=True))
        for goal in scenes[0].beliefs[agent].support:
            y += LINE
            look = stage.goal(name_of(goal))
            shares = [round(BAR * scene.beliefs[agent].prob(goal), 1) for scene in scenes]
            panels.append(_text(x, y, look.name))
            bar = f'x="{x + NAMES:g}" y="{y - 12:g}" height="13" rx="2"'
            panels.append(f'<rect {bar} width="{BAR:g}" fill="#e8e8e8"/>')
            panels.append(
                f'<rect {bar} width="{shares[0]:g}" fill="{look.colour}">{clock.moves("width", shares)}</rect>'
            )
        y += 1.6 * LINE
    bottom = max(top + height, y - LINE) + LINE
    messages = list(dict.fromkeys(scene.words for scene in scenes if scene.words))
    rows = [textwrap.wrap(printable(words), WIDEST) for words in messages]
    for words, lines in zip(messages, rows, strict=True):
        shown = [float(scene.words == words) for scene in scenes]
        inside = "".join(_text(left, bottom + n * LINE, line, bold=True) for n, line in enumerate(lines))
        panels.append(f'<g opacity="0">{inside}{clock.jumps("opacity", shown)}</g>')
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
        seconds = STEP * self.scenes + REST
        times = [*(STEP * t / seconds for t in range(self.scenes)), 1.0]
        return f'keyTimes="{";".join(f"{t:.4g}" for t in times)}" dur="{seconds:g}s" repeatCount="indefinite"'

    def moves(self, attribute: str, values: Sequence[object], kind: str = "animate") -> str:
        """An attribute that goes smoothly from value to value and rests at the last; nothing if it never changes."""
        if len(set(values)) == 1:
            return ""
        return f'<{kind} attributeName="{attribute}" values="{_joined(values)}" {self._timing}/>'

    def jumps(self, attribute: str, values: Sequence[object]) -> str:
        """An attribute that changes at once."""
        return f'<animate attributeName="{attribute}" calcMode="discrete" values="{_joined(values)}" {self._timing}/>'


def _joined(values: Sequence[object]) -> str:
    return ";".join(f"{value:g}" if isinstance(value, float) else str(value) for value in (*values, values[-1]))


def _part(moments: Sequence[MovingPart], clock: _Clock) -> str:
    """A part of the map through all scenes: a group for each look that it ever has, shown while it has it."""
    svg = ""
    places = [part.place for part in moments]
    first = next((place for place in places if place), None)
    if first is None:
        return ""
    standing = [first]
    for place in places:
        standing.append(place or standing[-1])
    ways = [f"{x:g} {y:g}" for x, y in standing[1:]]
    walk = clock.moves("transform", ways, 'animateTransform type="translate"')
    for look in dict.fromkeys(part._replace(place=None) for part in moments):
        opacities = [float(part.place is not None and part._replace(place=None) == look) for part in moments]
        if any(opacities):
            shown = "" if all(opacities) else clock.jumps("opacity", opacities)
            svg += f'<g transform="translate({ways[0]})" opacity="{opacities[0]:g}">{svg_look(look)}{walk}{shown}</g>'
    return svg


def _text(x: float, y: float, words: str, *, bold: bool = False) -> str:
    weight = ' font-weight="700"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="15"{weight} fill="{INK if bold else GREY}">{svg_text(words)}</text>'
