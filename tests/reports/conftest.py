"""One tab of a browser, its clock at rest, for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from web_browser import browsing

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with browsing() as browser:
        page = browser.new_page()
        page.clock.install(time=0)
        page.clock.pause_at(1)
        yield page
