"""What the command line asks about language models, wherever one can take part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from otherminds.errors import InputError

if TYPE_CHECKING:
    from otherminds.evaluation.asking import Asking
    from otherminds.language.prices import Price

PANEL = "Language models"
UNKNOWN = "unknown"
ENDPOINT = "openai:"

ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="embedded[:NAME|FILE.gguf], openai:MODEL@URL, module:object.",
        rich_help_panel=PANEL,
    ),
]
StrategyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="How it is asked: lm, qa, cot, … (docs/models.md).",
        rich_help_panel=PANEL,
    ),
]
NamesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--names",
        metavar="NAME",
        help="Actions: neutral, canonical, repeated, nonsense, initials.",
        rich_help_panel=PANEL,
    ),
]
ShuffleOption = Annotated[
    str, typer.Option(metavar="WHAT", help="Between episodes: none, labels, payoffs, both.", rich_help_panel=PANEL)
]
EpisodesOption = Annotated[
    int, typer.Option(min=1, max=1000, metavar="N", help="Episodes with each partner.", rich_help_panel=PANEL)
]
PriceOption = Annotated[
    str | None,
    typer.Option(
        metavar="IN/OUT",
        help="Dollars per million tokens, as 2.50/10; or: unknown.",
        rich_help_panel=PANEL,
    ),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        envvar="OTHERMINDS_PRICES",
        help="A price list (TOML).",
        rich_help_panel=PANEL,
    ),
]
BudgetOption = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="X", help="Stop before more dollars are spent.", rich_help_panel=PANEL),
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Take answers from this record; ask nothing.", rich_help_panel=PANEL),
]
AtOnceOption = Annotated[
    int,
    typer.Option(min=1, max=64, metavar="N", help="Episodes at the same time (servers).", rich_help_panel=PANEL),
]
PicturesOption = Annotated[
    bool, typer.Option("--pictures", help="As a facilitator, it sees pictures too.", rich_help_panel=PANEL)
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
    prices: Path | None = None,
) -> Asking:
    """All options about a language model in one. Raises InputError if it is not known what it will cost."""
    from otherminds.evaluation.asking import Asking
    from otherminds.language.price_files import read_prices

    listed = read_prices(prices) if prices else {}
    return Asking(
        model=model,
        strategies=tuple(dict.fromkeys(strategies or [])),
        names=tuple(dict.fromkeys(names or [])),
        shuffle=shuffle,
        episodes=episodes,
        price=price_for(model, price, listed, budget=budget, replay=replay is not None),
        budget=budget,
        replay=replay,
        at_once=at_once,
        pictures=pictures,
    )


def price_for(
    spec: str, given: str | None, listed: Mapping[str, Price], *, budget: float | None = None, replay: bool = False
) -> Price | None:
    """The price of the model that a text names: the given one, or else the listed one, or None if it can do without.

    Only a model behind an address on another machine cannot, unless it is only replayed, or its price is said to be
    unknown; then there can be no budget. Raises InputError.
    """
    from otherminds.language.endpoint import Endpoint
    from otherminds.language.price_files import price_of
    from otherminds.language.prices import Price

    if given == UNKNOWN and budget is not None:
        raise InputError("a budget cannot be kept, as the price is unknown", hint="give --price IN/OUT, or no --budget")
    if given is not None:
        return None if given == UNKNOWN else Price.parse(given)
    if not spec.startswith(ENDPOINT) or spec == ENDPOINT:
        return None
    model = Endpoint.parse(spec.removeprefix(ENDPOINT))
    found = price_of(model.name, listed)
    if found is None and not (model.here or replay):
        hint = f"give --price IN/OUT, --prices FILE, or --price {UNKNOWN} to go on without"
        raise InputError(f"nobody has said what {model.name} costs", hint=hint)
    return found


def one_price(
    specs: Sequence[str], given: str | None, prices: Path | None, budget: float | None, replay: Path | None
) -> Price | None:
    """The price of all these models. Raises InputError if it is not known, or if they differ."""
    from otherminds.language.price_files import read_prices

    listed = read_prices(prices) if prices else {}
    found = {price_for(spec, given, listed, budget=budget, replay=replay is not None) for spec in specs or ("",)}
    if len(found) > 1:
        raise InputError("these agents have different prices", hint="check them one at a time")
    return found.pop()
