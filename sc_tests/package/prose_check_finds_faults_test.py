# SPDX-License-Identifier: Apache-2.0
"""Does scripts/check-prose find each kind of fault, let pass what is exempt, and accept the project?"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("KERNBENCH_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()


def sentence(words):
    return " ".join(["Word", *(WORDS * 3)[:words - 1]]) + "."


def wrapped(text):
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > 90:
            lines, line = [*lines, line], ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line]) + "\n"


class ProseCheck(unittest.TestCase):
    def check(self, text, name="page.md"):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / name
            file.write_text(text, encoding="utf-8")
            ran = subprocess.run([ROOT / "scripts" / "check-prose", file], capture_output=True, text=True, check=False)
            self.assertEqual(ran.stderr, "")
            self.assertEqual(ran.returncode, 1 if ran.stdout else 0)
            return ran.stdout

    def test_faults_are_found(self):
        short = " ".join([sentence(5)] * 70)
        for text, reason in ((wrapped(sentence(19)), "mean sentence has 19.0 words"),
                             (wrapped(" ".join([short, *[sentence(31)] * 2])), ""),
                             (wrapped(" ".join([short, *[sentence(31)] * 3])), "one of 3 above 30 among 73"),
                             ("word" + " word" * 19 + "s.\n", "101 columns, at most 100"),
                             ("Nobody waits.\n", "\"Nobody\""), ("The rows are dealt\nout.\n", "1: \"dealt out\""),
                             ("| cell |\n|---|\n| its lone time |\n", "\"lone time\"")):
            said = self.check(text)
            self.assertIn(reason, said, text)
            self.assertEqual(bool(reason), bool(said), said)

    def test_what_is_exempt_passes(self):
        long = "x" * 150 + " nobody"
        for text in (f"```\n{long}\n```\n", f"Text.\n\n    {long}\n", f"| {'x ' * 80} |\n",
                     f"See https://example.org/{'x' * 120}.\n", f"See [this]({'x' * 120}.md).\n",
                     f"- {sentence(10)[:-1]}\n- {sentence(10)[:-1]}\n"):
            self.assertEqual("", self.check(text), text)

    def test_strings_and_comments_for_users_are_read(self):
        for name, text, reason in (("a.cpp", 'f("rows that PEs "\n  "share out");\n', ':1: "share out"'),
                                   ("a.cpp", "int i;  // nobody reads this\n", ""),  # a comment for developers
                                   ("a.yaml", "# Units.\nlinks: x  # nobody\n# waits\n", ':2: "nobody"'),
                                   ("a.yaml", "nobody: 1\n", "")):
            said = self.check(text, name)
            self.assertIn(reason, said)
            self.assertEqual(bool(reason), bool(said), said)
        header = ROOT / "kernel_api" / "tl.h"  # a public header: its comments are checked
        check = {"__file__": str(ROOT / "scripts" / "check-prose"), "__name__": "check_prose"}
        exec((ROOT / "scripts" / "check-prose").read_text(encoding="utf-8"), check)
        self.assertIn(header, check["public_headers"]())
        self.assertEqual([(2, "It is read by nobody.")],
                         [(line, " ".join(text.split())) for line, text in check["texts_of_source"]("\n// It is\n/// read by nobody.\nint x;\n", True)])
        self.assertGreater(len(check["sources"]()), 500)

    def test_the_project_passes_within_its_limits_of_words(self):
        ran = subprocess.run([ROOT / "scripts" / "check-prose"], capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (0, ""))



if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
