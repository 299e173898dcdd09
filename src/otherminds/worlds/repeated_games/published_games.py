"""Games in the forms in which they are published: Gambit's .nfg files, and tables of payoffs (.csv).

    NFG 1 R "A title" { "North" "South" }                   NFG 1 R "A title" { "North" "South" } { 2 2 }
    { { "Hold" "Cut" } { "Hold" "Cut" } }                   6 6  9 1  1 9  3 3
    { { "" 6, 6 } { "" 9, 1 } { "" 1, 9 } { "" 3, 3 } }
    1 2 3 4

The first form lists outcomes and then the outcome of each joint action, 0 for payoffs of zero; the second one lists the
payoffs of each joint action. The first agent's action varies fastest. In either form actions may be named or counted,
and a comment in quotes may follow them. Agents and actions without a name are numbered. (Gambit, "Game representation
formats".)

    North \\ South,Hold,Cut          North,South,for North,for South
    Hold,"6, 6","1, 9"              Hold,Hold,6,6
    Cut,"9, 1","3, 3"               Hold,Cut,1,9      …

A table has a row for each action of the first of two agents and a column for each of the second, with two payoffs in a
cell, or else a row for each joint action, with all actions and then all payoffs. All numbers may be fractions, 1/3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from otherminds.errors import InputError
from otherminds.files.tables import Table, read_table

MAX_AGENTS = 16  # bounds the size of payoff tables
MAX_CELLS = 100_000  # payoffs in a game; bounds memory
LONGEST = 60  # characters of a name
LARGEST = 1e9  # absolute value of a payoff, so that sums over rounds stay exact enough
DEEPEST = 2  # lists within lists in .nfg files: those of the actions of one agent
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?(/(\d+\.?\d*|\.\d+))?", re.ASCII | re.IGNORECASE)
SYMBOL = re.compile(r'"(?P<text>(?:\\.|[^"\\])*)"|(?P<mark>[{}])|(?P<word>[^\s{}",]+)|(?P<open>")', re.DOTALL)
SEPARATOR = r"\s*[,;]\s*|\s+"  # of payoffs in a cell

Place = tuple[str | int, ...]
"""A key, then indices of nested lists: ("payoffs", 0, 1) is the second entry of the first list of payoffs."""


class Written(NamedTuple):
    """The keys of a game as a file has them, and the lines on which their values begin."""

    keys: Mapping[str, Any]
    lines: Mapping[Place, int]


def number_of(text: str) -> float:
    """The number that a text is, such as -8, .5, 1e3 or 1/3. Raises ValueError for another text."""
    if not NUMBER.fullmatch(text):
        raise ValueError("is not a number")
    numerator, slash, denominator = text.partition("/")
    if slash and not float(denominator):
        raise ValueError("divides by zero")
    number = float(numerator) / float(denominator or 1)
    if not abs(number) <= LARGEST:
        raise ValueError(f"is beyond {LARGEST:,.0f}")
    return number


class _Symbol(NamedTuple):
    """A word, a quoted text, or a list in braces, and the file and line on which it begins."""

    path: Path
    line: int
    text: str
    quoted: bool = False
    items: tuple[_Symbol, ...] | None = None

    def wrong(self, message: str, hint: str | None = None) -> InputError:
        return InputError(message, path=self.path, line=self.line, hint=hint)

    @property
    def number(self) -> float:
        """The number that it is. Raises InputError."""
        try:
            return number_of("" if self.quoted or self.items is not None else self.text)
        except ValueError as error:
            shown = "{" if self.items is not None else self.text[:60]
            raise self.wrong(f"`{shown}` {error}", "a payoff is a number, as 6, 0.5 or 1/3") from None

    @property
    def names(self) -> list[str]:
        """The names in a list of quoted texts, or as many numbers as a word says; empty if it is neither."""
        if self.items is None:
            count = int(self.text) if re.fullmatch(r"[0-9]{1,6}", self.text) and not self.quoted else 0
            return [str(n) for n in range(1, count + 1)]
        labels = [item.text.strip() or str(n) for n, item in enumerate(self.items, 1) if item.quoted]
        return labels if len(labels) == len(self.items) else []


def nfg(text: str, path: Path) -> Written:
    """The game in the text of an .nfg file. Raises InputError with the line of the first error."""
    symbols = _symbols(text, path)
    if [symbol.text for symbol in symbols[:3]] not in (["NFG", "1", "R"], ["NFG", "1", "D"]):
        hint = "Gambit can save this extensive game as .nfg" if text.startswith("EFG") else None
        raise InputError("does not begin with NFG 1 R", path=path, line=1, hint=hint)
    title, agents, actions, *body = symbols[3:] + [_Symbol(path, symbols[-1].line, "")] * max(0, 6 - len(symbols))
    if not title.quoted:
        raise title.wrong("lacks its title", 'it is in quotes, as NFG 1 R "A title"')
    names = agents.names if agents.items else []
    if not 0 < len(names) <= MAX_AGENTS:
        raise agents.wrong(f"lacks a list of 2 to {MAX_AGENTS} agents", 'it follows the title, as { "North" "South" }')
    own_names = [own.names for own in actions.items or ()]
    if len(own_names) != len(names) or not all(own_names):
        hint = '{ { "Hold" "Cut" } { "Hold" "Cut" } }, or their numbers, { 2 2 }'
        raise actions.wrong(f"lacks the actions of {len(names)} agents", hint)
    shape = [len(own) for own in own_names]
    if prod(shape) * len(shape) > MAX_CELLS:
        raise actions.wrong(f"the game has more than {MAX_CELLS:,} payoffs")
    if body and body[0].quoted:  # a comment
        body = body[1:]
    cells = _by_outcome(body, shape) if body and body[0].items is not None else _by_payoff(body, shape, actions)
    table = np.array(cells).reshape(*shape[::-1], len(shape)).transpose(*range(len(shape))[::-1], len(shape))
    lines: dict[Place, int] = {
        ("agents",): agents.line,
        ("actions",): actions.line,
        ("payoffs",): (body or symbols)[0].line,
    }
    lines |= {("actions", i): own.line for i, own in enumerate(actions.items or ())}
    shown_title = " ".join(title.text.split())[:LONGEST]
    keys = {"agents": names, "actions": own_names, "payoffs": table.tolist()}
    return Written(keys | ({"title": shown_title} if shown_title else {}), lines)


def _symbols(text: str, path: Path) -> list[_Symbol]:
    """The symbols of an .nfg file outside all braces; those in braces are items of a list."""
    stack: list[tuple[int, list[_Symbol]]] = [(1, [])]
    line, end = 1, 0
    for match in SYMBOL.finditer(text):
        line, end = line + text.count("\n", end, match.start()), match.start()
        if match["open"]:
            raise InputError("a quotation mark is not closed", path=path, line=line)
        if match["mark"] == "{":
            if len(stack) > DEEPEST:
                raise InputError("braces are nested too deeply", path=path, line=line)
            stack.append((line, []))
        elif match["mark"] == "}":
            begin, items = stack.pop()
            if not stack:
                raise InputError("a brace is closed that was not opened", path=path, line=line)
            stack[-1][1].append(_Symbol(path, begin, "", items=tuple(items)))
        elif match["word"] is not None:
            stack[-1][1].append(_Symbol(path, line, match["word"]))
        else:
            label = re.sub(r"\\(.)", r"\1", match["text"], flags=re.DOTALL)
            stack[-1][1].append(_Symbol(path, line, label, quoted=True))
    if len(stack) > 1:
        raise InputError("a brace is not closed", path=path, line=stack[-1][0])
    return stack[0][1]


def _by_outcome(body: Sequence[_Symbol], shape: Sequence[int]) -> list[list[float]]:
    """The payoffs of each joint action from a list of outcomes and the number of each joint action's outcome."""
    outcomes, *indices = body
    payoffs = [[0.0] * len(shape)]
    for outcome in outcomes.items or ():
        label, *numbers = outcome.items or [outcome]
        if not label.quoted or len(numbers) != len(shape):
            hint = f'a name and {len(shape)} payoffs, as {{ "" {", ".join(["6"] * len(shape))} }}'
            raise outcome.wrong(f"`{label.text[:60]}` is not an outcome", hint)
        payoffs.append([number.number for number in numbers])
    _check_count(indices, prod(shape), "outcomes of joint actions", outcomes)
    for index in indices:
        if not index.text.isdecimal() or index.quoted or not len(index.text) < 7 or int(index.text) >= len(payoffs):
            raise index.wrong(f"`{index.text[:60]}` is not one of {len(payoffs) - 1} outcomes", "0 is none of them")
    return [payoffs[int(index.text)] for index in indices]


def _by_payoff(body: Sequence[_Symbol], shape: Sequence[int], before: _Symbol) -> list[list[float]]:
    """The payoffs of each joint action from a list of all payoffs."""
    _check_count(body, prod(shape) * len(shape), "payoffs", before)
    numbers = [symbol.number for symbol in body]
    return [numbers[k : k + len(shape)] for k in range(0, len(numbers), len(shape))]


def _check_count(symbols: Sequence[_Symbol], count: int, what: str, before: _Symbol) -> None:
    """Raise InputError unless there are so many symbols, at the first that is too much or at the last."""
    if len(symbols) != count:
        place = symbols[count] if len(symbols) > count else (symbols or [before])[-1]
        raise place.wrong(f"{len(symbols)} {what} instead of {count}")


def payoff_table(text: str, path: Path) -> Written:
    """The game in the text of a table of payoffs. Raises InputError with the line of the first error."""
    table = read_table(path, text)
    if not table.rows or len(table.header) < 2:
        raise table.wrong("has no payoffs", hint="a row for each of your actions, a column for each of your partner's")
    own = [cells[0] or "" for _, cells in table.rows]
    if all(len(re.split(SEPARATOR, (cells[-1] or "").strip())) == 1 for _, cells in table.rows):
        return _by_joint_action(table)
    corner = [agent.strip() for agent in (table.header[0] or "").split("\\")]
    agents = corner if len(corner) == 2 and all(corner) else ["you", "partner"]
    payoffs = [[_payoffs(table, line, cell or "", 2) for cell in cells[1:]] for line, cells in table.rows]
    lines: dict[Place, int] = {("agents",): table.top, ("actions",): table.top, ("payoffs",): table.rows[0][0]}
    lines |= {("actions", 0, i): line for i, (line, _) in enumerate(table.rows)}
    return Written({"agents": agents, "actions": [own, list(table.header[1:])], "payoffs": payoffs}, lines)


def _by_joint_action(table: Table) -> Written:
    """The game in a table with a row for each joint action: a column for each agent's action, then for its payoff."""
    size, odd = divmod(len(table.header), 2)
    if odd or size < 2 or size > MAX_AGENTS:
        hint = "such as you, partner, for you, for partner; or two payoffs in each cell"
        raise table.wrong(f"{len(table.header)} columns are not the actions and payoffs of agents", table.top, hint)
    cells_by_action = dict[tuple[str, ...], list[float]]()
    for line, cells in table.rows:
        joint = tuple(cell or "" for cell in cells[:size])
        if joint in cells_by_action:
            raise table.wrong(f"{', '.join(joint)[:60]} comes twice", line)
        cells_by_action[joint] = [_payoffs(table, line, cell or "", 1)[0] for cell in cells[size:]]
    actions = [list(dict.fromkeys(own)) for own in zip(*cells_by_action, strict=True)]
    if len(cells_by_action) != prod(map(len, actions)):
        missing = next(joint for joint in product(*actions) if joint not in cells_by_action)
        raise table.wrong(f"lacks the payoffs of {', '.join(missing)[:60]}", table.rows[-1][0])
    flat = np.array([cells_by_action[joint] for joint in product(*actions)])
    payoffs = flat.reshape(*map(len, actions), size).tolist()
    lines: dict[Place, int] = {("agents",): table.top, ("actions",): table.rows[0][0], ("payoffs",): table.rows[0][0]}
    return Written({"agents": list(table.header[:size]), "actions": actions, "payoffs": payoffs}, lines)


def _payoffs(table: Table, line: int, cell: str, count: int) -> list[float]:
    """The numbers in a cell, such as 6, 1/3 or (6; 1/3). Raises InputError."""
    try:
        numbers = [number_of(part) for part in re.split(SEPARATOR, cell.strip("()[] "))]
    except ValueError as error:
        raise table.wrong(f"`{cell[:60]}` {error}", line) from None
    if len(numbers) != count:
        raise table.wrong(f"`{cell[:60]}` has {len(numbers)} payoffs instead of {count}", line)
    return numbers
