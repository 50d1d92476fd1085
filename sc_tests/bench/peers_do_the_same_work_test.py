# SPDX-License-Identifier: Apache-2.0
"""Does `scripts/bench --peer` give each peer its files, run both in turns and report the ratio and both simulated times?

The peers are stand-ins that check what they are given and print what the real ones print.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import peers  # noqa: E402

CLI = pathlib.Path(os.environ["KERNBENCH_CLI"])

ONNXIM = """#!/usr/bin/python3
import json, os, sys
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
name = json.load(open(given["--models_list"]))["models"][0]["name"]
assert json.load(open(given["--config"]))["core_freq"] == 500
assert b"MatMul" in open(f"{os.environ['ONNXIM_HOME']}/models/{name}/{name}.onnx", "rb").read()
for core, cycles in enumerate((20, 23000)):
    print(f"Core [{core}] : Systolic Array Utilization(%) 1.00, Vector Unit Utilization(%) 0.00, Total cycle: {cycles}")
"""
DRAMSYS = """#!/usr/bin/python3
import json, sys
simulation = json.load(open(sys.argv[1]))["simulation"]
player, = simulation["tracesetup"]
assert simulation["memspec"] == "HBM2.json" and player["clkMhz"] == 1000
assert sum(": read 0x" in line for line in open(player["name"])) == %d
print("DRAMSys.controller0  Total Time:     801.5 us")
""" % peers.READS


class Peers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "configs").mkdir()
        (self.folder / "bin").mkdir()

    def peer(self, name, program):
        path = self.folder / "bin" / name
        path.write_text(program)
        path.chmod(0o755)
        return f"{name}={path}"

    def bench(self, *arguments):
        return subprocess.run([sys.executable, HERE / "bench.py", "--bin", CLI.parent, "--data", self.folder / "data", "--runs",
                               "1", *arguments], capture_output=True, text=True)

    def figures(self, peer):
        done = self.bench("--peer", peer)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {name: float(value) for name, value in (line.split()[:2] for line in done.stdout.splitlines())}

    def test_onnxim(self):
        (self.folder / "configs" / peers.CONFIG).write_text('{"core_freq": 500}')
        found = self.figures(self.peer("onnxim", ONNXIM))
        self.assertEqual(found["peer_onnxim_simulated_by_peer"], 46000)
        # 2 * 1024^3 operations on four arrays of 128 x 128 at 1 GHz take 16.4 us at least.
        self.assertTrue(16384 < found["peer_onnxim_simulated"] < 65536, found)
        self.assertGreater(found["peer_onnxim"], 0)

    def test_dramsys(self):
        (self.folder / "configs" / "hbm2-example.json").write_text('{"simulation": {"memspec": "HBM2.json"}}')
        found = self.figures(self.peer("dramsys", DRAMSYS))
        self.assertEqual(found["peer_dramsys_simulated_by_peer"], 801500)
        self.assertAlmostEqual(found["peer_dramsys_simulated"], peers.READS * peers.PERIOD_NS, delta=1000)

    def test_a_wrong_peer_is_refused(self):
        for wrong in ("gem5=/bin/true", "onnxim", "onnxim=/none"):
            done = self.bench("--peer", wrong)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("NAME=BINARY", done.stderr)
        done = self.bench("--peer", "dramsys=/bin/true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no folder above it has configs/", done.stderr)


if __name__ == "__main__":
    unittest.main()
