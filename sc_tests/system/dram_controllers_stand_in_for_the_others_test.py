"""builtin.hbm_dram in the shipped topologies: kernels verify, traffic and probes run, in every link mode; counters and
commands come out; what is wrong with its attributes is told in a line."""
import csv
import json
import os
import re
import tempfile
import unittest

from cli_support import Cli, topology

TIMINGS = ("tRCDRD", "tRP", "tRAS", "tRC", "tCCDS", "tCCDL", "tRRDS", "tRRDL", "tFAW", "tWR", "tWTRS", "tWTRL", "tRTP",
           "tRTW", "tCL", "tCWL", "tRFC", "tREFI", "tRFCSB")


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


class DramControllers(Cli):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

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
