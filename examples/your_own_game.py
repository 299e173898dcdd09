"""A payoff game of one's own: a stag hunt, who should be trusted in it, and what trust is worth.

Both hunt the stag and eat well, or anybody catches a hare alone. The partner is shy: it needs two stags in a row.
"""

import numpy as np

from otherminds import Game, Task, best_response, functional_regret, play, player, tom_percent
from otherminds.worlds.repeated_games.machines import build

STAG, HARE = 0, 1
hunt = Game("stag hunt", ("you", "neighbour"), (("stag", "hare"),) * 2, ((5, 5), (0, 2), (2, 0), (2, 2)))
shy = build("shy", hunt, 0, lambda seen: STAG if seen >= 2 else HARE,
            lambda seen, own, theirs: min(seen + 1, 2) if theirs == STAG else 0)  # fmt: skip

for rounds in (2, 4, 10, 20):
    plan = best_response(hunt.payoff(), shy.chances, rounds)
    state, actions = 0, []
    for t in range(rounds):
        actions.append(int(plan.actions[t, state]))
        state = int(shy.chances.moves[state, actions[-1], STAG if state == 2 else HARE])
    print(f"{rounds:2} rounds: {''.join('SH'[action] for action in actions)}, worth {plan.values[0, 0]:.0f}")

task = Task(hunt, shy, horizon=20)
for name in ("bayes_simplicity", "rmax", "fictitious_play"):
    rng = np.random.default_rng(0)
    rows = list(play(task, player(name, hunt, horizon=20, rng=rng), rng=rng))
    hunted = "".join("SH"[row["action"]] for row in rows)
    print(f"{name:16} {hunted} foresees {tom_percent(rows):3.0f} %, loses {functional_regret(task, rows):.2f} a round")
