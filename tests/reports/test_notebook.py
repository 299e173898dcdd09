"""Objects in a notebook: short names, escaped views, and plots on axes of matplotlib."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest

import otherminds as om
from otherminds.distribution import MEANT, Categorical
from otherminds.files.html import MOST
from otherminds.papers.protom.levels import kitchens
from otherminds.stories.answering import ask
from otherminds.worlds.in_the_matrix.strategies import Aim, specialist

LEVEL = next(level for level in om.bundled_levels() if level.name == "garden-gate")
WORLD = LEVEL.world
PLANNER = om.DoorsKeysGemsPlanner(WORLD)
ADVICE = om.DoorsKeysGemsAdvice(WORLD, PLANNER)
PEOPLE = {
    agent: om.Seeker(PLANNER, i, om.Goal("gem", WORLD.goals[i]), np.inf, 0.0) for i, agent in enumerate(WORLD.agents)
}
WATCHERS: dict[str, om.Observer[Any]] = {
    agent: om.Observer.over(om.Seeker(PLANNER, i, om.Goal("gem", gem)) for gem in range(3))
    for i, agent in enumerate(WORLD.agents)
}
STEPS = list(om.rollout(WORLD, PEOPLE, steps=10, rng=np.random.default_rng(1)))
GAME = om.find_game("ipd")
TASK = om.Task(GAME, om.partner("tft", GAME), 20)
MATRIX = om.in_the_matrix("rws_repeated")
KITCHEN = om.cooking_asymmetric()
STORY = "Sally puts the ball in the basket. Sally leaves. Anne moves the ball to the box."


@pytest.fixture(autouse=True)
def closed() -> Any:
    yield
    plt.close("all")


def state_of(world: Any) -> Any:
    return world.start(np.random.default_rng(0))


OBJECTS: dict[str, Callable[[], Any]] = {
    "distribution": lambda: Categorical.uniform(range(1000)),
    "goals": lambda: WATCHERS["Ana"].ask(lambda mind: mind.goal),
    "observer": lambda: WATCHERS["Ana"],
    "mind": lambda: PEOPLE["Ana"],
    "goal": lambda: om.Goal("gem", 0),
    "level": lambda: LEVEL,
    "world": lambda: WORLD,
    "state": lambda: state_of(WORLD),
    "planner": lambda: PLANNER,
    "messages": lambda: ADVICE,
    "facilitator": lambda: om.ProToM.initial(WORLD, ADVICE, WATCHERS, WORLD.initial),
    "silent": om.SilentFacilitator,
    "step": lambda: STEPS[0],
    "kitchen level": lambda: kitchens.DESIGN.bundled()[0],
    "kitchen": lambda: kitchens.DESIGN.bundled()[0].world,
    "kitchen state": lambda: kitchens.DESIGN.bundled()[0].world.initial,
    "matrix world": lambda: MATRIX,
    "matrix state": lambda: state_of(MATRIX),
    "matrix view": lambda: MATRIX.observe(state_of(MATRIX), MATRIX.agents[0]),
    "cooking": lambda: KITCHEN,
    "cooking state": lambda: state_of(KITCHEN),
    "game": lambda: GAME,
    "machine": lambda: om.partner("capri", GAME),
    "task": lambda: TASK,
    **{
        name: partial(om.player, name, GAME, horizon=20, rng=np.random.default_rng(0))
        for name in ("rmax", "bayes", "bayes_library", "bayes_simplicity", "counts_model", "posterior_sampling")
    },
    "answer": lambda: ask(STORY, "Where will Sally look for the ball?", ("basket", "box")),
    "unanswered": lambda: ask("Zork.", "Where will Sally look for the ball?", ("basket", "box")),
}
SHOW_THEMSELVES = (
    *("distribution", "goals", "observer", "level", "world", "kitchen level", "kitchen", "matrix world", "cooking"),
    *("game", "answer", "unanswered"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTS)
def test_everything_has_a_short_name(name: str) -> None:
    said = repr(OBJECTS[name]())
    assert len(said) <= 200
    assert "\n" not in said
    assert not re.search(r"object at 0x|\d{20}", said)


@pytest.mark.parametrize("name", SHOW_THEMSELVES)
def test_views_are_small_and_well_formed(name: str) -> None:
    shown = OBJECTS[name]()._repr_html_()
    ElementTree.fromstring(f"<div>{shown}</div>")
    assert len(shown) < 60_000
    assert "<script" not in shown


def test_a_distribution_shows_the_likeliest_of_many_and_the_sum_of_the_others() -> None:
    many = Categorical.from_scores((f"x{i}", float(np.log(i + 1))) for i in range(40))
    shown = many._repr_html_()
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", shown)
    names, shares = cells[::2], [float(share) for share in cells[1::2]]
    assert names == [*(f"x{i}" for i in range(40 - MOST, 40)), f"{40 - MOST} more"]
    assert shares[-1] == pytest.approx(sum(range(1, 41 - MOST)) / sum(range(1, 41)), abs=0.005)
    assert repr(many).endswith("x39: 0.05, 34 more)")


def test_names_are_escaped() -> None:
    evil = Categorical.uniform(["<script>alert(1)</script>", "fair"])
    assert "<script" not in evil._repr_html_()
    assert "&lt;script&gt;" in evil._repr_html_()


def test_probabilities_are_had_by_outcome() -> None:
    law = Categorical.from_scores([("red", 0.0), ("blue", float(np.log(3.0)))])
    assert law["blue"] == pytest.approx(0.75)
    assert dict(law) == pytest.approx({"red": 0.25, "blue": 0.75})
    with pytest.raises(KeyError, match="'green' is none of its outcomes"):
        law["green"]


@pytest.mark.parametrize("guess", [*MEANT, "zork"])
def test_what_a_distribution_lacks_is_told_with_what_it_has(guess: str) -> None:
    with pytest.raises(AttributeError, match=f"^a Categorical has no `{guess}`") as told:
        getattr(Categorical.uniform("ab"), guess)
    for name in re.findall(r"c\.(\w+)", MEANT.get(guess, "")):
        assert hasattr(Categorical, name) or name in Categorical.__dataclass_fields__
    assert ("otherminds." in str(told.value)) == (guess in ("plot", "show", "bar"))


# Pictures and replays


def document(shown: str) -> str:
    (source,) = re.findall(r'^<iframe srcdoc="([^"]*)" width="100%" height="\d+" style="border:0"></iframe>$', shown)
    return html.unescape(source)


def test_a_state_is_a_picture() -> None:
    for world in (WORLD, MATRIX, KITCHEN):
        ElementTree.fromstring(om.view(world)._repr_html_())
    later = om.view(LEVEL, STEPS[-1].after)
    assert later != om.view(LEVEL)
    assert later == om.view(WORLD, STEPS[-1].after)


def test_steps_are_a_replay_with_what_observers_believe() -> None:
    plain, watched = (document(om.view(LEVEL, STEPS, watchers)) for watchers in (None, WATCHERS))
    for page in (plain, watched):
        assert page.startswith("<!doctype html>")
        assert f"{len(STEPS)} steps." in page
    believed = [
        1000 * moment["Ana"].ask(lambda m: m.goal).prob(om.Goal("gem", 1))
        for moment in om.replay(WORLD, WATCHERS, STEPS)
    ]
    assert f",{round(believed[4])}," in watched
    assert '"beliefs":null' in plain


def test_moments_are_a_replay_with_messages() -> None:
    helper, rng = om.ProToM.initial(WORLD, ADVICE, WATCHERS, WORLD.initial), np.random.default_rng
    moments = list(om.FacilitatedEpisode(WORLD, PEOPLE, helper, ADVICE, 80, rng(1), rng(2)))
    said = next(moment.decision.words for moment in moments if moment.decision.words)
    assert said in document(om.view(LEVEL, moments))


def test_a_matrix_world_is_replayed() -> None:
    rng = np.random.default_rng(0)
    bots = {a: om.MatrixBot.initial(MATRIX, a, specialist(Aim(0, 3)), rng) for a in MATRIX.agents}
    steps = list(om.rollout(MATRIX, bots, steps=30, rng=rng))
    assert "data-replay" in document(om.view(MATRIX, steps))


def test_what_cannot_be_viewed_is_told() -> None:
    with pytest.raises(om.InputError, match="no steps to view"):
        om.view(WORLD, [])
    stay = [om.Step[Any, Any](state_of(KITCHEN), {}, state_of(KITCHEN))]
    with pytest.raises(om.InputError, match="single pictures"):
        om.view(KITCHEN, stay)


# Plots


def test_a_posterior_is_plotted_as_it_is() -> None:
    law = Categorical.from_scores([("red", 0.0), ("blue", float(np.log(3.0)))])
    axes: Any = om.plot_posterior(law)
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0.25, 0.75])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["red", "blue"]
    both: Any = om.plot_posterior({"one": law, "two": Categorical.uniform(["blue", "green"])})
    assert [bar.get_height() for bar in both.patches] == pytest.approx([0.25, 0.75, 0.0, 0.0, 0.5, 0.5])
    lines: list[Any] = om.plot_posterior([law, Categorical.uniform(["red"])]).get_lines()
    assert [list(line.get_ydata()) for line in lines] == [pytest.approx([0.25, 1.0]), pytest.approx([0.75, 0.0])]
    assert om.plot_posterior(WATCHERS["Ana"], ax=axes) is axes


def test_a_trajectory_is_plotted_where_it_went() -> None:
    axes = om.plot_trajectory(LEVEL, STEPS)
    ana: Any = axes.get_lines()[0]
    cells = [STEPS[0].state.cells[0], *(step.after.cells[0] for step in STEPS)]
    places = list(zip(ana.get_xdata(), ana.get_ydata(), strict=True))
    assert places == [pytest.approx(WORLD.grid.xy(cell)) for cell in cells]
    for world, steps in ((WORLD, []), (TASK, STEPS)):
        with pytest.raises(om.InputError, match="no path to plot"):
            om.plot_trajectory(world, steps)


def test_regret_is_plotted_as_it_adds_up() -> None:
    rng = np.random.default_rng(0)
    rows = list(om.play(TASK, om.player("rmax", GAME, horizon=20, rng=rng), rng=rng))
    line: Any = om.plot_regret(rows).get_lines()[0]
    assert line.get_ydata()[-1] / 20 == pytest.approx(om.functional_regret(TASK, rows))
    legend: Any = om.plot_regret({"rmax": rows}).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["rmax"]


def test_a_saved_picture_has_its_text_as_text_and_is_always_the_same(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.svg", "b.svg", "c.png")]
    for file in files:
        om.save_picture(om.plot_posterior(Categorical.uniform(["first", "second"])), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert ">second</text>" in files[0].read_text("utf-8")
    assert files[2].read_bytes().startswith(b"\x89PNG")
