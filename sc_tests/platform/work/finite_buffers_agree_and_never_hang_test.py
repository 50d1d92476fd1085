#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On random systems: does wormhole switching without limits take the times of flits without buffers, byte for byte? And
does nothing hang, and is every byte delivered, with small buffers wherever the proof says so?

    finite_buffers_agree_and_never_hang_test.py [CASES [FIRST_SEED]]

More than 1000 cases: the first question for every tenth only."""
import copy
import csv
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from cli_support import KERNBENCH

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
import random_cases  # noqa: E402

PASSES_ON = set(random_cases.TRANSIT_KINDS) | {"io_cpu", "pcie_ep"}
SPARE = {"id": "spare", "kind": "router", "attrs": {"buffer_flits": 1}}  # on no path: all others are unlimited


def write(folder, topology, rows):
    with open(os.path.join(folder, "t.yaml"), "w", encoding="utf-8") as f:
        json.dump(topology, f)  # JSON is YAML too
    with open(os.path.join(folder, "t.csv"), "w", encoding="utf-8", newline="") as f:
        out = csv.DictWriter(f, ["id", "issue_ns", "initiator", "op", "address", "bytes"])
        out.writeheader()
        out.writerows(rows)


def traffic(folder, topology, rows):
    write(folder, topology, rows)
    return subprocess.run([KERNBENCH, "traffic", "--topology", os.path.join(folder, "t.yaml"), "--trace",
                           os.path.join(folder, "t.csv"), "--statistics", os.path.join(folder, "counted.csv")],
                          capture_output=True, text=True, timeout=120)


def waits(folder):
    """What flits have waited for each link in the last traffic(), ns, where they have."""
    with open(os.path.join(folder, "counted.csv"), encoding="utf-8", newline="") as f:
        found = {row["object"]: float(row["value"]) for row in csv.DictReader(f) if row["counter"] == "wait_ns"}
    return {link: round(ns, 3) for link, ns in found.items() if ns > 0}


def with_buffers(topology, kinds, attrs):
    """A copy whose nodes of these kinds have these attributes; attrs: a function that draws them."""
    topology = copy.deepcopy(topology)
    for node in topology["nodes"]:
        if node["kind"] in kinds:
            node.setdefault("attrs", {}).update(attrs(node))
    return topology


def plenty(node):
    passes = node["kind"] in PASSES_ON
    return {"buffer_flits": 1 << 20, "vcs": 1024, **({"allocation": "oldest_first"} if passes else {})}


def small(figures, share):
    def draw(node):
        if figures.random() > share:
            return {}
        attrs = {"buffer_flits": figures.choice((1, 1, 2, 3, 8)), "vcs": figures.choice((1, 1, 2, 4))}
        if node["kind"] in PASSES_ON:
            attrs["allocation"] = figures.choice(("round_robin", "oldest_first"))
        return attrs
    return draw


def ring_case(seed):
    """A ring whose ways mostly go round in one direction, with some who send and some memories, under load."""
    draw = random.Random(f"ring {seed}")
    count = draw.randint(3, 8)
    nodes, links, memories = [], [], []
    for i in range(count):
        nodes.append({"id": f"r{i}", "kind": "router", "attrs": {"overhead_ns": draw.choice((0, 1, 1.5))}})
        onward = f"r{(i + 1) % count}"
        one_way = {"bw_gbs": 64, "bidirectional": False}
        links += [{"from": f"r{i}", "to": onward, "distance_mm": draw.choice((1, 1, 2)), **one_way},
                  {"from": onward, "to": f"r{i}", "distance_mm": draw.choice((2, 20)), **one_way}]
    for i in range(count):
        for kind, name, share in (("port", f"p{i}", 0.7), ("sram", f"m{i}", 0.7)):
            if i > 0 and draw.random() > share:
                continue
            nodes.append({"id": name, "kind": kind})
            links.append({"from": name, "to": f"r{i}", "distance_mm": 0.5, "bw_gbs": 64})
            if kind == "sram":
                memories.append({"node": name, "space": "sram", "base": i << 16, "size": 1 << 16})
    ports = [n["id"] for n in nodes if n["kind"] == "port"]
    rows = [{"id": i, "issue_ns": draw.choice((0, 0, draw.randint(0, 60))), "initiator": draw.choice(ports),
             "op": draw.choice(("write", "write", "read")), "address": draw.choice(memories)["base"],
             "bytes": draw.choice((64, 512, 1024, 2048))} for i in range(draw.randint(1, 60))]
    timing = {"links": "flit", "response": "routed", "flit_bytes": 64, "header_bytes": 16}
    return {"ns_per_mm": 1, "timing": timing, "nodes": nodes, "links": links, "memories": memories}, rows


def agree(folder, seed, topology, rows):
    """Without limits, and with plenty of room, the times are those without buffers; which are returned."""
    plain = traffic(folder, topology, rows)
    assert plain.returncode == 0, plain.stderr
    waited = waits(folder)
    spare = traffic(folder, {**topology, "nodes": topology["nodes"] + [SPARE]}, rows)
    assert spare.returncode == 0, spare.stderr
    assert spare.stdout == plain.stdout, f"seed {seed}: without limits"
    generous = with_buffers(topology, PASSES_ON, plenty)
    generous["timing"]["prove_deadlock_free"] = False
    wide = traffic(folder, generous, rows)
    assert wide.returncode == 0, wide.stderr
    assert wide.stdout == plain.stdout, f"seed {seed}: with plenty of room"
    assert waits(folder) == waited, f"seed {seed}: waits for links with plenty of room"
    return plain.stdout


def layered(folder, seed, tight, rows, refusal):
    """With as many virtual channels as the refusal asks for it is admitted, and does not hang."""
    least = int(re.search(r"legal: (\d+) vcs or more", refusal)[1])
    wide = with_buffers(tight, PASSES_ON | {"sram", "hbm_ctrl"},
                        lambda node: {"vcs": max(least, node["attrs"]["vcs"])} if "vcs" in node["attrs"] else {})
    done = traffic(folder, wide, rows)
    assert done.returncode == 0, f"seed {seed}: with {least} virtual channels: {done.stderr}"


def forced(folder, seed, tight, rows, counts):
    """What the proof refuses: it comes to its end, or hangs in a cycle that is named."""
    tight["timing"]["prove_deadlock_free"] = False
    done = traffic(folder, tight, rows)
    if done.returncode == 0:
        return
    assert done.returncode == 1 and "never completed" in done.stderr, f"seed {seed}: {done.stderr}"
    assert "in a cycle" in done.stderr, f"seed {seed}: {done.stderr}"
    counts["hung"] += 1


def check(folder, seed, compare, counts):
    if seed % 4 == 0:
        topology, rows = ring_case(seed)
    else:
        topology, rows = random_cases.traffic_case(seed, ties=seed % 3 == 0, mode="flit")
    if not rows:
        return
    plain = agree(folder, seed, topology, rows) if compare else None
    figures = random.Random(f"buffers {seed}")
    tight = with_buffers(topology, PASSES_ON | {"sram", "hbm_ctrl"}, small(figures, figures.choice((1, 1, 0.5))))
    done = traffic(folder, tight, rows)
    counts["admitted" if done.returncode == 0 else "refused"] += 1
    if done.returncode != 0:
        assert done.returncode == 2 and "wait for each other in a cycle" in done.stderr, f"seed {seed}: {done.stderr}"
        layered(folder, seed, tight, rows, done.stderr)
        return forced(folder, seed, tight, rows, counts)
    for row in csv.DictReader(done.stdout.splitlines()):
        queued = float(row["done_ns"]) - float(row["grant_ns"]) - float(row["formula_ns"])
        assert queued >= -1e-5, f"seed {seed}: {row}"
    if plain is not None:
        counts["compared"] += 1
        counts["later"] += done.stdout != plain
    if seed % 10 == 0:
        assert traffic(folder, tight, rows).stdout == done.stdout, f"seed {seed}: another time"


def main():
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    counts = dict.fromkeys(("admitted", "refused", "hung", "compared", "later"), 0)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + cases):
            check(folder, seed, cases <= 1000 or seed % 10 == 0, counts)
    print(f"{cases} systems, {counts['compared']} of which have the times of unlimited buffers with enough room and "
          f"{counts['later']} others with little; {counts['admitted']} are admitted with little and none hangs; "
          f"{counts['refused']} are refused, of which {counts['hung']} hang when forced and none with the virtual channels asked for")
    assert counts["admitted"] > cases // 4 and 4 * counts["later"] > counts["compared"] > cases // 30, "hardly anything is shown"
    assert cases < 100 or counts["hung"] > 0, "no system that is refused hangs"


if __name__ == "__main__":
    main()
