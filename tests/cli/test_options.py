"""Options that several commands share: prices of models, and dataclasses as options."""

from __future__ import annotations

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
ELSEWHERE = ("openai:big", "openai:big@https://host.org/v1", "openai:big@http://10.0.0.1/v1")
HERE = ("openai:big@http://127.0.0.1:8080/v1", "openai:big@http://localhost/v1", "openai:big@http://[::1]:1/v1")
OTHERS = ("", "embedded", "embedded:smollm2", "module:object", "scripted:perfect", "rmax", "openai:")


class TestDecision:
    @pytest.mark.parametrize("spec", ELSEWHERE)
    def test_a_model_on_another_machine_needs_a_price(self, spec: str) -> None:
        for budget in (None, 5.0):
            with pytest.raises(InputError) as caught:
                price_for(spec, None, KNOWN, budget=budget)
            hint = "give --price IN/OUT, --prices FILE, or --price unknown to go on without"
            assert str(caught.value) == f"nobody has said what big costs ({hint})"

    @pytest.mark.parametrize("spec", [*HERE, *OTHERS])
    def test_all_others_need_none(self, spec: str) -> None:
        assert price_for(spec, None, KNOWN) is None

    @pytest.mark.parametrize("spec", ELSEWHERE)
    def test_what_is_only_replayed_needs_none(self, spec: str) -> None:
        assert price_for(spec, None, KNOWN, replay=True) is None

    @pytest.mark.parametrize("spec", ["openai:tiny", "openai:tiny@http://localhost/v1", "openai:tiny@https://host/v1"])
    def test_the_listed_price_counts_wherever_the_model_is(self, spec: str) -> None:
        assert price_for(spec, None, KNOWN) == Price(1.0, 2.0)
        assert price_for(spec, None, KNOWN, budget=3.0, replay=True) == Price(1.0, 2.0)

    @pytest.mark.parametrize("spec", [*ELSEWHERE, *HERE, *OTHERS, "openai:tiny"])
    def test_the_price_given_counts_before_any_other(self, spec: str) -> None:
        assert price_for(spec, "3/4", KNOWN, budget=1.0) == Price(3.0, 4.0)
        assert price_for(spec, "unknown", KNOWN) is None

    @pytest.mark.parametrize("spec", [*ELSEWHERE, *HERE, *OTHERS, "openai:tiny"])
    def test_nobody_can_keep_a_budget_without_a_price(self, spec: str) -> None:
        with pytest.raises(InputError, match=r"as the price is unknown \(give --price IN/OUT, or no --budget\)"):
            price_for(spec, "unknown", KNOWN, budget=0.0)

    def test_a_model_that_is_named_wrongly_is_told(self) -> None:
        with pytest.raises(InputError, match="no user and no password"):
            price_for("openai:big@https://me:sekrit@host/v1", None, KNOWN)
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
