# SPDX-License-Identifier: Apache-2.0
"""Does `kernbench serve` answer each request by its id with what a run alone says, whatever becomes of the points, and refuse
what is no request in one line?"""
import contextlib
import csv
import io
import json
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import time
import unittest

import cli_support
from cli_support import KERNBENCH, TIMES_LONGER, topology

BASE = ("run", "--topology", topology("small.yaml"), "--kernel", "gemm")
FOREVER = {f"param.{name}": value for name, value in dict(m=8192, n=8192, k=8192, tile_m=8, tile_n=8, tile_k=8).items()}
CRASHING = r"""
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"
using namespace kernbench;
namespace {
void crash(tl::Context& tl, const tl::Args& args) {
  if (args.choice("how") == "print") std::puts("not a report");
  if (args.choice("how") == "segv") *reinterpret_cast<volatile int*>(16) = 1;
  if (args.choice("how") == "kill") std::raise(SIGKILL);
  tl.load(args["x"]);
}
KernelSpec spec() {
  if (std::getenv("SAY")) std::puts("loaded");
  KernelSpec k;
  k.name = "crash";
  k.params = {ParamSpec::choice("how", {"no", "segv", "kill", "print"}, "what it does")};
  k.tensors = {{"x", TensorSpec::Role::in, [](const Params&) { return Dims{64}; }, [](const Params&) { return DType::f32; },
                Placement::replicate, Init::uniform()}};
  k.function = crash;
  return k;
}
const RegisterKernel registered{spec()};
}  // namespace
KERNBENCH_PLUGIN("crash")
"""


def children(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def gone(pid):
    """Ended, and taken off the list by whoever is its parent."""
    for _ in range(200 * TIMES_LONGER):
        if not os.path.exists(f"/proc/{pid}"):
            return True
        time.sleep(0.05)
    return False


class Serve(cli_support.FolderCli):
    def start(self, *options, base=BASE):
        server = subprocess.Popen([KERNBENCH, "serve", "--stdio", *map(str, options), "--", *base], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (server.kill(), server.wait(), [f.close() for f in (server.stdin, server.stdout, server.stderr)]))
        hello = json.loads(server.stdout.readline())
        self.assertEqual(hello, {"kernbench": self.succeeds("--version").strip(), "protocol": 1})
        return server

    def ask(self, server, id, **options):
        server.stdin.write(json.dumps({"id": id, "options": {k.replace("__", "."): v for k, v in options.items()}}).encode()
                           + b"\n")
        server.stdin.flush()

    def answers(self, lines, *options, base=BASE, status=0):
        """All answers, in their order, to lines that are sent at once."""
        done = subprocess.run([KERNBENCH, "serve", "--stdio", *map(str, options), "--", *base], capture_output=True,
                              input=b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
                                             for line in lines), timeout=200 * TIMES_LONGER)
        self.assertEqual(done.returncode, status, done.stderr)
        return [json.loads(line) for line in done.stdout.decode().splitlines()[1:]]

    def test_answers_are_what_a_sweep_says(self):
        columns = ("sim_ns", "verified", "events", "tflops", "bytes_read")
        rows = list(csv.DictReader(io.StringIO(self.succeeds(
            "sweep", "--over", "links=ideal,flit", "--over", "param.n=32,64,96", "--metric", ",".join(columns), "--", *BASE,
            "--verify"))))
        requests = [{"id": i, "options": {"links": r["links"], "param.n": int(r["param.n"]), "verify": True}}
                    for i, r in enumerate(rows)]
        for jobs in (1, 3):
            answers = self.answers(requests, "--jobs", jobs)
            self.assertEqual(sorted(a["id"] for a in answers), list(range(6)))
            for a in answers:
                self.assertEqual(a["status"], 0)
                self.assertGreater(a["wall_s"], 0)
                self.assertNotIn("error", a)
                for name in columns:
                    self.assertEqual(json.dumps(a["metrics"][name]), json.dumps(json.loads(rows[a["id"]][name])), name)

    def test_a_thousand_points_are_answered_once_each_in_the_order_in_which_they_end(self):
        ids = list(range(999)) + ["the last"]
        answers = self.answers([{"id": i, "options": {"param.m": 32, "param.n": 32 + 16 * (n % 3)}} for n, i in enumerate(ids)],
                               "--jobs", 2)
        self.assertEqual(sorted(map(str, (a["id"] for a in answers))), sorted(map(str, ids)))
        self.assertEqual({a["status"] for a in answers}, {0})
        times = {}
        for a in answers:
            times.setdefault(ids.index(a["id"]) % 3, set()).add(a["metrics"]["sim_ns"])
        self.assertEqual([len(t) for t in times.values()], [1, 1, 1])
        one = self.answers([{"id": i} for i in range(20)], "--jobs", 1)
        self.assertEqual([a["id"] for a in one], list(range(20)))

    def test_answers_overtake_a_long_point(self):
        server = self.start("--jobs", 2)
        self.ask(server, "long", **{k.replace(".", "__"): v for k, v in FOREVER.items()})
        for i in range(3):
            self.ask(server, i)
            self.assertEqual(json.loads(server.stdout.readline())["id"], i)

    def test_crashes_are_answers(self):
        source, library = os.path.join(self.folder, "crash.cpp"), os.path.join(self.folder, "crash.so")
        with open(source, "w") as f:
            f.write(CRASHING)
        cli_support.build_plugin(source, library)
        base = ("run", "--topology", topology("small.yaml"), "--plugin", library, "--kernel", "crash")
        answers = self.answers([{"id": how, "options": {"param.how": how}} for how in ("segv", "kill", "print", "no")], base=base)
        by_id = {a["id"]: a for a in answers}
        self.assertEqual(len(answers), 4)
        self.assertEqual((by_id["segv"]["status"], by_id["kill"]["status"], by_id["no"]["status"]), (1, 1, 0))
        self.assertIn("SIGSEGV", by_id["segv"]["error"])
        self.assertIn("(9)", by_id["kill"]["error"])
        # A kernel's output is not part of its record.
        self.assertEqual(by_id["print"]["status"], 0)
        self.assertEqual(by_id["print"]["metrics"], by_id["no"]["metrics"])
        status, out, err = self.run_cli("sweep", "--over", "param.how=print,no", "--", *base)
        self.assertEqual((status, [line.split(",")[:2] for line in out.splitlines()[1:]]), (0, [["print", "0"], ["no", "0"]]), err)
        tuned = subprocess.run([KERNBENCH, "tune", "--over", "param.how=no", *base[1:]], capture_output=True, text=True,
                               env={**os.environ, "SAY": "1"})
        self.assertEqual(tuned.returncode, 0, tuned.stderr)

    def test_a_worker_that_is_killed_and_one_that_takes_too_long_are_answers(self):
        server = self.start("--jobs", 1, "--timeout", 1)
        long = {k.replace(".", "__"): v for k, v in FOREVER.items()}
        self.ask(server, "killed", **long)
        while not children(server.pid):
            time.sleep(0.01)
        os.kill(children(server.pid)[0], signal.SIGKILL)
        answer = json.loads(server.stdout.readline())
        self.assertEqual((answer["id"], answer["status"]), ("killed", 137))
        self.ask(server, "late", **long)
        self.ask(server, "next")
        late, after = (json.loads(server.stdout.readline()) for _ in range(2))
        self.assertEqual((late["id"], late["status"], late["error"]), ("late", 124, "took longer than 1 s"))
        self.assertEqual((after["id"], after["status"]), ("next", 0))

    @unittest.skipIf(os.environ.get("KERNBENCH_SANITIZED"), "UndefinedBehaviorSanitizer asks by a pipe what memory there is")
    def test_without_file_descriptors_each_request_is_answered_and_it_ends(self):
        """At each place where one is missing: of a process's output, of waiting for it, in the process."""
        errors = set()
        for most in range(6, 64):
            server = subprocess.run(
                [KERNBENCH, "serve", "--stdio", "--jobs", "2", "--", *BASE], input=b'{"id": 1}\n{"id": 2}\n', capture_output=True,
                timeout=100 * TIMES_LONGER, preexec_fn=lambda n=most: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
            if not server.stdout:
                continue  # not enough for itself
            answers = [json.loads(line) for line in server.stdout.splitlines()[1:]]
            self.assertEqual((server.returncode, sorted(a["id"] for a in answers)), (0, [1, 2]), server.stderr)
            failed = [a["error"] for a in answers if a["status"] != 0]
            errors.update(failed)
            if not failed:
                break
        else:
            self.fail("never enough")
        self.assertTrue(any("output: Too many open files" in e for e in errors), errors)
        self.assertTrue(any("waited for: Too many open files" in e for e in errors), errors)

    def test_what_is_no_request_is_refused_in_one_line(self):
        deep = b'{"id": 1, "options": ' + b"[" * 5000 + b"]" * 5000 + b"}\n"
        for line, id, word in ((b"\n", None, "not JSON"), (b"x\n", None, "not JSON"), (b'{"id": 1} {\n', None, "not JSON"),
                               (b"[1]\n", None, "object"), (b"{}\n", None, "'id' is missing"),
                               (b'{"id": [1]}\n', None, "id:"), (b'{"id": 1.5}\n', None, "id:"),
                               (b'{"id": "' + b"x" * 101 + b'"}\n', None, "id:"), (deep, None, "deep"),
                               (b'{"id": 1, "id": 2}\n', None, "twice"), (b'{"id": 1, "opt": {}}\n', 1, "'opt'"),
                               (b'{"id": 1, "options": []}\n', 1, "options"), (b"\0\n", None, "not JSON"),
                               (b'{"id": 1, "options": {"kernal": "gemm"}}\n', 1, "options.kernal"),
                               (b'{"id": 1, "options": {"oplog": "l.jsonl"}}\n', 1, "options.oplog"),
                               (b'{"id": 1, "options": {"param": 1}}\n', 1, "param.NAME"),
                               (b'{"id": 1, "options": {"links.x": 1}}\n', 1, "links.x"),
                               (b'{"id": 1, "options": {"verify": 3}}\n', 1, "true or false"),
                               (b'{"id": 1, "options": {"param.n": null}}\n', 1, "options.param.n"),
                               (b'{"id": 1, "options": {"param.n": {}}}\n', 1, "options.param.n"),
                               (b'{"id": 1, "options": {"param.n": "6\\u0000"}}\n', 1, "character 0"),
                               (b'{"id": 1, "options": {"param.n": "\xff"}}\n', None, "not JSON"),
                               (b'{"id": 1, "options": {"x": "' + b"y" * (1 << 20) + b'"}}\n', None, "1048576 bytes"),
                               (b'{"id": 1, "options": {"param.q": 1}}\n', 1, "'q'"),
                               (b'{"id": 1, "options": {"kernel": "gemm"}}\n', 1, "--kernel"),
                               (b'{"id": 1, "options": {"topology": "none.yaml"}}\n', 1, "--topology")):
            answers = self.answers([line, b'{"id": 2}'])  # the next one is answered, even without its \n
            with self.subTest(line[:60]):
                self.assertEqual(sorted((a["status"] for a in answers), reverse=True), [2, 0])
                refused = next(a for a in answers if a["status"] == 2)
                self.assertEqual(refused["id"], id)
                self.assertIn(word, refused["error"])
                self.assertLess(len(refused["error"]), 500)
                self.assertNotRegex(refused["error"], cli_support.BARE + "|[\x00-\x1f\x7f]")

    def test_an_id_under_way_is_not_taken_twice(self):
        server = self.start("--jobs", 1)
        server.stdin.write(b'{"id": 1}\n{"id": 1}\n{"id": 2}\n')
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(3)]
        self.assertEqual(sorted((str(a["id"]), a["status"]) for a in answers), [("1", 0), ("2", 0), ("None", 2)])
        self.assertIn("id 1 is under way", next(a["error"] for a in answers if a["id"] is None))
        self.ask(server, 1)  # it has ended
        self.assertEqual(json.loads(server.stdout.readline())["status"], 0)

    def test_stored_points_are_not_simulated_again(self):
        store = os.path.join(self.folder, "s.sqlite")
        self.succeeds("sweep", "--over", "param.n=32", "--store", store, "--", *BASE)
        # Two concurrent requests for one point are simulated once; a failure is stored too.
        requests = [{"id": i, "options": {"param.n": n}} for i, n in enumerate((32, 64, 64, 64, -1))]
        answers = self.answers(requests, "--store", store, "--jobs", 3)
        self.assertEqual([(a["status"], a.get("stored", False)) for a in sorted(answers, key=lambda a: a["id"])][::4],
                         [(0, True), (2, False)])
        self.assertEqual(sorted(a.get("stored", False) for a in answers if a["id"] in (1, 2, 3)), [False, True, True])
        self.assertEqual(len({json.dumps(a["metrics"]) for a in answers if a["id"] in (1, 2, 3)}), 1)
        self.assertTrue(all(a["stored"] for a in self.answers(requests, "--store", store)))
        with contextlib.closing(sqlite3.connect(store)) as db:
            self.assertEqual(db.execute("select count(*), max(starts) from points").fetchone(), (3, 1))

    def test_tensors_that_are_made_are_no_files(self):
        kernel, store = os.path.join(self.folder, "k.ttir"), os.path.join(self.folder, "made.sqlite")
        with open(kernel, "w", encoding="utf-8") as f:
            f.write("module {\ntt.func public @k(%x: !tt.ptr<f32>) {\ntt.return\n}\n}\n")
        base = ("run", "--ttir", kernel, "--topology", topology("small.yaml"), "--grid", "1", "--tensor", "x=zeros:f32[4]")
        for stored in (False, True):
            answers = self.answers([{"id": 1, "options": {}}], "--store", store, base=base)
            self.assertEqual([(a["status"], a.get("stored", False)) for a in answers], [(0, stored)])

    def test_a_file_that_changes_is_another_point(self):
        name = os.path.join(self.folder, "t.yaml")
        with open(topology("small.yaml")) as f:
            text = f.read()
        server = self.start("--jobs", 1, "--store", os.path.join(self.folder, "s.sqlite"),
                            base=("run", "--kernel", "gemm", "--topology", name))
        times = []
        for content in (text, text, text.replace("macs_per_cycle: 4096", "macs_per_cycle: 64")):
            with open(name, "w") as f:
                f.write(content)
            self.ask(server, 1)
            answer = json.loads(server.stdout.readline())
            times.append((answer["metrics"]["sim_ns"], answer.get("stored", False)))
        self.assertEqual([stored for _, stored in times], [False, True, False])
        self.assertGreater(times[2][0], times[0][0])

    def test_no_more_is_read_while_points_wait(self):
        server = self.start("--jobs", 1)
        long = json.dumps({"id": "long", "options": FOREVER}).encode() + b"\n"
        os.set_blocking(server.stdin.fileno(), False)
        sent, until = 0, time.monotonic() + 1.5
        os.write(server.stdin.fileno(), long)
        while time.monotonic() < until:
            try:
                sent += os.write(server.stdin.fileno(), b'{"id": 1, %s "options": {"seed": "1"}}\n' % (b" " * 4000))
            except BlockingIOError:
                time.sleep(0.01)
        self.assertLess(sent, 300_000)  # a pipe's 64 KiB and the data read at once, no more

    def test_signals_end_it_behind_the_points_at_work(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = self.start("--jobs", 1)
            self.ask(server, 1, param__m=1024, param__n=512, param__k=512, param__tile_m=8, param__tile_n=8)
            while not children(server.pid):
                time.sleep(0.005)
            self.ask(server, 2)
            server.send_signal(number)
            out, err = server.communicate(timeout=60 * TIMES_LONGER)
            self.assertEqual([(a["id"], a["status"]) for a in map(json.loads, out.splitlines())], [(1, 0)])
            self.assertEqual(server.returncode, 128 + number)
            self.assertEqual(err.decode(), f"kernbench: stopped by {number.name}: the points at work are answered\n")
            server = self.start("--jobs", 1)
            self.ask(server, 1, **{k.replace(".", "__"): v for k, v in FOREVER.items()})
            while not children(server.pid):
                time.sleep(0.005)
            worker = children(server.pid)[0]
            server.send_signal(number)
            time.sleep(0.3)
            server.send_signal(number)
            self.assertEqual(server.wait(30 * TIMES_LONGER), 128 + number)
            self.assertTrue(gone(worker))

    def test_nobody_who_reads_ends_it(self):
        server = self.start("--jobs", 1)
        self.ask(server, 1, **{k.replace(".", "__"): v for k, v in FOREVER.items()})
        while not children(server.pid):
            time.sleep(0.005)
        worker = children(server.pid)[0]
        server.stdout.close()
        self.assertEqual(server.wait(30 * TIMES_LONGER), 0)
        self.assertEqual(server.stderr.read(), b"")
        self.assertTrue(gone(worker))

    def test_wrong_commands_are_refused(self):
        for arguments, word in (((), "--stdio"), (("--stdio", "--", "probe"), "probe"),
                                (("--stdio", "--jobs", "x"), "--jobs"), (("--stdio", "--timeout", "0"), "--timeout"),
                                (("--stdio", "--store", topology("small.yaml")), "small.yaml")):
            self.refuses("serve", *arguments, saying=[word], lines=1)


if __name__ == "__main__":
    cli_support.main()
