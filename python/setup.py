"""The version, which CMakeLists.txt names; scripts/make-wheel leaves it in VERSION for packages without a source tree."""

import re
from pathlib import Path

from setuptools import setup

here = Path(__file__).resolve().parent
version = here / "VERSION"
if version.exists():
    setup(version=version.read_text().strip())
else:
    setup(version=re.search(r"^project\(invit VERSION ([\d.]+)", (here.parent / "CMakeLists.txt").read_text(), re.M)[1])
