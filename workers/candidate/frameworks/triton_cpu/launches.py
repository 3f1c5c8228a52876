"""Takes over kernel launches: specialises as the real runtime does, records, and interprets."""

# ruff: noqa: SLF001 - the framework's private names are what is replaced

from __future__ import annotations

import operator
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from triton.compiler.errors import CompilationError
from triton.runtime import interpreter as stock
from triton.runtime.jit import JITFunction

from .arguments import ArgumentBinder
from .builder import make_builder, make_semantic
from .failures import as_seen_by_author
from .formats import numpy_dtype
from .guard import LaunchGuard, ObservationLog
from .language import Language
from .location import raised_at
from .memory import Extent, KnownMemory
from .moves import Movement
from .races import RaceDetector
from .records import Launch, Observation, Specialisation, TooSlow, Unsupported
from .rewrite import definition_of
from .runner import Clock, GridRun, run_grid

_TRIAL_SECONDS = 0.2
_GRID_LIMITS = (2**31 - 1, 65535, 65535)


class Executor:
    """State shared by all launches of a process: what to record, what to run, and for how long."""

    def __init__(self) -> None:
        self.clock = Clock(budget_seconds=60.0)
        self.language = Language()
        self.log = ObservationLog()
        self.launches: list[Launch] = []
        self.watched: list[Extent] = []
        self.skip = False
        self.detect_races = False
        self.stopped: Unsupported | TooSlow | None = None
        self.on_launch: Callable[[str], None] | None = None
        self._trial_seconds: float | None = None
        self._lock = threading.RLock()

    @contextmanager
    def recording_only(self) -> Iterator[None]:
        """Launches inside are recorded but not run."""
        before, self.skip = self.skip, True
        try:
            yield
        finally:
            self.skip = before

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Launches inside are tuning trials: a fraction of a second of their programs is enough."""
        self._trial_seconds = _TRIAL_SECONDS
        try:
            yield
        finally:
            self._trial_seconds = None

    def launch(self, kernel: Any, arguments: tuple[Any, ...], options: dict[str, Any], grid: Any, warmup: bool) -> Any:
        """One launch, as `JITFunction.run` is called; returns what stands for the compiled kernel."""
        for hook in kernel.pre_run_hooks:
            hook(*arguments, **options)
        bound, special = specialise(kernel, arguments, options)
        stand_in = CompiledStandIn(kernel, special, self)
        if warmup:
            return stand_in
        record = _record(kernel, special, _grid_of(grid, bound), self.skip)
        self.launches.append(record)
        if self.on_launch is not None:
            self.on_launch(record.kernel)
        if not self.skip and record.programs:
            with self._lock:
                self._interpret(kernel, bound, special, record)
        return stand_in

    def _interpret(self, kernel: Any, bound: dict[str, Any], special: Specialisation, record: Launch) -> None:
        start = time.perf_counter()
        try:
            with self.language.interpreted():
                run_grid(self._prepare(kernel, bound, special, record), self.clock)
        except Exception as error:
            raise self._noted(error, record) from error
        finally:
            record.seconds = time.perf_counter() - start

    def _prepare(self, kernel: Any, bound: dict[str, Any], special: Specialisation, record: Launch) -> GridRun:
        binder = ArgumentBinder()
        fixed = {p.name for p in kernel.params if p.is_constexpr}
        values = {
            name: getattr(value, "value", value) if name in fixed else binder.bind(name, value, special.signature[name])
            for name, value in bound.items()
        }
        memory = KnownMemory(binder.extents, self.watched)
        races = RaceDetector(binder.extents) if self.detect_races else None
        moves = Movement(record) if self.detect_races else None
        guard = LaunchGuard(record, memory, self.log, races, moves)
        function = self.language.function(kernel)
        return GridRun(record.kernel, function, values, record.grid, guard, self._trial_seconds)

    def _noted(self, error: Exception, record: Launch) -> Exception:
        record.failed = True
        seen = as_seen_by_author(error)
        if isinstance(seen, (Unsupported, TooSlow)):
            self.stopped = seen
        where = raised_at(error.__traceback__) or {"file": record.file, "line": record.line}
        evidence = {"kernel": record.kernel, "exception": type(error).__name__}
        observation = Observation(_code_of(seen), str(error), where["file"], where["line"], evidence)
        self.log.add((record.kernel, where["line"], str(error)), observation, 0)
        return seen


def _code_of(error: Exception) -> str:
    if isinstance(error, TooSlow):
        return "runtime.needs_device"
    if isinstance(error, Unsupported):
        return "runtime.unsupported"
    return "compile.error" if isinstance(error, CompilationError) else "runtime.launch_failed"


def specialise(
    kernel: Any, arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[dict[str, Any], Specialisation]:
    """Bound arguments and what the real compiler would be asked for, from the real arguments."""
    options = dict(options)
    options["debug"] = options.get("debug", kernel.debug)
    options["instrumentation_mode"] = ""
    _, _, _, backend, binder = kernel.device_caches[0]
    bound, kinds, _ = binder(*arguments, **options)
    chosen, signature, constexprs, attributes = kernel._pack_args(backend, options, bound, list(kinds), None)
    return bound, Specialisation(kernel, signature, constexprs, attributes, chosen)


def _grid_of(grid: Any, bound: dict[str, Any]) -> tuple[int, int, int]:
    sizes = grid(bound) if callable(grid) else grid
    padded = [operator.index(size) for size in sizes] + [1] * (3 - len(sizes))
    if len(padded) > 3 or any(size > limit for size, limit in zip(padded, _GRID_LIMITS, strict=True)):
        raise RuntimeError(f"Triton Error [CUDA]: invalid argument (grid {tuple(padded)})")
    return padded[0], padded[1], padded[2]


def _record(kernel: Any, special: Specialisation, grid: tuple[int, int, int], skipped: bool) -> Launch:
    file, line = definition_of(kernel)
    names = list(special.signature)
    return Launch(
        kernel=kernel.__name__, file=file, line=line, grid=grid,
        programs=max(0, min(grid)) and grid[0] * grid[1] * grid[2], seconds=0.0, skipped=skipped,
        constexprs={_path(names, path): _plain(value) for path, value in special.constexprs.items()},
        signature={name: str(kind) for name, kind in special.signature.items()},
        num_warps=int(special.options.num_warps), num_stages=int(special.options.num_stages),
        attributes={_path(names, path): str(value) for path, value in special.attributes.items() if value},
        specialisation=special,
    )  # fmt: skip


def _path(names: list[str], path: tuple[int, ...]) -> str:
    return names[path[0]] + "".join(f"[{index}]" for index in path[1:])


def _plain(value: Any) -> str:
    """A compile-time value for people; functions by name, because their repr holds an address."""
    value = getattr(value, "value", value)
    return value.__name__ if isinstance(value, JITFunction) else repr(value)


class CompiledStandIn:
    """What a launch or warm-up returns. Resources are unknown here: nominal ones keep occupancy sums running."""

    n_regs = 32
    n_spills = 0
    n_max_threads = 1024

    def __init__(self, kernel: Any, special: Specialisation, executor: Executor) -> None:
        self._kernel = kernel
        self._executor = executor
        self._options = {n: v for n, v in vars(special.options).items() if n in ("num_warps", "num_stages", "num_ctas")}
        self.name = kernel.__name__
        self.metadata = SimpleNamespace(shared=1024, name=self.name, **self._options)

    def _init_handles(self) -> None:
        """Nothing to load."""

    @property
    def asm(self) -> dict[str, Any]:
        raise Unsupported("compiled code is not available while interpreting")

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        def run(*arguments: Any, **_: Any) -> Any:
            return self._executor.launch(self._kernel, arguments, dict(self._options), grid, warmup=False)

        return run


def install_builder() -> None:
    """Makes our operation set the interpreter's."""
    stock._get_np_dtype = numpy_dtype
    stock.interpreter_builder = make_builder()
    stock.interpreter_semantic = make_semantic(stock.interpreter_builder)


def install_launcher(executor: Executor) -> None:
    """Routes every JIT launch of this process to the executor."""

    def run(kernel: Any, *arguments: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        return executor.launch(kernel, arguments, options, grid, warmup)

    JITFunction.run = run
