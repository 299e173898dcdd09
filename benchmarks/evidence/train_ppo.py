"""Train a population by PPO in one of Melting Pot's matrix worlds, as a baseline for Hypothetical Minds.

    python -m benchmarks.evidence.train_ppo pd_repeated --steps 2500000 --seed 42 --out runs/ppo

Writes the weights of each member, the learning curve (curve.jsonl) and a picture of it (curve.svg). Needs PyTorch and
Numba (the extras `train` and `fast`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.evidence.ppo_rollouts import Environments, Settings, against_random, lessons_of
from otherminds.errors import InputError, install_hint
from otherminds.evaluation.progress import shown
from otherminds.papers.hypothetical_minds.ppo import Network
from otherminds.reports.page import STYLE
from otherminds.reports.plots import BLUE, SOFT, WIDER, styled
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix
from otherminds.worlds.in_the_matrix.world import InTheMatrix

CurveRow = dict[str, float]
ORANGE = "#d55e00"  # colour-blind safe (Okabe and Ito)


class Progress(NamedTuple):
    """After a rollout: steps of environments so far, the figures of a learning curve, and the networks."""

    steps: int
    figures: dict[str, float]
    networks: list[Network]


def train(
    world: InTheMatrix, steps: int, rng: np.random.Generator, settings: Settings | None = None
) -> Iterator[Progress]:
    """Learn for so many steps of environments; the learning rate falls to 0. The same generator, the same networks.

    Raises InputError if PyTorch or Numba is not installed, or the seats cannot be shared out evenly.
    """
    settings, learner = settings or Settings(), _learner()
    if settings.seats % world.rules.players or settings.seats % settings.members or settings.trials % settings.members:
        message = f"{settings.seats} seats are not the same number for all of {world.rules.players} players and"
        raise InputError(f"{message} {settings.members} members", hint="nor may trials be left over")
    return _learning(world, steps, rng, settings, learner)


def _learning(
    world: InTheMatrix, steps: int, rng: np.random.Generator, settings: Settings, learner: ModuleType
) -> Iterator[Progress]:
    environments = Environments(world, settings, rng)
    population = learner.Population(environments.senses.width, settings, rng)
    each = settings.steps(world)
    for done in range(0, steps, each):
        rollout = environments.play(population, rng)
        lessons = learner.Lessons(*map(learner.torch.from_numpy, lessons_of(rollout, settings)))
        entropy = population.improve(lessons, 1 - done / steps, rng)
        figures = rollout.figures(environments.senses.scale) | {"entropy": entropy}
        if done // each % settings.between == 0 or done + each >= steps:
            figures["against_random"] = against_random(world, population, settings, rng)
        yield Progress(done + each, figures, population.networks())


def _learner() -> ModuleType:
    try:
        from benchmarks.evidence import ppo_learner
    except ImportError as error:
        message = f"training needs PyTorch: {error}"
        raise InputError(message, hint=install_hint("train", "fast")) from None
    return ppo_learner


def keep(played: Iterable[Progress], name: str, folder: Path) -> list[Path]:
    """Write curve.jsonl while there is progress, then curve.svg and the network of each member; the files of these.

    Raises InputError if something cannot be written.
    """
    rows, networks = list[CurveRow](), list[Network]()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "curve.jsonl").open("w", encoding="utf-8") as file:
            for progress in played:
                rows.append({"steps": progress.steps, **progress.figures})
                networks = progress.networks
                file.write(json.dumps(rows[-1]) + "\n")
                file.flush()
        with matplotlib.rc_context(STYLE):
            curve = _figure(rows, name)
            curve.savefig(folder / "curve.svg", format="svg", metadata={"Date": None, "Creator": None})
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=error.filename or folder) from None
    files = [folder / f"ppo-{name}-{member}.npz" for member in range(1, len(networks) + 1)]
    for network, path in zip(networks, files, strict=True):
        network.save(path)
    return files


@styled
def _figure(rows: Sequence[CurveRow], name: str) -> Figure:
    figure = Figure(figsize=(WIDER, 3.6))
    paid, met = figure.subplots(2, 1, sharex=True)
    _line(paid, rows, "reward", SOFT, "with the population")
    _line(paid, rows, "against_random", ORANGE, "first player, others at random")
    paid.set(title=f"{name}, per 1200 steps", ylabel="reward")
    _line(met, rows, "meetings", BLUE, "")
    met.set(ylabel="meetings", xlabel="million steps of environments", ylim=(0, None))
    figure.legend(handles=paid.lines, loc="outside lower center", frameon=False)
    return figure


def _line(axes: Axes, rows: Sequence[CurveRow], figure: str, colour: str, label: str) -> None:
    found = [(row["steps"] / 1e6, row[figure]) for row in rows if figure in row]
    axes.plot(*zip(*found, strict=True), color=colour, label=label, linewidth=1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print the files that were written."""
    parser = argparse.ArgumentParser(description="Train a population by PPO in a matrix world.")
    parser.add_argument("substrate", choices=SUBSTRATES)
    parser.add_argument("--steps", type=int, default=1_000_000, metavar="N", help="steps of environments to learn from")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="seed of all randomness")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="default: runs/ppo-SUBSTRATE-SEED")
    chosen = parser.parse_args(arguments)
    if chosen.steps < 1 or chosen.seed < 0:
        parser.error("--steps must be at least 1, --seed at least 0")
    name, world, settings = chosen.substrate, in_the_matrix(chosen.substrate), Settings()
    each = settings.steps(world)
    folder = chosen.out or Path("runs") / f"ppo-{name}-{chosen.seed}"
    try:
        learning = train(world, chosen.steps, np.random.default_rng(chosen.seed), settings)
        files = keep(shown(learning, -(-chosen.steps // each) * each, name, lambda _: each), name, folder)
    except InputError as error:
        parser.exit(2, f"{error}\n")
    for file in [*files, folder / "curve.jsonl", folder / "curve.svg"]:
        print(file)


if __name__ == "__main__":
    main()
