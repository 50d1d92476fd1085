# SPDX-License-Identifier: Apache-2.0
"""Is the verdict right? Over random runs (kernels, systems, link modes, shapes; a fixed seed): what it names, twice as fast,
helps more than anything else twice as fast; what is not on the critical path helps nothing; and what the causes predict
without simulating is what a simulation says. KERNBENCH_WHATIFS says how many runs."""
import json
import os
import random

import cli_support
from cli_support import topology

SANITIZED = bool(os.environ.get("KERNBENCH_SANITIZED"))  # one run of a small system, not forty
SHORT = "KERNBENCH_WHATIFS" not in os.environ
RUNS = int(os.environ.get("KERNBENCH_WHATIFS", 1 if SANITIZED else 5))
MODES = (("ideal", "ideal"), ("ideal", "routed"), ("cut_through", "ideal"), ("cut_through", "routed"), ("flit", "routed"))
SYSTEMS = ("small.yaml", "one_cube.yaml", "latency_model.yaml", "small.yaml", "one_cube.yaml", "default.yaml")[:5 if SANITIZED else 6]
ALGORITHMS = {"all_reduce": ("ring", "halving", "tree"), "all_gather": ("ring", "halving"), "reduce_scatter": ("ring", "halving"),
              "broadcast": ("chain", "tree")}


def draw(rng):
    """A run's arguments."""
    system = rng.choice(SYSTEMS)
    kernel = rng.choice(("gemm", "gemm_dot", "gemm_epilogue", "vector_add", "softmax", "rmsnorm", "attention", "mlp",
                         "tp_linear", "all_reduce", "all_gather", "all_to_all", "broadcast", "reduce_scatter", "sendrecv"))
    if system == "default.yaml":  # 256 PEs: some seconds for any kernel
        kernel = rng.choice(("gemm", "vector_add", "softmax", "all_reduce"))
    links, response = rng.choice(MODES)
    size = lambda *of: str(rng.choice(of))
    params = {}
    if kernel in ("gemm", "gemm_dot", "gemm_epilogue"):
        params = {"m": size(256, 512), "n": size(64, 128, 256), "k": size(64, 128, 256), "dtype": size("f32", "f16")}
    elif kernel in ("vector_add",):
        params = {"n": size(4096, 65536, 262144)}
    elif kernel in ("all_reduce", "all_gather", "broadcast", "reduce_scatter", "sendrecv"):
        params = {"n": size(1024, 4096, 16384)}
        if kernel in ALGORITHMS:  # otherwise it would select another one on another machine
            params["algorithm"] = rng.choice(ALGORITHMS[kernel])
            if SHORT and system == "default.yaml" and params["algorithm"] == "ring":  # 130,000 messages a run
                params["algorithm"] = "halving"
    elif kernel == "attention":
        params = {"seq": size(128, 256), "heads": size(2, 4)}
    words = ["--topology", topology(system), "--kernel", kernel, "--links", links, "--response", response]
    for name, value in params.items():
        words += ["--param", f"{name}={value}"]
    if kernel == "gemm" and rng.random() < 0.3:
        words += ["--transfer", "timed"]
    return words


class Verdicts(cli_support.Cli):
    def time(self, words, *scales):
        more = [w for s in scales for w in ("--scale", s)]
        return json.loads(self.succeeds("run", *words, *more, "--format", "json"))["sim_ns"]

    def test_random_runs(self):
        rng = random.Random(17)
        right, off, predicted, declined, errors, warned, needless = 0, [], 0, 0, [], 0, 0
        for number in range(RUNS):
            words = draw(rng)
            # About forty runs, of up to some seconds each on a busy machine.
            status, out, err = self.run_cli("whatif", "--format", "json", "--", "run", *words, timeout=600)
            self.assertEqual(status, 0, err)
            found = json.loads(out)
            insight = json.loads(self.succeeds("run", *words, "--explain", "--format", "json"))["insight"]
            sim_ns, parts = found["sim_ns"], {p["part"]: p for p in found["parts"] if "+" not in p["part"]}
            named = insight["bound_by"]
            best = self.time(words, *(f"{part}=2" for part in named))
            others = min(p["faster_ns"] for part, p in parts.items() if part not in named)
            right += best <= others * (1 + 1e-9)
            if best > others * (1 + 1e-9):
                off.append((number, " ".join(words[1:]), named, 1 - best / sim_ns, 1 - others / sim_ns))
            for part, p in parts.items():
                if p["predicted_faster_ns"] is None:
                    declined += 1
                    continue
                if insight["blame_ns"][part] == 0:
                    self.assertGreater(p["faster_ns"], 0.99 * sim_ns, (words, part))
                for which in ("faster_ns", "slower_ns"):
                    predicted += 1
                    error = abs(p["predicted_" + which] / p[which] - 1)
                    doubt_ns = p[which.replace("ns", "doubt_ns")]
                    marked = doubt_ns > 0
                    warned += marked
                    needless += marked and error <= 0.02
                    if error > 0.02:
                        errors.append((number, words[3], words[5], part, which, round(100 * error, 1), marked))
        print(f"\nwhat the verdict names helps most in {right} of {RUNS} runs; of {predicted} predictions {len(errors)} are "
              f"off by more than 2 %; {warned} say that an order would change, {needless} of them needlessly; {declined} what-ifs declined")
        for line in off + errors:
            print("  ", *line)
        self.assertGreaterEqual(right, 0.9 * RUNS)
        self.assertLessEqual(declined, 0.2 * (declined + predicted / 2))
        self.assertLessEqual(len(errors), 0.05 * predicted)
        # If no order changes, the prediction holds.
        self.assertEqual([e for e in errors if not e[-1]], [])


if __name__ == "__main__":
    cli_support.main()
