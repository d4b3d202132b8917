"""The structures of the package against those of the header, as a C compiler lays them out."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from invit import _library  # noqa: E402

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
COMPILER = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "cc", "gcc", "clang"))), None)


def layout(structure):
    """Lines "name size", then "name.field offset size"."""
    name = next(known for known, kind in _library.STRUCTURES.items() if kind is structure)
    yield f"{name} {ctypes.sizeof(structure)}"
    for field, *_ in structure._fields_:
        place = getattr(structure, field)
        yield f"{name}.{field} {place.offset} {place.size}"


@unittest.skipIf(COMPILER is None, "there is no C compiler")
class Layout(unittest.TestCase):
    def test_sizes_and_offsets(self):
        program = ["#include <invit.h>", "#include <stdio.h>", "int main(void) {"]
        for name, structure in _library.STRUCTURES.items():
            program.append(f'printf("{name} %zu\\n", sizeof({name}));')
            for field, *_ in structure._fields_:
                program.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                               f'sizeof((({name} *)0)->{field}));')
        with tempfile.TemporaryDirectory() as scratch:
            source, binary = pathlib.Path(scratch, "layout.c"), pathlib.Path(scratch, "layout")
            source.write_text("\n".join(program + ["}"]))
            subprocess.run([COMPILER, "-I", INCLUDE, source, "-o", binary], check=True)
            expected = subprocess.run([binary], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
        self.assertEqual([line for kind in _library.STRUCTURES.values() for line in layout(kind)], expected)


class Names(unittest.TestCase):
    def test_enumerations_are_in_the_header_s_order(self):
        header = (INCLUDE / "invit.h").read_text()

        def names(enum, prefix):
            body = re.sub(r"/\*.*?\*/", "", re.search(rf"typedef enum {enum} \{{(.*?)\}}", header, re.S)[1], flags=re.S)
            return tuple(name.lower().replace("_", "-") for name in re.findall(rf"\b{prefix}(\w+)", body))

        self.assertEqual(names("invit_metric", "INVIT_"), tuple(n.replace("_", "-") for n in _library.METRICS))
        self.assertEqual(names("invit_problem", "INVIT_"), _library.PROBLEMS)
        self.assertEqual(names("invit_distribution", "INVIT_"), _library.DISTRIBUTIONS)
        self.assertEqual(names("invit_construct", "INVIT_CONSTRUCT_"), _library.CONSTRUCTIONS)
        self.assertEqual(names("invit_solution_format", "INVIT_SOLUTION_"), tuple(_library.SOLUTION_FORMATS))
        self.assertEqual(names("invit_status", "INVIT_").index("err-io"), _library.STATUS_IO)


if __name__ == "__main__":
    unittest.main()
