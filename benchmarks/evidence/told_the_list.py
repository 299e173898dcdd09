"""What a Bayes-optimal player has of the best reward that is told which partners there are, but not which it meets.

    python -m benchmarks.evidence.told_the_list

At the level of meetings, in scenarios for two with a strategy behind each partner that does not slip; all of these of a
substrate, and the bots of each, are equally probable. No player that is not told the partner has more on average.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from otherminds.evaluation.literal_functional import expected_regret
from otherminds.evaluation.tasks import Task
from otherminds.worlds.in_the_matrix.hypotheses import machine_of, meeting_game
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import bot, scenarios
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.players.best_response_to_mixture import MixtureBestResponse

MEETINGS = 18  # of an episode: about as many as an able body has
NEAR = 0.9  # share of the best reward


def main() -> None:
    """Print the share in each scenario, and how many shares are near 1."""
    near = list[bool]()
    for substrate in ("rws_repeated", "pd_repeated"):
        game, of, prior = None, dict[str, dict[Machine, float]](), defaultdict[Machine, float](float)
        for one in scenarios():
            strategies = [bot(name).strategy for name in one.bots]
            slips = any("tremble" in name for name in one.bots)
            if one.id.startswith(substrate) and all(strategies) and not slips:
                game = game or meeting_game(in_the_matrix(one.substrate).rules)
                machines = [machine_of(str(s), s, game) for s in strategies if s is not None]
                of[one.id] = {machine: 1.0 / len(machines) for machine in machines}
                for machine, share in of[one.id].items():
                    prior[machine] += share
        assert game is not None
        player = MixtureBestResponse.of(game, [*prior], np.array([*prior.values()]) / len(of), MEETINGS)
        for name, bots in of.items():
            tasks = [(Task(game, machine, MEETINGS), share) for machine, share in bots.items()]
            best = sum(share * task.optimum for task, share in tasks)
            lost = sum(share * MEETINGS * expected_regret(task, player) for task, share in tasks)
            near.append(1.0 - lost / best >= NEAR)
            print(f"{name:16} {1.0 - lost / best:.2f}", flush=True)
    print(f"at least {NEAR:g} in {sum(near)} of {len(near)}")


if __name__ == "__main__":
    main()
