"""Options that several commands share, as dataclasses with one field an option."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from otherminds.errors import InputError

if TYPE_CHECKING:
    from otherminds.evaluation.asking import Asking
    from otherminds.language.prices import Price

PANEL = "Language models"
UNKNOWN = "unknown"
ENDPOINT = "openai:"
TARGET_MISSED = 1
"""Exit code if a stated target is missed, a claim proves wrong, or an agent fails a check."""

SeedOption = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of all randomness.")]
JobsOption = Annotated[int, typer.Option(min=1, max=256, metavar="N", help="Processes to use.")]
LevelArgument = Annotated[
    str, typer.Argument(metavar="LEVEL", help="A bundled level, or the file of a level or PDDL problem.")
]
EngineOption = Annotated[
    str | None,
    typer.Option(metavar="ENGINE", help="processes, ray[=ADDRESS], dask[=ADDRESS]; --jobs workers."),
]
EpisodesOption = Annotated[
    int, typer.Option(min=1, max=1000, metavar="N", help="Episodes with each partner.", rich_help_panel=PANEL)
]
PriceOption = Annotated[
    str | None,
    typer.Option(metavar="IN/OUT", help="Dollars per million tokens, as 2.50/10; or: unknown.", rich_help_panel=PANEL),
]
BudgetOption = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="X", help="Stop before more dollars are spent.", rich_help_panel=PANEL),
]


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every parameter that is a dataclass replaced by one option for each of its fields."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        kind: Any = groups.get(parameter.name)
        if kind is None:
            kept = parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
            parameters.append(kept)
            continue
        types = get_type_hints(kind, include_extras=True)
        parameters += [
            inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name])
            for one in fields(kind)
        ]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            options: Any = kind
            given[name] = options(**{one.name: given.pop(one.name) for one in fields(options)})
        command(**given)

    vars(run).pop("__wrapped__")  # typer would look at the signature behind it
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


@dataclass(frozen=True)
class ModelOptions:
    """How language models are asked, and what that may cost."""

    strategy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="How it is asked: lm, qa, cot, … (docs/models.md).", rich_help_panel=PANEL),
    ] = None
    names: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Actions: neutral, canonical, repeated, nonsense, initials.",
            rich_help_panel=PANEL,
        ),
    ] = None
    shuffle: Annotated[
        str, typer.Option(metavar="WHAT", help="Between episodes: none, labels, payoffs, both.", rich_help_panel=PANEL)
    ] = "none"
    price: PriceOption = None
    prices: Annotated[
        Path | None,
        typer.Option(metavar="FILE", envvar="OTHERMINDS_PRICES", help="A price list (TOML).", rich_help_panel=PANEL),
    ] = None
    budget: BudgetOption = None
    replay: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Take answers from this record; ask nothing.", rich_help_panel=PANEL),
    ] = None
    at_once: Annotated[
        int,
        typer.Option(min=1, max=64, metavar="N", help="Episodes at the same time (servers).", rich_help_panel=PANEL),
    ] = 4

    def asking(self, models: Sequence[str], *, model: str, episodes: int = 1, pictures: bool = False) -> Asking:
        """How `model` is asked, at the price of all of `models`.

        Raises InputError if a price is unknown that has to be known, or if prices differ.
        """
        from otherminds.evaluation.asking import Asking
        from otherminds.language.prices import read_prices

        listed = read_prices(self.prices) if self.prices else {}
        prices = {self.price_for(spec, listed) for spec in models or ("",)}
        if len(prices) > 1:
            raise InputError("these agents have different prices", hint="check them one at a time")
        return Asking(
            model=model,
            strategies=tuple(dict.fromkeys(self.strategy or [])),
            names=tuple(dict.fromkeys(self.names or [])),
            shuffle=self.shuffle,
            episodes=episodes,
            price=prices.pop(),
            budget=self.budget,
            replay=self.replay,
            at_once=self.at_once,
            pictures=pictures,
        )

    def price_for(self, spec: str, listed: Mapping[str, Price]) -> Price | None:
        """The given price, or else the listed one; None if the model needs none.

        A model behind an address on another machine needs one, unless it is only replayed or its price is said to be
        unknown; then there can be no budget. Raises InputError.
        """
        from otherminds.language.endpoint import Endpoint
        from otherminds.language.prices import Price, price_of

        if self.price == UNKNOWN and self.budget is not None:
            hint = "give --price IN/OUT, or no --budget"
            raise InputError("a budget cannot be kept, as the price is unknown", hint=hint)
        if self.price is not None:
            return None if self.price == UNKNOWN else Price.parse(self.price)
        if not spec.startswith(ENDPOINT) or spec == ENDPOINT:
            return None
        model = Endpoint.parse(spec.removeprefix(ENDPOINT))
        found = price_of(model.name, listed)
        if found is None and not (model.here or self.replay):
            hint = f"give --price IN/OUT, --prices FILE, or --price {UNKNOWN} to go on without"
            raise InputError(f"nobody has said what {model.name} costs", hint=hint)
        return found
