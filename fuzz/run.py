"""Coverage-guided fuzzing of every reader of outside files and of replies, with atheris.

    python -m venv fuzzing && fuzzing/bin/pip install -c constraints.txt -e '.[dev,parquet]' atheris
    fuzzing/bin/python fuzz/run.py                        lists the targets
    fuzzing/bin/python fuzz/run.py "PDDL problem" -runs=100000

What follows the target goes to libFuzzer: -runs, -max_total_time, -max_len, -seed, folders of inputs. Files and replies
that can be read are where it begins. A target reads bytes and gives a value or InputError, or says that they are
unreadable; whatever else is raised is a fault, and the input that led there is written to the current folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

watching: Any = nullcontext()
if find_spec("atheris") and __name__ == "__main__":
    import atheris

    watching = atheris.instrument_imports(include=["otherminds"])
with watching:
    from bad_replies import Bad, allowed
    from readers import Reader, readers
    from reply_readers import ReplyReader, reply_readers

Target = Callable[[bytes], None]
LONGEST = 20_000


def read_file(reader: Reader, folder: Path, content: bytes) -> None:
    """Have bytes read as a file."""
    (folder / reader.file).write_bytes(content)
    reader.accepts(folder)


def read_reply(reader: ReplyReader, content: bytes) -> None:
    """Have bytes read as a reply. Raises AssertionError if something is read that they do not say."""
    reply = Bad("fuzzed", content.decode("utf-8", "surrogateescape"), unreadable=False)
    value = reader.reads(reply.text)
    assert allowed(reader, reply, value), f"{value!r} is not what is said"


def targets(folder: Path) -> Mapping[str, Target]:
    """All targets by name; files are written to a folder of their own in this one."""
    found: dict[str, Target] = {}
    for reader in readers().values():
        own = folder / reader.name.replace(" ", "-")
        own.mkdir()
        reader.lay(own, b"")
        found[reader.name] = partial(read_file, reader, own)
    replies = {f"reply: {name}": partial(read_reply, reader) for name, reader in reply_readers().items()}
    return found | replies


def examples(name: str) -> list[bytes]:
    """Inputs of a target that can be read."""
    if name in readers():
        return list(readers()[name].good)
    good = reply_readers()[name.removeprefix("reply: ")].good
    return [(one if isinstance(one, str) else dumps(one)).encode() for one in good]


def main() -> None:
    """Fuzz the target that the command line names."""
    with TemporaryDirectory() as folder:
        known = targets(Path(folder))
        if len(sys.argv) < 2 or sys.argv[1] not in known:
            sys.exit("\n".join(["targets:", *known]))
        name = sys.argv.pop(1)
        corpus = Path(folder) / "examples"
        corpus.mkdir()
        for number, example in enumerate(examples(name)):
            (corpus / str(number)).write_bytes(example)
        words = [*sys.argv, *([] if any(word.startswith("-max_len") for word in sys.argv) else [f"-max_len={LONGEST}"])]
        atheris.Setup([*words, str(corpus)], known[name])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
