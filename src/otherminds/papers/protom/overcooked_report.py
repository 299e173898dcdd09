"""What the report on facilitated Overcooked episodes says, and how thresholds and particles were chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otherminds.papers.protom import report as facilitated_report
from otherminds.papers.protom.overcooked import EXPERIMENT, SETTINGS, SWEEPS
from otherminds.papers.protom.report import Words, chosen, tuned
from otherminds.reports import plots
from otherminds.reports.page import Html, Page, inline, stack
from otherminds.worlds.overcooked.level_files import KitchenLevel

Row = Mapping[str, Any]
LEAD = (
    "Two people cook, each a dish of their own, each seeing only the room they are in. A facilitator who sees the "
    "whole kitchen, but not the recipes, infers what each of them wants and believes from what they do, prices every "
    "message it could say by the steps it would save, and speaks or stays silent."
)
SPEEDUP = (
    "Speed-up is L₀ / L − 1 for each episode, L₀ being its length without help and the horizon of 100 steps standing "
    "for failure; so its mean is dominated by kitchens in which help is necessary (where L₀ is always 100). The "
    "ratio of mean lengths, minus one, stands beside it."
)
PUBLISHED = (
    "Published values are those of the paper's own twenty-one kitchens, which are not public: ours are of the same "
    "kinds in the same numbers (7 / 7 / 7), so the figures are comparable, not the same. Brackets are 95 % intervals; "
    "the paper's are taken as ± 1.96 printed standard errors."
)
CHOICE = (
    "The twenty-one were picked for readability from kitchens with certificates: few squares, few things, and rooms "
    "of different kinds. Certificates say how long simulated cooks take over ten seeds, without help (L0) and with the "
    "one message that is named (Lf); where help is not needed, no message at any time is foreseen to save more than a "
    "step, if the recipes were known."
)
HELD_OUT = "210 kitchens made from a seed, 70 of each class; no setting was chosen on them."
TUNING = (
    "On tuning kitchens alone (other seeds than all kitchens above): one setting at a time is varied, the others are "
    "as the paper has them (φ = 2 steps, ε = 0.3 bits, N = 5 particles an agent), and were kept. The look-ahead of two "
    "steps (protom; protom_paper has none) was chosen before, on kitchens that are in no set."
)


def report(rows: Sequence[Row], summary: Sequence[Row], levels: Sequence[KitchenLevel]) -> Page:
    """The whole page, from rows and summary alone."""
    title = "ProToM in Overcooked with rooms"
    words = Words(EXPERIMENT, title, LEAD, SPEEDUP, PUBLISHED, CHOICE, HELD_OUT, _tuning)
    return facilitated_report.report(words, rows, summary, levels)


def _tuning(summary: Sequence[Row]) -> Html:
    return stack(TUNING, inline(plots.sweeps(summary, SWEEPS, SETTINGS)), chosen(summary, tuned(summary)))
