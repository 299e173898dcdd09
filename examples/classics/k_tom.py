"""k-ToM (levels of mind reading)

In matching pennies a 0-ToM tracks how often the other shows tails, a 1-ToM takes the other for a 0-ToM and learns its
parameters, and a 2-ToM does not know whether it plays with a 0-ToM or a 1-ToM. Devaine, Hollard and Daunizeau 2014,
PLoS ONE 9: e87619. Published: P(the other shows tails) before and after each of four rounds by tomsup 1.4.1 (Waade et
al. 2022), the authors' equations in Python (run here).

Try: let a 2-ToM play: how many rounds does it take until it is no longer taken for a 1-ToM?
"""

import sys
from pathlib import Path

import numpy as np

import otherminds as om
from otherminds.worlds.repeated_games.rules import Outcome

PENNIES = om.Game("pennies", ("odd", "even"), (("heads", "tails"),) * 2, ((-1, 1), (1, -1), (1, -1), (-1, 1)))
ROUNDS = ((1, 1), (0, 1), (1, 0), (1, 1))  # own action, then the other's; 1 is tails
PUBLISHED = {
    0: (0.5000, 0.5951, 0.6616, 0.5491, 0.6213),
    1: (0.5000, 0.6879, 0.5573, 0.6874, 0.7985),
    2: (0.5000, 0.5884, 0.4750, 0.6596, 0.6982),
}
rng = np.random.default_rng(1)
players = {k: om.player(f"k_tom_{k}", PENNIES, horizon=60, rng=rng) for k in PUBLISHED}

for k, mind in players.items():
    predicted = [mind.predict().prob(1)]
    for own, theirs in ROUNDS:
        mind = mind.observe(Outcome(own, theirs, 0.0))
        predicted.append(mind.predict().prob(1))
    print(f"{k}-ToM:", *(f"{p:.4f}" for p in predicted), " published", *(f"{p:.4f}" for p in PUBLISHED[k]))

observer, player, posteriors = om.Observer.over(players.values()), players[1], []
for _ in range(60):
    posteriors.append(om.Categorical.from_scores((f"{k}-ToM", w) for k, w in enumerate(observer.weights)))
    outcome = Outcome(player.act().sample(rng), int(rng.random() < 0.7), 0.0)  # the other shows tails in 7 of 10 rounds
    observer, player = observer.watch(outcome.own, outcome), player.observe(outcome)
print("a 1-ToM is taken, after 59 rounds, for:", *(f"{name} {p:.2f}" for name, p in posteriors[-1]))
axes = om.plot_posterior(posteriors)
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "k_tom.svg")
