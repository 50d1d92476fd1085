#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs on the command line: results for any number of ranks and type, op log and replay over all launches, output's
form, faults."""
import collections
import json
import pathlib
import signal
import subprocess
import tempfile
import time

from cli_support import KERNBENCH, TIMES_LONGER, Cli, main, topology

SIX = topology("six_sip_torus.yaml")
SMALL = [  # small sizes without common divisors with numbers of ranks other than 1 and 2, where that is legal
    ("tp_mlp", ["tokens=10", "dim=24", "hidden=35"]),
    ("tp_attention", ["heads=6", "seq=20", "dim=8", "causal=true"]),
    ("tp_embedding", ["vocab=31", "dim=12", "tokens=21"]),
    ("all_reduce_loop", ["n=50", "times=2"]),
    ("llama_layer", ["tokens=21", "dim=24", "heads=4", "kv_heads=2", "head_dim=6", "hidden=35"]),
    ("linear", ["m=21", "n=50", "k=35", "activation=silu"]),
]


def run(program, params, *more, ranks=1, dtype="f32", pes="leaders"):
    options = [x for p in [*params, f"dtype={dtype}"] for x in ("--param", p)]
    return ["run", "--topology", SIX, "--program", program, "--ranks", str(ranks), "--pes", pes, *options, *more]


class Programs(Cli):
    def test_verify_for_any_number_of_ranks_and_type(self):
        for program, params in SMALL:
            for ranks in (1, 2, 3, 6):
                for dtype in ("f32", "f16", "bf16"):
                    with self.subTest(program=program, ranks=ranks, dtype=dtype):
                        out = json.loads(self.succeeds(*run(program, params, "--verify", "--format", "json", ranks=ranks,
                                                            dtype=dtype)))
                        self.assertTrue(out["verify"]["passed"])
                        self.assertEqual(out["ranks"], ranks)

    def test_inputs_that_are_made_where_they_lie_are_those_of_a_verified_run(self):
        """Which has them whole: without --verify a shard that is no contiguous piece is filled by itself."""
        sizes = ["--param", "m=70", "--param", "n=90", "--param", "k=50"]
        with tempfile.TemporaryDirectory() as folder:
            for run_of in (["--kernel", "gemm_2d", *sizes], ["--kernel", "gemm_2d", *sizes, "--param", "dtype=i8"],
                           ["--kernel", "tp_linear", *sizes], ["--program", "linear", *sizes, "--ranks", "3", "--seed", "5"],
                           ["--program", "tp_mlp", "--param", "dtype=bf16", "--ranks", "2"], ["--program", "tp_embedding"]):
                with self.subTest(run=run_of):
                    output = "c" if "gemm_2d" in run_of else "y"
                    dumps = []
                    for more in ([], ["--verify"]):
                        file = pathlib.Path(folder, "y.npy")
                        self.succeeds("run", "--topology", SIX, *run_of, "--dump", f"{output}={file}", *more)
                        dumps.append(file.read_bytes())
                    self.assertEqual(*dumps)

    def test_a_wrong_result_fails(self):
        status, _, _ = self.run_cli(*run("tp_mlp", SMALL[0][1], "--verify", "--corrupt", "y", ranks=2))
        self.assertEqual(status, 1)

    def test_json_has_the_operations(self):
        out = json.loads(self.succeeds(*run("tp_mlp", SMALL[0][1], "--format", "json", ranks=2)))
        self.assertEqual(out["program"], "tp_mlp")
        self.assertEqual(out["params"]["hidden"], 35)
        self.assertEqual([op["name"] for op in out["ops"]], ["tp_linear", "tp_linear", "all_reduce"])
        for op in out["ops"]:
            self.assertEqual((op["op"], op["stream"], op["ranks"], sorted(op["end_ns"])), ("launch", 0, [0, 1], ["0", "1"]))
            self.assertLessEqual(op["begin_ns"], op["start_ns"])
            self.assertLess(op["start_ns"], min(op["end_ns"].values()))
        self.assertEqual(out["sim_ns"], max(out["ops"][-1]["end_ns"].values()))
        self.assertEqual(len(out["pes"]), 8)
        chosen = out["ops"][-1]
        self.assertEqual(chosen["algorithm"], min(chosen["costs_ns"], key=chosen["costs_ns"].get))
        self.assertEqual(chosen["members"], 2)
        self.assertFalse([op for op in out["ops"][:-1] if "algorithm" in op])

    def test_text_names_the_algorithm_of_each_launch(self):
        text = self.succeeds(*run("all_reduce_loop", ["n=50", "times=2"], ranks=2))
        self.assertRegex(text, r"\n  launch 0, 1: all_reduce: \w+ of 2 members; by the cost table ring [\d.]+ ns, ")
        self.assertNotIn("  launch 0", self.succeeds(*run("tp_mlp", SMALL[0][1])))

    def test_one_rank_sends_no_message(self):
        out = json.loads(self.succeeds(*run("tp_attention", SMALL[1][1], "--format", "json")))
        self.assertNotIn("all_reduce", [op["name"] for op in out["ops"]])
        self.assertFalse([e for e in out["engines"] if ".pe_ipcq." in e["id"]])

    def test_output_is_the_same_byte_for_byte(self):
        outputs = set()
        for _ in range(2):
            out = json.loads(self.succeeds(*run("tp_attention", SMALL[1][1], "--format", "json", ranks=3)))
            out.pop("wall_s")
            outputs.add(json.dumps(out))
        self.assertEqual(len(outputs), 1)

    def test_the_log_tells_launches_apart_and_replays(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for program, params in SMALL:
                for form in ("jsonl", "sqlite"):
                    log, first, again = folder / f"{program}.{form}", folder / "first.npy", folder / "again.npy"
                    self.succeeds(*run(program, params, "--oplog", log, "--dump", f"y={first}", ranks=2))
                    for threads in (1, 3):
                        self.succeeds("replay", "--oplog", log, "--dump", f"y={again}", "--threads", threads)
                        self.assertEqual(first.read_bytes(), again.read_bytes(), (program, form))
            launches, calls = set(), collections.defaultdict(list)
            for line in (folder / "tp_mlp.jsonl").read_text().splitlines()[1:]:
                record = json.loads(line)
                params = record.get("params", {})
                if "launch" not in params or record["op_name"] == "ipcq_copy":
                    continue
                launches.add(params["launch"])
                calls[params["pe"]].append((params["seq"], params["launch"]))
            self.assertEqual(launches, {0, 1, 2})
            for pe, of_pe in calls.items():
                of_pe.sort()
                self.assertEqual([launch for _, launch in of_pe], sorted(launch for _, launch in of_pe), pe)

    def test_a_killed_program_leaves_a_readable_log(self):
        with tempfile.TemporaryDirectory() as name:
            log = pathlib.Path(name) / "log.jsonl"
            process = subprocess.Popen([KERNBENCH, *map(str, run("all_reduce_loop", ["n=4096", "times=100000"], "--oplog", log,
                                                                 ranks=2))], stdout=subprocess.DEVNULL)
            deadline = time.time() + 60 * TIMES_LONGER
            while time.time() < deadline and not (log.exists() and log.stat().st_size > 1 << 20):
                time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
            process.wait()
            out = json.loads(self.succeeds("replay", "--oplog", log, "--allow-cut-off", "--format", "json"))
            self.assertTrue(out["cut_off"])
            self.assertGreater(out["ops"], 100)

    def test_bad_input_is_one_line(self):
        self.refuses("run", "--topology", SIX, "--program", "nope", saying=["no program 'nope'", "tp_mlp"], lines=1)
        self.refuses("run", "--topology", SIX, saying=["--kernel NAME, --program NAME or --ttir FILE"], lines=1)
        self.refuses("run", "--topology", SIX, "--kernel", "gemm", "--program", "tp_mlp", saying=["one of them"], lines=1)
        self.refuses(*run("tp_mlp", ["hidden=0"]), saying=["parameter 'hidden' of program tp_mlp"], lines=1)
        self.refuses(*run("tp_attention", ["heads=5"], ranks=2), saying=["2 ranks do not divide 5 heads"], lines=1)
        self.refuses(*run("tp_mlp", [], "--dump", "z=/dev/null"), saying=["program tp_mlp has y"], lines=1)
        for ranks, what in (("7", "7 ranks"), ("0", "no rank"), ("x", "found 'x'"), ("0,9", "SIP 9"), ("1,1", "twice")):
            self.refuses(*run("tp_mlp", [], ranks=ranks), saying=["--ranks", what], lines=1)
        self.refuses(*run("tp_mlp", [], ranks="1", pes="sip1.cube0.pe0"), saying=["--pes", "none of the SIPs"], lines=1)

    def test_ranks_and_leaders_choose_pes_of_kernels(self):
        def pes(*options):
            return [p["id"] for p in json.loads(self.succeeds("run", "--topology", SIX, "--kernel", "vector_add", "--param",
                                                              "n=4096", "--format", "json", *options))["pes"]]
        self.assertEqual(pes("--ranks", "1", "--pes", "leaders"), [f"sip0.cube{c}.pe0" for c in range(4)])
        self.assertEqual(pes("--ranks", "4,2", "--pes", "leaders"),
                         [f"sip{s}.cube{c}.pe0" for s in (2, 4) for c in range(4)])
        self.assertEqual(pes("--ranks", "3,", "--pes", "leaders"), [f"sip3.cube{c}.pe0" for c in range(4)])
        self.assertEqual(len(pes("--ranks", "6")), 192)
        self.assertEqual(pes("--device", "sip:2", "--ranks", "1", "--pes", "leaders"), [f"sip2.cube{c}.pe0" for c in range(4)])

    def test_programs_are_listed(self):
        out = self.succeeds("list", "programs")
        for program, _ in SMALL:
            self.assertIn(f"{program}: ", out)
        self.assertIn("w1  [dim, hidden] dtype  (rank shard(1), cube replicate, pe replicate)", out)


if __name__ == "__main__":
    main()
