# SPDX-License-Identifier: Apache-2.0
"""Where does the command line keep meshes, does it say so only when asked, and does the output stay the same?"""
import os
import shutil
import subprocess
import tempfile
import unittest

from cli_support import KERNBENCH, main, topology


class Cache(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.home)

    def run_with(self, *options, **variables):
        environment = {k: v for k, v in os.environ.items() if k not in ("KERNBENCH_CACHE", "XDG_CACHE_HOME", "HOME")}
        environment.update(variables)
        done = subprocess.run([KERNBENCH, *options, "topology", topology("small.yaml"), "--format", "json"],
                              env=environment, cwd=self.home, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def files(self, *folder):
        path = os.path.join(self.home, *folder)
        return os.listdir(path) if os.path.isdir(path) else []

    def test_lies_where_xdg_says(self):
        self.run_with(HOME=self.home)
        self.assertEqual(len(self.files(".cache", "kernbench")), 1)
        self.run_with(HOME=self.home, XDG_CACHE_HOME=os.path.join(self.home, "xdg"))
        self.assertEqual(len(self.files("xdg", "kernbench")), 1)
        self.run_with(HOME=self.home, XDG_CACHE_HOME="relative")  # invalid: treated as not set
        self.assertEqual(self.files("relative"), [])

    def test_can_be_moved_and_switched_off(self):
        self.run_with(HOME=self.home, KERNBENCH_CACHE=os.path.join(self.home, "mine"))
        self.assertEqual(len(self.files("mine")), 1)
        self.run_with(HOME=self.home, KERNBENCH_CACHE="off")
        self.run_with()  # no home
        self.assertEqual(self.files(), ["mine"])

    def test_is_spoken_of_only_when_asked_and_changes_no_output(self):
        without, err = self.run_with(HOME=self.home, KERNBENCH_CACHE="off")
        self.assertEqual(err, "")
        self.assertEqual(self.run_with(HOME=self.home), (without, ""))
        file, = self.files(".cache", "kernbench")
        out, err = self.run_with("-v", HOME=self.home)
        self.assertEqual(out, without)
        self.assertIn("mesh cache: taken from", err)
        with open(os.path.join(self.home, ".cache", "kernbench", file), "w") as f:
            f.write("spoiled")
        out, err = self.run_with("-v", HOME=self.home)
        self.assertEqual(out, without)
        self.assertIn("is damaged; made anew", err)
        self.assertEqual(self.run_with(HOME=self.home), (without, ""))


if __name__ == "__main__":
    main()
