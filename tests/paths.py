"""Folders that tests read: this checkout, and development data beside it, which may be missing."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
SHARED = ROOT.parent / "shared" / "data"
KITCHENS = TESTS / "levels"
KITCHENS_BY_CLASS = KITCHENS / "classes"
