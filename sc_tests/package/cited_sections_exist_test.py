# SPDX-License-Identifier: Apache-2.0
"""Each section that sources, tests and docs cite as §n is a section of docs/rules, and no number is given twice there."""
import collections
import os
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(os.environ.get("KERNBENCH_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
FOLDERS = ("docs", "examples", "kernel_api", "phase2", "platform", "sc_tests", "scripts", "systemc_models", "topologies")
SUFFIXES = {".h", ".cpp", ".inc", ".c", ".py", ".md", ".yaml", ".txt", ".cmake", ""}
NUMBERED = ("timing", "collectives", "access", "multicast")  # one sequence of numbers; data.md has its own
SECTION = re.compile(r"^## (\d+)\. |^\*\*(\d+\.\d+)[ *]", re.MULTILINE)
# A comment or paragraph that continues on the next line.
BREAK = re.compile(r"\s*\n[ \t]*(?:///?<?|#+|>|\*)?[ \t]*")
CITED = re.compile(r"§ ?(\d+(?:\.\d+)?)")
OF_DATA = re.compile(r"\bdata(?:\.md|'s)?(?: contract| rules?)?(?:'s)? ?\(?(?:§ ?\d+(?:\.\d+)?(?:, | and | to ))*$",
                     re.IGNORECASE)
ELSEWHERE = re.compile(r"IEEE [^§]{0,30}$")


def sections(*names):
    text = [(ROOT / "docs" / "rules" / f"{name}.md").read_text(encoding="utf-8") for name in names]
    return [a or b for t in text for a, b in SECTION.findall(t)]


def faults_of(text, numbered, data):
    joined = BREAK.sub(" ", text)
    for match in CITED.finditer(joined):
        before = joined[max(0, match.start() - 80):match.start()]
        if ELSEWHERE.search(before):
            continue
        if match.group(1) not in (data if OF_DATA.search(before) else numbered):
            yield f"{joined[max(0, match.start() - 40):match.end()]!r}"


class CitedSections(unittest.TestCase):
    def setUp(self):
        self.numbered, self.data = sections(*NUMBERED), sections("data")

    def test_numbers_are_given_once_and_without_gaps(self):
        for found in (self.numbered, self.data):
            self.assertEqual([], [n for n, times in collections.Counter(found).items() if times > 1])
        self.assertEqual([str(n) for n in range(1, 22)], [n for n in self.numbered if "." not in n])
        self.assertEqual(["1", "2", "3", "4"], self.data)

    def test_cited_sections_exist(self):
        faults, cited = [], 0
        files = [f for folder in FOLDERS for f in (ROOT / folder).rglob("*") if f.is_file() and f.suffix in SUFFIXES]
        for file in sorted(files) + [ROOT / "README.md"]:
            if file.name == pathlib.Path(__file__).name:
                continue
            text = file.read_text(encoding="utf-8", errors="replace")
            cited += len(CITED.findall(text))
            faults += [f"{file.relative_to(ROOT)}: {fault}" for fault in faults_of(text, self.numbered, self.data)]
        self.assertEqual([], faults)
        self.assertGreater(cited, 200)

    def test_sections_that_are_missing_are_found(self):
        for text in ("§22", "§10.18", "data rules §5", "data contract (§1, §6)", "the data\n// contract §9",
                     "timing rules §2, §0"):
            self.assertEqual(1, len(list(faults_of(text, self.numbered, self.data))), text)
        for text in ("data §4", "§10.17", "§5, §6", "IEEE 1364-2001 §99", "§10.7\n/// to §10.11"):
            self.assertEqual([], list(faults_of(text, self.numbered, self.data)), text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
