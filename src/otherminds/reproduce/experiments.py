"""The experiments of all papers, by name."""

from __future__ import annotations

from collections.abc import Mapping

from otherminds.evaluation.experiment import Begin
from otherminds.papers.functional.reproduction import EXPERIMENTS as FUNCTIONAL
from otherminds.papers.hypothetical_minds.reproduction import EXPERIMENTS as HYPOTHETICAL_MINDS
from otherminds.papers.mumatom.reproduction import EXPERIMENTS as MUMATOM
from otherminds.papers.protom.reproduction import EXPERIMENTS as PROTOM

EXPERIMENTS: Mapping[str, Begin] = {**PROTOM, **FUNCTIONAL, **MUMATOM, **HYPOTHETICAL_MINDS}
