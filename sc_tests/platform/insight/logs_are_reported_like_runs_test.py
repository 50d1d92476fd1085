# SPDX-License-Identifier: Apache-2.0
"""Does `kernbench report LOG` tell of the run that wrote the log, and say so where it is not that run any more?"""
import json
import os
import re
import shutil

import cli_support
import numpy
from cli_support import topology


def forget_words(run):
    """What was typed: a log knows the system by its text, and its report names links and launch as they were."""
    run.pop("command")
    run["options"].pop("topology")


def data_of(page):
    """A page's own data, without the command that made it and what that took."""
    data = json.loads(re.search(r'<script [^>]*id="data"[^>]*>(.*?)</script>', page, re.S).group(1))
    forget_words(data["run"])
    data.pop("wall_s")
    return data


class Reports(cli_support.FolderCli):
    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def log(self, name, *arguments, command="run"):
        return self.succeeds(command, *arguments, "--oplog", self.path(name), "--memory", "none", "--explain", "--format",
                             "json", "--report", self.path("run.html"))

    def test_is_the_runs_own(self):
        system = self.path("mine.yaml")
        for name, arguments in (
                ("a.jsonl", ("--kernel", "gemm", "--topology", system, "--param", "m=256", "--links", "flit")),
                ("b.sqlite", ("--kernel", "attention", "--topology", "small", "--set", "edge:mesh.bw_gbs=64",
                              "--transfer", "timed", "--response", "routed")),
                ("c.jsonl", ("--program", "tp_mlp", "--topology", topology("six_sip_torus.yaml"), "--ranks", "0,2",
                             "--address", "virtual")),
                ("d.jsonl", ("--kernel", "softmax", "--topology", topology("small.yaml"), "--scale", "hbm=2", "--links",
                             "cut_through", "--pes", "leaders", "--launch", "direct", "--seed", "3"))):
            with self.subTest(arguments=arguments):
                shutil.copy(topology("one_cube.yaml"), system)
                of_run = json.loads(self.log(name, *arguments))
                os.remove(system)  # the log contains all required data
                of_log = json.loads(self.succeeds("report", self.path(name), "--format", "json"))
                for report in (of_run, of_log):
                    report.pop("wall_s")
                    forget_words(report["run"])
                self.assertEqual(of_run, of_log)
                page = os.path.splitext(name)[0] + ".html"
                self.assertEqual(data_of(self.read("run.html")), data_of(self.read(page)))
                os.remove(self.path(page))

    def test_of_a_model_too(self):
        model = os.path.join(os.environ["KERNBENCH_SOURCE"], "examples", "data", "decoder.yaml")
        of_model = json.loads(self.log("m.jsonl", model, "--topology", topology("small.yaml"), "--phase", "prefill:16", "--phase",
                                       "decode:batch=2,context=8", "--repeat", command="model"))
        of_log = json.loads(self.succeeds("report", self.path("m.jsonl"), "--format", "json"))
        for report in (of_model, of_log):
            report.pop("wall_s")
            forget_words(report["run"])
        self.assertEqual(of_model, of_log)
        self.assertEqual(data_of(self.read("run.html")), data_of(self.read("m.html")))

    def test_another_run_is_told(self):
        """An input file that has changed: rows of the table that lie elsewhere take another time."""
        index = self.path("idx.npy")
        numpy.save(index, numpy.zeros(64, numpy.int32))
        arguments = ("--kernel", "embedding", "--topology", topology("small.yaml"), "--param", "tokens=64", "--tensor",
                     "idx=" + index)
        self.log("a.jsonl", *arguments)
        self.succeeds("report", self.path("a.jsonl"))
        numpy.save(index, numpy.arange(64, dtype=numpy.int32))
        status, out, err = self.run_cli("report", self.path("a.jsonl"))
        self.assertEqual(status, 1)
        self.assertIn("Bound by", out)
        self.assertRegex(err, r"a\.jsonl: \d+ of its \d+ ops have other times now, \w+")
        self.assertEqual(len(err.splitlines()), 1)
        os.remove(index)
        self.refuses("report", self.path("a.jsonl"), saying=["idx.npy"], lines=1)

    def test_a_log_that_was_cut_off(self):
        self.log("a.jsonl", "--kernel", "gemm", "--topology", topology("one_cube.yaml"))
        lines = self.read("a.jsonl").splitlines(keepends=True)
        with open(self.path("a.jsonl"), "w", encoding="utf-8") as f:
            f.writelines(lines[:len(lines) // 2])
        status, out, err = self.run_cli("report", self.path("a.jsonl"))
        self.assertEqual((status, len(err.splitlines())), (0, 1), err)
        self.assertIn("cut off", err)
        self.assertIn("Bound by", out)

    def test_what_cannot_be_reported(self):
        self.refuses("report", self.path("none.jsonl"), saying=["none.jsonl"], lines=1)
        with open(self.path("x.jsonl"), "w", encoding="utf-8") as f:
            f.write("{}\n")
        self.refuses("report", self.path("x.jsonl"), saying=["x.jsonl"], lines=1)
        self.log("a.jsonl", "--kernel", "gemm", "--topology", topology("one_cube.yaml"))
        self.refuses("report", self.path("a.jsonl"), "-o", self.path("none/a.html"), saying=["none/a.html"], lines=1)
        self.refuses("report", self.path("a.jsonl"), "--plugin", self.path("none.so"), saying=["none.so"], lines=1)


if __name__ == "__main__":
    cli_support.main()
