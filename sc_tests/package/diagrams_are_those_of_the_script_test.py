# SPDX-License-Identifier: Apache-2.0
"""Are the diagrams of docs/diagrams those that scripts/make-diagrams draws from runs of this build, and is each shown?"""
import os
import pathlib
import subprocess
import tempfile
import xml.etree.ElementTree as xml

import cli_support
from cli_support import KERNBENCH

ROOT = pathlib.Path(os.environ.get("KERNBENCH_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
DIAGRAMS = ROOT / "docs" / "diagrams"


class Diagrams(cli_support.Cli):
    def test_each_is_as_the_script_draws_it(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([ROOT / "scripts" / "make-diagrams", "--kernbench", KERNBENCH, folder], check=True)
            drawn = {f.name: f.read_text(encoding="utf-8") for f in pathlib.Path(folder).iterdir()}
        kept = {f.name: f.read_text(encoding="utf-8") for f in DIAGRAMS.iterdir()}
        self.assertGreaterEqual(len(drawn), 4)
        self.assertEqual(sorted(drawn), sorted(kept))
        for name, text in drawn.items():
            self.assertEqual(text, kept[name], f"{name}: scripts/make-diagrams draws another one")
            picture = xml.fromstring(text)
            width, height = float(picture.get("width")), float(picture.get("height"))
            for bar in picture.iter("{http://www.w3.org/2000/svg}rect"):  # nothing is outside
                self.assertLessEqual(float(bar.get("x", 0)) + float(bar.get("width")), width)
                self.assertLessEqual(float(bar.get("y", 0)) + float(bar.get("height")), height)

    def test_each_is_in_a_page(self):
        pages = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs").glob("**/*.md"))
        for file in DIAGRAMS.iterdir():
            self.assertIn(f"diagrams/{file.name})", pages)


if __name__ == "__main__":
    cli_support.main()
