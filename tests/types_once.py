#!/usr/bin/env python3
"""Each type and each inline function of a namespace is defined in one file: of two the linker may take one for both.

    tests/types_once.py      in the repository; exit code 1 and a line each for names that several files define
"""
import collections
import pathlib
import re
import sys

FOLDERS = ("mesh", "solvers", "operators", "postprocess", "cases", "src", "tests")
NAMESPACE = re.compile(r"^namespace (?P<name>[\w:]*) ?\{")
END = re.compile(r"^\}  // namespace")
# At the start of a line, so in no other type; neither declared only nor specialized.
TYPE = re.compile(r"^(?:template <.*> )?(?:class|struct|union|enum class)(?: alignas\(.*?\))? (?P<name>\w+)(?![\w<:])(?![^{]*;$)")
# From the start of a line up to the body, in one line; no templates and no operators.
FUNCTION = re.compile(r"^inline [^(){}=;]*?(?P<name>\w+)\((?P<parameters>[^;]*?)\)(?: const)?(?: noexcept)? \{")
DEFAULT = re.compile(r" = [^,]*")
PARAMETER = re.compile(r"(?<=[\w&*>]) \w+(?=,|$)")


def definitions_in(file):
    """The types and inline functions that other files see, with their namespaces."""
    within = []
    lines = file.read_text().splitlines()
    for number, line in enumerate(lines):
        if opened := NAMESPACE.match(line):
            within.append(opened["name"])
        elif END.match(line) and within:
            within.pop()
        elif "" in within:
            continue
        elif found := TYPE.match(line):
            yield "::".join(within + [found["name"]])
        elif found := FUNCTION.match(" ".join(lines[number:number + 8])):
            types = PARAMETER.sub("", DEFAULT.sub("", found["parameters"]))
            yield "::".join(within + [f"{found['name']}({types})"])


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    files_of = collections.defaultdict(set)
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".hpp", ".cpp", ".cuh", ".cu", ".in"):
                for name in definitions_in(file):
                    files_of[name].add(str(file.relative_to(root)))
    wrong = {name: files for name, files in files_of.items() if len(files) > 1}
    for name, files in sorted(wrong.items()):
        print(f"{name}: {', '.join(sorted(files))}")
    print(f"{len(files_of)} types and inline functions, {len(wrong)} of them in several files")
    return 1 if wrong or len(files_of) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
