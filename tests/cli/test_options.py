"""Options that several commands share: prices of models, and dataclasses as options."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from otherminds.cli.options import ModelOptions, with_options
from otherminds.errors import InputError
from otherminds.language.prices import Price

LISTED = """
[models]
"big-*" = "1/2"
small = "0/0"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "prices.toml"
    path.write_text(text, "utf-8")
    return path


def price_for(
    spec: str, given: str | None, listed: Mapping[str, Price], *, budget: float | None = None, replay: bool = False
) -> Price | None:
    how = ModelOptions(price=given, budget=budget, replay=Path("calls.jsonl") if replay else None)
    return how.price_for(spec, listed)


KNOWN: Mapping[str, Price] = {"tiny": Price(1.0, 2.0)}
SERVED = ("openai:big", "gpt-4o", "groq/big", "big@https://host.org/v1", "ollama:big", "big@http://localhost/v1")
OTHERS = (
    "",
    "embedded",
    "embedded:smollm2",
    "smollm2",
    "module:object",
    "scripted:perfect",
    "rmax",
    "openai:",
    "nobody",
)
TINY = ("openai:tiny", "tiny@http://localhost/v1", "openai:tiny@https://host/v1", "ollama/tiny", "together:tiny")


class TestDecision:
    @pytest.mark.parametrize("spec", [*SERVED, *OTHERS])
    @pytest.mark.parametrize("given", [None, "unknown"])
    @pytest.mark.parametrize("replay", [False, True])
    def test_no_price_is_needed(self, spec: str, given: str | None, replay: bool) -> None:
        assert price_for(spec, given, KNOWN, replay=replay) is None

    @pytest.mark.parametrize("spec", TINY)
    def test_the_listed_price_counts_wherever_the_model_is(self, spec: str) -> None:
        assert price_for(spec, None, KNOWN) == Price(1.0, 2.0)
        assert price_for(spec, None, KNOWN, budget=3.0, replay=True) == Price(1.0, 2.0)

    @pytest.mark.parametrize("spec", [*SERVED, *OTHERS, *TINY])
    def test_the_price_given_counts_before_any_other(self, spec: str) -> None:
        assert price_for(spec, "3/4", KNOWN, budget=1.0) == Price(3.0, 4.0)
        assert price_for(spec, "unknown", KNOWN) is None

    @pytest.mark.parametrize(
        ("spec", "given"), [*((spec, None) for spec in (*SERVED, *OTHERS)), *((spec, "unknown") for spec in TINY)]
    )
    def test_nobody_can_keep_a_budget_without_a_price(self, spec: str, given: str | None) -> None:
        with pytest.raises(InputError, match=r"as the price is unknown \(add --price IN/OUT.* or .*--most-calls N"):
            price_for(spec, given, KNOWN, budget=0.0)

    @pytest.mark.parametrize("budget", [-1.0, math.nan, math.inf])
    def test_a_budget_is_a_sum_of_dollars(self, budget: float) -> None:
        with pytest.raises(InputError, match="a budget of"):
            price_for("gpt-4o", "1/1", KNOWN, budget=budget)

    def test_a_price_that_is_none_is_told(self) -> None:
        with pytest.raises(InputError, match="`Unknown` is no price"):
            price_for("openai:big", "Unknown", KNOWN)


class TestOptions:
    def test_a_file_of_prices_is_read(self, tmp_path: Path) -> None:
        asked = ModelOptions(prices=written(tmp_path, LISTED), budget=2.0).asking(
            ["openai:big-9"], model="openai:big-9"
        )
        assert (asked.price, asked.budget) == (Price(1.0, 2.0), 2.0)

    def test_a_broken_file_is_told_even_if_it_is_not_needed(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is not TOML"):
            ModelOptions(prices=written(tmp_path, "=")).asking(["embedded"], model="embedded")

    def test_a_player_beside_a_model_has_no_price_of_its_own(self, tmp_path: Path) -> None:
        asking = ModelOptions(prices=written(tmp_path, LISTED)).asking(["rmax", "openai:big-9", "own:x"], model="")
        assert asking.price == Price(1.0, 2.0)

    def test_calls_are_limited_instead_of_dollars(self) -> None:
        asking = ModelOptions(most_calls=7).asking(["gpt-4o"], model="openai:gpt-4o")
        assert (asking.price, asking.budget, asking.most_calls, asking.limited(5).most_calls) == (None, None, 7, 7)
        assert ModelOptions().asking(["gpt-4o"], model="openai:gpt-4o").limited(5).most_calls == 5
        assert ModelOptions(price="1/1").asking(["gpt-4o"], model="openai:gpt-4o").limited(5).most_calls is None
        assert ModelOptions(price="unknown").asking(["gpt-4o"], model="openai:gpt-4o").limited(5).most_calls == 5
        for free in (ModelOptions(), ModelOptions(replay=Path("calls.jsonl"))):
            model = "openai:gpt-4o" if free.replay else "embedded:smollm2"
            assert free.asking([model], model=model).limited(5).most_calls is None

    def test_models_of_different_prices_are_asked_one_at_a_time(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="different prices"):
            ModelOptions(prices=written(tmp_path, LISTED)).asking(["openai:big-9", "openai:small"], model="")

    def test_the_file_is_named_by_the_option_or_else_by_the_environment(self) -> None:
        app, heard = typer.Typer(), list[Path | None]()

        @app.command()
        @with_options
        def ask(options: ModelOptions) -> None:
            heard.append(options.prices)

        for words, around in (([], ""), ([], "a.toml"), (["--prices", "b.toml"], "a.toml")):
            CliRunner().invoke(app, words, env={"OTHERMINDS_PRICES": around}, catch_exceptions=False)
        assert heard == [None, Path("a.toml"), Path("b.toml")]
