# SPDX-License-Identifier: Apache-2.0
"""Does kernbench give the answers that are kept of the cases of recorded_cases.py (answers.json)? Of every tenth case; all
of them: scripts/compare --answers. And is a changed time, order or byte found?"""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import answers  # noqa: E402
import cli_support  # noqa: E402
import compare  # noqa: E402
import recorded_cases  # noqa: E402
import selftest  # noqa: E402

EVERY = 100 if os.environ.get("KERNBENCH_SANITIZED") else 10


class RecordedAnswers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.cases = list(recorded_cases.recorded_cases())

    def test_every_case_has_an_answer_and_no_answer_is_left_over(self):
        self.assertEqual(sorted(case.name for case in self.cases), sorted(answers.load()[0]))

    def test_answers_hold(self):
        held = answers.Answers(cli_support.KERNBENCH, compare.Runs(self.folder))
        chosen = [case for case in self.cases if not case.plugin][::EVERY]  # plug-ins would have to be compiled
        self.assertEqual(compare.compare_all(held, chosen, jobs=2), [], "see scripts/compare --help")

    def test_a_change_is_found(self):
        self.assertEqual(selftest.run(cli_support.KERNBENCH, self.folder, self.cases, only_kept=True), 0)


if __name__ == "__main__":
    cli_support.main()
