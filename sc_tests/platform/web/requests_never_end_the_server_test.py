# SPDX-License-Identifier: Apache-2.0
"""Does `kernbench web` outlive whatever it is sent, and whatever the system refuses, with its runs? Seeded requests, whole
and damaged, several at a time beside a run: the server answers others within a second and stays small. Folders of running
runs that go away, a full disk, few descriptors and few processes cost a request or a run, never the server.
With two arguments, how many requests and the first seed, a campaign by hand."""
import contextlib
import gzip
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

import cli_support
from cli_support import KERNBENCH, TIMES_LONGER, topology
from page_server import PageServer, without_web

GEMM = {"kernel": "gemm", "topology": "small.yaml", "params": {}, "options": {}}
LONG = {**GEMM, "topology": "default.yaml", "params": {"m": "8192", "n": "8192", "k": "8192"}}
MOST_BYTES = 256 << 20
# Brotli, which Python lacks: 2^20 zeros from 12 bytes.
BROTLI = bytes.fromhex("5bffff0f00e4bf00000000")


def memory_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmHWM"))


class Server(cli_support.Cli):
    options = ()

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.server = self.enterContext(contextlib.closing(PageServer(self.folder, *self.options)))

    def start(self, request):
        status, _, text = self.server.ask("POST", "/api/runs", json.dumps(request))
        self.assertEqual(status, 200, text)
        return json.loads(text)["name"]

    def runs(self):
        return {r["name"]: r["state"] for r in self.server.runs()}

    def send(self, head, body=b""):
        """The answer's status, 0 where there was none."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.server.port)) as s:
            s.settimeout(20 * TIMES_LONGER)
            with contextlib.suppress(OSError):
                s.sendall(head.replace(b"TOKEN", self.server.token.encode())
                              .replace(b"HOST", f"127.0.0.1:{self.server.port}".encode()) + body)
                s.shutdown(socket.SHUT_WR)
            answer = s.recv(64)
            while s.recv(1 << 16):
                pass
            return int(answer.split()[1]) if answer.startswith(b"HTTP/") else 0
        return 0


class Requests(Server):
    count, seed = 60, 33
    longest_s = 5  # besides other tests; 1 when run manually

    def request(self, dice):
        path = dice.choice((b"/", b"/api/runs", b"/api/system", b"/page.js", b"/runs/x/report.html", b"/api/diff?a=x&b=y",
                            b"/topologies/small.yaml.svg", b"/api/runs/x/stop", b"/runs/gemm-default-1/stderr.txt"))
        method = dice.choice((b"GET", b"GET", b"POST", b"PUT", b"HEAD", b"OPTIONS", b"DELETE", b"X" * 50))
        body = dice.choice((b"", json.dumps(GEMM).encode()[:dice.randrange(60)], b"[" * 9000, b"\0" * 5000,
                            b"k=v&" * 3000, b"--b\r\nContent-Disposition: form-data; name=x\r\n\r\n" * 200))
        lines = [method + b" /TOKEN" + path + b" HTTP/1.1", b"Host: HOST"]
        for _ in range(dice.randrange(4)):
            ranges = b",".join(b"%d-%d" % (i, i) for i in range(dice.choice((1, 1000, 20000))))
            lines.append(dice.choice((
                b"Range: bytes=" + ranges, b"range:bytes=" + ranges, b"Range: bytes=0-18446744073709551615,-1,--,5-1",
                b"Accept-Encoding: " + dice.choice((b"gzip", b"br", b"gzip;q=0, br;q=1e999", b"*" * 3000)),
                b"Content-Encoding: " + dice.choice((b"gzip", b"br", b"deflate", b"x")),
                b"Transfer-Encoding: chunked", b"Content-Type: multipart/form-data; boundary=b",
                b"Content-Type: application/x-www-form-urlencoded", b"Content-Length: 18446744073709551616",
                b"Content-Length: -1", b"Expect: 100-continue", b"Connection: keep-alive, upgrade", b"\xff\x00: \x01",
                b"X" * dice.choice((100, 5000, 100000)) + b": y", b": ", b"Cookie: " + b"a=b;" * 900)))
        if dice.random() < 0.3:
            body = dice.choice((gzip.compress(b" " * (50 << 20), 9), BROTLI, zlib.compress(b"0" * (1 << 20))))
        if method in (b"POST", b"PUT") and dice.random() < 0.8:
            lines.append(b"Content-Length: %d" % len(body))
        head = bytearray(b"\r\n".join(lines) + b"\r\n\r\n")
        for _ in range(dice.choice((0, 0, 1, 5))):
            head[dice.randrange(len(head))] = dice.randrange(256)
        if dice.random() < 0.1:
            del head[dice.randrange(len(head)):]
        return bytes(head), body

    def test_beside_a_run(self):
        run = self.start(LONG)
        over, slowest = threading.Event(), [0.0]

        def others():
            while not over.is_set():
                begin = time.monotonic()
                self.server.ask("GET", "/page.css")
                slowest[0] = max(slowest[0], time.monotonic() - begin)
                time.sleep(0.01)
        other = threading.Thread(target=others)
        other.start()
        try:
            todo = list(range(self.seed, self.seed + self.count))

            def some():
                while todo:
                    self.send(*self.request(random.Random(todo.pop())))
            senders = [threading.Thread(target=some) for _ in range(4)]
            for s in senders:
                s.start()
            for s in senders:
                s.join()
        finally:
            over.set()
            other.join()
        self.assertIsNone(self.server.process.poll(), "it has ended")
        self.assertIn(self.runs()[run], ("running", "done"))
        memory = memory_of(self.server.process.pid)
        print(f"{self.count} requests from seed {self.seed}: others waited {slowest[0]:.3f} s at most, "
              f"{memory >> 20} MiB")
        self.assertLess(memory, MOST_BYTES * TIMES_LONGER)
        self.assertLess(slowest[0], self.longest_s * TIMES_LONGER)

    def test_bodies_that_grow_are_not_taken(self):
        head = b"POST /TOKEN/api/runs HTTP/1.1\r\nHost: HOST\r\nContent-Length: %d\r\nContent-Encoding: %s\r\n\r\n"
        for encoding, body in ((b"gzip", gzip.compress(b" " * (50 << 20), 9)), (b"br", BROTLI), (b"deflate", b"x")):
            self.assertEqual(self.send(head % (len(body), encoding), body), 415)
        self.assertLess(memory_of(self.server.process.pid), (64 << 20) * TIMES_LONGER)

    def test_ranges_are_ignored(self):
        for n in (1, 300):
            ranges = b",".join(b"%d-%d" % (i, i) for i in range(n))
            head = b"GET /TOKEN/page.js HTTP/1.1\r\nHost: HOST\r\nRange: bytes=" + ranges + b"\r\n\r\n"
            self.assertEqual(self.send(head), 200)
        self.assertEqual(self.send(b"GET /TOKEN/page.js HTTP/1.1\r\nHost: HOST\r\nX: " + b"y" * 5000 + b"\r\n\r\n"), 431)


class Folders(Server):
    def test_the_folder_of_a_running_run_goes_away(self):
        long = self.start(LONG)
        self.server.wait_for(lambda: self.runs().get(long) == "running")
        waiting = self.start(GEMM)
        for name in (long, waiting):
            shutil.rmtree(os.path.join(self.folder, name + ".run"))
        self.server.ask("POST", f"/api/runs/{long}/stop")
        self.server.wait_for(lambda: not self.server.children())
        self.assertEqual(self.runs(), {})
        again = self.server.run(GEMM)
        self.assertEqual(self.runs()[again], "done")

    def test_the_whole_folder_goes_away(self):
        shutil.rmtree(self.folder)
        status, _, text = self.server.ask("POST", "/api/runs", json.dumps(GEMM))
        self.assertIn(status, (400, 409), text)
        self.assertEqual(len(json.loads(text)["fault"].splitlines()), 1)
        os.mkdir(self.folder)
        again = self.server.run(GEMM)
        self.assertEqual(self.runs()[again], "done")

    def test_a_full_disk(self):
        small = os.path.join(self.folder, "disk")
        os.mkdir(small)
        script = 'mount -t tmpfs -o size=64k none "$1" && exec "$2" web "$1"'
        if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", small], capture_output=True).returncode != 0:
            self.skipTest("no file system may be mounted here: needs root, or unshare -m")
        server = self.enterContext(contextlib.closing(
            PageServer(small, command=["unshare", "-m", "sh", "-c", script, "sh", small, KERNBENCH])))
        for _ in range(6):
            status, _, text = server.ask("POST", "/api/runs", json.dumps(GEMM))
            self.assertIn(status, (200, 409), text)
        server.wait_for(lambda: all(r["state"] not in ("running", "waiting") for r in server.runs()))
        self.assertNotIn("done", [r["state"] for r in server.runs()][1:])
        self.assertEqual(server.ask("GET", "/api/system")[0], 200)


class Limits(cli_support.Cli):
    def serve_within(self, limit, as_user=()):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        os.chmod(folder, 0o777)
        command = [*as_user, "bash", "-c", f'{limit} && exec "$0" web "$1"', KERNBENCH, folder]
        return self.enterContext(contextlib.closing(PageServer(folder, command=command)))

    def outlives(self, server):
        for _ in range(3):
            for method, path in (("GET", "/"), ("GET", "/api/system"), ("POST", "/api/runs"), ("GET", "/api/runs")):
                with contextlib.suppress(OSError):
                    server.ask(method, path, json.dumps(GEMM))
        self.assertIsNone(server.process.poll(), "it has ended")
        server.wait_for(lambda: server.ask("GET", "/page.css")[0] == 200)  # with few threads, some must retry

    @unittest.skipIf(os.environ.get("KERNBENCH_SANITIZED"), "UndefinedBehaviorSanitizer asks by a pipe what memory there is")
    def test_few_descriptors(self):
        for n in (12, 14, 16, 20):
            server = self.serve_within(f"ulimit -n {n}")
            held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
            time.sleep(0.1)
            for s in held:
                s.close()
            self.outlives(server)

    def test_few_processes(self):
        as_user = ()
        if os.geteuid() == 0:  # root ignores the permissions
            as_user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
            if subprocess.run([*as_user, KERNBENCH, "--version"], capture_output=True).returncode != 0:
                self.skipTest("nobody may not run the build: needs setpriv, and a folder that all may read")
        for n in (3, 8):
            try:
                server = self.serve_within(f"ulimit -u {n}", as_user)
            except PageServer.NotServing as e:  # not even one thread
                self.assertIn("web: no thread can be started", str(e))
                continue
            self.outlives(server)


if __name__ == "__main__":
    without_web()
    if len(sys.argv) == 3:
        Requests.count, Requests.seed, Requests.longest_s = int(sys.argv[1]), int(sys.argv[2]), 1
        sys.argv[1:] = ["Requests.test_beside_a_run"]
    cli_support.main()
