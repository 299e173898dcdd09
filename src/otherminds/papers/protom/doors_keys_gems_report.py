"""What the report on facilitated Doors-Keys-Gems episodes says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otherminds.papers.protom import report as facilitated_report
from otherminds.papers.protom.report import Words, chosen, tuned
from otherminds.reports.page import Html, Page, stack
from otherminds.worlds.doors_keys_gems.level_files import Level

Row = Mapping[str, Any]
LEAD = (
    "Two people walk through doors, each to a gem of their own. A facilitator watches, infers what each of them "
    "wants from how they move, prices every message it could say by the steps it would save, and speaks or stays "
    "silent."
)
SPEEDUP = (
    "Speed-up is L₀ / L − 1 for each episode, L₀ being its length without help and the horizon of 80 steps standing "
    "for failure; so its mean is dominated by levels in which help is necessary (where L₀ is always 80). The "
    "ratio of mean lengths, minus one, stands beside it."
)
PUBLISHED = (
    "Published values are those of the paper's own twenty levels, which are not public: ours are of the same kinds "
    "in the same numbers (6 / 8 / 6), so the figures are comparable, not the same. Brackets are 95 % intervals; the "
    "paper's are taken as ± 1.96 printed standard errors."
)
CHOICE = (
    "The twenty were picked for readability from levels with certificates: at least three gems, few cells, keys and "
    "doors, and, where help is not needed, levels in which no message would help whatever gems the two were after. "
    "That last rule was added after ProToM had spoken in two of the first six picks while goals were still open, so "
    "silence there is by design of the levels; the held-out levels, which were not picked at all, show the rate."
)
HELD_OUT = "300 levels made from a seed, 100 of each class; no setting was chosen on them."
TUNING = (
    "On tuning levels alone (60 of each class, other seeds than all levels above): the ε of which fewer than one "
    "needless message in twenty episodes is sent, and at which most of the oracle's speed-up is left."
)


def report(rows: Sequence[Row], summary: Sequence[Row], levels: Sequence[Level]) -> Page:
    """The whole page, from rows and summary alone."""
    title = "ProToM in Doors-Keys-Gems"
    words = Words("protom-dkg", title, LEAD, SPEEDUP, PUBLISHED, CHOICE, HELD_OUT, _tuning)
    return facilitated_report.report(words, rows, summary, levels)


def _tuning(summary: Sequence[Row]) -> Html:
    return stack(TUNING, chosen(summary, tuned(summary)))
