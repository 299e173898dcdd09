"""Levels and their certificates: proved again, derived anew, and the same however a level is drawn."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.papers.protom.levels import generation
from otherminds.papers.protom.levels.level_sets import LevelSet
from otherminds.papers.protom.levels.maps import DESIGN, SHORTEST, JointPlanner, alone, random_level, symmetry_hash
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.level_files import COLOURS, Level, bundled_levels, parse_level, write_level
from otherminds.worlds.doors_keys_gems.planner import Goal
from strategies import generator

TWENTY = bundled_levels()
NAMES = [level.name for level in TWENTY]
Tiles = list[list[str]]


# The same level drawn otherwise


def redrawn(level: Level, change: Callable[[Tiles], Tiles], words: Mapping[str, str] | None = None) -> Level:
    """The level file with its map changed, and words in its header replaced; without its certificate."""
    header, drawing = write_level(replace(level, certificate={})).split("\n\n")
    lines = [line.partition(": ") for line in header.split("\n")]
    said = "\n".join(f"{key}: {', '.join((words or {}).get(w, w) for w in text.split(', '))}" for key, _, text in lines)
    rows = change([row.split() for row in drawing.strip().split("\n")])
    return parse_level("\n\n".join([said, "\n".join(map(" ".join, rows))]), Path("redrawn.txt"))


def swapped(rows: Tiles, tiles: Mapping[str, str]) -> Tiles:
    return [[tiles.get(tile, tile) for tile in row] for row in rows]


def rotated(level: Level) -> Level:
    return redrawn(level, lambda rows: [list(row) for row in zip(*rows[::-1], strict=True)])


def reflected(level: Level) -> Level:
    return redrawn(level, lambda rows: [row[::-1] for row in rows])


def transposed(level: Level) -> Level:
    return redrawn(level, lambda rows: [list(row) for row in zip(*rows, strict=True)])


def recoloured(level: Level) -> Level:
    """Every colour replaced by the next one of all."""
    letters = list(COLOURS)
    following = dict(zip(letters, [*letters[1:], letters[0]], strict=True))
    tiles = {kind + old: kind + new for kind in "kdg" for old, new in following.items()}
    return redrawn(level, lambda rows: swapped(rows, tiles), {COLOURS[a]: COLOURS[b] for a, b in following.items()})


def exchanged(level: Level) -> Level:
    """Ana is called Zoe, and she and Ben change places in all lists."""
    (ana, ben), goals = level.world.agents, [level.world.gems[goal].colour for goal in level.world.goals]
    words = {ana: ben, ben: "Zoe", goals[0]: goals[1], goals[1]: goals[0]}
    return redrawn(level, lambda rows: swapped(rows, {"a1": "a2", "a2": "a1"}), words)


SAME = (rotated, reflected, transposed, recoloured, exchanged)


@pytest.mark.parametrize("drawn", SAME)
@pytest.mark.parametrize("level", TWENTY[::3], ids=NAMES[::3])
def test_a_level_drawn_otherwise_has_the_same_hash(level: Level, drawn: Callable[[Level], Level]) -> None:
    assert write_level(drawn(level)) != write_level(replace(level, certificate={}))
    assert symmetry_hash(drawn(level)) == symmetry_hash(level)


def test_gems_that_nobody_wants_may_have_any_colour() -> None:
    shelf = TWENTY[NAMES.index("gem-shelf")]
    assert symmetry_hash(redrawn(shelf, lambda rows: swapped(rows, {"gy": "gn", "gg": "gm"}))) == symmetry_hash(shelf)


def test_different_levels_have_different_hashes() -> None:
    assert len({symmetry_hash(level) for level in TWENTY}) == 20
    assert len({symmetry_hash(DESIGN.candidate(7, n)) for n in range(50)}) == 50


def variations(level: Level) -> Iterator[Level]:
    """The level with other goals, a wall more, a key of another colour, its doors open, or its people exchanged."""
    wanted = {level.world.gems[goal].colour for goal in level.world.goals}
    spare = next(gem.colour for gem in level.world.gems if gem.colour not in wanted)
    first, second = (level.world.gems[goal].colour for goal in level.world.goals)
    yield redrawn(level, lambda rows: rows, {first: spare})
    yield redrawn(level, lambda rows: rows, {first: second, second: first})
    yield redrawn(level, lambda rows: [row if y else ["##", *row[1:]] for y, row in enumerate(rows)])
    yield redrawn(level, lambda rows: swapped(rows, {"kr": "kn"}))
    yield redrawn(level, lambda rows: swapped(rows, {"dr": ".."}))


def test_a_level_that_differs_in_anything_that_matters_has_another_hash() -> None:
    level = parse_level(
        "agents: Ana, Ben\ngoals: red, blue\n\n.. a1 kr dr gr\n## .. ## .. gb\n.. kb gy a2 ..", Path("x.txt")
    )
    assert len({symmetry_hash(other) for other in (level, *variations(level))}) == 6


# Certificates


@pytest.mark.slow
@pytest.mark.parametrize("level", TWENTY, ids=NAMES)
def test_bundled_levels_are_proved_again(level: Level) -> None:
    again = DESIGN.certified(level)
    assert again is not None
    assert again.certificate == level.certificate


def test_there_are_as_many_bundled_levels_of_each_class_as_in_the_paper() -> None:
    assert Counter(level.kind for level in TWENTY) == {"not_needed": 6, "useful": 8, "necessary": 6}


def figures(level: Level, key: str) -> list[int | None]:
    return [None if word == "-" else int(word) for word in level.certificate[key].split()]


@pytest.mark.parametrize("level", TWENTY, ids=NAMES)
def test_the_class_follows_from_the_figures_of_the_certificate(level: Level) -> None:
    runs, (together,), (told,) = (figures(level, key) for key in ("alone", "together", "told"))
    lengths = [n for n in runs if n is not None]
    assert len(runs) == 5
    assert together is not None
    assert together >= SHORTEST
    if level.kind == "necessary":
        assert not lengths
        assert told is not None
        assert together <= told <= 60
    elif level.kind == "useful":
        assert len(lengths) == 5
        assert told is not None
        assert together <= told <= 0.85 * min(lengths)
        assert min(lengths) - together >= max(4, 0.2 * min(lengths))
        assert max(lengths) - min(lengths) <= 2
    else:
        assert (level.kind, told) == ("not_needed", None)
        assert min(lengths) == together
        assert max(lengths) - min(lengths) <= 2


@pytest.mark.parametrize("level", TWENTY, ids=NAMES)
def test_the_figures_are_those_of_the_level(level: Level) -> None:
    advice, start, horizon = DoorsKeysGemsAdvice(level.world), level.world.initial, level.horizon
    goals = tuple(Goal("gem", gem) for gem in level.world.goals)
    lengths = {advice.address(f): advice.steps(start, goals, f, horizon) for f in advice.candidates(start)}
    assert [alone(level, advice, seed) for seed in range(5)] == figures(level, "alone")
    if level.kind == "not_needed":
        assert level.certificate["message"] == "none"
        assert min(lengths.values(), default=horizon) >= advice.steps(start, goals, None, horizon)
    else:
        assert lengths[level.certificate["message"]] == min(lengths.values()) == figures(level, "told")[0]


@pytest.mark.parametrize("level", TWENTY, ids=NAMES)
def test_bundled_levels_are_those_of_their_seeds(level: Level) -> None:
    seed, _, index = level.certificate["seed"].partition("/")
    made = replace(DESIGN.candidate(int(seed), int(index)), name=level.name, certificate=level.certificate)
    assert write_level(made) == write_level(level)


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [reflected, transposed, recoloured])
@pytest.mark.parametrize("level", TWENTY[::3], ids=NAMES[::3])
def test_the_class_does_not_depend_on_how_a_level_is_drawn(level: Level, drawn: Callable[[Level], Level]) -> None:
    again = DESIGN.certified(drawn(level))
    assert again is not None
    kept = ("class", "alone", "together", "told")
    assert [again.certificate[key] for key in kept] == [level.certificate[key] for key in kept]


def test_a_level_between_the_classes_has_none() -> None:
    unsolvable = parse_level("agents: Ana, Ben\ngoals: red, blue\n\na1 dr gr\na2 .. gb", Path("x.txt"))
    too_short = parse_level("agents: Ana, Ben\ngoals: red, blue\n\na1 gr\na2 gb", Path("x.txt"))
    assert DESIGN.certified(unsolvable) is None
    assert DESIGN.certified(too_short) is None


@pytest.mark.parametrize(
    ("number", "broken"), [(331, "one message"), (901, "cooperation"), (2389, "steps"), (338, "agreement")]
)
def test_a_level_is_not_useful_if_it_misses_one_condition(number: int, broken: str) -> None:
    level = DESIGN.candidate(20261103, number)
    advice, start = DoorsKeysGemsAdvice(level.world), level.world.initial
    goals = tuple(Goal("gem", gem) for gem in level.world.goals)
    runs = [n for seed in range(5) if (n := alone(level, advice, seed)) is not None]
    told = min(advice.steps(start, goals, message, level.horizon) for message in advice.candidates(start))
    together = JointPlanner(level.world).makespan(level.horizon) or level.horizon
    conditions = {
        "one message": told <= 0.85 * min(runs),
        "cooperation": together <= 0.8 * min(runs),
        "steps": min(runs) - together >= 4,
        "agreement": max(runs) - min(runs) <= 2,
    }
    assert len(runs) == 5
    assert [name for name, held in conditions.items() if not held] == [broken]
    assert DESIGN.certified(level) is None


@pytest.mark.slow
def test_a_proven_level_is_called_by_its_class_and_number() -> None:
    found = {n: level for n in range(8) if (level := DESIGN.proven(20261103, n))}
    assert found
    for n, level in found.items():
        assert (level.name, level.certificate["seed"]) == (f"{level.kind}-{n}", f"20261103/{n}")


# Sets of levels


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tuning", "heldout"])
def test_a_set_is_made_anew_as_it_was(name: str) -> None:
    chosen = DESIGN.level_set(name)
    made = chosen.levels()
    assert DESIGN.digest(made) == chosen.maps
    assert [level.kind for level in made] == [kind for kind, numbers in chosen.numbers.items() for _ in numbers]
    assert len({symmetry_hash(level) for level in made}) == len(made)


def test_no_two_sets_share_a_seed() -> None:
    table = json.loads((DESIGN.folder / "sets.json").read_text("utf-8"))
    seeds = [entry["seed"] for entry in table.values()]
    bundled = {int(level.certificate["seed"].split("/")[0]) for level in TWENTY}
    assert len({*seeds, *bundled}) == len(seeds) + len(bundled)


def small_set(*numbers: int, maps: str) -> LevelSet[Level]:
    return LevelSet(DESIGN, seed=5, numbers={"useful": numbers}, maps=maps, certificates="")


def test_a_set_with_another_number_or_hash_is_refused() -> None:
    good = DESIGN.digest([DESIGN.candidate(5, 1, "useful"), DESIGN.candidate(5, 2, "useful")])
    assert [level.name for level in small_set(1, 2, maps=good).levels()] == ["useful-1", "useful-2"]
    for wrong in (small_set(1, 3, maps=good), small_set(2, 1, maps=good), small_set(1, 2, maps=good[::-1])):
        with pytest.raises(InputError, match="seed 5 are not those that were chosen"):
            wrong.levels()


def test_as_many_of_each_class_are_chosen_as_wanted_and_none_twice() -> None:
    offered: list[Level | None] = [None]
    for level in TWENTY:
        double = replace(reflected(recoloured(level)), certificate=level.certificate, name="double")
        offered += [level, None, double]
    wanted = {"not_needed": 2, "useful": 99, "necessary": 0}
    chosen = list(DESIGN.choose(offered, wanted))
    assert chosen == [level for level in TWENTY if level.kind == "useful" or level.name in NAMES[:2]]


def test_choosing_stops_as_soon_as_there_are_enough() -> None:
    offered: Iterator[Level | None] = iter(TWENTY)
    assert [level.kind for level in DESIGN.choose(offered, {"not_needed": 1, "useful": 1})] == ["not_needed", "useful"]
    assert next(offered) == TWENTY[[level.kind for level in TWENTY].index("useful") + 1]


# Random maps


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3]))
def test_a_random_level_is_a_level_and_always_the_same(seed: int, people: int) -> None:
    level = random_level(generator(seed), people)
    assert level == random_level(generator(seed), people)
    assert parse_level(write_level(level), Path("any.txt")) == level
    assert len(level.world.agents) == len(set(level.world.goals)) == people
    assert 1 <= len(level.world.keys) <= 4
    assert 1 <= len(level.world.doors) <= 4


def test_random_levels_differ() -> None:
    assert len({write_level(random_level(generator(seed))) for seed in range(30)}) == 30


def test_interrupted_the_levels_made_so_far_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(levels: Iterator[Level], *_: object) -> Iterator[Level]:
        yield next(levels)
        raise KeyboardInterrupt

    monkeypatch.setattr(generation, "shown", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        generation.make(tmp_path, 1, 1, 1)
    assert caught.value.__notes__ == [f"1 level is in {tmp_path}"]
    (file,) = tmp_path.iterdir()
    assert parse_level(file.read_text("utf-8"), file).kind
