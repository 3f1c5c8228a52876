"""What the judge is given for an experiment: the task with one workload of the reviewer's, and what is to run.

The judge has no case for experiments.  It reads a bundle like any other, which is written here from the task's own.
"""

from __future__ import annotations

import ast
import tomllib
from typing import Any

import tomli_w

from app.config import Settings
from app.domain.review import ExperimentTarget
from app.domain.task import TaskError, parse_spec
from app.errors import Invalid
from app.kit import trees
from app.kit.blobs import BlobStore
from app.models import Experiment, Submission
from app.tasks import service as tasks

WORKLOAD = "experiment"
TASK_TOML, REFERENCE, BASELINE = "task.toml", "reference.py", "baseline/"
# They speak of the task's own workloads, or of builds and times, which an experiment does not ask for.
_LEFT_OUT = ("clauses", "contract", "environments", "targets")


def task_files(settings: Settings, experiment: Experiment) -> trees.Tree:
    """The task's bundle with the experiment's workload in place of its own; raises `Invalid` where none can be made."""
    files = tasks.files_of(settings, experiment.submission.task_version)
    text = tomli_w.dumps(_spec(tomllib.loads(files[TASK_TOML].decode()), experiment, settings))
    try:
        parse_spec(text)
    except TaskError as error:
        raise Invalid(f"the task cannot be asked this: {error}", what_to_do="Change what the message names.") from None
    return {**files, TASK_TOML: text.encode()}


def candidate_files(settings: Settings, experiment: Experiment) -> tuple[trees.Tree, str | None]:
    """What is to run in the submission's place, and its framework where that is known."""
    blobs, submission = BlobStore(settings.blobs_dir), experiment.submission
    if experiment.target == ExperimentTarget.SUBMISSION:
        files = trees.load_tree(blobs, submission.files) | trees.load_tree(blobs, experiment.patch)
        return files, submission.framework
    if experiment.target == ExperimentTarget.PARENT:
        if submission.parent is None:
            raise Invalid("this submission is no revision of another")
        return trees.load_tree(blobs, submission.parent.files), submission.parent.framework
    own = tasks.files_of(settings, submission.task_version)
    if experiment.target == ExperimentTarget.BASELINE:
        files = {path.removeprefix(BASELINE): data for path, data in own.items() if path.startswith(BASELINE)}
        if not files:
            raise Invalid("the task has no baseline")
        return files, None
    if _defines(own[REFERENCE], "make_state"):
        raise Invalid("the reference of a task with weights cannot be loaded like a submission")
    return {path: data for path, data in own.items() if path != TASK_TOML and not path.startswith(BASELINE)}, "torch"


def targets(submission: Submission) -> list[ExperimentTarget]:
    """What can be run in a review of `submission`."""
    has_baseline = any(f["path"].startswith(BASELINE) for f in submission.task_version.files)
    return [
        target
        for target, there in (
            (ExperimentTarget.SUBMISSION, True),
            (ExperimentTarget.PARENT, submission.parent_id is not None),
            (ExperimentTarget.REFERENCE, True),
            (ExperimentTarget.BASELINE, has_baseline),
        )
        if there
    ]


def workload_toml(experiment: Experiment, name: str) -> str:
    """The experiment as a hidden workload, to be put into task.toml."""
    return tomli_w.dumps({"workloads": [{"name": name, "params": experiment.params, "hidden": True}]})


def _spec(data: dict[str, Any], experiment: Experiment, settings: Settings) -> dict[str, Any]:
    limits = data.get("limits", {})
    seconds = min(float(limits.get("seconds", 60.0)), settings.experiment_call_seconds_max)
    asked = {k: v for k, v in data.items() if k not in _LEFT_OUT} | {
        "workloads": [{"name": WORKLOAD, "params": experiment.params}],
        "tolerance": _tolerance(data.get("tolerance", {}), experiment.tolerance),
        "limits": {**limits, "seconds": seconds},
    }
    if experiment.family:
        asked["contract"] = {"values": [experiment.family]}
    if data["kind"] == "optimization":
        asked["kind"] = "generation"  # times decide there, and an experiment asks for values
    if experiment.target == ExperimentTarget.REFERENCE:
        policy = {**data.get("policy", {}), "library_calls": "allowed"}
        asked |= {"entry": "reference", "frameworks": ["torch"], "policy": policy}
    return asked


def _tolerance(own: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """For each output that has a table of its own, too."""
    return {k: {**v, **asked} if isinstance(v, dict) else v for k, v in own.items()} | asked


def _defines(source: bytes, name: str) -> bool:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in body)
