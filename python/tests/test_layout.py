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

try:
    from invit import _lab_library
except ImportError:
    _lab_library = None

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
COMPILER = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "cc", "gcc", "clang"))), None)


def layout(name, structure):
    """Lines "name size", then "name.field offset size"."""
    yield f"{name} {ctypes.sizeof(structure)}"
    for field, *_ in structure._fields_:
        place = getattr(structure, field)
        yield f"{name}.{field} {place.offset} {place.size}"


@unittest.skipIf(COMPILER is None, "there is no C compiler")
class Layout(unittest.TestCase):
    def compare(self, header, structures):
        program = [f"#include <{header}>", "#include <stdio.h>", "int main(void) {"]
        for name, structure in structures.items():
            program.append(f'printf("{name} %zu\\n", sizeof({name}));')
            for field, *_ in structure._fields_:
                program.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                               f'sizeof((({name} *)0)->{field}));')
        with tempfile.TemporaryDirectory() as scratch:
            source, binary = pathlib.Path(scratch, "layout.c"), pathlib.Path(scratch, "layout")
            source.write_text("\n".join(program + ["}"]))
            subprocess.run([COMPILER, "-I", INCLUDE, source, "-o", binary], check=True)
            expected = subprocess.run([binary], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
        self.assertEqual([line for name, kind in structures.items() for line in layout(name, kind)], expected)

    def test_sizes_and_offsets(self):
        self.compare("invit.h", _library.STRUCTURES)

    @unittest.skipIf(_lab_library is None, "there is no libinvit-lab")
    def test_sizes_and_offsets_of_the_lab(self):
        self.compare("invit_lab.h", _lab_library.STRUCTURES)


class Names(unittest.TestCase):
    def test_enumerations_are_in_the_header_s_order(self):
        header = (INCLUDE / "invit.h").read_text() + (INCLUDE / "invit_lab.h").read_text()

        def names(enum, prefix):
            body = re.sub(r"/\*.*?\*/", "", re.search(rf"typedef enum {enum} \{{(.*?)\}}", header, re.S)[1], flags=re.S)
            return tuple(name.lower().replace("_", "-") for name in re.findall(rf"\b{prefix}(\w+)", body))

        self.assertEqual(names("invit_metric", "INVIT_"), tuple(n.replace("_", "-") for n in _library.METRICS))
        self.assertEqual(names("invit_problem", "INVIT_"), _library.PROBLEMS)
        self.assertEqual(names("invit_distribution", "INVIT_"), _library.DISTRIBUTIONS)
        self.assertEqual(names("invit_construct", "INVIT_CONSTRUCT_"), _library.CONSTRUCTIONS)
        self.assertEqual(names("invit_solution_format", "INVIT_SOLUTION_"), tuple(_library.SOLUTION_FORMATS))
        self.assertEqual(names("invit_status", "INVIT_").index("err-io"), _library.STATUS_IO)
        self.assertEqual(names("invit_status", "INVIT_").index("err-cancelled"), _library.STATUS_CANCELLED)
        if _lab_library is not None:
            self.assertEqual(names("invit_train_method", "INVIT_"), _lab_library.METHODS)
            self.assertEqual(names("invit_storage", "INVIT_STORE_"), _lab_library.STORAGE)
            self.assertEqual(names("invit_table_format", "INVIT_TABLE_"), tuple(_lab_library.TABLES))
            self.assertEqual(int(re.search(r"INVIT_EVAL_SETS = (\d+)", header)[1]), _lab_library.SETS)


if __name__ == "__main__":
    unittest.main()
