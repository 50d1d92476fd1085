# SPDX-License-Identifier: Apache-2.0
"""A kernel's optional tensor: the run has it where a file is named for it, and else the kernel works without."""
import json
import os
import sys
import unittest

import cli_support
import numpy as np

LINEAR = ("run", "--topology", "small.yaml", "--kernel", "tp_linear", "--param", "m=24", "--param", "n=17", "--param", "k=9")


class OptionalTensors(cli_support.FolderCli):
    def file(self, name, value):
        path = os.path.join(self.folder, name)
        np.save(path, value)
        return path

    def output(self, *more):
        path = os.path.join(self.folder, "y.npy")
        self.succeeds(*LINEAR, *more, "--verify", "--dump", "y=" + path)
        return np.load(path)

    def test_a_bias_is_added_where_there_is_one(self):
        bias = np.arange(17, dtype=np.float32) * 100 - 700
        without = self.output()
        self.assertTrue(np.allclose(self.output("--tensor", "bias=" + self.file("b.npy", bias)), without + bias, atol=1e-3))
        with_relu = self.output("--tensor", "bias=" + self.file("b.npy", bias), "--param", "activation=relu")
        self.assertTrue(np.allclose(with_relu, np.maximum(without + bias, 0), atol=1e-3))

    def test_it_takes_time_and_stands_in_the_document(self):
        bias = self.file("b.npy", np.zeros(17, np.float32))
        without = json.loads(self.succeeds(*LINEAR, "--format", "json"))
        biased = json.loads(self.succeeds(*LINEAR, "--tensor", "bias=" + bias, "--format", "json"))
        self.assertGreater(biased["sim_ns"], without["sim_ns"])
        self.assertEqual(biased["run"]["options"]["tensors"]["bias"]["file"], bias)

    def test_dumping_it_brings_it_too(self):
        path = os.path.join(self.folder, "bias.npy")
        self.succeeds(*LINEAR, "--verify", "--oplog", os.path.join(self.folder, "l.jsonl"))
        self.refuses(*LINEAR, "--dump", "bias=" + path, saying=["bias"], lines=1)  # an input is not an output

    def test_wrong_ones(self):
        self.refuses(*LINEAR, "--tensor", "bais=x.npy", saying=["bais", "bias"], lines=1)
        wrong = self.file("w.npy", np.zeros(16, np.float32))
        self.refuses(*LINEAR, "--tensor", "bias=" + wrong, saying=["bias", "17"], lines=1)
        self.refuses("run", "--topology", "small.yaml", "--kernel", "gemm", "--tensor", "bias=" + wrong, saying=["bias"],
                     lines=1)

    def test_list_names_it(self):
        self.assertRegex(self.succeeds("list", "kernels"), r"bias  \[n\] dtype  \(placed: replicate; optional\)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
