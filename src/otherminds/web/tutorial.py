"""What participants are taught before they play, and what they are asked to see whether they have understood it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any


@cache
def _lessons() -> Mapping[str, Any]:
    return tomllib.loads((resources.files("otherminds.web") / "tutorial.toml").read_text("utf-8"))


def told(world: str, looks: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The lesson of a world as a page shows it, without the answers; the looks go with how to use things."""
    lesson, advice = _lessons()[world], _lessons()["advice"]
    pages = [{**page, "text": _flowing(page["text"]), "looks": []} for page in (*lesson["pages"], advice)]
    pages[1]["looks"] = list(looks)
    checks = [{"question": check["question"], "options": check["options"]} for check in lesson["checks"]]
    return {"world": world, "pages": pages, "checks": checks}


def wrong(world: str, answers: object) -> list[int] | None:
    """Which checks were answered wrongly; None if that is not a list of answers."""
    checks = _lessons()[world]["checks"]
    if not isinstance(answers, list) or len(answers) != len(checks) or not all(type(a) is int for a in answers):
        return None
    return [i for i, (check, answer) in enumerate(zip(checks, answers, strict=True)) if answer != check["right"]]


def _flowing(text: str) -> str:
    return " ".join(text.split())
