"""The register of finding codes: the one place where each has a title, a cause and advice.

Codes are dotted and stable.  A finding with a code outside this register is refused by
`known`, and the failure-mode catalogue is made from it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FindingKind:
    """What a code means.

    `cause` is the usual reason, `confirm` how a reviewer can see it for themselves, and
    `advice` what to tell the author.
    """

    code: str
    title: str
    cause: str
    confirm: str
    advice: str


def known(code: str) -> FindingKind:
    """The register's entry; raises `KeyError` naming the code for one that is not registered."""
    return REGISTER[code]


def _register(*kinds: tuple[str, str, str, str, str]) -> dict[str, FindingKind]:
    return {kind[0]: FindingKind(*kind) for kind in kinds}


REGISTER: dict[str, FindingKind] = {
    **_register(
        (
            "compile.error",
            "Does not compile",
            "The source is refused by its compiler or interpreter before any kernel runs.",
            "Read the diagnostic at its line; the build panel keeps the compiler's words.",
            "Fix the line named; the message is the compiler's own.",
        ),
        (
            "compile.no_entry",
            "Entry point missing",
            "The submission does not define the callable that the task names.",
            "Search the source for the entry's name.",
            "Export a callable with the name that the task gives as `entry`.",
        ),
        (
            "compile.no_kernel_image",
            "No code for this device",
            "The build lists no architecture that the device can run.",
            "Compare the build flags with the device's compute capability.",
            "Build for the device's architecture, or ship PTX it can compile.",
        ),
        (
            "compile.flag_refused",
            "Build flag refused",
            "`build.json` asks for a flag outside the allow-list.",
            "Read `build.json`.",
            "Drop the flag; the allowed ones are in the documentation.",
        ),
        (
            "compile.unsupported_here",
            "Cannot be run here",
            "The submission uses a feature that the interpreter or emulator of this machine does not have.",
            "The evidence names the feature and its line.",
            "Nothing to fix: a device has to run it.",
        ),
    ),
    **_register(
        (
            "numerics.wrong_values",
            "Wrong values",
            "Elements differ from the oracle by more than the task's tolerance and the reference's own error.",
            "Look at the worst elements and the error map; run the workload again with its seed.",
            "The worst element, its index and the expected value are in the report.",
        ),
        (
            "numerics.wrong_shape",
            "Wrong shape",
            "An output has another shape, or another number of outputs is returned.",
            "Compare the shapes in the numerics panel.",
            "Return outputs of the shape that the reference returns.",
        ),
        (
            "numerics.wrong_dtype",
            "Wrong dtype",
            "Values may be right, but the dtype is not the one that the reference returns.",
            "Compare the dtypes in the numerics panel.",
            "Cast the result to the dtype that the task states.",
        ),
        (
            "numerics.wrong_layout",
            "Other memory layout",
            "Strides differ from the reference's; callers that take views may read the wrong elements.",
            "Compare the strides in the evidence.",
            "Return the layout that the task states, or say why not.",
        ),
        (
            "numerics.nan_mismatch",
            "NaN where a number belongs, or the reverse",
            "0/0, inf-inf, an empty row, an uninitialised tail or a missing guard.",
            "The worst elements list the positions; NaN is never a wildcard.",
            "Guard the case that divides or subtracts two infinities.",
        ),
        (
            "numerics.inf_mismatch",
            "Infinity where a number belongs, or the reverse",
            "Overflow of a narrow accumulator, or a wrong sign of infinity.",
            "Compare the magnitude with the largest value of the accumulator's dtype.",
            "Accumulate in a wider dtype, or scale before summing.",
        ),
        (
            "numerics.precision_downgrade",
            "Computed in lower precision than the task asks",
            "The error is that of a narrower format or accumulator than the inputs and outputs allow.",
            "Compare the error with the budget of the declared accumulator.",
            'Use the precision that the task states (for example `input_precision="ieee"`).',
        ),
        (
            "numerics.bf16_not_trusted",
            "bf16 cannot be judged here",
            "The installed interpreter failed its bf16 self-test, so no bf16 verdict is given.",
            "Run `workbench doctor`.",
            "Nothing to fix: the operator has to repair the runtime.",
        ),
    ),
    **_register(
        (
            "runtime.crash",
            "Raised or crashed",
            "The call raised an exception, or the process died on a signal.",
            "Read the traceback; run the workload again with its seed.",
            "The traceback names the line; handle the shape or value that triggers it.",
        ),
        (
            "runtime.time_limit",
            "Did not return in time",
            "A loop that never ends for some shape, a deadlock, or far too much work.",
            "Run the workload with a longer limit and look where it stands.",
            "The named workload did not return within the limit of one call.",
        ),
        (
            "runtime.memory_limit",
            "Asked for more memory than the limit",
            "An allocation grows with the input where it should not, or the whole input is copied.",
            "The evidence gives the limit and the request.",
            "Reduce the workspace; the limit is in the task.",
        ),
        (
            "runtime.output_limit",
            "Printed or returned more than the limit",
            "Endless logging, or an output far larger than expected.",
            "Read the log's tail.",
            "Remove the prints; return only the outputs.",
        ),
        (
            "runtime.out_of_bounds",
            "Access outside a tensor",
            "A missing mask at a tail, a wrong stride or a wrong grid.",
            "The evidence names kernel, line, program and byte offset.",
            "Mask the access, or fix the index that runs past the end.",
        ),
        (
            "runtime.reads_past_view",
            "Reads past a view",
            "The kernel reads beyond the view it was given, inside the same storage.",
            "The evidence names kernel, line and offset.",
            "Mask the access to the view's own extent.",
        ),
        (
            "runtime.index_overflow",
            "32-bit index overflow",
            "An offset is computed in 32 bits and wraps for large tensors.",
            "Multiply the largest index by its stride: it exceeds 2**31 - 1.",
            "Widen the index before the multiplication (for example `.to(tl.int64)`).",
        ),
        (
            "runtime.launch_failed",
            "Kernel launch failed",
            "Too many threads, too much shared memory, or no image for the device.",
            "Check the launch's return code and the device's limits.",
            "Stay within the limits or opt in, and check the launch for errors.",
        ),
        (
            "runtime.race",
            "Data race",
            "Two threads or programs touch one address, one of them writing, without a barrier or an atomic.",
            "The evidence names both accesses.",
            "Add the barrier, or make the accumulation atomic.",
        ),
        (
            "runtime.divergent_barrier",
            "Barrier in divergent control flow",
            "Threads of one block wait at different barriers, or some never arrive.",
            "The evidence names the lines.",
            "Move the barrier out of the branch.",
        ),
        (
            "runtime.output_revisited",
            "Output block visited again",
            "A grid visits one output block in non-consecutive steps, so earlier results are lost.",
            "The evidence names the steps.",
            "Reorder the grid or accumulate in a scratch.",
        ),
        (
            "runtime.simulator_only",
            "Only a simulator accepts it",
            "The simulator runs what the hardware's compiler refuses.",
            "The evidence names the construct.",
            "Rewrite the construct for the hardware.",
        ),
        (
            "runtime.needs_device",
            "Too slow to interpret",
            "The workload would take longer than the limit in an interpreter or emulator.",
            "The evidence gives the estimate.",
            "Nothing to fix: a device has to run it.",
        ),
    ),
    **_register(
        (
            "integrity.uninitialised_output",
            "Part of the output was never written",
            "A tail that no program covers, a launch that failed, or a kernel that writes nothing.",
            "Two runs over different poison patterns return the poison.",
            "Cover the whole output; the first unwritten index is in the evidence.",
        ),
        (
            "integrity.input_mutated",
            "Changes its input",
            "The call writes into an input that the contract does not declare in place.",
            "Compare the input before and after the call.",
            "Write into a new tensor.",
        ),
        (
            "integrity.output_aliased",
            "Output shares memory",
            "An output aliases an input or an earlier output.",
            "Compare the storage addresses.",
            "Return memory of its own.",
        ),
        (
            "integrity.output_cache",
            "Returns an earlier result",
            "The result is looked up by address, shape or identity instead of being computed.",
            "Refill the same storage with new values and call again.",
            "Compute from the values; a cache may hold plans, not results.",
        ),
        (
            "integrity.first_call_differs",
            "The first call differs from later ones",
            "Tuning, initialisation or a cache changes what the first call returns.",
            "Call twice with the same values in fresh storage.",
            "Make the first call right: callers see it.",
        ),
        (
            "integrity.later_call_differs",
            "A later call differs from the first",
            "State carried between calls changes the result.",
            "Call twice with the same values in fresh storage.",
            "Do not carry state between calls.",
        ),
        (
            "integrity.late_write",
            "Writes after returning",
            "A thread or stream goes on writing the output after the call has returned.",
            "Read the output again a moment later.",
            "Finish the work before returning.",
        ),
        (
            "integrity.spawns_thread",
            "Leaves threads running",
            "The call starts threads or processes that outlive it.",
            "Count the threads before and after.",
            "Join what was started.",
        ),
        (
            "integrity.timer_patched",
            "Clock or check replaced",
            "The submission rebinds timers, synchronisation or comparison functions.",
            "Compare the functions before and after loading it.",
            "Leave the interpreter's own functions alone.",
        ),
        (
            "integrity.side_stream",
            "Work on a stream nobody waits for",
            "Work is queued on a side stream that the current stream never joins.",
            "The evidence names the operations left unjoined at return.",
            "Make the current stream wait for the side stream before returning.",
        ),
        (
            "integrity.no_custom_kernel",
            "No kernel of its own did the work",
            "The result comes from library operators where the task forbids them.",
            "The trace shows no launch of a submitted kernel, and the operators that ran.",
            "Write the kernel: library calls are forbidden by this task's policy.",
        ),
        (
            "integrity.decoy_kernel",
            "The kernel's result is not used",
            "A kernel is launched, but replacing it with a no-op changes nothing.",
            "Run with every submitted kernel as a no-op: the output is the same.",
            "Use the kernel's result, or remove the kernel.",
        ),
        (
            "integrity.kernel_never_ran",
            "The kernel never ran",
            "A kernel is defined, but no call launches it.",
            "The launch trace is empty.",
            "Launch the kernel that the task asks for.",
        ),
        (
            "integrity.silent_fallback",
            "Falls back silently",
            "The custom path fails and a library path answers in its place.",
            "Make the custom path fail on purpose and see the answer unchanged.",
            "Let the failure surface, or declare the fallback.",
        ),
        (
            "integrity.lazy_output",
            "The result is computed when looked at",
            "The returned object computes on access, outside the timed call.",
            "The type of the output is not a plain tensor.",
            "Return a plain, finished tensor.",
        ),
        (
            "integrity.process_exit",
            "Ends the process",
            "The submission calls exit or kills its process.",
            "The exit status and the call are in the evidence.",
            "Return; do not exit.",
        ),
        (
            "integrity.forged_result",
            "Imitates a result",
            "The submission prints or writes what a harness would print.",
            "Read the log: it holds lines in a harness's format.",
            "Do not print results.",
        ),
        (
            "integrity.reads_caller_frame",
            "Reads its caller's frames",
            "The source walks interpreter frames, where a harness might keep the answer.",
            "The line is in the evidence.",
            "Use only the arguments of the call.",
        ),
        (
            "integrity.scans_memory",
            "Searches the process for tensors",
            "The source walks the garbage collector or modules, where a harness might keep the answer.",
            "The line is in the evidence.",
            "Use only the arguments of the call.",
        ),
        (
            "integrity.seed_replay",
            "Re-creates the random inputs",
            "The source seeds a generator in the way the harness does.",
            "Change the seed: the output no longer matches.",
            "Compute from the inputs.",
        ),
    ),
    **_register(
        (
            "task.reference_raises",
            "The reference raises",
            "The task's own code fails, so nothing can be judged.",
            "Run `workbench lint-task`.",
            "Fix `reference.py`.",
        ),
        (
            "task.reference_hangs",
            "The reference does not return",
            "The task's own code exceeds its limit, so nothing can be judged.",
            "Run `workbench lint-task`.",
            "Fix `reference.py`, or raise `[limits] seconds`.",
        ),
        (
            "task.reference_nonfinite",
            "The reference is all NaN",
            "Every element of an expected output is NaN, so every answer or none is right.",
            "Run the reference on the workload.",
            "Fix the inputs or the reference.",
        ),
        (
            "task.constant_output",
            "The output does not depend on the inputs",
            "The reference returns the same values whatever the inputs are, so a constant passes.",
            "Redraw the inputs: the output stays.",
            "Choose an output that depends on the inputs.",
        ),
        (
            "task.tolerance_vacuous",
            "The tolerance accepts zeros",
            "Every expected value lies within the tolerance of zero.",
            "Compare atol with the largest expected value.",
            "Scale the tolerance to the output; here the error budget decides in its place.",
        ),
        (
            "task.oracle_disagrees",
            "Oracle and reference disagree",
            "The reference in float64 differs from the native reference by more than its own rounding.",
            "Run both on the public workloads.",
            "Check the reference for dtype-dependent code.",
        ),
        (
            "task.check_failed",
            "The task's check could not decide",
            "`check` raised or returned no (ok, message) pair.",
            "Run it on the reference's own outputs.",
            "Fix `check` in `reference.py`.",
        ),
        (
            "task.shortcut",
            "The task can be short-cut",
            "A trivial answer passes this task's checks.",
            "See the trick templates in the task's health.",
            "Add a workload on which the trivial answer fails.",
        ),
        (
            "task.state_mismatch",
            "The weights do not fit the submission",
            "`make_state` gives tensors that match the candidate's neither by name nor by order.",
            "Compare names, shapes and dtypes.",
            "Name the state in the task's statement.",
        ),
    ),
    **_register(
        (
            "fairness.below_physical_floor",
            "Faster than the hardware allows",
            "The time is below the bytes or operations divided by the device's peak.",
            "Compare with the roofline.",
            "Check what the timed region contains.",
        ),
        (
            "fairness.cache_not_flushed",
            "Measured with a warm cache",
            "The same small buffers are used in every repeat.",
            "Compare bytes with the cache's size.",
            "Flush, or rotate buffers larger than the cache.",
        ),
        (
            "fairness.clock_drift",
            "Clocks moved during the measurement",
            "Candidate and baseline were not interleaved.",
            "Plot the samples over time.",
            "Interleave the runs.",
        ),
        (
            "fairness.degenerate_inputs",
            "Timed on degenerate inputs",
            "Zeros, ones or constants are timed.",
            "Look at the inputs.",
            "Time on the task's own distribution.",
        ),
        (
            "fairness.launch_bound",
            "Launch overhead dominates",
            "The work is smaller than the launch.",
            "Compare the time with an empty launch.",
            "State it, or use larger workloads.",
        ),
        (
            "fairness.no_warmup",
            "Compilation inside the timed region",
            "The first call is timed.",
            "Compare the first sample with the others.",
            "Warm up first.",
        ),
        (
            "fairness.nonpositive_time",
            "A time that is zero or negative",
            "A clock that does not resolve the work, or a wrong subtraction.",
            "Read the samples.",
            "Time more work per sample.",
        ),
        (
            "fairness.precision_not_matched",
            "Candidate and baseline differ in precision",
            "One side uses a narrower format or tf32.",
            "Compare dtypes and flags.",
            "Give both the same precision.",
        ),
        (
            "fairness.unsynchronised",
            "The device was not waited for",
            "The clock stops before the work ends.",
            "Compare with a synchronised measurement.",
            "Synchronise, or use device events.",
        ),
        (
            "fairness.weaker_baseline",
            "A stronger baseline exists",
            "The baseline is not the best known one.",
            "Time the library's own routine.",
            "Compare with the strongest baseline.",
        ),
    ),
    **_register(
        (
            "nki.partition_limit",
            "More than 128 partitions",
            "The first axis of a tile exceeds the hardware's partitions.",
            "Read the shape.",
            "Split the axis.",
        ),
        (
            "nki.tile_limit",
            "Tile larger than the engine takes",
            "A matmul operand exceeds the tensor engine's limits.",
            "Read the shape.",
            "Tile the operand.",
        ),
        (
            "nki.loop_carried_affine_range",
            "Loop-carried dependence in affine_range",
            "Iterations of an affine range may run in any order.",
            "Run them in another order.",
            "Use `sequential_range`.",
        ),
    ),
}
