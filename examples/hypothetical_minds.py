"""Hypothetical Minds in Running With Scissors: a guess about the partner is tested, believed, and played upon.

The partner gathers rocks for two meetings, then scissors. The agent sees its own window and what it is paid, no more.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from otherminds import in_the_matrix, rollout
from otherminds.papers.hypothetical_minds.agent import HypotheticalMinds
from otherminds.papers.hypothetical_minds.melting_pot import background
from otherminds.papers.hypothetical_minds.programs import Programs
from otherminds.reports.plots import BLUE, LOOK, SOFT
from otherminds.worlds.in_the_matrix.hypotheses import library
from otherminds.worlds.in_the_matrix.scenarios import bot

world, rng = in_the_matrix("rws_repeated"), np.random.default_rng(1)
me, other = world.agents
mind = HypotheticalMinds.initial(world, me, Programs.of(library(world.rules)), rng)
partner = background(world, other, bot("rws_repeated__flip_r2s_0"), rng)
for step in rollout(world, {me: mind, other: partner}, steps=1000, rng=rng):
    mind = mind.observe(world.observe(step.after, me))

kinds = world.rules.resources
for number, lesson in enumerate(mind.lessons[:6], 1):
    expected, played = lesson.expected, "?" if lesson.theirs is None else kinds[lesson.theirs]
    print(
        f"meeting {number}: expected {kinds[expected.mode]:8} ({expected.prob(expected.mode):.2f}), "
        f"was {played:8}, paid {lesson.reward:+.1f}"
    )
print("in the end:", *(f"{name} ({p:.2f})" for name, p in mind.theories[1].ranked[:1]))
right = [0.0 if lesson.theirs is None else lesson.expected.prob(lesson.theirs) for lesson in mind.lessons]
meetings = range(1, len(right) + 1)
plt.rcParams.update(LOOK)
figure, axes = plt.subplots(figsize=(5.2, 2.6))
axes.plot(meetings, right, ".-", color=BLUE, label="P(what the partner then played)")
axes.bar(meetings, [lesson.reward / 5 for lesson in mind.lessons], color=SOFT, alpha=0.5, label="paid ÷ 5")
axes.set(xlabel="meeting", ylim=(-1.05, 1.05), xticks=meetings)
axes.legend(frameon=False, loc="lower right")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "hypothetical_minds.svg", metadata={"Date": None})
