#!/usr/bin/env python3
"""How well the GPUs of a host share the work: weak and strong scaling of the operator, an iteration of
conjugate gradients, a multigrid solve, a step in time and the whole run, with the model beside what is measured.

  cases/gpu_scaling.py --gpus 1,2,4,8 --csv gpu_scaling.csv

Each measurement is a run of `tessera run` under mpirun, of which result.json tells the times, those of the slowest
rank; of several runs the fastest counts. The model says what messages add to the time that one GPU takes for its part:
an exchange with the neighbors 2.8 us and the bytes of its planes at 170 GB/s, a sum over all GPUs 3.6, 4.6 and 6 us for
2, 4 and 8 (measured in CUDA graphs on two and four H200, supposed for 8). It needs nothing but Python 3.
"""

import argparse
import csv
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

MAP = [f'"{x} + 0.05*sin(pi*x)*sin(pi*y)*sin(pi*z)"' for x in "xyz"]
CASE = """
title = "Scaling"
[mesh]
cells = [{cells}]
upper = [1, 1, {height}]
{map}
[space]
degree = {degree}
[problem]
source = "3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)"
exact = "sin(pi*x)*sin(pi*y)*sin(pi*z)"
[boundary]
back = {{ type = "dirichlet", value = "0" }}
[operator]
kernel = "{kernel}"
[solver]
preconditioner = "{preconditioner}"
relative_tolerance = {tolerance}
max_iterations = {iterations}
[run]
device = "cuda"
[output]
vtk = false
picture = false
"""
STEPS = """
[time]
start = 0.0
end = {end}
step = 0.001
method = "backward-euler"
order = 1
initial = "sin(pi*x)*sin(pi*y)*sin(pi*z)"
output_interval = {end}
"""

MESSAGE_SECONDS = 2.8e-6
MESSAGE_BYTES_PER_SECOND = 170e9
SUM_SECONDS = {1: 0.0, 2: 3.6e-6, 4: 4.6e-6, 8: 6e-6}


def sum_seconds(gpus):
    """Of the next number of GPUs that is known."""
    return next((SUM_SECONDS[n] for n in sorted(SUM_SECONDS) if n >= gpus), max(SUM_SECONDS.values()))


def nodes_of_plane(cells, degree):
    return (degree * cells[0] + 1) * (degree * cells[1] + 1)


def message_seconds(gpus, cells, degree, value_bytes):
    """Of the GPU with the most neighbors, which are slabs."""
    planes = min(gpus - 1, 2)
    return (MESSAGE_SECONDS +
            planes * nodes_of_plane(cells, degree) * value_bytes / MESSAGE_BYTES_PER_SECOND)


def added_seconds(kind, gpus, cells, degree, iterations):
    """What messages and sums add to one application, iteration or solve."""
    if gpus == 1:
        return 0.0
    message = message_seconds(gpus, cells, degree, 8)
    if kind == "operator":
        return message
    iteration = message + sum_seconds(gpus)
    if kind == "cg":
        return iteration
    # Multigrid: a level has 7 exchanges of the smoother and 1 of the restriction, in single precision; levels of
    # less than 250 thousand DoFs are computed by every GPU.
    cycle = 0.0
    level = list(cells)
    while level[0] * level[1] * level[2] * degree**3 > 250e3:
        cycle += 8 * message_seconds(gpus, level, degree, 4)
        level = [max(1, n // 2) for n in level]
    return iterations * (iteration + sum_seconds(gpus) + cycle)


class Runs:
    """Runs the program and remembers its results by case and number of GPUs."""

    def __init__(self, options):
        self.options = options
        self.done = {}

    def command(self, gpus, arguments):
        launcher = shlex.split(self.options.launcher.format(n=gpus)) if gpus > 1 else []
        return launcher + [self.options.program, "run", *arguments, "--overwrite", "--quiet"]

    def result(self, gpus, text):
        key = (gpus, text)
        if key not in self.done:
            self.done[key] = self.fastest(gpus, text)
        return self.done[key]

    def fastest(self, gpus, text):
        best = None
        for _ in range(self.options.repetitions):
            result = self.measured(gpus, text)
            if result is None:
                return None
            if best is None:
                best = result
                continue
            apply = min(result["timing"]["apply_s"], best["timing"]["apply_s"])
            if result["timing"]["solve_s"] < best["timing"]["solve_s"]:
                best = result
            best["timing"]["apply_s"] = apply
        return best

    def measured(self, gpus, text):
        with tempfile.TemporaryDirectory() as directory:
            case = pathlib.Path(directory) / "case.toml"
            case.write_text(text)
            results = pathlib.Path(directory) / "results"
            ended = subprocess.run(self.command(gpus, [str(case), "--output", str(results)]),
                                   capture_output=True, text=True, timeout=self.options.time_limit,
                                   check=False)
            # Iterations that are counted end before they have converged, which is 2.
            if ended.returncode not in (0, 2):
                print(f"  {gpus} GPUs: exit code {ended.returncode}: {ended.stderr.strip()[:300]}")
                return None
            return json.loads((results / "result.json").read_text())


def case_text(cells, degree, kernel, mapped=False, preconditioner="none", iterations=100, steps=0):
    text = CASE.format(cells=", ".join(map(str, cells)), height=cells[2] / cells[0], degree=degree,
                       kernel=kernel, preconditioner=preconditioner,
                       map=f"map = [{', '.join(MAP)}]" if mapped else "",
                       tolerance=1e-300 if preconditioner == "none" else 1e-9,
                       iterations=iterations)
    return text + (STEPS.format(end=0.001 * steps) if steps else "")


class Table:
    """Rows as they are measured, on the screen and in a file."""

    COLUMNS = ["scaling", "what", "degree", "gpus", "dofs", "ms", "gdofs_per_s", "efficiency",
               "model", "iterations", "device_gib", "exchange"]

    def __init__(self, file):
        self.file = file
        self.writer = csv.writer(file) if file else None
        if self.writer:
            self.writer.writerow(self.COLUMNS)
        print(f"{'scaling':8} {'what':26} p GPUs {'DoFs':>9} {'ms':>9} {'GDoF/s':>8} efficiency model")

    def add(self, scaling, what, degree, gpus, result, seconds, efficiency, model):
        dofs = result["dofs"]
        ranks = result.get("ranks", {})
        row = [scaling, what, degree, gpus, dofs, 1e3 * seconds, dofs / seconds * 1e-9, efficiency,
               model, result["solver"].get("iterations"),
               (result["memory"]["peak_device_bytes"] or 0) / 2**30, ranks.get("between_gpus", "")]
        if self.writer:
            self.writer.writerow(row)
            self.file.flush()
        print(f"{scaling:8} {what:26} {degree} {gpus:4} {dofs:9.3g} {1e3 * seconds:9.3f} "
              f"{dofs / seconds * 1e-9:8.2f} {100 * efficiency:8.1f} % {100 * model:4.0f} %", flush=True)


def step_seconds(result):
    """What is done in every step: not what is made once, as the operator of steps."""
    steps = result["time"]["steps"]
    parts = next(part for part in result["timers"]["parts"] if part["name"] == "steps")["parts"]
    return sum(part["total_s"] for part in parts if part["calls"] >= steps) / steps


def seconds_of(kind, result):
    timing = result["timing"]
    if kind == "operator":
        return timing["apply_s"]
    if kind == "cg":
        return timing["solve_s"] / max(1, result["solver"]["iterations"])
    if kind == "run":
        return timing["total_s"]
    if kind == "step":
        return step_seconds(result)
    return timing["solve_s"]


def weak_mesh(cells, gpus):
    return [cells, cells, cells * gpus]


def measure_weak(runs, table, options):
    for size in options.weak:
        for degree in options.degrees:
            cells = round(size ** (1 / 3) / degree)
            cells -= cells % 2
            for what, kinds, text in weak_cases(degree):
                first = {}
                for gpus in options.gpus:
                    mesh = weak_mesh(cells, gpus)
                    result = runs.result(gpus, text(mesh))
                    if result is None:
                        continue
                    for kind in kinds:
                        seconds = seconds_of(kind, result)
                        first.setdefault(kind, seconds)
                        iterations = result["solver"]["iterations"]
                        added = added_seconds(kind, gpus, mesh, degree, iterations)
                        one = first[kind]
                        table.add("weak", f"{what}, {kind}", degree, gpus, result, seconds,
                                  one / seconds, one / (one + added) if kind != "run" else 1.0)


def weak_cases(degree):
    return [("kronecker", ["operator", "cg"], lambda mesh: case_text(mesh, degree, "kronecker")),
            ("tensor, curved", ["operator", "cg"],
             lambda mesh: case_text(mesh, degree, "tensor", mapped=True)),
            ("multigrid", ["solve", "run"],
             lambda mesh: case_text(mesh, degree, "auto", preconditioner="multigrid"))]


def measure_strong(runs, table, options):
    for size in options.strong:
        cells = round(size ** (1 / 3) / 4)
        cells -= cells % 2
        mesh = [cells] * 3
        for what, kind, text in strong_cases():
            one = None
            for gpus in options.gpus:
                result = runs.result(gpus, text(mesh))
                if result is None:
                    continue
                seconds = seconds_of(kind, result)
                one = one or seconds
                # What one GPU takes for the part of one.
                part = runs.result(1, text([cells, cells, max(1, round(cells / gpus))]))
                per = seconds_of(kind, part) if part else one / gpus
                added = added_seconds(kind, gpus, mesh, 4, result["solver"]["iterations"])
                table.add("strong", what, 4, gpus, result, seconds, one / seconds / gpus,
                          one / (per + added) / gpus)


def strong_cases():
    cases = [("cg", "cg", lambda mesh: case_text(mesh, 4, "kronecker"))]
    for name in ("multigrid", "fast-diagonalization"):
        cases.append((name, "solve", lambda mesh, name=name: case_text(mesh, 4, "auto",
                                                                      preconditioner=name)))
    cases.append(("implicit Euler step", "step",
                  lambda mesh: case_text(mesh, 4, "auto", preconditioner="auto", steps=100)))
    return cases


def measure_largest(runs, table, options):
    """As many DoFs on each GPU as --largest says, 50 iterations."""
    gpus = options.gpus[-1]
    cells = round(options.largest ** (1 / 3) / 4)
    mesh = weak_mesh(cells, gpus)
    result = runs.result(gpus, case_text(mesh, 4, "kronecker", iterations=50))
    if result is not None:
        table.add("largest", "kronecker, cg", 4, gpus, result, seconds_of("cg", result), 1.0, 1.0)


def numbers(text):
    return [float(part) for part in text.split(",") if part]


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/tessera")
    parser.add_argument("--gpus", default="1,2,4,8", help="numbers of GPUs, increasing")
    parser.add_argument("--launcher", default="mpirun -n {n} --bind-to none")
    parser.add_argument("--degrees", default="2,4,6", help="of weak scaling")
    parser.add_argument("--weak", default="67e6,8e6", help="DoFs on each GPU")
    parser.add_argument("--strong", default="135e6,67e6,10e6", help="DoFs in all, p = 4")
    parser.add_argument("--largest", type=float, default=0, help="DoFs on each GPU, p = 4; 2.9e9 take 134 GiB")
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--time-limit", type=float, default=300, help="seconds of a run")
    parser.add_argument("--csv", help="file for the table")
    options = parser.parse_args(arguments)
    options.gpus = [int(number) for number in numbers(options.gpus)]
    options.degrees = [int(number) for number in numbers(options.degrees)]
    options.weak = numbers(options.weak)
    options.strong = numbers(options.strong)
    return options


def main():
    options = options_of(sys.argv[1:])
    file = open(options.csv, "w", newline="", encoding="utf-8") if options.csv else None
    runs = Runs(options)
    table = Table(file)
    measure_weak(runs, table, options)
    measure_strong(runs, table, options)
    if options.largest:
        measure_largest(runs, table, options)


if __name__ == "__main__":
    main()
