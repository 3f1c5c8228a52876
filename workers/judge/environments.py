"""Build environments, `<target>[@<version>]:<architecture>`: which are asked for, and for whom they are meant."""

from __future__ import annotations

import dataclasses

from app.domain.task import TaskBundle, TaskError, environment_problem


def with_environments(bundle: TaskBundle, environments: tuple[str, ...]) -> TaskBundle:
    """The task as if its list of environments were this one; raises `TaskError` for what is no environment."""
    if problems := [problem for e in environments if (problem := environment_problem(e))]:
        raise TaskError("\n".join(f"environments: {problem}" for problem in problems))
    spec = dataclasses.replace(bundle.spec, compile_environments=environments) if environments else bundle.spec
    return dataclasses.replace(bundle, spec=spec)


def is_for(environment: str, framework: str) -> bool:
    """Whether `<target>[@version]:<arch>` is a place where this framework's programs are meant to run."""
    target = environment.split(":", maxsplit=1)[0].split("@", maxsplit=1)[0]
    return target in {"triton": ("cuda", "hip"), "cuda": ("cuda",), "hip": ("hip",), "pallas": ("tpu", "cuda")}.get(
        framework, ()
    )
