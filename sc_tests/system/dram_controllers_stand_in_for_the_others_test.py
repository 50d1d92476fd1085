# SPDX-License-Identifier: Apache-2.0
"""builtin.hbm_dram in the shipped topologies: kernels verify, traffic and probes run, in every link mode; counters and
commands come out; what is wrong with its attributes is told in a line."""
import csv
import io
import json
import os
import re
import unittest

from cli_support import FolderCli, build_plugin, topology

TIMINGS = ("tRCDRD", "tRP", "tRAS", "tRC", "tCCDS", "tCCDL", "tRRDS", "tRRDL", "tFAW", "tWR", "tWTRS", "tWTRL", "tRTP",
           "tRTW", "tCL", "tCWL", "tRFC", "tREFI", "tRFCSB")


ONE_CHANNEL = """
timing: {links: ideal, response: ideal}
nodes:
- {id: pe0.pe_dma, kind: pe_dma, attrs: {rd_engines: 8}}
- {id: h, kind: hbm_ctrl, impl: builtin.hbm_dram, attrs: {channels: 1, pseudo_channels: 1OTHERS}}
links: [{from: pe0.pe_dma, to: h, distance_mm: 1, bw_gbs: 64}]
memories: [{node: h, space: hbm, base: 0, size: 1048576}]
"""
FIELDS = "row bank group column byte"
POLICIES = """
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/memory/dram_policies.h"
using namespace kernbench;
KERNBENCH_PLUGIN("policies")

struct Youngest : DramScheduler {
  DramRequest* next_of_bank(DramRequest* oldest, int64_t) const override {
    while (oldest->next) oldest = oldest->next;
    return oldest;
  }
};
KERNBENCH_REGISTER_NAMED(DramScheduler, Youngest, "youngest", "the last one that came")

struct NoneAtAll : DramScheduler {
  DramRequest* next_of_bank(DramRequest*, int64_t) const override { return nullptr; }
};
KERNBENCH_REGISTER_NAMED(DramScheduler, NoneAtAll, "none_at_all", "none")

struct Always : DramRefreshPolicy {
  Cycle interval(const DramTiming&, uint32_t) const override { return 0; }
  bool all_banks() const override { return true; }
};
KERNBENCH_REGISTER_NAMED(DramRefreshPolicy, Always, "always", "nothing but refreshes")

struct Backwards : DramMapping {
  DramBitFields fields;
  uint32_t banks;
  explicit Backwards(const DramGeometry& g) : fields("row bank group column byte", g), banks(g.banks) {}
  DramPlace place_of(uint64_t offset) const override {
    DramPlace p = fields.place_of(offset);
    p.bank = static_cast<uint16_t>(banks - 1 - p.bank);
    return p;
  }
};
KERNBENCH_REGISTER_NAMED(DramMapping, Backwards, "backwards", "banks from the last one")

struct Beyond : DramMapping {
  explicit Beyond(const DramGeometry&) {}
  DramPlace place_of(uint64_t) const override {
    DramPlace p;
    p.channel = 1;
    return p;
  }
};
KERNBENCH_REGISTER_NAMED(DramMapping, Beyond, "beyond", "another memory")
"""


def with_dram(name, folder, attributes="preset: hbm2e, channels: 8"):
    """The shipped topology with that controller in the place of its own, as a file."""
    with open(topology(name), encoding="utf-8") as file:
        text = file.read()
    text, changed = re.subn(r"impl: builtin\.hbm_\w+[^\n]*\n    attrs:[^\n]*\n(      [^\n]*\n)*",
                            "impl: builtin.hbm_dram\n    attrs: {" + attributes + "}\n", text)
    assert changed == 1, name
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class DramControllers(FolderCli):
    def report(self, *arguments):
        return json.loads(self.succeeds("run", "--format", "json", *arguments))

    def test_kernels_verify_in_every_link_mode(self):
        file = with_dram("small.yaml", self.folder)
        times = {}
        for links in ("ideal", "cut_through", "flit"):
            response = [] if links == "flit" else ["--response", "routed"]
            arguments = ["--topology", file, "--links", links, *response, "--kernel", "gemm", "--param", "m=128",
                         "--verify"]
            first = self.report(*arguments)
            self.assertTrue(first["verify"]["passed"], links)
            again = self.report(*arguments)
            for report in (first, again):
                del report["wall_s"]
            self.assertEqual(first, again, "a run is the same again")
            times[links] = first["sim_ns"]
        self.assertLess(max(times.values()), 1.5 * min(times.values()), times)

    def test_policies_of_a_plug_in_are_used_and_held_to_the_memory(self):
        source, library = self.path("policies.cpp"), self.path("policies.so")
        with open(source, "w", encoding="utf-8") as f:
            f.write(POLICIES)
        build_plugin(source, library)
        trace = self.path("reads.csv")
        with open(trace, "w", encoding="utf-8") as f:  # row 0 of a bank, another row of it, row 0 again, repeatedly
            f.write("id,issue_ns,initiator,op,address,bytes\n")
            f.writelines(f"{i},{i},pe0.pe_dma,read,{at},32\n" for i, at in enumerate((0, 16384, 64, 128)))

        def with_policies(**attributes):
            system = self.path("system.yaml")
            given = "".join(f", {key}: {value}" for key, value in {"mapping": FIELDS, **attributes}.items())
            with open(system, "w", encoding="utf-8") as f:
                f.write(ONE_CHANNEL.replace("OTHERS", given))
            return ["traffic", "--plugin", library, "--topology", system, "--trace", trace]

        def done(**attributes):
            rows = csv.DictReader(io.StringIO(self.succeeds(*with_policies(**attributes))))
            return [row["id"] for row in sorted(rows, key=lambda row: float(row["done_ns"]))]

        def banks(**attributes):
            commands = self.path("commands.csv")
            self.succeeds(*with_policies(**attributes), "--dram-commands", commands)
            with open(commands, encoding="utf-8") as f:
                return {row["bank"] for row in csv.DictReader(f) if row["command"] == "ACT"}

        self.assertEqual(done(), ["0", "2", "3", "1"], "fr_fcfs: those of the open row first")
        self.assertEqual(done(scheduler="fcfs"), ["0", "1", "2", "3"])
        self.assertEqual(done(scheduler="youngest"), ["3", "2", "1", "0"], "all come before the first ACT is over")
        self.assertEqual(banks(), {"0"})
        self.assertEqual(banks(mapping="backwards"), {"3"})
        for attributes, saying in (({"scheduler": "none_at_all"}, "the DRAM scheduler chose none of the bank's requests"),
                                   ({"mapping": "beyond"}, "the DRAM mapping's place of offset 0 is outside the memory")):
            self.refuses(*with_policies(**attributes), status=1, saying=[saying])
        for attributes, saying in (
                ({"scheduler": "fifo"}, "scheduler: found 'fifo', did you mean 'fcfs'? legal: fr_fcfs, fcfs, youngest, none_at_all"),
                ({"refresh": "always"}, "refresh: found 'always', every 0 cycles; legal: an interval of at least"),
                ({"mapping": "sideways"}, "mapping: found 'sideways'; legal: fields row, ")):
            self.refuses(*with_policies(**attributes), saying=["system.yaml:", saying], lines=1)

    def test_data_leave_for_finite_buffers_as_for_others(self):
        """Where there is room their times are the same; where there is little they are later."""
        arguments = ["--topology", with_dram("small.yaml", self.folder), "--links", "flit", "--kernel", "gemm", "--param",
                     "m=128", "--verify"]
        free = self.report(*arguments)["sim_ns"]
        times = {}
        for flits in (1, 64):
            report = self.report(*arguments, "--set", f"*.r*c*.buffer_flits={flits}")
            self.assertTrue(report["verify"]["passed"])
            times[flits] = report["sim_ns"]
        self.assertEqual(times[64], free)
        self.assertGreaterEqual(times[1], free)

    def test_the_other_topologies_run_and_are_probed(self):
        for name in ("default.yaml", "latency_model.yaml", "six_sip_torus.yaml", "one_cube.yaml"):
            file = with_dram(name, self.folder)
            report = self.report("--topology", file, "--kernel", "vector_add", "--verify", "--device", "sip:0")
            self.assertTrue(report["verify"]["passed"], name)
        self.assertIn("own-slices", self.succeeds("probe", "--topology", self.path("one_cube.yaml"), "--saturate"))
        self.succeeds("probe", "--topology", with_dram("small.yaml", self.folder), "--links", "cut_through",
                      "--response", "routed")

    def test_memories_count_what_they_do(self):
        file = with_dram("small.yaml", self.folder)
        report = self.report("--topology", file, "--kernel", "vector_add", "--param", "n=65536")
        self.assertEqual(len(report["memories"]), 8)
        moved = sum(m["read_bursts"] + m["write_bursts"] for m in report["memories"]) * 32
        self.assertGreaterEqual(moved, 2 * 65536 * 4, "both operands at least; results may still wait to be written")
        for m in report["memories"]:
            self.assertEqual(m["row_hits"] + m["row_misses"] + m["row_conflicts"], m["read_bursts"] + m["write_bursts"])
            self.assertGreater(m["activates"], 0)
        self.assertNotIn("memories", self.report("--topology", topology("small.yaml"), "--kernel", "vector_add"))

    def traffic(self, file, *arguments):
        trace = self.path("requests.csv")
        with open(trace, "w", encoding="utf-8") as out:
            out.write("id,issue_ns,initiator,op,address,bytes\n")
            for i in range(64):
                out.write(f"{i},{40 * i},sip0.cube0.pe0.pe_dma,{'write' if i % 4 == 3 else 'read'},{i * 4096},64\n")
        return self.succeeds("traffic", "--topology", file, "--trace", trace, *arguments)

    def test_commands_and_statistics_of_traffic_are_written(self):
        file = with_dram("small.yaml", self.folder)
        commands, statistics = self.path("commands.csv"), self.path("statistics.csv")
        self.traffic(file, "--dram-commands", commands, "--statistics", statistics)
        with open(commands, encoding="utf-8") as lines:
            seen = list(csv.DictReader(lines))
        counted = {}
        with open(statistics, encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                if row["object"] == "sip0.cube0.hbm_ctrl.pe0":
                    counted[row["counter"]] = float(row["value"])
        of = lambda *ops: sum(c["command"] in ops for c in seen)
        self.assertEqual(of("RD", "RDA"), 48 * 2, "bursts of 32 bytes")
        self.assertEqual(of("RD", "RDA"), counted["read_bursts"])
        self.assertEqual(of("WR", "WRA"), counted["write_bursts"])
        self.assertEqual(of("ACT"), counted["activates"])
        self.assertEqual(counted["reads"], 48)

    def test_wrong_attributes_are_told(self):
        for attributes, *saying in (
                ("preset: hbm9", "preset", "hbm9", "hbm2e"),
                ("channels: 3", "channels", "3", "power of two"),
                ("mapping: row rank byte", "mapping", "'rank'", "stack_id"),
                ("mapping: row bank column byte", "mapping", "more bits of"),
                ("scheduler: best", "scheduler", "fr_fcfs"),
                ("page_policy: ajar", "page_policy", "closed"),
                ("refresh: never", "refresh", "per_bank"),
                ("write_high: 65", "write_high", "write_queue 64"),
                ("write_low: 48", "write_low", "write_high 48"),
                ("tRC: 3", "tRC", "tRAS"),
                ("tFAW: 0", "tFAW", "0"),
                ("tRCD: 14", "tRCD"),
                ("pc_bw_gbs: 32.0", "pc_bw_gbs")):
            file = with_dram("small.yaml", self.folder, attributes)
            self.refuses("topology", file, lines=1, saying=("small.yaml:", *saying))

    def test_commands_of_no_dram_are_told(self):
        trace = self.path("none.csv")
        with open(trace, "w", encoding="utf-8") as out:
            out.write("id,issue_ns,initiator,op,address,bytes\n")
        self.refuses("traffic", "--topology", topology("small.yaml"), "--trace", trace, "--dram-commands",
                     self.path("c.csv"), lines=1, saying=("--dram-commands", "builtin.hbm_dram"))

    def test_every_timing_has_its_jedec_name(self):
        listed = self.succeeds("list", "components")
        block = listed.split("builtin.hbm_dram", 1)[1].split("\nbuiltin.", 1)[0]
        for name in TIMINGS:
            self.assertRegex(block, rf"\n\s+{name}\s")


if __name__ == "__main__":
    unittest.main()
