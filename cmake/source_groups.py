"""Which source files can be one text for the compiler, by which what they include is read once.

    source_groups.py SIZE <LINES      a line is a name, which files of one text share, and the path of a file

prints for each file that shares its text with others the name, the number of the text among those of the name, and the path,
in lines. A text has SIZE files at most, which define nothing of the same name. `.ci/tidy` makes its texts by the functions.
"""
import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r"\s*#\s*include\s+(\S+)")
# What a line without indentation may define: a name before its parameters, value, extents or body.
DEFINED = re.compile(r"(?:[a-zA-Z_].*?\b|#\s*define\s+)(\w+)(?:<[^<>]*>)?(?:\(| = |\{|\[| \{| : )")
# What the name of something in an unnamed namespace of another file would hide, or be hidden by: a type that is only
# declared, a type within another or within a function, and a constant of a function.
BESIDE = re.compile(r"(?:class|struct) (\w+);|\s+(?:class|struct) (\w+) \{|\s+(?:static )?const(?:expr)? [^=({]*?\b(\w+)(?: = |\{|\[)")

# What may stand in several files of one text: an alias of a namespace, and instances of tests, which define no name of ours.
SAME_EVERYWHERE = re.compile(r"namespace \w+ = |INSTANTIATE_|TYPED_TEST_SUITE")


@functools.cache
def names_of(path):
    """The names of a file and the headers below it: defined in unnamed namespaces, of types by header, and all others."""
    unnamed, types, others = set(), {}, set()
    is_unnamed = False
    for line in path.read_text().splitlines():
        if re.match(r"namespace [\w:]* *{|}  // namespace", line):
            is_unnamed = line.startswith("namespace {")
            continue
        if (match := INCLUDE.match(line)) and (header := ROOT / match[1].strip('"')).is_file():
            _, more_types, more_others = names_of(header)
            types |= more_types
            others |= more_others
        elif match := re.match(r"(?:enum class|enum|class|struct) (\w+)(?: final)?(?: :| {|$)", line):
            types[match[1]] = path
        elif SAME_EVERYWHERE.match(line):
            continue
        elif beside := BESIDE.match(line):
            others.add(beside[1] or beside[2] or beside[3])
        elif match := DEFINED.match(line):
            others.add(match[1])
        if is_unnamed and match and path.suffix == ".cpp" and not INCLUDE.match(line):
            unnamed.add(match[1])
            others.discard(match[1])
            types.pop(match[1], None)
    return unnamed, types, others


def clash(a, b):
    """Whether files with these names cannot be one text."""
    return bool(a[0] & b[0] or a[0] & b[1].keys() or a[0] & b[2] or b[0] & a[1].keys() or b[0] & a[2] or
                any(a[1][name] != b[1][name] for name in a[1].keys() & b[1].keys()))


def groups_of(keys, size):
    """Lists of at most `size` files with the same key, neighbors if possible, that define nothing of the same name."""
    groups = []
    open_groups = {}
    for path, key in keys.items():
        names = names_of(path)
        candidates = open_groups.setdefault(key, [])
        for files in candidates:
            if not any(clash(names, names_of(other)) for other in files):
                files.append(path)
                break
        else:
            files = [path]
            groups.append(files)
            candidates.append(files)
        open_groups[key] = [files for files in candidates if len(files) < size]
    return groups


def main():
    lines = [line.split(maxsplit=1) for line in sys.stdin.read().splitlines()]
    times = collections.Counter(path for _, path in lines)
    keys = {pathlib.Path(path): name for name, path in lines if times[path] == 1}
    numbers = collections.Counter()
    for files in groups_of(keys, int(sys.argv[1])):
        name = keys[files[0]]
        if len(files) > 1:
            for path in files:
                print(name, numbers[name], path)
            numbers[name] += 1


if __name__ == "__main__":
    main()
