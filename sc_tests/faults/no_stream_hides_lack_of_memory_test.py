# SPDX-License-Identifier: Apache-2.0
"""A standard stream of text in memory takes a lack of memory for the end of the text, and the result is a part of it. Does
the program use none but those of phase2/text/text_stream.h, which throw it?"""
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["KERNBENCH_SOURCE"])
THE_ONE_PLACE = SOURCE / "phase2/text/text_stream.h"
HIDES = re.compile(r"std::[io]?stringstream|std::quoted")  # the latter uses one internally


class Streams(unittest.TestCase):
    def test_none_is_standard(self):
        files = [f for folder in ("phase2", "kernel_api", "systemc_models", "platform")
                 for f in (SOURCE / folder).rglob("*") if f.suffix in (".cpp", ".h", ".inc")]
        self.assertIn(THE_ONE_PLACE, files)
        self.assertRegex(THE_ONE_PLACE.read_text(), HIDES)
        found = [str(f.relative_to(SOURCE)) for f in files if f != THE_ONE_PLACE and HIDES.search(f.read_text())]
        self.assertEqual(found, [], "TextOutput and TextInput throw")


if __name__ == "__main__":
    unittest.main()
