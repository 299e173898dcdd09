"""The targets of the fuzzer take what can be read, and are not taken in by what cannot."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "fuzz" / "run.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_run", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_target_takes_its_examples_and_odd_bytes(fuzz: ModuleType, tmp_path: Path) -> None:
    found = fuzz.targets(tmp_path)
    assert len(found) > 70
    for name, target in found.items():
        for content in (*fuzz.examples(name), b"", b"\xff\xfe\x00", b"{}"):
            target(content)
