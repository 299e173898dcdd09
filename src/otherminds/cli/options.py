"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from otherminds.errors import InputError

if TYPE_CHECKING:
    from otherminds.evaluation.asking import Asking
    from otherminds.language.prices import Price

PANEL = "Language models"
UNKNOWN = "unknown"
PRICE_OR_CALLS = "add --price IN/OUT, as --price 2.50/10 for a million tokens, or limit it by --most-calls N instead"
TARGET_MISSED = 1
"""Exit code if a stated target is missed, a claim proves wrong, or an agent fails a check."""
TOO_FEW = 4
"""Exit code if the verdict of a check is open: the interval of the loss spans the limit, or there is one partner."""

SeedOption = Annotated[int, Option(min=0, metavar="N", help="Seed of all randomness.")]
JobsOption = Annotated[int, Option(min=1, max=256, metavar="N", help="Processes to use.")]
LevelArgument = Annotated[
    str, Argument(metavar="LEVEL", help="A bundled level; a level, PDDL or grid file; or your module.py:Class.")
]
ChosenLevel = Annotated[
    str | None,
    Argument(metavar="[LEVEL]", help="A bundled level, a file, or your module.py:Class; none: lists levels."),
]
EngineOption = Annotated[
    str | None, Option(metavar="ENGINE", help="processes, ray[=ADDRESS], dask[=ADDRESS]; --jobs workers.")
]
MachinesOption = Annotated[Path | None, Option(metavar="FILE", help="Your own machines; partners by name, too.")]
OpenOption = Annotated[bool, Option("--open", help="Show the page in the browser.")]
JsonOption = Annotated[bool, Option("--json", help="Print the result as JSON.")]
model_option = partial(Option, rich_help_panel=PANEL)
"""An option in the help's panel about language models."""

PriceOption = Annotated[
    str | None, model_option(metavar="IN/OUT", help="Dollars per million tokens, as 2.50/10; or: unknown.")
]
MostCallsOption = Annotated[int | None, model_option(min=1, metavar="N", help="Stop after N calls of this command.")]
BudgetOption = Annotated[float | None, model_option(min=0.0, metavar="X", help="Stop before more dollars are spent.")]


@dataclass(frozen=True)
class ModelOptions:
    """How language models are asked, and what that may cost."""

    strategy: Annotated[
        list[str] | None, model_option(metavar="NAME", help="How it is asked: lm, qa, cot, … (docs/use/models.md).")
    ] = None
    names: Annotated[
        list[str] | None,
        model_option(metavar="NAME", help="Actions: neutral, canonical, repeated, nonsense, initials."),
    ] = None
    shuffle: Annotated[
        str | None,
        model_option(metavar="WHAT", help="none, labels, payoffs, both between episodes."),
    ] = None
    max_tokens: Annotated[
        int | None, model_option(min=1, max=1_000_000, metavar="N", help="Tokens of a reply. [by kind of question]")
    ] = None
    price: PriceOption = None
    prices: Annotated[
        Path | None, model_option(metavar="FILE", envvar="OTHERMINDS_PRICES", help="A price list (TOML).")
    ] = None
    budget: BudgetOption = None
    most_calls: MostCallsOption = None
    replay: Annotated[Path | None, model_option(metavar="FILE", help="Take answers from this record; ask nothing.")] = (
        None
    )
    at_once: Annotated[int, model_option(min=1, max=64, metavar="N", help="Episodes at the same time (servers).")] = 4

    def asking(
        self, models: Sequence[str], *, model: str, episodes: int = 1, pictures: bool = False, shuffle: str = "none"
    ) -> Asking:
        """How `model` is asked, at the price of all of `models`; `shuffle` holds unless the user says otherwise.

        Raises InputError if prices differ, or for a budget that cannot be kept.
        """
        from otherminds.evaluation.asking import Asking
        from otherminds.language.model_names import served
        from otherminds.language.prices import read_prices

        listed = read_prices(self.prices) if self.prices else {}
        prices = {self.price_for(spec, listed) for spec in models if served(spec)} or {self.price_for("", listed)}
        if len(prices) > 1:
            raise InputError("these agents have different prices", hint="check them one at a time")
        return Asking(
            model=model,
            strategies=tuple(dict.fromkeys(self.strategy or [])),
            names=tuple(dict.fromkeys(self.names or [])),
            shuffle=self.shuffle or shuffle,
            max_tokens=self.max_tokens,
            episodes=episodes,
            price=prices.pop(),
            budget=self.budget,
            most_calls=self.most_calls,
            replay=self.replay,
            at_once=self.at_once,
            pictures=pictures,
        )

    def price_for(self, spec: str, listed: Mapping[str, Price]) -> Price | None:
        """The given price, or else the listed one of this model; None if there is neither.

        Without a price calls and tokens are counted, and --most-calls limits them. Raises InputError for a budget in
        dollars then, and for one that is negative or not finite.
        """
        from otherminds.language.model_names import served
        from otherminds.language.prices import Price, check_budget, price_of

        price = None if self.price in (None, UNKNOWN) else Price.parse(self.price)
        if self.price is None and (name := served(spec)):
            price = price_of(name.model, listed)
        if self.budget is not None and price is None:
            raise InputError("a budget in dollars cannot be kept, as the price is unknown", hint=PRICE_OR_CALLS)
        check_budget(self.budget, price)
        return price


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of a parameter whose type is a dataclass, in that parameter's place."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {p.name: p.annotation for p in parameters if is_dataclass(p.annotation)}
    fields = {name: inspect.signature(group, eval_str=True).parameters.values() for name, group in groups.items()}
    options = [option for p in parameters for option in fields.get(p.name, (p,))]

    def run(**values: Any) -> None:
        grouped = {name: group(**{p.name: values.pop(p.name) for p in fields[name]}) for name, group in groups.items()}
        command(**grouped, **values)

    run.__doc__, run.__name__ = command.__doc__, command.__name__
    run.__annotations__ = {p.name: p.annotation for p in options}
    vars(run)["__signature__"] = inspect.Signature([p.replace(kind=p.KEYWORD_ONLY) for p in options])
    return run
