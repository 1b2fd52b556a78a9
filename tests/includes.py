#!/usr/bin/env python3
"""Includes run downwards only, and no strategy includes another.

    tests/includes.py      in the repository; exit code 1 and a line each for includes against the rule
"""
import pathlib
import re
import sys

# What a folder may include beside itself. "operators" is the files of its root.
STRATEGIES = {f"operators/{name}" for name in ("csr", "local", "tensor", "stencil", "kronecker")}
BELOW_CELLS = {"mesh", "solvers", "operators/ranks", "operators/form"}
BELOW_STRATEGIES = BELOW_CELLS | {"operators/cells"}
BELOW_PRECONDITIONERS = BELOW_STRATEGIES | STRATEGIES | {"operators"}
ALL_OPERATORS = BELOW_PRECONDITIONERS | {f"operators/{name}" for name in (
    "load", "nonlinear", "multigrid", "fast_diagonalization", "block_jacobi")}
ALLOWED = {
    "mesh": set(),
    "solvers": set(),
    "operators/ranks": {"mesh", "solvers"},
    "operators/form": {"mesh", "solvers", "operators/ranks"},
    "operators/cells": BELOW_CELLS,
    **{strategy: BELOW_STRATEGIES for strategy in STRATEGIES},
    # On the GPU: points and fields there as tensor has them; nonlinear also what the host assembles.
    "operators/load": BELOW_STRATEGIES | {"operators/tensor"},
    "operators/nonlinear": BELOW_STRATEGIES | {"operators/load", "operators/tensor"},
    "operators/fast_diagonalization": BELOW_PRECONDITIONERS,
    "operators/block_jacobi": BELOW_PRECONDITIONERS,
    "operators/multigrid": BELOW_PRECONDITIONERS | {"operators/block_jacobi"},
    "operators": BELOW_STRATEGIES | STRATEGIES,
    "postprocess": ALL_OPERATORS,
    "cases": ALL_OPERATORS,
    "src": ALL_OPERATORS | {"cases", "postprocess"},
}


def folder_of(path):
    parts = pathlib.PurePath(path).parts
    if parts[0] == "operators" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    includes = 0
    wrong = []
    for top in ("mesh", "solvers", "operators", "postprocess", "cases", "src"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".hpp", ".cpp", ".cuh", ".cu", ".in"):
                continue
            name = file.relative_to(root)
            for included in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M):
                if "/" not in included:  # made by CMake
                    continue
                includes += 1
                source, target = folder_of(name), folder_of(included)
                if source != target and target not in ALLOWED[source]:
                    wrong.append(f"{name}: {source} must not include {target}: {included}")
    print("\n".join(wrong))
    print(f"{includes} includes, {len(wrong)} against the rule")
    return 1 if wrong or includes < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
