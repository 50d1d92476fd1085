# SPDX-License-Identifier: Apache-2.0
"""Does a sweep print the row that each run alone would give, in order, for any number of processes?"""
import csv
import io
import json

import cli_support
from cli_support import topology

GEMM = ("run", "--topology", topology("small.yaml"), "--kernel", "gemm", "--verify")


class Sweep(cli_support.Cli):
    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.succeeds("sweep", *arguments))))

    def test_rows_are_what_each_run_alone_says(self):
        rows = self.rows("--over", "links=ideal,flit", "--over", "param.n=32,64", "--", *GEMM)
        self.assertEqual([(r["links"], r["param.n"]) for r in rows],
                         [("ideal", "32"), ("ideal", "64"), ("flit", "32"), ("flit", "64")])
        for r in rows:
            alone = json.loads(self.succeeds(*GEMM, "--links", r["links"], "--param", "n=" + r["param.n"],
                                             "--format", "json"))
            self.assertEqual((float(r["sim_ns"]), r["verified"], r["exit"]), (alone["sim_ns"], "true", "0"))

    def test_output_does_not_depend_on_the_number_of_processes(self):
        outputs = {self.succeeds("sweep", "--jobs", jobs, "--over", "param.n=32,64,96", "--over", "param.k=64,128",
                                 "--format", "json", "--", *GEMM) for jobs in (1, 2, 7)}
        self.assertEqual(len(outputs), 1)
        self.assertEqual(len(json.loads(outputs.pop())), 6)

    def test_a_probe_gives_a_row_for_each_case(self):
        rows = self.rows("--over", "bytes=64,4096", "--", "probe", "--topology", topology("small.yaml"), "--case",
                         "pe-local-hbm", "--case", "h2d-write")
        self.assertEqual([(r["bytes"], r["case"]) for r in rows],
                         [(b, c) for b in ("64", "4096") for c in ("pe-local-hbm", "h2d-write")])

    def test_values_of_the_topology_are_options_too(self):
        rows = self.rows("--over", "set.edge:mesh.bw_gbs=16,256", "--", "probe", "--topology", topology("small.yaml"),
                         "--links", "cut_through", "--case", "pe-same-half-hbm")
        self.assertEqual([r["set.edge:mesh.bw_gbs"] for r in rows], ["16", "256"])
        slow, fast = (float(r["actual_ns"]) for r in rows)
        self.assertGreater(slow, 4 * fast)

    def test_a_point_that_fails_is_told_and_the_others_run(self):
        status, out, err = self.run_cli("sweep", "--over", "param.n=32,-1", "--", *GEMM)
        self.assertEqual(status, 2)
        self.assertEqual([r["exit"] for r in csv.DictReader(io.StringIO(out))], ["0", "2"])
        self.assertIn("param.n=-1", err)

    def test_wrong_sweeps_are_refused_in_one_line(self):
        for over, command, word in ((["links"], GEMM, "OPTION=VALUE"), (["=a"], GEMM, "OPTION=VALUE"),
                                    (["links=ideal,"], GEMM, "OPTION=VALUE"),
                                    (["links=ideal", "links=flit"], GEMM, "twice"),
                                    (["format=csv"], GEMM, "format"), (["links=ideal"], ("traffic",), "run, model or probe"),
                                    (["links=ideal"], (*GEMM, "--format", "text"), "--format")):
            options = [word for o in over for word in ("--over", o)]
            self.refuses("sweep", *options, "--", *command, saying=[word], lines=1)


if __name__ == "__main__":
    cli_support.main()
