"""What somebody believes to be so after a change that they perceive, or miss."""

from __future__ import annotations

import pytest

from otherminds.stories.answering import ask

LAMP = (
    "Ilse repairs lamps in a small shop. She wants to sell a brass lamp today. Ilse sees that the lamp is bright and "
    "polished. A boy who runs past splashes muddy water on it, leaving the brass dull and stained. "
)
OPTIONS = ("Ilse believes the lamp is bright and polished.", "Ilse believes the lamp is dull and stained.")
TUB = "Omar grows herbs. Omar notices that the tub holds ripe tomatoes. At night a fox eats the tomatoes in the tub. "
EITHER = ("Omar believes the tub has ripe tomatoes.", "Omar believes the tub has no ripe tomatoes.")


@pytest.mark.parametrize(
    ("seen", "believed"),
    [
        ("Ilse does not notice the boy or the muddy water.", 0),
        ("Ilse notices the boy and the stained lamp.", 1),
        ("She didn't see it happen.", 0),
        ("She feels the splash.", 1),
        ("Ilse fails to see the stains.", 0),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_who_misses_a_change_believes_in_the_state_before_it(seen: str, believed: int, turned: bool) -> None:
    options = OPTIONS[::-1] if turned else OPTIONS
    found = ask(LAMP + seen, "Does Ilse believe the lamp is bright or dull?", options)
    assert found.answer.option == (1 - believed if turned else believed)
    assert max(found.answer.posterior) < 0.95
    assert found.answer.passages == (LAMP.split(". ")[-2] + ".", seen)


@pytest.mark.parametrize(("seen", "believed"), [("Omar does not see the fox.", 0), ("Omar sees the fox.", 1)])
def test_a_state_may_be_told_by_its_denial(seen: str, believed: int) -> None:
    assert ask(TUB + seen, "Does Omar believe the tub has ripe tomatoes?", EITHER).answer.option == believed


@pytest.mark.parametrize(
    "end",
    [
        "",  # whether she sees it is not told
        "A neighbour does not notice the boy.",  # somebody else does not
        "Ilse does not notice the boy. Ilse puts the lamp into the window.",  # what she does later may show more
    ],
)
def test_nothing_is_answered_if_it_is_not_told_whether_they_perceive_it(end: str) -> None:
    assert ask(LAMP + end, "Does Ilse believe the lamp is bright or dull?", OPTIONS).answer.option is None


WILL = ("Ilse will put the lamp into the window.", "Ilse will clean the stained lamp first.")


@pytest.mark.parametrize(("seen", "done"), [("Ilse does not notice the stains.", 0), ("Ilse notices the stains.", 1)])
def test_who_knows_of_a_change_copes_with_it(seen: str, done: int) -> None:
    assert ask(LAMP + seen, "What will Ilse do?", WILL).answer.option == done
    assert ask(LAMP + seen, "What will Ilse do?", WILL[::-1]).answer.option == 1 - done


@pytest.mark.parametrize(
    ("deed", "believed"), [("Ilse puts the brass lamp into her window.", 0), ("Ilse cleans the stained lamp again.", 1)]
)
def test_what_somebody_does_shows_in_which_state_they_believe(deed: str, believed: int) -> None:
    assert ask(LAMP + deed, "Does Ilse believe the lamp is bright or dull?", OPTIONS).answer.option == believed
