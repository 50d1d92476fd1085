# SPDX-License-Identifier: Apache-2.0
"""Eight of the seeded bottlenecks. Of four the first remedy of `run --explain=verify` is as good as the best of all single
changes, each simulated, and costs least of those that are as good; of four it is the one that was seeded.
`bottlenecks.py fixed new` holds all sixty against all changes."""
import unittest

import bottlenecks
import cli_support
import seeded_runs


class Bottlenecks(unittest.TestCase):
    def judged(self, name, kind, which="fixed"):
        words, known = bottlenecks.Truths(None).case(which, name, kind)
        found = bottlenecks.Judged(words, known)
        self.assertTrue(found.right, (found.best, found.least, found.first, found.cost, found.saved))
        self.assertEqual(found.off(), [])
        return found

    def first(self, change, *words):
        """Without truth: what is tried first, and that it helps."""
        found = bottlenecks.First(list(words), bottlenecks.time_of(words))
        self.assertIn(change, found.first)
        self.assertGreater(found.saved, 0.1)

    def test_a_slow_slice(self):
        self.assertIn("hbm_ctrl", self.judged("slow", "small").first)

    def test_slots(self):
        found = self.judged("messages", "random")
        self.assertIn("slots", found.first)
        self.assertEqual(found.cost, bottlenecks.ROOM)

    def test_room_in_buffers(self):
        found = self.judged("buffers", "small", "finite")
        self.assertIn("buffer_flits", found.first)
        self.assertEqual(found.cost, bottlenecks.ROOM)

    def test_idle_pes(self):
        self.assertGreater(self.judged("idle", "small").best[0], bottlenecks.HELD_BACK)

    def test_a_window(self):
        self.first("--param tile_k", "--topology", "one_cube.yaml", "--set", "*.reserved_mb=0.1", "--kernel", "gemm_epilogue", "--param",
                   "m=512", "--param", "tile_m=64", "--param", "tile_n=64", "--param", "tile_k=64")

    def test_pes_that_the_run_leaves_idle(self):
        self.first("--pes all", "--topology", "one_cube.yaml", "--kernel", "vector_add", "--pes", "sip0.cube0.pe0,sip0.cube0.pe5")

    def test_look_ups(self):
        self.first("--address physical", "--topology", "one_cube.yaml", "--set", "*.page_bytes=4096", "--set", "*.tlb_entries=2",
                   "--set", "*.tlb_miss_ns=200", "--kernel", "vector_add", "--param", "n=16384", "--address", "virtual")

    def test_pieces_shorter_than_a_burst(self):
        self.first("--param tile_n=", "--topology", "small.yaml", "--links", "cut_through", "--set", "*.hash=none", "--set",
                   "*.interleave_bytes=1024", "--kernel", "gemm_epilogue", "--param", "dtype=bf16", "--param", "m=256", "--param",
                   "n=512", "--param", "tile_n=16")

    def test_both_sets_have_each_class_on_each_kind_of_machine_once(self):
        pairs = [case for which in seeded_runs.SETS for case in seeded_runs.names(which)]
        self.assertEqual(sorted(pairs), sorted((c, k) for c in seeded_runs.CLASSES for k in seeded_runs.KINDS))
        self.assertEqual([len(seeded_runs.names(w)) for w in seeded_runs.SETS], [30, 30])


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("hundreds of runs")
    cli_support.main()
