# SPDX-License-Identifier: Apache-2.0
"""Is an output that is an input, or another output, refused by every command before a file is opened, whatever the path?"""
import os
import shutil
import struct
import subprocess

import cli_support
from cli_support import KERNBENCH, checksum, topology

KERNEL = ("--kernel", "vector_add", "--param", "n=64")


def npy(file, elements):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({elements},), }}".encode()
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    with open(file, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{elements}f", *[1.0] * elements))


class Files(cli_support.FolderCli):
    def setUp(self):
        super().setUp()
        shutil.copy(topology("small.yaml"), self.path("t.yaml"))
        with open(topology("small.yaml")) as f, open(self.path("e.yaml"), "w") as with_energy:
            with_energy.write(f.read() + "\nenergy: n7.yaml\n")
        shutil.copy(topology("energy/n7.yaml"), self.path("n7.yaml"))
        for name in ("a.npy", "c.npy"):
            npy(self.path(name), 64)
        self.run_ = ("run", "--topology", self.path("t.yaml"), *KERNEL)

    def keeps(self, *command, option):
        """Refused in one line that names the option, and no file of the folder is made or changed."""
        before = {f: checksum(self.path(f)) for f in os.listdir(self.folder) if os.path.isfile(self.path(f))}
        self.refuses(*command, saying=(option, "the file of"), lines=1)
        self.assertEqual({f: checksum(self.path(f)) for f in os.listdir(self.folder) if os.path.isfile(self.path(f))}, before,
                         command)

    def test_every_output_of_a_run_over_every_input(self):
        inputs = {"t.yaml": (), "a.npy": ("--tensor", "a=" + self.path("a.npy")),
                  "c.npy": ("--expected", "c=" + self.path("c.npy")), "n7.yaml": ("--energy", self.path("n7.yaml"))}
        every = [word for words in inputs.values() for word in words]
        for file in inputs:
            p = self.path(file)
            for option, value in (("--trace", p), ("--vcd", p), ("--ftr", p), ("--report", p), ("--activity", p),
                                  ("--wiring", p), ("--dump", "c=" + p), ("--oplog", p)):
                with self.subTest(file=file, option=option):
                    self.keeps(*self.run_, *every, option, value, option=option)
            with self.subTest(file=file, option="--log"):
                self.keeps("--log", p, *self.run_, *every, option="--log")
            with self.subTest(file=file, option="--memory"):
                self.keeps(*self.run_, *every, "--oplog", self.path("l.jsonl"), "--memory", p, option="--memory")

    def test_whatever_the_path(self):
        os.symlink(self.path("t.yaml"), self.path("symbolic"))
        os.link(self.path("t.yaml"), self.path("hard"))
        os.symlink(self.folder, self.path("folder"))
        for name in ("symbolic", "hard", "folder/t.yaml", "./x/../t.yaml"):
            self.keeps(*self.run_, "--trace", self.path(name), option="--trace")
        os.rename(self.path("t.yaml"), self.path("r.json.part"))
        self.keeps("run", "--topology", self.path("r.json.part"), *KERNEL, "--trace", self.path("r.json"), option="--trace")

    def test_what_is_named_by_an_input(self):
        """The energy table of a topology; a name among the shipped files."""
        self.keeps("run", "--topology", self.path("e.yaml"), *KERNEL, "--trace", self.path("n7.yaml"), option="--trace")
        os.mkdir(self.path("topologies"))
        shutil.copy(self.path("t.yaml"), self.path("topologies/mine.yaml"))
        done = subprocess.run([KERNBENCH, "run", "--topology", "mine", *KERNEL, "--trace", "topologies/mine.yaml"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("the file of --topology", done.stderr)

    def test_streams_that_are_appended_to_an_input(self):
        before = checksum(self.path("t.yaml"))
        for stream in ("stdout", "stderr"):
            with open(self.path("t.yaml"), "ab") as end:
                done = subprocess.run([KERNBENCH, *self.run_], **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                                                                  stream: end})
            self.assertEqual(done.returncode, 2)
            if stream == "stdout":
                self.assertEqual(checksum(self.path("t.yaml")), before)

    def test_other_commands_that_simulate(self):
        work, trace = self.path("w.json"), self.path("r.csv")
        for file, text in ((work, "{}"), (trace, "id,issue_ns,initiator,op,address,bytes\n")):
            with open(file, "w") as f:
                f.write(text)
        for command, file, outputs in (
                (("traffic", "--topology", self.path("t.yaml"), "--trace", trace), trace,
                 ("--statistics", "--dram-commands", "--vcd", "--ftr")),
                (("pipeline", "--topology", self.path("t.yaml"), "--work", work), work, ("--vcd", "--ftr"))):
            for option in outputs:
                for p in (file, self.path("t.yaml")):
                    self.keeps(*command, option, p, option=option)
            self.keeps("--log", file, *command, option="--log")
        self.keeps("--log", self.path("t.yaml"), "probe", "--topology", self.path("t.yaml"), option="--log")
        self.keeps("--log", self.path("t.yaml"), "topology", self.path("t.yaml"), option="--log")

    def test_commands_on_logs(self):
        log, memory = self.path("l.jsonl"), self.path("l.kbmem")
        self.succeeds(*self.run_, "--oplog", log)
        for p in (log, memory, self.path("c.npy")):
            self.keeps("replay", "--oplog", log, "--expected", "c=" + self.path("c.npy"), "--dump", "c=" + p, option="--dump")
            self.keeps("--log", p, "replay", "--oplog", log, "--expected", "c=" + self.path("c.npy"), option="--log")
        self.keeps("report", log, "--output", log, option="--output")
        os.rename(log, self.path("l.html"))
        self.keeps("report", self.path("l.html"), option="--output")
        for name in ("x.json", "y.json"):
            with open(self.path(name), "w") as f:
                f.write(self.succeeds(*self.run_, "--format", "json"))
            self.keeps("diff", self.path("x.json"), self.path("y.json" if name[0] == "y" else "x.json"), "--report",
                       self.path(name), option="--report")

    def test_commands_over_many_points(self):
        with open(self.path("p.yaml"), "w") as f:
            f.write(f"options: {{topology: {self.path('t.yaml')}, kernel: vector_add, energy: {self.path('n7.yaml')}}}\n"
                    "over: {param.n: [64]}\n")
        base = ("--", *self.run_, "--energy", self.path("n7.yaml"))
        store = self.path("s.sqlite")
        self.succeeds("sweep", "--store", store, "--over", "param.n=64", "--", *self.run_[:-2])
        shutil.copy(store, self.path("other.sqlite"))
        for option in ("--svg", "--report", "--sqlite", "--store"):
            more = ("--pareto", "min:sim_ns,min:gflop") if option == "--svg" else ()
            for p in (self.path("t.yaml"), self.path("n7.yaml")):
                self.keeps("sweep", option, p, *more, "--over", "seed=1,2", *base, option=option)
            for p in (self.path("t.yaml"), self.path("n7.yaml"), self.path("p.yaml")):
                self.keeps("sweep", option, p, *more, "--plan", self.path("p.yaml"), option=option)
            self.keeps("sweep", option, self.path("a.npy"), *more, "--over", "tensor.a=" + self.path("a.npy"), *base,
                       option=option)
        for command in ("serve", "tune"):
            words = ("--stdio", *base) if command == "serve" else ("--over", "seed=1,2", *self.run_[1:])
            self.keeps(command, "--store", self.path("t.yaml"), *words, option="--store")
            self.keeps("--log", self.path("t.yaml"), command, *words, option="--log")
        self.keeps("whatif", "--svg", self.path("t.yaml"), "--", *self.run_, option="--svg")
        self.keeps("sweep", "merge", store, store, option="out")
        self.keeps("sweep", "merge", store, self.path("other.sqlite"), store, option="out")
        self.keeps("sweep", "--report", store, "--store", store, "--over", "param.n=64", "--", *self.run_[:-2], option="--")
        self.succeeds("sweep", "--store", store, "--over", "param.n=64", "--", *self.run_[:-2])  # the sweep continues

    def test_points_do_not_write_one_file(self):
        for command, words in (("sweep", ("--over", "seed=1,2", "--", *self.run_)), ("serve", ("--stdio", "--", *self.run_)),
                               ("tune", ("--over", "seed=1,2", *self.run_[1:]))):
            self.refuses(command, *words, "--oplog", self.path("x.jsonl"), saying=("--oplog", "many points"), lines=1)
        self.refuses("sweep", "--over", f"trace={self.path('x.json')},{self.path('y.json')}", "--", *self.run_,
                     saying=("--trace", "many points"), lines=1)
        self.assertEqual([f for f in os.listdir(self.folder) if f.startswith(("x.", "y."))], [])

    def test_devices_and_pipes_are_exempt(self):
        self.succeeds(*self.run_, "--trace", "/dev/null", "--report", "/dev/null", "--expected", "c=" + self.dump())

    def dump(self):
        self.succeeds(*self.run_, "--dump", "c=" + self.path("golden.npy"))
        return self.path("golden.npy")


if __name__ == "__main__":
    cli_support.main()
