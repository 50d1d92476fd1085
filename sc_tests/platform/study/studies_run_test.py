# SPDX-License-Identifier: Apache-2.0
"""Do the plans of examples/studies run as they stand, where the project lies? A few points of each."""
import csv
import io
import os
import pathlib

import cli_support

STUDIES = pathlib.Path(__file__).resolve().parents[3] / "examples" / "studies"


class Studies(cli_support.Cli):
    def test_a_shard_of_each_runs_through(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(STUDIES.parents[1])  # files that they name are relative to it
        plans = sorted(p.name for p in STUDIES.iterdir())
        self.assertIn("gemm_machine.yaml", plans)
        for plan in plans:
            with self.subTest(plan=plan):
                status, out, err = self.run_cli("sweep", "--plan", STUDIES / plan, "--shard", "1/100", "--metric",
                                                "sim_ns,cost,tflops_per_w", timeout=600)
                self.assertEqual(status, 0, err)
                rows = list(csv.DictReader(io.StringIO(out)))
                self.assertGreater(len(rows), 0)
                self.assertTrue(all(float(r["sim_ns"]) > 0 and float(r["cost"]) > 0 and float(r["tflops_per_w"]) > 0 for r in rows), rows)


if __name__ == "__main__":
    cli_support.main()
