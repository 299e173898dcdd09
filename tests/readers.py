"""Every reader of files from outside: what it reads, good examples to spoil, and the command that reads it.

Whatever a file holds, a reader gives a value or raises InputError, and nothing else.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from otherminds.errors import InputError
from otherminds.evaluation.judgement_tables import read_judgements
from otherminds.evaluation.tables import choices_of
from otherminds.evaluation.tabular import read_rows, write_csv, write_jsonl, write_parquet
from otherminds.language.prices import read_prices
from otherminds.papers.hypothetical_minds.ppo import read_network
from otherminds.papers.protom.human_judgements import read_stimuli
from otherminds.papers.protom.study.export import read_export
from otherminds.papers.protom.trajectories import SpelledWorld, read_steps
from otherminds.papers.protom.walks import read_positions
from otherminds.stories.beliefs.belief_files import read_items
from otherminds.stories.files import as_json, question_json, read_story_file
from otherminds.stories.model import AnswerOption, Belief, Entity, Episode, Event, Fact, Question, Utterance
from otherminds.stories.mumatom_files import read_mumatom
from otherminds.worlds.clue_games.wavelength import read_spectra
from otherminds.worlds.collaborative_cooking.map_files import read_cooking
from otherminds.worlds.doors_keys_gems.level_files import parse_level, read_level
from otherminds.worlds.doors_keys_gems.pddl import parse_problem, read_problem
from otherminds.worlds.food_trucks.level_files import read_food_trucks
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix, read_matrix_world
from otherminds.worlds.overcooked.level_files import parse_kitchen, read_kitchen
from otherminds.worlds.repeated_games.machines import read_machines
from otherminds.worlds.repeated_games.payoff_files import bundled_games, read_game
from otherminds.worlds.repeated_games.players import bayes_adaptive
from otherminds.worlds.text_grid import parse_text_grid, read_text_grid
from payloads import hostile_export
from trace_files import read_trace

SHIPPED = resources.files("otherminds")
TRACES = Path(__file__).parent / "benchmarks" / "traces"
CHOICES = "person,group,round,own,other\na,x,1,C,D\na,x,2,none,C\na,x,3,d,d\nb,y,1,NA,C\nb,y,2,c,c\n"
LEVEL = "agents: Ana, Ben\ngoals: red, blue\n\na1 gr\na2 gb\n"
KITCHEN = "-/-t*\n     \n--p--\n\nSimpleTomato\n\n0 1\n4 1\n\nname: hatch\nagents: Ana, Ben\n"
PROBLEM = """\
(define (problem one) (:domain doors-keys-gems)
  (:objects up down left right - direction key1 - key gem1 gem2 - gem)
  (:init (= (xdiff up) 0) (= (ydiff up) 1) (= (xdiff left) -1) (= (ydiff left) 0) ; and so on
         (= (width) 4) (= (height) 2) (wall 2 2) (door 3 1) (at key1 2 1) (at gem1 4 1) (at gem2 4 2)
         (= (xpos) 1) (= (ypos) 1))
  (:goal (has gem1)))
"""
PROBLEM_OF_TWO = """\
(define (problem two) (:domain doors-keys-gems)
  (:objects human - human robot - robot key1 - key gem1 gem2 - gem door1 - door red blue - color)
  (:init (= walls (new-bit-matrix false 3 4)) (= walls (set-index walls true 2 2))
         (= (xloc human) 1) (= (yloc human) 1) (= (xloc robot) 1) (= (yloc robot) 3)
         (= (xloc key1) 2) (= (yloc key1) 1) (iscolor key1 red) (= (xloc door1) 3) (= (yloc door1) 1)
         (iscolor door1 red) (locked door1) (= (xloc gem1) 4) (= (yloc gem1) 1) (iscolor gem1 red)
         (= (xloc gem2) 4) (= (yloc gem2) 3) (iscolor gem2 blue)
         (active human) (next-turn human robot) (next-turn robot human) (forbidden robot key1))
  (:goal (has human gem1)))
"""
MAZE = "#####\n#@..#\n#A.B#\n#####\n"
PLAN = "(right)\n(pickup key1)\n(unlock key1 right)\n; through\n(right)\n"
STEPS = [{"Ana": "right", "Ben": "stay"}, {"Ana": "pickup gem1", "Ben": "right"}, {"Ana": "stay", "Ben": "pickup gem2"}]
GAME = """\
name = "harbour"
title = "Meet at the harbour"
agents = ["you", "partner"]
actions = [["stay", "go"], ["left", "mid", "right"]]
payoffs = [[[1, 2.5], [0, 0], [3, 1]], [[0, 0], [-1e2, 0x10], [1, 1]]]  # rows are yours
"""
MACHINES = json.dumps(
    {"about": "x", "machines": {"TFT": {"states": 2, "output": ["C", "D"], "next": [[0, 1], [0, 1]]}}}, indent=1
)
PRICES = '[models]\n"my-model-2.5" = "2.50/10"\n"my-model-*" = "0.25/2"\n'
STORY = (
    "Sally and Anne are in the kitchen. Sally puts the marble in the basket. Sally leaves the kitchen. "
    "Anne moves the marble to the box. Sally enters the garden.\n\nWhere will Sally look for the marble?\n"
)
EPISODE = as_json(
    Episode(
        "sally",
        ("Sally", "Anne"),
        (Entity("basket", "place"), Entity("box", "place"), Entity("marble", "object")),
        (Fact("at", "marble", "basket"),),
        (Event(1, "Anne", "move", "marble", "box"), Utterance(2, "Anne", "assert", Fact("at", "marble", "box"), p=0.5)),
    )
)
BELIEVES, LIES = (Belief("Anne", Fact("at", "marble", place)) for place in ("box", "basket"))
QUESTION = question_json(Question("q", (AnswerOption((BELIEVES,)), AnswerOption((LIES,)))))
ROW = {"id": "a", "story": STORY, "question": "Where is the marble?", "answer": "the box", "options": ["box", "basket"]}
TOMI = "1 Oskar entered the hut.\n2 The egg is in the red_box.\n3 Where is the egg?\tred_box\t1\n"
HI_TOM = {
    "prompting_type": "MC",
    "deception": True,
    "story_length": 1,
    "question_order": 2,
    "sample_id": 7,
    "story": "Read this\n1 Ada and Bo entered the hut.\n2 The egg is in the red_box.\n***",
    "question": "Where does Ada think the egg is?",
    "choices": "A. red_box, B. blue_box",
    "answer": "red_box",
}
MMTOM = {
    "question": "What's inside: a cup. Actions: Ann walks. Question: Who? (a) Ann (b) Ben Please respond",
    "answer": "a",
    "question_type": 1.1,
    "episode": 3,
}
TOMI_ROW = {
    "story": "1 Oskar entered the hut.\n2 The egg is in the red_box.",
    "question": "Where is the egg?",
    "answer": "red_box",
    "question_type": "reality",
    "containers": ["red_box", "blue_box"],
}
TOMBENCH = {
    "STORY": "Ann puts the egg in the box.",
    "QUESTION": "Where is the egg?",
    **{f"OPTION-{letter}": option for letter, option in zip("ABCD", ("Box", "Bag", None, None), strict=True)},
    "答案\nANSWER": "A",
}
FANTOM = """context,question,answer_choices,gt_answer
"Ann: Hello!
Ben: Yes.",What does Ben think?,"['it rains', ""it's late""]",it's late
Ann: Hm.,What does Ann think?,"['yes', 'no']",yes
"""
OPENTOM = {
    "12": [
        {"question": "From Ann's perspective, where is the egg precisely?", "answer": "box", "type": "location-fo"},
        {"question": "As Ann, what is your attitude?", "answer": "neutral", "type": "attitude"},
    ]
}
OPENTOM_STORIES = {
    "12": {"narrative": "Ann put the egg in the box.", "plot_info": {"original_place": "bag", "move_to_place": "box"}}
}
BIGTOM = ";".join(
    (
        *(
            "Ann salts the soup.",
            "She sees it.",
            "She does not.",
            "She refills.",
            "She salts.",
            "Does she?",
            "Want?",
            "Do?",
        ),
        *("Ann believes it.", "Ann wants it.", "Ann will.", "Ann does not.", "x", "y"),
    )
)
ASKED = {
    "description": "Tom sat down. Then he sang.",
    "filtered_description": r"b'Tom\nsang'",
    "questions": {"1": "Which is MOST likely?\nA) Tom is kind.\nB) Tom is not kind.\n"},
    "answers": {"1": "B) Tom is not kind."},
    "labels": {"1": "social_goal"},
}
MUMATOM = {
    "questions.json": {"episode_7": ASKED},
    "gemini_outputs.json": {"episode_7": {"action": "Tom opens a box."}},
    "visual_data/episode_7/hold.json": {"episode_7": {"10": ["tom hold cup"], "2": []}},
}
JUDGED = "0.5\n0.25\n0.25\n0.75\n"


def _text(value: object) -> bytes:
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


def _lines(*rows: object) -> bytes:
    return b"".join(_text(row) + b"\n" for row in rows)


@dataclass(frozen=True)
class Reader:
    """A reader of the file of this name in a folder, where `others` lie too.

    `command` reads the file, `{file}`, or the folder, `{folder}`; there may be none. Commands that go on to play or to
    plan with what they have read are not `quick`; some take `folders` for other things.
    """

    name: str
    file: str
    read: Callable[[Path], object]
    good: Sequence[bytes]
    command: tuple[str, ...] = ()
    others: Mapping[str, bytes] = field(default_factory=dict)
    quick: bool = True
    folders: bool = False

    def lay(self, folder: Path, content: bytes | None) -> Path:
        """Write the others and, unless it is None, the content; returns where the file is."""
        for name, other in self.others.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(other)
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content)
        return path

    def arguments(self, folder: Path) -> list[str]:
        """The command line that reads the file."""
        return [part.format(file=folder / self.file, folder=folder) for part in self.command]

    def accepts(self, folder: Path) -> bool:
        """Whether the file can be read; anything raised but InputError is a fault."""
        with suppress(InputError):
            self.read(folder / self.file)
            return True
        return False


@cache
def readers() -> Mapping[str, Reader]:
    """All of them by name."""
    return {
        reader.name: reader
        for part in (_worlds, _happenings, _stories, _tables, _folders, _arrays)
        for reader in part()
    }


def _worlds() -> Iterator[Reader]:
    draw = ("draw", "{file}")
    levels = [*_shipped("worlds/doors_keys_gems/levels/twenty", 2), LEVEL.encode()]
    yield Reader("level", "level.txt", read_level, levels, draw)
    yield Reader(
        "kitchen",
        "kitchen.txt",
        read_kitchen,
        [*_shipped("worlds/overcooked/levels/twenty-one", 2), KITCHEN.encode()],
        draw,
    )
    maps = [*_shipped("worlds/in_the_matrix/substrates", 9), *_shipped("worlds/collaborative_cooking/substrates", 9)]
    yield Reader("matrix map", "map.txt", read_matrix_world, [text for text in maps if b"kinds" in text], draw)
    yield Reader("cooking map", "soup.txt", read_cooking, [text for text in maps if b"cook:" in text], draw)
    yield Reader("text grid", "maze.txt", read_text_grid, [MAZE.encode()], draw)
    walks = _shipped("worlds/food_trucks/levels", 4)
    yield Reader("food trucks", "walk.txt", read_food_trucks, walks)
    yield Reader("PDDL problem", "problem.pddl", read_problem, [PROBLEM.encode(), PROBLEM_OF_TWO.encode()], draw)
    games = [GAME.encode(), *_shipped("worlds/repeated_games/games", 3)]
    yield Reader(
        "game",
        "game.toml",
        read_game,
        games,
        ("play", "{file}", "random", "--rounds", "1", "--episodes", "1", "--player", "random"),
    )
    machines = ("reproduce", "functional", "--quick", "--data", "{file}", "--out", "{folder}/out")
    ipd = next(game for game in bundled_games() if game.name == "ipd")
    yield Reader(
        "machines",
        "machines.json",
        lambda path: read_machines(path, ipd),
        [MACHINES.replace('"C"', '"Cooperate"').replace('"D"', '"Defect"').encode()],
        machines,
        quick=False,
        folders=True,
    )
    yield Reader("spectra", "spectra.toml", read_spectra, [b'[cold.hot]\n"ice cube" = 0.05\n"soup" = 0.8\n'])
    yield Reader("prices", "prices.toml", read_prices, [PRICES.encode()])


def _happenings() -> Iterator[Reader]:
    level, kitchen = parse_level(LEVEL, Path("level.txt")), parse_kitchen(KITCHEN, Path("kitchen.txt"))
    walk = _lines(*({"schema": 1, "t": t, "joint": joint} for t, joint in enumerate(STEPS)))
    cook = _lines(*({"schema": 1, "t": t, "joint": {"Ana": "right", "Ben": "stay"}} for t in range(3)))
    infer = ("infer", "{folder}/level.txt", "{file}", "--json")
    for name, content, world, there in (("walk", walk, level.world, LEVEL), ("cooking", cook, kitchen.world, KITCHEN)):
        others = {"level.txt": there.encode()}
        yield Reader(name, "steps.jsonl", partial(_steps, world), [content], infer, others, quick=False)
    maze = parse_text_grid(MAZE, Path("level.txt")).world
    yield Reader(
        "positions",
        "walk.csv",
        lambda path: read_positions([path], maze),
        [b"x,y\n1,1\n2,1\n2,2\n", b"step;agent;row;col\n0;p;1;1\n1;p;1;2\n"],
        infer,
        {"level.txt": MAZE.encode()},
        quick=False,
    )
    problem = parse_problem(PROBLEM, Path("level.pddl")).world
    infer = ("infer", "{folder}/level.pddl", "{file}", "--json")
    yield Reader(
        "plan",
        "one.plan",
        partial(_steps, problem),
        [PLAN.encode()],
        infer,
        {"level.pddl": PROBLEM.encode()},
        quick=False,
    )


def _steps(world: SpelledWorld, path: Path) -> object:
    return read_steps(path, world)


def _stories() -> Iterator[Reader]:
    ask = ("ask", "{file}")
    yield Reader("story", "story.txt", read_story_file, [STORY.encode()], (*ask, "--question", "Where is the marble?"))
    rows = [{"id": 1, "episode": EPISODE, "question": QUESTION}, {**ROW, "answer": None}]
    yield Reader("story as data", "story.json", read_story_file, [_text(row) for row in rows], ask)
    yield Reader(
        "stories", "stories.jsonl", lambda path: read_story_file(path, "a"), [_lines(*rows, ROW)], (*ask, "--id", "a")
    )
    audit = ("audit", "{file}")
    yield Reader("benchmark rows", "rows.jsonl", _questions, [_lines(ROW, ROW)], audit)
    yield Reader(
        "ToMi", "tomi.txt", _questions, [(TOMI * 2).encode()], audit, {"tomi.trace": b"a,b,first,c\na,b,first,c\n"}
    )
    yield Reader(
        "ToMi trace",
        "tomi.trace",
        lambda path: _questions(path.with_name("tomi.txt")),
        [b"a,b,first,c\na,b,c,d\n"],
        ("audit", "{folder}/tomi.txt"),
        {"tomi.txt": (TOMI * 2).encode()},
    )
    yield Reader(
        "Hi-ToM", "hi_tom.json", _questions, [json.dumps({"data": [HI_TOM, HI_TOM]}, indent=1).encode()], audit
    )
    yield Reader("BigToM", "bigtom.csv", _questions, [_lines(BIGTOM, BIGTOM)], audit)
    yield Reader("MMToM-QA", "questions.jsonl", _questions, [_lines(MMTOM, MMTOM)], audit)
    condition = "0_forward_belief_true_belief_stories.csv"
    yield Reader(
        "BigToM, one condition",
        condition,
        _questions,
        [b"Ann salts it.;Does she?;Ann does.;Ann does not.\n" * 2],
        audit,
    )
    yield Reader("ToMi rows", "tomi.jsonl", _questions, [_lines(TOMI_ROW, TOMI_ROW)], audit)
    yield Reader("ToMBench", "Odd Task.jsonl", _questions, [_lines(TOMBENCH, TOMBENCH)], audit)
    yield Reader("FANToM", "accessible_first-order.csv", _questions, [FANTOM.encode()], audit)
    asked, told = (json.dumps(one, indent=1).encode() for one in (OPENTOM, OPENTOM_STORIES))
    yield Reader("OpenToM", "location.json", _questions, [asked], audit, {"meta_data.json": told})
    yield Reader(
        "OpenToM stories",
        "meta_data.json",
        lambda path: _questions(path.with_name("location.json")),
        [told],
        ("audit", "{folder}/location.json"),
        {"location.json": asked},
    )


def _questions(path: Path) -> object:
    """The questions of a benchmark file as its audit reads them: rows that cannot be read are left out."""
    return read_items(path, faults=[])


def _tables() -> Iterator[Reader]:
    study = ("reproduce", "study", "--quick", "--data", "{file}", "--out", "{folder}/out")
    rows = hostile_export(("fine",))
    for suffix, write in (("jsonl", write_jsonl), ("csv", write_csv), ("parquet", write_parquet)):
        good = [_written(write, rows, suffix)]
        yield Reader(f"study ({suffix})", f"study.{suffix}", read_export, good, study, quick=False)
        yield Reader(
            f"rows ({suffix})",
            f"rows.{suffix}",
            read_rows,
            [*good, _written(write, [{"a": 1, "b": [1.5, None]}], suffix)],
        )
    fit = ("fit", "{file}", "--game", "ipd", "--json")
    yield Reader("choices", "choices.csv", partial(choices_of, game="ipd"), [CHOICES.encode()], fit, quick=False)
    plain = [{"subject": "a", "trial_index": t, "response": {"choice": "LR"[t % 2]}, "reward": t} for t in range(4)]
    for name, file, content in (
        ("bandit", "bandit.json", _text(plain)),
        ("offers", "offers.csv", b"person;offer;accepted;pie\na;2,5;1;10\na;5;0;10\nb;3;yes;10\n"),
        ("trust", "trust.csv", b"person\tsent\treturned\tendowment\na\t3\t4\t10\nb\t0\t0\t10\n"),
    ):
        yield Reader(name, file, choices_of, [content], ("fit", "{file}", "--json"), quick=False)
    ratings = b"person,stimulus,rating\na,x,1\na,y,4\na,z,2\nb,x,2\nb,y,5\nb,z,1\n"
    others = {"model.csv": b"stimulus,prediction\nx,.1\ny,.8\nz,.3\n"}
    judge = ("fit", "{file}", "--judgements", "{folder}/model.csv", "--json")
    yield Reader("ratings", "ratings.csv", _judged, [ratings], judge, others, quick=False)


def _judged(path: Path) -> object:
    return read_judgements(path, path.with_name("model.csv"))


def _written(write: Callable[[Path, Any], None], rows: Sequence[Mapping[str, Any]], suffix: str) -> bytes:
    with TemporaryDirectory() as folder:
        write(Path(folder, f"rows.{suffix}"), rows)
        return Path(folder, f"rows.{suffix}").read_bytes()


def _folders() -> Iterator[Reader]:
    files = {name: _text(content) for name, content in MUMATOM.items()}
    for file in files:
        others = {name: content for name, content in files.items() if name != file}
        yield Reader(
            f"MuMA-ToM {Path(file).name}",
            file,
            partial(_folder_of, partial(read_mumatom, faults=[]), file),
            [files[file]],
            ("audit", "{folder}"),
            others,
        )
    human = {"new-scenarios/scenario-9-1.pddl": PROBLEM, "new-scenarios/scenario-9-2.pddl": PROBLEM}
    human |= {"new-scenarios/actions/9_1.dat": PLAN, "new-scenarios/actions/9_2.dat": PLAN}
    human |= {"average_human_results_arrays/9_1.csv": JUDGED, "average_human_results_arrays/9_2.csv": JUDGED}
    human |= {"judgement_points.json": json.dumps({"9_1": [1, 2], "9_2": [1, 3]})}
    command = ("reproduce", "dkg-human", "--quick", "--data", "{folder}", "--out", "{folder}/out")
    for file in (one for one in human if "9_2" not in one):
        others = {name: content.encode() for name, content in human.items() if name != file}
        yield Reader(
            f"human data {Path(file).suffix}",
            file,
            partial(_folder_of, read_stimuli, file),
            [human[file].encode()],
            command,
            others,
            quick=False,
        )


def _folder_of(read: Callable[[Path], object], file: str, path: Path) -> object:
    return read(path.parents[len(Path(file).parts) - 1])


def _arrays() -> Iterator[Reader]:
    weights = [(SHIPPED / "papers/hypothetical_minds/weights/ppo-pd_repeated.npz").read_bytes()]
    world = in_the_matrix("pd_repeated")
    yield Reader("network", "network.npz", lambda path: read_network(path, world), weights)
    trace = (TRACES / "cooking_asymmetric-3.jsonl.gz").read_bytes()
    opened = b"".join(gzip.decompress(trace).splitlines(keepends=True)[:4])
    yield Reader("trace", "trace.jsonl.gz", read_trace, [gzip.compress(opened), trace])
    file = io.BytesIO()
    np.savez(
        file,
        worth=np.zeros(2),
        rounds=np.zeros(2, int),
        contexts=np.arange(2),
        known=np.zeros((2, 4), np.int8),
        actions=np.zeros(2, int),
    )
    yield Reader("plan cache", "plan-x.npz", _cached, [file.getvalue()])


def _cached(path: Path) -> object:
    found = bayes_adaptive._read_solution(path)
    if found is None:  # it is computed again
        raise InputError("is no plan that was kept", path=path)
    return found


def _shipped(folder: str, most: int) -> list[bytes]:
    files = sorted((SHIPPED / folder).iterdir(), key=lambda file: file.name)
    return [file.read_bytes() for file in files if file.is_file()][:most]
