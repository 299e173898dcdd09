"""The front page of the book: a sentence and a picture for each system, from its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from otherminds.evaluation.scoreboard import scores
from otherminds.evaluation.story_sets import make
from otherminds.papers.hypothetical_minds.episodes_report import thoughts
from otherminds.reports import check_plots, scoreboard_plots
from otherminds.reports.page import Html, block, chapter_link, inline, number, safe
from otherminds.reports.results import Results
from otherminds.reproduce.scoreboard_episodes import GAMES, episodes
from otherminds.stories.files import episode_of
from otherminds.stories.pictures.storyboard import storyboard_svg
from otherminds.worlds.doors_keys_gems import drawing as map_drawing
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels

Row = Mapping[str, Any]
DILEMMA, KNOWING = GAMES["ipd"], "fictitious_play"
SHOWN_LEVEL, SHOWN_STORY = "garden-gate", 42
LOST, KNOWN = "relative_regret", "relative_tom_regret"


def fronts(found: Mapping[str, Results]) -> Html:
    """A card for every system that was run: what it is and found, in a sentence, and what that looks like."""
    cards = [_card(i, name, results) for i, (name, results) in enumerate(found.items(), 1) if name in FRONTS]
    return Html(f'<div class="cards">{"".join(cards)}</div>')


def _card(i: int, name: str, results: Results) -> Html:
    """The card of one system; without a sentence if only some of its agents or levels were played."""
    head = f"<h3>{chapter_link(i, results.report.heading)}</h3>"
    try:
        words, image = FRONTS[name](results)
    except LookupError:
        return Html(f'<div class="card">{head}</div>')
    return Html(f'<div class="card">{head}{block(words)}{image}</div>')


class Values:
    """The values of a summary, by condition, subject and metric."""

    def __init__(self, summary: Sequence[Row]) -> None:
        self.rows = {(row["condition"], row["subject"], row["metric"]): row for row in summary}

    def told(self, condition: str, subject: str, metric: str, digits: int = 2) -> str:
        """A value, for people to read, and the published one if there is one."""
        row = self.rows[condition, subject, metric]
        own = number(row["value"], digits)
        return f"{own} (published: {number(row['published'], digits)})" if "published" in row else own

    def share(self, condition: str, subject: str, metric: str) -> str:
        """A value as a percentage."""
        return f"{number(100 * self.rows[condition, subject, metric]['value'], 0)} %"


def _protom(results: Results) -> tuple[str, Html]:
    values = Values(results.summary)
    words = (
        "ProToM watches two people, infers what each of them wants by Bayesian inverse planning, and speaks only if "
        f"that saves steps. With it, success is {values.told('all', 'protom', 'success')}, without help "
        f"{values.told('all', 'none', 'success')}; the speed-up is {values.told('all', 'protom', 'speedup')}, with "
        f"{values.told('all', 'protom', 'messages')} messages an episode."
    )
    level = next(level for level in bundled_levels() if level.name == SHOWN_LEVEL)
    caption = "Ana and Ben, each wanting the gem that their badge shows, on the wrong sides of doors and keys."
    return words, _drawn(map_drawing.draw(level.world, level.world.initial, goals=True).svg(), caption)


def _drawn(svg: str, caption: str) -> Html:
    return Html(f"<figure>{svg}<figcaption>{safe(caption)}</figcaption></figure>")


def _functional(results: Results) -> tuple[str, Html]:
    values = Values(results.summary)
    found = {(row["subject"], row["metric"]): row["value"] for row in _dilemma(results) if row["condition"] == DILEMMA}
    right, gained = (number(100 * found[KNOWING, metric], 0) for metric in ("literal", "functional"))
    words = (
        "Does who predicts a partner also act on that? In the prisoner's dilemma fictitious play predicts "
        f"{right} % of the plays and gains {gained} % of what there is to gain. The tabular player of the paper loses "
        f"{values.told('ipd/tft', 'rmax', 'functional_regret', 3)} a round against tit for tat, a Bayesian one "
        f"{values.told('ipd/tft', 'bayes_simplicity', 'functional_regret', 3)}."
    )
    drawn = scoreboard_plots.panel(scoreboard_plots.points(_dilemma(results))[DILEMMA])
    return words, inline(drawn, "The prisoner's dilemma with partners that are constant or play tit for tat.")


def _dilemma(results: Results) -> list[Row]:
    """The scoreboard of the prisoner's dilemma."""
    return [*scores(one for one in episodes("functional", results.rows) if one.world == DILEMMA)]


def _hypothetical(results: Results) -> tuple[str, Html]:
    rows = [row for row in results.summary if row["metric"] == "score" and "published" in row]
    ahead = sum(row["value"] >= row["published"] for row in rows)
    words = (
        "An agent that has never met its partner guesses what the partner is up to, tests the guess by what it "
        f"predicts, and plays on it. In {ahead} of {len(rows)} scenarios it scores at least what the paper reports for "
        "GPT-4, with strategies as programs in the place of a language model."
    )
    return words, thoughts("rws_repeated_4", "programs", results.rows)


def _mumatom(results: Results) -> tuple[str, Html]:
    values = Values(results.summary)
    real = "text_video/all"
    told = [values.share("invented/plain", who, "accuracy") for who in ("symbolic", "question_only")]
    about = (
        f"Of MuMA-ToM's questions {values.share(real, 'symbolic', 'accuracy')} are answered rightly from text and "
        "video text (LIMP with GPT-4o, as published: 77 %; people: 94 %)."
        if (real, "symbolic", "accuracy") in values.rows
        else f"Of questions about invented stories {told[0]} are answered rightly; from the question alone {told[1]}."
    )
    words = f"What do people in a story believe, want, and mean to each other? Every option is a mind. {about}"
    episode = episode_of(next(make(1, SHOWN_STORY, quiet=True))["episode"])
    return words, _drawn(storyboard_svg(episode, columns=3), "A story that was invented, as a storyboard.")


def _check(results: Results) -> tuple[str, Html]:
    found = {(row["subject"], row["metric"]): row["value"] for row in results.summary}
    lost = {who: value for (who, metric), value in found.items() if metric == LOST}
    points = [(who, found[who, KNOWN], value, True) for who, value in lost.items()]
    words = (
        "Does an agent of yours act on what it knows? Everybody meets the same partners; losses are shares of what "
        "random play loses. The small language model that comes along stands beside three known players."
    )
    return words, inline(check_plots.known_and_lost(points), "What wrong predictions would lose, and what is lost.")


FRONTS: Mapping[str, Callable[[Results], tuple[str, Html]]] = {
    "protom-dkg": _protom,
    "functional": _functional,
    "hypothetical": _hypothetical,
    "mumatom": _mumatom,
    "check": _check,
}
