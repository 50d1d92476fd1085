# SPDX-License-Identifier: Apache-2.0
"""Does the command line answer wrong usage and wrong input with exit status 2 and one clear line per fault?"""
import os
import random
import tempfile

import cli_support
from cli_support import sample, topology

FLAT = """\
nodes:
- {id: pe0.pe_dma, kind: pe_dma}
- {id: r, kind: router}
- {id: mem, kind: hbm_ctrl}
- {id: mem2, kind: sram}
links:
- {from: pe0.pe_dma, to: r, distance_mm: 1, bw_gbs: 128}
- {from: r, to: mem, distance_mm: 1, bw_gbs: 128}
- {from: r, to: mem2, distance_mm: 1, bw_gbs: 128}
memories:
- {node: mem, space: hbm, base: 0, size: 4096}
- {node: mem2, space: sram, base: 4096, size: 4096}
"""
HEADER = "id,issue_ns,initiator,op,address,bytes\n"


class Faults(cli_support.Cli):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return path

    def wrong_topology(self, content, *saying, lines=1):
        return self.refuses("topology", self.file("t.yaml", content), saying=("t.yaml", *saying), lines=lines)

    # ---- Usage

    def test_help_is_there_for_every_command(self):
        for command in ("run", "probe", "traffic", "pipeline", "topology", "list"):
            self.assertIn("--help", self.succeeds(command, "--help"))

    def test_unknown_commands_options_and_formats(self):
        self.refuses()
        self.refuses("fly")
        self.refuses("run", "--kernel", "gemm")
        self.refuses("topology", topology("small.yaml"), "--colour", "blue")
        self.refuses("topology", topology("small.yaml"), "--format", "png", saying=("--format",))
        self.refuses("list", "planets")

    def test_flit_links_with_ideal_responses(self):
        self.refuses("probe", "--topology", topology("small.yaml"), "--links", "flit", "--response", "ideal",
                     saying=("--response",), lines=1)

    # ---- Topologies

    def test_the_topology_that_the_others_vary_is_good(self):
        self.succeeds("topology", self.file("t.yaml", FLAT), "--format", "json")

    def test_a_file_that_is_not_there(self):
        self.refuses("topology", os.path.join(self.folder.name, "none.yaml"), saying=("none.yaml",), lines=1)

    def test_a_misspelt_key(self):
        self.wrong_topology(FLAT.replace("distance_mm: 1, bw_gbs: 128}\n- {from: r, to: mem,",
                                         "distanse_mm: 1, bw_gbs: 128}\n- {from: r, to: mem,"),
                            "t.yaml:7", "distanse_mm", lines=None)

    def test_an_unknown_attribute_and_kind(self):
        self.wrong_topology(FLAT.replace("kind: router}", "kind: router, attrs: {overhed_ns: 1}}"), "t.yaml:3", "overhed_ns")
        self.wrong_topology(FLAT.replace("kind: router}", "kind: ruoter}"), "t.yaml:3", "ruoter", lines=None)

    def test_a_missing_rate(self):
        self.wrong_topology(FLAT.replace("kind: sram}", "kind: pe_tcm, attrs: {size_mb: 1, reserved_mb: 0.5, write_bw_gbs: 1}}"),
                            "read_bw_gbs", lines=None)

    def test_a_missing_bandwidth_in_a_hierarchy(self):
        with open(topology("small.yaml")) as f:
            text = f.read()
        at = text.index("pc_bw_gbs:")
        end = min(i for i in (text.find(",", at), text.find("}", at), text.find("\n", at)) if i >= 0)
        err = self.wrong_topology(text[:at] + text[end + (text[end] == ","):], "pc_bw_gbs", lines=None)
        self.assertRegex(err, r"t\.yaml:\d+: ")

    def test_whole_numbers_in_another_form(self):
        for option, words in (("--seed", ("-1", "010", "0x10", "1e3", "1.0", str(2**64), "")),
                              ("--threads", ("-1", "1025", "04"))):
            for word in words:
                self.refuses("run", "--topology", topology("small.yaml"), "--kernel", "vector_add", option, word,
                             saying=(option, f"found '{word}', expected a whole number from 0 to "), lines=1)
        for option, words in (("--slots", ("0", "4.0", " 4", "65537")), ("--slot-bytes", ("0x40", "63")),
                              ("--part-bytes", ("0", "1e6")), ("--chunk-bytes", ("-1",)), ("--jobs", ("0", "1.0"))):
            for word in words:
                self.refuses("collectives", "--topology", topology("small.yaml"), option, word,
                             saying=(option, f"found '{word}', expected a whole number from "), lines=1)
        self.refuses("probe", "--topology", topology("small.yaml"), "--bytes", "-1", saying=("--bytes",), lines=1)
        self.refuses("sweep", "--over", "seed=1", "--jobs", "-1", "--", "run", saying=("--jobs",), lines=1)
        self.refuses("replay", "--oplog", "none.jsonl", "--corrupt-op", "-1", saying=("--corrupt-op",), lines=1)

    def test_wirings_that_cannot_be_drawn(self):
        small = ("run", "--topology", topology("small.yaml"))
        self.refuses(*small, "--kernel", "gemm", "--wiring", "w.svg", saying=("--wiring", "gemm has no queues"), lines=1)
        self.refuses(*small, "--program", "tp_mlp", "--wiring", "w.svg", saying=("--wiring", "program"), lines=1)
        self.refuses(*small, "--kernel", "barrier", "--wiring", "/nowhere/w.svg", saying=("/nowhere/w.svg",), lines=1)

    def test_json_that_nests_too_deep_or_says_a_key_twice(self):
        deep = "[" * 60000 + "]" * 60000
        for work, fault in ((deep, "nests deeper than 64 at byte 64"),
                            ('{"pes": ' + deep + "}", "nests deeper than 64 at byte 71"),
                            ('{"pes": [], "pes": []}', 'key "pes" stands twice in an object')):
            self.refuses("pipeline", "--topology", topology("small.yaml"), "--work", self.file("w.json", work),
                         saying=("w.json: " + fault,), lines=1)
        self.refuses("replay", "--oplog", self.file("l.jsonl", deep + "\n"), "--memory", self.file("l.kbmem", ""),
                     saying=("l.jsonl",), lines=1)

    def test_an_id_beside_a_drawing_of_everything(self):
        for view in ([], ["--view", "tray"], ["--view", "flat"]):
            self.refuses("topology", topology("small.yaml"), "--id", "nosuch", "--format", "svg", *view,
                         saying=("--view", "'nosuch'"), lines=1)

    def test_channels_and_bursts_that_do_not_go_together(self):
        with open(topology("small.yaml")) as f:
            text = f.read()
        self.wrong_topology(text.replace("pseudo_channels: 8", "pseudo_channels: 6"),
                            "cube.hbm.attrs.hash: found xor with pseudo_channels 6; legal: none, or pseudo_channels a "
                            "power of two", lines=None)
        self.wrong_topology(text.replace("burst_bytes: 64", "burst_bytes: 48"),
                            "cube.hbm.attrs.burst_bytes: found 48; legal: a divisor of interleave_bytes 256", lines=None)

    def test_overlapping_memories(self):
        self.wrong_topology(FLAT.replace("base: 4096", "base: 4000"), "mem2", "t.yaml:12")

    def test_an_unreachable_memory(self):
        err = self.wrong_topology(FLAT.replace("- {from: r, to: mem2, distance_mm: 1, bw_gbs: 128}\n", ""), "mem2")
        self.assertIn("t.yaml:", err)

    def test_a_duplicate_id_and_a_link_to_nowhere(self):
        self.wrong_topology(FLAT.replace("{id: mem2, kind: sram}", "{id: mem, kind: sram}"), "t.yaml:5", "mem", lines=None)
        self.wrong_topology(FLAT.replace("to: mem2, distance", "to: mem3, distance"), "t.yaml:9", "mem3", lines=None)

    def test_absurd_numbers(self):
        for number in ("-1", "0", ".nan", ".inf", "1e400", "many"):
            self.wrong_topology(FLAT.replace("bw_gbs: 128}\n- {from: r, to: mem,", f"bw_gbs: {number}}}\n- {{from: r, to: mem,"),
                                "t.yaml:7", "bw_gbs")
        for size in ("0", "-4096", "1e30", "99999999999999999999"):
            self.wrong_topology(FLAT.replace("base: 0, size: 4096", f"base: 0, size: {size}"), "t.yaml:11", "size", lines=None)

    def test_all_faults_of_a_file_at_once(self):
        text = FLAT.replace("kind: router}", "kind: router, attrs: {overhead_ns: -1}}").replace("to: mem2, distance_mm: 1", "to: mem2, distance_mm: x")
        err = self.wrong_topology(text, "t.yaml:3", "t.yaml:9", lines=None)
        self.assertGreaterEqual(len(err.strip().splitlines()), 2)

    def test_empty_files_and_garbage(self):
        self.wrong_topology("")
        self.wrong_topology("# nothing but a comment\n")
        self.wrong_topology("42\n")
        self.wrong_topology("nodes: [\n")
        garbage = random.Random(1).randbytes(10 << 20)
        self.wrong_topology(garbage)
        self.wrong_topology(b"a: " * (10 << 20 >> 2), lines=None)

    # ---- Traffic

    def wrong_traffic(self, content, *saying, lines=1):
        self.refuses("traffic", "--topology", self.file("t.yaml", FLAT), "--trace", self.file("trace.csv", content),
                     saying=("trace.csv", *saying), lines=lines)

    def test_a_trace_that_is_good(self):
        self.succeeds("traffic", "--topology", self.file("t.yaml", FLAT), "--trace",
                      self.file("trace.csv", HEADER + "a,0,pe0.pe_dma,read,0,64\n"))

    def test_wrong_traces(self):
        self.wrong_traffic("")
        self.wrong_traffic("id,time\n")
        self.wrong_traffic(HEADER + "a,0,pe0.pe_dma,read,0\n", "trace.csv:2")
        self.wrong_traffic(HEADER + "a,0,pe9.pe_dma,read,0,64\n", "trace.csv:2", "pe9.pe_dma")
        self.wrong_traffic(HEADER + "a,0,r,read,0,64\n", "trace.csv:2", "initiator")
        self.wrong_traffic(HEADER + "a,0,pe0.pe_dma,raed,0,64\n", "trace.csv:2", "raed")
        self.wrong_traffic(HEADER + "a,-1,pe0.pe_dma,read,0,64\n", "trace.csv:2", "issue_ns")
        self.wrong_traffic(HEADER + "a,nan,pe0.pe_dma,read,0,64\n", "trace.csv:2", "issue_ns")
        self.wrong_traffic(HEADER + "a,0,pe0.pe_dma,read,0,0\n", "trace.csv:2", "bytes")
        self.wrong_traffic(HEADER + "a,0,pe0.pe_dma,read,8192,64\n", "trace.csv:2", "address")
        self.wrong_traffic(HEADER + "a,0,pe0.pe_dma,read,4090,64\n", "trace.csv:2", "address")
        self.wrong_traffic(HEADER + "a,0,x,read,0,64\nb,0,pe0.pe_dma,read,0,0\n", "trace.csv:2", "trace.csv:3", lines=2)

    def test_a_trace_that_is_not_there(self):
        self.refuses("traffic", "--topology", self.file("t.yaml", FLAT), "--trace", "none.csv", saying=("none.csv",), lines=1)

    # ---- Pipeline

    def wrong_work(self, content, *saying, status=2):
        self.refuses("pipeline", "--topology", sample("composite_ideal", "topology.yaml"), "--work",
                     self.file("work.json", content), saying=saying, status=status)

    def test_wrong_works(self):
        self.wrong_work("", "work.json")
        self.wrong_work("{", "work.json")
        self.wrong_work("[]", "work.json")
        self.wrong_work('{"pes": [{"pe": "sip9"}]}', "pes[0].pe", "sip9")
        command = '{"pes": [{"pe": "sip0.cube0.pe0", "commands": [%s]}]}'
        self.wrong_work(command % '{"id": "x", "submit_ns": 0, "stage": "GEMN"}', "commands[0].stage", "GEMN")
        self.wrong_work(command % '{"id": "x", "submit_ns": -1, "stage": "MATH", "op": "exp", "elements": 4}', "submit_ns")
        self.wrong_work(command % '{"id": "x", "submit_ns": 0, "stage": "MATH", "op": "exp", "elements": 0}', "elements")
        self.wrong_work(command % '{"id": "x", "submit_ns": 0, "stage": "MATH", "op": "exp", "elements": 4, "colour": 1}', "colour")
        for key, value in (("in_bytes", "-1"), ("out_bytes", '"many"'), ("in_bytes", "1.5")):
            self.wrong_work(command % ('{"id": "x", "submit_ns": 0, "stage": "GEMM", "m": 1, "n": 1, "k": 1, "%s": %s}' % (key, value)),
                            "work.json: pes[0].commands[0]." + key, value.strip('"'))

    # ---- Run

    def wrong_run(self, *arguments, saying=(), status=2):
        self.refuses("run", "--topology", topology("small.yaml"), *arguments, saying=saying, status=status)

    def test_unknown_kernels_parameters_tensors_and_pes(self):
        self.wrong_run("--kernel", "gemn", saying=("gemn", "gemm"))
        self.wrong_run("--kernel", "gemm", "--param", "q=1", saying=("q",))
        self.wrong_run("--kernel", "gemm", "--param", "m", saying=("--param",))
        self.wrong_run("--kernel", "gemm", "--param", "m=0", saying=("m",))
        self.wrong_run("--kernel", "gemm", "--param", "m=many", saying=("m", "many"))
        self.wrong_run("--kernel", "gemm", "--param", "dtype=f64", saying=("f64",))
        self.wrong_run("--kernel", "gemm", "--tensor", "z=a.npy", saying=("z",))
        self.wrong_run("--kernel", "gemm", "--tensor", "a=none.npy", saying=("none.npy",))
        self.wrong_run("--kernel", "gemm", "--dump", "z=z.npy", saying=("z",))
        self.wrong_run("--kernel", "gemm", "--pes", "sip9.cube0.pe0", saying=("sip9.cube0.pe0",))

    def test_npy_files_of_another_shape_or_none_at_all(self):
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
        header += " " * (117 - len(header)) + "\n"
        good = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(24)
        self.wrong_run("--kernel", "gemm", "--tensor", "a=" + self.file("a.npy", good), saying=("a.npy", "[2, 3]"))
        self.wrong_run("--kernel", "gemm", "--tensor", "a=" + self.file("a.npy", good[:-1]), saying=("a.npy",))
        self.wrong_run("--kernel", "gemm", "--tensor", "a=" + self.file("a.npy", b"not npy"), saying=("a.npy",))
        self.wrong_run("--kernel", "gemm", "--tensor", "a=" + self.file("a.npy", b""), saying=("a.npy",))


if __name__ == "__main__":
    cli_support.main()
