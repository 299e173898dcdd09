"""Tit for tat discovered: 32 machines could be the partner; how long until its rule is known?

The partner trembles in a twentieth of the rounds, so nothing is ever proved; the player's moves are drawn at random.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from otherminds import Observer, find_game, partner
from otherminds.reports.plots import BLUE, LOOK, SOFT
from otherminds.worlds.repeated_games.machines import all_memory_one
from otherminds.worlds.repeated_games.rules import Outcome

game, rng = find_game("ipd"), np.random.default_rng(3)
machines = [machine.trembling(0.05) for machine in all_memory_one(game)]
observer = Observer.over(machine.start for machine in machines)
other = partner("tft~0.05", game).start
sure, bits = [], []
for _ in range(31):
    posterior = observer.ask(lambda mind: mind.machine.name.removesuffix("~0.05"))
    sure.append(posterior.prob("memory-one 00101"))
    bits.append(posterior.entropy / np.log(2))
    mine, theirs = int(rng.integers(2)), other.act().sample(rng)
    outcome = Outcome(own=theirs, theirs=mine, payoff=0.0)
    observer, other = observer.watch(theirs, outcome), other.observe(outcome)

known = next(t for t, p in enumerate(sure) if min(sure[t:]) > 0.9)
print(f"before: {bits[0]:.1f} bits unknown; after 30 rounds: {bits[-1]:.2f}")
print(f"from round {known} on, P(cooperates first, then does what the other did) > 0.9")
plt.rcParams.update(LOOK)
figure, axes = plt.subplots(figsize=(5.2, 2.6))
axes.plot(sure, ".-", color=BLUE, label="P(tit for tat)")
axes.plot(np.array(bits) / 5, ":", color=SOFT, label="what is unknown, of 5 bits")
axes.set(xlabel="rounds watched", ylim=(0, 1.03))
axes.legend(frameon=False, loc="center right")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "tit_for_tat.svg", metadata={"Date": None})
