"""Small homes for tests, from a line of text or drawn at random."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from otherminds.worlds.household.rules import Home, Household, Person, Place, State

ROOMS = ("kitchen", "bedroom", "study", "bathroom")


def home_from(text: str, steps: int = 2) -> Home:
    """The home of a text such as "kitchen: +fridge, table | bedroom: desk"; a plus marks what can be closed."""
    places: list[Place] = []
    for part in text.split("|"):
        room, names = (half.strip() for half in part.split(":"))
        places += [Place(name.strip().lstrip("+"), room, name.strip()[0] == "+") for name in names.split(",")]
    rooms = tuple(dict.fromkeys(place.room for place in places))
    return Home(rooms, tuple(places), tuple(tuple(0 if a == b else steps for b in rooms) for a in rooms))


def random_home(rng: np.random.Generator, places: tuple[int, int] = (2, 4), rooms: tuple[int, int] = (1, 3)) -> Home:
    """A home with places in every room, two steps from room to room."""
    names = ROOMS[: int(rng.integers(rooms[0], rooms[1] + 1))]
    n = max(int(rng.integers(places[0], places[1] + 1)), len(names))
    where = [*names, *(str(rng.choice(names)) for _ in range(n - len(names)))]
    spots = tuple(Place(f"place {i}", room, bool(rng.random() < 0.5)) for i, room in enumerate(where))
    return Home(names, spots, tuple(tuple(0 if a == b else 2 for b in names) for a in names))


def homes(places: tuple[int, int] = (2, 4), rooms: tuple[int, int] = (1, 3)) -> st.SearchStrategy[Home]:
    """Any home of these sizes."""
    return st.integers(0, 2**32 - 1).map(lambda seed: random_home(np.random.default_rng(seed), places, rooms))


def household(home: Home, people: dict[str, str], things: dict[str, str]) -> Household:
    """The household of some people in their rooms, with things in their places, everything closed."""
    state = State(tuple((name, Person(room)) for name, room in people.items()), tuple(things.items()))
    return Household(home, tuple(people), state)
