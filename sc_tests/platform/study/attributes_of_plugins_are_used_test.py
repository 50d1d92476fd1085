# SPDX-License-Identifier: Apache-2.0
"""A plug-in's kind and its attributes are used by what they declare, with no edit elsewhere: energy, area, `list`,
`--scale`, remedies and sweeps."""
import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile

import cli_support

COMPILER = os.environ["KERNBENCH_CXX"]
INCLUDE = os.environ["KERNBENCH_INCLUDE"]
# Two routers of kinds that are new to kernbench. A ring stop adds turn_ns to each message, and has a table of entries.
BLOCKS = """
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/router.h"
using namespace kernbench;
KERNBENCH_PLUGIN("rings")

struct RingParameters : RouterParameters {
  double turn_ns = 40;
  uint32_t entries = 8;
  bool checks = true;
  template <class List>
  static void describe(List& list) {
    RouterParameters::describe(list);
    list.add(&RingParameters::turn_ns, "turn_ns", "ns", "to turn a message").latency(Resource::routers);
    list.add(&RingParameters::entries, "entries", "", "of its table").depth().area("ring_entry", "entries", 2);
    list.add(&RingParameters::checks, "checks", "", "looks at each message").faster_if(false);
  }
};
struct RingStop : Router {
  using Parameters = RingParameters;
  RingStop(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : Router(name, config, p), extra_ns(p.turn_ns + (p.checks ? 60 : 0)) {}
  static ImplSpec spec() { return spec_of<Parameters>("custom.ring_stop", "ring_stop", "a stop of a ring").transit(); }
  double delay_ns(const PassingMessage& m) const override { return Router::delay_ns(m) + extra_ns; }
  double extra_ns;
};
KERNBENCH_REGISTER_COMPONENT(RingStop)

struct Optical : Router {
  using Router::Router;
  static ImplSpec spec() {
    return spec_of<Parameters>("custom.optical", "optical", "a router of light").transit().passing("optical");
  }
};
KERNBENCH_REGISTER_COMPONENT(Optical)
"""
MACHINE = """timing: {links: cut_through, response: routed, header_bytes: 16}
nodes:
- {id: pe.pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}
- {id: pe.pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1}}
- {id: pe.pe_dma, kind: pe_dma, attrs: {rd_engines: 1, wr_engines: 1, queue_depth: 2}}
- {id: pe.pe_fetch_store, kind: pe_fetch_store}
- {id: pe.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 4096, freq_ghz: 1, rates: {f32: 0.5}}}
- {id: pe.pe_math, kind: pe_math, attrs: {lanes: 128, freq_ghz: 1}}
- {id: pe.pe_tcm, kind: pe_tcm, attrs: {size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512}}
- {id: r0, kind: %(router)s}
- {id: r1, kind: %(router)s}
- {id: hbm, kind: hbm_ctrl}
links:
- {from: pe.pe_dma, to: r0, distance_mm: 0.5, bw_gbs: 256}
- {from: r0, to: r1, distance_mm: 0.5, bw_gbs: 256}
- {from: r1, to: hbm, distance_mm: 0.5, bw_gbs: 256}
memories:
- {node: hbm, space: hbm, base: 0, size: 1073741824}
energy:
  router: {value: 0.5, %(rest)s, unit: pJ/bit, range: [0.5, 0.5]}
%(more)s"""
REST = "source: a test, quality: assumed"
AREA = f"  area: {{ring_entry: {{value: 3, {REST}, unit: um2, range: [3, 3]}}}}\n"
RUN = ("run", "--kernel", "vector_add", "--param", "n=4096")
RING = "ring_stop, impl: custom.ring_stop"


class OfPlugins(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        source, cls.plugin = cls.folder / "rings.cpp", cls.folder / "rings.so"
        source.write_text(BLOCKS)
        subprocess.run([COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I", INCLUDE, source, "-o",
                        cls.plugin], check=True)

    def machine(self, router, more=""):
        path = self.folder / f"{router.split(',')[0]}{len(more)}.yaml"
        path.write_text(MACHINE % {"router": router, "rest": REST, "more": more})
        return ("--topology", str(path), "--plugin", str(self.plugin))

    def report(self, machine, *words):
        return json.loads(self.succeeds(*RUN, *machine, *words, "--format", "json"))

    def test_a_router_of_an_own_kind_spends_what_ours_spends(self):
        ours = self.report(self.machine("router"))["energy"]
        self.assertGreater(ours["joules"]["value"], 0)
        self.assertEqual(self.report(self.machine(RING))["energy"]["joules"], ours["joules"])

    def test_it_may_spend_by_a_constant_of_its_own(self):
        light = f"  optical: {{value: 0.25, {REST}, unit: pJ/bit, range: [0.25, 0.25]}}\n"
        ours = self.report(self.machine("router"))["energy"]
        theirs = self.report(self.machine("optical, impl: custom.optical", light))["energy"]
        self.assertAlmostEqual(theirs["joules"]["value"] / ours["joules"]["value"], 0.5, 12)
        self.assertEqual([r["name"] for r in theirs["by_constant"]], ["optical"])

    def test_list_shows_what_an_attribute_declares(self):
        out = self.succeeds("list", "components", "--plugin", str(self.plugin))
        ring = out[out.index("custom.ring_stop"):]
        self.assertRegex(ring, r"turn_ns +number +40 ns +>= 0 +latency +hardware +to turn a message")
        self.assertRegex(ring, r"entries +integer +8 +>= 1, <= 1048576 +depth +room +of its table; area.ring_entry x value x 2")
        self.assertRegex(ring, r"checks +boolean +true +flag +free +looks")

    def test_an_area_term(self):
        areas = {e: self.report(self.machine(RING, AREA), "--set", f"*.entries={e}")["energy"]["area"] for e in (8, 32)}
        counts = {e: sum(b["count"] for b in a["blocks"] if b["constant"]["name"] == "area.ring_entry") for e, a in areas.items()}
        self.assertEqual(counts, {8: 2 * 8 * 2, 32: 2 * 32 * 2})  # two stops

    def test_a_part_of_scale(self):
        ring = self.machine(RING)
        halved = self.report(ring, "--set", "*.turn_ns=20")["sim_ns"]
        self.assertLess(halved, self.report(ring)["sim_ns"])
        self.assertEqual(self.report(ring, "--scale", "routers=2")["sim_ns"], halved)

    def test_remedies(self):
        ring = self.machine(RING)
        report = self.report(ring, "--explain=verify")
        changes = {r["change"]: r for r in report["insight"]["remedies"]}
        self.assertLessEqual(len(changes), 12)
        for change, words in (("--set '*.turn_ns=20'", "*.turn_ns=20"), ("--set '*.checks=false'", "*.checks=false")):
            self.assertEqual(changes[change]["ns"], self.report(ring, "--set", words)["sim_ns"])
            self.assertLess(changes[change]["ns"], report["sim_ns"])
        self.assertEqual(report["insight"]["remedies"][0]["change"], "--set '*.checks=false'")  # free, saves most
        self.assertNotIn("--set '*.turn_ns=80'", changes)  # the wrong direction
        faster = self.report(ring, "--set", "*.checks=false", "--explain=verify")
        self.assertFalse([r for r in faster["insight"]["remedies"] if "checks" in r["change"]])

    def test_a_sweep_axis(self):
        table = self.succeeds("sweep", "--over", "set.*.turn_ns=10,40", "--", *RUN, *self.machine(RING))
        times = [float(row["sim_ns"]) for row in csv.DictReader(io.StringIO(table))]
        self.assertEqual(times, [self.report(self.machine(RING), "--set", f"*.turn_ns={t}")["sim_ns"] for t in (10, 40)])
        self.assertLess(times[0], times[1])


if __name__ == "__main__":
    cli_support.main()
