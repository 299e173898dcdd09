"""The bundled clue games as tasks of Theory of Mind."""

from __future__ import annotations

from functools import partial

from otherminds.worlds.clue_games import hanabi_players as hanabi
from otherminds.worlds.clue_games import wavelength_players as dials
from otherminds.worlds.clue_games.tiny_hanabi import Deal, TinyHanabi
from otherminds.worlds.clue_games.wavelength import Wavelength, WavelengthRound
from otherminds.worlds.two_step_games import ClueGame, Row


def clue_games() -> dict[str, ClueGame]:
    """The bundled games by the names of their conditions."""
    return {"hanabi/signals": _hanabi(TinyHanabi()), "wavelength/dials": _wavelength(Wavelength())}


def _hanabi(world: TinyHanabi) -> ClueGame:
    """Tiny Hanabi with the listener's seat open: all deterministic signallers are its partners.

    A finished deal becomes the row {observed: the signaller's card, action, card: the listener's card, signal}.
    """

    def row_of(deal: Deal) -> Row:
        return {"observed": deal.cards[0], "action": deal.action, "card": deal.cards[1], "signal": deal.signal}

    return ClueGame(
        world=world,
        seat="listener",
        partners={partner.name: partner for partner in hanabi.signallers(world)},
        informed=partial(hanabi.informed, world),
        uninformed={
            "bayesian": hanabi.bayesian(world),
            "egocentric": hanabi.egocentric(world),
            "blind": hanabi.blind(world),
        },
        shown=row_of,
        best=lambda partner, deal: hanabi.best(world, partner, deal.cards[1], deal.signal),
        earned=partial(hanabi.earned, world),
    )


def _wavelength(world: Wavelength) -> ClueGame:
    """Wavelength with the giver's seat open: the 25 guessers with a distorted dial are its partners.

    A finished round becomes a row whose `observed` is the guess and `action` the index of the clue. `span` is the
    largest miss, in positions.
    """

    def row_of(last_round: WavelengthRound) -> Row:
        spectrum = world.spectra[last_round.spectrum]
        words = {"spectrum": f"{spectrum.low}–{spectrum.high}", "clue": spectrum.clues[last_round.clue]}
        return {"observed": last_round.guess, "action": last_round.clue, "target": last_round.target, **words}

    return ClueGame(
        world=world,
        seat="giver",
        partners={partner.name: partner for partner in dials.guessers(world)},
        informed=dials.informed,
        uninformed={
            "bayesian": dials.bayesian(world),
            "egocentric": dials.egocentric(world),
            "random": dials.random(world),
        },
        shown=row_of,
        best=lambda partner, last_round: dials.best(partner, last_round.spectrum, last_round.target),
        earned=dials.earned,
        span=world.positions - 1,
    )
