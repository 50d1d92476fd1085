# SPDX-License-Identifier: Apache-2.0
"""The random part of the list of commands: seeded traffic, pipeline work and kernel runs on seeded machines.

Traffic, pipeline work and the machines' figures come from sc_tests/oracle. Kernel runs are drawn here: a shipped
topology with figures drawn anew, store-and-forward nodes, engines, queues, tile buffers and a TLB of all sizes, a
kernel with sizes that nothing divides, and options. A flat run is a kernel on a flat topology from sc_tests/oracle.
"""
import os
import random
import re
import sys

import cases

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import machine_cases  # noqa: E402
import random_cases  # noqa: E402

LINKS = ("ideal", "cut_through", "flit")
KINDS = ("traffic", "pipeline", "run", "flat-run", "traffic", "pipeline", "run", "machine", "traffic", "pipeline")
# Where the store-and-forward flag may be randomised in a supplied topology.
PASSED_THROUGH = re.compile(r"\b(router|connection|port|switch|noc|xbar|bridge): \{attrs: \{(?=overhead_ns)")
RANGES = {  # sizes of a kernel's parameters, small enough for flit mode
    "assemble": {"n": (1, 9000)},
    "attention": {"heads": (1, 4), "seq": (1, 60), "dim": (1, 40)},
    "gather": {"n": (1, 80), "rows": (1, 60), "cols": (1, 300)},
    "gemm": {"m": (1, 200), "n": (1, 100), "k": (1, 200), "tile_m": (4, 40), "tile_n": (8, 60), "tile_k": (16, 100)},
    "gemm_dot": {"m": (1, 120), "n": (1, 80), "k": (1, 120), "tile_m": (4, 40), "tile_n": (8, 60), "tile_k": (16, 100)},
    "gemm_epilogue": {"m": (1, 120), "n": (1, 80), "k": (1, 120), "tile_m": (4, 40), "tile_n": (8, 60),
                      "tile_k": (16, 100)},
    "mlp": {"tokens": (1, 60), "dim": (1, 60), "hidden": (1, 80)},
    "newton_sqrt": {"n": (1, 1500), "block": (20, 300)},
    "rmsnorm": {"rows": (1, 60), "cols": (1, 300)},
    "softmax": {"rows": (1, 60), "cols": (1, 300)},
    "vector_add": {"n": (1, 30000)},
}


def drawn_machine(rng, text):
    """A shipped topology with other figures."""
    if rng.random() < 0.7:
        text = machine_cases.drawn_anew(rng, text)
    if rng.random() < 0.4:
        text = PASSED_THROUGH.sub(
            lambda m: m[0] + rng.choice(("", "", "store_and_forward: true, ", "store_and_forward: false, ")), text)
    text = re.sub(r"queue_depth: \d+", lambda _: f"queue_depth: {rng.choice((1, 2, 2, 3, 8))}", text)
    text = re.sub(r"(rd_engines|wr_engines): \d+", lambda m: f"{m[1]}: {rng.choice((1, 1, 2, 4))}", text)
    # The largest tile, 40 x 60 x 100 in f32, needs 49,600 bytes.
    text = re.sub(r"reserved_mb: [\d.]+", f"reserved_mb: {rng.choice((0.05, 0.0777, 0.15, 1))}", text)
    if rng.random() < 0.5:
        text = re.sub(r"tlb_hit_ns: [\d.]+", f"tlb_hit_ns: {rng.choice((0, 0.5, 2.25))}", text)
        text = re.sub(r"tlb_miss_ns: [\d.]+", f"tlb_miss_ns: {rng.choice((7.0, 60.125))}", text)
        text = re.sub(r"page_bytes: \d+", f"page_bytes: {rng.choice((256, 4096, 2097152))}", text)
        text = re.sub(r"tlb_entries: \d+", f"tlb_entries: {rng.choice((1, 4, 64))}", text)
    if rng.random() < 0.2:
        text = re.sub(r"^timing:", "materialize: outputs\ntiming:", text, flags=re.M)
    return text


def drawn_params(rng, kernel):
    params = [f"{name}={rng.randint(*ends)}" for name, ends in RANGES[kernel].items()]
    if kernel in ("gemm", "gemm_dot", "vector_add") and rng.random() < 0.4:
        params.append(f"dtype={rng.choice(('f16', 'bf16', 'i8'))}")
    if kernel in ("mlp", "gemm_epilogue"):
        params.append(f"activation={rng.choice(('gelu', 'silu'))}")
    if kernel == "attention":
        params.append(f"causal={rng.choice(('true', 'false'))}")
    return params


def drawn_options(rng, links, name):
    response = "routed" if links == "flit" else rng.choice(("ideal", "routed"))
    options = [*cases.mode_options((links, response)), "--seed", str(rng.randint(1, 99)),
               "--transfer", rng.choice(("instant", "timed")), "--format", rng.choice(("json", "json", "text")),
               "--oplog", rng.choice(("log.jsonl", "log.jsonl", "log.sqlite"))]
    if rng.random() < 0.5:
        options += ["--address", "virtual"]
    if rng.random() < 0.3:
        options += ["--launch", "direct"]
    if rng.random() < 0.5:
        options += ["--trace", "trace.json"]
    if rng.random() < 0.4:
        options += ["--vcd", "wave.vcd"] + (["--vcd-scope", "sip0.cube0"] if name == "default" else [])
    if rng.random() < 0.4:
        options.append("--verify")
    if rng.random() < 0.3:
        options.append("--check-races")
    if rng.random() < 0.25:
        options += ["--pes", ",".join(rng.sample(["sip0.cube0.pe0", "sip0.cube0.pe1", "sip0.cube0.pe3"], 2))]
    return options


def kernel_run(place, seed, links):
    rng = random.Random(f"run {seed}")
    name = rng.choice(("small", "small", "small", "one_cube", "latency_model", "default"))
    with open(place.topology(name), encoding="utf-8") as file:
        topology = place.write(name + ".yaml", drawn_machine(rng, file.read()))
    kernel = rng.choice(sorted(RANGES))
    return [["run", "--topology", topology, "--kernel", kernel, *cases.params_options(drawn_params(rng, kernel)),
             *drawn_options(rng, links, name)]]


def flat_run(place, seed, links):
    """A kernel on a flat topology of the pipeline cases, with larger memories and an MMU for each PE."""
    rng = random.Random(f"flat run {seed}")
    topology, work = random_cases.pipeline_case(seed, seed % 3 == 0, links)
    for memory in topology["memories"]:
        memory["base"], memory["size"] = 1024 * memory["base"], 1024 * memory["size"]
    topology["memories"][0]["space"] = "hbm"
    nodes = {node["id"]: node for node in topology["nodes"]}
    nodes[topology["memories"][0]["node"]]["kind"] = "hbm_ctrl"
    for node in list(nodes.values()):
        if node["kind"] == "pe_tcm":
            node["attrs"]["reserved_mb"] = rng.choice((0.05, 0.1, 1.0))
            topology["nodes"].append({"id": node["id"].replace("pe_tcm", "pe_mmu"), "kind": "pe_mmu", "attrs": {
                "page_bytes": 4096, "tlb_entries": 2, "tlb_hit_ns": 0.5, "tlb_miss_ns": rng.choice((0.0, 30.0))}})
    path = random_cases.write_case("pipeline", (topology, work), place.folder)[0]
    kernel = rng.choice(sorted(RANGES))
    return [["run", "--topology", path, "--kernel", kernel, *cases.params_options(drawn_params(rng, kernel)),
             "--address", rng.choice(("physical", "virtual")), "--format", "json", *cases.ALL_FILES]]


def flat(place, kind, seed, links, ties):
    """Traffic or pipeline work on a flat topology of its own; a waveform too of every third."""
    topology, work = random_cases.write_case(kind, random_cases.draw(kind, seed, ties, links), place.folder)
    waveform = ["--vcd", "wave.vcd"] if seed % 3 == 0 else []
    option = "--trace" if kind == "traffic" else "--work"
    return [[kind, "--topology", topology, option, work, "--format", "json", *waveform]]


def machine_traffic(place, seed, links):
    topologies = os.path.join(place.inputs, "topologies")
    topology, options, _, rows = machine_cases.draw(place.reference, topologies, seed, links, place.folder)
    trace = random_cases.write_trace(rows, os.path.join(place.folder, "trace.csv"))
    return [["traffic", "--topology", topology, "--trace", trace, *options, "--format", "json"]]


def drawn(i, seed):
    kind, links, ties = KINDS[i % len(KINDS)], LINKS[i // len(KINDS) % 3], i // 30 % 3 == 2
    name = f"random/{kind}/{links}/{seed}" + ("-ties" if ties and kind in ("traffic", "pipeline") else "")
    if kind == "run":
        return cases.Case(name, lambda place: kernel_run(place, seed, links))
    if kind == "flat-run":  # some PEs may not reach an HBM or have no path back
        return cases.Case(name, lambda place: flat_run(place, seed, links), None)
    if kind == "machine":
        return cases.Case(name, lambda place: machine_traffic(place, seed, links))
    return cases.Case(name, lambda place: flat(place, kind, seed, links, ties))


def random_commands(count, first_seed):
    for i in range(count):
        yield drawn(i, first_seed + i)
