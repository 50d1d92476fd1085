# SPDX-License-Identifier: Apache-2.0
"""Random small machines, drawn by what `kernbench list components --format json` declares of each block, and variants of
a machine whose times follow from those of the machine itself."""
import copy
import json
import random

PE = ("pe_cpu", "pe_scheduler", "pe_dma", "pe_fetch_store", "pe_gemm", "pe_math", "pe_tcm", "pe_mmu", "pe_ipcq")
HBM, SRAM = "hbm_ctrl", "sram"
MEMORY_BYTES = 1 << 24
# By unit: random numbers. Attributes with other units and a default keep it.
DRAWN = {"ns": (0.1, 9), "GB/s": (20, 300), "GHz": (0.5, 2), "cycles": (0.1, 3), "": (0.3, 1), "MAC": (256, 4096)}
# By unit: the value for a machine that is twice as fast.
FASTER = {"ns": 0.5, "ps": 0.5, "GB/s": 2, "GHz": 2}


class Declarations:
    def __init__(self, components):
        """`components`: the list of the command."""
        self.by_impl = {c["impl"]: c for c in components}
        self.impls = {}
        for c in components:  # a block that an sc_main must bind cannot be part of such a machine
            if c["kind"] != "foreign" and not c["impl"].endswith("_tlm"):
                self.impls.setdefault(c["kind"], []).append(c["impl"])
        self.transit = [kind for kind in self.impls if kind in ("router", "xbar", "bridge", "switch", "ucie", "noc", "io_noc")]

    def attributes(self, node):
        return self.by_impl[node.get("impl", "builtin." + node["kind"])]["attributes"]


def value(rng, a):
    """Of an attribute; None: its default."""
    if not a["required"] and ("default" not in a or rng.random() < 0.6):
        return rng.randrange(400, 2000, 2) if a["unit"] == "ps" else None
    low, high = a.get("min", 0), a.get("max", 1e9)
    if a["type"] == "boolean":
        return rng.random() < 0.5
    if a["type"] == "string":
        return rng.choice(a["choices"]) if "choices" in a and a["unit"] != "bits" else None
    if a["type"] == "integer":
        if a["unit"] == "bytes":
            return 256 if a["required"] else None
        return min(max(rng.choice((1, 2, 4, 8)), int(low)), int(high)) if a["unit"] in ("", "items") else None
    if a["type"] != "number":
        return None
    if a["unit"] == "MiB":
        return {"size_mb": 16, "reserved_mb": 1}.get(a["name"])
    if a["unit"] not in DRAWN or a["name"].startswith("timeout"):
        return None
    drawn = rng.uniform(*DRAWN[a["unit"]])
    return round(min(max(drawn, low), high), 4)


def node(rng, declared, name, kind):
    n = {"id": name, "kind": kind, "impl": rng.choice(declared.impls[kind]), "attrs": {}}
    for a in declared.attributes(n):
        v = value(rng, a)
        if v is not None:
            n["attrs"][a["name"]] = v
    return n


def draw(seed, declared, count, buffers=False):
    """A machine of so many PEs as the mapping of its flat YAML."""
    rng = random.Random(f"machine {seed}")
    links = rng.choice(("ideal", "cut_through", "flit")) if not buffers else "flit"
    timing = {"links": links, "response": "routed" if links == "flit" else rng.choice(("ideal", "routed")),
              "header_bytes": rng.choice((0, 8, 16, 32))}
    nodes, ends = [], []
    width, height = rng.choice(((1, 1), (2, 1), (2, 2), (3, 2), (4, 2)))
    for i in range(width * height):
        nodes.append(node(rng, declared, f"t{i}", rng.choice(declared.transit)))
        if buffers:
            nodes[-1]["attrs"].update(buffer_flits=rng.choice((2, 4, 8)), vcs=rng.choice((1, 2)))
        for name in ("store_and_forward", "reduces"):  # the second needs a rate
            nodes[-1]["attrs"].pop(name, None)
    ends += [(f"t{y * width + x}", f"t{y * width + x + 1}") for y in range(height) for x in range(width - 1)]
    ends += [(f"t{y * width + x}", f"t{y * width + width + x}") for y in range(height - 1) for x in range(width)]
    memories = []

    def somewhere():
        return f"t{rng.randrange(width * height)}"

    for i in range(rng.randint(1, 3)):
        nodes.append(node(rng, declared, f"sip0.cube0.m{i}", HBM if i == 0 else rng.choice((HBM, HBM, SRAM))))
        ends.append((somewhere(), nodes[-1]["id"]))
        memories.append({"node": nodes[-1]["id"], "space": "hbm" if nodes[-1]["kind"] == HBM else "sram",
                         "base": i * MEMORY_BYTES, "size": MEMORY_BYTES})
    for i in range(count):
        nodes += [node(rng, declared, f"sip0.cube0.pe{i}.{kind}", kind) for kind in PE]
        ends.append((f"sip0.cube0.pe{i}.pe_dma", somewhere()))
    if SRAM not in (n["kind"] for n in nodes):  # no ring can lie there
        for n in nodes:
            n["attrs"] = {name: v for name, v in n["attrs"].items() if v != SRAM}
    return {"ns_per_mm": round(rng.uniform(0.01, 0.3), 4), "timing": timing, "nodes": nodes,
            "links": [{"from": a, "to": b, "distance_mm": round(rng.uniform(0.1, 9), 4),
                       "bw_gbs": round(rng.uniform(20, 300), 3)} for a, b in ends],
            "memories": memories}


def pes(machine):
    return [n["id"].rpartition(".")[0] for n in machine["nodes"] if n["kind"] == "pe_cpu"]


def twice_as_fast(machine, declared):
    """All rates twice, all times half of what they are, those by default too."""
    m = copy.deepcopy(machine)
    m["ns_per_mm"] /= 2
    for link in m["links"]:
        if link.get("bw_gbs"):
            link["bw_gbs"] *= 2
    for n in m["nodes"]:
        for a in declared.attributes(n):
            factor, v = FASTER.get(a["unit"]), n["attrs"].get(a["name"], a.get("default"))
            if factor is None or v is None or v == 0:
                continue
            faster = {k: x * factor for k, x in v.items()} if isinstance(v, dict) else v * factor
            n["attrs"][a["name"]] = int(faster) if a["type"] == "integer" else faster
    return m


def permuted(x, rng):
    """The same with the keys of every mapping in another order."""
    if isinstance(x, dict):
        items = list(x.items())
        rng.shuffle(items)
        return {k: permuted(v, rng) for k, v in items}
    return [permuted(v, rng) for v in x] if isinstance(x, list) else x


def with_unused_parts(machine, declared, rng):
    """A PE, a memory and links of no least route behind all others."""
    m = copy.deepcopy(machine)
    router = rng.choice([n["id"] for n in m["nodes"] if n["kind"] in declared.transit])
    m["nodes"] += [node(rng, declared, f"sip0.unused.pe.{kind}", kind) for kind in PE]
    m["nodes"].append(node(rng, declared, "sip0.unused.m", HBM))
    base = max(x["base"] + x["size"] for x in m["memories"])
    m["memories"].append({"node": "sip0.unused.m", "space": "hbm", "base": -(-base // MEMORY_BYTES) * MEMORY_BYTES,
                          "size": MEMORY_BYTES})
    far = {"distance_mm": 5000.0, "bw_gbs": 100.0}
    m["links"] += [{"from": "sip0.unused.pe.pe_dma", "to": router, **far}, {"from": router, "to": "sip0.unused.m", **far}]
    joined = {(x["from"], x["to"]) for x in m["links"]} | {(x["to"], x["from"]) for x in m["links"]}
    others = [n["id"] for n in m["nodes"] if n["kind"] in declared.transit and n["id"] != router]
    m["links"] += [{"from": router, "to": other, **far} for other in others if (router, other) not in joined][:1]
    return m


def flat(graph):
    """The machine of `kernbench topology --format json`, but for edges that are no links."""
    links = []
    for e in graph["edges"]:
        link = {"from": e["from"], "to": e["to"], "kind": e["kind"], "distance_mm": e["distance_mm"], "bidirectional": False}
        if e["bw_gbs"] is not None:
            link["bw_gbs"] = e["bw_gbs"]
        links.append(link)
    return {"ns_per_mm": graph["ns_per_mm"], "timing": {k: v for k, v in graph["timing"].items() if v is not None},
            "nodes": [{k: n[k] for k in ("id", "kind", "impl", "transit", "attrs")} for n in graph["nodes"]],
            "links": links, "memories": graph["memories"]}


def write(machine, path):
    """JSON is YAML."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(machine, file)
    return path
