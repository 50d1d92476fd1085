# SPDX-License-Identifier: Apache-2.0
"""The cases whose answers are kept in answers.json: small and quick ones of all that decides times, and of all that tells
them. Where a message goes and how long a node, a link and a memory take it, in every link mode; who says so afterwards:
critical paths, predictions, joules, cost tables, hops, logs, waveforms; and what is refused.

Machines are the small shipped ones, copies of small.yaml with other figures, flat ones, and seeded random ones.
"""
import json
import os
import random
import re
import sys

import cases
from cases import KERNELS, LOG, MODES, Case, mode_options, params_options, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import machine_cases  # noqa: E402
import messages_agree_with_an_independent_model as random_messages  # noqa: E402
import random_cases  # noqa: E402

IDEAL, IDEAL_ROUTED, CUT, CUT_ROUTED, FLIT = MODES
LOGS = ("--oplog", "log.sqlite")
SEEN = ("--trace", "trace.json", "--vcd", "wave.vcd", "--ftr", "run.ftr")

# Kernels with sizes without common divisors, and collectives that are quick on 8 and 16 PEs.
MORE_KERNELS = {
    **KERNELS,
    "all_gather": ("n=300",),
    "all_reduce": ("n=1000", "algorithm=ring"),
    "all_to_all": ("n=512",),
    "attention_columns": ("heads=2", "seq=40", "dim=16"),
    "barrier": ("times=3",),
    "broadcast": ("n=700", "algorithm=tree"),
    "embedding": (),
    "reduce": ("n=300", "algorithm=chain"),
    "reduce_scatter": ("n=512", "algorithm=halving"),
    "sendrecv": ("n=900",),
    "tp_gemm_all_reduce": (),
    "tp_linear": (),
}
PROGRAMS = {
    "all_reduce_loop": ("n=300", "times=2"),
    "tp_attention": ("heads=6", "seq=17", "dim=8"),
    "tp_embedding": ("vocab=50", "dim=12", "tokens=30"),
    "tp_mlp": ("tokens=13", "dim=24", "hidden=40"),
}


def mode_name(mode):
    return "-".join(mode)


def kernel_run(place, topology, kernel, *options, **more):
    return run(place, topology, kernel, *options, params=more.pop("params", MORE_KERNELS[kernel]), **more)


def kernel_case(name, topology, kernel, *options, status=0, **more):
    return Case(name, lambda place: [kernel_run(place, topology, kernel, *options, **more)], status)


def settings(*assignments):
    return [word for assignment in assignments for word in ("--set", assignment)]


def small_with(place, *replacements):
    """A copy of small.yaml in the case's folder."""
    with open(place.topology("small"), encoding="utf-8") as file:
        return place.write("machine.yaml", cases.replaced(file.read(), replacements))


def flat_file(place, topology, name="machine.yaml"):
    return place.write(name, json.dumps(topology))  # JSON is YAML too


def trace_file(place, rows):
    lines = ["id,issue_ns,initiator,op,address,bytes", *(",".join(map(str, row)) for row in rows)]
    return place.write("trace.csv", "\n".join(lines) + "\n")


# ---- Why a run takes as long as it does


def explain_cases():
    machines = ("small", "one_cube", "small", "latency_model", "small", "store_and_forward")
    for i, kernel in enumerate(sorted(MORE_KERNELS)):
        for j, mode in enumerate((MODES[i % 4], FLIT)):
            topology = machines[(2 * i + j) % len(machines)]
            files = (LOG, (), ("--transfer", "timed"))[(i + j) % 3]
            yield kernel_case(f"explain/{kernel}/{topology}-{mode_name(mode)}", topology, kernel, "--explain", *files,
                              mode=mode)
    for kernel, mode in (("gemm", CUT_ROUTED), ("all_reduce", FLIT), ("softmax", IDEAL), ("gather", CUT),
                         ("tp_linear", IDEAL_ROUTED)):
        yield kernel_case(f"explain/{kernel}/text", "small", kernel, "--explain", mode=mode, format="text")
    for variant in ("overheads", "headers", "two_engines", "depth_1", "tlb", "systolic", "one_server_hbm", "odd_channels"):
        for mode in (CUT_ROUTED, FLIT):
            yield kernel_case(f"explain/gemm/{variant}-{mode_name(mode)}", variant, "gemm", "--explain", "--address",
                              "virtual" if variant == "tlb" else "physical", mode=mode)
    for mode in (CUT_ROUTED, FLIT):
        yield kernel_case(f"explain/gemm/default-{mode_name(mode)}", "default", "gemm", "--explain", "--device",
                          "sip:0", mode=mode, params=("m=128", "n=64", "k=64"))
    yield Case("explain/reports-compared", lambda place: [
        kernel_run(place, "small", "gemm", "--explain", "--oplog", f"{mode[0]}.jsonl", mode=mode)
        for mode in (CUT_ROUTED, FLIT)] + [["diff", "cut_through.jsonl", "flit.jsonl"],
                                           ["diff", "cut_through.jsonl", "flit.jsonl", "--format", "json"]])
    for kernel, mode in (("gemm", CUT_ROUTED), ("all_reduce", FLIT)):
        yield kernel_case(f"explain/{kernel}/page", "small", kernel, "--report", "page.html", mode=mode, format="text")


def whatif_cases():
    def case(name, topology, kernel, mode, *options):
        return Case(f"whatif/{name}", lambda place: [
            ["whatif", *options, "--", "run", "--topology", place.topology(topology), "--kernel", kernel,
             *params_options(MORE_KERNELS[kernel]), *mode_options(mode)]])

    chosen = ("gemm", "softmax", "vector_add", "all_reduce", "attention", "mlp", "sendrecv", "broadcast", "tp_linear")
    for i, kernel in enumerate(chosen):
        for j, mode in enumerate((MODES[i % 4], FLIT)):
            form = ("json", "csv", "text")[(i + j) % 3]
            topology = ("small", "one_cube", "latency_model")[(i + 2 * j) % 3]
            yield case(f"predicted/{kernel}/{topology}-{mode_name(mode)}", topology, kernel, mode, "--predict",
                       "--format", form)
    for kernel, part, mode in (("gemm", "hbm", CUT_ROUTED), ("all_reduce", "routers", FLIT), ("mlp", "mesh", FLIT),
                               ("softmax", "launch", IDEAL), ("sendrecv", "queues", CUT)):
        yield case(f"simulated/{kernel}/{part}", "small", kernel, mode, "--part", part, "--jobs", "2", "--format", "json")
    for i, part in enumerate(("launch", "pe_cpu", "scheduler", "engines", "mmu", "gemm", "math", "tcm",
                              "hbm", "sram", "memory", "mesh", "ucie", "pcie", "routers", "wires", "queues",
                              "dma_engines", "queue_depth")):
        mode = (CUT_ROUTED, FLIT, IDEAL)[i % 3]
        kernel = "all_reduce" if part in ("queues", "ucie") else "gemm"
        yield kernel_case(f"whatif/scaled/{part}", "overheads", kernel, "--scale", f"{part}={(2, 0.5, 3)[i // 3 % 3]}",
                          *LOG, "--transfer", "timed", mode=mode)


def energy_cases():
    energy = ("--energy", "n7.yaml", "--activity", "activity.csv")
    for i, kernel in enumerate(sorted(MORE_KERNELS)):
        mode = MODES[(i + i // 5) % 5]
        yield kernel_case(f"energy/{kernel}/{mode_name(mode)}", ("small", "one_cube", "latency_model")[i % 3], kernel,
                          *energy, mode=mode)
    for mode in MODES:
        yield Case(f"energy/replayed/{mode_name(mode)}", lambda place, mode=mode: [
            kernel_run(place, "headers", "all_reduce", *energy, *LOGS, "--trace", "trace.pftrace", "--vcd", "wave.vcd",
                       mode=mode, format="text"), ["replay", "--oplog", "log.sqlite"]])
    for mode in (CUT_ROUTED, FLIT):
        yield Case(f"energy/activates/{mode_name(mode)}", lambda place, mode=mode: [
            ["run", "--topology", dram_machine(place, {}), "--kernel", "gemm", *params_options(("m=64", "n=64", "k=64")),
             *mode_options(mode), *energy, "--format", "json"]])


# ---- Messages between PEs, and programs


def collectives_cases():
    def case(name, topology, mode, *options, form="json"):
        return Case(f"collectives/{name}", lambda place: [
            ["collectives", "--topology", place.topology(topology), *mode_options(mode), *options, "--format", form]])

    for topology in ("small", "one_cube", "latency_model"):
        for i, mode in enumerate(MODES):
            yield case(f"all/{topology}-{mode_name(mode)}", topology, mode, "--op", "all", "--sizes", "1K:16K:x16",
                       form=("text", "csv", "json")[i % 3])
    for i, algorithm in enumerate(("ring", "rotate", "halving", "tree", "grid", "hierarchical")):
        over = {"grid": "pe", "hierarchical": "cube+pe"}.get(algorithm, "cube+pe")
        for mode in MODES:
            topology = ("small", "store_and_forward", "headers")[i % 3]
            yield case(f"{algorithm}/{mode_name(mode)}", topology, mode, "--algorithm", algorithm, "--over", over,
                       "--sizes", "100:6100:+3K", "--check")
    for tier in ("tcm", "sram", "hbm"):
        for slots, slot_bytes in ((1, 64), (2, 1024), (16, 256)):
            for mode in (CUT_ROUTED, FLIT):
                yield case(f"rings-in-{tier}/{slots}x{slot_bytes}-{mode_name(mode)}", "small", mode, "--tier", tier,
                           "--slots", str(slots), "--slot-bytes", str(slot_bytes), "--sizes", "3000", "--algorithm",
                           "ring")
    for op in ("all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "sendrecv"):
        for mode in (IDEAL_ROUTED, FLIT):
            yield case(f"parts/{op}-{mode_name(mode)}", "overheads", mode, "--op", op, "--sizes", "4K", "--part-bytes",
                       "512", "--redop", "max" if "reduce" in op else "sum")
    for over, pes in (("rank", "leaders"), ("rank+cube", "leaders"), ("rank", "all")):
        for mode in (CUT_ROUTED, FLIT):
            yield case(f"torus/{over}-{pes}-{mode_name(mode)}", "six_sip_torus", mode, "--over", over, "--pes", pes,
                       "--op", "all", "--sizes", "2K")
    for mode in (CUT_ROUTED, FLIT, IDEAL):
        yield case(f"default/{mode_name(mode)}", "default", mode, "--over", "cube+pe", "--ranks", "1", "--sizes", "4K")
        yield case(f"default-leaders/{mode_name(mode)}", "default", mode, "--over", "rank+cube", "--pes", "leaders",
                   "--op", "all", "--sizes", "4K")
    for kernel in ("all_reduce", "all_to_all", "barrier", "tp_gemm_all_reduce", "broadcast"):
        for mode in (IDEAL, CUT, FLIT):
            yield kernel_case(f"collectives/kernel/{kernel}-{mode_name(mode)}", "small", kernel, "--verify", *LOGS,
                              *SEEN, "--wiring", "wiring.svg", mode=mode)


def program_cases():
    def case(name, program, ranks, mode, *options, topology="six_sip_torus", form="json"):
        return Case(f"program/{name}", lambda place: [
            ["run", "--topology", place.topology(topology), "--program", program, "--ranks", str(ranks),
             *params_options(PROGRAMS[program]), *mode_options(mode), *options, "--format", form]])

    for i, program in enumerate(PROGRAMS):
        for j, mode in enumerate(MODES):
            options = (LOG, ("--transfer", "timed"), ("--launch", "direct", *LOG))[(i + j) % 3]
            yield case(f"{program}/{mode_name(mode)}", program, 3 if program == "tp_attention" else 2, mode, *options)
        for mode in (CUT_ROUTED, FLIT):
            yield case(f"{program}/explained-{mode_name(mode)}", program, 2, mode, "--explain")
        yield case(f"{program}/energy", program, 2, FLIT, "--energy", "n7.yaml", "--transfer", "timed", form="text")
        yield case(f"{program}/seen", program, 2, CUT_ROUTED, *LOGS, "--trace", "trace.json", "--pes", "leaders")
        yield case(f"{program}/virtual", program, 3, CUT, "--address", "virtual", "--transfer", "timed", "--verify",
                   form="text")
    for mode in (CUT_ROUTED, FLIT):
        yield case(f"tp_mlp/default-{mode_name(mode)}", "tp_mlp", 2, mode, *LOG, topology="default")


# ---- Memories, buffers, nodes


def dram_machine(place, attributes, preset="hbm2e"):
    lines = {"preset": preset, "channels": 2, "overhead_ns": 1.5, **attributes}
    text = "".join(f"      {name}: {value}\n" for name, value in lines.items())
    return small_with(
        place, (re.compile(r"impl: builtin.hbm_pc .*"), "impl: builtin.hbm_dram"),
        (re.compile(r" *(pseudo_channels|interleave_bytes|pc_bw_gbs|hash|burst_bytes): .*\n"), ""),
        (re.compile(r"(slice_mb: 1024(?:.*\n){3}) *overhead_ns: 0.0\n"), lambda match: match[1] + text))


def mixed_rows(seed, count=60, size=4096):
    """Requests of all PEs, the management processors and the host on a copy of small.yaml: runs, strides, hot rows."""
    rng = random.Random(f"rows {seed}")
    initiators = [f"sip0.cube{c}.pe{p}.pe_dma" for c in range(2) for p in range(4)]
    initiators += ["sip0.cube0.m_cpu", "sip0.cube1.m_cpu", "sip0.io0.pcie_ep"]
    cubes = (0, 1 << 42)  # start of their slices
    rows, at, when = [], 0, 0.0
    for i in range(count):
        at = rng.choice((at + 256, at + 8192, rng.randrange(1 << 20), 64 * rng.randrange(64)))
        when = rng.choice((when, when, when + rng.randint(1, 30), round(when + rng.uniform(0, 9), 3)))
        bytes_ = rng.choice((64, 256, size, rng.randint(1, size)))
        address = rng.choice(cubes) + (rng.randrange(4) << 30) + at
        rows.append((i, when + (i * 1e-3 if i % 5 == 0 else 0), initiators[rng.randrange(len(initiators))],
                     rng.choice(("read", "read", "write")), address, bytes_))
    return rows


def drawn_dram(seed):
    """Attributes of builtin.hbm_dram, and a preset, in combinations that no author chose."""
    rng = random.Random(f"dram {seed}")
    attributes = {"channels": rng.choice((1, 2, 8)), "scheduler": rng.choice(("fr_fcfs", "fcfs")),
                  "page_policy": rng.choice(("open", "closed")), "refresh": rng.choice(("all_bank", "per_bank", "none"))}
    if rng.random() < 0.5:
        attributes["mapping"] = rng.choice(("row bank group stack_id channel pc column byte",
                                            "row column bank group channel pc stack_id byte",
                                            "row column:2 bank^ stack_id^ column group pc channel^ byte"))
    for more in ({"read_queue": 4, "write_queue": 4, "write_high": 2, "write_low": 0}, {"max_age": 20, "row_hits": 1},
                 {"tREFI": 1200, "tRFC": 200}, {"bank_groups": 2, "banks": 2}, {"stack_ids": 2, "pseudo_channels": 1}):
        if rng.random() < 0.4:
            attributes.update(more)
    return attributes, rng.choice(("hbm2", "hbm2e", "hbm3"))


def dram_cases():
    variants = {
        "hbm2": ({}, "hbm2"), "hbm2e": ({}, "hbm2e"), "hbm3": ({}, "hbm3"),
        "closed": ({"page_policy": "closed"}, "hbm2"), "fcfs": ({"scheduler": "fcfs"}, "hbm2e"),
        "per-bank": ({"refresh": "per_bank"}, "hbm2"), "no-refresh": ({"refresh": "none"}, "hbm3"),
        "few-places": ({"read_queue": 4, "write_queue": 4, "write_high": 3, "write_low": 1}, "hbm2"),
        "plain-mapping": ({"mapping": "row stack_id bank column group channel pc byte"}, "hbm2e"),
        "slow": ({"tRP": 40, "tRCDRD": 33, "tREFI": 1000, "channels": 1}, "hbm2"),
    }
    for i, (name, (attributes, preset)) in enumerate(variants.items()):
        for j, mode in enumerate((MODES[i % 4], FLIT)):
            yield Case(f"dram/traffic/{name}-{mode_name(mode)}", lambda place, a=attributes, p=preset, m=mode, i=i, j=j: [
                ["traffic", "--topology", dram_machine(place, a, p), "--trace", trace_file(place, mixed_rows(i)),
                 *mode_options(m), "--format", ("json", "csv")[j], "--statistics", "statistics.csv",
                 "--dram-commands", "commands.csv"]])
        mode, kernel = MODES[(i + 2) % 5], ("gemm", "softmax", "all_reduce", "vector_add")[i % 4]
        yield Case(f"dram/run/{kernel}-{name}", lambda place, a=attributes, p=preset, m=mode, k=kernel: [
            ["run", "--topology", dram_machine(place, a, p), "--kernel", k, *params_options(MORE_KERNELS[k]),
             *mode_options(m), *LOG, "--explain", "--format", "json"]])
    for i in range(12):
        yield Case(f"dram/stream/{i}", lambda place, i=i: [
            ["traffic", "--topology", dram_machine(place, *drawn_dram(i)), "--trace", trace_file(place, mixed_rows(100 + i, 400)),
             *mode_options(MODES[i % len(MODES)]), "--format", "csv", "--dram-commands", "commands.csv"]])
    for policy in ("page_policy=closed", "scheduler=fcfs", "refresh=per_bank"):
        yield Case(f"dram/set/{policy}", lambda place, policy=policy: [
            ["run", "--topology", dram_machine(place, {}), "--kernel", "gemm", "--set", f"*.hbm_ctrl.*.{policy}",
             *params_options(KERNELS["gemm"]), *LOGS, "--format", "json"]])
    for mode in MODES:
        yield Case(f"dram/probe/{mode_name(mode)}", lambda place, mode=mode: [
            ["probe", "--topology", dram_machine(place, {}), *mode_options(mode), "--hops", "--format", "json"]])


CHANNELS = {  # of builtin.hbm_pc, as assignments
    "one": ("pseudo_channels=1", "pc_bw_gbs=256"), "no-hash": ("hash=none",), "odd": ("pseudo_channels=5", "hash=none"),
    "wide": ("interleave_bytes=1024", "burst_bytes=256"), "no-bursts": ("burst_bytes=1",), "slow": ("pc_bw_gbs=9.7",),
    "overhead": ("overhead_ns=3.25",), "many": ("pseudo_channels=64", "pc_bw_gbs=4"),
}


def channel_cases():
    for i, (name, values) in enumerate(CHANNELS.items()):
        sets = settings(*(f"*.hbm_ctrl.*.{value}" for value in values))
        for mode in (MODES[i % 4], FLIT):
            yield Case(f"channels/traffic/{name}-{mode_name(mode)}", lambda place, s=sets, m=mode, i=i: [
                ["traffic", "--topology", place.topology("small"), "--trace", trace_file(place, mixed_rows(100 + i)), *s,
                 *mode_options(m), "--format", "json", "--statistics", "statistics.csv"]])
            yield kernel_case(f"channels/run/{name}-{mode_name(mode)}", "small", ("gemm", "gather", "mlp")[i % 3], *sets,
                              *LOG, mode=mode)


def flat_mesh(width, height, attrs, timing, memory_attrs=None):
    """Routers with a port and a memory each; links along rows stand first, so that ways turn alike."""
    nodes, links, memories = [], [], []
    for i in range(width * height):
        nodes += [{"id": f"r{i}", "kind": "router", "attrs": dict(attrs)}, {"id": f"p{i}", "kind": "port"},
                  {"id": f"m{i}", "kind": "sram", "attrs": dict(memory_attrs or {})}]
        memories.append({"node": f"m{i}", "space": "sram", "base": i << 16, "size": 1 << 16})
    links += [{"from": f"r{i}", "to": f"r{i + 1}", "distance_mm": 1, "bw_gbs": 64}
              for i in range(width * height) if i % width != width - 1]
    links += [{"from": f"r{i}", "to": f"r{i + width}", "distance_mm": 1, "bw_gbs": 64} for i in range(width * (height - 1))]
    for i in range(width * height):
        links += [{"from": f"{end}{i}", "to": f"r{i}", "distance_mm": 0.5, "bw_gbs": 64} for end in "pm"]
    return {"ns_per_mm": 1, "timing": timing, "nodes": nodes, "links": links, "memories": memories}


def flat_ring(count, attrs, timing, backwards_mm=20):
    """A ring of routers whose ways go round in one direction."""
    topology = flat_mesh(count, 1, attrs, timing)
    links = [link for link in topology["links"] if link["from"][0] != "r"]
    for i in range(count):
        a, b = f"r{i}", f"r{(i + 1) % count}"
        links += [{"from": a, "to": b, "distance_mm": 1, "bw_gbs": 64, "bidirectional": False},
                  {"from": b, "to": a, "distance_mm": backwards_mm, "bw_gbs": 64, "bidirectional": False}]
    return {**topology, "links": links}


def port_rows(seed, nodes, count):
    rng = random.Random(f"ports {seed}")
    return [(i, rng.choice((0, 0, rng.randint(0, 60))), f"p{rng.randrange(nodes)}", rng.choice(("write", "write", "read")),
             (rng.randrange(nodes) << 16) + 64 * rng.randrange(64), rng.choice((64, 512, 1024, 2048))) for i in range(count)]


def ring_rows(count, far):
    return [(i, 0, f"p{i}", "write", ((i + far) % count) << 16, 2048) for i in range(count)]


FLITS = {"links": "flit", "response": "routed", "flit_bytes": 64, "header_bytes": 16}


def buffer_cases():
    def traffic(name, topology, rows, *options, status=0):
        return Case(f"buffers/{name}", lambda place: [
            ["traffic", "--topology", flat_file(place, topology), "--trace", trace_file(place, rows), *options]], status)

    for i, (flits, vcs, allocation) in enumerate(((1, 1, "round_robin"), (2, 1, "oldest_first"), (4, 2, "round_robin"),
                                                  (8, 4, "oldest_first"), (3, 3, "round_robin"), (64, 2, "oldest_first"))):
        attrs = {"overhead_ns": (0, 1, 1.5)[i % 3], "buffer_flits": flits, "vcs": vcs, "allocation": allocation}
        memory = {"buffer_flits": flits, "vcs": vcs} if i % 2 else {}
        for width, height in ((3, 3), (4, 2)):
            yield traffic(f"mesh/{width}x{height}-{flits}-{vcs}-{allocation}",
                          flat_mesh(width, height, attrs, FLITS, memory), port_rows(i, width * height, 80), "--format",
                          ("json", "csv")[i % 2], "--statistics", "statistics.csv", "--vcd", "wave.vcd", "--ftr", "run.ftr")
        stored = {**attrs, "store_and_forward": True}
        yield traffic(f"mesh/stored-{flits}-{vcs}-{allocation}", flat_mesh(3, 2, stored, FLITS, memory),
                      port_rows(50 + i, 6, 40), "--format", "json")
    limited = {"overhead_ns": 1, "buffer_flits": 2, "vcs": 1}
    for count in (3, 4, 6):
        yield traffic(f"ring/refused-{count}", flat_ring(count, limited, FLITS), ring_rows(count, 2), status=2)
        yield traffic(f"ring/hung-{count}", flat_ring(count, limited, {**FLITS, "prove_deadlock_free": False}),
                      ring_rows(count, 2), status=1)
        yield traffic(f"ring/hung-randomly-{count}", flat_ring(count, limited, {**FLITS, "prove_deadlock_free": False}),
                      port_rows(count, count, 60), status=1)
        yield traffic(f"ring/layers-{count}", flat_ring(count, {**limited, "vcs": 2}, FLITS), port_rows(count, count, 60))
        yield Case(f"buffers/ring/proof-{count}", lambda place, count=count: [
            ["topology", flat_file(place, flat_ring(count, limited, FLITS)), *settings(f"*.vcs={vcs}")]
            for vcs in (1, 2, 4)])
    for seed in range(12):
        yield Case(f"buffers/random/{seed}", lambda place, seed=seed: [random_buffers(place, seed)])
    for kernel in ("gemm", "softmax", "all_reduce", "gather", "broadcast", "tp_linear"):
        for flits, vcs in ((2, 1), (8, 2)):
            yield kernel_case(f"buffers/run/{kernel}-{flits}-{vcs}", "small", kernel,
                              *settings(f"*.buffer_flits={flits}", f"*.vcs={vcs}"), *LOG, "--explain", mode=FLIT)
    for topology, vcs in (("latency_model", 4), ("one_cube", 4), ("six_sip_torus", 4), ("default", 8)):
        yield Case(f"buffers/proof/{topology}", lambda place, topology=topology, vcs=vcs: [
            ["topology", place.topology(topology), "--links", "flit", *settings("*.buffer_flits=8", f"*.vcs={v}")]
            for v in (1, vcs)])
    for name, allocation in (("in-turn", "round_robin"), ("by-age", "oldest_first")):
        yield Case(f"buffers/traffic/{name}", lambda place, allocation=allocation: [
            ["traffic", "--topology", place.topology("small"), "--trace", trace_file(place, mixed_rows(7, 80)),
             *mode_options(FLIT), *settings("*.buffer_flits=4", "*.vcs=2", f"*.r*.allocation={allocation}"), "--format",
             "json"]])


def random_buffers(place, seed):
    topology, rows = random_cases.traffic_case(1000 + seed, ties=seed % 3 == 0, mode="flit")
    figures = random.Random(f"buffers {seed}")
    for node in topology["nodes"]:
        passes = node["kind"] in (*random_cases.TRANSIT_KINDS, "io_cpu", "pcie_ep")
        if (passes or node["kind"] in ("sram", "hbm_ctrl")) and figures.random() < 0.7:
            node.setdefault("attrs", {}).update(buffer_flits=figures.choice((1, 2, 3, 8)), vcs=figures.choice((1, 2, 4)))
            if passes:
                node["attrs"]["allocation"] = figures.choice(("round_robin", "oldest_first"))
    topology["timing"]["prove_deadlock_free"] = seed % 4 != 1
    trace = random_cases.write_trace(rows, os.path.join(place.folder, "trace.csv"))
    return ["traffic", "--topology", flat_file(place, topology), "--trace", trace, "--format", "json"]


STORED = {  # nodes that store complete messages before they pass them on
    "routers": ("router: {attrs: {", "router: {attrs: {store_and_forward: true, "),
    "connections": ("connection: {attrs: {", "connection: {attrs: {store_and_forward: true, "),
    "ports": ("port: {attrs: {", "port: {attrs: {store_and_forward: true, "),
    "endpoint-not": ("pcie_ep: {attrs: {", "pcie_ep: {attrs: {store_and_forward: false, "),
}


def node_cases():
    """Nodes that store, with overheads, behind headers: traffic, hops, launches and messages over the same ways."""
    for i, (name, replacement) in enumerate(STORED.items()):
        for mode in MODES:
            yield Case(f"stored/{name}/{mode_name(mode)}", lambda place, r=replacement, m=mode, i=i: [
                ["traffic", "--topology", small_with(place, r, ("overhead_ns: 0.0}", "overhead_ns: 0.75}")), "--trace",
                 trace_file(place, mixed_rows(200 + i)), *mode_options(m), "--format", "json"],
                ["probe", "--topology", place.folder + "/machine.yaml", *mode_options(m), "--hops", "--bytes", "3000",
                 "--format", "json"],
                ["collectives", "--topology", place.folder + "/machine.yaml", *mode_options(m), "--sizes", "2K",
                 "--algorithm", "ring", "--format", "json"],
                ["run", "--topology", place.folder + "/machine.yaml", "--kernel", "vector_add", *mode_options(m), "--param",
                 "n=5000", "--transfer", "timed", "--explain", *LOG, "--format", "json"]])


def own_block_cases():
    """Routers and a memory from plug-ins, of which none has a delay of its own."""
    def traffic(name, example, topology, trace, mode, *options):
        return Case(name, lambda place: [
            ["traffic", "--plugin", cases.PLUGIN, "--topology", place.example(example, topology), "--trace",
             place.example(example, trace), *mode_options(mode), *options]], plugin=example)

    for mode in MODES:
        yield traffic(f"own/router/adaptive-{mode_name(mode)}", "custom_router", "mesh.yaml", "mesh.csv", mode)
        yield traffic(f"own/router/in-turn-{mode_name(mode)}", "custom_router", "inputs.yaml", "inputs.csv", mode,
                      "--format", "json", "--vcd", "wave.vcd")
        yield traffic(f"own/memory/banks-{mode_name(mode)}", "custom_hbm", "system.yaml", "requests.csv", mode)
        for impl in ("adaptive", "round_robin"):
            router = ("router: {attrs: {overhead_ns: 0.0}}",
                      f"router: {{impl: custom.{impl}_router, attrs: {{overhead_ns: 1.25}}}}")

            def machine(place, mode=mode, router=router):
                own = ["--plugin", cases.PLUGIN, "--topology", small_with(place, router), *mode_options(mode)]
                return [["traffic", *own, "--trace", trace_file(place, mixed_rows(300)), "--format", "json"],
                        ["run", *own, "--kernel", "gemm", *params_options(KERNELS["gemm"]), *LOG, "--format", "json"],
                        ["run", *own, "--kernel", "all_reduce", *params_options(MORE_KERNELS["all_reduce"]), *LOG,
                         "--format", "json"],
                        ["probe", *own, "--hops", "--format", "json"]]

            yield Case(f"own/router/{impl}-machine-{mode_name(mode)}", machine, plugin="custom_router")


# ---- The host, traffic, work, probes, logs


def host_cases():
    for i, kernel in enumerate(("gemm", "vector_add", "attention", "assemble", "all_reduce")):
        for mode in MODES:
            topology = ("small", "one_cube", "host", "latency_model", "overheads")[(i + MODES.index(mode)) % 5]
            yield kernel_case(f"host/{kernel}/{topology}-{mode_name(mode)}", topology, kernel, "--launch", "host",
                              "--transfer", "timed", "--address", "virtual" if i % 2 else "physical", *LOG,
                              *(SEEN if mode[0] != "ideal" else ()), mode=mode)
    for launch in ("host", "direct"):
        for mode in (CUT_ROUTED, FLIT):
            yield kernel_case(f"host/torus/{launch}-{mode_name(mode)}", "six_sip_torus", "vector_add", "--launch", launch,
                              "--transfer", "timed", "--ranks", "2", *LOG, mode=mode)
    for mode in (IDEAL, FLIT):
        yield kernel_case(f"host/default/{mode_name(mode)}", "default", "vector_add", "--launch", "host", "--transfer",
                          "timed", "--pes", "leaders", "--ftr", "run.ftr", mode=mode)


def drawn_machine(place, seed):
    """A copy of small.yaml with other figures, meshes and nodes that store."""
    rng = random.Random(f"recorded machine {seed}")
    with open(place.topology("small"), encoding="utf-8") as file:
        text = machine_cases.drawn_anew(rng, file.read())
    text = re.sub(r"\b(router|connection|noc): \{attrs: \{(?=overhead_ns)",
                  lambda m: m[0] + rng.choice(("", "", "store_and_forward: true, ")), text)
    return place.write("machine.yaml", text)


def traffic_cases():
    for seed in range(24):
        links = ("ideal", "cut_through", "flit")[seed % 3]

        def flat(place, seed=seed, links=links):
            topology, trace = random_cases.write_case(
                "traffic", random_cases.draw("traffic", 2000 + seed, seed % 4 == 3, links), place.folder)
            files = (("--ftr", "run.ftr"), ("--statistics", "statistics.csv"), ("--vcd", "wave.vcd"))[seed // 3 % 3]
            return [["traffic", "--topology", topology, "--trace", trace, "--format", ("json", "csv")[seed % 2], *files]]

        yield Case(f"traffic/flat/{links}-{seed}", flat)
    for seed in range(20):
        mode = MODES[seed % 5]
        yield Case(f"traffic/machine/{mode_name(mode)}-{seed}", lambda place, seed=seed, mode=mode: [
            ["traffic", "--topology", drawn_machine(place, seed), "--trace", trace_file(place, mixed_rows(400 + seed)),
             *mode_options(mode), "--format", "json", "--ftr", "run.ftr"]])
    for seed in range(15):
        mode = MODES[seed % 5]
        kernel = ("gemm", "all_reduce", "attention", "softmax", "mlp", "tp_linear")[seed % 6]
        yield Case(f"run/machine/{kernel}-{mode_name(mode)}-{seed}", lambda place, seed=seed, mode=mode, kernel=kernel: [
            ["run", "--topology", drawn_machine(place, 500 + seed), "--kernel", kernel,
             *params_options(MORE_KERNELS[kernel]), *mode_options(mode), "--transfer", "timed", *LOGS, "--oplog-hops",
             "--explain", "--format", "json"]])
    for mode in MODES:
        yield Case(f"traffic/ports-seen/{mode_name(mode)}", lambda place, mode=mode: [
            [*cases.port_traffic(place, mode)[0], "--statistics", "statistics.csv", "--ftr", "run.ftr", "--vcd",
             "wave.vcd"]])


def pipeline_cases():
    samples = ("collective_ring", "programs_cut_through", "programs_flit", "programs_ideal", "programs_tiers")
    for sample in (*samples, "programs_deadlock"):
        for mode in MODES:
            yield Case(f"pipeline/{sample}/{mode_name(mode)}", lambda place, sample=sample, mode=mode: [
                ["pipeline", "--topology", place.sample(sample, "topology.yaml"), "--work",
                 place.sample(sample, "work.json"), *mode_options(mode), "--breakdown", "--format", "json", "--vcd",
                 "wave.vcd", "--ftr", "run.ftr"]], 1 if sample == "programs_deadlock" else 0)
    for seed in range(18):
        links = ("ideal", "cut_through", "flit")[seed % 3]
        yield Case(f"pipeline/messages/{links}-{seed}", lambda place, seed=seed, links=links: [
            messages(place, seed, links)])

        def work(place, seed=seed, links=links):
            topology, path = random_cases.write_case(
                "pipeline", random_cases.draw("pipeline", 3000 + seed, seed % 4 == 3, links), place.folder)
            return [["pipeline", "--topology", topology, "--work", path, "--format", ("json", "text")[seed % 2]]]

        yield Case(f"pipeline/jobs/{links}-{seed}", work)


def messages(place, seed, links):
    case = next(case for s in range(5000 + 100 * seed, 5100 + 100 * seed)
                if (case := random_messages.draw(s, links, seed % 4 == 3, protocols=False)))
    topology, path = random_cases.write_case("pipeline", case, place.folder)
    return ["pipeline", "--topology", topology, "--work", path, "--breakdown", "--format", "json"]


def probe_cases():
    def case(name, topology, mode, *options):
        return Case(f"probe/{name}/{mode_name(mode)}", lambda place: [
            ["probe", "--topology", place.topology(topology), *mode_options(mode), *options]])

    for i, mode in enumerate(MODES):
        for name, sets in (("routers", ("*.r*.overhead_ns=10",)), ("narrow", ("edge:ucie.bw_gbs=24.5",)),
                           ("slow-memory", ("*.hbm_ctrl.*.overhead_ns=100",)),
                           ("mixed", ("*.overhead_ns=1.125", "edge:*.bw_gbs=48"))):
            yield case(f"hops/{name}", "small", mode, "--hops", "--check", "--format", ("json", "text")[i % 2],
                       *settings(*sets))
        yield case("saturated", ("small", "headers", "odd_channels", "store_and_forward", "two_engines")[i], mode,
                   "--saturate", "--format", "json", *settings("*.pe_dma.overhead_ns=2"))
        yield case("sweep", "latency_model", mode, "--sweep", "--format", "csv", *settings("*.xbar*.overhead_ns=7"))
        yield case("scaled", "one_cube", mode, "--hops", "--scale", "routers=0.5", "--scale", "mesh=2", "--format", "json")
    for name, sets in (("few", ("*.buffer_flits=2", "*.vcs=1")), ("many", ("*.buffer_flits=32", "*.vcs=4"))):
        for kind in ("--hops", "--saturate"):
            yield case(f"buffers-{name}{kind[1:]}", "small", FLIT, kind, "--format", "json", *settings(*sets))
    for topology in ("six_sip_torus", "default"):
        for mode in (CUT_ROUTED, FLIT):
            yield case(f"{topology}", topology, mode, "--hops", "--format", "json", *settings("*.overhead_ns=3"))


def log_cases():
    for i, kernel in enumerate(("gemm", "softmax", "all_reduce", "assemble", "tp_gemm_all_reduce", "sendrecv")):
        for mode in (MODES[i % 4], FLIT):
            log = (LOG, LOGS)[i % 2]
            yield kernel_case(f"log/hops/{kernel}-{mode_name(mode)}", ("small", "latency_model")[i % 2], kernel, *log,
                              "--oplog-hops", "--transfer", "timed", mode=mode)
    for i, kernel in enumerate(("gemm", "all_reduce", "gather", "attention")):
        for mode in (CUT_ROUTED, FLIT):
            yield kernel_case(f"log/seen/{kernel}-{mode_name(mode)}", "small", kernel, *LOG, "--vcd", "wave.vcd",
                              "--vcd-from", "30", "--vcd-to", "400", "--trace", "trace.pftrace", "--ftr", "run.ftr",
                              mode=mode)
    yield kernel_case("log/cut-off/time", "small", "gemm", "--max-time", "200", *LOG, status=1)


# ---- What is refused

WRONG = {
    "set-nothing": ("run", "small", "--kernel", "gemm", "--set", "*.nothing=1"),
    "set-no-node": ("run", "small", "--kernel", "gemm", "--set", "nobody.overhead_ns=1"),
    "set-negative": ("run", "small", "--kernel", "gemm", "--set", "*.overhead_ns=-1"),
    "set-no-edge": ("run", "small", "--kernel", "gemm", "--set", "edge:nowhere.bw_gbs=1"),
    "scale-unknown": ("run", "small", "--kernel", "gemm", "--scale", "luck=2"),
    "scale-zero": ("run", "small", "--kernel", "gemm", "--scale", "hbm=0"),
    "ideal-responses-of-flits": ("probe", "small", "--links", "flit", "--response", "ideal"),
    "no-links": ("probe", "small", "--links", "wormhole"),
    "no-case": ("probe", "small", "--case", "nowhere"),
    "no-bytes": ("probe", "small", "--bytes", "0"),
    "hops-and-sweep": ("probe", "small", "--hops", "--sweep", "--format", "csv"),
    "buffers-of-headers": ("probe", "small", "--links", "cut_through", "--set", "*.buffer_flits=2"),
    "no-room": ("probe", "small", "--links", "flit", "--set", "*.buffer_flits=0"),
    "no-channels": ("probe", "small", "--links", "flit", "--set", "*.buffer_flits=2", "--set", "*.vcs=0"),
    "allocation": ("probe", "small", "--links", "flit", "--set", "*.allocation=fair"),
    "deadlock": ("run", "default", "--kernel", "gemm", "--links", "flit", "--set", "*.buffer_flits=2"),
    "program": ("run", "six_sip_torus", "--program", "tp_mlq"),
    "program-param": ("run", "six_sip_torus", "--program", "tp_mlp", "--param", "tokens=0"),
    "program-heads": ("run", "six_sip_torus", "--program", "tp_attention", "--ranks", "4"),
    "ranks": ("run", "six_sip_torus", "--program", "tp_mlp", "--ranks", "9"),
    "op": ("collectives", "small", "--op", "all_shrug"),
    "algorithm": ("collectives", "small", "--algorithm", "halving", "--over", "cube+pe", "--pes",
                  "sip0.cube0.pe0,sip0.cube0.pe1,sip0.cube0.pe2"),
    "tier": ("collectives", "latency_model", "--tier", "sram"),
    "slots": ("collectives", "small", "--slots", "0"),
    "slot-bytes": ("collectives", "small", "--slot-bytes", "65"),
    "sizes": ("collectives", "small", "--sizes", "1K:1"),
    "over": ("collectives", "small", "--over", "planet"),
    "energy": ("run", "small", "--kernel", "gemm", "--energy", "none.yaml"),
    "activity": ("run", "small", "--kernel", "gemm", "--activity", "a.csv"),
    "wiring": ("run", "small", "--kernel", "gemm", "--wiring", "w.svg"),
    "hops-without-log": ("run", "small", "--kernel", "gemm", "--oplog-hops"),
    "pcie-gone": ("run", "small", "--kernel", "gemm", "--launch", "satellite"),
}
DRAM_WRONG = {"preset": {"preset": "hbm9"}, "mapping": {"mapping": "row row byte"}, "watermarks": {"write_high": 99},
              "policy": {"page_policy": "ajar"}, "scheduler": {"scheduler": "luck"}}


def refused_cases():
    for name, (command, topology, *words) in WRONG.items():
        yield Case(f"refused/{name}", lambda place, c=command, t=topology, w=words: [
            [c, "--topology", place.topology(t), *w]], 2)
    for name, attributes in DRAM_WRONG.items():
        yield Case(f"refused/dram-{name}", lambda place, a=attributes: [
            ["topology", dram_machine(place, {k: v for k, v in a.items() if k != "preset"}, a.get("preset", "hbm2"))]], 2)
    yield Case("refused/whatif-part", lambda place: [
        ["whatif", "--part", "luck", "--", "run", "--topology", place.topology("small"), "--kernel", "gemm"]], 2)
    yield Case("refused/whatif-of-probe", lambda place: [
        ["whatif", "--", "probe", "--topology", place.topology("small")]], 2)
    yield Case("refused/own-router-with-buffers", lambda place: [
        ["traffic", "--plugin", cases.PLUGIN, "--topology", place.example("custom_router", "mesh.yaml"), "--trace",
         place.example("custom_router", "mesh.csv"), "--links", "flit", "--response", "routed", "--set",
         "r*.buffer_flits=4"]], 1, "custom_router")
    one_way = cases.FLAT.replace("to: mem, distance_mm: 1, bw_gbs: 128",
                                 "to: mem, distance_mm: 1, bw_gbs: 128, bidirectional: false")
    yield Case("refused/no-way-back", lambda place: [
        ["traffic", "--topology", place.write("t.yaml", one_way), "--links", "cut_through", "--response", "routed",
         "--trace", place.write("trace.csv", cases.HEADER + "a,0,pe0.pe_dma,read,0,64\n")]], 2)


def recorded_cases():
    for part in (explain_cases, whatif_cases, energy_cases, collectives_cases, program_cases, dram_cases, channel_cases,
                 buffer_cases, node_cases, own_block_cases, host_cases, traffic_cases, pipeline_cases, probe_cases,
                 log_cases, refused_cases):
        for case in part():
            yield Case("recorded/" + case.name, case.make, case.status, case.plugin)
