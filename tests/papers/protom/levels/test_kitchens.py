"""Kitchens with certificates: random ones, what is lacking, what helps, and sets; every claim follows from play."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean

import pytest

from cooks import forecast, place
from kitchens import kitchen
from otherminds.errors import InputError
from otherminds.evaluation.engines import stream
from otherminds.papers.protom.episodes import SilentFacilitator
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.papers.protom.facilitated_world import FacilitatedWorld
from otherminds.papers.protom.levels import generation, kitchens
from otherminds.papers.protom.levels.generation import check
from otherminds.papers.protom.levels.kitchens import DESIGN, lacking, prove, random_kitchen, symmetry_hash
from otherminds.papers.protom.levels.level_sets import CLASSES, Design, LevelSet
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels, write_level
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.agent import Cook
from otherminds.worlds.overcooked.level_files import (
    KitchenLevel,
    is_kitchen,
    parse_kitchen,
    read_kitchen,
    write_kitchen,
)
from otherminds.worlds.overcooked.planner import Advice
from otherminds.worlds.overcooked.rules import State
from paths import KITCHENS_BY_CLASS
from strategies import generator

FOLDER = KITCHENS_BY_CLASS
NOT_NEEDED, USEFUL, NECESSARY = (read_kitchen(FOLDER / f"{k}.txt") for k in ("not_needed", "useful", "necessary"))
SMALL = (NOT_NEEDED, USEFUL, NECESSARY)
BUNDLED = DESIGN.bundled()
SAMPLE = [*SMALL, *BUNDLED[::4]]


def names(levels: list[KitchenLevel]) -> list[str]:
    return [level.name for level in levels]


def by_hand(*rows: str, recipes: tuple[str | None, ...] = ("SimpleTomato", "SimpleLettuce")) -> KitchenLevel:
    return KitchenLevel("by hand", kitchen(*rows, recipes=recipes))


# Play, without the facilitators and episodes of the library


def cooks(level: KitchenLevel, advice: OvercookedAdvice, seed: int) -> list[Cook]:
    """The people of a kitchen as certificates have them: perfectly rational, each with a belief drawn from the seed."""
    people = []
    for i, (agent, recipe) in enumerate(zip(level.world.agents, level.world.recipes, strict=True)):
        particle = int(stream(seed, "belief", "proof", agent).integers(1 << 31))
        people.append(Cook(advice.planner, advice.sampler, i, recipe, beta=math.inf, lapse=0.0, particle=particle))
    return people


def play(
    level: KitchenLevel, advice: OvercookedAdvice, seed: int, request: Advice | None = None, since: int = 0
) -> Iterator[tuple[State, list[Cook]]]:
    """The states of a run and what people have in mind in them; somebody is told the request as soon as can be.

    Whoever is told drops everything, until the errand is over.
    """
    world, rng = level.world, stream(seed, "people", "proof")
    state, minds, errand, said = world.initial, cooks(level, advice, seed), None, request is None
    for t in range(level.horizon + 1):
        views = [world.observe(state, agent) for agent in world.agents]
        minds = [mind.observe(view) for mind, view in zip(minds, views, strict=True)]
        yield state, minds
        if world.done(state):
            return
        if errand is not None:
            errand = errand.observe(views[errand.agent])
            errand = None if errand.over else errand
        if request and not said and t >= since and request in advice.candidates(state):
            said, errand = True, advice.errand(state, request, minds[request.helper])
        doing = [errand if errand and errand.agent == i and not errand.over else m for i, m in enumerate(minds)]
        state = world.advance(state, [mind.act().sample(rng) for mind in doing])


def length(
    level: KitchenLevel, advice: OvercookedAdvice, seed: int, request: Advice | None = None, since: int = 0
) -> int:
    """How long a run takes, the horizon if somebody fails."""
    return min(sum(1 for _ in play(level, advice, seed, request, since)) - 1, level.horizon)


def lengths(level: KitchenLevel, request: Advice | None = None, since: int = 0) -> list[int]:
    advice = OvercookedAdvice(level.world)
    return [length(level, advice, seed, request, since) for seed in range(10)]


def said(level: KitchenLevel) -> tuple[Advice, int]:
    """The request that the certificate names, and from which step on it is made."""
    words, _, step = level.certificate["message"].partition(", after step ")
    advice = OvercookedAdvice(level.world)
    state = [state for state, _ in play(level, advice, 0)][int(step)]
    (request,) = [request for request in advice.candidates(state) if advice.address(request) == words]
    return request, int(step)


def figures(level: KitchenLevel, key: str) -> list[int]:
    return [int(word) for word in level.certificate[key].split()]


# Who lacks what


def near(level: KitchenLevel, i: int) -> str:
    """All squares around the floor that agent i can get to, read off the file."""
    drawing, _, positions, *_ = write_kitchen(level).split("\n\n")
    tiles = {(x, y): tile for y, row in enumerate(drawing.split("\n")) for x, tile in enumerate(row)}
    x, y = map(int, positions.split("\n")[i].split())
    reached, todo, found = {(x, y)}, [(x, y)], ""
    while todo:
        x, y = todo.pop()
        for to in {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)} - reached:
            reached.add(to)
            if tiles.get(to, "#") in " D":
                todo.append(to)
            else:
                found += tiles.get(to, "#")
    return found


def test_whose_food_or_plate_lies_across_a_counter_lacks_it() -> None:
    apart = ("-/*--/*-", "-1 -  2-", "p  -   p", "-t----l-")
    assert lacking(by_hand(*apart)) == []
    assert lacking(by_hand(*apart[:3], "-----tl-")) == [0]
    assert lacking(by_hand(*apart[:3], "-t-l----")) == [1]
    assert lacking(by_hand(*apart[:3], "-l----t-")) == [0, 1]
    assert lacking(by_hand(*apart[:2], "p  p   -", "-t----l-")) == []
    assert lacking(by_hand(*apart[:2], "p  -   -", "-t-p--l-")) == [1]
    assert lacking(by_hand(*apart[:2], "-  -   p", "-t----l-")) == [0]


def test_what_can_be_walked_to_is_not_lacking() -> None:
    for opening in "D ":
        assert lacking(by_hand("-/*--/*-", "-1 -  2-", f"p  {opening}   p", "-----tl-")) == []


@pytest.mark.parametrize(
    "rows",
    {
        "no board": ("-**--/*-", "-1 -  2-", "p  -   p", "-----tl-"),
        "no delivery": ("-//--/*-", "-1 -  2-", "p  -   p", "-----tl-"),
        "no food at all": ("-/*--/*-", "-1 -  2-", "p  -   p", "------l-"),
        "no plate at all": ("-/*--/*-", "-1 -  2-", "-  -   -", "-----tl-"),
    }.values(),
)
def test_who_could_not_cook_even_with_help_is_not_said_to_lack_anything(rows: tuple[str, ...]) -> None:
    assert 0 not in lacking(by_hand(*rows))


def test_who_cooks_nothing_lacks_nothing() -> None:
    assert lacking(by_hand("-/*--/*-", "-1 -  2-", "p  -   p", "-----t--", recipes=("SimpleTomato",))) == [0]
    assert lacking(by_hand("-/*--/*-", "-1 -  2-", "-  -   -", "--t-----", recipes=("SimpleTomato",))) == []


@pytest.mark.parametrize("level", SAMPLE, ids=names(SAMPLE))
def test_help_is_necessary_where_somebody_lacks_something_and_nowhere_else(level: KitchenLevel) -> None:
    without = [not {str(recipe)[6].lower(), "p"} <= set(near(level, i)) for i, recipe in enumerate(level.world.recipes)]
    assert lacking(level) == [i for i, lacks in enumerate(without) if lacks]
    assert any(without) == (level.kind == "necessary")


# Certificates


@pytest.mark.slow
@pytest.mark.parametrize("level", SMALL, ids=lambda level: level.kind)
def test_small_kitchens_are_proved_again_whatever_they_are_called(level: KitchenLevel) -> None:
    again = prove(replace(level, name="another", certificate={}))
    assert again is not None
    assert again == level.certificate


@pytest.mark.slow
@pytest.mark.parametrize("level", SAMPLE, ids=names(SAMPLE))
def test_the_lengths_of_a_certificate_are_those_of_the_kitchen(level: KitchenLevel) -> None:
    assert lengths(level) == figures(level, "L0")
    if level.kind != "not_needed":
        assert lengths(level, *said(level)) == figures(level, "Lf")


@pytest.mark.parametrize("level", [*SMALL, *BUNDLED], ids=names([*SMALL, *BUNDLED]))
def test_the_class_of_a_kitchen_follows_from_its_lengths(level: KitchenLevel) -> None:
    alone = figures(level, "L0")
    assert len(alone) == 10
    if level.kind == "not_needed":
        assert max(alone) < level.horizon
        assert (level.certificate["message"], level.certificate.get("Lf")) == ("none", None)
        return
    told = figures(level, "Lf")
    assert len(told) == 10
    assert max(told) < level.horizon
    if level.kind == "necessary":
        assert set(alone) == {level.horizon}
    else:
        assert level.kind == "useful"
        assert max(alone) < level.horizon
        assert fmean(alone) - fmean(told) >= max(4, 0.15 * fmean(alone))


QUIET = [level for level in SAMPLE if level.kind == "not_needed"]


@pytest.mark.slow
@pytest.mark.parametrize("level", QUIET, ids=names(QUIET))
def test_where_help_is_not_needed_no_message_is_foreseen_to_save_more_than_a_step(level: KitchenLevel) -> None:
    advice = OvercookedAdvice(level.world)
    found = []
    for seed in range(3):
        for t, (state, minds) in enumerate(play(level, advice, seed)):
            without = forecast(advice, state, minds, None, level.horizon - t)
            for request in advice.candidates(state) if t else ():
                found.append(without - forecast(advice, state, minds, request, level.horizon - t))
    assert found
    assert max(found) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("level", [USEFUL, NECESSARY], ids=lambda level: level.kind)
def test_where_help_counts_somebody_who_knows_the_recipes_makes_everybody_succeed(level: KitchenLevel) -> None:
    for seed in range(3):
        assert OVERCOOKED.rows(PlannedEpisode(replace(level, name="proof"), "oracle", level.kind, seed))[-1]["success"]


# Between the classes


@pytest.mark.slow
def test_a_kitchen_in_which_two_messages_are_needed_has_no_class() -> None:
    both = by_hand("-/*--/*-", "-1 -  2-", "p  -   p", "-l----t-")
    assert lacking(both) == [0, 1]
    assert set(lengths(both)) == {100}
    assert prove(both) is None


@pytest.mark.slow
def test_a_kitchen_in_which_somebody_fails_for_no_good_reason_has_no_class() -> None:
    no_lettuce = by_hand("-/*--/*-", "-1 -  2-", "p  -   p", "-t------")
    no_delivery = by_hand("-/*--/--", "-1 -  2-", "p  -   p", "-t----l-")
    for level in (no_lettuce, no_delivery):
        assert set(lengths(level)) == {100}
        assert prove(level) is None


def test_a_kitchen_in_which_nobody_can_do_anything_for_anybody_has_no_class() -> None:
    level = by_hand("-/*##---", "-1 ## 2-", "-tp##-l-", recipes=("SimpleTomato", None))
    assert max(lengths(level)) < 100
    assert not OvercookedAdvice(level.world).candidates(level.world.initial)
    assert prove(level) is None


NARROW = by_hand("--/*---/*-", "-1  -   2-", "p   -    p", "-   D    -", "-----t--l-")


@pytest.mark.slow
def test_what_saves_too_few_steps_is_not_useful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its best message saves 3.6 of 26 steps: too few of them even if no share were asked for."""
    monkeypatch.setattr(kitchens, "SHARE", 0.0)
    assert prove(NARROW) is None
    monkeypatch.setattr(kitchens, "LEAST", 3.5)
    found = prove(NARROW)
    assert found is not None
    assert found["class"] == "useful"
    assert 3.5 <= fmean(map(int, found["L0"].split())) - fmean(map(int, found["Lf"].split())) < 4


@pytest.mark.slow
def test_what_saves_too_small_a_share_is_not_useful(monkeypatch: pytest.MonkeyPatch) -> None:
    level = DESIGN.candidate(779, 188)
    assert prove(level) is None
    monkeypatch.setattr(kitchens, "SHARE", 0.14)
    found = prove(level)
    assert found is not None
    alone, told = (fmean(map(int, found[key].split())) for key in ("L0", "Lf"))
    assert alone - told >= 4
    assert 0.14 <= (alone - told) / alone < 0.15


@pytest.mark.slow
def test_a_kitchen_in_which_some_runs_fail_has_no_class() -> None:
    level = DESIGN.candidate(779, 22)
    alone = lengths(level)
    assert min(alone) < 100 == max(alone)
    assert lacking(level) == []
    assert prove(level) is None


@pytest.mark.slow
def test_a_kitchen_in_which_all_runs_fail_though_nobody_lacks_anything_has_no_class() -> None:
    level = DESIGN.candidate(779, 99)
    assert set(lengths(level)) == {100}
    assert lacking(level) == []
    assert prove(level) is None


@pytest.mark.slow
def test_a_message_that_does_not_always_help_makes_no_class() -> None:
    level = DESIGN.candidate(779, 39)
    assert lacking(level) == [0]
    assert set(lengths(level)) == {100}
    claimed = replace(level, certificate={"message": "Ben: pass the plate at (3, 6) to Ana, after step 1"})
    assert min(lengths(level, *said(claimed))) < 50 < 100 == max(lengths(level, *said(claimed)))
    assert prove(level) is None


@pytest.mark.slow
def test_help_that_a_facilitator_would_not_give_makes_no_class(monkeypatch: pytest.MonkeyPatch) -> None:
    subjects = []

    def dumb(world: FacilitatedWorld, subject: str, *_: object) -> SilentFacilitator:
        subjects.append(subject)
        return SilentFacilitator()

    monkeypatch.setattr(FacilitatedWorld, "facilitator", dumb)
    assert prove(NECESSARY) is None
    assert set(subjects) == {"none", "oracle"}
    assert prove(NOT_NEEDED) is not None


# The same kitchen drawn otherwise

Rows = list[list[str]]


def redrawn(level: KitchenLevel, change: Callable[[Rows], Rows], name: str = "redrawn") -> KitchenLevel:
    """The kitchen with its map changed, people standing where they stood."""
    drawing, recipes, positions, *_ = write_kitchen(level).split("\n\n")
    tiles = [list(row) for row in drawing.split("\n")]
    for i, line in enumerate(positions.split("\n"), 1):
        x, y = map(int, line.split())
        tiles[y][x] = str(i)
    tiles = change(tiles)
    where = {tile: f"{x} {y}" for y, row in enumerate(tiles) for x, tile in enumerate(row) if tile.isdigit()}
    rows = ("".join(" " if tile.isdigit() else tile for tile in row) for row in tiles)
    blocks = ("\n".join(rows), recipes, "\n".join(where[i] for i in sorted(where)), f"name: {name}\nagents: Ana, Ben")
    return parse_kitchen("\n\n".join(blocks) + "\n", Path("redrawn.txt"))


def transposed(rows: Rows) -> Rows:
    return [list(row) for row in zip(*rows, strict=True)]


def reflected(rows: Rows) -> Rows:
    return [row[::-1] for row in rows]


def views(level: KitchenLevel) -> list[KitchenLevel]:
    """All eight, by turning and reflecting."""
    found = []
    for _ in range(4):
        found += [level, redrawn(level, reflected)]
        level = redrawn(level, lambda rows: reflected(transposed(rows)))
    return found


@pytest.mark.parametrize("level", SAMPLE, ids=names(SAMPLE))
def test_a_kitchen_drawn_otherwise_has_the_same_hash(level: KitchenLevel) -> None:
    drawn = views(redrawn(level, lambda rows: rows))
    assert len({write_kitchen(view) for view in drawn}) == 8
    assert {symmetry_hash(replace(view, name=str(k))) for k, view in enumerate(drawn)} == {symmetry_hash(level)}
    renamed = replace(level.world, agents=("Zoe", "Yan"))
    assert symmetry_hash(KitchenLevel("x", renamed, horizon=7)) == symmetry_hash(level)


def swapped(level: KitchenLevel, one: str, other: str) -> KitchenLevel:
    return redrawn(level, lambda rows: [[{one: other, other: one}.get(t, t) for t in row] for row in rows])


def test_a_kitchen_that_differs_in_anything_that_matters_has_another_hash() -> None:
    world, layout = NECESSARY.world, NECESSARY.world.layout
    emptied = [0 if k == place(world, 6, 4) else thing for k, thing in enumerate(world.on)]
    moved = list(world.on)
    moved[place(world, 2, 4)], moved[place(world, 5, 4)] = moved[place(world, 5, 4)], 0
    others = [
        NECESSARY,
        KitchenLevel("x", replace(world, recipes=world.recipes[::-1])),
        KitchenLevel("x", replace(world, recipes=("SimpleTomato", None))),
        KitchenLevel("x", replace(world, cells=(world.cells[0] + 1, world.cells[1]))),
        KitchenLevel("x", replace(world, on=tuple(emptied))),
        KitchenLevel("x", replace(world, on=tuple(moved))),
        swapped(NECESSARY, "t", "l"),
        swapped(NECESSARY, "/", "*"),
        swapped(NECESSARY, "-", "#"),
        redrawn(NECESSARY, lambda rows: [*rows[:1], list("-  -   -"), *rows[1:]]),
        redrawn(NECESSARY, lambda rows: [*rows[:2], list("p  D   p"), *rows[3:]]),
        redrawn(NECESSARY, lambda rows: [*rows[:2], list("p      p"), *rows[3:]]),
    ]
    assert layout == others[1].world.layout
    assert len({symmetry_hash(level) for level in others}) == len(others)
    assert len({symmetry_hash(level) for level in BUNDLED}) == len(BUNDLED)


ANEW = [level for level in BUNDLED if level.kind == "necessary"][:2]


@pytest.mark.slow
def test_the_class_mostly_stays_the_same_however_a_kitchen_is_drawn() -> None:
    """Ties are broken in the order of directions, so a turned kitchen may fall between the classes; into no other."""
    for levels, change in (
        (ANEW, transposed),
        ([level for level in BUNDLED if level.kind == "not_needed"][:2], reflected),
    ):
        kinds = [None if (proof := prove(redrawn(level, change))) is None else proof["class"] for level in levels]
        assert set(kinds) <= {levels[0].kind, None}
        assert kinds.count(levels[0].kind) >= len(kinds) - 1


# Files that claim something


def verdicts(folder: Path) -> dict[str, tuple[str, bool]]:
    """What is found out about every file of a folder."""
    lines = list(check([str(folder)], jobs=1))
    return {line.partition(":")[0]: (line, held) for line, held in lines}


def write(folder: Path, *levels: KitchenLevel) -> None:
    for n, level in enumerate(levels):
        (folder / f"{n}.txt").write_text(write_kitchen(level), "utf-8")


@pytest.mark.slow
def test_a_folder_with_levels_of_both_worlds_is_checked(tmp_path: Path) -> None:
    level = bundled_levels()[0]
    write(tmp_path, NECESSARY, replace(NOT_NEEDED, name="plain", certificate={}))
    (tmp_path / "doors.txt").write_text(write_level(level), "utf-8")
    claims = {**level.certificate, "together": str(int(level.certificate["together"]) + 1)}
    (tmp_path / "a.txt").write_text(write_level(replace(level, name="wrong", certificate=claims)), "utf-8")
    assert verdicts(tmp_path) == {
        NECESSARY.name: (f"{NECESSARY.name}: necessary, proved", True),
        "plain": ("plain: has no certificate", False),
        level.name: (f"{level.name}: {level.kind}, proved", True),
        "wrong": ("wrong: together cannot be proved", False),
    }


def claiming(level: KitchenLevel, key: str, old: str, new: str) -> KitchenLevel:
    assert old in level.certificate[key]
    claims = {**level.certificate, key: level.certificate[key].replace(old, new, 1)}
    return replace(level, name=f"{level.kind} {key}", certificate=claims)


@pytest.mark.slow
def test_a_certificate_with_one_number_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proofs = {level.world: prove(level) for level in (NOT_NEEDED, NECESSARY)}
    quick = replace(DESIGN, prove=lambda level: proofs[level.world])
    monkeypatch.setattr(generation, "DESIGNS", {**generation.DESIGNS, "overcooked": quick})
    write(
        tmp_path,
        NECESSARY,
        claiming(NECESSARY, "Lf", "18", "19"),
        claiming(NECESSARY, "L0", "100", "99"),
        claiming(NECESSARY, "message", "step 1", "step 2"),
        claiming(NECESSARY, "message", "(5, 4)", "(6, 4)"),
        claiming(NOT_NEEDED, "L0", "10", "11"),
        claiming(NOT_NEEDED, "class", "not_needed", "useful"),
    )
    text = write_kitchen(replace(NECESSARY, name="without Lf"))
    (tmp_path / "9.txt").write_text("\n".join(line for line in text.split("\n") if line[:3] != "Lf:"), "utf-8")
    assert list(check([str(tmp_path)], jobs=1)) == [
        ("across: necessary, proved", True),
        ("necessary Lf: Lf cannot be proved", False),
        ("necessary L0: L0 cannot be proved", False),
        ("necessary message: message cannot be proved", False),
        ("necessary message: message cannot be proved", False),
        ("not_needed L0: L0 cannot be proved", False),
        ("not_needed class: class cannot be proved", False),
        ("without Lf: Lf cannot be proved", False),
    ]


@pytest.mark.slow
def test_a_kitchen_that_belongs_to_no_class_cannot_claim_one(tmp_path: Path) -> None:
    both = by_hand("-/*--/*-", "-1 -  2-", "p  -   p", "-l----t-")
    write(tmp_path, replace(both, name="x", certificate=NECESSARY.certificate))
    assert verdicts(tmp_path) == {"x": ("x: belongs to no class, but claims to be necessary", False)}


def test_a_folder_without_levels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no level"):
        verdicts(tmp_path)


SEEDS = range(300)
LETTER = {"SimpleTomato": "t", "SimpleLettuce": "l", "SimpleOnion": "o"}

Xy = tuple[int, int]


@cache
def made(seed: int) -> KitchenLevel:
    return random_kitchen(generator(seed))


# What a kitchen file says, read naively


def squares(level: KitchenLevel) -> dict[Xy, str]:
    """The squares of the map, as the file has them."""
    rows = write_kitchen(level).split("\n\n")[0].split("\n")
    return {(x, y): tile for y, row in enumerate(rows) for x, tile in enumerate(row)}


def people(level: KitchenLevel) -> list[Xy]:
    lines = write_kitchen(level).split("\n\n")[2].split("\n")
    return [(int(x), int(y)) for x, y in map(str.split, lines)]


def around(cells: Iterable[Xy]) -> set[Xy]:
    return {(x + dx, y + dy) for x, y in cells for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}


def pieces(cells: Iterable[Xy]) -> list[set[Xy]]:
    """The cells in connected pieces."""
    left, found = set(cells), []
    while left:
        piece = {left.pop()}
        while grown := around(piece) & left:
            left -= grown
            piece |= grown
        found.append(piece)
    return found


def floor(level: KitchenLevel, tiles: str = " D") -> list[set[Xy]]:
    return pieces(at for at, tile in squares(level).items() if tile in tiles)


# Whatever the seed


@pytest.mark.parametrize("first", SEEDS[::50])
def test_in_a_random_kitchen_everybody_can_work(first: int) -> None:
    for seed in range(first, first + 50):
        level = made(seed)
        tiles = squares(level)
        width, height = (1 + max(at[k] for at in tiles) for k in (0, 1))
        assert 7 <= min(width, height) <= max(width, height) <= 9
        assert len(tiles) == width * height
        inside = {(x, y) for x in range(1, width - 1) for y in range(1, height - 1)}
        assert {at for at, tile in tiles.items() if tile in " D"} <= inside
        one, other = people(level)
        assert one != other
        assert tiles[one] == tiles[other] == " "
        for piece in floor(level):
            assert {"/", "*"} <= {tiles[at] for at in around(piece)}, seed


@pytest.mark.parametrize("first", SEEDS[::50])
def test_in_a_random_kitchen_there_is_what_everybody_needs_within_somebodys_reach(first: int) -> None:
    for seed in range(first, first + 50):
        level = made(seed)
        tiles = squares(level)
        floors = set().union(*floor(level))
        lying = {at: tile for at, tile in tiles.items() if tile in "tlop"}
        there = Counter(lying.values())
        needed = Counter(LETTER[str(recipe)] for recipe in level.world.recipes)
        assert needed.total() == len(level.world.agents) == 2
        assert needed <= there, seed
        assert 2 <= there["p"] <= 3
        assert all(around([at]) & floors for at in lying)


@pytest.mark.parametrize("first", SEEDS[::50])
def test_the_same_seed_makes_the_same_kitchen_and_its_file_says_it_all(first: int) -> None:
    for seed in range(first, first + 50):
        level = made(seed)
        assert random_kitchen(generator(seed)) == level
        text = write_kitchen(level)
        assert parse_kitchen(text, Path("any.txt")) == level
        assert is_kitchen(text)


def test_levels_of_doors_keys_and_gems_are_no_kitchens() -> None:
    assert not any(is_kitchen(write_level(level)) for level in bundled_levels())


# Over many seeds


def test_random_kitchens_differ() -> None:
    assert len({write_kitchen(made(seed)) for seed in SEEDS}) == len(SEEDS)


def divided(level: KitchenLevel) -> set[str]:
    """What kinds of divisions there are: `door`, `no opening`, and `gap`, a break in a row of counters."""
    found = set()
    if "D" in squares(level).values():
        found.add("door")
    if len(floor(level)) > 1:
        found.add("no opening")
    if len(floor(level)) == 1 and not found:
        found.add("gap")
    return found


@pytest.mark.slow
def test_there_are_kitchens_of_all_kinds() -> None:
    kinds = Counter(kind for seed in SEEDS for kind in divided(made(seed)))
    rooms = Counter(len(floor(made(seed), " ")) for seed in SEEDS)
    assert set(kinds) == {"door", "no opening", "gap"}
    assert min(kinds.values()) >= 0.03 * len(SEEDS)
    assert min(kinds["door"], kinds["no opening"]) >= 0.3 * len(SEEDS)
    assert set(rooms) == {1, 2, 3, 4}
    assert min(rooms.values()) >= 0.02 * len(SEEDS)
    assert {recipe for seed in SEEDS for recipe in made(seed).world.recipes} == {*LETTER}


@pytest.mark.slow
def test_people_are_mostly_in_different_rooms() -> None:
    apart = [not any({*people(made(seed))} <= room for room in floor(made(seed), " ")) for seed in SEEDS]
    assert 0.7 < sum(apart) / len(apart) < 0.98
    alone = [seed for seed in SEEDS if len(floor(made(seed), " ")) == 1]
    assert not any(apart[seed] for seed in alone)


@pytest.mark.slow
def test_foods_are_often_where_they_are_not_needed() -> None:
    """Half of the kitchens or more have somebody whose food is not in the room that they are in."""
    away = 0
    for seed in SEEDS:
        level, tiles = made(seed), squares(made(seed))
        for at, recipe in zip(people(level), level.world.recipes, strict=True):
            (room,) = [room for room in floor(level, " ") if at in room]
            if LETTER[str(recipe)] not in {tiles.get(near) for near in around(room)}:
                away += 1
                break
    assert away >= 0.5 * len(SEEDS)


SETS = {name: DESIGN.level_set(name) for name in ("tuning", "heldout", "robust")}
SIZES = {
    "tuning": {"not_needed": 20, "useful": 20, "necessary": 20},
    "heldout": {"not_needed": 70, "useful": 70, "necessary": 70},
    "robust": {"not_needed": 12, "useful": 11, "necessary": 16},
}


# Those that were picked


def test_there_are_seven_kitchens_of_each_class_and_they_are_ordered_by_class() -> None:
    assert [level.kind for level in BUNDLED] == [kind for kind in CLASSES for _ in range(7)]
    assert len({level.name for level in BUNDLED}) == 21
    assert {level.horizon for level in BUNDLED} == {100}


@pytest.mark.parametrize("level", BUNDLED, ids=[level.name for level in BUNDLED])
def test_bundled_kitchens_are_those_of_their_seeds(level: KitchenLevel) -> None:
    seed, _, index = level.certificate["seed"].partition("/")
    made = replace(DESIGN.candidate(int(seed), int(index)), name=level.name, certificate=level.certificate)
    assert write_kitchen(made) == write_kitchen(level)


@pytest.mark.slow
@pytest.mark.parametrize("level", BUNDLED[2::8], ids=[level.name for level in BUNDLED[2::8]])
def test_bundled_kitchens_are_proved_again(level: KitchenLevel) -> None:
    """Every eighth; `otherminds verify levels twenty-one` proves all of them."""
    again = DESIGN.certified(level)
    assert again is not None
    assert again.certificate == level.certificate


# Those that are given by numbers


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_a_set_is_made_anew_as_it_was(name: str) -> None:
    made = SETS[name].levels()
    assert DESIGN.digest(made) == SETS[name].maps
    assert Counter(level.kind for level in made) == SIZES[name]
    assert [(level.name, level.certificate["seed"]) for level in made] == [
        (f"{kind}-{n}", f"{SETS[name].seed}/{n}") for kind, numbers in SETS[name].numbers.items() for n in numbers
    ]


@pytest.mark.slow
def test_no_kitchen_comes_twice_even_turned_or_reflected() -> None:
    every = [*BUNDLED, *(level for chosen in SETS.values() for level in chosen.levels())]
    assert len(every) == 291 + 39
    assert len({symmetry_hash(level) for level in every}) == len(every)


def test_no_two_sets_share_a_seed() -> None:
    table = json.loads((DESIGN.folder / "sets.json").read_text("utf-8"))
    assert {*table} == {*SETS}
    seeds = [entry["seed"] for entry in table.values()]
    bundled = {int(level.certificate["seed"].split("/")[0]) for level in BUNDLED}
    assert len({*seeds, *bundled}) == len(seeds) + len(bundled)
    assert {entry[hashed] for entry in table.values() for hashed in ("maps", "certificates")} == {
        hashed for chosen in SETS.values() for hashed in (chosen.maps, chosen.certificates)
    }


@pytest.mark.slow
def test_a_set_with_another_number_is_refused() -> None:
    chosen = SETS["tuning"]
    for numbers in (
        {**chosen.numbers, "useful": [*chosen.numbers["useful"][:-1], 1]},
        {**chosen.numbers, "useful": chosen.numbers["useful"][::-1]},
        {**chosen.numbers, "useful": chosen.numbers["necessary"], "necessary": chosen.numbers["useful"]},
    ):
        with pytest.raises(InputError, match=f"seed {chosen.seed} are not those that were chosen"):
            replace(chosen, numbers=numbers).levels()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [("heldout", "not_needed"), ("tuning", "useful"), ("heldout", "necessary")])
def test_kitchens_of_a_set_belong_to_their_class(name: str, kind: str) -> None:
    """One of each class; `otherminds verify levels` proves all of them, and their lengths."""
    proof = prove(DESIGN.candidate(SETS[name].seed, SETS[name].numbers[kind][0]))
    assert proof is not None
    assert proof["class"] == kind


@pytest.mark.slow
def test_a_small_set_is_checked_with_its_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    first = BUNDLED[0]
    seed, number = map(int, first.certificate["seed"].split("/"))
    made = DESIGN.candidate(seed, number, first.kind)
    hashes = DESIGN.digest([made]), DESIGN.digest([replace(made, certificate=first.certificate)])
    small = LevelSet(DESIGN, seed, {first.kind: [number]}, *hashes)
    for chosen, said, held in ((small, "as recorded", True), (replace(small, certificates="0"), "DIFFERS", False)):
        monkeypatch.setattr(Design, "level_set", lambda *_, chosen=chosen: chosen)
        line = f"overcooked-tuning: 1 of 1 certificates proved, hash {said}"
        assert list(check(["overcooked-tuning"], jobs=1)) == [(line, held)]
