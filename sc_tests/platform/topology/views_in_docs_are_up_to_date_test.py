# SPDX-License-Identifier: Apache-2.0
"""Are the floorplans under docs/views and the wirings under docs/pictures those that are drawn now, and does the
documentation show them all?"""
import os
import re
import subprocess
import unittest

from cli_support import TOPOLOGIES, main

ROOT = os.path.dirname(TOPOLOGIES)


class Views(unittest.TestCase):
    def test_in_docs_are_what_the_topologies_give(self):
        done = subprocess.run([os.path.join(ROOT, "scripts", "render-views"), "--check"], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_are_all_shown(self):
        for folder, pages in (("views", ("README.md", "docs/topology.md")), ("pictures", ("docs/collectives.md", "docs/insight.md"))):
            shown = set()
            for page in pages:
                with open(os.path.join(ROOT, page)) as f:
                    shown |= set(re.findall(folder + r"/([\w-]+\.(?:svg|png))", f.read()))
            self.assertEqual(shown, set(os.listdir(os.path.join(ROOT, "docs", folder))))


if __name__ == "__main__":
    main()
