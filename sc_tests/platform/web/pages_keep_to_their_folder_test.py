# SPDX-License-Identifier: Apache-2.0
"""What `kernbench web` must not do for anybody: give a file from outside its folder, serve without its token, to another
site or host, take requests without end in bytes or time, outlive its Ctrl-C. And what it must: go on serving."""
import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile
import time

import cli_support
from cli_support import TIMES_LONGER, topology
from page_server import PageServer, without_web

GEMM = {"kernel": "gemm", "topology": "small.yaml", "params": {}, "options": {}}


class Pages(cli_support.Cli):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.outside = self.enterContext(tempfile.TemporaryDirectory())
        shutil.copy(topology("one_cube.yaml"), os.path.join(self.folder, "mine.yaml"))
        self.server = self.enterContext(contextlib.closing(PageServer(self.folder)))

    def still_serves(self):
        status, _, text = self.server.ask("GET", "/api/system")
        self.assertEqual(status, 200)
        self.assertIn("mine.yaml", json.loads(text)["topologies"])


class Strangers(Pages):
    def test_another_token(self):
        token = self.server.token
        wrong = [token[:-1] + ("0" if token[-1] != "0" else "1"), token[:-1], token + "0", "", "..", token.upper() + "x"]
        for other in wrong:
            for path in ("/", "/api/runs", "/api/system", "/page.js"):
                status, _, text = self.server.ask("GET", f"/{other}{path}", token=False)
                self.assertEqual(status, 403, (other, path))
                self.assertNotIn(token.encode(), text)
        status, _, _ = self.server.ask("POST", "/x/api/runs", json.dumps(GEMM), token=False)
        self.assertEqual(status, 403)
        self.assertEqual(os.listdir(self.folder), ["mine.yaml"])
        self.still_serves()

    def test_another_host_or_site(self):
        port = self.server.port
        for headers in ({"Host": f"evil.example:{port}"}, {"Host": "127.0.0.1"}, {"Host": ""},
                        {"Host": f"127.0.0.1:{port}", "Origin": "http://evil.example"},
                        {"Host": f"127.0.0.1:{port}", "Origin": "null"}):
            status, _, _ = self.server.ask("POST", "/api/runs", json.dumps(GEMM), headers=headers)
            self.assertIn(status, (400, 403), headers)
        self.assertEqual(os.listdir(self.folder), ["mine.yaml"])
        status, _, _ = self.server.ask("GET", "/api/runs", headers={"Host": f"localhost:{port}"})
        self.assertEqual(status, 200)

    def test_listens_on_the_loopback_alone(self):
        wanted = f"{self.server.port:04X}"
        with open("/proc/net/tcp", encoding="ascii") as f:
            heard = [line.split()[1] for line in f.readlines()[1:] if line.split()[3] == "0A"]
        self.assertEqual([a for a in heard if a.endswith(":" + wanted)], ["0100007F:" + wanted])

    def test_pages_say_what_they_may_load(self):
        run = self.server.run(GEMM)
        for path in ("/", "/page.js", f"/runs/{run}/report.html", f"/runs/{run}/run.json"):
            _, headers, _ = self.server.ask("GET", path)
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer", "the token stays here")
            self.assertEqual("'unsafe-inline'" in policy.split("script-src")[-1].split(";")[0],
                             path.endswith("report.html"))
        _, headers, _ = self.server.ask("GET", f"/runs/{run}/report.html")
        self.assertTrue(headers["Content-Security-Policy"].startswith("sandbox allow-scripts;"), "it has no origin")


class Ways(Pages):
    def test_no_path_leads_out(self):
        secret = os.path.join(self.outside, "secret.yaml")
        shutil.copy(topology("one_cube.yaml"), secret)
        with open(os.path.join(self.outside, "report.html"), "w", encoding="utf-8") as f:
            f.write("secret")
        run = self.server.run(GEMM)
        name = os.path.basename(self.outside)
        for path in ("/../../../etc/passwd", "/runs/../../etc/passwd", "/runs/..%2f..%2fetc/passwd",
                     "/runs/%2e%2e/report.html", f"/runs/..%2f..%2f{name}/report.html", "/runs//etc/passwd",
                     f"/runs/{run}/../../mine.yaml", f"/runs/{run}/..%2f..%2fmine.yaml", f"/runs/{run}/request.json",
                     f"/runs/{run}/report.html%00.txt", f"/runs/{run}%00/report.html", "/runs/./report.html",
                     "/topologies/..%2f..%2f..%2fetc%2fpasswd.svg", f"/topologies/..%2f{name}%2fsecret.yaml.svg",
                     "/topologies/-h.svg", "/topologies/--plugin=x.so.svg",
                     "/api/diff?a=../x&b=../y", f"/api/diff?a={run}&b=..%2f..%2fetc%2fpasswd", "//etc/passwd",
                     "/\\..\\..\\etc\\passwd", "/api/runs/../../x/stop"):
            status, _, text = self.server.ask("GET", path)
            self.assertIn(status, (400, 403, 404), path)
            self.assertNotIn(b"root:", text)
            self.assertNotIn(b"secret", text)
        self.still_serves()

    def test_no_link_leads_out(self):
        run = self.server.run(GEMM)
        shutil.copy(topology("one_cube.yaml"), os.path.join(self.outside, "secret.yaml"))
        with open(os.path.join(self.outside, "report.html"), "w", encoding="utf-8") as f:
            f.write("secret")
        os.symlink(os.path.join(self.outside, "secret.yaml"), os.path.join(self.folder, "linked.yaml"))
        os.symlink(self.outside, os.path.join(self.folder, "linked.run"))
        report = os.path.join(self.folder, run + ".run", "report.html")
        os.remove(report)
        os.symlink(os.path.join(self.outside, "report.html"), report)
        _, _, text = self.server.ask("GET", "/api/system")
        self.assertNotIn("linked.yaml", json.loads(text)["topologies"])
        self.assertEqual([r["name"] for r in self.server.runs()], [run])
        for path in ("/topologies/linked.yaml.svg", "/runs/linked/report.html", f"/runs/{run}/report.html"):
            self.assertEqual(self.server.ask("GET", path)[0], 404, path)
        status, _, text = self.server.ask("POST", "/api/runs", json.dumps({**GEMM, "topology": "linked.yaml"}))
        self.assertEqual((status, json.loads(text)), (400, {"fault": "request: topology: no 'linked.yaml' here"}))

    def test_a_fifo_is_no_file_of_a_run(self):
        run = self.server.run(GEMM)
        report = os.path.join(self.folder, run + ".run", "report.html")
        os.remove(report)
        os.mkfifo(report)
        self.assertEqual(self.server.ask("GET", f"/runs/{run}/report.html")[0], 404)
        self.still_serves()

    def test_requests_are_what_they_must_be(self):
        bad = {"": "not JSON", "{": "not JSON", "[]": "object", "null": "object", "{}": "a kernel, a program or a model",
               '{"kernel":"gemm"}': "topology", '{"kernel":1,"topology":"mine.yaml"}': "kernel",
               '{"kernel":"gemm","program":"tp_mlp","topology":"mine.yaml"}': "one of them",
               '{"kernel":"gemm","kernel":"gemm","topology":"mine.yaml"}': "twice",
               '{"kernel":"--help","topology":"mine.yaml"}': "name", '{"kernel":"gemm","topology":"../x.yaml"}': "name",
               '{"kernel":"gemm","topology":"/etc/passwd"}': "name",
               '{"kernel":"gemm","topology":"mine.yaml","x":1}': "no field",
               '{"kernel":"gemm","topology":"mine.yaml","options":{"oplog":"/tmp/x"}}': "oplog",
               '{"kernel":"gemm","topology":"mine.yaml","options":{"report":"/tmp/x"}}': "report",
               '{"kernel":"gemm","topology":"mine.yaml","options":{"verify":"yes"}}': "verify",
               '{"kernel":"gemm","topology":"mine.yaml","params":{"m=1 --x":"1"}}': "params",
               '{"kernel":"gemm","topology":"mine.yaml","params":{"m":[1]}}': "m",
               '{"kernel":"gemm","topology":"mine.yaml","set":"x"}': "list",
               '{"kernel":"gemm","topology":"mine.yaml","set":["a\\u0000b"]}': "set",
               '{"kernel":"gemm","topology":"none.yaml"}': "none.yaml",
               '{"kernel":"' + "g" * 5000 + '","topology":"mine.yaml"}': "kernel",
               "[" * 5000: "deep"}
        for body, word in bad.items():
            status, _, text = self.server.ask("POST", "/api/runs", body)
            self.assertEqual(status, 400, body[:80])
            fault = json.loads(text)["fault"]
            self.assertIn(word, fault)
            self.assertNotIn("\n", fault)
            self.assertNotRegex(fault, cli_support.BARE)
        self.assertEqual(os.listdir(self.folder), ["mine.yaml"])

    def test_what_run_refuses_is_told(self):
        for change, word in (({"kernel": "nosuch"}, "nosuch"), ({"params": {"m": "-3"}}, "m"),
                             ({"set": ["--help"]}, "--help"), ({"options": {"seed": "$(id)"}}, "seed"),
                             ({"scale": ["x=1; rm"]}, "scale")):
            run = self.server.run({**GEMM, **change})
            found = next(r for r in self.server.runs() if r["name"] == run)
            self.assertEqual((found["state"], found["end"]["status"]), ("failed", 2), found)
            self.assertIn(word, found["said"][0])


class Floods(Pages):
    def test_bodies_without_end(self):
        for chunked in (False, True):
            with socket.create_connection(("127.0.0.1", self.server.port)) as s:
                head = f"POST /{self.server.token}/api/runs HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n"
                s.sendall((head + ("Transfer-Encoding: chunked" if chunked else "Content-Length: 99999999999") +
                           "\r\n\r\n").encode())
                sent, piece = 0, b"x" * 65536
                with contextlib.suppress(ConnectionError):
                    while sent < 64 << 20:
                        s.sendall(b"10000\r\n" + piece + b"\r\n" if chunked else piece)
                        sent += len(piece)
                self.assertLess(sent, 64 << 20, "it went on taking them")
        self.assertEqual(os.listdir(self.folder), ["mine.yaml"])
        self.still_serves()

    def test_heads_without_end(self):
        for line in (b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 60000,
                     b"GET / HTTP/1.1\r\nX: " + b"y" * 300000, b"\x00" * 100000, b"\r\n" * 100000):
            with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", self.server.port)) as s:
                s.settimeout(20 * TIMES_LONGER)
                s.sendall(line)
                while s.recv(65536):
                    pass
            self.still_serves()

    def test_slow_clients_have_their_time_and_no_more(self):
        """One that sends a byte now and then is cut off; while as many as are served hold on, others are told at once."""
        slow = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(40)]
        begin = time.monotonic()
        with contextlib.suppress(ConnectionError):
            for s in slow:
                s.sendall(b"GET /")
        status, _, _ = self.server.ask("GET", "/api/runs")
        self.assertIn(status, (200, 503))
        self.assertLess(time.monotonic() - begin, 4 * TIMES_LONGER, "nobody waits for them")
        closed = set()
        while len(closed) < len(slow) and time.monotonic() - begin < 30 * TIMES_LONGER:
            for s in slow:
                if s not in closed:
                    try:
                        s.sendall(b"a")
                    except ConnectionError:
                        closed.add(s)
            time.sleep(0.2)
        self.assertEqual(len(closed), len(slow))
        self.assertLess(time.monotonic() - begin, 12 * TIMES_LONGER)
        for s in slow:
            s.close()
        self.still_serves()

    def test_clients_that_read_nothing(self):
        run = self.server.run(GEMM)
        deaf = []
        for _ in range(8):
            s = socket.create_connection(("127.0.0.1", self.server.port))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(f"GET /{self.server.token}/runs/{run}/report.html HTTP/1.1\r\n"
                      f"Host: 127.0.0.1:{self.server.port}\r\n\r\n".encode())
            deaf.append(s)
        self.still_serves()
        for s in deaf:
            s.close()
        self.still_serves()


class Ends(Pages):
    def test_ctrl_c_ends_it_and_its_runs(self):
        self.server.ask("POST", "/api/runs", json.dumps({**GEMM, "topology": "default.yaml", "params":
                                                         {"m": "8192", "n": "8192", "k": "8192"}}))
        self.server.wait_for(lambda: [r for r in self.server.runs() if r["state"] == "running"])
        children = self.server.children()
        self.assertTrue(children)
        self.server.process.send_signal(signal.SIGINT)
        self.assertEqual(self.server.process.wait(30 * TIMES_LONGER), 130)
        for pid in children:
            self.assertFalse(os.path.exists(f"/proc/{pid}"), "a run outlives the page")

    def test_killed_it_takes_its_runs_with_it_and_the_next_says_so(self):
        self.server.ask("POST", "/api/runs", json.dumps({**GEMM, "topology": "default.yaml", "params":
                                                         {"m": "8192", "n": "8192", "k": "8192"}}))
        self.server.wait_for(lambda: [r for r in self.server.runs() if r["state"] == "running"])
        children = self.server.children()
        self.server.process.kill()
        self.server.process.wait()
        self.server.wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in children))
        with contextlib.closing(PageServer(self.folder)) as again:
            self.assertEqual([r["state"] for r in again.runs()], ["cut off"])

    def test_damaged_runs_are_passed_over(self):
        run = self.server.run(GEMM)
        folder = os.path.join(self.folder, run + ".run")
        for file, left in (("run.json", "done"), ("end.json", "cut off"), ("request.json", None)):
            with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
                f.write('{"status": 1e99')
            self.assertEqual([r["state"] for r in self.server.runs()], [left] if left else [])


class Starts(cli_support.Cli):
    def test_what_cannot_be_served(self):
        self.refuses("web", "/no/such/folder", saying=["/no/such/folder"], lines=1)
        self.refuses("web", cli_support.KERNBENCH, saying=["folder"], lines=1)
        self.refuses("web", "--port", "70000", saying=["--port"], lines=1)
        self.refuses("web", "--jobs", "0", saying=["--jobs"], lines=1)
        self.refuses("web", "--nosuch", saying=["--nosuch"], lines=1)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.refuses("web", "--port", port, status=1, saying=[str(port)], lines=1)
        self.assertIn("--port", self.succeeds("web", "--help"))


if __name__ == "__main__":
    without_web()
    cli_support.main()
