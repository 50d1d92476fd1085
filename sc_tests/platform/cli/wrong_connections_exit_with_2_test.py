#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is each connection, call and attribute of queues between PEs that is not legal told, a line a fault, with exit status 2
(in the run: 1), and is a legal one played?"""
import json
import os
import subprocess
import sys
import tempfile

KERNBENCH = os.environ["KERNBENCH_CLI"]


def topology(ipcq="{}", more=""):
    text = "nodes:\n- {id: sw, kind: switch}\n"
    for p in range(2):
        node = f"- {{id: sip{p}.cube0.pe0."
        text += node + "pe_cpu, kind: pe_cpu}\n" + node + "pe_dma, kind: pe_dma}\n"
        text += node + "pe_ipcq, kind: pe_ipcq, attrs: " + ipcq + "}\n"
        text += node + "pe_tcm, kind: pe_tcm, attrs: {size_mb: 1, reserved_mb: 0, read_bw_gbs: 1, write_bw_gbs: 1}}\n"
    text += "- {id: alone.pe_cpu, kind: pe_cpu}\n- {id: alone.pe_dma, kind: pe_dma}\n- {id: alone.pe_ipcq, kind: pe_ipcq}\n"
    text += "- {id: alone.pe_tcm, kind: pe_tcm, attrs: {size_mb: 1, reserved_mb: 0, read_bw_gbs: 1, write_bw_gbs: 1}}\n"
    text += "- {id: far, kind: switch}\nlinks:\n- {from: alone.pe_dma, to: far, distance_mm: 1}\n"
    return text + "".join(f"- {{from: sip{p}.cube0.pe0.pe_dma, to: sw, distance_mm: 1}}\n" for p in range(2)) + more


GOOD = {"a": "sip0.cube0.pe0", "port": "E", "b": "sip1.cube0.pe0", "peer_port": "W"}
SEND = {"id": "s", "call": "send", "port": "E", "bytes": 8}
RECV = {"id": "r", "call": "recv", "port": "W", "bytes": 8}


def run(folder, yaml, connections, calls0, calls1):
    paths = [os.path.join(folder, name) for name in ("topology.yaml", "work.json")]
    with open(paths[0], "w", encoding="utf-8") as file:
        file.write(yaml)
    with open(paths[1], "w", encoding="utf-8") as file:
        json.dump({"connections": connections, "programs": [
            {"pe": "sip0.cube0.pe0", "start_ns": 0, "calls": calls0},
            {"pe": "sip1.cube0.pe0", "start_ns": 0, "calls": calls1}]}, file)
    return subprocess.run([KERNBENCH, "pipeline", "--topology", paths[0], "--work", paths[1]], capture_output=True,
                          text=True, timeout=60, check=False)


def main():
    cases = [  # case, status, words of stderr, and the changes of topology, connections and calls against the good case
        ("legal", 0, [], {}),
        ("a PE with itself", 2, ["connections[0]", "sip0.cube0.pe0", "itself"], {"connections": [{**GOOD, "b": GOOD["a"]}], "calls": ([], [])}),
        ("a port twice", 2, ["connections[1]", "port E", "already"], {"connections": [GOOD, {**GOOD, "peer_port": "N"}]}),
        ("no such PE", 2, ["connections[0].b", "nowhere"], {"connections": [{**GOOD, "b": "nowhere"}]}),
        ("no path", 2, ["connections[1]", "sip0.cube0.pe0", "alone"],
         {"connections": [GOOD, {**GOOD, "port": "N", "b": "alone"}]}),
        ("no reversed path", 2, ["connections[0]", "sip0.cube0.pe0", "sip1.cube0.pe0"],
         {"topology": topology().replace("{from: sip1.cube0.pe0.pe_dma, to: sw, distance_mm: 1}",
                                         "{from: sip1.cube0.pe0.pe_dma, to: sw, distance_mm: 1, bidirectional: false}")}),
        ("no slots", 2, ["slots", "0"], {"connections": [{**GOOD, "slots": 0}]}),
        ("slots of 100 bytes", 2, ["slot_bytes", "100", "multiple of 64"], {"connections": [{**GOOD, "slot_bytes": 100}]}),
        ("no such tier", 2, ["tier", "disk", "tcm, sram, hbm"], {"connections": [{**GOOD, "tier": "disk"}]}),
        ("no SRAM", 2, ["connections[0]", "sram", "sip0.cube0.pe0"], {"connections": [{**GOOD, "tier": "sram"}]}),
        ("no room", 2, ["no room", "sip0.cube0.pe0", "bytes asked", "bytes free"],
         {"connections": [{**GOOD, "slots": 65536}]}),
        ("attribute out of range", 2, ["topology.yaml:", "credit_bytes"], {"topology": topology("{credit_bytes: 0}")}),
        ("attribute no multiple", 2, ["slot_bytes", "multiple of 64"], {"topology": topology("{slot_bytes: 65}")}),
        ("unknown tier in a map", 2, ["access_ns", "disk"], {"topology": topology("{access_ns: {disk: 1}}")}),
        ("unknown port", 2, ["calls[0]", "no port 'N'"], {"calls": ([{**SEND, "port": "N"}], [RECV])}),
        ("other size", 1, ["recv on W", "16 bytes", "8 bytes", "sip1.cube0.pe0"],
         {"calls": ([SEND], [{**RECV, "bytes": 16}])}),
        ("left over", 1, ["sip1.cube0.pe0", "message 0"], {"calls": ([SEND], [])}),
        ("nobody sends", 1, ["recv on W: nothing sent by sip0.cube0.pe0"], {"calls": ([], [RECV])}),
    ]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, status, words, other in cases:
            calls = other.get("calls", ([SEND], [RECV]))
            r = run(folder, other.get("topology", topology()), other.get("connections", [GOOD]), *calls)
            lines = r.stderr.strip().splitlines()
            if r.returncode != status or any(w not in r.stderr for w in words) or (status == 1 and len(lines) != 1):
                failed += 1
                print(f"{what}: status {r.returncode}, expected {status} and {words}: {r.stderr.strip()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
