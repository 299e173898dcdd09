"""What is in a page of documentation: blocks of code, command lines, links and anchors.

python tests/documents.py PAGE… puts what their code prints now into pages, and what it draws beside those.
"""

from __future__ import annotations

import contextlib
import html
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from importlib import invalidate_caches
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import matplotlib

from commands import Result, Run
from otherminds.reports.plots import LOOK
from paths import ROOT

WORDS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
PAGES = sorted(ROOT / name for name in WORDS) + sorted((ROOT / "docs").rglob("*.md"))
LESSONS = {
    ROOT / "README.md",
    *(page for room in ("tutorial", "doors") for page in (ROOT / "docs" / room).glob("*.md")),
}
EXTRAS = {"embedded": "xllamacpp", "fast": "numba", "inspect": "inspect_ai", "parquet": "pyarrow", "web": "fastapi"}
"""What extras are imported as, where that is another name."""
ANYTHING = "…"

FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>```+|~~~+) *(?P<language>[\w+-]*).*\n(?P<code>(?:.*\n)*?)(?P=indent)(?P=fence) *$",
    re.MULTILINE,
)
EXAMPLE = re.compile(r'--8<-- "(examples/(?:classics/)?\w+\.py)"\n')
LINES = re.compile(r'^--8<-- "(examples/(?:classics/)?\w+\.py):(\d+):(\d+)"$', re.MULTILINE)
MARKS = re.compile(r"(?:<!-- (?:no test|needs): .+? -->\s*)+\Z")
MARK = re.compile(r"<!-- (no test|needs): (.+?) -->")
INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n|\n(?=    ))+")
INLINE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(
    r"\]\(\s*<?(?P<inline>[^)\s>]+)>?[^)]*\)|^\[[^\]]+\]: *(?P<reference>\S+)|<(?P<plain>https?://[^>\s]+)>"
    r"|\b(?:src|href)=\"(?P<html>[^\"]+)\"",
    re.MULTILINE,
)
HEADING = re.compile(r"^#{1,6} +(.+?)(?: +#+)? *$", re.MULTILINE)
NAMED = re.compile(r"\bid=\"([^\"]+)\"|\{[^}\n]*#([\w.-]+)[^}\n]*\}")
COMMAND = re.compile(r"^ *(?:\$ )?(?:[A-Z_]+=\S+ )*(?:[.\w/]*/)?otherminds +(\S.*)$", re.MULTILINE)
MENTION = re.compile(r"`otherminds ([a-z][^`\n]*)`")
OPTIONAL = re.compile(r"\[(-[^]]*)\]")
END = {"|", ">", ">>", "2>", "&&", "||", ";", "&", "\\"}


class Block(NamedTuple):
    """Code in a page: the line it begins on, what it should print (None: that is not said), and the marks above it."""

    language: str
    code: str
    line: int
    printed: str | None
    marks: dict[str, str]

    @property
    def left_out(self) -> bool:
        """Whether it cannot be run here, by its marks; or shows a file, which is run as such."""
        needs = self.marks.get("needs")
        lacking = needs is not None and find_spec(EXTRAS.get(needs, needs)) is None
        return lacking or "no test" in self.marks or EXAMPLE.fullmatch(self.code) is not None


def title(path: Path) -> str:
    """What a page is called: its path in the repository."""
    return path.relative_to(ROOT).as_posix()


def blocks(text: str) -> Iterator[Block]:
    """All fenced blocks of a page, in order."""
    fences = list(FENCE.finditer(text))
    for fence, after in zip_longest(fences, fences[1:]):
        marks = MARKS.search(text[: fence.start()])
        directly = after and after["language"] == "text" and not text[fence.end() : after.start()].strip()
        yield Block(
            fence["language"],
            dedent(fence["code"]),
            text.count("\n", 0, fence.start()) + 2,
            dedent(after["code"]) if after and directly else None,
            dict(MARK.findall(marks[0])) if marks else {},
        )


def started(*words: str) -> Result:
    """The command line in a process of its own."""
    command = [sys.executable, "-m", "otherminds", *words]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    return Result(done.returncode, done.stdout, done.stderr)


def run(page: Path, namespace: dict[str, Any], command: Run = started) -> Iterator[tuple[Block, str]]:
    """Every block in a page that can be run here, and what it printed.

    Blocks of Python share a namespace; commands are run in README and in lessons only.
    """
    for block in blocks(page.read_text("utf-8")):
        if block.language == "sh" and not block.left_out and page in LESSONS:
            yield block, "".join(typed(line, command) for line in block.code.splitlines())
        if block.language == "python" and not block.left_out:
            printed = io.StringIO()
            code = compile(
                "\n" * (block.line - 1) + LINES.sub(_lines, block.code), f"{title(page)}:{block.line}", "exec"
            )
            invalidate_caches()  # an earlier block may have written a module
            with contextlib.redirect_stdout(printed), matplotlib.rc_context(LOOK):
                exec(code, namespace)
            yield block, printed.getvalue()


def _lines(shown: re.Match[str]) -> str:
    """The lines of an example that a page shows."""
    lines = (ROOT / shown[1]).read_text("utf-8").splitlines()
    return "\n".join(lines[int(shown[2]) - 1 : int(shown[3])])


def typed(line: str, command: Run) -> str:
    """What a command prints that is typed as this line. A check may fail, which is no mistake of the page."""
    program, *words = shlex.split(line, comments=True)
    assert program == "otherminds", f"{line} is another program"
    done = command(*words)
    assert done.code in (0, 1), f"{line}: {done.err}"
    assert "Traceback" not in done.err, done.err
    return done.out


def alike(told: str, printed: str) -> bool:
    """Whether a text is what was printed, where … stands for anything, and spaces at the ends of lines for nothing."""
    told, printed = ("\n".join(line.rstrip() for line in text.strip("\n").split("\n")) for text in (told, printed))
    return re.fullmatch(".*?".join(map(re.escape, told.split(ANYTHING))), printed, re.DOTALL) is not None


def without_code(text: str) -> str:
    """A page without blocks of code, code in a line, and comments."""
    for pattern in (FENCE, re.compile(r"<!--.*?-->", re.DOTALL), INLINE):
        text = pattern.sub("", text)
    return text


# What is made anew


def rewrite(page: Path) -> None:
    """Put what the code of a page prints now, and what it draws, where it is shown."""
    text, shown = page.read_text("utf-8"), dict[int, str]()
    pictures = ROOT / "docs" / "pictures"
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        sys.path.insert(0, folder)
        shown = {block.line: printed for block, printed in run(page, {"__name__": "a_page"})}
        for picture in Path(folder).glob("*.svg"):
            shutil.copy(picture, pictures)
    for block in blocks(text):
        if example := EXAMPLE.fullmatch(block.code):
            command = [sys.executable, str(ROOT / example[1]), str(pictures)]
            shown[block.line] = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    page.write_text(_with(text, shown), "utf-8")


def _with(text: str, shown: Mapping[int, str]) -> str:
    """A page with other texts in the blocks after those that begin on some lines, unless these fit."""
    lines = text.splitlines(keepends=True)
    for block in reversed(list(blocks(text))):
        if block.printed is not None and not alike(block.printed, shown.get(block.line, block.printed)):
            end = block.line + block.code.count("\n")
            indent = " " * (len(lines[end - 1]) - len(lines[end - 1].lstrip()))
            first = next(i for i in range(end, len(lines)) if lines[i].strip() == "```text") + 1
            new = [indent + line for line in shown[block.line].splitlines(keepends=True)]
            lines[first : first + len(block.printed.splitlines())] = new
    return "".join(lines)


# Links


def links(text: str) -> Iterator[str]:
    """Where the links and images of a page lead to."""
    for match in LINK.finditer(without_code(text)):
        yield html.unescape(next(target for target in match.groups() if target))


def anchors(text: str, *, site: bool) -> set[str]:
    """The anchors of a page as GitHub makes them, or as the documentation's site does."""
    found: dict[str, int] = {}
    names = {one or other for one, other in NAMED.findall(text)}
    for heading in HEADING.findall(FENCE.sub("", text)):
        slug = (site_slug if site else github_slug)(_plain(heading))
        names.add(f"{slug}{'_' if site else '-'}{found[slug]}" if slug in found else slug)
        found[slug] = found.get(slug, 0) + 1
    return names


def _plain(heading: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]|\{[^}]*\}", r"\1", heading).strip()


def github_slug(heading: str) -> str:
    """Letters, digits, hyphens and underscores; every space is a hyphen."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def site_slug(heading: str) -> str:
    """The same without accents and other alphabets, and one hyphen for several."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def broken(page: Path, target: str) -> str | None:
    """What is wrong with a link of a page, if anything."""
    address = urlsplit(target)
    if address.scheme or address.netloc:
        fine = address.scheme == "mailto" or re.fullmatch(r"https://[\w-]+(\.[\w-]+)+([/?#]\S*)?", target)
        return None if fine else f"{target} is no https address"
    path = (page.parent / unquote(address.path)).resolve() if address.path else page
    if not path.is_relative_to(ROOT) or not path.exists():
        return f"{target} is not there"
    if not address.fragment or path.suffix != ".md":
        return None
    generated = address.fragment.startswith("otherminds.")  # the reference makes these, and the site checks them
    site = "docs" in page.relative_to(ROOT).parts
    known = generated or unquote(address.fragment) in anchors(path.read_text("utf-8"), site=site)
    return None if known else f"{target}: no such heading"


# Command lines


def command_lines(text: str) -> Iterator[str]:
    """What follows `otherminds` where it is typed in a block of code that is not Python, or mentioned in a line."""
    fenced = [block.code for block in blocks(text) if block.language != "python"]
    for code in (*fenced, *INDENTED.findall(FENCE.sub("", text))):
        yield from COMMAND.findall(code.replace("\\\n", " "))
    for mention in MENTION.findall(FENCE.sub("", text)):
        yield f"{mention} {ANYTHING}"


def _every_option(optional: re.Match[str]) -> str:
    """Of `[--quick | --full]` both, of `[--format this | that]` one."""
    first, *others = optional[1].split("|")
    return " ".join([first, *(other for other in others if other.strip().startswith("-"))])


def misused(group: Any, line: str) -> str | None:
    """What is wrong with a command line, whatever the values in it are; … stands for whatever is left out."""
    words = shlex.split(OPTIONAL.sub(_every_option, line), comments=True)
    ends = [i for i, word in enumerate(words) if word in END]
    words = [word for word in words[: min(ends, default=len(words))] if word != ANYTHING]
    command, path = group, "otherminds"
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        path, command = f"{path} {words[0]}", command.commands.get(words.pop(0))
    if command is None:
        return f"there is no `{path}`"
    context = command.context_class(command, info_name=path)
    try:
        values, rest, _ = command.make_parser(context).parse_args(words)
    except Exception as error:
        return f"`otherminds {line}`: {error}"
    lacking = [one.name for one in command.params if one.required and values.get(one.name) in (None, ())]
    if rest and not hasattr(command, "commands"):
        return f"`otherminds {line}`: nothing takes {' '.join(rest)}"
    return f"`otherminds {line}` lacks {lacking[0]}" if lacking and ANYTHING not in line else None


if __name__ == "__main__":
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # pictures that are the same are the same files
    for argument in sys.argv[1:]:
        rewrite(Path(argument).resolve())
