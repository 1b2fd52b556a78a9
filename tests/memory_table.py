#!/usr/bin/env python3
"""Compares the memory that `tessera check` foresees with what `tessera run` uses.

    tests/memory_table.py build/tessera                  all cases on the CPU (minutes, up to 2 GB)
    tests/memory_table.py build/tessera --small          the cases that the tests run (seconds)
    tests/memory_table.py build/tessera --device cuda    the cases of the GPU (under 3 minutes)

A line a case: what was foreseen, what was used, and their ratio, which is to lie between 1 and 1.25
(--least, --most; cases that seldom need all that is foreseen have limits of their own, MOST). On
the CPU both are the whole program's; used is the largest resident set of the run. On the GPU used
is memory.peak_device_bytes of result.json, which CUDA's libraries' own memory is no part of, so
that part of the estimate is left out as well. Exit code 1: a ratio is outside.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

NEUMANN = "boundary = { left = { type = 'neumann', value = '0' }, right = { type = 'neumann', value = '0' }, " \
          "bottom = { type = 'neumann', value = '0' }, top = { type = 'neumann', value = '0' }%s }"
NEUMANN_2D = NEUMANN % ""
NEUMANN_3D = NEUMANN % (", back = { type = 'neumann', value = '0' }, front = { type = 'neumann', value = '0' }")
BEND_3D = "['x + 0.1*sin(pi*y)', 'y', 'z + 0.1*x*y']"
BEND_2D = "['x + 0.1*sin(pi*y)', 'y + 0.1*x*x']"


def case(name, cells, degree, solver="", mesh="", operator="", problem="source = '1'", extra="", vtk=False,
         iterations=3):
    """A case file's text; the solve ends after a few iterations, which changes no size."""
    dimension = len(cells)
    text = f"""title = "{name}"
mesh = {{ dimension = {dimension}, cells = {list(cells)}{', ' + mesh if mesh else ''} }}
space = {{ degree = {degree} }}
problem = {{ {problem} }}
operator = {{ {operator} }}
solver = {{ max_iterations = {iterations}{', ' + solver if solver else ''} }}
output = {{ vtk = {'true' if vtk else 'false'} }}
{extra}
"""
    return name, text


def mapped(dimension):
    return f"map = {BEND_3D if dimension == 3 else BEND_2D}"


# Sizes for 200 MB and more, and less than 2 GB.
CASES = [
    case("3D p1 kronecker cg", (220, 220, 220), 1),
    case("3D p4 kronecker cg", (56, 56, 56), 4),
    case("3D p4 kronecker single", (64, 64, 64), 4, operator="precision = 'single'", solver="relative_tolerance = 1e-5"),
    case("2D p8 kronecker cg", (400, 400), 8),
    case("2D p2 graded tensor coloring", (1000, 1000), 2, mesh="spacing = [{ geometric = 1.001 }, 'uniform']",
         operator="kernel = 'tensor', scatter = 'coloring'"),
    case("3D p2 mapped tensor", (70, 70, 70), 2, mesh=mapped(3)),
    case("3D p3 mapped tensor private", (40, 40, 40), 3, mesh=mapped(3), operator="kernel = 'tensor', scatter = 'private'"),
    case("3D p6 mapped tensor jacobi", (20, 20, 20), 6, mesh=mapped(3), solver="preconditioner = 'jacobi'"),
    case("3D p1 mapped stencil", (140, 140, 140), 1, mesh=mapped(3)),
    case("3D p4 mapped on-the-fly", (40, 40, 40), 4, mesh=mapped(3), operator="factors = 'on-the-fly'"),
    case("2D p5 mapped single", (250, 250), 5, mesh=mapped(2), operator="precision = 'single'",
         solver="relative_tolerance = 1e-5"),
    case("3D p2 csr", (34, 34, 34), 2, operator="kernel = 'csr'"),
    case("2D p3 mapped csr single", (250, 250), 3, mesh=mapped(2), operator="kernel = 'csr', precision = 'single'",
         solver="relative_tolerance = 1e-5"),
    case("3D p3 mapped local", (22, 22, 22), 3, mesh=mapped(3), operator="kernel = 'local'"),
    case("3D p5 local atomic", (48, 48, 48), 5, operator="kernel = 'local', scatter = 'atomic'"),
    case("3D p4 scaled tensor", (40, 40, 40), 4, operator="kernel = 'tensor'", problem="source = '1', coefficient = '1 + x*y*z'"),
    case("3D p4 pipelined multigrid", (40, 40, 40), 4,
         solver="method = 'pipelined-cg', preconditioner = 'multigrid', multigrid = { precision = 'double' }"),
    case("3D p2 multigrid mixed", (90, 90, 90), 2, solver="preconditioner = 'multigrid'"),
    case("3D p4 mapped multigrid", (26, 26, 26), 4, mesh=mapped(3), solver="preconditioner = 'multigrid'"),
    case("3D p4 full multigrid", (40, 40, 40), 4,
         solver="preconditioner = 'multigrid', initial = 'full-multigrid'"),
    case("2D p3 mapped full multigrid double", (360, 360), 3, mesh=mapped(2),
         solver="preconditioner = 'multigrid', initial = 'full-multigrid', multigrid = { precision = 'double' }"),
    case("3D p2 multigrid block-jacobi", (30, 30, 30), 2,
         solver="preconditioner = 'multigrid', multigrid = { smoother = 'block-jacobi' }"),
    case("2D p4 single multigrid", (500, 500), 4, operator="precision = 'single'",
         solver="preconditioner = 'multigrid', relative_tolerance = 1e-5"),
    case("3D p3 single-reduction jacobi", (64, 64, 64), 3, solver="method = 'single-reduction-cg', preconditioner = 'jacobi'"),
    case("3D p3 pipelined none", (64, 64, 64), 3, solver="method = 'pipelined-cg'"),
    case("3D p3 flexible chebyshev", (64, 64, 64), 3, solver="method = 'flexible-cg', preconditioner = 'chebyshev'"),
    case("3D p3 flexible-gmres chebyshev", (48, 48, 48), 3,
         solver="method = 'flexible-gmres', preconditioner = 'chebyshev', restart = 10"),
    case("3D p3 bicgstab jacobi", (64, 64, 64), 3, solver="method = 'bicgstab', preconditioner = 'jacobi'"),
    case("2D p2 richardson jacobi", (1200, 1200), 2, solver="method = 'richardson', preconditioner = 'jacobi'"),
    case("3D p2 block-jacobi", (30, 30, 30), 2, solver="preconditioner = 'block-jacobi'"),
    case("3D p4 fast-diagonalization", (56, 56, 56), 4, solver="preconditioner = 'fast-diagonalization'"),
    case("2D p4 long fast-diagonalization", (1000, 4), 4, solver="preconditioner = 'fast-diagonalization'"),
    case("2D graded long fast-diagonalization", (900, 4), 4, mesh="spacing = [{ geometric = 1.001 }, 'uniform']",
         solver="preconditioner = 'fast-diagonalization'"),
    case("3D p2 pure Neumann", (100, 100, 100), 2, problem="source = 'cos(pi*x)'", extra=NEUMANN_3D),
    case("2D p4 pure Neumann multigrid", (360, 360), 4, problem="source = 'cos(pi*x)'", extra=NEUMANN_2D,
         solver="preconditioner = 'multigrid'"),
    case("3D p2 vtk", (70, 70, 70), 2, vtk=True),
    case("3D p4 mapped exact vtk", (30, 30, 30), 4, mesh=mapped(3), vtk=True, problem="source = '1', exact = 'x*y'"),
    case("2D p1 vtk single", (1200, 1200), 1, vtk=True, extra=""),
    case("3D p3 robin exact", (64, 64, 64), 3, problem="source = '1', exact = 'x'",
         extra="boundary = { left = { type = 'dirichlet', value = 'y' }, right = { type = 'robin', alpha = '1', value = '1' } }"),
    case("3D p4 in time backward Euler", (56, 56, 56), 4, extra="time = { end = 1, method = 'backward-euler', step = 0.5 }",
         iterations=30),
    case("3D p4 in time sdirk mapped", (30, 30, 30), 4, mesh=mapped(3), solver="preconditioner = 'multigrid'",
         extra="time = { end = 0.01, step = 0.005, order = 3 }", iterations=60),
    case("3D p3 in time bdf mapped", (44, 44, 44), 3, mesh=mapped(3), solver="preconditioner = 'jacobi'",
         extra="time = { end = 0.01, method = 'bdf', order = 5, tolerance = 1e-2 }", iterations=200),
    case("2D p4 in time explicit", (400, 400), 4, extra="time = { end = 1e-8, method = 'explicit-rk', order = 4, step = 5e-9 }",
         iterations=60),
    case("3D p3 in time moving mapped", (40, 40, 40), 3, mesh=mapped(3), solver="preconditioner = 'multigrid'",
         problem="source = '1', coefficient = '1 + t*x', capacity = '1 + t*y'",
         extra="time = { end = 0.01, step = 0.005, order = 2 }", iterations=60),
    case("3D p3 newton mapped multigrid", (40, 40, 40), 3, mesh=mapped(3), problem="source = '1', coefficient = '1 + u^2'",
         solver="preconditioner = 'multigrid'", extra="nonlinear = { max_iterations = 2 }", iterations=60),
    case("3D p4 newton of source jacobi", (40, 40, 40), 4, problem="source = '1 - u^3', coefficient = '1 + x'",
         solver="preconditioner = 'jacobi'", extra="nonlinear = { max_iterations = 2 }", iterations=200),
    case("2D p4 picard multigrid", (360, 360), 4, problem="source = '1', coefficient = '1 + u^2'",
         solver="preconditioner = 'multigrid'", extra="nonlinear = { method = 'picard', acceleration = 2, max_iterations = 4 }", iterations=60),
    case("3D p3 newton in time bdf", (40, 40, 40), 3, mesh=mapped(3), problem="source = '1 - u^3', coefficient = '1 + u^2'",
         solver="preconditioner = 'jacobi'", iterations=200,
         extra="nonlinear = {}\ntime = { end = 0.01, method = 'bdf', order = 3, tolerance = 1e-2 }"),
]

SMALL = [
    case("small 3D p4 kronecker", (40, 40, 40), 4),
    case("small 3D p4 pipelined multigrid", (28, 28, 28), 4,
         solver="method = 'pipelined-cg', preconditioner = 'multigrid', multigrid = { precision = 'double' }, "
                "initial = 'full-multigrid'"),
    case("small 2D long fast-diagonalization", (500, 4), 4, mesh="spacing = [{ geometric = 1.001 }, 'uniform']",
         solver="preconditioner = 'fast-diagonalization'"),
    case("small 3D pure Neumann", (60, 60, 60), 2, problem="source = 'cos(pi*x)'", extra=NEUMANN_3D),
    case("small 3D mapped vtk", (22, 22, 22), 3, mesh=mapped(3), vtk=True),
]

# What is foreseen and seldom needed: the method that goes on where the inverse of fast diagonalization leaves too
# much; factors that have to be kept in full, of the form, the steps and the levels.
MOST = {"3D p4 in time backward Euler": 1.6, "3D p3 in time moving mapped": 1.5}

UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}


def bytes_of(text, unit):
    return float(text) * 1024.0 ** UNITS[unit]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def foreseen(output, device):
    if device == "cpu":
        match = re.search(r"^largest at a time ([\d.]+) (\w+), available", output, re.M)
        return bytes_of(*match.groups())
    match = re.search(r"^largest at a time on the GPU ([\d.]+) (\w+),", output, re.M)
    libraries = re.search(r"^ *CUDA libraries +([\d.]+) (\w+)", output, re.M)
    return bytes_of(*match.groups()) - bytes_of(*libraries.groups())


def measure(program, name, text, device, keep):
    path = pathlib.Path(keep) / "case.toml"
    path.write_text(text)
    output = pathlib.Path(keep) / "out"
    options = ["--set", f"run.device='{device}'", "--set", f"output.directory='{output}'", "--set", "output.overwrite=true"]
    check = run([program, "check", str(path), *options])
    # 2: not converged, as it must be after so few iterations.
    if check.returncode != 0:
        raise RuntimeError(f"{name}: check: {check.stderr}{check.stdout[-300:]}")
    solved = run([program, "run", str(path), "--quiet", *options])
    if solved.returncode not in (0, 2):
        raise RuntimeError(f"{name}: run: {solved.stderr}")
    memory = json.loads((output / "result.json").read_text())["memory"]
    used = memory["peak_bytes"] if device == "cpu" else memory["peak_device_bytes"]
    return foreseen(check.stdout, device), used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--least", type=float, default=1.0)
    parser.add_argument("--most", type=float, default=1.25)
    arguments = parser.parse_args()
    outside = 0
    print(f"{'case':42} {'foreseen':>10} {'used':>10} {'ratio':>6}")
    for name, text in SMALL if arguments.small else CASES:
        if arguments.only not in name:
            continue
        with tempfile.TemporaryDirectory() as keep:
            try:
                estimate, used = measure(arguments.program, name, text, arguments.device, keep)
            except RuntimeError as error:
                outside += 1
                print(f"{name:42} {error}".rstrip())
                continue
        ratio = estimate / used
        wrong = not arguments.least <= ratio <= MOST.get(name, arguments.most)
        outside += wrong
        print(f"{name:42} {estimate / 2**20:7.0f}MiB {used / 2**20:7.0f}MiB {ratio:6.3f}{' !' if wrong else ''}", flush=True)
    print(f"{outside} outside {arguments.least} to {arguments.most}")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
