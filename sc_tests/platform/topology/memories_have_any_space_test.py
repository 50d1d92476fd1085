# SPDX-License-Identifier: Apache-2.0
"""May a memory's space have a name of its own: in topologies, kernels, logs, replays and work files, and is what is no
name refused?"""
import filecmp
import json
import os
import tempfile
import unittest

import cli_support

KERNEL = """
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"
using namespace kernbench;
namespace {
KernelSpec spec(const char* name, void (*function)(tl::Context&, const tl::Args&)) {
  KernelSpec k;
  k.name = name;
  const auto shape = [](const Params&) { return Dims{64}; };
  const auto f32 = [](const Params&) { return DType::f32; };
  k.tensors = {{"x", TensorSpec::Role::in, shape, f32, Placement::single, Init::uniform()},
               {"y", TensorSpec::Role::out, shape, f32, Placement::single, {}}};
  k.function = function;
  k.reference = [](const Params&, const TensorMap& in) {
    std::vector<float> y = in.at("x").floats();
    for (float& v : y) v = 2 * v + 1;
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::f32, {64}, y), {}}}};
  };
  return k;
}
/// By way of the register file: what is real, and what is pending.
const RegisterKernel good{spec("by_reg", [](tl::Context& tl, const tl::Args& args) {
  const tl::Ptr reg(parse_space("reg"), 1 << 30, DType::f32);
  tl.store(reg, tl.load(args["x"]));
  const auto x = tl.load(reg, {64});
  tl.store(reg + 64, x * 2.0);
  tl.store(args["y"], tl.load(reg + 64, {64}) + 1.0);
})};
const RegisterKernel outside{spec("past_reg", [](tl::Context& tl, const tl::Args&) {
  tl.load(tl::Ptr(parse_space("reg"), (1 << 30) + 65536, DType::f32), {64});
})};
const RegisterKernel other{spec("as_hbm", [](tl::Context& tl, const tl::Args&) {
  tl.load(tl::Ptr(Space::hbm, 1 << 30, DType::f32), {64});
})};
const RegisterKernel unknown{spec("no_space", [](tl::Context&, const tl::Args&) { parse_space("nvram"); })};
}  // namespace
KERNBENCH_PLUGIN("spaces")
"""


def system(space="reg", kind="sram"):
    pe = "pe0."
    blocks = {"pe_cpu": {}, "pe_scheduler": {}, "pe_dma": {}, "pe_fetch_store": {},
              "pe_gemm": {"macs_per_cycle": 64, "freq_ghz": 1.0}, "pe_math": {"lanes": 64, "freq_ghz": 1.0},
              "pe_tcm": {"size_mb": 2.0, "reserved_mb": 1.0, "read_bw_gbs": 64.0, "write_bw_gbs": 64.0}}
    return {"ns_per_mm": 0.1,
            "nodes": [{"id": pe + k, "kind": k, "attrs": a} for k, a in blocks.items()] + [
                {"id": "hbm", "kind": "hbm_ctrl"}, {"id": "file", "kind": kind}, {"id": "r", "kind": "router"}],
            "links": [{"from": a, "to": "r", "distance_mm": 1.0, "bw_gbs": 64.0} for a in (pe + "pe_dma", "hbm", "file")],
            "memories": [{"node": "hbm", "space": "hbm", "base": 0, "size": 1 << 20},
                         {"node": "file", "space": space, "base": 1 << 30, "size": 65536}]}


class Spaces(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        source, cls.plugin = os.path.join(folder.name, "k.cpp"), os.path.join(folder.name, "k.so")
        with open(source, "w", encoding="utf-8") as f:
            f.write(KERNEL)
        cli_support.build_plugin(source, cls.plugin)

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.command = ("run", "--plugin", self.plugin, "--topology", self.file("t.yaml", system()), "--kernel")

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(content, f)
        return path

    def test_a_kernel_goes_by_it_in_both_passes(self):
        for log in ("l.jsonl", "l.sqlite"):
            log = os.path.join(self.folder, log)
            dumps = [os.path.join(self.folder, name) for name in ("run.npy", "replay.npy")]
            self.assertIn("verified", self.succeeds(*self.command, "by_reg", "--verify", "--oplog", log, "--dump", "y=" + dumps[0]))
            self.succeeds("replay", "--oplog", log, "--dump", "y=" + dumps[1])
            self.assertTrue(filecmp.cmp(*dumps, shallow=False))
        with open(os.path.join(self.folder, "l.jsonl"), encoding="utf-8") as f:
            records = [json.loads(line) for line in f]
        written = [(r["params"]["dst_space"], r["params"]["dst_addr"]) for r in records if r["op_name"] == "dma_write"]
        self.assertEqual(written[:2], [("reg", 1 << 30), ("reg", (1 << 30) + 256)])

    def test_its_time_is_that_of_the_block(self):
        def times(space):
            machine = self.file("m.yaml", system(space))
            work = self.file("w.json", {"programs": [{"pe": "pe0", "start_ns": 0, "calls": [
                {"id": "a", "call": "store_async", "space": space, "addr": 1 << 30, "nbytes": 4096}]}]})
            return self.succeeds("pipeline", "--topology", machine, "--work", work, "--format", "json").split('"programs"')[1]
        self.assertEqual(times("reg"), times("sram"))

    def test_a_kernel_is_told_where_it_is_wrong(self):
        for kernel, words in (("past_reg", ["access to reg at 0x40010000", "no memory of the system is there"]),
                              ("as_hbm", ["access to hbm at 0x40000000"]),
                              ("no_space", ["unknown address space 'nvram' (hbm, sram, reg, tcm)"])):
            self.refuses(*self.command, kernel, status=1, saying=words)

    def test_what_a_graph_shows(self):
        machine = self.command[4]
        self.assertEqual(json.loads(self.succeeds("topology", machine, "--format", "json"))["memories"][1]["space"], "reg")
        self.assertIn("reg", self.succeeds("topology", machine))

    def test_what_is_no_name_is_refused(self):
        for space in ("tcm", "Reg", "", "9", "a b", "r" * 32, "réel", 'x"y'):
            self.refuses("topology", self.file("bad.yaml", system(space)), saying=["memories[1].space: found", "legal: "], lines=1)
        self.succeeds("topology", self.file("good.yaml", system("r" * 31)))
        self.refuses("topology", self.file("bad.yaml", system("hbm")), saying=["found 'hbm' on 'file' of kind sram; legal: sram, or"])

    def test_there_are_only_so_many(self):
        many = system()
        for i in range(61):
            many["memories"].append({"node": "file", "space": f"s{i}", "base": (2 + i) << 30, "size": 4096})
        self.refuses("topology", self.file("many.yaml", many), saying=["found 's60'", "at most 64 spaces"], lines=1)
        many["memories"].pop()
        self.succeeds("topology", self.file("many.yaml", many))

    def test_work_may_name_it_where_it_is(self):
        work = self.file("w.json", {"programs": [{"pe": "pe0", "start_ns": 0, "calls": [
            {"id": "a", "call": "store_async", "space": "reg", "addr": 1 << 30, "nbytes": 64}]}]})
        self.succeeds("pipeline", "--topology", self.command[4], "--work", work)
        self.refuses("pipeline", "--topology", self.file("s.yaml", system("sram")), "--work", work,
                     saying=["found 'reg', expected hbm or sram"], lines=1)


if __name__ == "__main__":
    unittest.main()
