# SPDX-License-Identifier: Apache-2.0
"""Chromium for tests of pages; CHROMIUM is None where there is none."""
import base64
import contextlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

import cli_support

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """Chromium without a window, told what to do by its DevTools protocol."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             f"--user-data-dir={folder}", "--window-size=1280,1000", "about:blank"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        port = next(m[1] for m in (re.search(r"ws://127\.0\.0\.1:(\d+)/", line) for line in self.process.stderr) if m)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            page = next(t for t in json.load(answer) if t["type"] == "page")
        self.socket = socket.create_connection(("127.0.0.1", int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        way = page["webSocketDebuggerUrl"].split(port, 1)[1]
        self.socket.sendall((f"GET {way} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                             f"Upgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.stream = self.socket.makefile("rb")
        while self.stream.readline() != b"\r\n":
            pass
        self.calls, self.events = 0, []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.stream.close()
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()

    def call(self, method, **parameters):
        self.calls += 1
        message = json.dumps({"id": self.calls, "method": method, "params": parameters}).encode()
        mask = os.urandom(4)
        size = bytes([0x80 | len(message)]) if len(message) < 126 else b"\xfe" + struct.pack(">H", len(message))
        self.socket.sendall(b"\x81" + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(message)))
        while True:
            answer = self.receive()
            if answer.get("id") == self.calls:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        message = b""
        while True:
            first, second = self.stream.read(2)
            size = second & 127
            if size >= 126:
                size = struct.unpack(">H" if size == 126 else ">Q", self.stream.read(2 if size == 126 else 8))[0]
            message += self.stream.read(size)
            if first & 0x80:
                return json.loads(message)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait_for(self, what, seconds=30):
        """Until it is true: an expression of the page, or a function here. What is drawn comes with the next frame."""
        end = time.monotonic() + seconds * cli_support.TIMES_LONGER
        while time.monotonic() < end:
            if callable(what):
                self.value("0")  # events so far are delivered with a response
            found = what() if callable(what) else self.value(what)
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"never true: {what}")

    def open(self, url):
        """Until the page says that it is ready; what it says."""
        self.call("Page.navigate", url=url)
        return float(self.wait_for("document.readyState === 'complete' && document.documentElement.dataset.ready"))

    def text(self, element):
        return self.value(f"document.getElementById({element!r}).textContent")

    def place(self, selector):
        """Of an element, in the window: left, top, width, height."""
        return self.value(f"""(() => {{ const e = document.querySelector({selector!r});
                              e.scrollIntoView({{block: 'center'}});
                              const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; }})()""")

    def key(self, key, code=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def click(self, selector, x=0.5, y=0.5):
        left, top, width, height = self.place(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=left + x * width, y=top + y * height, button="left",
                      clickCount=1)

    def focus(self, selector):
        self.value(f"document.querySelector({selector!r}).focus()")

    def complaints(self):
        return [e["params"] for e in self.events
                if e["method"] in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")]

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]


def browser_of(test):
    """Chromium with a profile of its own, until the test ends."""
    profile = test.enterContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
    return test.enterContext(contextlib.closing(Browser(profile)))
