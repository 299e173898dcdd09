"""Instructions in a safe subset of Markdown, as blocks of JSON from which pages make elements.

Headings, paragraphs, lists, bold, italics, and links to web pages. HTML and everything else is text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

Block = dict[str, Any]

READER = MarkdownIt("zero", {"html": False}).enable(["heading", "lheading", "list", "emphasis", "link", "escape"])
STYLES = {"strong_open": ("bold", True), "em_open": ("italic", True), "strong_close": ("bold", False)}
STYLES |= {"em_close": ("italic", False)}


def blocks(text: str) -> list[Block]:
    """The headings, paragraphs and lists of a text, each with its spans.

    A heading has a `level` from 2, below the title of the page. The items of a list within a list are its own.
    """
    found, lists, level = list[Block](), list[Block](), 0
    for token in READER.parse(text):
        match token.type:
            case "heading_open":
                level = min(int(token.tag[1]) + 1, 4)
            case "bullet_list_open" | "ordered_list_open":
                lists.append({"kind": "list", "ordered": token.type == "ordered_list_open", "items": []})
                found += lists if len(lists) == 1 else []
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "inline" if lists:
                lists[0]["items"].append(list(_spans(token)))
            case "inline":
                heading = {"kind": "heading", "level": level} if level else {"kind": "paragraph"}
                found.append({**heading, "spans": list(_spans(token))})
                level = 0
    return found


def _spans(inline: Token) -> Iterator[Block]:
    """The pieces of a line: each with its text, and what of `bold`, `italic` and `url` it has."""
    style: Block = {}
    for token in inline.children or ():
        if token.type in STYLES:
            name, on = STYLES[token.type]
            style = {**style, name: True} if on else {key: value for key, value in style.items() if key != name}
        elif token.type == "link_open":
            url = str(token.attrGet("href") or "")
            style = {**style, "url": url} if urlsplit(url).scheme in ("http", "https") else style
        elif token.type == "link_close":
            style = {key: value for key, value in style.items() if key != "url"}
        elif text := " " if token.type in ("softbreak", "hardbreak") else token.content:
            yield {"text": text, **style}
