"""Tables of what people did, read from the forms in which they come: CSV and its relatives, Parquet, and JSON.

One row is one trial. What a column holds is guessed from its name (COLUMNS) unless the caller says it, and what people
did is decided from the columns that there are (TASKS): a repeated game, a bandit, or a role in a game of offers.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import InputError, meant, unknown
from otherminds.evaluation.choices import UNPLAYED, Choices
from otherminds.files.tables import NUMBER, Row, Table, read_table
from otherminds.worlds.bandits.rules import Bandit
from otherminds.worlds.offers import rules as offers
from otherminds.worlds.repeated_games.payoff_files import bundled_games, find_game
from otherminds.worlds.repeated_games.players.habits import MISSED
from otherminds.worlds.repeated_games.rules import Game, ordinal_games

# Limits against hostile files, chosen: numbers of an array, the arms of a bandit, and the options of an offer
MOST_CELLS = 20_000_000
MOST_ARMS = 50
MOST_OPTIONS = 201
LARGEST_ROUND = 2**53
LARGEST_AMOUNT = 1_000_000
SCALE = 10_000  # amounts of money are exact to this part of one
MOST_SHARES = 21  # shares returned that an investor expects; of more, quantiles

Floats = NDArray[np.float64]

MISSED_WORDS = ("", "none", "null", "missed", "timeout", "no response", "-")
"""Own actions, case ignored, that say that no move was made in time."""
NO_TRIAL = "that are no trials"  # why rows without the columns of a task, such as instructions, are left out
NOT_RECORDED = ("na", "n/a", "<na>", "nan")
"""Values, case ignored, of which nobody knows what they were."""
YES = ("1", "true", "yes", "y", "accept", "accepted", "a", "win", "won", "correct")
NO = ("0", "false", "no", "n", "reject", "rejected", "r", "loss", "lose", "lost", "incorrect")

_DEED = "(choice|action|decision|move|response|key|keypress)"
_MINE = "(own|my|self|player|subject|person|participant|human)?"
_OTHER = "(other|partner|opponent|opp|bot|computer|agent)s?"
_DONE = "(executed|actual|reali[sz]ed|implemented)"
_NO = "(no|nr|num|number|id|index|n)?"
_NUMBERED = "(id|no|nr|num|number|code)?"
_OWN = ("own", f"(intended{_DEED}?|{_MINE}(intended)?{_DEED}(intended)?|human|chosen(arm|option)?|arm(chosen)?)")
_COOPERATION = "(coop|cooperate|cooperated|defect|defected)"
SESSION = "sessioncode"  # oTree's, within which it numbers pairs
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "person": (
        "person",
        f"(subject|subj|sub|participant|ppt|person){_NUMBERED}|sid|pid|prolific(p?id)",
        f"(worker|player|user){_NUMBERED}|uid",
        "id",
    ),
    "group": ("group", "treatment|treat"),
    "condition": ("condition",),
    "match": ("match", f"(match|supergame){_NO}", f"game{_NO}", f"block{_NO}"),
    "game": ("game",),
    "round": ("round", f"(game)?(round|period){_NO}", "trial(no|nr|num|number|id|n)?", "trialindex|t"),
    "own": (*_OWN, _COOPERATION),
    "executed": (f"{_MINE}{_DONE}{_DEED}?|{_MINE}{_DEED}{_DONE}",),
    "other": (
        f"{_OTHER}{_DONE}{_DEED}?|{_OTHER}{_DEED}{_DONE}",
        "other",
        f"{_OTHER}{_DEED}|{_DEED}{_OTHER}",
        f"(o|other|partner|opponent){_COOPERATION}",
        "partner|opponent",
    ),
    "pair": ("pair", "(pair|dyad|couple)(id|no|nr|num|number|code)?", "idinsubsession"),
    "reward": ("reward", f"{_MINE}(rewards?|outcome|payoff|points?|feedback|win|won)", f"{_MINE}(score|earnings)"),
    "offer": ("offer", "offered|offer(ed)?amount|amountoffered|proposal|proposed"),
    "accepted": ("accepted", "accept|accepts|acceptance", *_OWN),
    "pie": ("pie", "stakes?", "endowment"),
    "sent": ("sent", "sentamount|amountsent|invested|investment"),
    "returned": ("returned", "sentback(amount)?|amount(sentback|returned)|backtransfer|repaid"),
    "endowment": ("endowment", "stakes?|budget|pie"),
    "multiplier": ("multiplier", "factor"),
    "given": ("given", "gave|giving|gift|donated|donation"),
}
"""Names of columns by what they hold, as patterns without case, blanks and signs. The first pattern that fits a name
decides; if it fits two, the caller has to say which is meant."""


class TaskColumns(NamedTuple):
    """The columns of a task: the person's choice, what is beside it, and what there is to divide.

    What is beside it is what the person knew or saw; or, if `estimated`, the other's later response, of which some may
    be missing, since it is only needed to know what could be expected.
    """

    own: str
    seen: tuple[str, ...] = ()
    stake: str = ""
    estimated: bool = False


TASKS: Mapping[str, TaskColumns] = {
    "ultimatum:responder": TaskColumns("accepted", ("offer",), "pie"),
    "ultimatum:proposer": TaskColumns("offer", ("accepted",), "pie", estimated=True),
    "trust:investor": TaskColumns("sent", ("returned",), "endowment", estimated=True),
    "trust:trustee": TaskColumns("returned", ("sent",), "endowment"),
    "dictator:dictator": TaskColumns("given", (), "endowment"),
    "game": TaskColumns("own", ("other",)),
    "bandit": TaskColumns("own", ("reward",)),
}
"""What people can have done, in the order in which it is looked for: the first whose columns are all there."""
NAMED = re.compile(r"(ultimatum|trust|dictator|bandit)(?::(\d+(?:\.\d+)?)(?:x(\d+))?)?(?::([a-z]+))?", re.ASCII)


class NamedTask(NamedTuple):
    """What the caller says people did: a key of TASKS, and the game, bandit, pie or endowment, and multiplier."""

    kind: str
    game: Callable[[str], Game] | Bandit | None = None
    stake: float | None = None
    multiplier: int | None = None


Facing = Callable[[str], Game] | Game | Bandit | str | None
"""What a caller may say that people faced."""


class Reading(NamedTuple):
    """What a table says: the choices, and how many rows were left out, by the reason, as "that are no trials"."""

    choices: Choices
    skipped: Mapping[str, int]


@dataclass
class _Match:
    """The trials of one person in one match, as rows of the table with their lines."""

    person: str
    group: str
    game: str
    number: list[int] = field(default_factory=list)
    rows: list[tuple[int, Row]] = field(default_factory=list)


@dataclass(frozen=True)
class _Trials:
    """The matches of a table, the columns by what they hold, and what the caller says of texts."""

    table: Table
    at: Mapping[str, int]
    matches: Sequence[_Match]
    task: NamedTask
    values: Mapping[str, str]
    missing: frozenset[str]

    def cells(self, what: str) -> Iterator[list[tuple[int, str]]]:
        """The cells of a column, match by match, with their lines."""
        for match in self.matches:
            yield [(line, row[self.at[what]] or "") for line, row in match.rows]

    def missed(self, text: str) -> bool:
        """Whether an own action says that there was none."""
        return text.casefold() in self.missing and _plain(text) not in self.values

    def blank(self, text: str) -> bool:
        """Whether a value says nothing."""
        return text.casefold() in (*NOT_RECORDED, *MISSED_WORDS) and _plain(text) not in self.values

    def filled(self, fill: float, *inner: int) -> Any:
        """An array of shape (S, T, …) with this value everywhere. Raises InputError if it is too large."""
        shape = (len(self.matches), max(len(match.rows) for match in self.matches), *inner)
        if math.prod(shape) > MOST_CELLS:
            raise self.table.wrong(f"makes arrays of more than {MOST_CELLS:,} numbers", hint="fit fewer people at once")
        return np.full(shape, fill)

    def padded(self, by_match: Sequence[Sequence[float]], fill: float) -> Any:
        """Values of all trials as an array of shape (S, T), `fill` after the end of a match."""
        array = self.filled(fill)
        for s, values in enumerate(by_match):
            array[s, : len(values)] = values
        return array


# What callers use


def read_choices(
    path: Path,
    game: Facing = None,
    columns: Mapping[str, str] | None = None,
    *,
    values: Mapping[str, str] | None = None,
    missing: Collection[str] = (),
    text: str | None = None,
) -> Choices:
    """The choices of `choices_of`, without the rows that were left out."""
    return choices_of(path, game, columns, values=values, missing=missing, text=text).choices


def choices_of(
    path: Path,
    game: Facing = None,
    columns: Mapping[str, str] | None = None,
    *,
    values: Mapping[str, str] | None = None,
    missing: Collection[str] = (),
    text: str | None = None,
) -> Reading:
    """Read a table of choices with named columns: CSV (comma, semicolon, tab or |), Parquet, JSON, or JSON Lines.

    `game` is what people faced: a game, or the game of each group; a bandit; a name for `task_named`; or None, if the
    columns say it. `columns` maps what COLUMNS lists to names of columns, `values` texts of the table to actions.
    Rounds increase within a match; a person who begins a new match meets a new partner. Actions are given by name or
    by the beginning of one, case ignored. An own action of MISSED_WORDS was missed. Rows with NOT_RECORDED are left
    out, unless it is the own action and also in `missing`: then that was missed. A column `condition` that varies
    within people divides them, as ana/high; further columns that do not vary are covariates. `text`, if given, is the
    table itself; then `path` only names it in errors. Raises InputError with file and line.
    """
    given = dict(columns or {})
    for what in given:
        if what not in COLUMNS:
            raise unknown("column", what, COLUMNS)
    table = read_table(path, text)
    for name in given.values():
        if not name or name not in table.header:
            hint = meant(name, table.header) if name else _listed(table)
            raise table.wrong(f"there is no column `{name[:60]}`", table.top, hint)
    if not given and [*table.header[:2]] == ["schema", "experiment"]:
        hint = "an export of a study is for otherminds reproduce study --data FILE; --columns WHAT=NAME fits it anyway"
        raise table.wrong("these are the rows of a run or a study, not a table with a choice a row", table.top, hint)
    table = _with_partner(_with_net_reward(table, given), given, game)
    task = _task(table, given, game)
    own = TASKS[task.kind].own
    if "own" in given:
        given.setdefault(own, given["own"])
    at = _columns(table, given, task)
    meaning = {_plain(name): action for name, action in (values or {}).items()}
    also_missed = frozenset(name.casefold() for name in (*MISSED_WORDS, *missing))
    trials = _Trials(table, at, (), task, meaning, also_missed)
    kept, skipped = _kept(trials)
    if not kept:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in skipped.items())
        raise table.wrong("there are no choices in it", hint=reasons and f"rows left out: {reasons}")
    choices = _choices(replace(trials, matches=_matches(trials, kept)))
    if not choices.scored.any():
        raise table.wrong("there are no choices in it", hint="all of them were missed")
    return Reading(choices, skipped)


def task_named(text: str) -> NamedTask:
    """A task by name: a game or its file, `bandit`, `ultimatum:10:proposer`, `trust:10x3:trustee`, `dictator:10`.

    Numbers are the pie or endowment, and what the amount sent is multiplied by; without a role it is the responder,
    or the investor. Raises InputError.
    """
    found = NAMED.fullmatch(text)
    if not found:
        game = find_game(text)
        return NamedTask("game", lambda _group: game)
    kind, stake, multiplier, role = found.groups()
    roles = {name.partition(":")[2]: name for name in TASKS if name.partition(":")[0] == kind}
    role = role or next(iter(roles))
    if role not in roles:
        raise unknown(f"role in {kind}", role, [name for name in roles if name])
    if (stake and kind == "bandit") or (multiplier and kind != "trust"):
        raise InputError(
            f"`{text[:60]}` has a number too many", hint="ultimatum:10, trust:10x3, dictator:10, or bandit"
        )
    return NamedTask(roles[role], None, float(stake) if stake else None, int(multiplier) if multiplier else None)


# Columns


def _listed(table: Table) -> str:
    return f"it has {', '.join(name for name in table.header if name)}"


def _with_net_reward(table: Table, given: Mapping[str, str]) -> Table:
    """The table with a column `reward` if it has a gain and a loss instead; losses may have either sign."""
    at = {_bare(name): i for i, name in enumerate(table.header)}
    if not {"gain", "loss"} <= at.keys() or "reward" in given or _candidates(table, given, "reward"):
        return table
    rows: list[tuple[int, Row]] = []
    for line, row in table.rows:
        gain, loss = (row[at[what]] or "" for what in ("gain", "loss"))
        known = not {gain.casefold(), loss.casefold()} & {*NOT_RECORDED, *MISSED_WORDS}
        net = f"{table.number(gain, 'gain', line) - abs(table.number(loss, 'loss', line)):.12g}" if known else ""
        rows.append((line, [*row, net]))
    return replace(table, header=[*table.header, "reward"], rows=rows, decimal_comma=False)


def _with_partner(table: Table, given: Mapping[str, str], game: Facing) -> Table:
    """The table with a column `other` if it has pairs of people instead, as oTree's: what the other one did.

    It is empty where the other has no row; without rounds a person's rows are in order. Groups of more than two people
    are no pairs. Raises InputError if the caller calls them so, or if it is not clear which rows belong together.
    """

    def columns_of(what: str) -> list[int]:
        return [table.header.index(given[what])] if what in given else _candidates(table, given, what)

    is_no_game = isinstance(game, Bandit) or (isinstance(game, str) and NAMED.fullmatch(game))
    is_clear = all(len(columns_of(what)) == 1 for what in ("person", "own", "pair"))
    if is_no_game or not is_clear or "other" in given or columns_of("other"):
        return table
    person, deed = columns_of("person")[0], (columns_of("executed") or columns_of("own"))[0]
    within = [i for what in ("pair", "condition", "match", "round") for i in columns_of(what)]
    within += [i for i, name in enumerate(table.header) if _bare(name) == SESSION and i not in within]
    deeds = defaultdict[Row, dict[str, list[str | None]]](dict)  # of each person of a pair in a round
    keys = [tuple(row[i] for i in within) for _, row in table.rows]
    for key, (line, row) in zip(keys, table.rows, strict=True):
        if (name := row[person]) is not None:
            deeds[key].setdefault(name, []).append(row[deed])
        if len(deeds[key]) > 2:
            if "pair" not in given:
                return table
            raise table.wrong(f"pair `{(key[0] or '')[:60]}` has more than two people in a round", line)
    if all(len(pair) < 2 for pair in deeds.values()):
        return table
    rows: list[tuple[int, Row]] = []
    before = Counter[tuple[Row, str | None]]()  # rows of a person in a round
    for key, (line, row) in zip(keys, table.rows, strict=True):
        own = deeds[key].get(row[person] or "", [])
        other = next((theirs for name, theirs in deeds[key].items() if name != row[person]), [])
        if own and other and len(own) != len(other):
            message = f"{(row[person] or '')[:60]} has {len(own)} rows, the other in the pair has {len(other)}"
            raise table.wrong(message, line, "a column `round` or `match` has to say which rows belong together")
        rows.append((line, [*row, other[before[key, row[person]]] if own and other else ""]))
        before[key, row[person]] += 1
    return replace(table, header=[*table.header, "other"], rows=rows)


def _task(table: Table, given: dict[str, str], game: Facing) -> NamedTask:
    """What people did: what the caller says, or else the first of TASKS whose columns are there."""
    if game is not None and "game" in given:
        raise InputError("a table has one game, or a column of games", hint="leave out --game, or --columns game=NAME")
    if isinstance(game, str):
        return task_named(game)
    if isinstance(game, Bandit):
        return NamedTask("bandit", game)
    if game is not None:
        return NamedTask("game", game if not isinstance(game, Game) else lambda _group: game)
    has = {what for what in COLUMNS if what in given or _candidates(table, given, what)}
    has |= {"accepted"} if "own" in given else set()
    kind = next((kind for kind, (own, seen, *_) in TASKS.items() if {own, *seen} <= has), None)
    if kind is None:
        needed = "; ".join(dict.fromkeys(" and ".join(sorted((own, *seen))) for own, seen, *_ in TASKS.values()))
        hint = f"{_listed(table)}; needed are {needed}; --columns WHAT=NAME says which holds what"
        raise table.wrong("what people did is not clear from its columns", table.top, hint)
    if kind == "game":
        column = given.get("game") or next((name for name in table.header if _bare(name) == "game"), "")
        i = table.header.index(column) if column in table.header else None
        names = {row[i] or "" for _, row in table.rows} if i is not None else set()
        if not names or not names <= _games(names).keys():
            raise table.wrong("a table needs its game", hint="--game rps, --game ipd, or a payoff file")
        given["game"] = column
    return NamedTask(kind)


def _games(names: Collection[str]) -> dict[str, Game]:
    """The games among these names; never those in files, since tables come from anywhere."""
    ordinal = ordinal_games() if any(name.startswith("ordinal-") for name in names) else ()
    known = {game.name: game for game in (*bundled_games(), *ordinal)}
    return {name: known[name.casefold()] for name in names if name.casefold() in known}


def _columns(table: Table, given: Mapping[str, str], task: NamedTask) -> dict[str, int]:
    """The columns of a task by what they hold. Raises InputError if one is missing, or two could be meant."""
    own, seen, stake, _ = TASKS[task.kind]
    needed = ("person", own, *seen)
    wanted = [*needed, "group", "condition", "match", "round"]
    wanted += ["executed"] if own == "own" else []
    wanted += [stake] if stake and (task.stake is None or stake in given) else []
    wanted += ["multiplier"] if task.kind.startswith("trust") and task.multiplier is None else []
    wanted += ["game"] if "game" in given else []
    at: dict[str, int] = {}
    for what in wanted:
        found = [table.header.index(given[what])] if what in given else _candidates(table, given, what, at.values())
        if len(found) > 1:
            both = " and ".join(f"`{table.header[i][:60]}`" for i in found[:2])
            hint = " or ".join(f"--columns {what}={table.header[i][:60]}" for i in found[:2])
            raise table.wrong(f"{both} could both be {what}", table.top, hint)
        if not found and what in needed:
            hint = f"{_listed(table)}; --columns {what}=NAME says which holds it"
            raise table.wrong(f"there is no column `{what}`", table.top, hint)
        if found:
            at[what] = found[0]
    return at


def _candidates(table: Table, given: Mapping[str, str], what: str, used: Collection[int] = ()) -> list[int]:
    """The columns that could hold this by their names, and are neither used nor given for something else."""
    names = {i: name for i, name in enumerate(table.header) if name and name not in given.values() and i not in used}
    for pattern in COLUMNS[what]:
        if found := [i for i, name in names.items() if re.fullmatch(pattern, _bare(name))]:
            return found
    return []


def _bare(name: str) -> str:
    """A column's name without case, blanks, signs, and the `player.` of oTree or the `data.` of jsPsych."""
    return re.sub(r"[\W_]", "", re.sub(r"^(player|group|subsession|response|data)\.", "", name.casefold()))


def _plain(text: str) -> str:
    """A text without case, and without the `.0` that programs add to whole numbers."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", text.casefold())


# Rows


def _kept(trials: _Trials) -> tuple[list[tuple[int, Row]], Counter[str]]:
    """The rows that are trials, and how many are not, by the reason."""
    own, seen, _, estimated = TASKS[trials.task.kind]
    needed = [own] if estimated else [own, *seen]
    columns = [trials.at[what] for what in (*needed, "executed") if what in trials.at]
    reasons: dict[Row, str | None] = {}  # by the cells needed, which are the same in many rows
    kept, skipped = [], Counter[str]()
    for line, row in trials.table.rows:
        cells = tuple([row[i] for i in columns])
        if cells not in reasons:
            reasons[cells] = _reason(trials, needed, dict(zip((*needed, "executed"), cells, strict=False)))
        reason = reasons[cells] if row[trials.at["person"]] is not None else NO_TRIAL
        if reason is None:
            kept.append((line, row))
        else:
            skipped[reason] += 1
    return kept, skipped


def _reason(trials: _Trials, needed: Sequence[str], cell: Mapping[str, str | None]) -> str | None:
    """Why a row is left out, None if it is not; `needed` are the own choice, and what must be beside it."""
    if not any(cell[what] for what in needed) or any(cell[what] is None for what in needed):
        return NO_TRIAL
    own = cell[needed[0]] or ""
    must = [what for what in cell if not trials.missed(own) or what in needed[1:]]
    if trials.missed(own) and own:
        must = [what for what in must if what != "reward"]  # a choice missed in so many words needs no reward
    empty = [trials.table.header[trials.at[what]] for what in must if trials.blank(cell[what] or "")]
    return f"without a recorded `{empty[0][:60]}`" if empty else None


def _matches(trials: _Trials, rows: Sequence[tuple[int, Row]]) -> list[_Match]:
    """The matches of all people, in the order in which they begin."""
    table, at = trials.table, trials.at
    conditions: dict[str, set[str]] = {}
    if "condition" in at:
        for _, row in rows:
            conditions.setdefault(row[at["person"]] or "", set()).add(row[at["condition"]] or "")
    divided = any(len(names) > 1 for names in conditions.values())
    group_at = at.get("group", at.get("condition"))
    matches: dict[tuple[str, ...], _Match] = {}
    group_of: dict[str, tuple[str, int]] = {}
    names = [at[what] for what in ("match", "game") if what in at]
    for line, row in rows:
        person = row[at["person"]] or ""
        if not person:
            raise table.wrong("there is no person", line)
        if divided:
            person = f"{person}/{row[at['condition']] or ''}"
        group = "all" if group_at is None else row[group_at] or ""
        known_group, first_line = group_of.setdefault(person, (group, line))
        if known_group != group:
            known = f"in `{known_group[:60]}` in line {first_line}"
            hint = f"a person has one group; --columns condition={table.header[at['group']][:60]} divides people by it"
            raise table.wrong(f"person {person[:60]} is in group `{group[:60]}`, and {known}", line, hint)
        key = (person, *[row[i] or "" for i in names])
        if key not in matches:
            matches[key] = _Match(person, group, key[-1] if "game" in at else "")
        match = matches[key]
        match.number.append(_round(table, row[at["round"]] or "" if "round" in at else None, match, line))
        match.rows.append((line, row))
    return list(matches.values())


def _round(table: Table, text: str | None, match: _Match, line: int) -> int:
    """The number of a round, which must be larger than the last; without a column of rounds the next number."""
    last = match.number[-1] if match.number else None
    if text is None:
        return 1 if last is None else last + 1
    number = int(text) if text.isdecimal() and len(text) < 16 else table.number(text, "round", line, "whole number")
    if not 0 <= number <= LARGEST_ROUND:
        raise table.wrong(f"round {text[:60]} is not between 0 and {LARGEST_ROUND:,}", line)
    if last is not None and number <= last:
        message = f"round {int(number)} of person {match.person[:60]} comes after round {last}"
        hint = "rounds increase within a match; --columns match=NAME says which column tells matches apart"
        raise table.wrong(message, line, hint)
    return int(number)


# What people did


def _choices(trials: _Trials) -> Choices:
    """The matches of people as padded arrays: rounds after the end of a match are MISSED, with number UNPLAYED."""
    kind = trials.task.kind
    task_fields = (_game if kind == "game" else _bandit if kind == "bandit" else _offers)(trials)
    group = {match.person: match.group for match in trials.matches}
    index = {name: n for n, name in enumerate(group)}
    person = np.array([index[match.person] for match in trials.matches])
    number = trials.padded([match.number for match in trials.matches], UNPLAYED)
    fields: dict[str, Any] = {"theirs": np.zeros_like(number), **task_fields, "covariates": _covariates(trials)}
    return Choices(tuple(index), tuple(group.values()), person, number=number, **fields)


def _covariates(trials: _Trials) -> dict[str, tuple[str, ...]]:
    """The columns, beside those in use, that have one value in all of a person's trials."""
    used = {i for what, i in trials.at.items() if what != "condition"}
    found: dict[str, tuple[str, ...]] = {}
    for i, name in enumerate(trials.table.header):
        if i in used or not name or name.startswith("Unnamed"):  # an index that pandas wrote
            continue
        value: dict[str, str | None] = {}
        rows = ((match.person, row) for match in trials.matches for _, row in match.rows)
        if all(value.setdefault(person, row[i]) == row[i] for person, row in rows) and any(value.values()):
            found[name] = tuple(text or "" for text in value.values())
    return found


def _game(trials: _Trials) -> dict[str, Any]:
    """The games and actions of a repeated game."""
    named = _games({match.game for match in trials.matches})
    game_of = trials.task.game
    games = tuple(game_of(match.group) if callable(game_of) else named[match.game] for match in trials.matches)
    if len({game.shape for game in games}) > 1:
        raise trials.table.wrong("its games have different numbers of actions", hint="fit them one by one")
    mine, theirs = ([game.actions[agent] for game in games] for agent in (0, 1))
    return {"games": games, **_done(trials, mine), "theirs": trials.padded(_actions(trials, "other", theirs), 0)}


def _bandit(trials: _Trials) -> dict[str, Any]:
    """The bandit, actions and rewards; its arms are those that were chosen unless the caller gives the bandit."""
    table, bandit = trials.table, trials.task.game
    done = [what for what in ("own", "executed") if what in trials.at]
    by_match = [[_reward(trials, text, line) for line, text in cells] for cells in trials.cells("reward")]
    rewards = trials.padded(by_match, math.nan)
    if not isinstance(bandit, Bandit):
        texts = dict.fromkeys(text for what in done for cells in trials.cells(what) for _, text in cells)
        means = (
            trials.values.get(_plain(text), text) for text in texts if not (trials.missed(text) or trials.blank(text))
        )
        by_name = {_plain(name): re.sub(r"\.0+$", "", name) if NUMBER.fullmatch(name) else name for name in means}
        numeric = all(map(NUMBER.fullmatch, by_name))
        arms = tuple(sorted(by_name.values(), key=lambda name: (float(name) if numeric else 0.0, name)))
        if not 1 < len(arms) <= MOST_ARMS:
            column = table.header[trials.at["own"]]
            raise table.wrong(f"`{column[:60]}` has {len(arms)} different arms", hint=f"2 to {MOST_ARMS} are possible")
        bandit = Bandit("bandit", arms, float(np.nanmin(rewards)), float(np.nanmax(rewards)))
    games = (bandit,) * len(trials.matches)
    return {"games": games, **_done(trials, [bandit.arms] * len(games)), "rewards": np.nan_to_num(rewards)}


def _reward(trials: _Trials, text: str, line: int) -> float:
    """A reward; NaN if there is none, of a choice that was missed."""
    word = text.casefold()
    if trials.blank(text):
        return math.nan
    return 1.0 if word in YES else 0.0 if word in NO else trials.table.number(text, "reward", line)


def _done(trials: _Trials, names: Sequence[Sequence[str]]) -> dict[str, Any]:
    """What was chosen, and what was carried out if there is a column of it."""
    return {
        what: trials.padded(_actions(trials, what, names), MISSED) for what in ("own", "executed") if what in trials.at
    }


def _actions(trials: _Trials, what: str, names: Sequence[Sequence[str]]) -> list[list[int]]:
    """The indices of the actions in a column among the names for each match."""
    meaning = {**_named_after(trials.table.header[trials.at[what]], names[0]), **trials.values}
    known: dict[tuple[Sequence[str], str], int] = {}
    found = []
    for options, cells in zip(names, trials.cells(what), strict=True):
        for line, text in cells:
            if (options, text) not in known:
                missed = what != "other" and (trials.missed(text) or trials.blank(text))
                known[options, text] = MISSED if missed else _action(trials, what, text, options, meaning, line)
        found.append([known[options, text] for _, text in cells])
    return found


def _action(trials: _Trials, what: str, text: str, names: Sequence[str], meaning: Mapping[str, str], line: int) -> int:
    """The index of an action given by its name, or by a beginning that only one has, case ignored.

    Both `c` and `COOPERATE` are 0 among ("Cooperate", "Defect"). Raises InputError if no action is meant.
    """
    plain = _plain(meaning.get(_plain(text), text))
    lower = [_plain(name) for name in names]
    if plain in lower:
        return lower.index(plain)
    number = NUMBER.fullmatch(plain)
    fitting = [i for i, name in enumerate(lower) if name.startswith(plain) and not number]
    if len(fitting) == 1:
        return fitting[0]
    hint = meant(text, names, "`none` if no move was made")
    if number:
        codes = sorted({_plain(code) for cells in trials.cells(what) for _, code in cells if NUMBER.fullmatch(code)})
        pairs = ",".join(f"{code}={name}" for code, name in zip(codes, names, strict=False))
        hint = f"say what numbers mean in `{trials.table.header[trials.at[what]][:60]}`: --values {pairs}"
    raise trials.table.wrong(f"there is no action `{text[:60]}`", line, hint)


def _named_after(column: str, names: Sequence[str]) -> dict[str, str]:
    """What 1 and 0 mean in a column that is named after one of two actions, such as `coop` or `other_defected`."""
    stem = re.sub(r"^(own|my|other|partner|opponent|o)(?=coop|defect)", "", _bare(column))
    fitting = [i for i, name in enumerate(names) if len(stem) > 3 and _bare(name)[:4] == stem[:4]]
    if len(names) != 2 or len(fitting) != 1:
        return {}
    yes, no = names[fitting[0]], names[1 - fitting[0]]
    return {"1": yes, "true": yes, "yes": yes, "0": no, "false": no, "no": no}


# Offers


class _Offer(NamedTuple):
    """One trial: what the first mover gave, of how much, what it was multiplied by, and what came back.

    Money is in units of 1 / SCALE; what came back is 0 or 1 if it was a yes or no. None is missed or not known.
    """

    first: int | None
    stake: int
    multiplier: int
    reply: int | None


def _offers(trials: _Trials) -> dict[str, Any]:
    """The options, choices and divisions of offers, in steps of the greatest common divisor of all amounts.

    Proposers expect an offer to be accepted as often as the same part of the pie is in the whole table, with one
    acceptance and one rejection added; investors expect any of the shares that are returned in it.
    """
    kind = trials.task.kind
    by_match = [[_offer(trials, line, row) for line, row in match.rows] for match in trials.matches]
    every = [offer for row in by_match for offer in row]
    step = math.gcd(*(n or 0 for o in every for n in (o.first, o.stake, kind.startswith("trust") and o.reply)))
    largest = max(o.stake * (o.multiplier if kind == "trust:trustee" else 1) for o in every) // step
    if largest >= MOST_OPTIONS and kind != "ultimatum:responder":
        message = f"amounts of up to {largest * step / SCALE:g} in steps of {step / SCALE:g} are too many options"
        raise trials.table.wrong(message, hint=f"{MOST_OPTIONS} are possible: round the amounts")
    responds = kind == "ultimatum:responder"
    amounts = (i * step / SCALE for i in range(largest + 1))
    task = offers.ULTIMATUM_RESPONDER if responds else offers.in_amounts(kind, amounts)
    chosen = [[o.reply if responds or kind == "trust:trustee" else o.first for o in row] for row in by_match]
    own = [[MISSED if n is None else n if responds else n // step for n in row] for row in chosen]
    paid = cache(_divisions(trials, every, step))
    divisions = trials.filled(0.0, len(task.options), *paid(every[0]).shape[1:])
    for s, row in enumerate(by_match):
        for t, offer in enumerate(row):
            divisions[s, t, : len(paid(offer))] = paid(offer) * (1.0, step / SCALE, step / SCALE)
    return {"games": (task,) * len(own), "own": trials.padded(own, MISSED), "divisions": divisions}


def _offer(trials: _Trials, line: int, row: Row) -> _Offer:
    """The trial in a row. Raises InputError for amounts that are impossible."""
    own, seen, stake_name, _ = TASKS[trials.task.kind]
    ultimatum = "accepted" in (own, *seen)
    table = trials.table

    def amount(what: str, given: float | None = None) -> int | None:
        text = (row[trials.at[what]] or "") if what in trials.at else "" if given is None else str(given)
        if trials.blank(text):
            return None
        number = table.number(text, what, line)
        if number < 0 or number > LARGEST_AMOUNT:
            raise table.wrong(f"{what} {text[:60]} is not between 0 and {LARGEST_AMOUNT:,}", line)
        return round(number * SCALE)

    stake = amount(stake_name, trials.task.stake)
    if not stake:
        hint = f"--game {trials.task.kind.partition(':')[0]}:10, or --columns {stake_name}=NAME"
        raise table.wrong(f"there is no {stake_name} of more than 0", line, hint)
    given = trials.task.multiplier
    multiplier = (amount("multiplier", offers.MULTIPLIER if given is None else given) or 0) / SCALE
    first = amount(next(what for what in ("offer", "sent", "given") if what in (own, *seen)))
    reply = _answer(trials, line, row) if ultimatum else amount("returned") if "returned" in trials.at else None
    received = (first or 0) * int(multiplier)
    if multiplier < 1 or multiplier % 1:
        raise table.wrong(f"multiplier {multiplier:g} is no whole number above 0", line)
    if first is not None and first > stake:
        raise table.wrong(f"{first / SCALE:g} is more than the {stake_name} of {stake / SCALE:g}", line)
    if not ultimatum and reply is not None and reply > received:
        raise table.wrong(f"{reply / SCALE:g} is more than the {received / SCALE:g} that were received", line)
    return _Offer(first, stake, int(multiplier), reply)


def _answer(trials: _Trials, line: int, row: Row) -> int | None:
    """1 for an accepted offer, 0 for a rejected one, None if it is not known."""
    text = row[trials.at["accepted"]] or ""
    word = _plain(trials.values.get(_plain(text), text))
    if trials.blank(text) or trials.missed(text):
        return None
    if word not in (*YES, *NO):
        raise trials.table.wrong(f"there is no answer `{text[:60]}`", line, "accept or reject, yes or no, 1 or 0")
    return int(word in YES)


def _divisions(trials: _Trials, every: Sequence[_Offer], step: int) -> Callable[[_Offer], Floats]:
    """What the options of a trial pay, in steps (see `otherminds.worlds.offers.rules`)."""
    kind = trials.task.kind
    if kind == "ultimatum:responder":
        return lambda o: offers.ultimatum_responses((o.first or 0) / step, o.stake / step)
    if kind == "dictator:dictator":
        return lambda o: offers.dictator_gifts(o.stake // step)
    if kind == "trust:trustee":
        return lambda o: offers.trust_returns((o.first or 0) // step, o.stake // step, multiplier=o.multiplier)
    answered = [o for o in every if o.first is not None and o.reply is not None]
    if kind == "ultimatum:proposer":
        made = Counter(Fraction(o.first or 0, o.stake) for o in answered)
        accepted = Counter(Fraction(o.first or 0, o.stake) for o in answered if o.reply)

        def proposals(offer: _Offer) -> Floats:
            parts = [Fraction(amount, offer.stake) for amount in range(0, offer.stake + 1, step)]
            chance = np.array([(accepted[part] + 1) / (made[part] + 2) for part in parts])
            return offers.ultimatum_offers(offer.stake // step, chance)

        return proposals
    shares = np.array([(o.reply or 0) / (o.first * o.multiplier) for o in answered if o.first])
    if not len(shares):
        raise trials.table.wrong("nobody returned anything, so that nobody can know what to expect")
    if len(np.unique(shares)) > MOST_SHARES:
        shares = np.quantile(shares, (np.arange(MOST_SHARES) + 0.5) / MOST_SHARES)
    share, count = np.unique(shares, return_counts=True)
    return lambda o: offers.trust_investments(o.stake // step, share, count / count.sum(), multiplier=o.multiplier)
