"""A facilitator that knows when to keep silent: twenty levels, people on their own and with ProToM beside them."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from otherminds import (
    DoorsKeysGemsAdvice,
    DoorsKeysGemsPlanner,
    FacilitatedEpisode,
    Goal,
    ProToM,
    Seeker,
    SilentFacilitator,
    bundled_levels,
    with_none_of_these,
)
from otherminds.reports.plots import LOOK, SOFT

COLOURS = {"not_needed": "#009e73", "useful": "#0072b2", "necessary": "#d55e00"}
found = []
for level in bundled_levels():
    world, plans = level.world, DoorsKeysGemsPlanner(level.world)
    advice, goals = DoorsKeysGemsAdvice(world, plans), [Goal("gem", gem) for gem in range(len(world.gems))]
    pairs = list(enumerate(world.agents))
    people = {name: Seeker(plans, i, goals[world.goals[i]], beta=np.inf, lapse=0) for i, name in pairs}
    watchers = {name: with_none_of_these([Seeker(plans, i, goal) for goal in goals]) for i, name in pairs}
    protom = ProToM.initial(world, advice, watchers, world.initial)
    episodes = []
    for facilitator in (SilentFacilitator(), protom):
        streams = np.random.default_rng(1), np.random.default_rng(2)
        episodes.append(list(FacilitatedEpisode(world, people, facilitator, advice, level.horizon, *streams)))
    said = sum(moment.decision.message is not None for moment in episodes[1])
    found.append((level.certificate["class"], *map(len, episodes), said))

plt.rcParams.update(LOOK)
figure, axes = plt.subplots(figsize=(6.4, 2.8))
for kind, colour in COLOURS.items():
    own = [(x, *row[1:]) for x, row in enumerate(found, 1) if row[0] == kind]
    axes.vlines([x for x, *_ in own], [a for _, a, _, _ in own], [b for _, _, b, _ in own], color=colour, linewidth=2)
    axes.plot([x for x, *_ in own], [b for _, _, b, _ in own], "o", color=colour, label=kind.replace("_", " "))
    alone, helped, said = np.sum([row[1:] for row in own], axis=0) / len(own)
    print(f"{kind:10}  alone {alone:4.1f} steps, with ProToM {helped:4.1f}, messages {said:.1f}")
axes.plot(range(1, len(found) + 1), [alone for _, alone, _, _ in found], "_", color=SOFT, label="on their own")
axes.set(xlabel="level", ylabel="steps", ylim=(0, 84), xticks=range(1, 21))
axes.legend(frameon=False, ncols=2, title="help is")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "silent_facilitator.svg", metadata={"Date": None})
