# SPDX-License-Identifier: Apache-2.0
"""Is what takes longer than 2^64 fs told, and never another time: rates too low as faults of the topology, else the op?"""
import json
import os
import re
import tempfile

import cli_support
from cli_support import topology

HEADER = "id,issue_ns,initiator,op,address,bytes\n"


class Times(cli_support.Cli):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(topology("small.yaml")) as f:
            self.small = f.read()

    def put(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def slow(self, *fields, rate="1e-6"):
        """small.yaml with these rates as low."""
        text = self.small
        for field in fields:
            text, times = re.subn(rf"({field}: )[0-9.]+", rf"\g<1>{rate}", text)
            self.assertGreater(times, 0, field)
        return self.put("slow.yaml", text)

    def test_rates_below_a_millionth_are_faults_of_the_topology(self):
        for field in ("bw_gbs", "pc_bw_gbs", "read_bw_gbs", "freq_ghz", "macs_per_cycle"):
            for rate in ("1e-9", "5e-324", "9.9e-7", "0"):
                err = self.refuses("topology", self.slow(rf"\b{field}", rate=rate), saying=(f"{field}: found '{rate}'",))
                self.assertRegex(err, r"slow\.yaml:\d+: .*legal: a number >= 1e-06")
        self.succeeds("topology", self.slow(r"\bbw_gbs", r"\bpc_bw_gbs", r"\bfreq_ghz", r"\bmacs_per_cycle"))

    def fails(self, *arguments, saying):
        err = self.refuses(*arguments, status=1, saying=("beyond 2^64 fs", *saying))
        # In a machine that is slow everywhere, some links have no bandwidth limit.
        self.assertEqual(len([line for line in err.splitlines() if "warning: " not in line]), 1, err)

    def test_a_load_ends_the_run_by_its_name(self):
        self.small = re.sub(r"\n +(pseudo_channels|interleave_bytes|pc_bw_gbs|hash|burst_bytes):.*", "", self.small)
        self.small = re.sub(r"builtin.hbm_pc(.*\n +attrs:)", r"builtin.hbm_ctrl\1\n      efficiency: 1e-6", self.small)
        for links in ("ideal", "cut_through", "flit"):
            self.fails("run", "--kernel", "vector_add", "--launch", "direct", "--links", links, "--topology",
                       self.slow(r"\bbw_gbs"), saying=("pe_dma: read of 32768 bytes at 0x", "dma_read at vector_add.cpp:"))

    def test_a_command_ends_the_run_by_its_name(self):
        self.fails("run", "--kernel", "gemm_dot", "--topology", self.slow("macs_per_cycle", "freq_ghz"),
                   saying=("pe_gemm: gemm_f32 at gemm_dot.cpp:",))

    def test_commands_of_a_work_file_by_their_id(self):
        most = 2**31
        command = {"id": "huge", "submit_ns": 0, "stage": "GEMM", "m": most, "n": most, "k": most}
        work = self.put("w.json", json.dumps({"pes": [{"pe": "sip0.cube0.pe0", "commands": [command]}]}))
        self.fails("pipeline", "--topology", topology("small.yaml"), "--work", work, saying=("pe_gemm: huge",))

    def test_sizes_that_wrap_are_told_before(self):
        def operand(space, **more):
            return {"space": space, "addr": 0, **more}
        composite = {"id": "wraps", "kind": "gemm", "submit_ns": 0, "m": 2**23 + 1, "n": 1, "k": 1, "tile": [1, 1, 1],
                     "dtype": "f32", "dtype_bytes": 1024, "a": operand("hbm", ld=2**31), "b": operand("tcm"),
                     "c": operand("tcm")}
        work = self.put("w.json", json.dumps({"pes": [{"pe": "sip0.cube0.pe0", "composites": [composite]}]}))
        self.refuses("pipeline", "--topology", topology("small.yaml"), "--work", work, status=1,
                     saying=("wraps", "runs over the end of all addresses"), lines=1)

    def test_accesses_of_drivers(self):
        trace = self.put("t.csv", HEADER + "a,0,sip0.cube0.m_cpu,read,0,67108864\n")
        self.fails("traffic", "--topology", self.slow(r"pc_bw_gbs", r"\bbw_gbs"), "--trace", trace,
                   saying=("sip0.cube0.m_cpu: read of 67108864 bytes at 0x0",))

    def test_long_times_that_are_times_are_told_as_they_are(self):
        trace = self.put("t.csv", HEADER + "a,1e12,sip0.cube0.m_cpu,read,0,1048576\n")
        out = self.succeeds("traffic", "--topology", self.slow(r"pc_bw_gbs", r"\bbw_gbs"), "--trace", trace)
        self.assertGreater(float(out.splitlines()[1].split(",")[7]), 1e12)


if __name__ == "__main__":
    cli_support.main()
