#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kernbench pipeline` against the independent model of queues (model_messages.py) on seeded random programs of sends and
receives over random flat topologies: every segment's times and account to 0.01 ns; and accounts sum up. Mode `finite` is
flits over trees whose nodes have finite buffers and 1 to 4 virtual channels (model_wormhole.py).

    messages_agree_with_an_independent_model.py KERNBENCH [CASES] [--first-seed N] [--mode MODE] [--ties] [--keep FOLDER]
"""
import argparse
import json
import os
import sys
import tempfile

import kernbench_agrees_with_an_independent_model as other
import model_messages
import model_wormhole
import random_cases
import timing_model

MODES = ("ideal", "cut_through", "flit", "finite")


def add_pe(d, prefix, tiers):
    f = d.f
    cpu = {"overhead_ns": f.overhead(3.0)}
    if f.chance(0.3):
        cpu.update(dispatch_cycles=f.whole(1, 4), freq_ghz=f.rate(0.5, 2.0))
    d.node(prefix + ".pe_cpu", "pe_cpu", cpu)
    d.node(prefix + ".pe_dma", "pe_dma", {"overhead_ns": f.overhead(3.0)})
    ipcq = {"overhead_ns": f.overhead(3.0), "slots": f.whole(1, 5), "slot_bytes": f.pick(64, 128, 256, 1024),
            "credit_blocks": f.chance(0.3), "tier": f.pick(*tiers)}
    if f.chance(0.5):
        ipcq["credit_bytes"] = f.pick(1, 16, 64, 300)
    for name in ("access_ns", "write_bw_gbs", "read_bw_gbs"):
        if f.chance(0.5):
            ipcq[name] = {tier: f.rate(2.0, 300.0) for tier in tiers if f.chance(0.6)}
    d.node(prefix + ".pe_ipcq", "pe_ipcq", ipcq)
    d.node(prefix + ".pe_tcm", "pe_tcm", {"size_mb": 16.0, "reserved_mb": 1.0, "read_bw_gbs": 128.0,
                                          "write_bw_gbs": 128.0})


def finite_tree(d):
    """Transit nodes without a circle, most of them with finite buffers."""
    f = d.f
    names = [random_cases.transit_node(d, i) for i in range(f.whole(1, 7))]
    for node in d.nodes:
        if f.chance(0.8):
            node["attrs"].update(buffer_flits=f.pick(2, 2, 3, 4, 8, 16), vcs=f.whole(1, 4))
            if f.chance(0.7):
                node["attrs"]["allocation"] = f.pick("round_robin", "oldest_first")
    for i in range(1, len(names)):
        d.link(names[i], f.pick(*names[:i]))
    return names


def draw(seed, mode, ties=False, protocols=True):
    """(topology, work). A message's send stands before its receive in one order of all calls, so nobody is stuck."""
    f = random_cases.Figures(f"messages {seed}", ties)
    d = random_cases.TopologyDraft(f)
    timing = random_cases.draw_timing(f, "flit" if mode == "finite" else mode)
    transit = finite_tree(d) if mode == "finite" else random_cases.fabric(d)
    random_cases.add_memories(d, transit, timing.get("flit_bytes", 256) if timing["links"] == "flit" else 0, f.whole(1, 3), 1 << 20)
    prefixes = [f"sip0.cube0.pe{i}" for i in range(f.whole(2, 5))]
    for prefix in prefixes:
        add_pe(d, prefix, ("tcm",))
        random_cases.attach(d, transit, prefix + ".pe_dma")
    if mode == "finite":
        # A credit over a wire without length, or a flit without bytes, arrives at the instant of the decision that
        # depends on it.
        timing["header_bytes"] = timing.get("header_bytes") or 8
        for link in d.links:
            link["distance_mm"] = link["distance_mm"] or 0.77
    topology = random_cases.finish(d, timing)
    graph = timing_model.Graph(timing_model.compile_flat(topology))

    def joined(a, b):
        try:
            for x, y in ((a, b), (b, a)):
                graph.reversed_path(graph.route(graph.index[x + ".pe_dma"], graph.index[y + ".pe_dma"]))
            return True
        except timing_model.ModelError:
            return False

    def tiers(prefix):
        found = ["tcm"]
        for tier in ("sram", "hbm"):
            try:
                way = model_messages.Queue._best(graph, type("At", (), {"dma": graph.index[prefix + ".pe_dma"]}), tier)
                graph.reversed_path(way)
                found.append(tier)
            except (ValueError, timing_model.ModelError):
                pass
        return found

    for prefix in prefixes:
        node = next(n for n in topology["nodes"] if n["id"] == prefix + ".pe_ipcq")
        node["attrs"]["tier"] = f.pick(*tiers(prefix))
    # Figures of their own: without protocols a seed draws the case that it drew before there were any.
    g = random_cases.Figures(f"protocols {seed}", ties)
    names = ("fast", "near", "wide") if protocols and g.chance(0.5) else ()
    for prefix in prefixes if names else ():
        node = next(n for n in topology["nodes"] if n["id"] == prefix + ".pe_ipcq")
        node["attrs"].update(protocol_message_ns={n: g.overhead(30.0) for n in names},
                             protocol_start_ns={n: g.overhead(90.0) for n in names if g.chance(0.7)},
                             protocol_bw_gbs={n: g.rate(2.0, 300.0) for n in names if g.chance(0.5)},
                             protocol_up_to_bytes={n: g.pick(0, 1, 64, 256, 700) for n in names[:2] if g.chance(0.7)})
    pairs = [(a, b) for a in prefixes for b in prefixes if a < b and joined(a, b)]
    if not pairs:
        return None
    connections = []
    for i in range(f.whole(1, 6)):
        a, b = f.pick(*pairs)
        c = {"a": a, "port": f"p{i}", "b": b, "peer_port": f"q{i}"}
        if f.chance(0.3):
            c["slots"] = f.whole(1, 4)
        if f.chance(0.3):
            c["slot_bytes"] = f.pick(64, 192, 512)
        if names and g.chance(0.4):
            c["protocol"] = g.pick(*names)
        connections.append(c)
    # Some PEs receive everything in order of arrival, and all messages to them have one size.
    any_pes = {p: f.pick(0, 64, 200) for p in prefixes if f.chance(0.2)}
    calls = {p: [] for p in prefixes}

    def add(pe, **call):
        calls[pe].append({"id": f"c{len(calls[pe])}", **call})

    for _ in range(f.whole(3, 40)):
        c = f.pick(*connections)
        ends = [(c["a"], c["port"]), (c["b"], c["peer_port"])]
        (sender, out), (receiver, into) = ends if f.chance(0.5) else ends[::-1]
        nbytes = any_pes.get(receiver, f.pick(0, 1, 64, 64, 100, 256, 700, 1500))
        add(sender, call=f.pick("send", "send_async", "send_async"), port=out, bytes=nbytes)
        if receiver in any_pes:
            ports = [c["port"] for c in connections if c["a"] == receiver]
            ports += [c["peer_port"] for c in connections if c["b"] == receiver]
            add(receiver, call="recv_any", ports=ports, bytes=nbytes)
        else:
            add(receiver, call=f.pick("recv", "recv", "recv_async"), port=into, bytes=nbytes)
        if f.chance(0.1):
            add(sender, call="wait", **{"for": [x["id"] for x in calls[sender] if x["call"] != "wait"][-3:]})
    programs = [{"pe": p, "start_ns": f.time(50), "calls": calls[p]} for p in prefixes if calls[p]]
    return topology, {"connections": connections, "programs": programs}


def departures(theirs, ours):
    lines = []

    def walk(what, a, b):
        if isinstance(b, dict):
            for key in b:
                walk(f"{what}.{key}", a.get(key), b[key])
        elif isinstance(b, list):
            if not isinstance(a, list) or len(a) != len(b):
                lines.append(f"{what}: kernbench {a}, model {b}")
            else:
                for i, (x, y) in enumerate(zip(a, b)):
                    walk(f"{what}[{i}]", x, y)
        elif isinstance(b, (int, float)) and isinstance(a, (int, float)):
            if abs(a - b) > 0.01:
                lines.append(f"{what}: kernbench {a:.6f}, model {b:.6f}")
        elif a != b:
            lines.append(f"{what}: kernbench {a}, model {b}")

    walk("", theirs, ours)
    return lines


def off_accounts(theirs, work):
    """Of each segment: do its account's parts, none below 0, sum to the end of its slot read less the send's call?"""
    ports, into, lines = {}, {}, []
    for c in work["connections"]:
        ports[c["a"], c["port"]] = (c["b"], c["peer_port"])
        ports[c["b"], c["peer_port"]] = (c["a"], c["port"])
    calls = {(p["pe"], c["id"]): c for p in theirs["programs"] for c in p["calls"]}
    entries = [(p["pe"], c) for p in work["programs"] for c in p["calls"]]
    for pe, c in entries:  # receives of a queue take its messages in order
        if c["call"].startswith("recv"):
            said = calls[pe, c["id"]]
            into.setdefault((pe, said.get("port", c.get("port"))), []).append(said)
    for pe, c in entries:
        if not c["call"].startswith("send"):
            continue
        received = into[ports[pe, c["port"]]].pop(0)
        said = calls[pe, c["id"]]
        for account, read in zip(said["accounts"], received["segments"]):
            off = sum(account.values()) - (read[2] - said["call_ns"])
            if abs(off) > 1e-6 or min(account.values()) < -1e-6 or len(account) != 14:
                lines.append(f"{pe} {c['id']}: account {account} is off by {off}")
        if len(said["accounts"]) != len(received["segments"]):
            lines.append(f"{pe} {c['id']}: {len(said['accounts'])} accounts, {len(received['segments'])} segments read")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernbench")
    parser.add_argument("cases", nargs="?", type=int, default=300)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--ties", action="store_true", help="figures that make ties likely")
    parser.add_argument("--keep", help="write the cases that fail to this folder")
    args = parser.parse_args()
    agree, failed = {}, 0
    for i in range(args.cases):
        seed, mode = args.first_seed + i, args.mode or MODES[i % len(MODES)]
        case = draw(seed, mode, args.ties)
        if case is None:
            continue
        graph = timing_model.Graph(timing_model.compile_flat(case[0]))
        fabric = model_wormhole.WormholeFabric if mode == "finite" else model_messages.PostedFabric
        ours, undecided = model_messages.run_programs(graph, case[1], fabric)
        with tempfile.TemporaryDirectory() as folder:
            paths = random_cases.write_case("pipeline", case, folder)
            try:
                theirs = other.kernbench_says(args.kernbench, "pipeline", paths, ("--breakdown",))
                lines = ["an answer, where nothing can move"]
                if ours:
                    lines = departures(theirs, ours) + off_accounts(theirs, case[1])
            except RuntimeError as fault:
                stuck = str(fault).startswith("exit status 1") and "of waiting: " in str(fault)
                lines = [] if not ours and stuck else [f"no answer: {fault}"]
        if not ours and not lines:
            mode = "stuck"
        if not lines:
            agree[mode] = agree.get(mode, 0) + 1
        elif not undecided:
            failed += 1
            print(f"FAILED seed {seed} --mode {mode}: {len(lines)} departures, the first: {lines[0]}", flush=True)
            if args.keep:
                folder = os.path.join(args.keep, str(seed))
                random_cases.write_case("pipeline", case, folder)
                with open(os.path.join(folder, "model.json"), "w", encoding="utf-8") as file:
                    json.dump(ours, file)
    for mode, count in sorted(agree.items()):
        print(f"messages {mode}: {count} cases agree")
    return 1 if failed or not agree else 0


if __name__ == "__main__":
    sys.exit(main())
