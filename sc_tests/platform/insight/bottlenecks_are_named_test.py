"""Six of the seeded bottlenecks: the first remedy of `run --explain=verify` is as good as the best of all single changes,
and costs nothing where one of these does. `bottlenecks.py first second` does all sixty."""
import sys
import unittest

import bottlenecks
import cli_support


class Bottlenecks(unittest.TestCase):
    def judged(self, name):
        words = dict(bottlenecks.cases(name.split("/")[0]))[name]
        found = bottlenecks.Judged(words, bottlenecks.truth(words))
        self.assertGreater(found.best[0], 0.1, "nothing holds this run back")
        self.assertTrue(found.right, (found.best, found.first, found.saved))
        return found

    def test_a_window(self):
        self.judged("first/window-1")

    def test_channels(self):
        self.assertTrue(self.judged("first/channels-0").free)

    def test_idle_pes(self):
        self.assertEqual(self.judged("first/idle-0").first, "--kernel gemm_2d")

    def test_transactions_under_way(self):
        self.assertIn("outstanding", self.judged("first/outstanding-1").first)

    def test_look_ups(self):
        self.assertEqual(self.judged("first/mmu-1").first, "--address physical")

    def test_a_slow_tcm(self):
        self.assertIn("read_bw_gbs", self.judged("first/slow-1").first)


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("a thousand runs")
    cli_support.main()
