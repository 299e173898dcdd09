"""Fits of predictions to judgements for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from otherminds.evaluation.judgements import JudgementFit
from otherminds.files.text import printable
from otherminds.reports.judgements_page import SETTING_COLUMNS, SETTINGS_IN_WORDS, in_words, setting_lines
from otherminds.reports.terminal.tables import plain_table

MOST_SETTINGS = 20  # in a table; pages have more, the JSON has all


def judgements(fit: JudgementFit) -> RenderableType:
    """What the fit says, and its best settings."""
    settings = plain_table(*SETTING_COLUMNS)
    for line in setting_lines(fit, MOST_SETTINGS):
        settings.add_row(*(escape(printable(cell)) for cell in line))
    words = (Text(printable(sentence)) for sentence in in_words(fit))
    return Group(*words, settings, Text(SETTINGS_IN_WORDS, style="dim"))
