#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An independent model of the timing rules: plain Python, one event queue, no SystemC.

It is written from the contract's words (sections are cited as §n) and shares nothing with the C++ models, so that
agreement between the two says something. Units: ns (doubles), bytes, GB/s (= bytes/ns), mm, GHz.

    timing_model.py traffic GRAPH.json TRACE.csv      prints what `kernbench traffic` must print
    timing_model.py pipeline GRAPH.json WORK.json     prints what `kernbench pipeline` must print

GRAPH.json is `kernbench topology T --format json`. Events are ordered by their time rounded to the nearest fs; all
times that are computed with stay exact.
"""
import csv
import json
import sys

from model_graph import Graph, ModelError, Transaction, compile_flat  # noqa: F401 (the interface of the model)
from model_pipeline import run_pipeline
from model_tiles import plan_composite  # noqa: F401
from model_traffic import judge_traffic, run_traffic  # noqa: F401

TRAFFIC_COLUMNS = ("id", "initiator", "op", "address", "bytes", "issue_ns", "grant_ns", "done_ns", "latency_ns",
                   "formula_ns", "queueing_ns")


def main(argv):
    if len(argv) != 4 or argv[1] not in ("traffic", "pipeline"):
        print(__doc__, file=sys.stderr)
        return 2
    with open(argv[2], encoding="utf-8") as file:
        graph = Graph(json.load(file))
    with open(argv[3], encoding="utf-8") as file:
        if argv[1] == "pipeline":
            print(json.dumps(run_pipeline(graph, json.load(file))))
            return 0
        results = run_traffic(graph, list(csv.DictReader(file)))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(TRAFFIC_COLUMNS)
    for r in results:
        writer.writerow([f"{r[c]:.6f}" if c.endswith("_ns") else r[c] for c in TRAFFIC_COLUMNS])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
