# SPDX-License-Identifier: Apache-2.0
"""Do dumps, traces, waveforms and pictures take their names only when they are whole, and go through links, pipes and
devices all the same?"""
import fcntl
import json
import os
import stat
import subprocess

import cli_support
from cli_support import KERNBENCH, topology
from ftr_reader import Ftr

RUN = ("run", "--topology", topology("small.yaml"), "--kernel", "vector_add", "--param", "n=64")
BYTES = 128 + 4 * 64


class Outputs(cli_support.FolderCli):
    def put(self, name, content=b"kept"):
        with open(self.path(name), "wb") as f:
            f.write(content)
        return self.path(name)

    def holds(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def dump(self, name):
        return (*RUN, "--dump", "c=" + self.path(name))

    def test_through_a_link(self):
        self.put("there")
        os.symlink("there", self.path("link"))
        os.symlink("made", self.path("leads_nowhere"))
        for link, target in (("link", "there"), ("leads_nowhere", "made")):
            self.succeeds(*self.dump(link))
            self.assertTrue(os.path.islink(self.path(link)))
            self.assertEqual(len(self.holds(target)), BYTES)
        self.assertEqual(sorted(os.listdir(self.folder)), ["leads_nowhere", "link", "made", "there"])

    def test_through_a_pipe_and_a_device(self):
        os.mkfifo(self.path("pipe"))
        run = subprocess.Popen([KERNBENCH, *self.dump("pipe")], stdout=subprocess.DEVNULL)
        self.assertEqual(len(self.holds("pipe")), BYTES)
        self.assertEqual(run.wait(), 0)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        done = subprocess.run([KERNBENCH, *RUN, "--dump", "c=/dev/stderr"], capture_output=True)
        self.assertEqual((done.returncode, len(done.stderr)), (0, BYTES))
        self.refuses(*RUN, "--dump", "c=/dev/full", status=1, saying=["/dev/full: cannot be written to its end: No space"],
                     lines=1)
        self.assertEqual(os.listdir(self.folder), ["pipe"])

    def test_permissions_stay(self):
        os.chmod(self.put("c.npy"), 0o640)
        self.succeeds(*self.dump("c.npy"))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("c.npy")).st_mode), 0o640)
        umask = os.umask(0)
        os.umask(umask)
        self.succeeds(*self.dump("new.npy"))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("new.npy")).st_mode), 0o666 & ~umask)
        if os.geteuid() == 0:
            return  # root may write everywhere
        os.chmod(self.put("c.npy"), 0o444)
        self.refuses(*self.dump("c.npy"), saying=["c.npy: cannot be written: Permission denied"], lines=1)
        self.assertEqual(self.holds("c.npy"), b"kept")

    def test_what_a_killed_run_left(self):
        self.put("c.npy.part", bytes(10000))
        self.succeeds(*self.dump("c.npy"))
        self.assertEqual(os.listdir(self.folder), ["c.npy"])
        self.assertEqual(len(self.holds("c.npy")), BYTES)

    def test_of_two_runs_one_writes(self):
        self.put("c.npy")
        with open(self.put("c.npy.part")) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.refuses(*self.dump("c.npy"), saying=["c.npy: is being written by another run"], lines=1)
        self.assertEqual((self.holds("c.npy"), self.holds("c.npy.part")), (b"kept", b"kept"))

    def test_a_run_that_fails_keeps_what_has_happened(self):
        self.refuses(*self.dump("c.npy"), "--trace", self.path("t.json"), "--vcd", self.path("v.vcd"), "--ftr",
                     self.path("r.ftr"), "--max-time", "60", status=1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["r.ftr", "t.json", "v.gtkw", "v.states.txt", "v.vcd"])
        self.assertGreater(len(json.loads(self.holds("t.json"))), 10)
        self.assertRegex(self.holds("v.vcd"), rb"\n#\d+\n(.*\n)+\Z")
        self.assertTrue(Ftr(self.holds("r.ftr")).complete)


if __name__ == "__main__":
    cli_support.main()
