"""What the episode viewer has put into a page, and what a browser makes of it: shared by tests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from web_browser import MISSING, chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

F = TypeVar("F", bound=Callable[..., None])
HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">\u2028\x1b'
THERE_IS_ONE = chromium() and find_spec("playwright")


def in_browser(test: F) -> F:
    """A slow test that needs Chromium."""
    marked: F = pytest.mark.slow(pytest.mark.skipif(not THERE_IS_ONE, reason=MISSING)(test))
    return marked


def data(markup: str) -> dict[str, Any]:
    """The data of the only viewer in a page."""
    (found,) = re.findall(r'<script type="application/json" data-at="data">(.*?)</script>', markup, re.DOTALL)
    loaded: dict[str, Any] = json.loads(found)
    return loaded


class Outline(HTMLParser):
    """The tags of a page with the names of their attributes, in order."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[str]]] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, [name for name, _ in attrs]))


def browsed(tab: Page, markup: str, moment: str, folder: Path, *, still: bool = False) -> str:
    """The page two seconds after it was opened, by its own clock; `still`: for somebody who wants no motion."""
    file = folder / "page.html"
    file.write_text(markup, "utf-8")
    tab.emulate_media(reduced_motion="reduce" if still else "no-preference")
    tab.goto("about:blank")  # another moment of the same address would not be loaded again
    tab.goto(f"{file.as_uri()}#{moment}")
    tab.clock.run_for(2000)
    return tab.content()


def account(viewed: dict[str, Any], t: int, level: int = 0, subject: int = 0) -> list[list[Any]]:
    """The captions at a step of an episode, their numbers replaced by what they stand for."""
    changes = viewed["episodes"][level][subject]["captions"]
    (numbers,) = [numbers for since, numbers in changes if since <= t][-1:]
    return [_spelt(viewed, *viewed["captions"][number]) for number in numbers]


def _spelt(viewed: dict[str, Any], kind: str, *rest: Any) -> list[Any]:
    words = viewed["words"]
    if kind in ("people", "eyes"):
        return [kind, [(i, words[word]) for i, word in rest[0]]]
    if kind == "table":
        return [kind, [(words[word], *numbers) for word, *numbers in rest[1]], rest[2]]
    if kind == "bars":
        return [kind, rest[0], [(words[word], value) for word, value, _ in rest[1]], *rest[2:]]
    return [kind, words[rest[0]]]
