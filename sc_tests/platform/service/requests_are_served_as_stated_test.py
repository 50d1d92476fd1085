#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A service keeps docs/service.md: a small scheduler in Python, which takes the times of the steps and no more, serves
the same requests in the same steps; a queue with one server agrees with M/D/1; bad traces are told line by line."""
import collections
import csv
import json
import os
import random
import subprocess
import tempfile
import unittest

KERNBENCH = os.environ["KERNBENCH_CLI"]
MODEL = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256, "torch_dtype": "float32",
         "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": 2048}
PART = 512


class Sequence:
    def __init__(self, number, arrival, prompt, output, hashes):
        self.number, self.arrival, self.prompt, self.output, self.hashes = number, arrival, prompt, output, hashes
        self.computed = self.emitted = self.own = self.tokens = self.preemptions = 0
        self.first = self.end = None
        self.reused = None
        self.parts = []

    def known(self):
        return self.prompt + self.emitted


class Oracle:
    """Written from docs/service.md alone."""

    def __init__(self, requests, times, budget, batch, block, blocks, reuse):
        self.waiting = collections.deque(requests)
        self.times, self.budget, self.batch, self.block, self.blocks, self.reuse = times, budget, batch, block, blocks, reuse
        self.running, self.users, self.idle = [], {}, []
        self.now, self.steps, self.done, self.most = 0.0, [], [], 0

    def used(self):
        return sum(s.own for s in self.running) + len(self.users) * (PART // self.block)

    def grow(self, s, extra=0):
        need = -(-(s.computed + s.tokens) // self.block) - len(s.parts) * (PART // self.block) - s.own
        while self.idle and self.used() + extra + need > self.blocks:
            del self.users[self.idle.pop(0)]
        if self.used() + extra + need > self.blocks:
            return False
        s.own += need
        return True

    def leave(self, s):
        s.own = 0
        for h in reversed(s.parts):
            self.users[h] -= 1
            if self.users[h] == 0:
                self.idle.append(h)
        s.parts = []

    def join(self, s, h):
        if self.users.get(h) == 0:
            self.idle.remove(h)
        self.users[h] = self.users.get(h, 0) + 1
        s.parts.append(h)

    def step(self):
        if not self.running and self.waiting[0].arrival > self.now:
            self.now = self.waiting[0].arrival
        budget, scheduled, preempted = self.budget, [], False
        for s in list(self.running):
            if s not in self.running:
                break
            s.tokens = min(s.known() - s.computed, budget)
            while s in self.running and not self.grow(s):
                victim = self.running.pop()
                self.leave(victim)
                victim.computed = 0
                victim.preemptions += 1
                self.waiting.appendleft(victim)
                preempted = True
            if s not in self.running:
                break
            budget -= s.tokens
            if s.tokens:
                scheduled.append(s)
        while not preempted and self.waiting and self.waiting[0].arrival <= self.now and budget and \
                len(self.running) < self.batch:
            s = self.waiting[0]
            for i, h in enumerate(s.hashes if self.reuse else []):
                if (i + 1) * PART > s.prompt or (i + 1) * PART >= s.known() or h not in self.users:
                    break
                self.join(s, h)
                s.computed += PART
            found = s.computed
            s.tokens = min(s.known() - s.computed, budget)
            if not self.grow(s):
                self.leave(s)
                s.computed = 0
                break
            if s.reused is None:
                s.reused = found
            self.waiting.popleft()
            budget -= s.tokens
            self.running.append(s)
            scheduled.append(s)
        decodes = [s for s in scheduled if s.emitted and s.computed + 1 == s.known()]
        chunks = [s for s in scheduled if s not in decodes]
        self.most = max(self.most, self.used())
        self.steps.append((sum(s.tokens for s in chunks), len(decodes), len(chunks), len(self.running)))
        self.now += self.times[len(self.steps) - 1]
        for s in list(self.running):
            s.computed += s.tokens
            while self.reuse and len(s.parts) < len(s.hashes) and \
                    (len(s.parts) + 1) * PART <= min(s.prompt, s.computed):
                self.join(s, s.hashes[len(s.parts)])
                s.own -= PART // self.block
            if s.tokens and s.computed == s.known():
                s.emitted += 1
                if s.first is None:
                    s.first = self.now
            s.tokens = 0
            if s.emitted == s.output:
                s.end = self.now
                self.leave(s)
                self.running.remove(s)
                self.done.append(s)

    def run(self):
        while self.waiting or self.running:
            self.step()


class Service(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = self.file("config.json", json.dumps(MODEL))

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def kernbench(self, *words, status=0):
        done = subprocess.run([KERNBENCH, "model", self.model, "--topology", "small", *words], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def service(self, *words):
        return json.loads(self.kernbench(*words, "--format", "json").stdout)["service"]

    def rows(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def agrees(self, requests, budget, batch, block, blocks, reuse):
        trace = self.file("trace.jsonl", "".join(
            json.dumps({"timestamp": t, "input_length": p, "output_length": o, "hash_ids": h}) + "\n"
            for t, p, o, h in requests))
        words = ["--requests", trace, "--token-budget", str(budget), "--max-batch", str(batch), "--kv-block", str(block),
                 "--kv-blocks", str(blocks), "--exact-steps", "0", "--requests-csv", os.path.join(self.folder, "r.csv"),
                 "--steps-csv", os.path.join(self.folder, "s.csv")] + (["--prefix-reuse"] if reuse else [])
        told = self.service(*words)
        steps = self.rows("s.csv")
        oracle = Oracle([Sequence(i, t * 1e6, p, o, h) for i, (t, p, o, h) in enumerate(requests)],
                        [float(s["ns"]) for s in steps], budget, batch, block, blocks, reuse)
        oracle.run()
        self.assertEqual([(int(s["prefill"]), int(s["batch"]), int(s["chunks"]), int(s["running"])) for s in steps],
                         oracle.steps)
        self.assertEqual([(int(r["request"]), int(r["preemptions"]), int(r["reused"])) for r in self.rows("r.csv")],
                         [(s.number, s.preemptions, s.reused) for s in oracle.done])
        for r, s in zip(self.rows("r.csv"), oracle.done):
            self.assertAlmostEqual(float(r["first_ns"]), s.first, delta=1e-3)
            self.assertAlmostEqual(float(r["end_ns"]), s.end, delta=1e-3)
        # Tokens, requests and blocks are conserved.
        self.assertEqual(told["requests"], len(requests))
        self.assertEqual(told["prompt_tokens"], sum(p for _, p, _, _ in requests))
        self.assertEqual(told["output_tokens"], sum(o for _, _, o, _ in requests))
        self.assertEqual(told["most_blocks"], oracle.most)
        self.assertLessEqual(told["most_blocks"], blocks)
        if not told["preemptions"]:
            self.assertEqual(told["computed_tokens"] + told["reused_tokens"],
                             told["prompt_tokens"] + told["output_tokens"] - told["requests"])
        return told

    def test_order_and_blocks_are_those_of_the_small_scheduler(self):
        draw = random.Random(71)
        now, requests = 0, []
        for _ in range(150):
            now += draw.expovariate(20)  # ms
            requests.append((now, draw.randint(1, 400), draw.randint(1, 60), []))
        self.agrees(requests, 64, 8, 16, 10**4, False)
        self.assertGreater(self.agrees(requests, 100, 6, 16, 60, False)["preemptions"], 0)
        self.agrees(requests, 4096, 1, 1, 10**4, False)

    def test_prefixes_are_reused_and_evicted(self):
        draw = random.Random(72)
        now, requests = 0, []
        for _ in range(120):
            now += draw.expovariate(10)
            tree = draw.randint(0, 3)
            hashes = [tree, 10 * (tree + 1) + draw.randint(0, 2), 1000 + len(requests)]
            requests.append((now, draw.choice([512, 600, 1024, 1300]), draw.randint(1, 40), hashes))
            requests[-1] = (*requests[-1][:3], hashes[:-(-requests[-1][1] // PART)])
        roomy = self.agrees(requests, 512, 16, 16, 10**4, True)
        tight = self.agrees(requests, 512, 4, 32, 130, True)
        self.assertGreater(roomy["reused_tokens"], tight["reused_tokens"])
        self.assertGreater(tight["reused_tokens"], 0)

    def test_one_server_waits_as_m_d_1(self):
        words = ["--max-batch", "1", "--exact-steps", "0", "--seed", "3"]
        alone = self.service("--synthetic", "constant:rate=1,count=5,prompt=64,output=1", *words)["ttft_ns"]
        self.assertAlmostEqual(alone["mean"], alone["p99"], delta=1e-3)
        time = alone["mean"]
        for load in (0.3, 0.7):
            told = self.service("--synthetic",
                                f"poisson:rate={load / time * 1e9},count=200000,prompt=64,output=1", *words)
            waits = told["ttft_ns"]["mean"] - time
            self.assertAlmostEqual(waits / (load * time / (2 * (1 - load))), 1, delta=0.03)

    def test_a_lone_request_takes_its_phases(self):
        told = self.service("--synthetic", "constant:rate=1,count=3,prompt=64,output=2", "--exact-steps", "6")
        phases = json.loads(self.kernbench("--phase", "prefill:64", "--phase", "decode:batch=1,context=64,page=16",
                                           "--repeat", "--format", "json").stdout)["phases"]
        # Two phases in one run have other addresses than separate runs, so their times differ in the last digits.
        self.assertAlmostEqual(told["ttft_ns"]["mean"] / phases[0]["time_ns"], 1, delta=0.01)
        self.assertAlmostEqual(told["tpot_ns"]["mean"] / phases[1]["time_ns"], 1, delta=0.01)
        for error in ("error_with_chunks", "error_without_chunks"):
            self.assertLess(told[error]["most"], 1e-9)

    def test_jobs_and_repetitions_change_nothing(self):
        words = ["--synthetic", "gamma:rate=20000,cv=2,count=300,prompt=lognormal/80/1,output=exponential/20", "--slo",
                 "ttft=0.1,tpot=0.01", "--usd-hour", "36", "--exact-steps", "4"]
        first = self.service(*words)
        self.assertEqual(first, self.service(*words, "--jobs", "2"))
        self.assertAlmostEqual(first["usd_million_tokens"], 0.01 / first["tokens_s"] * 1e6)
        self.assertTrue(0 < first["within_slo"] < 1)
        self.assertNotEqual(first["ttft_ns"], self.service(*words, "--seed", "2")["ttft_ns"])

    def test_limits_of_the_scheduler_are_swept(self):
        """A sweep passes --threads to its points; a service ignores it. A row has the service's own figures."""
        words = ["--synthetic", "constant:rate=1000,count=9,prompt=20,output=9"]
        told = [self.service(*words, "--max-batch", str(n)) for n in (1, 2)]
        done = subprocess.run([KERNBENCH, "sweep", "--over", "max-batch=1,2", "--jobs", "2", "--metric", "sim_ns,ttft_ns,tpot_ns",
                               "--", "model", self.model, "--topology", "small", *words], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for row, service in zip(csv.DictReader(done.stdout.splitlines()), told, strict=True):
            self.assertEqual([float(row[k]) for k in ("sim_ns", "ttft_ns", "tpot_ns")],
                             [service["end_ns"], service["ttft_ns"]["mean"], service["tpot_ns"]["mean"]])

    def test_the_page_holds_the_report(self):
        page = os.path.join(self.folder, "page.html")
        told = self.service("--synthetic", "constant:rate=1000,count=50,prompt=20,output=9", "--report", page)
        with open(page, encoding="utf-8") as f:
            data = f.read().split('<script type="application/json" id="data">')[1].split("</script>")[0]
        self.assertEqual(json.loads(data)["requests"], told["requests"])
        shown = json.loads(data)["timeline"]
        self.assertAlmostEqual(sum(shown["running"]) * shown["width_ns"], told["busy_ns"], delta=1)

    def test_bad_traces_are_told_line_by_line(self):
        head = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        day = "2023-11-16 18:15:"
        azure = self.file("bad.csv", f"{head}{day}46.5,-3,5\n{day}45,3,5\n{day}47,2000,50\nx,1,1\n{day}48,1\n")
        faults = self.kernbench("--requests", azure, status=2).stderr.splitlines()
        self.assertEqual(len(faults), 5)
        for line, (fault, words) in enumerate(zip(faults, ("prompt of -3", "earlier", "at most 2048", "TIMESTAMP",
                                                           "three values")), start=2):
            self.assertIn(f"bad.csv:{line}: ", fault)
            self.assertIn(words, fault)
        for name, text in (("none.csv", ""), ("head.csv", head), ("other.csv", "a,b\n"),
                           ("part.jsonl", '{"input_toks": 3, "output_toks": 1}\n'),
                           ("nan.jsonl", '{"timestamp": NaN, "input_length": 3, "output_length": 1}\n'),
                           ("huge.jsonl", '{"timestamp": 1e300, "input_length": 3, "output_length": 1}\n'),
                           ("hash.jsonl", '{"timestamp": 1, "input_length": 3, "output_length": 1, "hash_ids": [1, 2]}\n'),
                           ("twice.jsonl", '{"timestamp": 1, "timestamp": 2, "input_length": 3, "output_length": 1}\n'),
                           ("zero.jsonl", '{"arrival_time_ns": 1, "input_toks": 3, "output_toks": 0}\n')):
            self.assertEqual(len(self.kernbench("--requests", self.file(name, text), status=2).stderr.splitlines()), 1)
        for words in (["--synthetic", "poisson:rate=1,count=1,prompt=inf,output=1"],
                      ["--synthetic", "poisson:rate=0,count=1,prompt=1,output=1"],
                      ["--synthetic", "poisson:rate=1,count=1,prompt=1"],
                      ["--synthetic", "constant:rate=1,count=1,prompt=9,output=9", "--kv-blocks", "1"],
                      ["--synthetic", "constant:rate=1,count=1,prompt=9,output=9", "--token-budget", "8"],
                      ["--synthetic", "constant:rate=1,count=1,prompt=9,output=9", "--phase", "prefill:4"],
                      ["--synthetic", "constant:rate=1,count=1,prompt=9,output=9", "--slo", "ttft=-1"],
                      ["--slo", "ttft=1"]):
            self.assertEqual(len(self.kernbench(*words, status=2).stderr.splitlines()), 1, words)

    def test_a_million_requests_take_the_memory_of_a_few(self):
        peaks = []
        for count in (1000, 1000000):
            code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=-3); "
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            words = [KERNBENCH, "model", self.model, "--topology", "small", "--exact-steps", "0", "--synthetic",
                     f"poisson:rate=200000,count={count},prompt=8,output=2"]  # above its capacity: most of them wait
            peaks.append(int(subprocess.run(["python3", "-c", code, *words], capture_output=True, text=True,
                                            check=True).stdout))
        if not os.environ.get("KERNBENCH_SANITIZED"):
            self.assertLess(peaks[1], peaks[0] + 16384)  # KiB


if __name__ == "__main__":
    unittest.main()
