from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from otherminds.cli.asking import PricesOption, asking, price_for
from otherminds.errors import InputError
from otherminds.language.price_files import price_of, read_prices
from otherminds.language.prices import Price

LISTED = """
[models]
"big-2.5" = "2.50/10"
"big-*" = "1/2"
"big-2*" = " 3 / .5 "
small = "0/0"
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "prices.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def complaint(folder: Path, text: str | bytes) -> str:
    """The one line that a file is refused with, without its folder."""
    with pytest.raises(InputError) as caught:
        read_prices(written(folder, text))
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) < 500
    return line.removeprefix(f"{folder}/")


class TestFiles:
    def test_prices_are_read_as_written(self, tmp_path: Path) -> None:
        assert read_prices(written(tmp_path, LISTED)) == {
            "big-2.5": Price(2.5, 10.0),
            "big-*": Price(1.0, 2.0),
            "big-2*": Price(3.0, 0.5),
            "small": Price(0.0, 0.0),
        }

    def test_there_may_be_none(self, tmp_path: Path) -> None:
        assert read_prices(written(tmp_path, "[models]")) == {}

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "prices.toml: `models`: Field required ([models], and lines such as"),
            ('[models]\n"a" = 1/2\n', "prices.toml:2:8: is not TOML: "),
            ('[models]\n"a" = "1/2"\n"a" = "2/2"\n', "prices.toml:3:12: is not TOML: Cannot overwrite"),
            ('[models]\n"a', "prices.toml: is not TOML: "),
            ("x = " + "[" * 50_000, "prices.toml: is nested too deeply"),
            ('[models]\na = "1/2"\n[more]\n', "prices.toml: `more`: Extra inputs are not permitted"),
            ("[models]\na = 1.5", "prices.toml: `models.a`: Input should be a valid string"),
            (
                '[models]\nbig-2.5 = "1/2"',
                "prices.toml: `models.big-2`: Input should be a valid string (put names",
            ),
            ('[models]\n"" = "1/2"', "at least 1 character"),
            (f'[models]\n{"x" * 201} = "1/2"', "at most 200 characters"),
            ('models = ["1/2"]', "prices.toml: `models`: Input should be a valid dictionary"),
            ('[models]\na = "1"', "prices.toml: `a`: `1` is no price (give dollars"),
            ('[models]\na = "-1/2"', "is no price"),
            ('[models]\na = "nan/2"', "is no price"),
            (f'[models]\na = "{"9" * 400}/2"', "a price of inf is none"),
            ('[models]\n"a*b" = "1/2"', "prices.toml: `a*b`: a * stands for the end of a name, and nowhere else"),
            ('[models]\n"a**" = "1/2"', "and nowhere else"),
            ('[models]\n"\\u001b[31m" = ""', "prices.toml: `\\x1b[31m`: `` is no price"),
            (b"[models]\n\xff", "prices.toml:2: is not UTF-8 text"),
            (b" " * 100_001, "prices.toml: is larger than 100,000 bytes"),
        ],
    )
    def test_anything_else_is_refused_in_one_line(self, tmp_path: Path, text: str | bytes, words: str) -> None:
        assert words in complaint(tmp_path, text)

    def test_a_file_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"none\.toml: cannot be read: No such file"):
            read_prices(tmp_path / "none.toml")

    def test_whatever_a_file_is_turned_into_it_is_read_or_refused(self, tmp_path: Path) -> None:
        rng, refused = np.random.default_rng(3), 0
        for _ in range(300):
            raw = bytearray(LISTED.encode())
            for place in rng.integers(len(raw), size=2):
                raw[place : place + int(rng.integers(2))] = rng.bytes(int(rng.integers(3)))
            try:
                read_prices(written(tmp_path, bytes(raw)))
            except InputError:
                refused += 1
        assert 150 < refused < 300


class TestNames:
    @pytest.mark.parametrize(
        ("name", "price"),
        [
            ("big-2.5", Price(2.5, 10.0)),
            ("big-2.5-mini", Price(3.0, 0.5)),
            ("big-2", Price(3.0, 0.5)),
            ("big-1", Price(1.0, 2.0)),
            ("big-", Price(1.0, 2.0)),
            ("big", None),
            ("BIG-2.5", None),
            ("org/big-2.5", None),
            ("small", Price(0.0, 0.0)),
            ("smaller", None),
            ("big-*", Price(1.0, 2.0)),
        ],
    )
    def test_the_whole_name_or_else_the_longest_beginning(self, tmp_path: Path, name: str, price: Price | None) -> None:
        listed = read_prices(written(tmp_path, LISTED))
        assert price_of(name, listed) == price
        assert price_of(name, dict(reversed(list(listed.items())))) == price

    def test_a_star_alone_is_any_name(self) -> None:
        assert price_of("x", {"*": Price(1.0, 1.0)}) == Price(1.0, 1.0)


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
        path = written(tmp_path, LISTED)
        asked = asking("openai:big-9", (), (), "none", 1, None, 2.0, None, 1, False, path)
        assert (asked.price, asked.budget) == (Price(1.0, 2.0), 2.0)

    def test_a_broken_file_is_told_even_if_it_is_not_needed(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is not TOML"):
            asking("embedded", (), (), "none", 1, None, None, None, 1, prices=written(tmp_path, "="))

    def test_it_is_named_by_the_option_or_else_by_the_environment(self) -> None:
        app, heard = typer.Typer(), list[Path | None]()

        @app.command()
        def ask(prices: PricesOption = None) -> None:
            heard.append(prices)

        for words, around in (([], ""), ([], "a.toml"), (["--prices", "b.toml"], "a.toml")):
            CliRunner().invoke(app, words, env={"OTHERMINDS_PRICES": around}, catch_exceptions=False)
        assert heard == [None, Path("a.toml"), Path("b.toml")]
