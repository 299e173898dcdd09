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
INTEGER = re.compile(r"(-?[0-9]{1,4})(?:\.0*)?")

Names = Mapping[str, Sequence[str]]
Signatures = Mapping[str, Sequence[str]]


class Node(NamedTuple):
    """An atom (its text) or a list (its items, and no text), and where it begins in which file."""

    text: str
    items: tuple[Node, ...]
    path: Path
    line: int
    column: int

    def wrong(self, message: str, hint: str | None = None) -> InputError:
        """The error that something is wrong here."""
        return InputError(message, path=self.path, line=self.line, column=self.column, hint=hint)

    @property
    def word(self) -> str:
        """The text in lower case, as PDDL tells no upper from lower case."""
        return self.text.lower()

    def head(self) -> str:
        """The first word of a list, in lower case. Raises InputError unless it is a list that begins with a word."""
        if self.text:
            raise self.wrong(f"{quote(self.text)} where a list is needed")
        if not self.items or not self.items[0].text:
            raise self.wrong("a list that does not begin with a word")
        return self.items[0].word


class PddlFact(NamedTuple):
    """A list as a fact: its name, the words and the numbers among its arguments, and the list."""

    name: str
    words: tuple[str, ...]
    numbers: tuple[int, ...]
    at: Node


def read_nodes(text: str, path: Path) -> list[Node]:
    """The lists and atoms at the top of a text. Raises InputError for too many words or unmatched brackets."""
    levels: list[list[Node]] = [[]]
    opened: list[tuple[Path, int, int]] = []
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
            opened.append((path, line, column))
            levels.append([])
        elif word == ")" and opened:
            items = tuple(levels.pop())
            levels[-1].append(Node("", items, *opened.pop()))
        elif word in "()":
            message = "`)` closes nothing" if word == ")" else f"nested more than {MAX_DEPTH} deep"
            raise InputError(message, path=path, line=line, column=column)
        else:
            levels[-1].append(Node(word, (), path, line, column))
    if opened:
        raise Node("", (), *opened[-1]).wrong("`(` is never closed")
    return levels[0]


def quote(text: str) -> str:
    """A word from the file in quotes, cut to 40 characters, for error messages."""
    return f"`{text[:40]}…`" if len(text) > 40 else f"`{text or '(…)'}`"


def flat(node: Node) -> tuple[str, tuple[Node, ...]]:
    """The name and the arguments of a fact; `(= (xloc key1) 3)`, also with `(3)`, is `= xloc` of key1 and 3."""
    name, arguments = node.head(), node.items[1:]
    if name != "=":
        return name, arguments
    if len(arguments) != 2:
        raise node.wrong(f"`=` has {len(arguments)} arguments instead of 2")
    left, right = arguments
    name = f"= {left.word or left.head()}"
    if len(right.items) == 1 and right.items[0].text:
        right = right.items[0]
    if right.text:
        return name, (*left.items[1:], right)
    return f"{name} {right.head()}", (*left.items[1:], *right.items[1:])


def read_fact(node: Node, signatures: Signatures, names: Names) -> PddlFact:
    """A list as a fact, checked against the signatures. Raises InputError for an unknown fact or wrong arguments."""
    name, arguments = flat(node)
    if name not in signatures:
        raise node.wrong(f"unknown {quote(name)}", f"one of {', '.join(signatures)}")
    choices = [signature.split() for signature in signatures[name]]
    kinds = next((kinds for kinds in choices if len(kinds) == len(arguments)), None)
    if kinds is None:
        takes = " or ".join(str(len(kinds)) for kinds in choices)
        hint = f"such as `{example(name, choices[0], names)}`"
        raise node.wrong(f"`{name}` has {len(arguments)} arguments instead of {takes}", hint)
    pairs = list(zip(kinds, arguments, strict=True))
    words = tuple(_checked_word(kind, argument, names) for kind, argument in pairs if kind != "integer")
    return PddlFact(name, words, tuple(read_integer(argument) for kind, argument in pairs if kind == "integer"), node)


def example(name: str, kinds: Sequence[str], names: Names, about: Sequence[str] = ()) -> str:
    """A fact as it is written, such as `(= (xloc key1) 3)`, about these words."""
    fillers = {"integer": "3", "name": "red"} | {kind: members[0] for kind, members in names.items() if members}
    words = [*about, *(fillers.get(kind, kind) for kind in kinds[len(about) :])]
    equals, *functions = name.split()
    if equals != "=":
        return f"({' '.join((name, *words))})"
    if len(functions) == 2:  # a function of a list, such as the walls
        return f"(= ({functions[0]}) ({' '.join((functions[1], *words))}))"
    return f"(= ({' '.join((functions[0], *words[:-1]))}) {words[-1]})"


def read_integer(node: Node) -> int:
    """The integer that an atom stands for, also written as 3.0. Raises InputError for anything else."""
    digits = INTEGER.fullmatch(node.text)
    if not digits:
        raise node.wrong(f"{quote(node.text)} is not an integer of at most four digits")
    return int(digits[1])


def _checked_word(kind: str, node: Node, names: Names) -> str:
    """An argument of a fact as it was declared. Raises InputError unless it is of the kind in the signature.

    A kind that is not among `names` is a word that has to be there itself. Any other name is in lower case.
    """
    if kind == "name":
        return read_name(node).lower()
    members = {name.lower(): name for name in names.get(kind, [kind])}
    if node.word in members:
        return members[node.word]
    if kind not in names:
        raise node.wrong(f"{quote(node.text)} where `{kind}` is needed")
    hint = f"there is {', '.join(names[kind])}" if names[kind] else None
    raise node.wrong(f"there is no {kind} {quote(node.text)}", hint)


def read_name(node: Node) -> str:
    """The name that an atom stands for. Raises InputError for an invalid name."""
    if not NAME.fullmatch(node.text):
        raise node.wrong(f"{quote(node.text)} cannot be a name", "a letter, then up to 31 letters, digits, - or _")
    return node.text
