"""The experiments around the Hypothetical Minds paper: its agent and others in the scenarios, and scripted bots."""

from __future__ import annotations

from collections.abc import Mapping

from otherminds.errors import InputError
from otherminds.evaluation.experiment import Begin, Experiment, ModelPart, Options, Part, described
from otherminds.papers.hypothetical_minds import experiment, melting_pot, melting_pot_report, report
from otherminds.reports.results import beside_published

HYPOTHETICAL = {
    "quick": (1, ("programs", "bound", "last_play", "uniform", "random", "ppo")),
    "normal": (5, experiment.SUBJECTS),
    "full": (20, experiment.SUBJECTS),
}
"""Episodes of every scenario, and the agents that play them; in a quick run only programs play all scenarios."""
MELTING_POT = {"quick": (2, 1), "normal": (10, 5), "full": (20, 20)}
"""Episodes of every calibration case, and of every scenario."""


def _melting_pot(options: Options) -> Experiment:
    """Scripted bots in the matrix and cooking worlds: calibration, then the scenarios."""
    if options.asking:
        raise InputError("no language model plays melting-pot: its players are scripted", hint="leave --model out")
    return Experiment(
        run=f"{melting_pot.EXPERIMENT} {options.scale} seed {options.seed}",
        parts=(Part(melting_pot.rows, melting_pot.plan(*MELTING_POT[options.scale], options.seed)),),
        summarise=lambda rows: beside_published(melting_pot.summarise(rows)),
        page=lambda rows, summary: melting_pot_report.report(summary, rows),
        what="Playing scenarios",
    )


def _hypothetical(options: Options) -> Experiment:
    """Hypothetical Minds and other agents in the scenarios; with a model, also the agents that need one."""
    asking, scale, seed = options.asking, options.scale, options.seed
    episodes, agents = HYPOTHETICAL[scale]
    requested = tuple(agent for agent in options.agents if not asking or agent in experiment.SUBJECTS)
    entries = experiment.plan(episodes, seed, requested if options.agents else agents, options.scenario)
    if scale == "quick" and not (options.agents or options.scenario):
        entries = [entry for entry in entries if entry.agent == "programs" or entry.scenario in experiment.EVERYBODY]
    model_part = None
    if asking:
        model, model_agents = asking.find(), [agent for agent in options.agents if agent not in experiment.SUBJECTS]
        spoken = experiment.spoken_plan(scale, asking.episodes, seed, model.name, model_agents, options.scenario)
        model_part = ModelPart(model, experiment.rows, spoken, experiment.estimate)
    if not entries and not (model_part and model_part.entries):
        hint = "in kitchens: programs, random; HM and others by --model"
        raise InputError("none of these agents plays there", hint=hint)
    return Experiment(
        run=described(
            f"hypothetical {scale} seed {seed}", options.scenario, *options.agents, asking.model if asking else ""
        ),
        parts=(Part(experiment.rows, entries),),
        model_part=model_part,
        summarise=lambda rows: list(experiment.summarise(rows, asking.price if asking else None)),
        page=report.report,
        what="Playing scenarios",
    )


EXPERIMENTS: Mapping[str, Begin] = {"melting-pot": _melting_pot, "hypothetical": _hypothetical}
