"""Nowhere in the library is data run: no call of what could, but for a few places, each with its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

import otherminds

LIBRARY = Path(otherminds.__file__).parent
BUILTINS = {"eval", "exec", "compile", "__import__"}
MODULES = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "runpy", "imp", "code"}
CALLS = {
    *("os.system", "os.popen", "os.startfile", "torch.load", "importlib.import_module", "importlib.util.find_spec"),
    *("importlib.util.spec_from_file_location", "importlib.util.module_from_spec", "subprocess.getoutput"),
    *("subprocess.getstatusoutput", "pandas.read_pickle", "zipfile.ZipFile.extractall", "shutil.unpack_archive"),
    *("yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.unsafe_load_all", "yaml.full_load", "yaml.full_load_all"),
    *("ctypes.CDLL", "ctypes.cdll.LoadLibrary", "builtins.eval", "builtins.exec", "builtins.compile"),
    *(f"os.{name}{how}" for name in ("exec", "spawn") for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
}
METHODS = {"extractall", "unsafe_load", "load_module", "exec_module"}
XML = ("xml.", "lxml.", "bs4.", "html5lib.")
READS_XML = {"fromstring", "parse", "iterparse", "XML", "XMLID", "XMLParser", "parseString", "fromstringlist"}

ALLOWED: Mapping[tuple[str, str], str] = {
    ("__init__.py", "importlib.import_module"): "the library's own modules, from the list of public names beside it",
    ("cli/reproduce.py", "importlib.util.find_spec"): "the runner of language models, to see whether it is installed",
    ("language/availability.py", "importlib.util.find_spec"): "extras, to see whether they are installed",
    ("files/tables.py", "importlib.util.find_spec"): "pyarrow, to see whether it is installed",
    ("language/find.py", "importlib.import_module"): "MODULE:OBJECT, which users name on their own command line",
    ("evaluation/engines.py", "importlib.import_module"): "Ray or Dask, by names that are written there",
    ("evaluation/tabular.py", "importlib.import_module"): "pyarrow, by a name that is written there",
    ("reports/page.py", "xml.etree.ElementTree.fromstring"): "a drawing that matplotlib has made a moment ago",
    ("worlds/own_world.py", "xml.etree.ElementTree.fromstring"): "a drawing by the user's own world, itself code",
}
"""What is allowed, by file and call, and why."""


def violations(source: str) -> Iterator[tuple[int, str]]:
    """The line and the name of every call that could run data, under whatever name it was imported."""
    nodes = list(ast.walk(ast.parse(source)))
    known = dict(_imported(nodes))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from ((node.lineno, name) for name in names if name.split(".")[0] in MODULES)
        elif isinstance(node, ast.Call):
            name = _name(node.func, known)
            if _runs(name, node):
                yield node.lineno, name
        elif isinstance(node, ast.Name) and node.id in BUILTINS - known.keys() and id(node) not in called:
            yield node.lineno, node.id


def _imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (
                (one.asname or one.name.split(".")[0], one.name if one.asname else one.name.split(".")[0])
                for one in node.names
            )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((one.asname or one.name, f"{node.module}.{one.name}") for one in node.names)


def _name(called: ast.expr, known: Mapping[str, str]) -> str:
    """What is called, with the whole name of what was imported; of other objects, `?.method`."""
    if isinstance(called, ast.Name):
        return known.get(called.id, called.id)
    if isinstance(called, ast.Attribute):
        return f"{_name(called.value, known)}.{called.attr}"
    return "?"


def _runs(name: str, call: ast.Call) -> bool:
    said = {word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)}
    unknown = {word.arg for word in call.keywords if not isinstance(word.value, ast.Constant)}
    last = name.rpartition(".")[2]
    return (
        name in BUILTINS | CALLS
        or last in METHODS
        or (name.startswith(XML) and last in READS_XML)
        or bool(said.get("allow_pickle"))
        or "allow_pickle" in unknown
        or (name.startswith("numpy.") and last == "fromregex")
        or bool(said.get("shell"))
        or "shell" in unknown
    )


@pytest.mark.slow
def test_the_library_runs_no_data() -> None:
    found = {
        (str(file.relative_to(LIBRARY)), name): line
        for file in sorted(LIBRARY.rglob("*.py"))
        for line, name in violations(file.read_text("utf-8"))
    }
    assert {place: line for place, line in found.items() if place not in ALLOWED} == {}
    assert ALLOWED.keys() <= found.keys(), "what is not there any more need not be allowed"


@pytest.mark.parametrize(
    "planted",
    [
        "eval(text)",
        "run = eval\nrun(text)",
        "list(map(exec, texts))",
        "exec(compile(text, 'x', 'exec'))",
        "import builtins\nbuiltins.eval(text)",
        "import pickle\n",
        "from pickle import loads\nloads(raw)",
        "import pickle as p\np.load(file)",
        "import dill",
        "from joblib import load",
        "import marshal",
        "import shelve as s",
        "def f(name):\n    return __import__(name)",
        "from importlib import import_module as bring\nbring(name)",
        "import importlib\nimportlib.import_module(name)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "import numpy as np\nnp.lib.format.read_array(file, allow_pickle=sure)",
        "import torch\ntorch.load(path)",
        "import yaml\nyaml.load(text, Loader=yaml.Loader)",
        "import yaml\nyaml.unsafe_load(text)",
        "import os\nos.system(text)",
        "from os import popen\npopen(text)",
        "import subprocess\nsubprocess.run(text, shell=True)",
        "import subprocess as s\ns.Popen(text, shell=loud)",
        "from xml.etree import ElementTree\nElementTree.fromstring(text)",
        "import xml.dom.minidom as dom\ndom.parseString(text)",
        "from zipfile import ZipFile\nZipFile(path).extractall(folder)",
        "import runpy\nrunpy.run_path(path)",
    ],
)
def test_what_would_run_data_is_found(planted: str) -> None:
    assert list(violations(planted))


@pytest.mark.parametrize(
    "harmless",
    [
        "re.compile(pattern)",
        "import re\nre.compile(pattern)",
        "import json\njson.loads(text)",
        "import numpy as np\nnp.load(path, allow_pickle=False)",
        "import subprocess\nsubprocess.run([program, text])",
        "import subprocess\nsubprocess.run([program], shell=False)",
        "model.eval()",
        "import tomllib\ntomllib.loads(text)",
        "torch.save(x, path)",
        "document = 'eval(text)'",
    ],
)
def test_what_runs_nothing_is_not_found(harmless: str) -> None:
    assert not list(violations(harmless))
