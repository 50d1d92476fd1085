# SPDX-License-Identifier: Apache-2.0
"""Are two outputs of one name, of one command or of two at a time, an error before anything is written?"""
import fcntl
import os
import signal
import subprocess
import time

import cli_support
from cli_support import KERNBENCH, topology

RUN = ("run", "--topology", topology("small.yaml"), "--kernel", "vector_add", "--param", "n=64")


class Outputs(cli_support.FolderCli):
    def put(self, name, text="kept"):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def holds(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def assert_untouched(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))
        for name in names:
            self.assertEqual(self.holds(name), b"kept")

    # ---- one command

    def test_two_outputs_of_one_name(self):
        self.put("a.jsonl")
        os.symlink(self.path("a.jsonl"), self.path("b"))
        os.link(self.path("a.jsonl"), self.path("c"))
        names = ("a.jsonl", "b", "c")
        log = ("--oplog", self.path("a.jsonl"))
        for other in (("--trace", self.path("a.jsonl")), ("--memory", self.path("a.jsonl")), ("--vcd", self.path("a.jsonl")),
                      ("--ftr", self.path("a.jsonl")),
                      ("--dump", "c=" + self.path("a.jsonl")), ("--trace", self.path("b")), ("--trace", self.path("c")),
                      ("--trace", self.path("./x/../a.jsonl"))):
            self.refuses(*RUN, *log, *other, saying=(other[0], "the file of --", "--oplog"), lines=1)
            self.assert_untouched(*names)
        self.refuses(*RUN, *log, "--trace", self.path("a.kbmem"), saying=("--trace", "the file of --memory"), lines=1)
        self.refuses(*RUN, "--vcd", self.path("w.vcd"), "--trace", self.path("w.gtkw"), saying=("the file of",), lines=1)
        self.refuses(*RUN, "--dump", "c=" + self.path("c.npy"), "--trace", self.path("c.npy"), saying=("--dump c",), lines=1)
        self.assert_untouched(*names)

    def test_stdout_in_the_file_of_another_output(self):
        with open(self.path("out"), "wb") as out:
            done = subprocess.run([KERNBENCH, *RUN, "--trace", self.path("out")], stdout=out, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"the file of stdout", done.stderr)

    def test_devices_may_stand_twice(self):
        self.succeeds(*RUN, "--trace", "/dev/null", "--dump", "c=/dev/null")

    def test_a_dump_over_the_log_that_is_replayed(self):
        self.succeeds(*RUN, "--oplog", self.path("l.jsonl"))
        before = self.holds("l.jsonl"), self.holds("l.kbmem")
        for name, option in (("l.jsonl", "--oplog"), ("l.kbmem", "--memory")):
            self.refuses("replay", "--oplog", self.path("l.jsonl"), "--dump", "c=" + self.path(name),
                         saying=("--dump c", "the file of " + option), lines=1)
        self.assertEqual((self.holds("l.jsonl"), self.holds("l.kbmem")), before)

    def test_a_log_with_the_name_of_a_uri(self):
        done = subprocess.run([KERNBENCH, *RUN, "--oplog", "file:x.db"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("file:x.db: found a URI", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(os.listdir(self.folder), [])

    def test_an_empty_name_is_none(self):
        """Of every option that names a file, of every command: it would be as if it were not given."""
        for command, options in (("run", ("--oplog", "--memory", "--trace", "--ftr", "--vcd", "--report", "--wiring",
                                          "--activity", "--dump", "--topology", "--plugin")),
                                 ("replay", ("--oplog", "--memory", "--dump", "--expected")),
                                 ("sweep", ("--store", "--svg", "--sqlite", "--plan")), ("serve", ("--store",)),
                                 ("tune", ("--store", "--plan")), ("pipeline", ("--work", "--vcd", "--ftr")),
                                 ("traffic", ("--trace", "--statistics", "--dram-commands", "--vcd", "--ftr")),
                                 ("whatif", ("--svg",)), ("web", ("--plugin",))):
            for option in options:
                with self.subTest(command=command, option=option):
                    self.refuses(command, option, "", saying=(option, "found ''", "expected the name of a file"),
                                 lines=1)
        self.refuses("diff", "", "x", saying=("found ''",), lines=1)
        self.refuses("sweep", "merge", "", "x", saying=("found ''",), lines=1)
        self.assert_untouched()

    def test_names_that_sqlite_keeps_for_itself(self):
        sweep = ("--over", "param.n=64", "--", "run", "--topology", "small.yaml", "--kernel", "vector_add")
        for name in (":memory:", "file:x", ":"):
            done = subprocess.run([KERNBENCH, "sweep", "--store", name, *sweep], cwd=self.folder, capture_output=True,
                                  text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(name + ": found", done.stderr)
        self.assert_untouched()

    def test_a_table_goes_over_no_other_database(self):
        sweep = ("--over", "param.n=64", "--", *RUN[:-2])
        store = ("--store", self.path("s.sqlite"))
        table = ("--sqlite", self.path("t.sqlite"))
        self.succeeds("sweep", *store, *table, *sweep)
        self.succeeds("sweep", *store, *table, *sweep)  # its own output is overwritten
        self.put("text")
        self.succeeds(*RUN, "--oplog", self.path("log.sqlite"))
        for name in ("s.sqlite", "text", "log.sqlite"):
            before = self.holds(name)
            self.refuses("sweep", "--sqlite", self.path(name), *sweep, saying=("--sqlite", name), lines=1)
            self.assertEqual(self.holds(name), before)
        self.refuses("sweep", *store, "--sqlite", self.path("s.sqlite-owners"), *sweep, saying=("the file of --s",),
                     lines=1)

    def test_a_folder_that_is_not_there_is_told_before_the_run(self):
        run = ("run", "--topology", topology("small.yaml"), "--kernel", "gemm_dot", "--param", "m=100000", "--max-wall", "1")
        for option, name in (("--dump", "c=" + self.path("none/c.npy")), ("--report", self.path("none/r.html")),
                             ("--oplog", self.path("none/l.sqlite"))):
            self.refuses(*run, option, name, saying=("none/", "cannot be written: No such file"), lines=1)
        self.assert_untouched()

    def test_what_stands_twice(self):
        self.succeeds(*RUN, "--dump", "c=" + self.path("c.npy"), "--oplog", self.path("l.jsonl"))
        program = ("run", "--topology", topology("small.yaml"), "--program", "tp_mlp")
        c, none, other = self.path("c.npy"), self.path("none.npy"), self.path("other.npy")
        for command, option, name in ((RUN, "--expected", "c"), (RUN, "--dump", "c"), (RUN, "--tensor", "a"),
                                      (program, "--expected", "y"), (program, "--dump", "y"), (program, "--tensor", "x"),
                                      (("replay", "--oplog", self.path("l.jsonl")), "--expected", "c"),
                                      (("replay", "--oplog", self.path("l.jsonl")), "--dump", "c")):
            with self.subTest(command=command[0], option=option):
                self.refuses(*command, option, f"{name}={c}", option, f"{name}={other}",
                             saying=(option, f"found {name} twice"), lines=1)
                if option != "--dump":
                    self.refuses(*command, option, f"{name}={none}", saying=("none.npy",), lines=1)
        self.assertFalse(os.path.exists(other))

    # ---- two at a time

    def test_one_output_by_two_names(self):
        """A link, also to what is not there yet, is the file that it leads to."""
        for there in (False, True):
            for name in os.listdir(self.folder):
                os.unlink(self.path(name))
            if there:
                self.put("t.json")
            os.symlink("t.json", self.path("link"))
            with open(self.path("t.json.part"), "w") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                self.refuses(*RUN, "--trace", self.path("link"), saying=("link: is being written by another",), lines=1)
            self.succeeds(*RUN, "--trace", self.path("link"))
            self.assertTrue(os.path.islink(self.path("link")))
            self.assertTrue(self.holds("t.json").startswith(b"["))
            self.refuses(*RUN, "--trace", self.path("link"), "--report", self.path("t.json"), saying=("the file of",),
                         lines=1)

    def test_a_log_or_memory_file_that_another_writes(self):
        for log, locked in (("a.jsonl", "a.jsonl"), ("a.jsonl", "a.kbmem"), ("a.db", "a.db"), ("a.db", "a.kbmem")):
            with self.subTest(log=log, locked=locked):
                for name in os.listdir(self.folder):
                    os.unlink(self.path(name))
                self.put(locked)
                with open(self.path(locked)) as held:
                    fcntl.flock(held, fcntl.LOCK_EX)
                    self.refuses(*RUN, "--oplog", self.path(log), saying=(locked + ": is being written by another",),
                                 lines=1)
                    self.assert_untouched(locked)
                self.succeeds(*RUN, "--oplog", self.path(log))
                self.succeeds("replay", "--oplog", self.path(log))

    def test_two_runs_with_one_log(self):
        for name in ("two.jsonl", "two.sqlite"):
            log = self.path(name)
            first = subprocess.Popen([KERNBENCH, "run", "--topology", topology("small.yaml"), "--kernel", "gemm_dot",
                                      "--param", "m=4096", "--param", "n=64", "--param", "k=64", "--oplog", log], stdout=subprocess.DEVNULL)
            while not (os.path.exists(log) and os.path.getsize(log)) and first.poll() is None:
                time.sleep(0.001)
            first.send_signal(signal.SIGSTOP)
            try:
                self.refuses(*RUN, "--oplog", log, saying=("two.", ": is being written by another run"), lines=1)
            finally:
                first.send_signal(signal.SIGCONT)
                self.assertEqual(first.wait(), 0)
            self.succeeds("replay", "--oplog", log)


if __name__ == "__main__":
    cli_support.main()
