"""`otherminds train`: networks that learn to play in a matrix world by PPO."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train(
    substrate: Annotated[str, typer.Argument(metavar="SUBSTRATE", help="rws_repeated, rws_arena or pd_repeated.")],
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="Steps to learn from.")] = 1_000_000,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of all randomness.")] = 42,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Default: runs/ppo-SUBSTRATE-SEED.")] = None,
) -> None:
    """Train a population by PPO in one of Melting Pot's worlds.

    Writes weights, the learning curve, and a picture of it. Needs the extras: pip install "otherminds[train,fast]".

    Example: otherminds train pd_repeated --steps 2000000
    """
    import numpy as np

    from otherminds.evaluation.progress import shown
    from otherminds.papers.hypothetical_minds.ppo_report import keep
    from otherminds.papers.hypothetical_minds.ppo_training import Settings, train
    from otherminds.worlds.in_the_matrix.map_files import in_the_matrix

    world, settings = in_the_matrix(substrate), Settings()
    each = settings.steps(world)
    learning = train(world, steps, np.random.default_rng(seed), settings)
    folder = out or Path("runs") / f"ppo-{substrate}-{seed}"
    files = keep(shown(learning, -(-steps // each) * each, substrate, lambda _: each), substrate, folder)
    for file in [*files, folder / "curve.jsonl", folder / "curve.svg"]:
        typer.echo(file)
