# SPDX-License-Identifier: Apache-2.0
"""Is each version that docs/stability.md names the one that the built programs and libraries have?"""
import ctypes
import hashlib
import json
import os
import re
import subprocess
import tempfile

import cli_support
from cli_support import KERNBENCH, topology

SOURCE = os.environ["KERNBENCH_SOURCE"]
LIBRARY = os.environ["KERNBENCH_C_LIBRARY"]


def soname(library):
    text = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    return re.search(r"SONAME.*\[(.*)\]", text).group(1)


class Versions(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(SOURCE, "docs/stability.md")) as f:
            rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in f if line.startswith("| ")]
        cls.now = {row[0]: row[3] for row in rows}
        cls.held_by = [row[4] for row in rows[1:]]

    def documented(self, what):
        found, = [version for name, version in self.now.items() if name.startswith(what)]
        return found

    def test_the_library_and_the_command_line(self):
        version = subprocess.run([KERNBENCH, "--version"], check=True, capture_output=True, text=True).stdout.strip()
        minor = ".".join(version.split(".")[:2])
        for what in ("C++ headers", "C++ ABI", "plug-ins", "command line"):
            self.assertEqual(self.documented(what), minor, what)
        self.assertEqual(soname(os.path.join(os.path.dirname(LIBRARY), "libkernbench_platform.so")),
                         f"libkernbench_platform.so.{minor}")
        with open(os.path.join(SOURCE, "kernel_api/plugin.h")) as f:
            self.assertIn(f'#define KERNBENCH_PLUGIN_VERSION "{minor}"', f.read())

    def test_a_build_names_its_sources(self):
        """Same sources, same name, wherever they lie; stores tell builds apart by it."""
        files = sorted(os.path.join(folder, name)[len(SOURCE) + 1:]
                       for top in ("systemc_models", "platform", "kernel_api", "phase2")
                       for folder, _, names in os.walk(os.path.join(SOURCE, top))
                       for name in names if name.endswith((".cpp", ".h", ".inc")))
        hashes = ""
        for name in files:
            with open(os.path.join(SOURCE, name), "rb") as f:
                hashes += f"{hashlib.sha256(f.read()).hexdigest()} {name}\n"
        for program in (KERNBENCH, os.environ["KERNBENCH_REPLAY"]):
            version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()
            self.assertEqual(version.split("+")[1], hashlib.sha256(hashes.encode()).hexdigest()[:12])

    def test_the_c_interface(self):
        abi = self.documented("C interface")
        self.assertEqual(str(ctypes.CDLL(LIBRARY).kernbench_c_abi()), abi)
        self.assertEqual(soname(LIBRARY), f"libkernbench_c.so.{abi}")

    def test_topologies_logs_and_memory_files(self):
        with tempfile.TemporaryDirectory() as folder:
            def versioned(version):
                path = os.path.join(folder, "t.yaml")
                with open(topology("small.yaml")) as old, open(path, "w") as new:
                    new.write(f"version: {version}\n" + old.read())
                return self.run_cli("topology", path)

            now = int(self.documented("topology YAML"))
            self.assertEqual(versioned(now)[0], 0)
            status, _, err = versioned(now + 1)
            self.assertEqual(status, 2)
            self.assertIn(f"version: found {now + 1}; legal: {now}", err)

            log, memory = os.path.join(folder, "log.jsonl"), os.path.join(folder, "m.kbmem")
            self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "vector_add", "--param", "n=64", "--oplog",
                          log, "--memory", memory)
            with open(log) as f:
                self.assertIn(f'"version":{self.documented("op log")},', f.readline())
            with open(memory, "rb") as f:
                self.assertEqual(f.read(8).decode(), "KBMEM" + self.documented("memory file"))

    def test_the_protocol_of_points_on_demand(self):
        hello = json.loads(self.succeeds("serve", "--stdio"))  # stdin is empty
        self.assertEqual(str(hello["protocol"]), self.documented("points on demand"))

    def test_registers(self):
        with open(os.path.join(SOURCE, "platform/launch/host_interface.h")) as f:
            value = int(re.search(r"kIdValue = (0x[0-9a-f']+)", f.read()).group(1).replace("'", ""), 16)
        self.assertEqual(str(value >> 48), self.documented("host registers"))

    def test_what_holds_a_promise_is_there(self):
        files = [name for cell in self.held_by for name in re.findall(r"`([\w/]+(?:_test\.\w+|/))`", cell)]
        self.assertGreater(len(files), 7)
        for name in files:
            self.assertTrue(os.path.exists(os.path.join(SOURCE, "sc_tests", name)), name)


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("Python is not built with them")
    cli_support.main()
