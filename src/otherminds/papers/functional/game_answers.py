"""Reading the moves of language models. An answer counts if it is in the form asked for, and else it is unreadable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from otherminds.language.asking import LONGEST_REPLY, Unreadable, unreadable

AROUND = " \t\r*_`\"'."
"""What may stand around an answer: spaces, quotes, emphasis."""
NOTE = 1000


class Plans(NamedTuple):
    """A move with the notes that came with it."""

    action: int
    plans: str
    insights: str


def read_answer(text: str, labels: Sequence[str]) -> int | Unreadable:
    """The option named in the last line, `Answer: option X`.

    The last line that is not empty has to be an answer, and no other line may be a different one: of a reply that
    names an option that does not exist, or two, or argues about one without choosing it, nothing is taken.
    """
    if len(text) > LONGEST_REPLY:
        return unreadable(f"is longer than {LONGEST_REPLY:,} characters", text)
    lines = [line for line in text.split("\n") if line.strip()]
    answers = [answer for line in lines if (answer := _answer(line)) is not None]
    if not lines or _answer(lines[-1]) is None:
        return unreadable("the last line is not an answer" if lines else "is empty", text)
    if len({answer.casefold() for answer in answers}) > 1:
        return unreadable("gives two answers", text)
    return _index(answers[-1], labels, text)


def read_plans(text: str, labels: Sequence[str]) -> Plans | Unreadable:
    """Plans, insights and an answer, each once and in this order; a note goes on until the next one begins."""
    action = read_answer(text, labels)
    if isinstance(action, Unreadable):
        return action
    found: dict[str, list[str]] = {}
    current = None
    for line in text.split("\n"):
        head, colon, rest = line.strip(AROUND).partition(":")
        field = head.strip(AROUND).casefold()
        if colon and field in ("plans", "insights", "answer"):
            if field in found:
                return unreadable(f"gives {field} twice", text)
            current, line = field, rest
            found[field] = []
        if current:
            found[current].append(line.strip())
    if list(found) != ["plans", "insights", "answer"]:
        return unreadable("does not have plans, insights and an answer, in this order", text)
    plans, insights = (" ".join(found[field]).strip()[:NOTE] for field in ("plans", "insights"))
    return Plans(action, plans, insights)


def _answer(line: str) -> str | None:
    head, colon, rest = line.strip(AROUND).partition(":")
    if not colon or head.strip(AROUND).casefold() != "answer":
        return None
    answer = rest.strip(AROUND)
    return answer[7:].strip(AROUND) if f"{answer} "[:7].casefold() == "option " else answer


def _index(answer: str, labels: Sequence[str], text: str) -> int | Unreadable:
    named = [i for i, label in enumerate(labels) if answer and label.strip(AROUND).casefold() == answer.casefold()]
    return named[0] if len(named) == 1 else unreadable("names no option of the game", text)
