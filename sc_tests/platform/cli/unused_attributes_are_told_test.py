# SPDX-License-Identifier: Apache-2.0
"""Attributes that do nothing in the link mode that runs: is each told once, whose it is, and not where it acts? Does
probe's bottleneck bound what it measures?"""
import json
import tempfile

import cli_support
from cli_support import Cli, main, topology

ROUTERS = """
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/router.h"
using namespace kernbench;
struct Last : Router {
  using Router::Router;
  static ImplSpec spec() { return spec_of<Parameters>("test.last", "router", "serves the last that came"); }
  size_t first(const FabricPort&, const std::vector<WaitingMessage>& waiting) override { return waiting.size() - 1; }
};
KERNBENCH_REGISTER_COMPONENT(Last)
struct Slow : Router {
  using Router::Router;
  static ImplSpec spec() { return spec_of<Parameters>("test.slow", "router", "slow"); }
  double delay_ns(const PassingMessage&) const override { return 9; }
};
KERNBENCH_REGISTER_COMPONENT(Slow)
KERNBENCH_PLUGIN("routers")
"""
NARROW = ["--set", "edge:memory.bw_gbs=16"]
INEFFICIENT = ["--set", "*.hbm_ctrl.*.efficiency=0.5"]


class UnusedAttributes(Cli):
    def warnings(self, *arguments, file="small.yaml"):
        status, out, err = self.run_cli(arguments[0], "--topology", topology(file), *arguments[1:])
        self.assertEqual(status, 0, err)
        self.assertEqual([line for line in err.splitlines() if "warning" not in line], [])
        return err.splitlines(), out

    def test_of_an_edge_that_bounds_nothing(self):
        for links in ("ideal", "cut_through"):
            for command in (["probe", "--case", "pe-local-hbm"], ["run", "--kernel", "vector_add"]):
                lines, _ = self.warnings(*command, "--links", links, *NARROW)
                self.assertEqual(len(lines), 1, lines)
                for words in ("kernbench: warning: sip0.cube0.hbm_ctrl.pe0 and 7 more: ", "edge of 16 GB/s",
                              "channels of 256 GB/s", "with links: " + links, "links: flit counts both"):
                    self.assertIn(words, lines[0])

    def test_of_efficiency(self):
        lines, _ = self.warnings("probe", *INEFFICIENT)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("sip0.cube0.hbm_ctrl.pe0 and 7 more: with links: ideal efficiency does nothing", lines[0])
        self.assertEqual(len(self.warnings("probe", *INEFFICIENT, *NARROW)[0]), 2)

    def test_of_a_routers_first(self):
        """Ideal links are no servers. A router that overrides something else is asked for it."""
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/routers.cpp", "w") as f:
                f.write(ROUTERS)
            cli_support.build_plugin(f"{folder}/routers.cpp", f"{folder}/routers.so")
            for impl, links, told in (("last", "ideal", 1), ("last", "cut_through", 0), ("last", "flit", 0), ("slow", "ideal", 0)):
                lines, _ = self.warnings("run", "--kernel", "vector_add", "--links", links, "--plugin", f"{folder}/routers.so",
                                         "--set", f"file:cube.noc.router.impl=test.{impl}")
                self.assertEqual(len(lines), told, lines)
                if told:
                    self.assertRegex(lines[0], "and \\d+ more: test.last: with links: ideal never asks first\\(\\)")

    def test_nothing_where_it_acts_or_is_not_given(self):
        for arguments in (["--links", "flit", *NARROW, *INEFFICIENT], ["--links", "cut_through", *INEFFICIENT], [],
                          ["--set", "edge:memory.bw_gbs=256"]):
            self.assertEqual(self.warnings("probe", *arguments)[0], [], arguments)
        self.assertEqual(self.warnings("probe", *INEFFICIENT, file="latency_model.yaml")[0], [])

    def test_the_bottleneck_bounds_what_is_measured(self):
        for links in ("ideal", "cut_through", "flit"):
            for settings in (NARROW, ["--set", "*.hbm_ctrl.*.pc_bw_gbs=2"], ["--set", "edge:mesh.bw_gbs=8"], []):
                _, out = self.warnings("probe", "--links", links, "--bytes", "1048576", "--format", "json", *settings)
                for row in json.loads(out)["cases"]:
                    self.assertLessEqual(row["util_pct"], 100.001, (links, settings, row["case"]))
                    self.assertGreater(row["util_pct"], 50, (links, settings, row["case"]))


if __name__ == "__main__":
    main()
