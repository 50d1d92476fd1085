"""Six of the seeded bottlenecks. Of two the first remedy of `run --explain=verify` is as good as the best of all single
changes, each simulated, and costs nothing where one of these does; of four it is the one that was seeded.
`bottlenecks.py first second` holds all sixty against all changes."""
import unittest

import bottlenecks
import cli_support


class Bottlenecks(unittest.TestCase):
    def words(self, name):
        return dict(bottlenecks.cases(name.split("/")[0]))[name]

    def judged(self, name):
        words = self.words(name)
        found = bottlenecks.Judged(words, bottlenecks.truth(words))
        self.assertTrue(found.right, (found.best, found.first, found.saved))
        return found

    def first(self, name, change):
        """Without truth: what is tried first, and that it helps."""
        words = self.words(name)
        found = bottlenecks.First(words, bottlenecks.time_of(words))
        self.assertIn(change, found.first)
        self.assertGreater(found.saved, 0.1)

    def test_channels(self):
        found = self.judged("first/channels-0")
        self.assertGreater(found.best[0], 0.1, "nothing holds this run back")
        self.assertTrue(found.free)

    def test_a_slow_tcm(self):
        self.assertIn("read_bw_gbs", self.judged("first/slow-1").first)

    def test_a_window(self):
        self.first("first/window-1", "tile_k")

    def test_idle_pes(self):
        self.first("first/idle-0", "--kernel gemm_2d")

    def test_transactions_under_way(self):
        self.first("first/outstanding-1", "outstanding")

    def test_look_ups(self):
        self.first("first/mmu-1", "--address physical")


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("hundreds of runs")
    cli_support.main()
