"""What the command line asks about language models, wherever one can take part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from otherminds.experiments.asking import Asking

PANEL = "Language models"

ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="embedded, embedded:NAME, embedded:FILE.gguf, openai:MODEL@URL or module:object.",
        rich_help_panel=PANEL,
    ),
]
StrategyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        help="How it is asked: lm, qa, cot, … (see docs/models.md). May be repeated. Default: lm if embedded, else qa.",
        rich_help_panel=PANEL,
    ),
]
NamesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--names",
        help="What actions are called: neutral, canonical, repeated, nonsense, initials. May be given again.",
        rich_help_panel=PANEL,
    ),
]
ShuffleOption = Annotated[
    str, typer.Option(help="What changes between episodes: none, labels, payoffs, both.", rich_help_panel=PANEL)
]
EpisodesOption = Annotated[
    int, typer.Option(min=1, max=1000, help="Episodes with each partner.", rich_help_panel=PANEL)
]
PriceOption = Annotated[
    str | None,
    typer.Option(
        metavar="IN/OUT",
        help="Dollars for a million tokens of prompts and of replies, as 2.50/10.",
        rich_help_panel=PANEL,
    ),
]
BudgetOption = Annotated[
    float | None, typer.Option(min=0.0, help="Stop before more dollars than this are spent.", rich_help_panel=PANEL)
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Take all answers from this record of calls; ask nothing.", rich_help_panel=PANEL
    ),
]
AtOnceOption = Annotated[
    int, typer.Option(min=1, max=64, help="Episodes to play at the same time (servers).", rich_help_panel=PANEL)
]
PicturesOption = Annotated[
    bool, typer.Option("--pictures", help="Show it pictures too, as a facilitator.", rich_help_panel=PANEL)
]


def asking(
    model: str,
    strategies: Sequence[str] | None,
    names: Sequence[str] | None,
    shuffle: str,
    episodes: int,
    price: str | None,
    budget: float | None,
    replay: Path | None,
    at_once: int,
    pictures: bool = False,
) -> Asking:
    """All options about a language model in one."""
    from otherminds.experiments.asking import Asking
    from otherminds.language.prices import Price

    return Asking(
        model=model,
        strategies=tuple(dict.fromkeys(strategies or [])),
        names=tuple(dict.fromkeys(names or [])),
        shuffle=shuffle,
        episodes=episodes,
        price=None if price is None else Price.parse(price),
        budget=budget,
        replay=replay,
        at_once=at_once,
        pictures=pictures,
    )
