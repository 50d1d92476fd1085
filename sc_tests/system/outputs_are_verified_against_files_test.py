# SPDX-License-Identifier: Apache-2.0
"""--expected in run and replay, --until in replay: do they say of an output what numpy says?"""
import json
import os
import tempfile

import numpy as np

import cli_support
from cli_support import topology

ADD = ("run", "--topology", topology("small.yaml"), "--kernel", "vector_add", "--param", "n=4096")


class Expected(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = cls.kept.name

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def file(self, name, values=None):
        path = os.path.join(self.folder, name)
        if values is not None:
            np.save(path, values)
        return path

    def test_run_and_replay_compare_with_a_file(self):
        log, dump = self.file("log.jsonl"), self.file("c.npy")
        self.succeeds(*ADD, "--oplog", log, "--dump", f"c={dump}")
        right = np.load(dump)
        wrong = right.copy()
        wrong[7] += 1
        for command in ((*ADD,), ("replay", "--oplog", log)):
            told = json.loads(self.succeeds(*command, "--expected", f"c={dump}", "--format", "json"))["verify"]
            self.assertEqual((told["passed"], [t["name"] for t in told["tensors"]]), (True, ["c"]))
            status, out, _ = self.run_cli(*command, "--expected", f"c={self.file('wrong.npy', wrong)}")
            self.assertEqual(status, 1)
            self.assertIn("FAIL  c", out)
            self.assertIn("first at [7]", out)
            self.refuses(*command, "--expected", f"c={self.file('short.npy', right[:9])}", lines=1,
                         saying=["short.npy: shape [9], but tensor c has [4096]"])
            self.refuses(*command, "--expected", f"a={dump}", lines=1, saying=["--expected: found 'a'"])
            self.refuses(*command, "--expected", "c", lines=1, saying=["--expected", "NAME=FILE.npy"])

    def test_replay_until_an_op(self):
        log, dump = self.file("until.jsonl"), self.file("until.npy")
        self.succeeds(*ADD, "--oplog", log, "--dump", f"c={dump}")
        whole = np.load(dump)
        with open(log) as f:
            stores = [r for r in map(json.loads, f) if r["op_name"] == "dma_write"]
        stores.sort(key=lambda r: (r["params"]["submit_ns"], r["op_id"]))
        half = self.file("half.npy")
        for n in (1, len(stores) // 2, len(stores)):
            out = self.succeeds("replay", "--oplog", log, "--until", stores[n - 1]["op_id"], "--dump", f"c={half}")
            found = np.load(half)
            written = sum(r["params"]["nbytes"] for r in stores[:n]) // 4
            self.assertEqual(int(np.count_nonzero(found)), written)
            self.assertTrue(np.array_equal(found[found != 0], whole[found != 0]))
            self.assertEqual("not written yet" in out, n < len(stores))
        self.refuses("replay", "--oplog", log, "--until", "999999", lines=1, saying=["no op 999999"])

    def test_a_kernel_without_a_reference(self):
        run = ("run", "--topology", topology("small.yaml"), "--plugin", self.plugin(), "--kernel", "bare")
        for option in ("--verify", "--debug-verify"):
            self.refuses(*run, option, lines=1, saying=[option, "kernel bare has no reference", "--expected NAME=FILE.npy"])
        y = self.file("y.npy")
        self.succeeds(*run, "--dump", f"y={y}")
        for option in ((), ("--verify",), ("--debug-verify",)):
            self.assertIn("pass  y", self.succeeds(*run, *option, "--expected", f"y={y}"))

    def plugin(self):
        source, library = self.file("bare.cpp"), self.file("bare.so")
        with open(source, "w") as f:
            f.write(r"""
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"
using namespace kernbench;
namespace {
KernelSpec spec() {
  KernelSpec k;
  k.name = "bare";
  const auto shape = [](const Params&) { return Dims{64}; };
  const auto f32 = [](const Params&) { return DType::f32; };
  k.tensors = {{"x", TensorSpec::Role::in, shape, f32, Placement::rows, Init::uniform()},
               {"y", TensorSpec::Role::out, shape, f32, Placement::rows, {}}};
  k.function = [](tl::Context& tl, const tl::Args& args) { tl.store(args["y"], tl.load(args["x"]) * 2); };
  return k;
}
const RegisterKernel registered{spec()};
}  // namespace
KERNBENCH_PLUGIN("bare")
""")
        cli_support.build_plugin(source, library)
        return library

    def attention(self, causal, dtype, **tensors):
        options = [word for name, values in tensors.items()
                   for word in ("--tensor", f"{name}={self.file(name + '.npy', values)}")]
        return self.run_cli("run", "--topology", topology("small.yaml"), "--kernel", "attention", "--verify", "--param",
                            "heads=2", "--param", "seq=96", "--param", "dim=64", "--param", f"causal={causal}", "--param",
                            f"dtype={dtype}", *options)

    def test_attentions_reference_says_what_rounding_may_do(self):
        rng = np.random.default_rng(5)
        for dtype, kind in (("f32", np.float32), ("f16", np.float16)):
            q, k, v = (rng.uniform(-1, 1, (2, 96, 64)).astype(kind) for _ in range(3))
            for scale in (1, 100, 1000):
                status, out, err = self.attention("false", dtype, q=(q * scale).astype(kind), k=k, v=v)
                self.assertEqual(status, 0, f"{dtype} {scale}: {out}{err}")
            # Values that a query does not see, or weights with a weight that rounds to 0.
            for odd in (np.inf, -np.inf, np.nan):
                strange = v.copy()
                strange[:, 90] = odd
                for causal in ("true", "false"):
                    status, out, err = self.attention(causal, dtype, q=(q * 20).astype(kind), k=k, v=strange)
                    self.assertEqual(status, 0, f"{dtype} {odd} causal={causal}: {out}{err}")


if __name__ == "__main__":
    cli_support.main()
