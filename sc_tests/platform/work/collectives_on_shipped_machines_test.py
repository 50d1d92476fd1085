# SPDX-License-Identifier: Apache-2.0
"""`auto`, hierarchical and grids on the shipped machines: every collective verified, centre against corner, tiers."""
import csv
import io
import os
import subprocess

from cli_support import KERNBENCH, topology


def table(*arguments):
    done = subprocess.run([KERNBENCH, "collectives", *map(str, arguments), "--check", "--format", "csv"],
                          capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def all_are_right_on(name, pes, axes, algorithm):
    rows = table("--topology", topology(name), "--pes", pes, "--over", axes, "--op", "all", "--algorithm", algorithm,
                 "--sizes", "12K")
    assert rows and all(row["wrong"] == "0" for row in rows), rows
    return {row["op"]: row for row in rows}


def centre_roots_are_nearer_than_corners():
    times = {}
    for root in ("centre", "corner"):
        row, = table("--topology", topology("default.yaml"), "--pes", "leaders", "--over", "cube", "--algorithm", "grid",
                     "--root", root, "--sizes", "4K")
        times[root] = float(row["time_us"])
    assert times["centre"] < times["corner"], times


def rings_in_hbm_cost_more():
    times = {}
    for tier in ("tcm", "sram", "hbm"):
        row, = table("--topology", topology("one_cube.yaml"), "--over", "pe", "--algorithm", "ring", "--sizes", "4K", "--tier",
                     tier)
        times[tier] = float(row["time_us"])
    assert times["tcm"] < min(times["sram"], times["hbm"]), times


def groups_of_unequal_size_are_refused():
    done = subprocess.run([KERNBENCH, "collectives", "--topology", topology("small.yaml"), "--over", "pe", "--pes",
                           "sip0.cube0.pe0,sip0.cube0.pe1,sip0.cube1.pe0"], capture_output=True, text=True)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done
    assert "differ in size: 2 PEs with sip0.cube0.pe0, 1 PEs with sip0.cube1.pe0" in done.stderr, done.stderr


if __name__ == "__main__":
    assert all_are_right_on("one_cube.yaml", "all", "pe", "grid").keys() == {"all_reduce", "broadcast", "reduce"}
    assert len(all_are_right_on("small.yaml", "all", "cube+pe", "auto")) == 7
    assert all_are_right_on("six_sip_torus.yaml", "leaders", "rank+cube", "hierarchical")["all_reduce"]["members"] == "24"
    assert all_are_right_on("six_sip_torus.yaml", "leaders", "rank", "grid")["all_reduce"]["members"] == "6"
    centre_roots_are_nearer_than_corners()
    rings_in_hbm_cost_more()
    groups_of_unequal_size_are_refused()
