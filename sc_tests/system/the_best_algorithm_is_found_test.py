# SPDX-License-Identifier: Apache-2.0
"""`algorithm=best`: is it the quickest of all, on any machine, of any size; and what is kept of the answers?"""
import json
import os
import random
import subprocess
import tempfile

import cli_support
from cli_support import KERNBENCH, topology

SEED = int(os.environ.get("KERNBENCH_SEED", 35))
CASES = int(os.environ.get("KERNBENCH_CASES", 6))  # 40 in a manual campaign
ALGORITHMS = {"all_reduce": ("ring", "rotate", "halving", "tree", "grid", "hierarchical"),
              "reduce_scatter": ("ring", "halving"), "all_gather": ("ring", "halving"),
              "broadcast": ("chain", "tree", "grid"), "reduce": ("chain", "tree", "grid")}


class Best(cli_support.Cli):
    def setUp(self):
        self.cache = tempfile.TemporaryDirectory()
        self.addCleanup(self.cache.cleanup)

    def report(self, *arguments, cache=None):
        done = subprocess.run([KERNBENCH, "run", *arguments, "--format", "json"], capture_output=True, text=True,
                              env={**os.environ, "KERNBENCH_CACHE": cache or self.cache.name}, timeout=300)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def kept(self):
        return sorted(f for f in os.listdir(self.cache.name) if f.startswith("collective-"))

    def case(self, figures):
        op = figures.choice(list(ALGORITHMS))
        over = figures.choice(("rank", "cube", "pe", "cube+pe", "rank+cube+pe"))
        slow = figures.choice((("pe_cpu.overhead_ns", 50), ("pe_ipcq.overhead_ns", 20), ("pe_math.lanes", 8)))
        return op, ["--topology", topology("small.yaml"), "--kernel", op, "--links", figures.choice(("ideal", "cut_through")),
                    "--set", f"edge:mesh.bw_gbs={figures.choice((16, 64, 256))}",
                    *(("--set", f"*.{slow[0]}={slow[1]}") if figures.random() < 0.5 else ()),
                    "--param", f"over={over}", "--param", f"n={64 * figures.choice((1, 16, 64, 256, 1024))}"]

    def test_none_is_quicker(self):
        figures = random.Random(SEED)
        not_auto = 0
        for _ in range(CASES):
            op, run = self.case(figures)
            with self.subTest(run=run):
                best = self.report(*run, "--param", "algorithm=best", "--launch", "direct")
                self.assertIsNotNone(best)
                times = {}
                for a in ALGORITHMS[op]:
                    if (r := self.report(*run, "--param", f"algorithm={a}", "--launch", "direct")) is not None:
                        times[a] = r["sim_ns"]
                self.assertLessEqual(best["sim_ns"], 1.02 * min(times.values()), times)
                auto = self.report(*run, "--launch", "direct")["sim_ns"]
                not_auto += best["sim_ns"] < auto
                if CASES > 6:
                    print(f"{op} {' '.join(run[6:])}: best {best['sim_ns']:.0f} ns, auto {auto:.0f} ns", flush=True)
        self.assertGreater(not_auto, 0, "auto was the best everywhere: the cases say nothing")

    def test_an_answer_is_kept_and_a_damaged_one_is_made_anew(self):
        run = ["--topology", topology("small.yaml"), "--kernel", "all_reduce", "--param", "algorithm=best"]
        first = self.report(*run)
        [name] = self.kept()
        self.assertEqual(first["algorithm"], min(first["costs_ns"], key=first["costs_ns"].get))
        file = os.path.join(self.cache.name, name)
        with open(file) as f:
            answer = f.read()
        again = self.report(*run)
        for report in (first, again):
            del report["wall_s"]
        self.assertEqual(first, again)
        for damaged in ("", "1 2 3\n", answer.replace("\n", "0\n", 1), "\x00" * 40):
            with open(file, "w") as f:
                f.write(damaged)
            again = self.report(*run)
            del again["wall_s"]
            self.assertEqual(first, again)
            with open(file) as f:
                self.assertEqual(f.read(), answer)
        self.report(*run, "--param", "n=64")  # another size, machine or group needs new trials
        self.report(*run, "--links", "cut_through")
        self.report(*run, "--pes", "leaders")
        self.assertEqual(len(self.kept()), 4)

    def test_without_a_cache_nothing_is_kept_and_all_is_the_same(self):
        run = ["--topology", topology("small.yaml"), "--kernel", "all_reduce", "--param", "algorithm=best"]
        with_cache, without = self.report(*run), self.report(*run, cache="off")
        for report in (with_cache, without):
            del report["wall_s"]
        self.assertEqual(with_cache, without)

    def test_programs_have_it(self):
        for program in ("tp_mlp", "all_reduce_loop"):
            run = ["--topology", topology("six_sip_torus.yaml"), "--program", program]
            best = self.report(*run, "--param", "algorithm=best")
            auto = self.report(*run)
            self.assertLessEqual(best["sim_ns"], auto["sim_ns"])
        self.assertEqual(len(self.kept()), 2)  # the loop requests all its times at once

    def test_the_table_has_it(self):
        def table(algorithm):
            rows = self.succeeds("collectives", "--topology", topology("small.yaml"), "--op", "all_reduce", "--sizes", "4K",
                                 "--algorithm", algorithm, "--format", "json")
            return json.loads(rows)["rows"][0]
        self.assertLessEqual(table("best")["time_us"], table("auto")["time_us"])

    def test_an_algorithm_that_is_none_is_told(self):
        self.refuses("run", "--topology", topology("small.yaml"), "--kernel", "all_reduce", "--param", "algorithm=bst",
                     lines=1, saying=("algorithm", "bst"))


if __name__ == "__main__":
    cli_support.main()
