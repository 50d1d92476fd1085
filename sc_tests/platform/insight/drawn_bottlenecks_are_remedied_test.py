# SPDX-License-Identifier: Apache-2.0
"""Three bottlenecks drawn from declarations alone: the first remedy of `run --explain=verify` is within 5 points of the best
of all single changes and of each bad value undone. `drawn_bottlenecks.py` judges any number of others."""
import tempfile
import unittest

import bottlenecks
import cli_support
import drawn_bottlenecks


class DrawnBottlenecks(unittest.TestCase):
    def test_first_remedies_are_near_the_best(self):
        for name, words, sim_ns, undone in drawn_bottlenecks.cases("1", 3, self.enterContext(tempfile.TemporaryDirectory())):
            best = max([undone, *bottlenecks.truth(words)[1]])
            first = bottlenecks.First(words, sim_ns)
            self.assertGreaterEqual(first.saved, best[0] - bottlenecks.AS_GOOD, (name, words, best, first.first))


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("hundreds of runs")
    cli_support.main()
