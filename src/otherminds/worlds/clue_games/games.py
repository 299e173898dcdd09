"""The bundled clue games as tasks of Theory of Mind."""

from __future__ import annotations

from functools import partial

from otherminds.worlds.clue_games import codenames_players, in_words, small_hanabi_players, taboo_players
from otherminds.worlds.clue_games import hanabi_players as hanabi
from otherminds.worlds.clue_games import wavelength_players as dials
from otherminds.worlds.clue_games.clue_game import ClueGame, Row
from otherminds.worlds.clue_games.codenames import STOP, Codenames, Turn
from otherminds.worlds.clue_games.small_hanabi import HanabiGame, SmallHanabi
from otherminds.worlds.clue_games.taboo import Taboo, TabooExchange
from otherminds.worlds.clue_games.tiny_hanabi import Deal, TinyHanabi
from otherminds.worlds.clue_games.wavelength import Wavelength, WavelengthRound


def clue_games() -> dict[str, ClueGame]:
    """The bundled games by the names of their conditions."""
    return {"hanabi/signals": _hanabi(TinyHanabi()), "wavelength/dials": _wavelength(Wavelength())}


def all_clue_games() -> dict[str, ClueGame]:
    """The bundled games and the longer ones, Taboo, Codenames and a small Hanabi."""
    longer = {
        "taboo/fields": _taboo(Taboo()),
        "codenames/boards": _codenames(Codenames()),
        "hanabi/conventions": _small_hanabi(SmallHanabi()),
    }
    return clue_games() | longer


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
        spoken=in_words.tiny_hanabi(world),
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
        spoken=in_words.wavelength(world),
        names=(tuple(dict.fromkeys(clue for spectrum in world.spectra for clue in spectrum.clues)),),
        span=world.positions - 1,
    )


def _taboo(world: Taboo) -> ClueGame:
    """Taboo with the giver's seat open: guessers who know some fields of life are its partners.

    Each guess becomes a row whose `observed` is the guess and `action` the clue, as indices.
    """
    words, clues = world.associations.words, world.associations.clues

    def row_of(last: TabooExchange) -> Row:
        guess, clue = last.guesses[-1], last.clues[-1]
        told = {"target": words[last.target], "clue": clues[clue], "guess": words[guess]}
        return {"observed": guess, "action": clue, **told, "over": last.over}

    return ClueGame(
        world=world,
        seat="giver",
        partners={partner.name: partner for partner in taboo_players.guessers(world)},
        informed=taboo_players.informed,
        uninformed={
            "bayesian": taboo_players.bayesian(world),
            "egocentric": taboo_players.egocentric(world),
            "random": taboo_players.random(world),
        },
        shown=row_of,
        best=taboo_players.best,
        earned=taboo_players.earned,
        spoken=in_words.taboo(world),
        names=(words, clues),
    )


def _codenames(world: Codenames) -> ClueGame:
    """Codenames with the guesser's seat open: its partners are givers of three manners who know some fields of life.

    Each turn becomes a row whose `observed` is the set of own words, which is predicted from the hint, and `action` the
    place touched first, or STOP.
    """
    words, clues = world.associations.words, world.associations.clues

    def row_of(last: Turn) -> Row:
        touched = [words[last.board[place]] for place in last.touched]
        told = {"clue": clues[last.clue], "number": last.number, "touched": touched}
        return {"observed": codenames_players.own_set(world, last.roles), "action": (*last.touched, STOP)[0], **told}

    return ClueGame(
        world=world,
        seat="guesser",
        partners={partner.name: partner for partner in codenames_players.givers(world)},
        informed=codenames_players.informed,
        uninformed={
            "bayesian": codenames_players.bayesian(world),
            "egocentric": codenames_players.egocentric(world),
            "blind": codenames_players.blind(world),
        },
        shown=row_of,
        best=codenames_players.best,
        earned=codenames_players.earned,
        spoken=in_words.codenames(world),
        names=(words, clues),
    )


def _small_hanabi(world: SmallHanabi) -> ClueGame:
    """Small Hanabi with the second player's seat open: first players with twelve conventions are its partners.

    Each pair of turns becomes a row whose `observed` is the subject's own card, which is predicted after the partner's
    turn, and `action` what the subject does then.
    """

    def row_of(last: HanabiGame) -> Row:
        return {"observed": last.own, "action": last.action, "over": last.over}

    return ClueGame(
        world=world,
        seat="second",
        partners={partner.name: partner for partner in small_hanabi_players.conventions(world)},
        informed=small_hanabi_players.informed,
        uninformed={
            "bayesian": small_hanabi_players.bayesian(world),
            "egocentric": small_hanabi_players.egocentric(world),
            "literal": small_hanabi_players.literal(world),
        },
        shown=row_of,
        best=small_hanabi_players.best,
        earned=small_hanabi_players.earned,
        spoken=in_words.small_hanabi(world),
        names=(in_words.COLOURS[: world.colours], tuple(map(in_words.rank_name, range(world.ranks)))),
    )
