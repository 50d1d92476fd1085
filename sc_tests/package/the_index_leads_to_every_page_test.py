# SPDX-License-Identifier: Apache-2.0
"""Does docs/index.md link every page of docs, with a row for each command, does README link the index, and is each link
and each test that pages name there?"""
import os
import pathlib
import re
import subprocess
import unittest

import cli_support

SOURCE = pathlib.Path(os.environ["KERNBENCH_SOURCE"])
DOCS = SOURCE / "docs"
# A link outside of code.
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def links(page):
    """The files that a page links, of this tree."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    return {(page.parent / link).resolve() for link in LINK.findall(text) if "://" not in link}


class Index(unittest.TestCase):
    def test_every_page_is_linked(self):
        self.assertEqual(set(DOCS.rglob("*.md")) - {DOCS / "index.md"} - links(DOCS / "index.md"), set())
        self.assertIn(DOCS / "index.md", links(SOURCE / "README.md"))

    def test_every_command_has_a_page(self):
        rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+): .* \| \[", (DOCS / "index.md").read_text(encoding="utf-8"), re.M)
        shown = subprocess.run([cli_support.KERNBENCH, "--help"], check=True, capture_output=True, text=True).stdout
        commands = re.findall(r"^  ([a-z]+)  ", shown, re.M)
        self.assertIn("run", commands)
        self.assertEqual(sorted(re.findall(r"\w+", " ".join(rows))), sorted(commands))

    def test_every_link_leads_somewhere(self):
        for page in [*DOCS.rglob("*.md"), SOURCE / "README.md", SOURCE / "CONTRIBUTING.md"]:
            self.assertEqual([str(link) for link in links(page) if not link.exists()], [], page)

    def test_each_law_names_a_test(self):
        rows = re.findall(r"^\| ([TDR]\d+) \|(.*)$", (DOCS / "laws.md").read_text(encoding="utf-8"), re.M)
        self.assertGreaterEqual(len(rows), 25)
        self.assertEqual(len({number for number, _ in rows}), len(rows))
        for number, row in rows:
            tests = re.findall(r"`([\w/]+_test\.(?:py|cpp))`", row)
            self.assertTrue(tests, number)
            for test in tests:
                self.assertTrue((SOURCE / "sc_tests" / test).is_file(), f"{number}: {test}")


if __name__ == "__main__":
    cli_support.main()
