# SPDX-License-Identifier: Apache-2.0
"""Bottlenecks that nobody listed, drawn from declarations alone: of a random kernel or program on a random small machine one
or two declared values are made bad. They are attributes by their direction, named values, kernel parameters that change how it
computes, and numbers of `timing`. The truth is the best of all single changes (bottlenecks.py) and of each bad value undone.
`drawn_bottlenecks.py --count 40` judges the first remedy of `run --explain=verify` by it."""
import argparse
import concurrent.futures
import json
import os
import random
import shlex
import sys
import tempfile

import numpy as np

import bottlenecks
import seeded_runs

WORST = (8, 16, 32, 64)
OTHERS = 0.3  # fraction of the bad values that are parameters and placements
MOST_EVENTS = 200_000  # per run: finding the truth takes hundreds of runs
CONFIG = os.path.join(os.path.dirname(__file__), "../../../examples/data/config.json")
EXPERTS = {"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 8,
           "num_key_value_heads": 4, "vocab_size": 101, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
           "torch_dtype": "float32", "hidden_act": "silu", "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None}


def bad_value(rng, spec, value):
    """A worse value by what the attribute declares; nothing where it declares none."""
    direction, kind = spec.get("direction"), spec["type"]
    least, most = spec.get("min", 0), spec.get("max", float("inf"))
    if kind == "boolean":
        return not spec["faster"] if "faster" in spec else None
    if kind == "string":
        others = [c for c in spec.get("choices") or spec.get("registered") or () if c != value]
        return rng.choice(others) if others else None
    if kind not in ("number", "integer") or direction not in ("rate", "latency", "depth", "count"):
        return None
    if direction == "latency":
        if not value:
            return rng.choice((50, 200, 500)) if spec.get("unit") == "ns" else None
        other = value * rng.choice(WORST)
    else:
        other = max((value or 64) / rng.choice(WORST), 1 if kind == "integer" else 0)
    if kind == "integer":
        other = int(other)
    return other if other != value and least <= other <= most else None


def bad_attributes(rng, words):
    graph = bottlenecks.told("topology", *words)
    components = {c["impl"]: c for c in bottlenecks.told("list", "components")}
    by_impl = {}
    for node in graph["nodes"]:
        by_impl.setdefault(node["impl"], []).append(node)
    found = []
    for impl, nodes in sorted(by_impl.items()):
        for spec in components.get(impl, {"attributes": []})["attributes"]:
            values = {n["id"]: n["attrs"].get(spec["name"], spec.get("default")) for n in nodes}
            bad = bad_value(rng, spec, next(iter(values.values())))
            if bad is not None:
                found.append(bottlenecks.settings(dict.fromkeys(values, bad), spec["name"]))
    for kind in sorted({e["kind"] for e in graph["edges"] if e.get("bw_gbs")}):
        found.append(["--set", f"edge:{kind}.bw_gbs={rng.choice((2, 4, 8, 16))}"])
    found.append(["--set", f"file:timing.header_bytes={rng.choice((512, 2048))}"])
    return found


def bad_parameters(rng, kernel):
    for spec in kernel["params"]:
        if not spec.get("is_tuning"):
            continue
        if spec["type"] == "integer":
            value = int(spec["default"])
            if value > 1:
                yield ["--param", f"{spec['name']}={max(1, int(value * rng.choice((1 / 16, 1 / 8, 1 / 4, 4, 8))))}"]
        else:
            others = [c for c in spec.get("choices") or spec["legal"].split("|") if c.isidentifier() and c != spec["default"]]
            if others:
                yield ["--param", f"{spec['name']}={rng.choice(others)}"]


def bad_pes(rng, words, kernel):
    """Fewer PEs, for a kernel whose work does not depend on their number."""
    if kernel["name"] in bottlenecks.talking():
        return
    graph = bottlenecks.told("topology", *words)
    ids = [n["id"].rpartition(".")[0] for n in graph["nodes"] if n["kind"] == "pe_cpu"]
    yield ["--pes", ",".join(ids[:rng.choice((1, 2, 3))])]
    yield ["--pes", "leaders"]


def model(rng, folder):
    """(topology, words, bad placements with what undoes each) of a model: degrees, PEs, or both busy experts in one group."""
    phase = ["--phase", rng.choice(("decode:batch=3,context=13", "prefill:32", "decode:batch=8,context=64"))]
    leaders = ["--pes", "leaders"]
    if rng.random() < 0.5:
        return "six_sip_torus.yaml", ["model", CONFIG, *phase, *leaders], [(d, []) for d in (["--pp", "2"], ["--tp", "2"], ["--ep", "2"])]
    if rng.random() < 0.5:
        return "small.yaml", ["model", CONFIG, *phase], [(leaders, [])]
    path = os.path.join(folder, "config.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(EXPERTS, f)
    words = ["model", path, "--phase", "decode:batch=4,context=13", "--ep", "2", *leaders]
    for layer in range(EXPERTS["num_hidden_layers"]):
        choice = os.path.join(folder, f"choice{layer}.npy")
        np.save(choice, np.array([[0, 1]] * 4, np.int32))
        words += ["--tensor", f"layers.{layer}.choice={choice}"]
    return "six_sip_torus.yaml", words, [([], ["--expert-order", "0,2,1,3"])]


class Drawn:
    """`words` of the run, and those with each bad value undone."""

    def __init__(self, rng, kernels, programs, folder):
        self.machine = ["--topology", rng.choice(("small.yaml", "one_cube.yaml"))]
        if rng.random() < 0.3:
            self.machine += ["--set", "file:cube.hbm={slice_mb: 6144, impl: builtin.hbm_dram}"]
        if rng.random() < 0.25:
            self.machine += ["--links", "flit", "--response", "routed", "--set", f"*.buffer_flits={rng.choice((2, 4, 8))}"]
        else:
            self.machine += ["--links", rng.choice(("ideal", "cut_through", "cut_through")), "--response", "routed"]
        placements = []  # (bad words, those that undo them)
        kind = rng.random()
        if kind < 0.1:
            self.what, params = ["--program", rng.choice(programs)], []
        elif kind < 0.2:
            self.machine[1], self.what, placements = model(rng, folder)
            params = []
        else:
            kernel = rng.choice(kernels)
            plugin = ["--plugin", seeded_runs.EXAMPLES] if kernel["name"] in ("histogram", "paged_gather") else []
            self.what, params = [*plugin, "--kernel", kernel["name"]], list(bad_parameters(rng, kernel))
            placements = [(p, []) for p in bad_pes(rng, self.machine, kernel)]
        attributes = [(a, []) for a in bad_attributes(rng, self.machine)]
        self.good = [*self.what, *self.machine] if self.what[0] == "model" else self.machine + self.what
        self.bad = []
        for _ in range(rng.choice((1, 1, 2))):
            other = [pool for pool in ([(p, []) for p in params], placements) if pool]
            pool = rng.choice(other) if other and rng.random() < OTHERS else attributes
            self.bad.append(pool[rng.randrange(len(pool))])
        self.words = self.good + [w for bad, _ in self.bad for w in bad]

    def undone(self):
        for i, (bad, good) in enumerate(self.bad):
            rest = [w for j, (other, _) in enumerate(self.bad) if j != i for w in other]
            yield self.good + rest + good, "undo " + shlex.join(bad or good)


def cases(seed, count, folder):
    """(name, words, truth): draws of which something saves a tenth."""
    kernels = [k for k in bottlenecks.kernels().values() if k["name"] != "gemm_stream_k"]
    programs = [p["name"] for p in bottlenecks.told("list", "programs")]
    found = draw = 0
    while found < count:
        draw += 1
        try:
            drawn = Drawn(random.Random(f"{seed} {draw}"), kernels, programs, folder)
        except SystemExit:
            continue
        status, out, _ = bottlenecks.kernbench(*bottlenecks.command(drawn.words), "--format", "json")
        if status != 0 or json.loads(out)["events"] > MOST_EVENTS:
            continue
        sim_ns = json.loads(out)["sim_ns"]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            undone = list(drawn.undone())
            times = list(pool.map(bottlenecks.time_of, [words for words, _ in undone]))
        best = max(((1 - ns / sim_ns, 0, what) for ns, (_, what) in zip(times, undone) if ns), default=(0, 0, ""))
        if best[0] < bottlenecks.HELD_BACK:
            continue
        found += 1
        yield f"{seed}/{draw}", drawn.words, sim_ns, best


def main():
    parser = argparse.ArgumentParser(description="First remedies of bottlenecks drawn from declarations, by brute force.")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=40)
    o = parser.parse_args()
    right = 0
    folder = tempfile.mkdtemp(prefix="drawn")
    for name, words, sim_ns, undone in cases(o.seed, o.count, folder):
        _, rows = bottlenecks.truth(words)
        first = bottlenecks.First(words, sim_ns)
        best = max([undone, *rows])
        near = first.saved >= best[0] - bottlenecks.AS_GOOD
        right += near
        print(f"{'right' if near else 'WRONG'} {name:8} best {100 * best[0]:5.1f} % {best[2][:110]}\n{'':15}first "
              f"{100 * first.saved:5.1f} % {first.first}", flush=True)
        if not near:
            print("     ", shlex.join(words), flush=True)
    print(f"{right} of {o.count} first remedies within {100 * bottlenecks.AS_GOOD:.0f} points of the best")
    return 0 if right >= 0.9 * o.count else 1


if __name__ == "__main__":
    sys.exit(main())
