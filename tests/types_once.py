#!/usr/bin/env python3
"""Each type of a namespace is defined in one file: two of one name may share member functions at link time.

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


def types_of(file):
    """The types that other files see, with their namespaces."""
    within = []
    for line in file.read_text().splitlines():
        if opened := NAMESPACE.match(line):
            within.append(opened["name"])
        elif END.match(line) and within:
            within.pop()
        elif (found := TYPE.match(line)) and "" not in within:
            yield "::".join(within + [found["name"]])


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    files_of = collections.defaultdict(set)
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".hpp", ".cpp", ".cuh", ".cu", ".in"):
                for name in types_of(file):
                    files_of[name].add(str(file.relative_to(root)))
    wrong = {name: files for name, files in files_of.items() if len(files) > 1}
    for name, files in sorted(wrong.items()):
        print(f"{name}: {', '.join(sorted(files))}")
    print(f"{len(files_of)} types, {len(wrong)} of them in several files")
    return 1 if wrong or len(files_of) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
