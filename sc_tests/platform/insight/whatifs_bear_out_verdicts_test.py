# SPDX-License-Identifier: Apache-2.0
"""Is the verdict right? Over random runs (kernels, systems, link modes, shapes; a fixed seed): what it names, twice as fast,
helps more than anything else twice as fast; what is not on the critical path helps nothing; and what the causes predict
without simulating is what a simulation says, unless it says how far it may be off. KERNBENCH_WHATIFS says how many runs.
Half as many runs with finite buffers are predicted, too."""
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
OFF = 0.02
NEEDLESS = 0.2  # at most of the predictions that hold are marked
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


class Tally:
    """Predictions, those that are off, and marks on those that are not."""
    def __init__(self):
        self.predicted, self.declined, self.needless, self.errors = 0, 0, 0, []

    def __str__(self):
        return (f"of {self.predicted} predictions {len(self.errors)} are off by more than 2 %, {sum(e[-1] for e in self.errors)} of them "
                f"marked; {self.needless} others are marked; {self.declined} what-ifs declined")


class Verdicts(cli_support.Cli):
    def time(self, words, *scales):
        more = [w for s in scales for w in ("--scale", s)]
        return json.loads(self.succeeds("run", *words, *more, "--format", "json"))["sim_ns"]

    def judged(self, words, tally):
        """The parts with and without a simulation; each prediction is counted in the tally."""
        # About forty runs, of up to some seconds each on a busy machine.
        status, out, err = self.run_cli("whatif", "--format", "json", "--", "run", *words, timeout=600)
        self.assertEqual(status, 0, err)
        found = json.loads(out)
        parts = {p["part"]: p for p in found["parts"] if "+" not in p["part"]}
        for part, p in parts.items():
            if p["predicted_faster_ns"] is None:
                tally.declined += 1
                continue
            for which in ("faster", "slower"):
                error = abs(p[f"predicted_{which}_ns"] / p[f"{which}_ns"] - 1)
                marked = p[f"{which}_doubt_ns"] > 0
                tally.predicted += 1
                tally.needless += marked and error <= OFF
                if error > OFF:
                    tally.errors.append((words[1:], part, which, round(100 * error, 1), marked))
        return found["sim_ns"], parts

    def test_random_runs(self):
        rng, tally = random.Random(17), Tally()
        right, off = 0, []
        for number in range(RUNS):
            words = draw(rng)
            sim_ns, parts = self.judged(words, tally)
            insight = json.loads(self.succeeds("run", *words, "--explain", "--format", "json"))["insight"]
            named = insight["bound_by"]
            best = self.time(words, *(f"{part}=2" for part in named))
            others = min(p["faster_ns"] for part, p in parts.items() if part not in named)
            right += best <= others * (1 + 1e-9)
            if best > others * (1 + 1e-9):
                off.append((number, " ".join(words[1:]), named, 1 - best / sim_ns, 1 - others / sim_ns))
            for part, p in parts.items():
                if p["predicted_faster_ns"] is not None and insight["blame_ns"][part] == 0:
                    self.assertGreater(p["faster_ns"], 0.99 * sim_ns, (words, part))
        print(f"\nwhat the verdict names helps most in {right} of {RUNS} runs; {tally}")
        for line in off + tally.errors:
            print("  ", *line)
        self.assertGreaterEqual(right, 0.9 * RUNS)
        self.assertLessEqual(tally.declined, 0.2 * (tally.declined + tally.predicted / 2))
        self.assertLessEqual(len(tally.errors), 0.05 * tally.predicted)
        self.assertLessEqual(tally.needless, NEEDLESS * (tally.predicted - len(tally.errors)))
        # Without a doubt, the prediction holds.
        self.assertEqual([e for e in tally.errors if not e[-1]], [])

    def test_random_runs_with_finite_buffers(self):
        rng, tally, runs = random.Random(99), Tally(), 0
        while runs < (RUNS + 1) // 2:
            words = draw(rng)
            if words[1] not in (topology("small.yaml"), topology("one_cube.yaml")) or "--transfer" in words:
                continue
            words[words.index("--links") + 1], words[words.index("--response") + 1] = "flit", "routed"
            self.judged([*words, "--set", f"*.buffer_flits={rng.choice((2, 4, 8, 16))}"], tally)
            runs += 1
        print(f"\nwith finite buffers, {runs} runs; {tally}")
        self.assertLessEqual(len(tally.errors), 0.15 * tally.predicted)
        self.assertLessEqual(tally.needless, NEEDLESS * (tally.predicted - len(tally.errors)))
        unmarked = [e for e in tally.errors if not e[-1]]
        self.assertLessEqual(len(unmarked), 0.05 * len(tally.errors), unmarked)


if __name__ == "__main__":
    cli_support.main()
