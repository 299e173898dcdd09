"""The clue games in words, for a language model in the subject's seat."""

from __future__ import annotations

from collections.abc import Mapping

from otherminds.worlds.clue_games.clue_game import Spoken
from otherminds.worlds.clue_games.codenames import PAY, ROLES, STOP, Codenames, CodenamesView, Turn
from otherminds.worlds.clue_games.codenames_players import own_sets
from otherminds.worlds.clue_games.small_hanabi import (
    DISCARD,
    HINT_COLOUR,
    HINT_RANK,
    PASS,
    PLAY,
    SECOND,
    CardKnowledge,
    HanabiGame,
    SmallHanabi,
    SmallHanabiView,
)
from otherminds.worlds.clue_games.taboo import CLUES, COST, PRIZE, Taboo, TabooExchange, TabooView
from otherminds.worlds.clue_games.tiny_hanabi import HanabiView, TinyHanabi
from otherminds.worlds.clue_games.wavelength import SCORES, Wavelength, WavelengthRound, WavelengthView, score

COLOURS = ("red", "blue", "green", "yellow", "white")


def tiny_hanabi(world: TinyHanabi) -> Spoken:
    """Tiny Hanabi, told to the listener; its partner's card is to be predicted."""
    cards, own, signals, actions = map(range, world.table.shape)
    payoffs = "\n".join(
        f"Your partner's card {card}, your card {mine}, signal {signal}: "
        + ", ".join(f"action {action} pays {world.table[card, mine, signal, action]:g}" for action in actions)
        for card in cards
        for mine in own
        for signal in signals
    )
    rules = (
        f"Your partner has a card from 0 to {cards[-1]}, you have a card from 0 to {own[-1]}, dealt independently and "
        "uniformly. Neither of you sees the other's card. In each deal your partner sends you a signal from 0 to "
        f"{signals[-1]}, then you take an action from 0 to {actions[-1]}, and both cards are shown. Both of you get "
        f"the same points, by the two cards, the signal and the action. You play {world.rounds} deals.\n{payoffs}"
    )

    def described(view: HanabiView) -> str:
        signal = "Your partner has not sent its signal yet." if view.signal is None else f"The signal is {view.signal}."
        return f"Your card is {view.card}. {signal}"

    return Spoken(
        rules,
        described,
        options=lambda view: {} if view.signal is None else {a: f"action {a}" for a in actions},
        answers=lambda view: {} if view.signal is None else {card: f"card {card}" for card in cards},
        finished=lambda deal: (
            f"Your partner's card was {deal.cards[0]}, yours {deal.cards[1]}; the signal was {deal.signal}, your "
            f"action {deal.action}: {world.table[(*deal.cards, deal.signal, deal.action)]:g} points."
        ),
    )


def wavelength(world: Wavelength) -> Spoken:
    """Wavelength, told to the giver; the position of the dial is to be predicted."""
    last = world.positions - 1
    points = ", ".join(f"{points:g} points for a miss by {miss}" for miss, points in enumerate(SCORES))
    rules = (
        f"A dial goes from one pole, position 0, to its opposite, position {last}. In each round a pair of opposites "
        "and a target position are drawn; only you see the target. You give your partner one of the listed clues, your "
        "partner sets the dial to the position where it places that clue, and then the target is shown. Both of you "
        f"get {points}, else 0. You play {world.rounds} rounds with the same partner."
    )

    def described(view: WavelengthView) -> str:
        poles = world.spectra[view.spectrum]
        clue = "" if view.clue is None else f" Your clue is “{poles.clues[view.clue]}”."
        return f"Position 0 is {poles.low}, position {last} is {poles.high}. The target is {view.target}.{clue}"

    def options(view: WavelengthView) -> Mapping[int, str]:
        return dict(enumerate(world.spectra[view.spectrum].clues)) if view.clue is None else {}

    def answers(view: WavelengthView) -> Mapping[int, str]:
        return {} if view.clue is None else {place: f"position {place}" for place in range(world.positions)}

    def finished(played: WavelengthRound) -> str:
        poles = world.spectra[played.spectrum]
        points = score(played.guess - played.target)
        return (
            f"From {poles.low} (0) to {poles.high} ({last}), target {played.target}: you said "
            f"“{poles.clues[played.clue]}”, your partner set the dial to {played.guess}: {points:g} points."
        )

    return Spoken(rules, described, options, answers, finished)


def taboo(world: Taboo) -> Spoken:
    """Taboo, told to the giver; the guess is to be predicted."""
    words, clues = world.associations.words, world.associations.clues
    rules = (
        f"In each of {world.rounds} rounds you see a word that your partner has to guess. You give it a clue, it "
        f"answers with a word of the list that it has not yet guessed in this round, up to {CLUES} times. What a clue "
        f"brings to mind differs from person to person. Both of you get {PRIZE:g} points if the word is guessed, and "
        f"lose {COST:g} for each clue.\nThe list: {', '.join(words)}."
    )

    def described(view: TabooView) -> str:
        said = _exchanged([clues[clue] for clue in view.clues], [words[guess] for guess in view.guesses])
        return f"The word is “{words[view.target or 0]}”. {said}"

    def options(view: TabooView) -> Mapping[int, str]:
        if len(view.clues) > len(view.guesses):
            return {}
        return {clue: clues[clue] for clue in world.allowed[view.target or 0] if clue not in view.clues}

    def answers(view: TabooView) -> Mapping[int, str]:
        if len(view.clues) == len(view.guesses):
            return {}
        return {guess: word for guess, word in enumerate(words) if guess not in view.guesses}

    def finished(last: TabooExchange) -> str:
        said = _exchanged([clues[clue] for clue in last.clues], [words[guess] for guess in last.guesses])
        points = PRIZE * (last.guesses[-1] == last.target) - COST * len(last.clues)
        return f"The word: “{words[last.target]}”. {said} {points:+g} points."

    return Spoken(rules, described, options, answers, finished)


def _exchanged(clues: list[str], guesses: list[str]) -> str:
    """The clues and answers of a round in turn."""
    answers = [f", your partner guessed “{guess}”" for guess in guesses] + [""]
    said = [f"you said “{clue}”{answer}" for clue, answer in zip(clues, answers, strict=False)]
    return f"So far: {'; '.join(said)}." if said else "Nothing has been said yet."


def codenames(world: Codenames) -> Spoken:
    """Codenames, told to the guesser; the own words are to be predicted."""
    words, clues = world.associations.words, world.associations.clues
    counts = ", ".join(f"{world.cards.count(role)} {name}" for role, name in enumerate(ROLES))
    pay = ", ".join(f"{points:+g} for a word that is {name}" for name, points in zip(ROLES, PAY, strict=True))
    rules = (
        f"In each of {world.rounds} turns you see {len(world.cards)} words. Each has a hidden role: {counts}, dealt "
        f"uniformly. Your partner sees the roles and names a clue and a number from 1 to {world.numbers}. What a clue "
        "brings to mind, and what it is meant to tell, differs from person to person. Then you touch words, at most 1 "
        "more than the number, until you stop or touch a word that is not own. Both of you get "
        f"{pay}. At the end all roles are shown."
    )

    def board(view: CodenamesView) -> list[str]:
        return [words[word] for word in view.board]

    def described(view: CodenamesView) -> str:
        hint, touched = "There is no clue yet.", [board(view)[place] for place in view.touched]
        if view.hint is not None:
            clue, number = divmod(view.hint, world.numbers)
            hint = f"The clue is “{clues[clue]}”, the number {number + 1}."
        found = f" You touched own words: {', '.join(touched)}." if touched else ""
        return f"The words: {', '.join(board(view))}. {hint}{found}"

    def options(view: CodenamesView) -> Mapping[int, str]:
        if view.hint is None:
            return {}
        places = {place: f"touch {word}" for place, word in enumerate(board(view)) if place not in view.touched}
        return places | {STOP: "stop"}

    def answers(view: CodenamesView) -> Mapping[int, str]:
        if view.hint is None:
            return {}
        sets = enumerate(own_sets(world))
        return {i: ", ".join(board(view)[p] for p in places) for i, places in sets if {*view.touched} <= {*places}}

    def finished(last: Turn) -> str:
        roles = [f"{words[word]} ({ROLES[role]})" for word, role in zip(last.board, last.roles, strict=True)]
        touched = ", ".join(words[last.board[place]] for place in last.touched) or "nothing"
        points = sum(PAY[last.roles[place]] for place in last.touched)
        hint = f"clue “{clues[last.clue]}”, number {last.number}"
        return f"Roles: {', '.join(roles)}; {hint}; you touched {touched}: {points:+g} points."

    return Spoken(rules, described, options, answers, finished)


def rank_name(rank: int) -> str:
    """The name of a rank, counted from 0."""
    return f"rank {rank + 1}"


def small_hanabi(world: SmallHanabi) -> Spoken:
    """The small Hanabi, told to the second player; its own card is to be predicted."""
    kinds = [f"{COLOURS[card // world.ranks]} {rank_name(card % world.ranks)}" for card in range(len(world.cards))]
    pile = ", ".join(f"{count} of {kind}" for kind, count in zip(kinds, world.cards, strict=True))
    order = ", then ".join(map(rank_name, range(world.ranks)))
    does = {PLAY: "play", DISCARD: "discard", HINT_COLOUR: "tell the colour", HINT_RANK: "tell the rank", PASS: "pass"}
    rules = (
        f"You play {world.rounds} games with the same partner. The cards are {pile}. Each of you holds a single card "
        "that only the other sees. In turn, your partner first, you play your card, discard it, or use a hint token to "
        "tell the other the colour or the rank of its card; after a play or discard you draw. In each colour the cards "
        f"have to be played in the order {order}. The next card of its colour earns both of you 1 point; any other is "
        f"lost and costs 1 of {world.lives} lives, the last of which costs all points of the game. There are "
        f"{world.tokens} hint tokens; a discard returns a token. The game ends with your turn once there are no lives "
        "or no cards to draw, or all colours are complete."
    )

    def told(told: CardKnowledge) -> str:
        colour = [] if told.colour is None else [COLOURS[told.colour]]
        rank = [] if told.rank is None else [rank_name(told.rank)]
        latest = {None: "", HINT_COLOUR: ", the colour last", HINT_RANK: ", the rank last"}[told.last]
        return (" ".join(colour + rank) or "nothing") + (latest if colour and rank else "")

    def described(view: SmallHanabiView) -> str:
        table = view.table
        heights = ", ".join(f"{COLOURS[colour]} {height}" for colour, height in enumerate(table.heights))
        gone = ", ".join(f"{count} of {kinds[card]}" for card, count in enumerate(table.gone) if count) or "none"
        return (
            f"Cards played in order: {heights}. Played or lost: {gone}. {table.tokens} hint tokens, {table.lives} "
            f"lives, {table.deck} cards to draw. Your partner holds {kinds[view.other]} and has been told: "
            f"{told(table.told[0])}. You have been told about your card: {told(table.told[SECOND])}."
        )

    def options(view: SmallHanabiView) -> Mapping[int, str]:
        is_moving = view.turn == SECOND
        return {action: does[action] for action in world.moves(view.table)} if is_moving else {}

    def finished(last: HanabiGame) -> str:
        before, after = last.scenes[-2].table, last.scenes[-1].table
        card = "" if last.own is None or last.action not in (PLAY, DISCARD) else f" {kinds[last.own]}"
        result = (
            f"; lives {before.lives} to {after.lives}, cards in order {sum(before.heights)} to {sum(after.heights)}"
        )
        return f"You chose to {does[last.action]}{card}{result}{'; the game is over' if last.over else ''}."

    return Spoken(
        rules,
        described,
        options,
        answers=lambda view: dict(enumerate(kinds)) if view.turn == SECOND else {},
        finished=finished,
    )
