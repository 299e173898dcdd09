"""The kitchens that come with the library: proved again, made anew from their seeds, and no two of them the same."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from otherminds.errors import InputError
from otherminds.papers.protom.levels.certificates import check
from otherminds.papers.protom.levels.kitchens import DESIGN, prove, symmetry_hash
from otherminds.papers.protom.levels.level_sets import CLASSES, Design, LevelSet
from otherminds.worlds.overcooked.level_files import KitchenLevel, write_kitchen

BUNDLED = DESIGN.bundled()
SETS = {name: DESIGN.level_set(name) for name in ("tuning", "heldout")}
SIZES = {"tuning": 20, "heldout": 70}


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


@pytest.mark.parametrize("level", BUNDLED[2::4], ids=[level.name for level in BUNDLED[2::4]])
def test_bundled_kitchens_are_proved_again(level: KitchenLevel) -> None:
    """Every fourth; `otherminds verify levels twenty-one` proves all of them."""
    again = DESIGN.certified(level)
    assert again is not None
    assert again.certificate == level.certificate


# Those that are given by numbers


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_made_anew_as_it_was(name: str) -> None:
    made = SETS[name].levels()
    assert DESIGN.digest(made) == SETS[name].maps
    assert Counter(level.kind for level in made) == dict.fromkeys(CLASSES, SIZES[name])
    assert [(level.name, level.certificate["seed"]) for level in made] == [
        (f"{kind}-{n}", f"{SETS[name].seed}/{n}") for kind, numbers in SETS[name].numbers.items() for n in numbers
    ]


def test_no_kitchen_comes_twice_even_turned_or_reflected() -> None:
    every = [*BUNDLED, *SETS["tuning"].levels(), *SETS["heldout"].levels()]
    assert len(every) == 291
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


def test_a_set_with_another_number_is_refused() -> None:
    chosen = SETS["tuning"]
    for numbers in (
        {**chosen.numbers, "useful": [*chosen.numbers["useful"][:-1], 1]},
        {**chosen.numbers, "useful": chosen.numbers["useful"][::-1]},
        {**chosen.numbers, "useful": chosen.numbers["necessary"], "necessary": chosen.numbers["useful"]},
    ):
        with pytest.raises(InputError, match=f"seed {chosen.seed} are not those that were chosen"):
            replace(chosen, numbers=numbers).levels()


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", SETS)
def test_kitchens_of_a_set_belong_to_their_class(name: str, kind: str) -> None:
    """One of each class; `otherminds verify levels` proves all of them, and their lengths."""
    proof = prove(DESIGN.candidate(SETS[name].seed, SETS[name].numbers[kind][0]))
    assert proof is not None
    assert proof.kind == kind


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
