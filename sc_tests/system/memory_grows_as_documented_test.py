# SPDX-License-Identifier: Apache-2.0
"""Does a run take no more memory for a PE, a request, a tile token and a member of a collective than docs/performance.md
says?"""
import os
import subprocess
import sys
import tempfile

import cli_support

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import bench_inputs as inputs

MARGIN = 1.25


class Memory(cli_support.Cli):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def peak_bytes(self, *arguments):
        with open(os.devnull, "w") as nothing:
            child = subprocess.Popen([cli_support.KERNBENCH, *arguments], stdout=nothing, stderr=nothing)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0, arguments)
        return usage.ru_maxrss * 1024

    def traffic(self, pes, reads):
        return self.peak_bytes(
            "traffic", "--topology", inputs.once(self.path(f"{pes}.yaml"), inputs.system, pes, "ideal"),
            "--trace", inputs.once(self.path(f"{pes}_{reads}.csv"), inputs.storm, pes, reads))

    def pipeline(self, pes, side):
        return self.peak_bytes(
            "pipeline", "--topology", inputs.once(self.path(f"{pes}.yaml"), inputs.system, pes, "ideal"),
            "--work", inputs.once(self.path(f"{side}.json"), inputs.composites, pes, 1, side))

    def all_reduce(self, ranks):
        return self.peak_bytes("run", "--topology", cli_support.topology("big.yaml"), "--ranks", str(ranks), "--kernel",
                               "all_reduce", "--param", "n=1024", "--param", "algorithm=halving")

    def documented(self, what, found, bytes_each):
        print(f"{what}: {found:.0f} bytes, documented {bytes_each}")
        self.assertLess(found, bytes_each * MARGIN, what)

    def test_of_a_pe(self):
        # Far apart, because the memory of blocks grows by large pages.
        self.documented("PE", (self.traffic(2048, 1) - self.traffic(128, 1)) / 1920, 67_000)

    def test_of_a_request(self):
        self.documented("request", (self.traffic(32, 8000) - self.traffic(32, 1000)) / (32 * 7000), 91)

    def test_of_a_token(self):
        self.documented("token", (self.pipeline(32, 1152) - self.pipeline(32, 512)) / (32 * (18**3 - 8**3)), 103)

    def test_of_a_member_of_an_all_reduce(self):
        self.documented("member", (self.all_reduce(2) - self.all_reduce(1)) / 256, 140_000)


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("its own memory would be measured")
    cli_support.main()
