"""Tables of judgements and predictions: what is read, which line of a bad table is named, and fits done by hand."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import linregress, norm, pearsonr

from otherminds.errors import InputError
from otherminds.evaluation.judgement_tables import judged, read_judgements
from otherminds.evaluation.judgements import JudgementFit, as_rows, reliability, response
from otherminds.reports.judgements_page import judgements_page
from otherminds.reports.terminal.judgements import judgements

RNG = np.random.default_rng(5)
LATENT = RNG.random(8)
SETTINGS = {f"{beta}": LATENT**beta for beta in (0.5, 1.0, 3.0)}
TASTE = RNG.normal(0, 0.5, (6, 1))
STATED = np.round(1 + 6 * LATENT + TASTE + RNG.normal(0, 0.6, (6, 8)), 2)
HEAD, PREDICTED_HEAD = "person,stimulus,rating", "setting,stimulus,prediction"
RATINGS = [f"p{p},s{s},{STATED[p, s]}" for p, s in np.ndindex(STATED.shape)]
PREDICTIONS = [f"{beta},s{s},{x}" for beta, values in SETTINGS.items() for s, x in enumerate(values)]
SMALL = ["ana,x,1", "ana,y,2", "ana,z,4", "ben,x,2", "ben,y,3", "ben,z,3"]
SMALL_MODEL = ["x,0.1", "y,0.2", "z,0.7"]


def tables(folder: Path, ratings: str, predictions: str) -> tuple[Path, Path]:
    paths = folder / "ratings.csv", folder / "model.csv"
    for path, text in zip(paths, (ratings, predictions), strict=True):
        path.write_text(text)
    return paths


def small(folder: Path, ratings: list[str], model: list[str], columns: Mapping[str, str] | None = None) -> JudgementFit:
    head = "person,stimulus,rating", "stimulus,prediction"
    return judged(*tables(folder, "\n".join([head[0], *ratings]), "\n".join([head[1], *model])), columns)


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> JudgementFit:
    folder = tmp_path_factory.mktemp("judgements")
    return judged(*tables(folder, "\n".join([HEAD, *RATINGS]), "\n".join([PREDICTED_HEAD, *PREDICTIONS])))


# By hand


@pytest.mark.slow
def test_each_setting_is_a_regression_of_the_mean_ratings(fit: JudgementFit) -> None:
    means = STATED.mean(axis=0)
    likelihoods = {}
    for found, (setting, x) in zip(fit.settings, SETTINGS.items(), strict=True):
        line = linregress(x, means)
        gaps = means - line.intercept - line.slope * x
        sd, plain_sd = np.sqrt(np.mean(gaps**2)), np.sqrt(np.mean((means - x) ** 2))
        likelihoods[setting] = norm.logpdf(gaps, 0, sd).sum()
        expected = line.intercept, line.slope, sd, likelihoods[setting], line.rvalue
        assert found.free == pytest.approx(expected)
        assert found.as_is == pytest.approx((0, 1, plain_sd, norm.logpdf(means - x, 0, plain_sd).sum(), line.rvalue))
    assert fit.best.setting == max(likelihoods, key=lambda setting: likelihoods[setting])
    bics = [-2 * best + k * np.log(8) for best, k in ((fit.best_as_is.as_is[3], 1), (fit.best.free[3], 3))]
    assert fit.scale_evidence == pytest.approx(bics[0] - bics[1])
    assert fit.r.value == pytest.approx(pearsonr(SETTINGS[fit.best.setting], means).statistic)
    assert fit.r.low < fit.r.value < fit.r.high


@pytest.mark.slow
def test_people_have_scales_of_their_own(fit: JudgementFit) -> None:
    likely = np.zeros((3, 6))
    for (m, x), (p, y) in itertools.product(enumerate(SETTINGS.values()), enumerate(STATED)):
        line = linregress(x, y)
        gaps = y - line.intercept - line.slope * x
        likely[m, p] = norm.logpdf(gaps, 0, np.sqrt(np.mean(gaps**2))).sum()
    assert [found.by_person for found in fit.settings] == pytest.approx(likely.sum(axis=1).tolist())
    assert [found.best_for for found in fit.settings] == np.bincount(likely.argmax(axis=0), minlength=3).tolist()
    x = SETTINGS[fit.best.setting]
    assert fit.person_r.tolist() == pytest.approx([np.corrcoef(x, y)[0, 1] for y in STATED])


@pytest.mark.slow
def test_a_stimulus_is_predicted_by_the_setting_of_the_others(fit: JudgementFit) -> None:
    means, predicted = STATED.mean(axis=0), []
    for s in range(8):
        others = np.arange(8) != s
        best = max(SETTINGS.values(), key=lambda x: np.corrcoef(x[others], means[others])[0, 1])
        predicted.append(best[s])
    assert fit.left_out is not None
    assert fit.left_out.value == pytest.approx(np.corrcoef(predicted, means)[0, 1])


@pytest.mark.slow
def test_reliability_is_that_of_halves() -> None:
    two = np.array([[1.0, 2, 4, 3], [2.0, 2, 5, 3]])
    r = np.corrcoef(two)[0, 1]
    assert reliability(two) == pytest.approx(2 * r / (1 + r))
    every = [half for half in itertools.combinations(range(6), 3) if 0 in half]
    correlations = [
        np.corrcoef(STATED[list(half)].mean(0), np.delete(STATED, half, axis=0).mean(0))[0, 1] for half in every
    ]
    r = np.mean(correlations)
    assert reliability(STATED) == pytest.approx(2 * r / (1 + r), abs=1e-3)
    assert np.isnan(reliability(STATED[:1]))


def test_a_slope_is_not_negative_and_an_sd_not_below_its_bound() -> None:
    x, y = np.array([0.0, 1, 2]), np.array([5.0, 3, 1])
    reversed_scale = response(x, y)
    assert (reversed_scale.slope, reversed_scale.intercept) == (0.0, 3.0)
    assert reversed_scale.r == pytest.approx(-1.0)
    assert response(x, np.zeros(3)).log_likelihood == np.inf
    assert response(x, x, least_sd=0.1).log_likelihood == pytest.approx(3 * norm.logpdf(0, 0, 0.1))
    assert np.isnan(response(np.full(3, 0.1 + 0.2), y).r)


# Reading


def test_columns_are_guessed_and_ratings_are_missing(tmp_path: Path) -> None:
    ratings = "Subject ID;Scenario;response\n1;7.0;0,5\n1;8;NA\n2;7;1\n2;8;0,25\n3;9;\n1;9;0,75\n"
    found = read_judgements(*tables(tmp_path, ratings, "scenario,model prediction\n9,.9\n8,.1\n7,.2\n6,.5\n"))
    assert found.people == ("1", "2")
    assert found.cells == (("7", ""), ("8", ""), ("9", ""))
    assert np.array_equal(found.ratings, [[0.5, np.nan, 0.75], [1, 0.25, np.nan]], equal_nan=True)
    assert {name: x.tolist() for name, x in found.predictions.items()} == {"model": [0.2, 0.1, 0.9]}
    assert (found.missing, found.unjudged) == (2, 1)


@pytest.mark.slow
def test_stimuli_with_several_questions(tmp_path: Path) -> None:
    values = np.round(RNG.random((4, 3, 2)), 2)
    ratings = [f"p{p},s{s},{'wb'[q]},{values[p, s, q]}" for p, s, q in np.ndindex(values.shape)]
    model = [f"s{s},{'wb'[q]},{values[0, s, q]}" for s, q in np.ndindex(3, 2)]
    paths = tables(
        tmp_path, "\n".join(["who,item,aspect,x", *ratings]), "\n".join(["item,dimension,predicted", *model])
    )
    fit = judged(*paths, {"person": "who", "rating": "x"})
    assert fit.data.cells[:2] == (("s0", "w"), ("s0", "b"))
    wants = np.corrcoef(values[0, :, 0], values[:, :, 0].mean(axis=0))[0, 1]
    assert fit.by_question["w"].value == pytest.approx(wants)
    assert fit.r.n == 3
    paths[1].write_text("item,predicted\ns0,1\ns1,2\ns2,3\n")
    with pytest.raises(InputError, match=r"ratings.csv:3: stimulus `s0` has several questions, and predictions have"):
        judged(*paths, {"person": "who", "rating": "x"})


@pytest.mark.parametrize(
    ("ratings", "model", "message"),
    [
        (["ana,w,1"], [], r"ratings.csv:8: stimulus `w` has no prediction"),
        (["ana,x,3"], [], r"ratings.csv:8: person ana has two ratings of stimulus `x`, the first in line 2"),
        (["eve,x,high"], [], r"ratings.csv:8: rating `high` is no number"),
        (["eve,x,inf"], [], r"ratings.csv:8: rating `inf` is no number"),
        (["eve,x,1e300"], [], r"ratings.csv:8: rating `1e300` is not between"),
        ([",x,1"], [], r"ratings.csv:8: there is no person"),
        (["eve,,1"], [], r"ratings.csv:8: there is no stimulus"),
        (["eve,x"], [], r"ratings.csv:8: 2 cells instead of 3"),
        ([], ["x,0.3"], r"model.csv:5: there are two predictions of stimulus `x`, the first in line 2"),
        ([], ["w,"], r"model.csv:5: prediction `` is no number"),
        ([], ["w,NA"], r"model.csv:5: prediction `NA` is no number"),
        ([], [",1"], r"model.csv:5: there is no stimulus"),
    ],
)
def test_an_error_names_its_line(tmp_path: Path, ratings: list[str], model: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        small(tmp_path, [*SMALL, *ratings], [*SMALL_MODEL, *model])


@pytest.mark.parametrize(
    ("ratings", "model", "message"),
    [
        (HEAD, "stimulus,prediction\nx,1", r"ratings.csv: there are no ratings in it"),
        (HEAD + "\nana,x,NA", "stimulus,prediction\nx,1", r"ratings.csv: .*\(1 are missing\)"),
        (HEAD + "\na,x,1\na,y,2", "stimulus,prediction\nx,1\ny,2", r"ratings.csv: there are ratings of 2 stimuli: 3"),
        (HEAD + "\na,x,1\na,y,1\na,z,1", "stimulus,prediction\nx,1\ny,2\nz,3", "mean ratings .* are the same"),
        (HEAD + "\na,x,1\na,y,1\na,z,2", "stimulus,prediction\nx,1\ny,1\nz,1", r"model.csv: the predictions .* same"),
        ("person,x,y,z\na,1,2,3", "stimulus,prediction\nx,1", r"ratings.csv:1: there is no column `stimulus` \(a row"),
        ("person,item,a,b\na,x,2,3", "item,prediction\nx,1", r"there is no column `rating` \(a row is one judgement"),
        ("person,item,scene,rating\na,x,2,3", "item,p\nx,1", r"`item` and `scene` could both be stimulus \(--columns"),
        (HEAD + "\na,x,1", "model,beta,item,p\nm,1,x,1", r"model.csv:1: `model` and `beta` could both be setting"),
        (HEAD + "\na,x,1", PREDICTED_HEAD + "\nm,x,1\nn,y,1", r"ratings.csv:2: stimulus `x` has no prediction by n"),
        ("", "item,p\nx,1", r"ratings.csv: it is empty"),
        ("[1]", "item,p\nx,1", r"ratings.csv:1: is not a row"),
    ],
)
def test_tables_that_cannot_be_fitted(tmp_path: Path, ratings: str, model: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        judged(*tables(tmp_path, ratings, model))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"rating": "ratin"}, r"ratings.csv:1: there is no column `ratin` \(did you mean rating\?\)"),
        ({"setting": "beta"}, r"model.csv:1: there is no column `beta`"),
        ({"own": "rating"}, r"there is no column `own`"),
    ],
)
def test_columns_must_be_there(tmp_path: Path, columns: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        small(tmp_path, SMALL, SMALL_MODEL, columns)


# What is shown


def shown(fit: JudgementFit) -> str:
    file = io.StringIO()
    Console(file=file, width=120).print(judgements(fit))
    return file.getvalue()


@pytest.mark.slow
def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>[red]$x$\x1b[2J"
    ratings = [line.replace("x,", f"{evil},").replace("ana", evil) for line in SMALL]
    model = [f"{evil}{n},{line.replace('x,', f'{evil},')}" for n in range(2) for line in [*SMALL_MODEL, "w,1"]]
    paths = tables(tmp_path, "\n".join([HEAD, *ratings, "ben,w,"]), "\n".join([PREDICTED_HEAD, *model]))
    fit = judged(*paths)
    page = judgements_page(evil, fit)
    assert "<script>alert" not in page
    assert "\x1b" not in page + shown(fit)
    assert "[red]$x$" in shown(fit)
    assert "(1 missing)" in page


@pytest.mark.slow
def test_rows_are_json_even_if_nothing_varies_in_a_person(tmp_path: Path) -> None:
    fit = small(tmp_path, ["ana,x,1", "ana,y,1", "ana,z,1", "ben,x,3", "ben,z,2", "eve,x,0"], SMALL_MODEL)
    row = json.loads(json.dumps(as_rows(fit), allow_nan=False))
    assert [person["r"] for person in row["people"]] == [None, pytest.approx(-1.0), None]
    assert row["person_r"] is None
    assert row["left_out_r"] is None
    assert row["stimuli"][1] == {"stimulus": "y", "question": "", "mean": 1.0, "prediction": 0.2}
    assert "<svg" in judgements_page("ratings.csv", fit)
    assert "Of 1" not in shown(fit)


@pytest.mark.slow
def test_reversed_predictions_are_said_to_be(tmp_path: Path) -> None:
    fit = small(tmp_path, SMALL, ["x,3", "y,2", "z,1"])
    assert fit.best.free.slope == 0.0
    assert "run against the mean ratings" in " ".join(shown(fit).split())
