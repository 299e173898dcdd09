"""Episodes to be watched: everything on offer can be wanted, and is shown in one page that is always the same."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from pydantic import ValidationError

from otherminds.errors import InputError
from otherminds.papers.protom.levels.generation import DESIGNS
from otherminds.web.episodes import EpisodeRequest, check_request, episode_choices, episode_id, recorded_page
from otherminds.worlds.in_the_matrix.scenarios import scenarios
from viewer import HOSTILE, Outline, data

GEMS = EpisodeRequest(world="doors-keys-gems", level="own-key", facilitator="all", seed=3)
KITCHEN = EpisodeRequest(world="overcooked", level="open-door", facilitator="protom", seed=3)
MATRIX = EpisodeRequest(world="melting-pot", level="rws_repeated_6", agent="ppo", seed=3)
ONE_OF_EACH = pytest.mark.parametrize("wanted", [GEMS, KITCHEN, MATRIX], ids=lambda wanted: wanted.world)


page = cache(recorded_page)


def offered() -> Iterator[dict[str, Any]]:
    """Everything that the form can send."""
    for world in episode_choices()["worlds"]:
        for level in (level for group in world["groups"] for level in group["levels"]):
            for who in world["who"]:
                yield {"world": world["id"], "level": level["id"], world["field"]: who["id"]}


def test_everything_on_offer_can_be_wanted_and_has_a_name_of_its_own() -> None:
    seeds = episode_choices()["seed"]
    wishes = [EpisodeRequest.model_validate_json(json.dumps({**wish, "seed": seeds["most"]})) for wish in offered()]
    for wanted in wishes:
        check_request(wanted)
    assert len({episode_id(wanted) for wanted in wishes}) == len(wishes)
    with pytest.raises(ValidationError):
        EpisodeRequest.model_validate({**wishes[0].model_dump(), "seed": seeds["most"] + 1})
    with pytest.raises(ValidationError):
        EpisodeRequest.model_validate({**wishes[0].model_dump(), "seed": seeds["least"] - 1})


def test_all_levels_and_matrix_scenarios_are_on_offer_once() -> None:
    found: dict[str, list[str]] = {
        world["id"]: [level["id"] for group in world["groups"] for level in group["levels"]]
        for world in episode_choices()["worlds"]
    }
    for world, design in DESIGNS.items():
        assert sorted(found.pop(world)) == sorted(level.name for level in design.bundled())
    expected = [one.id for one in scenarios() if not one.substrate.startswith("cooking")]
    assert found == {"melting-pot": expected}


def test_facilitators_on_offer_are_those_of_the_world() -> None:
    able = {world["id"]: [who["id"] for who in world["who"]] for world in episode_choices()["worlds"]}
    assert able["doors-keys-gems"] == ["all", "none", "random", "oracle", "protom", "protom_at_once", "protom_paper"]
    assert able["overcooked"] == able["doors-keys-gems"]


@pytest.mark.slow
@ONE_OF_EACH
def test_an_episode_is_one_page_of_which_only_the_viewer_is_a_script(wanted: EpisodeRequest) -> None:
    markup = page(wanted)
    tags = Outline(markup).tags
    assert [names for tag, names in tags if tag == "script"] == [["type", "data-at"], []]
    assert not any(tag in ("img", "link", "iframe", "object", "embed") for tag, _ in tags)
    assert not any(name.startswith("on") or name in ("src", "srcset") for _, names in tags for name in names)
    assert "script-src 'sha256-" in markup
    assert len(re.findall("<h1>", markup)) == 1


def test_all_four_facilitators_are_side_by_side_with_the_same_people() -> None:
    viewed = data(page(GEMS))
    assert [key for key, _ in viewed["subjects"]] == ["none", "random", "oracle", "protom"]
    (played,) = viewed["episodes"]
    assert all(played)
    assert len({json.dumps(one["wants"]) for one in played}) == 1


@pytest.mark.slow
def test_one_facilitator_is_shown_alone() -> None:
    viewed = data(page(KITCHEN))
    assert [key for key, _ in viewed["subjects"]] == ["protom"]
    assert viewed["episodes"][0][0]["sights"]


@pytest.mark.slow
def test_a_seed_is_another_episode() -> None:
    other = GEMS.model_copy(update={"seed": 4})
    assert episode_id(other) != episode_id(GEMS)
    assert data(page(other))["episodes"] != data(page(GEMS))["episodes"]


PLAYED = """
import hashlib, pickle, sys
from otherminds.web.episodes import recorded_page
for wanted in pickle.loads(bytes.fromhex(sys.argv[1])):
    print(hashlib.sha256(recorded_page(wanted).encode()).hexdigest())
"""


@pytest.mark.slow
def test_the_same_wish_gives_the_same_bytes_in_every_process() -> None:
    wishes = [GEMS, KITCHEN, MATRIX]
    told = subprocess.run(
        [sys.executable, "-c", PLAYED, pickle.dumps(wishes).hex()],
        env={"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert told.split() == [hashlib.sha256(page(wanted).encode()).hexdigest() for wanted in wishes]


def test_names_last() -> None:
    assert re.fullmatch("[0-9a-f]{16}", episode_id(GEMS))
    assert episode_id(GEMS) == episode_id(EpisodeRequest.model_validate_json(GEMS.model_dump_json()))


def test_names_depend_on_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = episode_id(GEMS)
    monkeypatch.setattr("otherminds.web.episodes.__version__", "99.0")
    assert episode_id(GEMS) != before


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"world": "overcooked", "level": "own-key", "facilitator": "none"}, "no level `own-key` of overcooked"),
        ({"world": "overcooked", "level": "../hatch", "facilitator": "none"}, "there is no level"),
        ({"world": "overcooked", "level": "hatch", "facilitator": "protom_soon"}, "no facilitator `protom_so"),
        ({"world": "overcooked", "level": "hatch", "facilitator": "protom_fast"}, "no facilitator `protom_fast`"),
        ({"world": "overcooked", "level": "hatch"}, "one of all, none, random"),
        ({"world": "overcooked", "level": "hatch", "agent": "random"}, "no facilitator named"),
        (
            {"world": "overcooked", "level": "hatch", "facilitator": "none", "agent": "random"},
            "`random` does not belong into overcooked",
        ),
        ({"world": "melting-pot", "level": "rws_repeated_4", "agent": "HM"}, "no agent `HM`"),
        ({"world": "melting-pot", "level": "rws_repeated_4", "facilitator": "none"}, "no agent named"),
        (
            {"world": "melting-pot", "level": "rws_repeated_4", "agent": "random", "facilitator": "none"},
            "`none` does not belong into melting-pot",
        ),
        ({"world": "melting-pot", "level": "cooking_asymmetric_0", "agent": "programs"}, "there is no level"),
        ({"world": "melting-pot", "level": "rws_repeated_99", "agent": "programs"}, "there is no level"),
        ({"world": "melting-pot", "level": HOSTILE[:60], "agent": "programs"}, "there is no level"),
    ],
)
def test_what_does_not_exist_or_fit_is_refused_in_one_line(wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        recorded_page(EpisodeRequest.model_validate(wanted))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "changed",
    [
        {"world": "chess"},
        {"level": ""},
        {"level": "x" * 61},
        {"facilitator": "x" * 31},
        {"facilitator": 1},
        {"agent": ["programs"]},
        {"seed": -1},
        {"seed": 1 << 31},
        {"seed": "1"},
        {"seed": 1.5},
        {"seed": True},
        {"more": 1},
    ],
)
def test_what_makes_no_sense_cannot_be_wanted(changed: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EpisodeRequest.model_validate_json(json.dumps({**GEMS.model_dump(), **changed}))


def test_a_wish_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        GEMS.seed = 4  # type: ignore[misc]
