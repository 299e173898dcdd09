"""The syntax of PDDL: nested lists of words with their places in the file, and facts checked by signature."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from otherminds.errors import InputError

# Limits of what is read, chosen far above any published problem.
MAX_DEPTH = 64
MAX_WORDS = 100_000  # brackets included; the walls of the largest grid take half of them
TOKEN = re.compile(r";.*|[()]|[^\s();]+")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
INTEGER = re.compile(r"-?[0-9]{1,4}")

Names = Mapping[str, Sequence[str]]
Signatures = Mapping[str, Sequence[str]]


class Node(NamedTuple):
    """An atom (its text) or a list (its items, and no text), and where it begins."""

    text: str
    items: tuple[Node, ...]
    line: int
    column: int


class PddlFact(NamedTuple):
    """A list as a fact: its name, the words and the numbers among its arguments, and where it begins."""

    name: str
    words: tuple[str, ...]
    numbers: tuple[int, ...]
    line: int
    column: int


class MapSpot(NamedTuple):
    """A cell in the coordinates of `Grid`, and its place in the file."""

    x: int
    y: int
    line: int
    column: int


def read_nodes(text: str, path: Path) -> list[Node]:
    """The lists and atoms at the top of a text. Raises InputError for too many words or unmatched brackets."""
    levels: list[list[Node]] = [[]]
    opened: list[tuple[int, int]] = []
    tokens = (
        (match.group(), number, match.start() + 1)
        for number, line in enumerate(text.split("\n"), 1)
        for match in TOKEN.finditer(line)
        if not match.group().startswith(";")
    )
    for count, (word, line, column) in enumerate(tokens, 1):
        if count > MAX_WORDS:
            raise InputError(f"has more than {MAX_WORDS:,} words and brackets", path=path, line=line, column=column)
        if word == "(" and len(opened) < MAX_DEPTH:
            opened.append((line, column))
            levels.append([])
        elif word == ")" and opened:
            items = tuple(levels.pop())
            levels[-1].append(Node("", items, *opened.pop()))
        elif word in "()":
            message = "`)` closes nothing" if word == ")" else f"nested more than {MAX_DEPTH} deep"
            raise InputError(message, path=path, line=line, column=column)
        else:
            levels[-1].append(Node(word, (), line, column))
    if opened:
        line, column = opened[-1]
        raise InputError("`(` is never closed", path=path, line=line, column=column)
    return levels[0]


def wrong(message: str, at: Node | PddlFact | MapSpot, path: Path, hint: str | None = None) -> InputError:
    """The error for something at a place in the file."""
    return InputError(message, path=path, line=at.line, column=at.column, hint=hint)


def quote(text: str) -> str:
    """A word from the file in quotes, cut to 40 characters, for error messages."""
    return f"`{text[:40]}…`" if len(text) > 40 else f"`{text or '(…)'}`"


def head(node: Node, path: Path) -> str:
    """The first word of a list. Raises InputError for anything but a list that begins with a word."""
    if node.text:
        raise wrong(f"{quote(node.text)} where a list is needed", node, path)
    if not node.items or not node.items[0].text:
        raise wrong("a list that does not begin with a word", node, path)
    return node.items[0].text


def flat(node: Node, path: Path) -> tuple[str, tuple[Node, ...]]:
    """The name and the arguments of a fact; `(= (xloc key1) 3)` is `= xloc` of key1 and 3."""
    name, arguments = head(node, path), node.items[1:]
    if name != "=":
        return name, arguments
    if len(arguments) != 2:
        raise wrong(f"`=` has {len(arguments)} arguments instead of 2", node, path)
    left, right = arguments
    name = f"= {left.text or head(left, path)}"
    if right.text:
        return name, (*left.items[1:], right)
    return f"{name} {head(right, path)}", (*left.items[1:], *right.items[1:])


def read_fact(node: Node, signatures: Signatures, names: Names, path: Path) -> PddlFact:
    """A list as a fact, checked against the signatures. Raises InputError for an unknown fact or wrong arguments."""
    name, arguments = flat(node, path)
    if name not in signatures:
        raise wrong(f"unknown {quote(name)}", node, path, f"one of {', '.join(signatures)}")
    choices = [signature.split() for signature in signatures[name]]
    kinds = next((kinds for kinds in choices if len(kinds) == len(arguments)), None)
    if kinds is None:
        takes = " or ".join(str(len(kinds)) for kinds in choices)
        raise wrong(f"`{name}` has {len(arguments)} arguments instead of {takes}", node, path)
    pairs = list(zip(kinds, arguments, strict=True))
    words = tuple(_word(kind, argument, names, path) for kind, argument in pairs if kind != "integer")
    integers = [argument for kind, argument in pairs if kind == "integer"]
    for argument in integers:
        if not INTEGER.fullmatch(argument.text):
            raise wrong(f"{quote(argument.text)} is not an integer of at most four digits", argument, path)
    numbers = tuple(int(argument.text) for argument in integers)
    return PddlFact(name, words, numbers, node.line, node.column)


def _word(kind: str, node: Node, names: Names, path: Path) -> str:
    if kind == "name":
        return read_name(node, path)
    if kind not in names and node.text != kind:
        raise wrong(f"{quote(node.text)} where `{kind}` is needed", node, path)
    if kind in names and node.text not in names[kind]:
        hint = f"there is {', '.join(names[kind])}" if names[kind] else None
        raise wrong(f"there is no {kind} {quote(node.text)}", node, path, hint)
    return node.text


def read_name(node: Node, path: Path) -> str:
    """The name that an atom stands for. Raises InputError for an invalid name."""
    if not NAME.fullmatch(node.text):
        hint = "a letter, then up to 31 letters, digits, - or _"
        raise wrong(f"{quote(node.text)} cannot be a name", node, path, hint)
    return node.text
