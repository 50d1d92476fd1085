# SPDX-License-Identifier: Apache-2.0
"""Are ops that a machine's `cycles` says nothing of told: by `topology` all of them, by a verbose run those that it did?"""
import cli_support
from cli_support import topology


class CyclesLeftOut(cli_support.Cli):
    def test_a_verbose_run_tells_the_ops_that_it_did(self):
        for verbose, told in ((["--verbose"], 1), ([], 0)):
            status, _, err = self.run_cli(*verbose, "run", "--kernel", "softmax", "--topology",
                                          topology("latency_model.yaml"))
            self.assertEqual(status, 0, err)
            self.assertEqual(err.count("pe_math.cycles lacks softmax: taken as 1"), told, err)
            self.assertEqual(err.count(" lacks "), told, err)

    def test_topology_lists_them(self):
        line = [s for s in self.succeeds("topology", topology("latency_model.yaml")).splitlines() if " lacks " in s]
        self.assertEqual(len(line), 1, line)
        self.assertRegex(line[0], r"^pe_math\.cycles lacks (.*, )?softmax, .*: each is 1$")
        self.assertNotIn("exp,", line[0])

    def test_the_other_shipped_machines_leave_out_none(self):
        for name in ("default.yaml", "small.yaml", "one_cube.yaml", "six_sip_torus.yaml", "big.yaml"):
            self.assertNotIn(" lacks ", self.succeeds("topology", topology(name)), name)
        status, _, err = self.run_cli("--verbose", "run", "--kernel", "softmax", "--topology", topology("small.yaml"))
        self.assertEqual(status, 0, err)
        self.assertNotIn(" lacks ", err)


if __name__ == "__main__":
    cli_support.main()
