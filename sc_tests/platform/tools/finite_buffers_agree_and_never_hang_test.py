#!/usr/bin/env python3
"""On random systems: does wormhole switching without limits take the times of flits without buffers, byte for byte? And
does nothing hang, and is every byte delivered, with small buffers wherever the proof says so?

    finite_buffers_agree_and_never_hang_test.py [CASES [FIRST_SEED]]

docs/flow_control.md names the long run."""
import copy
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from cli_support import KERNBENCH

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
import random_cases  # noqa: E402

PASSES_ON = set(random_cases.TRANSIT_KINDS) | {"io_cpu", "pcie_ep"}
SPARE = {"id": "spare", "kind": "router", "attrs": {"buffer_flits": 1}}  # on no way: all others have no limit


def write(folder, topology, rows):
    with open(os.path.join(folder, "t.yaml"), "w", encoding="utf-8") as f:
        json.dump(topology, f)  # YAML, too
    with open(os.path.join(folder, "t.csv"), "w", encoding="utf-8", newline="") as f:
        out = csv.DictWriter(f, ["id", "issue_ns", "initiator", "op", "address", "bytes"])
        out.writeheader()
        out.writerows(rows)


def traffic(folder, topology, rows):
    write(folder, topology, rows)
    return subprocess.run([KERNBENCH, "traffic", "--topology", os.path.join(folder, "t.yaml"), "--trace",
                           os.path.join(folder, "t.csv")], capture_output=True, text=True, timeout=120)



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


def check(folder, seed, counts):
    topology, rows = random_cases.traffic_case(seed, ties=seed % 3 == 0, mode="flit")
    if not rows:
        return
    plain = traffic(folder, topology, rows)
    assert plain.returncode == 0, plain.stderr
    spare = traffic(folder, {**topology, "nodes": topology["nodes"] + [SPARE]}, rows)
    assert spare.returncode == 0, spare.stderr
    assert spare.stdout == plain.stdout, f"seed {seed}: without limits"
    generous = with_buffers(topology, PASSES_ON, plenty)
    generous["timing"]["prove_deadlock_free"] = False
    wide = traffic(folder, generous, rows)
    assert wide.returncode == 0, wide.stderr
    assert wide.stdout == plain.stdout, f"seed {seed}: with plenty of room"
    figures = random.Random(f"buffers {seed}")
    tight = with_buffers(topology, PASSES_ON | {"sram", "hbm_ctrl"}, small(figures, figures.choice((1, 1, 0.5))))
    done = traffic(folder, tight, rows)
    counts["admitted" if done.returncode == 0 else "refused"] += 1
    if done.returncode != 0:
        assert done.returncode == 2 and "wait for each other in a circle" in done.stderr, f"seed {seed}: {done.stderr}"
        tight["timing"]["prove_deadlock_free"] = False
        forced = traffic(folder, tight, rows)
        if forced.returncode == 0:
            return
        assert forced.returncode == 1 and "never completed" in forced.stderr, f"seed {seed}: {forced.stderr}"
        assert "in a circle" in forced.stderr, f"seed {seed}: {forced.stderr}"
        counts["hung"] += 1
        return
    for before, after in zip(csv.DictReader(plain.stdout.splitlines()), csv.DictReader(done.stdout.splitlines())):
        assert before["id"] == after["id"] and before["formula_ns"] == after["formula_ns"]
        assert float(after["done_ns"]) - float(after["grant_ns"]) >= float(after["formula_ns"]) - 1e-5, (seed, after)
    counts["later"] += done.stdout != plain.stdout
    if seed % 10 == 0:
        again = traffic(folder, tight, rows)
        assert again.stdout == done.stdout, f"seed {seed}: another time"


def main():
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    counts = {"admitted": 0, "refused": 0, "hung": 0, "later": 0}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + cases):
            check(folder, seed, counts)
    print(f"{cases} systems: {counts['admitted']} admitted, of which small buffers delay {counts['later']} and none "
          f"hangs; {counts['refused']} refused, of which {counts['hung']} hang when forced")
    assert counts["admitted"] > cases // 4 and counts["later"] > cases // 20, "hardly anything is shown"


if __name__ == "__main__":
    main()
