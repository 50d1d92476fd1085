#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kernbench traffic` and `kernbench pipeline` against the independent model on seeded random cases.

Every figure must agree to 0.01 ns. Every third case is rich in ties, and asked only when the contract decides them
all. A failure prints the kind, the seed and the first figure that departs; write the case's files with
`random_cases.py KIND SEED FOLDER --mode MODE [--ties]`.

With --machines N also N cases of `traffic` on generated machines (machine_cases.py).
"""
import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

import machine_cases
import random_cases
import timing_model

TOLERANCE_NS = 0.01
MODES = ("ideal", "cut_through", "flit")


def kernbench_says(kernbench, kind, paths, options=()):
    option = "--trace" if kind == "traffic" else "--work"
    command = [kernbench, kind, "--topology", paths[0], option, paths[1],
               "--format", "csv" if kind == "traffic" else "json", *options]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if run.returncode:
        raise RuntimeError(f"exit status {run.returncode}: {run.stderr.strip()[:500]}")
    return list(csv.DictReader(io.StringIO(run.stdout))) if kind == "traffic" else json.loads(run.stdout)


def departures(kind, theirs, ours):
    """One line for every figure of kernbench's that departs from the model's."""
    lines = []

    def near(what, a, b):
        if abs(float(a) - float(b)) > TOLERANCE_NS:
            lines.append(f"{what}: kernbench {float(a):.6f}, model {float(b):.6f}")

    if kind == "traffic":
        if [t["id"] for t in theirs] != [o["id"] for o in ours]:
            return ["the rows are not the input's"]
        for t, o in zip(theirs, ours):
            for column in ("issue_ns", "grant_ns", "done_ns", "latency_ns", "formula_ns", "queueing_ns"):
                near(f"row {o['id']} {column}", t[column], o[column])
        return lines

    def stages(what, t, o):
        if [s[0] for s in t] != [s[0] for s in o]:
            lines.append(f"{what}: stages {[s[0] for s in t]}, model {[s[0] for s in o]}")
            return
        for a, b in zip(t, o):
            near(f"{what} {b[0]} start", a[1], b[1])
            near(f"{what} {b[0]} end", a[2], b[2])

    near("end_ns", theirs["end_ns"], ours["end_ns"])
    if [p["pe"] for p in theirs["pes"]] != [p["pe"] for p in ours["pes"]]:
        return lines + ["the PEs are not the input's"]
    for t, o in zip(theirs["pes"], ours["pes"]):
        for list_name in ("composites", "commands"):
            if [x["id"] for x in t.get(list_name, [])] != [x["id"] for x in o[list_name]]:
                lines.append(f"{o['pe']}: the {list_name} are not the input's")
                continue
            for x, y in zip(t.get(list_name, []), o[list_name]):
                near(f"{y['id']} done_ns", x["done_ns"], y["done_ns"])
                if list_name == "commands":
                    stages(y["id"], x["stages"], y["stages"])
                    continue
                if x["window"] != y["window"]:
                    lines.append(f"{y['id']}: window {x['window']}, model {y['window']}")
                if [a["ijk"] for a in x["tokens"]] != [a["ijk"] for a in y["tokens"]]:
                    lines.append(f"{y['id']}: other tiles")
                    continue
                for a, b in zip(x["tokens"], y["tokens"]):
                    near(f"{y['id']} tile {b['tile']} fed", a["fed_ns"], b["fed_ns"])
                    stages(f"{y['id']} tile {b['tile']}", a["stages"], b["stages"])
    return lines


def model_says(kind, topology, work):
    """The model's answer, and whether it may hang on a tie that the contract leaves open."""
    graph = timing_model.Graph(timing_model.compile_flat(topology))
    if kind == "traffic":
        return timing_model.judge_traffic(graph, work)
    answer = timing_model.run_pipeline(graph, work)
    return answer, answer["undecided"]


def check(kernbench, kind, case, open_ties=True):
    """Departures of kernbench's answer to a case from the model's; none: []. None: not asked, the contract leaves
    ties of the case open (open_ties False)."""
    ours, undecided = model_says(kind, *case)
    if undecided and not open_ties:
        return None
    with tempfile.TemporaryDirectory() as folder:
        paths = random_cases.write_case(kind, case, folder)
        try:
            theirs = kernbench_says(kernbench, kind, paths)
        except (RuntimeError, subprocess.TimeoutExpired, ValueError) as fault:
            return [f"no answer: {fault}"]
    return departures(kind, theirs, ours)


def check_machine(kernbench, topologies, seed, mode, open_ties=True):
    """The same for a case on a generated machine."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            topology, options, graph, rows = machine_cases.draw(kernbench, topologies, seed, mode, folder)
            ours, undecided = timing_model.judge_traffic(graph, rows)
            if undecided and not open_ties:
                return None
            trace = random_cases.write_trace(rows, os.path.join(folder, "trace.csv"))
            return departures("traffic", kernbench_says(kernbench, "traffic", (topology, trace), options), ours)
        except (RuntimeError, subprocess.TimeoutExpired, ValueError) as fault:
            return [f"no answer: {fault}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernbench")
    parser.add_argument("cases", nargs="?", type=int, default=900)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--kind", choices=("traffic", "pipeline"))
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--ties", choices=("some", "none", "all"), default="some", help="how many cases have them")
    parser.add_argument("--open-ties", action="store_true", help="ask also where the contract leaves a tie open")
    parser.add_argument("--machines", type=int, default=0, help="cases on generated machines")
    parser.add_argument("--topologies", help="folder of the shipped topologies",
                        default=os.path.join(os.path.dirname(__file__), "..", "..", "topologies"))
    args = parser.parse_args()
    agree, failed = {}, []
    for i in range(args.machines):
        seed, mode = args.first_seed + i, args.mode or MODES[i % 3]
        lines = check_machine(args.kernbench, args.topologies, seed, mode, args.open_ties)
        if lines:
            failed.append(seed)
            print(f"FAILED machine seed {seed} --mode {mode}: {len(lines)} departures, the first: {lines[0]}", flush=True)
        elif lines is not None:
            agree[("machine", mode)] = agree.get(("machine", mode), 0) + 1
    for i in range(args.cases):
        seed = args.first_seed + i
        kind = args.kind or ("traffic", "pipeline")[i % 2]
        mode = args.mode or MODES[i // 2 % 3]
        ties = args.ties == "all" or (args.ties == "some" and i // 6 % 3 == 2)
        lines = check(args.kernbench, kind, random_cases.draw(kind, seed, ties, mode), args.open_ties)
        if lines:
            failed.append(seed)
            print(f"FAILED {kind} seed {seed} --mode {mode}{' --ties' if ties else ''}: "
                  f"{len(lines)} departures, the first: {lines[0]}", flush=True)
        elif lines is not None:
            what = (kind, mode, "ties" if ties else "generic")
            agree[what] = agree.get(what, 0) + 1
    for what, count in sorted(agree.items()):
        print(f"{' '.join(what)}: {count} cases agree")
    return 1 if failed or not agree else 0


if __name__ == "__main__":
    sys.exit(main())
