# SPDX-License-Identifier: Apache-2.0
"""Is a wrong result told from a right one, and does a run give the same output, byte for byte, each time?"""
import json
import os
import tempfile

import cli_support
from cli_support import sample, topology


class Verification(cli_support.Cli):
    def test_a_run_without_outputs_has_nothing_to_verify(self):
        barrier = ("run", "--topology", topology("small.yaml"), "--kernel", "barrier")
        for more in (("--verify",), ("--debug-verify",)):
            out = self.succeeds(*barrier, *more)
            self.assertIn(", nothing to verify", out.splitlines()[0])
            found = json.loads(self.succeeds(*barrier, *more, "--format", "json"))["verify"]
            self.assertEqual(found, {"passed": None, "tensors": []})
        self.assertNotIn("verif", self.succeeds(*barrier).splitlines()[0])
        self.assertEqual(self.succeeds("sweep", "--over", "seed=1", "--", *barrier, "--verify").splitlines()[1][-1], ",",
                         "an empty cell")

    def test_gemm_on_every_type_is_verified(self):
        for dtype in ("f32", "f16", "bf16", "i8"):
            out = json.loads(self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "gemm", "--param",
                                           "m=64", "--param", f"dtype={dtype}", "--verify", "--format", "json"))
            self.assertTrue(out["verify"]["passed"])
            self.assertEqual([t["name"] for t in out["verify"]["tensors"]], ["c"])

    def test_a_damaged_result_fails(self):
        for kernel, tensor in (("gemm", "c"), ("vector_add", "c"), ("gather", "y")):
            status, out, err = self.run_cli("run", "--topology", topology("small.yaml"), "--kernel", kernel, "--verify",
                                            "--corrupt", tensor, "--format", "json")
            self.assertEqual(status, 1, err)
            self.assertFalse(json.loads(out)["verify"]["passed"])
            status, out, err = self.run_cli("run", "--topology", topology("small.yaml"), "--kernel", kernel, "--verify",
                                            "--corrupt", tensor)
            self.assertEqual(status, 1)
            self.assertIn("FAIL", (out + err).upper())


class Repeatability(cli_support.Cli):
    def twice(self, *arguments):
        first, second = self.succeeds(*arguments), self.succeeds(*arguments)
        self.assertGreater(len(first), 100)
        self.assertEqual(first, second)

    def test_runs_give_the_same_json_but_for_the_wall_clock(self):
        outputs = []
        for threads in ("1", "2"):
            out = json.loads(self.succeeds("run", "--topology", topology("default.yaml"), "--kernel", "gemm", "--verify",
                                           "--threads", threads, "--format", "json"))
            self.assertGreater(out.pop("wall_s"), 0)
            outputs.append(json.dumps(out))
        self.assertEqual(*outputs)

    def test_other_seeds_give_other_data(self):
        errors = set()
        for seed in (1, 2):
            out = json.loads(self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "gemm", "--verify",
                                           "--seed", seed, "--format", "json"))
            errors.add(out["verify"]["tensors"][0]["max_abs_err"])
        self.assertEqual(len(errors), 2)

    def test_probe_traffic_pipeline_and_topology_repeat(self):
        self.twice("probe", "--topology", topology("default.yaml"))
        self.twice("probe", "--topology", topology("latency_model.yaml"), "--format", "json")
        self.twice("topology", topology("default.yaml"), "--format", "json")
        self.twice("traffic", "--topology", sample("traffic_hbm_pc", "topology.yaml"), "--trace",
                   sample("traffic_hbm_pc", "trace.csv"))
        self.twice("pipeline", "--topology", sample("commands_and_composites", "topology.yaml"), "--work",
                   sample("commands_and_composites", "work.json"), "--format", "json")

    def test_the_op_log_repeats(self):
        with tempfile.TemporaryDirectory() as folder:
            logs = []
            for name in ("a.jsonl", "b.jsonl"):
                path = os.path.join(folder, name)
                status, _, err = self.run_cli("run", "--topology", topology("small.yaml"), "--kernel", "gemm", "--oplog", path)
                self.assertEqual(status, 0, err)
                with open(path, "rb") as f:
                    logs.append(f.read())
            self.assertGreater(len(logs[0]), 1000)
            self.assertEqual(*logs)


class WholeMachine(cli_support.Cli):
    def test_the_default_system_has_the_census_of_the_facts_sheet(self):
        graph = json.loads(self.succeeds("topology", topology("default.yaml"), "--format", "json"))
        kinds = {}
        for node in graph["nodes"]:
            kinds[node["kind"]] = kinds.get(node["kind"], 0) + 1
        self.assertEqual(len(graph["nodes"]), 4335)
        self.assertEqual(kinds["switch"], 1)
        self.assertEqual(kinds["router"], 2 * 16 * 32)
        self.assertEqual(kinds["hbm_ctrl"], 2 * 16 * 8)
        self.assertEqual(kinds["pe_dma"], 256)
        self.assertEqual(kinds["ucie"], 2 * (16 * 20 + 20))
        self.assertEqual(kinds["m_cpu"], 32)
        self.assertEqual(kinds["pcie_ep"], 2)

    def test_the_default_system_runs_on_all_its_pes(self):
        out = json.loads(self.succeeds("run", "--topology", topology("default.yaml"), "--kernel", "vector_add", "--verify",
                                       "--format", "json"))
        self.assertEqual(len(out["pes"]), 256)
        self.assertTrue(out["verify"]["passed"])
        self.assertGreater(out["sim_ns"], 0)
        for pe in out["pes"]:
            self.assertLess(pe["start_ns"], pe["end_ns"])
            self.assertLessEqual(pe["end_ns"], out["sim_ns"])
        for engine in out["engines"]:
            self.assertGreaterEqual(engine["utilization"], 0)
            self.assertLessEqual(engine["utilization"], 1 + 1e-9)


if __name__ == "__main__":
    cli_support.main()
