#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do loads on links that no message uses take the times that they take without messages, in every link mode? And do those
on links that messages use not (else the test would show nothing)?"""
import json
import os
import subprocess
import tempfile

from cli_support import KERNBENCH

TIMING = ("{links: ideal, response: routed}", "{links: cut_through, response: routed, header_bytes: 16}",
          "{links: flit, response: routed, header_bytes: 16, flit_bytes: 256}")
PES = ("sip0.cube0.pe0", "sip0.cube0.pe1", "sip0.cube1.pe0", "sip0.cube1.pe1")


def topology(timing):
    """Two cubes of two PEs and an HBM around a router each; a wire between them."""
    nodes, links, memories = [], ["{from: r0, to: r1, distance_mm: 5, bw_gbs: 64}"], []
    for c in (0, 1):
        nodes += ["{id: r%d, kind: router, attrs: {overhead_ns: 1}}" % c, "{id: hbm%d, kind: hbm_ctrl}" % c]
        links.append("{from: r%d, to: hbm%d, distance_mm: 1, bw_gbs: 64}" % (c, c))
        memories.append("{node: hbm%d, space: hbm, base: %d, size: %d}" % (c, c << 30, 1 << 30))
        for p in (0, 1):
            pe = f"sip0.cube{c}.pe{p}"
            for kind, attrs in (("pe_cpu", "overhead_ns: 2"), ("pe_scheduler", ""), ("pe_dma", ""), ("pe_ipcq", ""),
                                ("pe_tcm", "size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512")):
                nodes.append("{id: %s.%s, kind: %s, attrs: {%s}}" % (pe, kind, kind, attrs))
            links.append("{from: %s.pe_dma, to: r%d, distance_mm: 1, bw_gbs: 64}" % (pe, c))
    lines = ["timing: " + timing]
    for name, items in (("nodes", nodes), ("links", links), ("memories", memories)):
        lines += [name + ":"] + ["- " + item for item in items]
    return "\n".join(lines) + "\n"


def loads(pe, cube):
    """Loads in the way of one another, of the cube's HBM."""
    return {"pe": pe, "start_ns": 0, "calls": [
        {"id": f"{pe}.{i}", "call": "load_async", "space": "hbm", "addr": (cube << 30) + 4096 * i, "nbytes": 4096 - 64 * i}
        for i in range(20)]}


def messages(pe, call):
    return {"pe": pe, "start_ns": 0, "calls": [
        {"id": f"{pe}.m{i}", "call": call, "port": "p", "bytes": 3000 * i} for i in range(10)]}


def run(folder, timing, programs):
    """The calls of each PE."""
    work = {"connections": [{"a": PES[0], "port": "p", "b": PES[1], "peer_port": "p"}], "programs": programs}
    paths = [os.path.join(folder, name) for name in ("t.yaml", "w.json")]
    for path, text in zip(paths, (topology(timing), json.dumps(work))):
        with open(path, "w") as f:
            f.write(text)
    done = subprocess.run([KERNBENCH, "pipeline", "--topology", paths[0], "--work", paths[1], "--format", "json"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {p["pe"]: p["calls"] for p in json.loads(done.stdout)["programs"]}


def main():
    sender, receiver = messages(PES[0], "send_async"), messages(PES[1], "recv_async")
    with tempfile.TemporaryDirectory() as folder:
        for timing in TIMING:
            far = [loads(PES[2], 1), loads(PES[3], 1)]
            assert run(folder, timing, far) == {pe: calls for pe, calls in run(
                folder, timing, [sender, receiver, *far]).items() if pe in PES[2:]}, timing
            near = {"pe": PES[1], "start_ns": 0, "calls": loads(PES[1], 0)["calls"] + receiver["calls"]}
            alone = run(folder, timing, [loads(PES[1], 0)])[PES[1]]
            beside = run(folder, timing, [sender, near])[PES[1]][:len(alone)]
            assert (alone == beside) == ("ideal, r" in timing), timing


if __name__ == "__main__":
    main()
