#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reductions on the way in kernels: groups of sources give the sums of their reference in every link mode, in replay and
beside observers; algorithm=in_network gives the results of the other algorithms; what cannot be a group says why."""
import json
import re
import unittest

import numpy as np

import cli_support

WRONG = r"""
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"
using namespace kernbench;
namespace {
void wrong(tl::Context& tl, const tl::Args& args) {
  const std::string& how = args.choice("how");
  const int64_t me = tl.index();
  const tl::Block y = args.shard("y", 0).ptr.block({16}), other = args.shard("y", 1).ptr.block({16});
  const tl::Tensor x = tl.full({16}, 1, DType::f32);
  const tl::ReduceGroup a("a", 2, {0, 1}), b("b", 2, {1, 0});
  tl.store(args["y"].ptr.block({16}), x);
  if (me > 1) return;
  if (how == "crossed" || how == "async") {
    for (const bool first : {true, false}) {
      const bool is_a = first == (me == 0);
      if (how == "async") tl.async().red_add(is_a ? y : other, x, is_a ? a : b);
      if (how == "crossed") tl.red_add(is_a ? y : other, x, is_a ? a : b);
    }
  }
  if (how == "alone" && me == 0) tl.red_add(y, x, a);
  if (how == "number") tl.red_add(y, x, tl::ReduceGroup("a", 3, {0, 1}));
  if (how == "all") tl.red_add(y, x, tl::ReduceGroup("a", 3));
  if (how == "twice") tl.red_add(y, x, tl::ReduceGroup("a", 2, {0, 0}));
  if (how == "beyond") tl.red_add(y, x, tl::ReduceGroup("a", 2, {0, 99}));
  if (how == "absent") tl.red_add(y, x, tl::ReduceGroup("a", 2, {2, 3}));
  if (how == "place") tl.red_add(me == 0 ? y : other, x, a);
  if (how == "op") tl.red(me == 0 ? "add" : "min", y, x, a, tl::Sem::relaxed);
  if (how == "cas") tl.red("cas", y, x, a, tl::Sem::relaxed);
  if (how == "members" && me == 0) tl.red_add(y, x, tl::ReduceGroup("a", 3, {0, 1, 2}));
  if (how == "members") tl.red_add(y, x, a);
}
KernelSpec spec() {
  KernelSpec k;
  k.name = "wrong";
  k.params = {ParamSpec::choice("how", {"crossed", "async", "alone", "number", "all", "twice", "beyond", "absent", "place", "op",
                                        "members", "cas"}, "what it does")};
  k.tensors = {{"y", TensorSpec::Role::out, [](const Params&) { return Dims{8, 16}; }, [](const Params&) { return DType::f32; },
                Placement::rows, Init::uniform()}};
  k.function = wrong;
  return k;
}
const RegisterKernel registered{spec()};
}  // namespace
KERNBENCH_PLUGIN("wrong")
"""
THREE = ["--pes", "sip0.cube0.pe0,sip0.cube0.pe1,sip0.cube1.pe2"]
LINKS = ("ideal", "cut_through", "flit")
REDUCES = ("--set", "*.r*c*.reduces=true", "--set", "*.r*c*.reduce_bw_gbs=128", "--set", "*.r*c*.reduce_ns=2")


class Reductions(cli_support.FolderCli):
    def run_groups(self, *words):
        return self.succeeds("run", "--kernel", "sum_groups", "--topology", "small", "--verify", "--check-races", *words)

    def test_groups_of_sources_verify(self):
        for links in LINKS:
            for size in (0, 1, 2, 3):  # 3: groups of unequal sizes
                for more in (["op=max"], ["dtype=f16"], ["pending=true", "times=3"]):
                    words = [w for m in more for w in ("--param", m)]
                    out = self.run_groups("--links", links, "--param", f"group={size}", "--param", "n=37", *words, *REDUCES)
                    self.assertIn("verified", out, (links, size, more))

    def test_routers_that_add_shorten_it_and_others_do_not_matter(self):
        def ns(*words):
            return json.loads(self.run_groups("--links", "cut_through", "--format", "json", "--param", "n=16384", *words))["sim_ns"]
        self.assertLess(ns(*REDUCES), ns())
        self.assertEqual(ns(*REDUCES, "--set", "*.r*c*.reduce_dtypes=f16"), ns())

    def test_the_log_has_the_values_once_and_replays(self):
        log, here, there = (self.path(e) for e in ("l.jsonl", "a.npy", "b.npy"))
        self.run_groups("--links", "flit", "--param", "group=4", "--param", "pending=true", "--oplog", log, "--dump", f"y={here}",
                        *REDUCES)
        with open(log, encoding="utf-8") as f:
            reds = [r["params"] for r in map(json.loads, f) if r.get("op_name") == "red_add"]
        self.assertEqual(len(reds), 8)
        carriers = [p for p in reds if "values" in p]
        self.assertEqual(sorted((p["group"], len(p["values"])) for p in carriers), [("row 0", 4), ("row 1", 4)])
        self.assertEqual({p["order"].count(-1) for p in carriers} & {0}, set())
        self.succeeds("replay", "--oplog", log, "--dump", f"y={there}")
        with open(here, "rb") as a, open(there, "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_a_result_does_not_depend_on_time(self):
        def bytes_of(name, *words):
            self.run_groups("--dump", f"y={self.path(name)}", *REDUCES, *words)
            with open(self.path(name), "rb") as f:
                return f.read()
        one = bytes_of("1.npy", "--links", "ideal")
        for i, late in enumerate(("*.pe0.*.overhead_ns=900", "sip0.cube1.pe2.*.overhead_ns=900", "*.r0c0.overhead_ns=70")):
            self.assertEqual(one, bytes_of(f"{i + 2}.npy", "--links", "cut_through", "--set", late))

    def test_collectives_verify(self):
        for kernel in ("all_reduce", "reduce", "reduce_scatter"):
            for links in LINKS:
                for more in ([], ["--param", "redop=max"], ["--param", "dtype=i32", "--param", "part_bytes=4096"], THREE,
                             ["--pes", "sip0.cube0.pe0"]):
                    n = "4098" if more is THREE else "4096"
                    out = self.succeeds("run", "--kernel", kernel, "--param", "algorithm=in_network", "--topology", "small",
                                        "--links", links, "--param", f"n={n}", "--verify", "--check-races", *more, *REDUCES)
                    self.assertIn("verified", out, (kernel, links, more))

    def test_nan_and_infinities_pass_as_in_other_algorithms(self):
        x = np.zeros((8, 16), np.float32)
        x[2, 0] = x[:, 1] = np.nan
        x[3, 2], x[4, 3], x[5, 4], x[6, 4] = np.inf, -np.inf, np.inf, -np.inf
        np.save(self.path("x.npy"), x)
        for redop in ("sum", "max", "min"):
            out = self.succeeds("run", "--kernel", "all_reduce", "--topology", "small", "--param", "n=16", "--param",
                                f"redop={redop}", "--param", "algorithm=in_network", "--tensor", f"x={self.path('x.npy')}",
                                "--verify", *REDUCES)
            self.assertIn("verified", out, redop)

    def test_a_damaged_sum_in_a_log_is_refused(self):
        log = self.path("l.jsonl")
        self.run_groups("--param", "group=4", "--param", "n=4", "--param", "pending=true", "--oplog", log, *REDUCES)
        with open(log, encoding="utf-8") as f:
            text = f.read()
        for old, new, why in ((r'"order":\[\d', '"order":[9', "order: expected each value once"),
                              (r'"order":\[[^]]*\]', '"order":[-1]', "order: expected each value once"),
                              (r'"order":\[[^]]*\]', '"order":[0]', "order: a value is missing"),
                              (r'"values":\[.*?\],"order"', '"values":[],"order"', "values: found none"),
                              ('"op_name":"red_add"', '"op_name":"red_xor"', "found red_xor")):
            damaged, count = re.subn(old, new, text)
            self.assertGreater(count, 0, old)
            with open(log, "w", encoding="utf-8") as f:
                f.write(damaged)
            self.refuses("replay", "--oplog", log, lines=1, saying=(why,))

    def test_observers_change_nothing_and_the_path_sums_to_the_run(self):
        base = ["run", "--kernel", "all_reduce", "--param", "algorithm=in_network", "--topology", "small", *REDUCES]
        plain = json.loads(self.succeeds(*base, "--format", "json"))
        told = json.loads(self.succeeds(*base, "--format", "json", "--explain", "--energy", "n7.yaml", "--trace",
                                        self.path("t.json"), "--oplog", self.path("o.jsonl")))
        self.assertEqual(plain["sim_ns"], told["sim_ns"])

    def test_the_critical_path_passes_the_source_that_comes_last(self):
        late = ("--set", "sip0.cube1.pe2.pe_dma.overhead_ns=2000")
        for links in LINKS:
            out = self.run_groups("--links", links, "--explain", *REDUCES, *late)
            share = re.search(r"overheads of the PEs' engines +[\d.]+ +([\d.]+) .*sip0.cube1.pe2.pe_dma", out)
            self.assertTrue(share and float(share[1]) > 80, (links, out))

    def test_finite_buffers_beside_the_nodes_that_add(self):
        def ns(room, nodes, *words):
            buffers = [w for n in nodes for a in (f"buffer_flits={room}", "vcs=16") for w in ("--set", f"*.{n}*.{a}")]
            return json.loads(self.run_groups("--links", "flit", "--response", "routed", "--format", "json", *REDUCES, *buffers,
                                              *words))["sim_ns"]
        for words in (("--param", "n=4096"), ("--param", "group=3"), ("--set", "*.r*c*.store_and_forward=true")):
            self.assertAlmostEqual(ns(100000, ("ucie",), *words), ns(0, (), *words), delta=1e-6)
            self.assertGreaterEqual(ns(1, ("ucie", "hbm_ctrl"), *words), ns(0, (), *words) - 1e-6)

    def test_wrong_groups_are_told(self):
        with open(self.path("wrong.cpp"), "w", encoding="utf-8") as f:
            f.write(WRONG)
        cli_support.build_plugin(self.path("wrong.cpp"), self.path("wrong.so"))
        here = "sip0.cube0.pe"
        for how, status, why in (("crossed", 1, f"reduction a: operation 0 has not come from {here}1"),
                                 ("crossed", 1, f"reduction b: operation 0 has not come from {here}0"),
                                 ("async", 1, "has not come from"), ("alone", 1, f"has not come from {here}1"),
                                 ("number", 1, "found 3 sources, expected as many as its 2 members"),
                                 ("all", 1, "found 3 sources, expected all 8 PEs of the launch, or members"),
                                 ("twice", 1, "expected different PEs"), ("beyond", 1, "expected different PEs"),
                                 ("absent", 1, "without this PE"), ("place", 1, "expected the op, the type and the place"),
                                 ("op", 1, "expected the op, the type and the place"), ("members", 1, "names other sources"),
                                 ("cas", 1, "expected red_add, red_max or red_min")):
            found, _, err = self.run_cli("run", "--plugin", self.path("wrong.so"), "--kernel", "wrong", "--param", f"how={how}",
                                         "--topology", cli_support.topology("small.yaml"), *REDUCES)
            self.assertEqual(found, status, (how, err))
            self.assertIn(why, err, how)

    def test_what_cannot_be_says_why(self):
        for words, why in ((["--kernel", "all_reduce", "--param", "redop=prod"], "memories have no red_prod of f32"),
                           (["--kernel", "all_reduce", "--param", "redop=max", "--param", "dtype=f16"],
                            "memories have no red_max of f16"),
                           (["--kernel", "tp_gemm_all_reduce"], "in_network is not available")):
            self.refuses("run", *words, "--param", "algorithm=in_network", "--topology", "small", saying=(why,))


if __name__ == "__main__":
    unittest.main()
