# SPDX-License-Identifier: Apache-2.0
"""A `kernbench web` for tests: started on a free port, asked by http.client, ended."""
import http.client
import json
import os
import re
import subprocess
import tempfile
import time

import cli_support


def has_web():
    """Whether this build has a page server."""
    return os.path.exists(os.path.join(os.path.dirname(cli_support.KERNBENCH), "kernbench-web"))


def without_web():
    """Ends the test as skipped where it has none."""
    if not has_web():
        cli_support.leave_out("built without cpp-httplib (Debian: apt-get install libcpp-httplib-dev)")


class PageServer:
    class NotServing(Exception):
        """What it said instead of its address."""

    def __init__(self, folder, *options, command=()):
        """`command`: what becomes the server, where that is more."""
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command or [cli_support.KERNBENCH, "web", folder, *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.url = self.process.stdout.readline().strip().rstrip("/")
        if not self.url:
            self.process.wait()
            said = self.said()
            self.close()
            raise self.NotServing(said)
        port, self.token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})", self.url).groups()
        self.port = int(port)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def said(self):
        """Its stderr up to here."""
        return os.pread(self.errors.fileno(), 1 << 20, 0).decode()

    def ask(self, method, path, body=None, headers=None, token=True):
        """Status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60 * cli_support.TIMES_LONGER)
        connection.putrequest(method, (f"/{self.token}" if token else "") + path, skip_host=bool(headers))
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        data = (body or "").encode()
        if method == "POST":
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        try:
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def runs(self):
        return json.loads(self.ask("GET", "/api/runs")[2])

    def run(self, request):
        """Starts it and waits for its end; its name."""
        status, _, text = self.ask("POST", "/api/runs", json.dumps(request))
        assert status == 200, text
        name = json.loads(text)["name"]
        self.wait_for(lambda: all(r["name"] != name or r["state"] not in ("running", "waiting") for r in self.runs()))
        return name

    def children(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as f:
            return f.read().split()

    @staticmethod
    def wait_for(what, seconds=60):
        end = time.monotonic() + seconds * cli_support.TIMES_LONGER
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError("never true")
