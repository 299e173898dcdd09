"""Scoreboard episodes from the rows of every experiment: predictions, payoffs, best and floor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from otherminds.evaluation.assistance import outcomes
from otherminds.evaluation.scoreboard import Episode, Expectation
from otherminds.files.toml import packaged
from otherminds.papers.functional.agents import OWN

Row = dict[str, Any]
WORDS = packaged("otherminds.reproduce", "report.toml")

GAMES = {"rps": "Rock, Paper, Scissors", "ibs": "Battle of the Sexes", "ipd": "Prisoner's dilemma"}
CLUES = {"hanabi/signals": "Tiny Hanabi", "wavelength/dials": "Wavelength"}
THOUGHTLESS = {"hanabi/signals": "blind", "wavelength/dials": "random"}
"""The subject whose payoff is the floor: it ignores the partner."""
SUBSTRATES: Mapping[str, str] = WORDS["substrates"]
OTHERS = {"machines": ", machines", "machines_leave_one_out": ", unknown machines", "memory_one": ", memory-one"}
SHORTER = ", checked"
SETS = {"": "", "heldout": ", held out"}
STORIES, INVENTED = "Invented stories", "invented/"
KNOWS, ANYTHING = "bound", "uniform"
HELP = {"protom-dkg": "Doors, keys and gems", "protom-overcooked": "Overcooked with rooms"}
UNHELPED, ORACLE = "none", "oracle"

SUITES = ("", SHORTER, ", slips", *OTHERS.values())
FAMILIES = {
    "Repeated games": tuple(f"{game}{suite}" for game in GAMES.values() for suite in SUITES),
    "Clues and answers": tuple(CLUES.values()),
    "Melting Pot's worlds": tuple(SUBSTRATES.values()),
    "Help": tuple(f"{world}{which}" for world in HELP.values() for which in SETS.values()),
}


def episodes(experiment: str, rows: Sequence[Row]) -> Iterator[Episode]:
    """The episodes of one experiment, by its name; none for experiments without a partner or prediction."""
    reader = READERS.get(experiment)
    yield from reader(rows) if reader else ()


def _games(rows: Sequence[Row]) -> Iterator[Episode]:
    """Repeated games: the best is the exact optimum, the floor the expectation of random play. Checks are shorter."""
    for (condition, agent, name), episode in _grouped(rows):
        if condition not in CLUES and episode[-1]["policy"] == OWN:
            best, earned = (sum(row[column] for row in episode) for column in ("best", "reward"))
            shorter = SHORTER if episode[-1]["experiment"] == "check" else ""
            game, _, suite = condition.partition("/")
            plain, _, noise = suite.partition("_noise")
            world = GAMES.get(game, game) + (", slips" if noise else OTHERS.get(plain, "")) + shorter
            episode_names = (world, agent, f"{condition} {name}")
            yield Episode(*episode_names, _predictions(episode), earned, best, episode[-1].get("uniform"))
    # clue games: the best is the best response to the true partner, the floor play that ignores the clue
    grouped = _grouped(row for row in rows if row["condition"] in CLUES)
    floors = {(c, name): _sum(episode, "reward") for (c, agent, name), episode in grouped if agent == THOUGHTLESS[c]}
    for (condition, agent, name), episode in grouped:
        episode_names = (CLUES[condition], agent, f"{condition} {name}")
        earned = _sum(episode, "reward")
        best = _sum(episode, "best")
        yield Episode(*episode_names, _predictions(episode), earned, best, floors.get((condition, name)))


def _predictions(episode: Sequence[Row]) -> tuple[Expectation, ...]:
    return tuple(Expectation(row["predicted"] == row["observed"], row.get("p_predicted")) for row in episode)


def _sum(episode: Sequence[Row], column: str) -> float:
    return float(sum(row[column] for row in episode))


def _scenarios(rows: Sequence[Row]) -> Iterator[Episode]:
    """Melting Pot's scenarios: the best is what `bound` gets in the same episode, the floor what `uniform` does."""
    grouped = _grouped(rows)
    scored = {about: episode[-1]["score"] for about, episode in grouped}
    for (condition, agent, name), episode in grouped:
        world = SUBSTRATES[condition.rpartition("_")[0]]
        predictions = tuple(Expectation(row["correct"], max(row["expected"])) for row in episode if "correct" in row)
        best_and_floor = (scored.get((condition, KNOWS, name)), scored.get((condition, ANYTHING, name)))
        expected = () if agent == KNOWS else predictions
        yield Episode(world, agent, f"{condition} {name}", expected, episode[-1]["score"], *best_and_floor)


def _helped(rows: Sequence[Row]) -> Iterator[Episode]:
    """Facilitators: payoff is −steps, best with the oracle's help, floor without help; predictions are goals."""
    lengths = {(o.condition, o.subject, o.episode): -float(o.length) for o in outcomes(rows)}
    for (condition, agent, name), episode in _grouped(rows):
        prefix = condition.rpartition("/")[0]
        if prefix not in SETS:
            continue
        inferred = [r for r in episode if "posterior" in r]
        predictions = tuple(Expectation(r["predicted"] == r["goal"], max(r["posterior"].values())) for r in inferred)
        ends = (lengths.get((condition, subject, name)) for subject in (ORACLE, UNHELPED))
        world = HELP[episode[-1]["experiment"]] + SETS[prefix]
        yield Episode(world, agent, f"{condition} {name}", predictions, lengths[condition, agent, name], *ends)


def _stories(rows: Sequence[Row]) -> Iterator[Episode]:
    """Questions about stories: predictions only, as nobody acts. The stories of a group count as one episode."""
    scored = [{**row, "episode": row.get("group", row["episode"])} for row in rows if "correct" in row]
    for (condition, agent, name), episode in _grouped(scored):
        world = STORIES if condition.startswith(INVENTED) else f"MuMA-ToM, {condition.replace('_', ' ')}"
        yield Episode(world, agent, f"{condition} {name}", tuple(Expectation(row["correct"]) for row in episode))


Grouped = tuple[tuple[str, str, str], list[Row]]


def _grouped(rows: Iterable[Row]) -> list[Grouped]:
    """The rows of every episode, by condition, agent and episode name."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["condition"], row["subject"], row["episode"]), []).append(row)
    return list(groups.items())


READERS: Mapping[str, Callable[[Sequence[Row]], Iterator[Episode]]] = {
    "functional": _games,
    "check": _games,
    "hypothetical": _scenarios,
    "protom-dkg": _helped,
    "protom-overcooked": _helped,
    "mumatom": _stories,
}
