"""The page of a leaderboard: players ranked by their exact reward with the frozen pool, by family and by game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from otherminds.evaluation.partner_families import FAMILIES
from otherminds.evaluation.pool import GAMES, POOL, ROUNDS, PoolStanding, ceiling, pool, pool_content, pool_tasks
from otherminds.evaluation.statistics import Estimate
from otherminds.reports.page import Html, Page, Section, interval, number, page, stack, table

CEILING = "upper bound if the partner is unknown"


def leaderboard_page(standings: Sequence[PoolStanding]) -> Page:
    """The page of these standings, in their order."""
    lead = (
        f"Pool {POOL}: {len(pool_tasks())} held-out partners in {len(GAMES)} games, {ROUNDS} rounds each. 1 is the "
        "optimum with a partner that is known, 0 is random play on average. Each reward is exact given what the player "
        "did, and each result was checked by playing its actions again."
    )
    sections = [
        Section("Ranking", _ranking(standings)),
        Section("By family", table(("Player", *FAMILIES), [*_lines(standings, FAMILIES), (CEILING, *_ceilings())])),
        Section("By game", table(("Player", *GAMES), _lines(standings, GAMES))),
    ]
    return page("Leaderboard", lead, sections)


def _ranking(standings: Sequence[PoolStanding]) -> Html:
    lines = [
        (rank, standing.player, standing.reward.n, _reward(standing.reward), number(100 * standing.accuracy, 0))
        for rank, standing in enumerate(standings, 1)
    ]
    words = (
        "Mean reward over all pairs of a game and a family, with a 95 % interval over seeds (Student) if there are "
        "several; the pool itself is fixed. Predicted rightly: the share of rounds, which earns nothing."
    )
    columns = ("Rank", "Player", "Seeds", "Reward", "Predicted rightly, %")
    return stack(words, table(columns, lines), f"Content of the pool: SHA-256 {pool_content()}.")


def _reward(reward: Estimate) -> str:
    return interval(*reward[:3]) if reward.n > 1 else number(reward.value)


def _lines(standings: Sequence[PoolStanding], names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """A line for each player: its mean reward over the groups of each game, or of each family."""
    for standing in standings:
        means = (fmean(reward for group, reward in standing.by_group.items() if name in group) for name in names)
        yield standing.player, *map(number, means)


def _ceilings() -> Iterator[str]:
    """The mean upper bound of each family, empty if it is unknown in a game."""
    for family in FAMILIES:
        bounds = [ceiling(members) for group, members in pool().items() if family in group]
        known_bounds = [bound for bound in bounds if bound is not None]
        yield number(fmean(known_bounds)) if len(known_bounds) == len(bounds) else ""
