"""Tasks of Inspect: the same play and the same scores as our own, in its logs; what cannot be read is counted."""

from __future__ import annotations

import gc
import importlib
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.literal_functional import functional_regret, tom_percent
from otherminds.language.model import Message, ModelError, Reply, Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional import card_and_word_games as clues
from otherminds.papers.functional.model_episodes import rows
from otherminds.papers.functional.scripted_models import scripted_player
from otherminds.papers.functional.verdicts import assess

pytest.importorskip("inspect_ai")

import anyio.to_thread
import tiktoken
from inspect_ai import Task, eval
from inspect_ai._util import package
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Logprob,
    Logprobs,
    Model,
    ModelOutput,
    ModelUsage,
    StopDetails,
    TopLogprob,
    get_model,
)

from otherminds.adapters import inspect_model
from otherminds.adapters.inspect_ai import check, clue_games, entry_of, repeated_games, story_questions, story_sets
from otherminds.adapters.inspect_model import Bridge
from otherminds.adapters.inspect_verdict import agent_of, encounter_of, plan_of

pytestmark = [
    # of Inspect, which calls tenacity, and of the streams of anyio that it leaves to the garbage collector
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
]

Answer = Callable[[str, GenerateConfig], ModelOutput]


@pytest.fixture(autouse=True, scope="module")
def _listed_once() -> Iterator[None]:
    """Inspect looks through all files of all packages for each run, which took a third of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(package, "packages_distributions", cache(packages_distributions))
        yield


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever Inspect keeps goes to a folder of the test; what it leaves unclosed is collected here, not later."""
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    yield
    gc.collect()


def mock(answer: Answer, **settings: Any) -> Model:
    def output(input: list[ChatMessage], _tools: Any, _choice: Any, config: GenerateConfig) -> ModelOutput:
        return answer(input[-1].text, config)

    config = GenerateConfig(**settings)
    return get_model("mockllm/model", custom_outputs=output, config=config, memoize=False)


def says(text: str, read: int = 1, **more: Any) -> ModelOutput:
    output = ModelOutput.from_content("mock", text, **more)
    written = len(text.split())
    output.usage = ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
    return output


def playing(program: Scripted) -> Answer:
    """A program in the place of a model, which it answers as, and counts as."""

    def answer(text: str, config: GenerateConfig) -> ModelOutput:
        seed = config.seed if config.seed is not None else -1
        reply = program.complete(Request((Message("user", text),), seed=seed))
        return says(reply.text, reply.usage.prompt)

    return answer


def run(task: Task, answer: Answer, *, settings: dict[str, Any] | None = None, **more: Any) -> EvalLog:
    """A run, as anybody would read it from its file."""
    [log] = eval(task, model=mock(answer, **(settings or {})), display="log", **more)
    return read_eval_log(log.location, resolve_attachments=True)


def samples(log: EvalLog) -> list[EvalSample]:
    assert log.status == "success"
    found: list[EvalSample] | None = log.samples
    assert found
    return found


def scores(log: EvalLog) -> dict[str, dict[str, float]]:
    """All averages: of every score, its metrics."""
    assert log.results is not None
    return {one.name: {name: m.value for name, m in one.metrics.items()} for one in log.results.scores}


def value(sample: EvalSample) -> Any:
    assert sample.scores is not None
    return sample.scores["literal_and_functional"].value


def program(name: str, sample_of: Task) -> Scripted:
    """A scripted player that knows the partner of the first sample."""
    about = sample_of.dataset[0].metadata
    assert about is not None
    entry = entry_of(about)
    return scripted_player(name, entry.setting, entry.task.partner)


# Games


@pytest.mark.slow
@pytest.mark.parametrize(("name", "partners"), [("perfect", "tft"), ("r1_like", "grim"), ("nash_mixer", "single,tft")])
def test_a_game_is_played_and_scored_as_without_inspect(name: str, partners: str) -> None:
    def task() -> Task:
        return repeated_games("ipd", partners, rounds=6, episodes=2, seed=3)

    player = program(name, task())
    log = run(task(), playing(player))

    for sample in samples(log):
        entry = entry_of(sample.metadata, "mockllm/model")
        alone = rows(entry, player)
        assert sample.id == entry.episode
        assert sample.metadata["rows"] == json.loads(json.dumps(alone))
        assert value(sample) == {
            "tom_percent": tom_percent(alone),
            "functional_regret": functional_regret(entry.task, alone),
            "unreadable_share": 0.0,
            "lost_share": 0.0,
        }
    if name == "perfect":
        assert scores(log)["tom_percent"]["mean"] == 100.0
        assert scores(log)["functional_regret"]["mean"] == 0.0


@pytest.mark.slow
def test_errors_are_clustered_by_partner_and_means_are_by_suite_too() -> None:
    task = repeated_games("ipd", ["single", "tft"], rounds=5, episodes=3, seed=1)
    log = run(task, playing(program("nash_mixer", task)))

    regrets: dict[str, list[float]] = {}
    for sample in samples(log):
        regrets.setdefault(sample.metadata["partner"], []).append(value(sample)["functional_regret"])
    found = scores(log)["functional_regret"]
    assert len(regrets) == 3
    # with as many episodes with every partner, these are the errors of the mean of the partners' means
    assert found["stderr"] == pytest.approx(stdev(map(mean, regrets.values())) / math.sqrt(3))
    assert found["mean"] == pytest.approx(mean(map(mean, regrets.values())))
    assert found["grouped_tft"] == pytest.approx(mean(regrets.pop("tft")))
    assert found["grouped_single"] == pytest.approx(mean(map(mean, regrets.values())))


@pytest.mark.slow
def test_episodes_with_one_partner_are_what_its_error_is_of() -> None:
    task = repeated_games("ipd", "tft~0.3", rounds=5, episodes=4, seed=1)
    log = run(task, playing(program("nash_mixer", task)))
    regrets = [value(sample)["functional_regret"] for sample in samples(log)]
    assert scores(log)["functional_regret"]["stderr"] == pytest.approx(stdev(regrets) / 2)
    assert stdev(regrets) > 0.0


@pytest.mark.slow
def test_replies_that_cannot_be_read_are_counted_and_never_moves() -> None:
    task = repeated_games("ipd", "tft", rounds=3)
    [sample] = samples(run(task, playing(program("format_breaker", task))))

    assert (value(sample)["unreadable_share"], value(sample)["lost_share"]) == (1.0, 1.0)
    assert math.isnan(value(sample)["tom_percent"])
    assert math.isnan(value(sample)["functional_regret"])
    assert sample.scores is not None
    assert sample.scores["literal_and_functional"].answer == "not measured"
    assert [(row["predicted"], row["action"], row["reward"]) for row in sample.metadata["rows"]] == [
        (None, None, 0)
    ] * 3
    # a prediction and a move in every round, each asked for three times
    assert sum(event.event == "model" for event in sample.events) == 3 * 2 * 3


@pytest.mark.slow
def test_replies_that_were_cut_off_cannot_be_read() -> None:
    task = repeated_games("ipd", "tft", rounds=2)
    log = run(task, lambda _text, _config: says("Answer: option J", stop_reason="max_tokens"))
    assert scores(log)["unreadable_share"]["mean"] == 1.0


@pytest.mark.slow
def test_a_stranger_can_read_the_rounds_in_the_log() -> None:
    task = repeated_games("ipd", "tft", rounds=2)
    log = run(
        task, lambda text, _config: says("No." if "Which option do you choose" not in text else "Answer: option F")
    )
    [sample] = samples(log)
    [told] = [event.data for event in sample.events if event.event == "info"]
    lines = str(told).splitlines()
    assert lines[0] == "| round | predicted | observed | action | reward | best |"
    assert lines[2] == "| 1 | unreadable | J (Cooperate) | F (Defect) | 10 | 8 |"
    assert lines[3] == "| 2 | unreadable | F (Defect) | F (Defect) | 5 | 10 |"
    assert sample.metadata["options"]["own"] == {"J": "Cooperate", "F": "Defect"}
    assert sample.scores is not None
    said = sample.scores["literal_and_functional"]
    assert said.answer == "15 earned"
    assert said.explanation is not None
    assert "predicted 0 of 2 moves of tft" in said.explanation
    assert "6 of 8 replies could not be read" in said.explanation


@pytest.mark.slow
def test_epochs_are_further_episodes_and_seeds_are_new_ones() -> None:
    asked: list[int | None] = []

    def answer(_text: str, config: GenerateConfig) -> ModelOutput:
        asked.append(config.seed)
        return says("Answer: option J")

    log = run(repeated_games("ipd", "tft~0.3", rounds=8), answer, epochs=2)
    first, second = (sample.metadata["rows"] for sample in samples(log))
    assert [row["observed"] for row in first] != [row["observed"] for row in second]
    assert [one["episode"] for one in (first[0], second[0])] == ["tft~0.3/0", "tft~0.3/1"]
    assert len(set(asked)) == len(asked) == 2 * 8 * 2


@pytest.mark.slow
def test_what_is_set_in_inspect_wins() -> None:
    seen: list[GenerateConfig] = []

    def answer(_text: str, config: GenerateConfig) -> ModelOutput:
        seen.append(config)
        return says("Answer: option J")

    run(repeated_games("ipd", "tft", rounds=1), answer, settings={"max_tokens": 777})
    run(repeated_games("ipd", "tft", rounds=1), answer)
    assert [(one.max_tokens, one.temperature) for one in seen] == [(777, 1.0)] * 2 + [(256, 1.0)] * 2


@pytest.mark.slow
def test_log_probabilities_are_those_of_the_first_token_with_and_without_a_space() -> None:
    def answer(_text: str, config: GenerateConfig) -> ModelOutput:
        assert config.logprobs
        assert config.top_logprobs == 20
        output = says("J")
        likely = [("J", 0.5), (" J", 0.25), ("F", 0.125)]
        first = [TopLogprob(token=token, logprob=math.log(p)) for token, p in likely]
        content = [Logprob(token="J", logprob=math.log(0.5), top_logprobs=first)]
        output.choices[0].logprobs = Logprobs(content=content)
        return output

    [sample] = samples(run(repeated_games("ipd", "tft", rounds=2, strategy="lm"), answer))
    row = sample.metadata["rows"][0]
    assert row["mass"] == pytest.approx(0.875)
    assert row["said"][0]["text"] == "J 0.857, F 0.143"

    log = run(repeated_games("rps", "tft", rounds=2, strategy="lm"), answer)
    assert log.status == "error"
    assert log.error is not None
    assert "`B` is not there (use a strategy that reads replies, as qa)" in log.error.message


@pytest.mark.slow
def test_a_provider_without_log_probabilities_is_one_clear_error() -> None:
    log = run(repeated_games("ipd", "tft", rounds=2, strategy="lm"), lambda _text, _config: says("J"))
    assert log.status == "error"
    assert log.error is not None
    hint = "gives no log-probabilities (use a strategy that reads replies, as qa)"
    assert log.error.message == f"ModelError('mockllm/model {hint}')"


@pytest.mark.slow
def test_a_game_that_was_broken_off_has_no_score() -> None:
    log = run(repeated_games("ipd", "tft", rounds=9), lambda *_: says("Answer: option J"), token_limit=20)
    [sample] = samples(log)
    assert sample.limit is not None
    assert "rows" not in sample.metadata
    assert log.results is not None
    assert {one.unscored_samples for one in log.results.scores} == {1}


@pytest.mark.slow
def test_the_same_seed_gives_the_same_samples() -> None:
    def told(task: Task) -> list[Any]:
        return [sample.model_dump() for sample in task.dataset]

    assert told(story_questions(9, seed=4)) == told(story_questions(9, seed=4))
    assert told(story_questions(9, seed=4)) != told(story_questions(9, seed=5))
    games = [told(repeated_games("rps", "single", 5, 2, shuffle="both", seed=seed)) for seed in (1, 1, 2)]
    assert games[0] == games[1] != games[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"game": "ipdd"}, "ipdd"),
        ({"partners": "nobody"}, "nobody"),
        ({"partners": ""}, "no partner"),
        ({"strategy": "magic"}, "magic"),
        ({"names": "latin"}, "latin"),
        ({"shuffle": "cards"}, "cards"),
        ({"rounds": 0}, "nothing to play"),
        ({"episodes": 0}, "nothing to play"),
    ],
)
def test_what_there_is_not_is_said_before_anything_is_asked(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        repeated_games(**wrong)


@pytest.mark.slow
def test_pictures_are_refused() -> None:
    with pytest.raises(ModelError, match="no pictures"):
        Bridge(mock(lambda *_: says("?"))).complete(Request((Message("user", "?", (b"png",)),)))


# Replies


def asked(bridge: Bridge, **request: Any) -> Reply:
    """The reply as a game gets it, from a thread that the event loop waits for."""
    prompt = (Message("user", "Which?"),)
    return anyio.run(lambda: anyio.to_thread.run_sync(lambda: bridge.complete(Request(prompt, **request))))


SCHEMA = json.dumps({"type": "object", "properties": {"answer": {"type": "string", "enum": ["J", "F"]}}})


class RefusedError(Exception):
    status_code = 400


@pytest.mark.slow
def test_a_schema_goes_to_providers_that_enforce_it_and_others_are_asked_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    configs: list[GenerateConfig] = []

    def answer(_text: str, config: GenerateConfig) -> ModelOutput:
        configs.append(config)
        return says('{"answer": "J"}')

    assert not asked(Bridge(mock(answer)), schema=SCHEMA).constrained
    monkeypatch.setattr(inspect_model, "SCHEMA_PROVIDERS", {"mockllm"})
    bridge = Bridge(mock(answer))
    assert asked(bridge, schema=SCHEMA).constrained
    assert not asked(bridge).constrained
    schemas = [config.response_schema and config.response_schema.json_schema for config in configs]
    assert [schema and schema.properties and schema.properties["answer"].enum for schema in schemas] == [
        None,
        ["J", "F"],
        None,
    ]


@pytest.mark.slow
def test_a_schema_that_is_refused_is_left_out_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_model, "SCHEMA_PROVIDERS", {"mockllm"})
    with_schema: list[bool] = []

    def answer(_text: str, config: GenerateConfig) -> ModelOutput:
        with_schema.append(config.response_schema is not None)
        if config.response_schema:
            raise RefusedError("response_format is not supported")
        return says("Answer: option J")

    bridge = Bridge(mock(answer))
    replies = [asked(bridge, schema=SCHEMA) for _ in range(2)]
    assert [(reply.text, reply.constrained) for reply in replies] == [("Answer: option J", False)] * 2
    assert with_schema == [True, False, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "stop", "details", "reply"),
    [
        ("J", "stop", None, ("J", False, "", False)),
        ("J", "model_length", None, ("J", True, "", False)),
        ("No.", "content_filter", None, ("No.", False, "filtered", False)),
        ("No.", "content_filter", StopDetails(type="refusal"), ("No.", False, "refused", False)),
        ([ContentText(text="No.", refusal=True)], "stop", None, ("No.", False, "refused", False)),
        ([ContentReasoning(reasoning="Option J?"), ContentText(text="F")], "stop", None, ("F", False, "", True)),
        ([ContentReasoning(reasoning="Option J?")], "max_tokens", None, ("", True, "", True)),
    ],
)
def test_what_a_reply_is_lacking_is_told_and_thoughts_are_no_answer(
    content: Any, stop: Any, details: Any, reply: tuple[str, bool, str, bool]
) -> None:
    message = ChatMessageAssistant(content=content)
    choice = ChatCompletionChoice(message=message, stop_reason=stop, stop_details=details)
    got = asked(Bridge(mock(lambda *_: ModelOutput(choices=[choice], usage=ModelUsage()))))
    assert (got.text, got.cut, got.withheld, got.thought) == reply


@pytest.mark.slow
def test_a_call_of_a_tool_and_a_filter_that_reports_an_error_are_no_answers() -> None:
    call = ModelOutput.for_tool_call("mock", "choose", {"option": "J"}, content=" ")
    assert asked(Bridge(mock(lambda *_: call.model_copy(update={"usage": ModelUsage()})))).withheld == "tool call"
    held = says("", stop_reason="content_filter", error="flagged")
    assert asked(Bridge(mock(lambda *_: held))).withheld == "filtered"
    with pytest.raises(ModelError, match="mockllm/model: broken"):
        asked(Bridge(mock(lambda *_: says("", error="broken"))))


# Offline


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: check("ipd", rounds=3),
        lambda: repeated_games(rounds=3),
        clue_games,
        lambda: story_questions(6),
        lambda: story_sets(n=6),
    ],
)
def test_every_task_runs_without_a_network_and_an_unreadable_model_is_not_measured(
    make: Callable[[], Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(_name: str) -> None:
        raise OSError("there is no network")

    monkeypatch.setattr(tiktoken, "get_encoding", download)
    [log] = eval(make(), model="mockllm/model", display="log")
    assert samples(read_eval_log(log.location))
    assert log.results is not None
    values = {
        f"{score.name}/{name}": metric.value for score in log.results.scores for name, metric in score.metrics.items()
    }
    shares = {name: share for name, share in values.items() if "share" in name and "stderr" not in name}
    assert set(shares.values()) == {1.0}
    measured = ("tom_percent/mean", "functional_regret/mean", "loss/mean", "loss_and_verdict/passed", "choice/accuracy")
    assert all(math.isnan(values.get(name, math.nan)) for name in measured)


@pytest.mark.slow
def test_inspect_lists_the_tasks_of_the_folder() -> None:
    inspect = Path(sys.executable).with_name("inspect")
    listing = subprocess.run(
        [inspect, "list", "tasks"], cwd=Path(inspect_model.__file__).parent, capture_output=True, text=True, check=True
    )
    names = {line.partition("@")[2] for line in listing.stdout.splitlines()}
    assert names == {"check", "clue_games", "repeated_games", "story_questions", "story_sets"}


# Games of clues


def test_games_of_clues_are_scored_from_the_rows_of_our_own_play() -> None:
    def first_listed(prompt: str) -> str:
        return f"Answer: option {prompt.split('with one of option ')[-1].split(', option ')[0]}"

    log = run(clue_games(seed=3), lambda prompt, _config: says(first_listed(prompt)))
    asking = Asking("first", ("qa",), shuffle="labels")
    own = Scripted("first", lambda request: first_listed(text_of(request)))
    ends = [clues.rows(entry, own)[-1] for entry in clues.spoken(clues.short_plan(3), "first", asking)]
    assert len(samples(log)) == len(ends) == 4
    for name in ("functional_regret", "tom_percent"):
        assert mean(value(sample)[name] for sample in samples(log)) == pytest.approx(mean(end[name] for end in ends))
        assert scores(log)[name]["mean"] == pytest.approx(mean(end[name] for end in ends))


# The check


def verdict_of(log: EvalLog) -> dict[str, float]:
    return scores(log)["loss_and_verdict"]


def program_of_check(name: str, task: Task) -> Scripted:
    """A scripted player of the first sample's game, whose play does not depend on the partner."""
    about = task.dataset[0].metadata or {}
    encounter = encounter_of(about, "mockllm/model")
    return scripted_player(name, agent_of(about, "mockllm/model").entry(encounter).setting, encounter.task.partner)


@pytest.mark.slow
def test_the_verdict_is_that_of_a_check_and_ends_with_the_pass_that_decides_it() -> None:
    task = check("ipd", rounds=8, seed=3)
    player = program_of_check("nash_mixer", task)
    log = run(task, playing(player))

    about = task.dataset[0].metadata or {}
    speaker = agent_of(about, "mockllm/model", lambda: player)
    alone = [
        row
        for sample in task.dataset
        if (sample.metadata or {})["pass"] < 3
        for row in speaker.rows(encounter_of(sample.metadata or {}, speaker.name))
    ]
    expected = assess(speaker, plan_of(about), alone, 0.5)
    verdict = verdict_of(log)
    assert expected.verdict.passed is False
    assert (verdict["passed"], verdict["passes"]) == (0.0, 3.0)
    assert (verdict["loss"], verdict["low"], verdict["high"]) == pytest.approx(expected.functional[:3])
    assert f"fails: {expected.verdict.words.partition('. ')[0]}" in verdict
    assert len(samples(log)) == 9
    assert log.results is not None
    assert log.results.early_stopping is not None
    assert len(log.results.early_stopping.early_stops) == 6
    assert log.results.early_stopping.metadata["words"] == expected.verdict.words


@pytest.mark.slow
def test_an_unreadable_model_is_asked_for_one_pass_and_not_measured() -> None:
    log = run(check("ipd", rounds=4), lambda *_: says("I decline to play."))
    assert len(samples(log)) == 3
    verdict = verdict_of(log)
    assert math.isnan(verdict.pop("passed"))
    [words] = verdict
    assert words.startswith("not measured: in 100")
    assert scores(log)["lost_share"]["mean"] == 1.0


@pytest.mark.slow
def test_games_that_were_broken_off_decide_nothing() -> None:
    log = run(check("ipd", rounds=9, passes=2), lambda *_: says("Answer: option J"), token_limit=20)
    verdict = verdict_of(log)
    assert math.isnan(verdict["passed"])
    assert "not measured: no pass was completed" in verdict


@pytest.mark.slow
def test_a_check_is_repeated_in_passes() -> None:
    log = run(check("ipd", rounds=2), lambda *_: says("Answer: option J"), epochs=2)
    assert log.status == "error"
    assert log.error is not None
    assert "-T passes=2" in log.error.message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"games": "ipdd"}, "ipdd"),
        ({"partners": "nobody"}, "nobody"),
        ({"strategy": "qa+oracle"}, "tells what the partner does"),
        ({"names": "latin"}, "latin"),
        ({"passes": 0}, "nothing to play"),
    ],
)
def test_a_check_that_cannot_be_played_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        check(**wrong)


# Questions


def knowing(task: Task) -> Answer:
    """Who knows all the answers by the text of the question."""
    right = {str(sample.input): sample.target for sample in task.dataset}

    def answer(text: str, _config: GenerateConfig) -> ModelOutput:
        return says(f"ANSWER: {next(letter for told, letter in right.items() if told in text)}")

    return answer


@pytest.mark.slow
def test_who_knows_the_answers_has_them_all_right_and_who_guesses_a_third() -> None:
    task = story_questions(18, seed=2)
    assert scores(run(task, knowing(task)))["choice"]["accuracy"] == 1.0

    asked = list[str]()

    def guess(text: str, _config: GenerateConfig) -> ModelOutput:
        asked.append(text)
        return says("ANSWER: A")

    found = scores(run(story_questions(18, seed=2), guess))["choice"]
    kinds = {"belief", "social_goal", "belief_of_goal"}
    assert found == pytest.approx(
        {"accuracy": 1 / 3, "stderr": 0.0, "unreadable_share": 0.0}
        | dict.fromkeys(kinds, 1 / 3)
        | {f"{kind}_stderr": 0.0 for kind in kinds},
        abs=1e-12,
    )
    # neither the kind of question nor the margin is told
    assert not any(kind in text for text in asked for kind in ("social_goal", "belief_of_goal", "margin"))


@pytest.mark.slow
def test_answers_that_cannot_be_read_are_wrong_and_too_many_are_not_measured() -> None:
    replies = iter(["That is hard to say."])
    task = story_questions(18)
    right = knowing(task)
    few = scores(run(task, lambda *about: says(reply) if (reply := next(replies, "")) else right(*about)))["choice"]
    assert (few["accuracy"], few["unreadable_share"]) == pytest.approx((17 / 18, 1 / 18))

    all_unreadable = scores(run(story_questions(6), lambda *_: says("That is hard to say.")))["choice"]
    assert all_unreadable["unreadable_share"] == 1.0
    assert math.isnan(all_unreadable["accuracy"])
    assert math.isnan(all_unreadable["stderr"])


@pytest.mark.slow
def test_questions_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    one = {"id": "q1", "story": "Ann is in the hall.", "question": "Where is Ann?", "options": ["hall", "attic"]}
    other = {**one, "id": "q2", "question": "Where is she not?", "answer": "B", "order": 1}
    path.write_text(json.dumps({**one, "answer": "hall"}) + "\n" + json.dumps(other) + "\n", encoding="utf-8")

    task = story_questions(questions=str(path))
    assert [(s.id, s.target, s.choices) for s in task.dataset] == [
        ("q1", "A", ["hall", "attic"]),
        ("q2", "B", ["hall", "attic"]),
    ]
    found = scores(run(task, lambda *_: says("ANSWER: A")))["choice"]
    assert (found["accuracy"], found["question"], found["order 1"]) == (0.5, 1.0, 0.0)
    # questions about one story hang together
    assert len({(s.metadata or {})["group"] for s in task.dataset}) == 1

    path.write_text(json.dumps({**one, "answer": "hall", "options": None}) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"questions.jsonl:1: question q1 has 0 options"):
        story_questions(questions=str(path))


@pytest.mark.slow
def test_mumatom(tmp_path: Path) -> None:
    entry = {
        "description": "Ann walked to the hall.",
        "questions": {"1": "What does Ann believe?\nA) The cup is there.\nB) It is not.\nC) Nothing."},
        "answers": {"1": "C) Nothing."},
        "labels": {"1": "belief"},
    }
    (tmp_path / "questions.json").write_text(json.dumps({"7": entry}), encoding="utf-8")
    [sample] = story_questions(questions=str(tmp_path)).dataset
    assert (sample.id, sample.target, sample.metadata) == ("7-1", "C", {"kind": "belief", "group": "7"})
    assert sample.input == "Ann walked to the hall.\n\nWhat does Ann believe?"


TOLD = (
    "1 Ida entered the attic.\n2 The comb is in the blue_jar.\n3 The blue_jar is in the attic.\n4 Ida exited the attic."
)
TOLD += "\n5 Olaf entered the attic.\n6 Olaf moved the comb to the red_sack."
TOMI = [
    ("memory", "Where was the comb at the beginning?", "blue_jar"),
    ("reality", "Where is the comb really?", "red_sack"),
    ("first_order_0_tom", "Where will Ida look for the comb?", "blue_jar"),
    ("first_order_0_tom", "Where will Olaf look for the comb?", "red_sack"),
]


@pytest.mark.slow
def test_sets_of_stories_are_scored_apart_and_their_kinds_are_not_told(tmp_path: Path) -> None:
    story = {"story": TOLD, "story_type": "false_belief", "containers": ["blue_jar", "red_sack"]}
    rows_of_tomi = [{**story, "question_type": k, "question": q, "answer": a} for k, q, a in TOMI]
    (tmp_path / "tomi_balanced.jsonl").write_text("\n".join(map(json.dumps, rows_of_tomi)), encoding="utf-8")

    task = story_sets(str(tmp_path), most=1, n=6)
    assert [(s.metadata or {})["set"] for s in task.dataset] == ["invented"] * 6 + ["tomi"] * 3
    [group] = {(s.metadata or {})["group"] for s in task.dataset if (s.metadata or {})["set"] == "tomi"}
    assert group
    by_set = scores(run(task, knowing(task)))["choice"]
    assert (by_set["invented"], by_set["tomi"], by_set["tomi_stderr"]) == (1.0, 1.0, 0.0)
    orders = {tuple(s.choices or ()) for seed in range(9) for s in story_sets(str(tmp_path), "tomi", seed=seed).dataset}
    assert orders == {("blue_jar", "red_sack"), ("red_sack", "blue_jar")}
    with pytest.raises(InputError, match="bigtom"):
        story_sets(str(tmp_path), "bigtom")


@pytest.mark.slow
def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.delitem(sys.modules, "otherminds.adapters.inspect_ai")
    with pytest.raises(InputError, match=r"pip install -e '\.\[inspect\]'"):
        importlib.import_module("otherminds.adapters.inspect_ai")
