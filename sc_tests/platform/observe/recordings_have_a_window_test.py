# SPDX-License-Identifier: Apache-2.0
"""Is what --trace-from and --ftr-from leave in a file just what the whole file has in that window?"""
import collections
import json
import os
import unittest

import cli_support
from cli_support import topology
from ftr_reader import Ftr

SMALL = topology("small.yaml")
RUNS = {"gemm": ("run", "--topology", SMALL, "--kernel", "gemm", "--param", "m=96", "--param", "n=64", "--param", "k=64"),
        "messages": ("run", "--topology", SMALL, "--kernel", "all_reduce", "--param", "algorithm=ring", "--param", "n=200",
                     "--param", "slots=1", "--param", "slot_bytes=64"),
        "timed": ("run", "--topology", SMALL, "--kernel", "vector_add", "--transfer", "timed")}
INFINITE = float("inf")


class Windows(cli_support.FolderCli):
    def written(self, run, option, name, *window):
        file = os.path.join(self.folder, name)
        self.succeeds(*run, option, file, *window)
        with open(file, "rb") as f:
            return f.read()

    def windows(self, run):
        """Several, as shares of the run's time."""
        end = json.loads(self.succeeds(*run, "--format", "json"))["sim_ns"]
        for low, high in ((0, 0.5), (0.3, 0.6), (0.5, None), (0.4999, 0.5), (2, None)):
            begin, stop = round(low * end, 3), INFINITE if high is None else round(high * end, 3)
            yield begin, stop, (["from", str(begin)] if low else []) + ([] if high is None else ["to", str(stop)])

    @staticmethod
    def overlaps(window, start, end):
        return start < window[1] and (end > window[0] or start >= window[0])

    def test_slices_and_instants_of_a_trace(self):
        def events(data):
            slices, instants = collections.Counter(), collections.Counter()
            all_ = json.loads(data)
            # Tracks of messages are numbered in order of appearance.
            tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in all_ if e["name"] == "thread_name"}
            for e in all_:
                key = e["name"], e["pid"], tracks.get((e["pid"], e.get("tid"))), json.dumps(e.get("args"), sort_keys=True)
                if e["ph"] == "X":
                    slices[key, e["args"]["start_ns"], e["args"]["end_ns"]] += 1
                elif e["ph"] == "i":
                    instants[key, e["ts"]] += 1
            return slices, instants

        for name, run in RUNS.items():
            slices, instants = events(self.written(run, "--trace", "t.json"))
            for begin, stop, options in self.windows(run):
                options = [f"--trace-{o}" if o in ("from", "to") else o for o in options]
                some, some_instants = events(self.written(run, "--trace", "w.json", *options))
                want = {k: n for k, n in slices.items() if self.overlaps((begin, stop), k[1], k[2])}
                self.assertEqual(some, want, (name, options))
                self.assertEqual(some_instants, {k: n for k, n in instants.items() if begin / 1000 <= k[1] < stop / 1000})
                self.assertTrue(want or begin > 0)

    def test_a_trace_of_the_other_form_is_smaller_and_whole(self):
        run = RUNS["gemm"]
        whole = self.written(run, "--trace", "t.pftrace")
        end = json.loads(self.succeeds(*run, "--format", "json"))["sim_ns"]
        some = self.written(run, "--trace", "w.pftrace", "--trace-from", str(end / 3), "--trace-to", str(end / 2))
        self.assertLess(len(some), len(whole))
        self.assertEqual(self.written(run, "--trace", "w.pftrace", "--trace-from", "0"), whole)

    def test_transactions_of_a_recording(self):
        def content(ftr, keep=lambda t: True):
            def told(t):
                return ftr.streams[t.stream][0], t.generator, t.start, t.end, json.dumps(t.attributes, sort_keys=True)

            kept = {i: told(t) for i, t in ftr.transactions.items() if keep(t)}
            relations = collections.Counter((r.name, kept[r.source], kept[r.sink]) for r in ftr.relations
                                            if r.source in kept and r.sink in kept)
            return collections.Counter(kept.values()), relations

        for name, run in RUNS.items():
            whole = Ftr(self.written(run, "--ftr", "t.ftr"))
            for begin, stop, options in self.windows(run):
                options = [f"--ftr-{o}" if o in ("from", "to") else o for o in options]
                some = Ftr(self.written(run, "--ftr", "w.ftr", *options))
                self.assertTrue(some.complete)
                low, high = begin * 1e6, stop * 1e6
                want = content(whole, lambda t, w=(low, high): self.overlaps(w, t.start, t.end))
                self.assertEqual(content(some), want, (name, options))

    def test_wrong_windows_are_refused(self):
        run = RUNS["gemm"]
        for recording, file in (("trace", "t.json"), ("ftr", "t.ftr"), ("vcd", "t.vcd")):
            name = os.path.join(self.folder, "none." + file)
            for window in (["from", "5", "to", "5"], ["from", "-1"], ["to", "nan"], ["from", "1e300"], ["to", "0"]):
                options = [f"--{recording}-{o}" if o in ("from", "to") else o for o in window]
                self.refuses(*run, f"--{recording}", name, *options, saying=[f"--{recording}-"], lines=1)
                self.assertFalse(os.path.exists(name))
            self.refuses(*run, f"--{recording}-from", "5", saying=[f"--{recording}-from: needs --{recording}"], lines=1)

    def test_a_fault_before_the_window_leaves_a_whole_file(self):
        file = os.path.join(self.folder, "f.ftr")
        status, _, _ = self.run_cli(*RUNS["gemm"], "--max-time", "100", "--ftr", file, "--ftr-from", "1e9")
        self.assertEqual(status, 1)
        with open(file, "rb") as f:
            self.assertTrue(Ftr(f.read()).complete)


if __name__ == "__main__":
    unittest.main()
