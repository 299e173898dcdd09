"""What there is in collaborative cooking: things, squares, pots, and the codes by which players see them."""

from __future__ import annotations

from typing import NamedTuple

THINGS = ("nothing", "tomato", "dish", "soup")
NOTHING, TOMATO, DISH, SOUP = range(4)
FULL = 3

FLOOR, START, VOID = " ", "P", "x"
COUNTER, TOMATOES, DISHES, DELIVERY, POT = "#", "O", "D", "T", "C"
SQUARES = (FLOOR, START, VOID, COUNTER, TOMATOES, DISHES, DELIVERY, POT)
SUPPLIES = {TOMATOES: TOMATO, DISHES: DISH}
SEES_FLOOR, SEES_TOMATOES, SEES_DISHES, SEES_DELIVERY = range(4)
SEES_COUNTER = 4
SEES_POT = 8
SEES_SOUP = 12
SEES_PLAYER = 13
SEEN_AS = {
    FLOOR: SEES_FLOOR,
    START: SEES_FLOOR,
    TOMATOES: SEES_TOMATOES,
    DISHES: SEES_DISHES,
    DELIVERY: SEES_DELIVERY,
    COUNTER: SEES_COUNTER,
    POT: SEES_POT,
}


class Pot(NamedTuple):
    """How many tomatoes are in a pot, for how many steps they have been cooked, and whether they are a soup now."""

    tomatoes: int = 0
    timer: int = 0
    cooked: bool = False


def at_counter(hand: int, lying: int) -> tuple[int, int]:
    """What somebody holds, and what lies on a counter, after interacting: they swap if exactly one is nothing."""
    return (lying, hand) if (hand == NOTHING) != (lying == NOTHING) else (hand, lying)


def heated(pot: Pot, cook: int) -> Pot:
    """A full pot one step later: the tomatoes are a soup after `cook` + 1 steps, and stay one."""
    return pot if pot.cooked else Pot(pot.tomatoes, pot.timer + 1, pot.timer == cook)


def at_pot(hand: int, pot: Pot) -> tuple[int, Pot]:
    """What somebody holds, and what is in a pot, after interacting."""
    if hand == TOMATO and pot.tomatoes < FULL:
        return NOTHING, Pot(pot.tomatoes + 1)
    if hand == DISH and pot.cooked:
        return SOUP, Pot()
    return hand, pot


class View(NamedTuple):
    """What a player sees.

    window: a code for each cell of its window, row by row from the farthest ahead, left to right: OUTSIDE, SEES_FLOOR,
    SEES_TOMATOES, SEES_DISHES, SEES_DELIVERY; SEES_COUNTER + the thing on it; SEES_POT + the tomatoes in it, or
    SEES_SOUP once they are cooked; SEES_PLAYER + what `player_code` says of somebody, oneself included.
    cell and facing: where it is itself; hand: what it holds; ready: whether it can interact in the next step; reward:
    its own of the last step.
    """

    window: tuple[int, ...]
    cell: int
    facing: int
    hand: int
    ready: bool
    reward: float


class Player(NamedTuple):
    """A player as it is seen: its number, the direction it faces, and what it holds."""

    number: int
    facing: int
    hand: int


def player_code(number: int, facing: int, hand: int) -> int:
    """The code of a player in a window."""
    return SEES_PLAYER + (number * 4 + facing) * 4 + hand


def player_of(code: int) -> Player | None:
    """The player that a code of a window stands for, or None."""
    if code < SEES_PLAYER:
        return None
    rest, hand = divmod(code - SEES_PLAYER, 4)
    return Player(*divmod(rest, 4), hand)
