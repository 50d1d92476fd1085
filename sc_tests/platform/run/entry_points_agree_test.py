# SPDX-License-Identifier: Apache-2.0
"""Is a run the same by every way in? Each option of each command that simulates, with values from what its entry in the
table declares, goes through the command line, the library, the C interface and, where they take it, a sweep's row, serve,
whatif and web. Records and faults must be equal."""
import ctypes
import json
import os
import re
import subprocess
import unittest

import cli_support
import page_server
from cli_support import KERNBENCH, sample, topology

# Options whose legal values only the run can check. Any other text is no_such, which all must refuse equally.
SAMPLES = {"links": ["flit"], "set": ["*.pe_math.freq_ghz=0.5"], "scale": ["hbm=2"], "energy": ["n7.yaml"],
           "pes": ["leaders"], "device": ["sip:0"], "ranks": ["1"], "isa": ["portable"], "predict": ["hbm=2"],
           "corrupt": ["c"], "kernel": ["gemm_2d"], "program": ["no_such"], "param": ["n=128"], "phase": ["prefill:4"],
           "op": ["all_gather"], "over": ["pe"], "sizes": ["2K"], "dtype": ["f16", "no_such"], "algorithm": ["ring"],
           "case": ["no_such"], "max-time": ["1e9", "1"]}
MODEL = {"model_type": "llama", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1,
         "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 64, "max_position_embeddings": 64,
         "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "torch_dtype": "float32", "hidden_act": "silu",
         "tie_word_embeddings": False}


class Pair(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class Library:
    """Programs that stay alive: the library's run() in C++, and the C interface in this process."""

    def __init__(self):
        self.specs = subprocess.Popen([os.environ["KERNBENCH_RUN_SPECS"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True)
        self.c = ctypes.CDLL(os.environ["KERNBENCH_C_LIBRARY"])
        self.c.kernbench_last_error.restype = ctypes.c_char_p

    def close(self):
        self.specs.communicate()

    def cpp(self, words):
        self.specs.stdin.write(json.dumps(words) + "\n")
        self.specs.stdin.flush()
        return json.loads(self.specs.stdout.readline())

    def by_c(self, command, options):
        pairs = (Pair * len(options))(*[Pair(n.encode(), v.encode()) for n, v in options])
        record, text = ctypes.c_void_p(), ctypes.c_char_p()
        status = self.c.kernbench_run(command.encode(), pairs, ctypes.c_size_t(len(options)), ctypes.byref(record))
        if not record:
            return {"status": status, "faults": self.c.kernbench_last_error().decode().split("\n")}
        assert self.c.kernbench_record_json(record, ctypes.byref(text)) == 0
        found = json.loads(text.value)
        assert self.c.kernbench_record_destroy(record) == 0
        return found


def plain(report):
    """Without what is another one every time."""
    if isinstance(report, str):
        return [line for line in report.splitlines() if "wall" not in line]
    return {k: v for k, v in report.items() if k != "wall_s"}


def faults_of(lines):
    """Without the program's name, which the command line puts in front."""
    return [line.removeprefix("kernbench: ") for line in lines]


class EntryPoints(cli_support.FolderCli):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tables = json.loads(subprocess.run([KERNBENCH, "list", "options", "--format", "json"], check=True,
                                               capture_output=True).stdout)
        cls.library = Library()
        cls.addClassCleanup(cls.library.close)

    def values_of(self, command, o):
        if o["name"] == "format":
            return []  # set by each entry point; below
        if o["type"] == "flag":
            return ["true", *o["legal"], "no_such"] if o["legal"] else ["true"]
        if o["legal"]:
            return [*o["legal"], "no_such"]
        if o["name"] in SAMPLES:
            return SAMPLES[o["name"]]
        if o["type"] == "whole":
            return [str(max(1, int(o["least"]))), "x", "01"]
        if o["type"] == "positive":
            return [str(o["most"]), "0"]
        if o["type"] == "number":
            return ["10", "x"]
        if o["file"] == "written":
            return [("out=" if o["often"] == "named" else "") + os.path.join(self.folder, f"{o['name']}.out")]
        return ["no_such=no_such" if o["often"] in ("named", "targets") else "no_such"]

    def cases(self, command, base):
        """Options of a run: the base with one of the table's, and what that needs beside it."""
        by_name = {o["name"]: o for o in self.tables[command]}
        for o in self.tables[command]:
            for value in self.values_of(command, o):
                options = [(n, v) for n, v in base if n != o["name"] or o["often"] in ("each", "targets")]
                needed = o
                while needed["needs"] and needed["needs"][0] not in dict(options):
                    needed = by_name[needed["needs"][0]]
                    options.append((needed["name"], self.values_of(command, needed)[0]))
                yield o, [*options, (o["name"], value)]

    @staticmethod
    def words(options):
        return [f"--{name}" if value == "true" else f"--{name}={value}" for name, value in options]

    def cli(self, command, options, form="json"):
        status, out, err = self.run_cli(command, *self.words(options), "--format", form)
        lines = err.splitlines()
        report = (json.loads(out) if form == "json" else out) if out else None
        return status, report, lines

    def check_libraries(self, command, options, form="json"):
        """The record of the command line, which the libraries' are held against; None where it has no report."""
        status, report, lines = self.cli(command, options, form)
        spec = [*options, ("format", form)]
        for record in (self.library.cpp([command, *self.words(spec)]), self.library.by_c(command, spec)):
            self.assertEqual(record["status"], status, record)
            if report is None:
                self.assertEqual(faults_of(record["faults"]), faults_of(lines))
            else:
                self.assertEqual(plain(record["report"]), plain(report))
                self.assertEqual(record["told"], lines)
        return status, report, lines

    def test_a_run(self):
        base = [("topology", topology("small.yaml")), ("kernel", "vector_add"), ("param", "n=64")]
        metrics = [m.split()[0] for m in self.succeeds("sweep", "--list-metrics").splitlines() if "--explain" not in m]
        metrics = [m for m in metrics if m not in ("wall_s", "error", "command", "key")]
        server = subprocess.Popen([KERNBENCH, "serve", "--stdio", "--jobs", "1", "--", "run"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.communicate)
        server.stdout.readline()
        for o, options in self.cases("run", base):
            with self.subTest(option=o["name"], value=options[-1][1]):
                status, report, lines = self.check_libraries("run", options)
                # Points use --threads of their sweep or service and do not report it.
                first = next((line for line in lines if "warning: --threads" not in line), "")
                if o["role"] in ("decides", "shows", "works"):
                    self.check_sweep(options, metrics, status, report, first)
                    self.check_serve(server, o, options, status, report, first)
                    self.check_whatif(options, report, first)
        self.check_libraries("run", base, "text")

    def check_sweep(self, options, metrics, status, report, first):
        over = "seed" if any(n == "threads" for n, _ in options) else "threads"
        found, out, err = self.run_cli("sweep", "--format", "json", "--metric", ",".join(metrics), "--over", f"{over}=1",
                                       "--", "run", *self.words(options))
        if not out:  # refused as a whole, before any point
            self.assertEqual((found, status), (2, 2))
            self.assertIn(first.removeprefix("kernbench: "), err)
            return
        (row,) = json.loads(out)
        self.assertEqual(row["exit"], status)
        self.assertEqual(err.split(": ", 1)[1].rstrip("\n") if err else "", first)
        if report is not None:
            self.assertEqual({m: row[m] for m in metrics if row.get(m) is not None},
                             {m: v for m, v in report["figures"].items() if m in metrics})

    def check_serve(self, server, o, options, status, report, first):
        if o["type"] == "flag" and options[-1][1] != "true":
            return  # its requests have true and false
        by_name = {t["name"]: t for t in self.tables["run"]}
        asked = {}
        for name, value in options:
            if by_name[name]["often"] in ("named", "targets"):
                key, _, value = value.rpartition("=") if by_name[name]["often"] == "targets" else value.partition("=")
                asked[f"{name}.{key}"] = value
            else:
                asked[name] = True if value == "true" else value
        if not all(by_name[name]["role"] in ("decides", "shows", "works") for name, _ in options):
            return
        server.stdin.write(json.dumps({"id": 1, "options": asked}) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        self.assertEqual(answer["status"], status)
        error = re.sub(r"^line \d+: options\.", "kernbench: --", answer.get("error", ""))
        self.assertEqual(error, first)
        if report is not None:
            self.assertEqual(answer["metrics"], report["figures"])

    def check_whatif(self, options, report, first):
        if any(t["role"] == "writes" for t in self.tables["run"] if t["name"] in dict(options)):
            return
        found, out, err = self.run_cli("whatif", "--predict", "--format", "json", "--", "run", *self.words(options))
        if report is not None:
            self.assertEqual(json.loads(out)["sim_ns"], report["sim_ns"])
        else:
            self.assertIn(first.removeprefix("kernbench: "), err)

    def test_web(self):
        if not page_server.has_web():
            self.skipTest("built without cpp-httplib")
        server = page_server.PageServer(self.folder)
        self.addCleanup(server.close)
        shown = json.loads(server.ask("GET", "/api/system")[2])["options"]["run"]
        taken = {o["name"] for o in shown}
        base = [("topology", "small.yaml"), ("kernel", "vector_add"), ("param", "n=64")]
        for o, options in self.cases("run", base):
            more = {n: v for n, v in options if n not in dict(base)}
            if o["name"] not in taken or not set(more) <= taken or o["needs"]:
                continue
            with self.subTest(option=o["name"], value=options[-1][1]):
                value = options[-1][1]
                listed = o["often"] != "once"
                request = {"kernel": "vector_add", "topology": "small.yaml", "params": {"n": "64"},
                           "options": {o["name"]: True if value == "true" else [value] if listed else value}}
                name = server.run(request)
                status, report, lines = self.cli("run", [*options, ("explain", "true")])
                (run,) = [r for r in server.runs() if r["name"] == name]
                self.assertEqual(run["end"]["status"], status)
                if report is None:
                    self.assertIn(lines[0], run["said"])
                else:
                    with open(os.path.join(self.folder, f"{name}.run", "run.json"), encoding="utf-8") as f:
                        self.assertEqual(plain(json.load(f)), plain(report))

    def check_command(self, command, base, form="json"):
        for o, options in self.cases(command, base):
            with self.subTest(command=command, option=o["name"], value=options[-1][1]):
                if o["name"] not in ("topology", "links", "response", "set", "scale", "plugin"):  # as of a run
                    self.check_libraries(command, options, form)
        self.check_libraries(command, base, "text" if command != "traffic" else "csv")

    def test_traffic(self):
        self.check_command("traffic", [("topology", sample("access_ideal", "topology.yaml")),
                                       ("trace", sample("access_ideal", "trace.csv"))])

    def test_pipeline(self):
        self.check_command("pipeline", [("topology", sample("composite_ideal", "topology.yaml")),
                                        ("work", sample("composite_ideal", "work.json"))])

    def test_probe(self):
        self.check_command("probe", [("topology", topology("one_cube.yaml")), ("bytes", "256")])

    def test_collectives(self):
        self.check_command("collectives", [("topology", topology("one_cube.yaml")), ("sizes", "1K")])

    def test_a_model(self):
        model = os.path.join(self.folder, "config.json")
        with open(model, "w", encoding="utf-8") as f:
            json.dump(MODEL, f)
        base = [("topology", topology("one_cube.yaml")), ("model", model), ("phase", "prefill:4")]
        own = [o["name"] for o in self.tables["run"]]
        for o, options in self.cases("model", base):
            if o["name"] not in own:
                with self.subTest(option=o["name"], value=options[-1][1]):
                    self.check_libraries("model", options)


if __name__ == "__main__":
    cli_support.main()
