# SPDX-License-Identifier: Apache-2.0
"""Is what holds a run back named? Seeded bottlenecks (seeded_runs.py), and by how much each single change of the machine
or of the run makes them faster. The changes are enumerated here, from `kernbench list` and `topology`, by nothing of what
`--explain=verify` finds its own by. `bottlenecks.py --help` runs the campaign; bottlenecks_are_named_test.py some of it."""
import argparse
import concurrent.futures
import itertools
import json
import math
import os
import re
import shlex
import subprocess
import sys

import seeded_runs

AS_GOOD = 0.05  # fraction of the run: changes this close to the best count as equally good
HELD_BACK = 0.1  # fraction of the run: if no change saves this much, the case is replaced
OFF = 0.02  # fraction of the run time: allowed error of an unmarked prediction
KERNBENCH = os.environ.get("KERNBENCH_CLI", "build/release/bin/kernbench")
PRODUCTS = ("gemm", "gemm_dot", "gemm_2d")  # with the same tensors
# Cost of a change (docs/insight.md): nothing; memory for more waiting items; other hardware.
NOTHING, ROOM, HARDWARE = range(3)
COST_OF = {**dict.fromkeys(("interleave_bytes", "page_bytes"), NOTHING), **dict.fromkeys(("stream_operands", "preset", "dataflow"), HARDWARE),
           **dict.fromkeys(("reserved_mb", "queue_depth", "outstanding", "slots", "slot_bytes", "tlb_entries", "buffer_flits",
                            "vcs", "read_queue", "write_queue"), ROOM)}


def kernbench(*words):
    done = subprocess.run([KERNBENCH, *words], stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def told(*words):
    status, out, err = kernbench(*words, "--format", "json")
    if status != 0:
        raise SystemExit(f"{shlex.join(words)}: {err}")
    return json.loads(out)


def command(words):
    """`run`, or `model` where the words begin so."""
    return words if words[0] == "model" else ["run", *words]


def time_of(words):
    """Nothing where the run is not possible."""
    status, out, _ = kernbench(*command(words), "--format", "json")
    return json.loads(out)["sim_ns"] if status == 0 else None


# ---- what can be changed

def option(words, name):
    return [words[i + 1] for i, w in enumerate(words) if w == f"--{name}"]


def without(words, name, key=""):
    """The words without this option, or those of its values that begin so."""
    left, i = [], 0
    while i < len(words):
        if words[i] == f"--{name}" and words[i + 1].startswith(key):
            i += 2
        else:
            left.append(words[i])
            i += 1
    return left


def glob_of(name):
    return re.sub("[0-9]+", "*", name)


def times(value, factor, spec):
    """The value so many times as large; nothing where that is none or not legal."""
    if spec["type"] == "map of numbers":
        return {key: number * factor for key, number in value.items()} or None
    other = value * factor
    if spec["type"] == "integer":
        if other != int(other):
            return None
        other = int(other)
    legal = spec.get("min", other) <= other <= spec.get("max", other)
    return other if legal else None


def shown(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(number)}" for key, number in value.items()) + "}"
    return "true" if value is True else "false" if value is False else f"{value:.12g}" if isinstance(value, float) else str(value)


def settings(values, attribute):
    """--set of a value for each name; of those that are alike by a glob."""
    globs = {}
    for name, value in values.items():
        globs.setdefault(glob_of(name), {})[name] = value
    words = []
    for glob, of in sorted(globs.items()):
        alike = len({shown(v) for v in of.values()}) == 1
        words += [w for name, value in ([(glob, next(iter(of.values())))] if alike else sorted(of.items()))
                  for w in ("--set", f"{name}.{attribute}={shown(value)}")]
    return words


def all_as_each(values):
    """Of names that are alike but for numbers and have different values: all with each of these."""
    globs = {}
    for name, value in values.items():
        globs.setdefault(glob_of(name), {})[name] = value
    return [dict.fromkeys(of, value) for of in globs.values() if len({shown(v) for v in of.values()}) > 1
            for value in {shown(v): v for v in of.values()}.values()]


def of_attributes(graph, components):
    """(options, cost) of every attribute of every impl: numbers twice and half, others each other value, and where nodes
    of like names differ, all of them as each."""
    by_impl = {}
    for node in graph["nodes"]:
        by_impl.setdefault(node["impl"], []).append(node)
    for impl, nodes in sorted(by_impl.items()):
        for spec in components.get(impl, {"attributes": []})["attributes"]:
            name = spec["name"]
            values = {n["id"]: n["attrs"].get(name, spec.get("default")) for n in nodes}
            values = {node: v for node, v in values.items() if v is not None}
            distinct = {shown(v): v for v in values.values()}
            numbers = spec["type"] in ("number", "integer", "map of numbers")
            cost = COST_OF.get(name, HARDWARE if numbers else NOTHING)
            others = all_as_each(values)
            if numbers:
                for factor in (2, 0.5):
                    scaled = {node: times(v, factor, spec) for node, v in values.items()}
                    if scaled != values and all(v is not None for v in scaled.values()):
                        others.append(scaled)
            elif len(distinct) == 1:
                value = next(iter(distinct.values()))
                named = [not value] if spec["type"] == "boolean" else spec.get("choices") or list(spec.get("registered") or ())
                others = [dict.fromkeys(values, v) for v in named if v != value]
            for other in others:
                if other:
                    yield settings(other, name), cost


def of_edges(graph):
    kinds = {}
    for edge in graph["edges"]:
        if edge.get("bw_gbs"):
            kinds.setdefault(edge["kind"], {})[f"edge:{edge['from']}->{edge['to']}"] = edge["bw_gbs"]
    for kind, edges in sorted(kinds.items()):
        for factor in (2, 0.5):
            scaled = {name: bw * factor for name, bw in edges.items()}
            alike = len(set(scaled.values())) == 1
            yield (["--set", f"edge:{kind}.bw_gbs={shown(next(iter(scaled.values())))}"] if alike else
                   settings(scaled, "bw_gbs")), HARDWARE
        for other in all_as_each(edges):
            yield settings(other, "bw_gbs"), HARDWARE
    yield ["--scale", "wires=2"], HARDWARE  # no attribute


def of_parameters(words, kernel):
    given = dict(v.split("=", 1) for v in option(words, "param"))
    for spec in kernel["params"]:
        name = spec["name"]
        if not spec.get("is_tuning"):
            continue
        value = given.get(name, spec["default"])
        if spec["type"] == "integer":
            others = [str(int(int(value) * f)) for f in (2, 0.5) if int(int(value) * f) not in (0, int(value))]
        else:
            others = [c for c in spec.get("choices") or spec["legal"].split("|") if c != value and re.fullmatch(r"\w+", c)]
        for other in others:
            changed = without(words, "param", name + "=") + ["--param", f"{name}={other}"]
            yield changed, changed[-2:]


def of_pes(words, graph):
    """All, the first of every cube, half of those that the run has."""
    now = (option(words, "pes") or ["all"])[0]
    everyone = [n["id"].rpartition(".")[0] for n in graph["nodes"] if n["kind"] == "pe_cpu"]
    ids = everyone if now == "all" else now.split(",")
    others = ["all"] if len(ids) < len(everyone) else ["leaders"]
    if len(ids) > 1:
        others.append(",".join(ids[:len(ids) // 2]))
    for pes in others:
        yield without(words, "pes") + ["--pes", pes]


def of_degrees(words, graph):
    """A model's degrees of parallelism for which the SIPs suffice, one or two changed at a time."""
    sips = len({n["id"].split(".")[0] for n in graph["nodes"] if n["kind"] == "pe_cpu"})
    now = {name: (option(words, name) or ["1"])[0] for name in ("tp", "pp", "ep")}
    powers = [1 << i for i in range(sips.bit_length())]
    for degrees in itertools.product(powers, repeat=3):
        other = dict(zip(now, map(str, degrees)))
        what = [w for name, value in other.items() if value != now[name] for w in (f"--{name}", value)]
        if what and math.prod(degrees) <= sips:
            yield pasted(words, shlex.join(what)), what


def kernels():
    return {k["name"]: k for k in told("list", "kernels", "--plugin", seeded_runs.EXAMPLES)}


def talking():
    """Kernels whose PEs send each other messages."""
    names, name = set(), ""
    for line in kernbench("list", "kernels")[1].splitlines():
        if not line.startswith(" "):
            name = line.partition(":")[0]
        elif line.split()[:1] == ["wiring"]:
            names.add(name)
    return names


def with_kernel(words, other):
    """The words of another kernel's run: with those parameters that it knows."""
    known = {p["name"] for p in kernels()[other]["params"]}
    kept = without(words, "kernel")
    for value in option(words, "param"):
        if value.split("=")[0] not in known:
            kept = without(kept, "param", value)
    return kept + ["--kernel", other]


def changes(words):
    """(changed words of run, what was changed, cost) of all single changes."""
    compiled = [w for name in ("topology", "links", "response", "set", "scale") for v in option(words, name)
                for w in (f"--{name}", v)]
    graph = told("topology", *compiled)
    components = {c["impl"]: c for c in told("list", "components")}
    for options, cost in [*of_attributes(graph, components), *of_edges(graph)]:
        yield words + options, options, cost
    name = (option(words, "kernel") or [""])[0]
    for changed, what in of_parameters(words, kernels()[name]) if name else ():
        yield changed, what, NOTHING
    # The number of PEs determines the messages between them.
    for changed in of_pes(words, graph) if name and name not in talking() else ():
        yield changed, changed[-2:], NOTHING
    if words[0] == "model":
        for changed, what in of_degrees(words, graph):
            yield changed, what, NOTHING
        for changed in of_pes(words, graph):
            yield changed, changed[-2:], NOTHING
    for other in PRODUCTS if name in PRODUCTS else ():
        if other != name:
            yield with_kernel(words, other), ["--kernel", other], NOTHING
    yield words + ["--launch", "direct"], ["--launch", "direct"], NOTHING
    if "virtual" in option(words, "address"):
        yield without(words, "address"), ["--address", "physical"], NOTHING


def truth(words, jobs=2):
    """sim_ns, and (share saved, cost, change) of what can be done, the best first."""
    sim_ns = time_of(words)
    if sim_ns is None:
        raise SystemExit(f"not possible: {shlex.join(words)}: {kernbench(*command(words))[2]}")
    found = list(changes(words))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        times_ns = pool.map(time_of, [changed for changed, _, _ in found])
    rows = [(1 - ns / sim_ns, cost, shlex.join(what)) for ns, (_, what, cost) in zip(times_ns, found)
            if ns is not None and ns < sim_ns]
    return sim_ns, sorted(rows, key=lambda r: -r[0])


# ---- whether it is named

def pasted(words, change):
    """The words with a remedy's options, in the place of the run's own."""
    options = shlex.split(change)
    for name, value in zip(options[::2], options[1::2]):
        if name == "--kernel":
            words = with_kernel(words, value)
        elif name != "--set":  # the last one counts
            words = without(words, name[2:], value.split("=")[0] + "=" if "=" in value else "") + [name, value]
        else:
            words = words + [name, value]
    return words


class First:
    """The first remedy of `run --explain=verify`, by a run of our own."""

    def __init__(self, words, sim_ns):
        self.remedies = told(*command(words), "--explain=verify")["insight"]["remedies"]
        self.first, self.cost, self.saved, self.predicted, self.about = "nothing", NOTHING, 0, 0, False
        if self.remedies and "ns" in self.remedies[0]:
            first = self.remedies[0]
            self.first, self.cost, self.about = first["change"], first["cost"], first["about"]
            ns = time_of(pasted(words, self.first))
            if ns != first["ns"]:
                raise SystemExit(f"{shlex.join(words)}: {self.first}: {first['ns']} is said, a run of it takes {ns} ns")
            self.saved = 1 - ns / sim_ns
            self.predicted = 1 - first["predicted_ns"] / sim_ns

    def off(self):
        """Remedies whose prediction is not marked and differs from the simulation by more than OFF."""
        return [r for r in self.remedies if "ns" in r and not r["about"] and abs(r["predicted_ns"] - r["ns"]) > OFF * r["ns"]]


class Judged(First):
    def __init__(self, words, known):
        """known: of truth()."""
        sim_ns, rows = known
        super().__init__(words, sim_ns)
        # A part that --scale names includes more than an attribute of one block, so it may be the best change.
        rows = sorted([*rows, (self.saved, self.cost, self.first)], key=lambda r: -r[0])
        self.best = rows[0]
        self.least = min((cost for saved, cost, _ in rows if saved >= self.best[0] - AS_GOOD), default=NOTHING)
        self.near = self.saved >= self.best[0] - AS_GOOD
        self.right = self.near and self.cost <= self.least


class Truths:
    """Of cases; in a file, where one is named."""

    def __init__(self, file):
        self.file = file
        self.kept = json.load(open(file)) if file and os.path.exists(file) else {}

    def of(self, words):
        key = shlex.join(words)
        if key not in self.kept:
            self.kept[key] = truth(words)
            if self.file:
                json.dump(self.kept, open(self.file, "w"))
        return self.kept[key]

    def case(self, which, name, kind):
        """Words and truth of the first draw that something holds back."""
        for draw in range(20):
            words = seeded_runs.drawn(which, name, kind, draw)
            if time_of(words) is None:
                continue
            known = self.of(words)
            if known[1] and known[1][0][0] >= HELD_BACK:
                return words, known
        raise SystemExit(f"{which} {name} {kind}: nothing holds any of the draws back")


def main():
    parser = argparse.ArgumentParser(description="Is what holds a run back named? Seeded cases, thirty a set: truth by simulating "
                                     "all single changes, beside the first remedy of run --explain=verify.")
    parser.add_argument("which", nargs="*", default=list(seeded_runs.SETS),
                        help="sets: " + ", ".join(seeded_runs.SETS) + "; another word or number is the seed of all sixty, finite and whatever "
                        "follows it that of six with finite buffers")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--truth", help="a file in which truths are kept between campaigns; of a build with other times begin anew")
    parser.add_argument("--all", action="store_true", help="show the five best changes and all remedies of each case")
    o = parser.parse_args()
    truths = Truths(o.truth)
    right = judged = remedies = off = 0
    for which, name, kind in [(w, *case) for w in o.which for case in seeded_runs.names(w)]:
        title = f"{which}/{name}-{kind}"
        if o.only not in title:
            continue
        words, known = truths.case(which, name, kind)
        j = Judged(words, known)
        judged += 1
        right += j.right
        remedies += len(j.remedies)
        off += len(j.off())
        print(f"{'right' if j.right else 'WRONG' if not j.near else 'DEAR '} {title:26} best {100 * j.best[0]:5.1f} % {j.best[2][:120]}"
              f"\n{'':33}first {100 * j.saved:5.1f} % {j.first} (predicted {'~' if j.about else ''}{100 * j.predicted:.1f} %)",
              flush=True)
        for r in j.off():
            print(f"  OFF {r['change']}: {r['predicted_ns']:.1f} predicted, {r['ns']:.1f} ns")
        if not j.right or o.all:
            print("      ", shlex.join(words))
            for saved, cost, what in known[1][:5]:
                print(f"        {100 * saved:5.1f} % cost {cost} {what[:160]}")
            for r in j.remedies:
                print(f"        remedy {r['change']}: {'~' if r['about'] else ''}{100 * (1 - r['predicted_ns'] / known[0]):.1f} %,",
                      f"{100 * (1 - r['ns'] / known[0]):.1f} %" if "ns" in r else r["fault"])
    print(f"{right} of {judged} right; of {remedies} remedies {off} unmarked predictions off by more than {100 * OFF:.0f} %")
    return 0 if right == judged and off == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
