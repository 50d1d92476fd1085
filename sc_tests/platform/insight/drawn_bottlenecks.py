# SPDX-License-Identifier: Apache-2.0
"""Bottlenecks that nobody listed, drawn from declarations alone: of a random kernel or program on a random small machine one
or two declared values are made bad. They are attributes by their direction, named values, kernel parameters that change how it
computes, and numbers of `timing`. The truth is the best of all single changes (bottlenecks.py) and of each bad value undone.
`drawn_bottlenecks.py --count 40` judges the first remedy of `run --explain=verify` by it."""
import argparse
import concurrent.futures
import random
import shlex
import sys
import time

import bottlenecks
import seeded_runs

WORST = (8, 16, 32, 64)
LONGEST_S = 0.35  # per run: finding the truth takes hundreds of runs


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


class Drawn:
    """`words` of the run, and those with each bad value undone."""

    def __init__(self, rng, kernels, programs):
        self.machine = ["--topology", rng.choice(("small.yaml", "one_cube.yaml"))]
        if rng.random() < 0.3:
            self.machine += ["--set", "file:cube.hbm={slice_mb: 6144, impl: builtin.hbm_dram}"]
        if rng.random() < 0.25:
            self.machine += ["--links", "flit", "--response", "routed", "--set", f"*.buffer_flits={rng.choice((2, 4, 8))}"]
        else:
            self.machine += ["--links", rng.choice(("ideal", "cut_through", "cut_through")), "--response", "routed"]
        if rng.random() < 0.1:
            what, params = ["--program", rng.choice(programs)], []
        else:
            kernel = rng.choice(kernels)
            plugin = ["--plugin", seeded_runs.EXAMPLES] if kernel["name"] in ("histogram", "paged_gather") else []
            what, params = [*plugin, "--kernel", kernel["name"]], list(bad_parameters(rng, kernel))
        attributes = bad_attributes(rng, self.machine)
        self.bad = []
        for _ in range(rng.choice((1, 1, 2))):
            pool = params if params and rng.random() < 0.25 else attributes
            self.bad.append(pool[rng.randrange(len(pool))])
        self.what = what
        self.words = self.machine + what + [w for bad in self.bad for w in bad]

    def undone(self):
        for i, bad in enumerate(self.bad):
            yield self.machine + self.what + [w for j, other in enumerate(self.bad) if j != i for w in other], "undo " + shlex.join(bad)


def cases(seed, count):
    """(name, words, truth): draws of which something saves a tenth."""
    kernels = [k for k in bottlenecks.kernels().values() if k["name"] != "gemm_stream_k"]
    programs = [p["name"] for p in bottlenecks.told("list", "programs")]
    found = draw = 0
    while found < count:
        draw += 1
        try:
            drawn = Drawn(random.Random(f"{seed} {draw}"), kernels, programs)
        except SystemExit:
            continue
        began = time.monotonic()
        sim_ns = bottlenecks.time_of(drawn.words)
        if sim_ns is None or time.monotonic() - began > LONGEST_S:
            continue
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
    for name, words, sim_ns, undone in cases(o.seed, o.count):
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
