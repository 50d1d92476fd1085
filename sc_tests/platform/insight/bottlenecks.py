"""Seeded bottlenecks: runs that something known holds back, and by how much each single change of the machine or of the
run makes them faster. The changes are enumerated here, from `kernbench list` and `topology`, by nothing of what
`--explain=verify` finds its own by. `bottlenecks.py --help` runs the campaign; bottlenecks_are_named_test.py some of it."""
import argparse
import json
import os
import random
import re
import shlex
import subprocess
import sys

SETS = {"first": 1, "second": 2}  # of 30 each: the seeds
AS_GOOD = 0.05  # of the run: what saves so much less than the best is as good
KERNBENCH = os.environ.get("KERNBENCH_CLI", "build/release/bin/kernbench")
# Parameters that leave what is computed and where its tensors lie as they are.
FREE_PARAMS = {"tile_m", "tile_n", "tile_k", "algorithm", "root", "part_bytes", "chunk_bytes", "slots", "slot_bytes", "tier",
               "panel_m", "panel_n", "panel_k", "panel_bytes", "first_k", "keep_bytes", "ahead", "split", "method", "block",
               "keys", "splits"}
OTHER_KERNELS = {"gemm": ("gemm_2d", "gemm_dot"), "gemm_dot": ("gemm", "gemm_2d"), "gemm_2d": ("gemm", "gemm_dot")}


def kernbench(*words):
    done = subprocess.run([KERNBENCH, *words], stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def told(*words):
    status, out, err = kernbench(*words, "--format", "json")
    if status != 0:
        raise SystemExit(f"{shlex.join(words)}: {err}")
    return json.loads(out)


def time_of(words):
    """Nothing where the run is not possible."""
    status, out, _ = kernbench("run", *words, "--format", "json")
    return json.loads(out)["sim_ns"] if status == 0 else None


# ---- what is seeded

class Machine:
    """Options of a shipped or of a random machine."""

    def __init__(self, rng, kind):
        self.pes = 8
        if kind == "small":
            self.words = ["--topology", "small.yaml", "--links", "cut_through", "--response", "routed"]
        elif kind == "one_cube":
            self.words = ["--topology", "one_cube.yaml"]
        else:
            self.words = ["--topology", rng.choice(("small.yaml", "one_cube.yaml"))]
            self.words += ["--links", rng.choice(("ideal", "cut_through", "flit")), "--response", "routed"]
            self.set("*.pc_bw_gbs", rng.choice((16, 32, 64)))
            self.set("edge:pe.bw_gbs", rng.choice((128, 256, 512)))
            self.set("edge:mesh.bw_gbs", rng.choice((128, 256, 512)))
            self.set("*.macs_per_cycle", rng.choice((1024, 4096, 16384)))
            self.set("*.pe_tcm.read_bw_gbs", rng.choice((256, 512, 1024)))
            self.set("*.r*c*.overhead_ns", rng.choice((0, 1, 2)))
            self.set("*.pe_dma.rd_engines", rng.choice((1, 2)))

    def set(self, target, value):
        self.words += ["--set", f"{target}={value}"]


def run(kernel, **params):
    return ["--kernel", kernel] + [w for name, value in params.items() for w in ("--param", f"{name}={value}")]


def window(rng, m):
    tile = rng.choice((32, 64))
    m.set("*.reserved_mb", round(3 * tile * tile * 4 / 2 ** 20 * rng.choice((1.1, 1.6, 2.2)), 4))
    return run(rng.choice(("gemm", "gemm_epilogue")), m=rng.choice((512, 1024)), n=256, k=256, tile_m=tile, tile_n=tile, tile_k=tile)


def channels(rng, m):
    m.set("*.hash", "none")
    if rng.random() < 0.4:
        m.set("*.interleave_bytes", rng.choice((1024, 4096)))
    return run("gemm", dtype="bf16", m=rng.choice((256, 1024)), n=rng.choice((512, 1024)), k=256, tile_n=rng.choice((16, 32)))


def idle(rng, m):
    return run(rng.choice(("gemm", "gemm", "softmax")), **rng.choice((
        {"m": m.pes // 4, "n": 512, "k": 1024}, {"m": m.pes // 2, "n": 1024, "k": 512}, {"m": m.pes // 8, "n": 1024, "k": 1024})))


def idle_run(rng, m):
    words = idle(rng, m)
    if words[1] == "softmax":
        return run("softmax", rows=rng.choice((1, 2, 3)), cols=4096)
    return words


def tiles(rng, m):
    m.set("*.pe_dma.overhead_ns", rng.choice((0, 4)))
    return run("gemm", m=256, n=rng.choice((64, 128)), k=128, tile_m=rng.choice((8, 16)), tile_n=rng.choice((4, 8)),
               tile_k=rng.choice((32, 64)))


def outstanding(rng, m):
    m.set("*.hbm_ctrl.*.overhead_ns", rng.choice((40, 100)))
    return rng.choice((run("embedding_gather", tokens=512, dim=64), run("paged_gather", seqs=16, blocks=8),
                       run("gather", n=128, cols=64), run("gemm", m=256, n=128, k=128)))


def engines(rng, m):
    m.set("*.pe_dma.rd_engines", 1)
    m.set("*.hbm_ctrl.*.overhead_ns", rng.choice((100, 200)))
    m.set("*.queue_depth", rng.choice((1, 2, 4)))
    return run(rng.choice(("gemm", "gemm_epilogue")), m=256, n=128, k=rng.choice((128, 256)), tile_m=rng.choice((16, 32)))


def launch(rng, m):
    m.set("*.io_cpu.overhead_ns", rng.choice((10, 500, 2000)))
    return rng.choice((run("vector_add", n=rng.choice((512, 4096))), run("barrier"), run("add_bias", rows=16, cols=64),
                       run("rmsnorm", rows=16, cols=128)))


def mmu(rng, m):
    m.set("*.page_bytes", rng.choice((4096, 16384)))
    m.set("*.tlb_entries", rng.choice((1, 2, 4, 8)))
    m.set("*.tlb_miss_ns", rng.choice((50, 200)))
    return [*rng.choice((run("gemm", m=256, n=128, k=256), run("vector_add", n=65536), run("softmax", rows=64, cols=512))),
            "--address", "virtual"]


def slow(rng, m):
    cube = "sip0.cube0"
    m.set(*rng.choice(((f"{cube}.hbm_ctrl.pe2.pc_bw_gbs", 2), (f"{cube}.pe3.pe_gemm.freq_ghz", 0.1),
                       (f"{cube}.pe1.pe_tcm.read_bw_gbs", 16), (f"{cube}.pe0.pe_dma.overhead_ns", 200))))
    return rng.choice((run("gemm", m=256, n=128, k=256), run("tp_linear"), run("gemm_dot", m=256, n=128, k=128)))


def messages(rng, m):
    m.set("*.slots", rng.choice((1, 2)))
    m.set("*.slot_bytes", rng.choice((256, 1024)))
    return run(*rng.choice((("all_reduce",), ("all_gather",), ("reduce_scatter",))), n=rng.choice((4096, 16384)),
               algorithm=rng.choice(("ring", "halving")))


CLASSES = {"window": window, "channels": channels, "idle": idle_run, "tiles": tiles, "outstanding": outstanding,
           "engines": engines, "launch": launch, "mmu": mmu, "slow": slow, "messages": messages}


def cases(which):
    """(name, words of run): every class on three machines; of the second set all are random ones."""
    rng = random.Random(SETS[which])
    kinds = ("small", "one_cube", "random") if which == "first" else ("random",) * 3
    found = []
    for name, seed in CLASSES.items():
        for number, kind in enumerate(kinds):
            machine = Machine(rng, kind)
            words = seed(rng, machine)
            found.append((f"{which}/{name}-{number}", machine.words + words))
    return found


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


def shown(value):
    return "true" if value is True else "false" if value is False else f"{value:.12g}" if isinstance(value, float) else str(value)


def of_numbers(value, spec):
    for factor in (2, 0.5):
        other = value * factor
        if spec["type"] == "integer":
            if other != int(other):
                continue
            other = int(other)
        if other != value and spec.get("min", other) <= other <= spec.get("max", other):
            yield shown(other), False


def of_attributes(graph, components):
    """(options, free) of every attribute of every impl."""
    by_impl = {}
    for node in graph["nodes"]:
        by_impl.setdefault(node["impl"], []).append(node)
    for impl, nodes in sorted(by_impl.items()):
        globs = sorted({re.sub("[0-9]+", "*", n["id"]) for n in nodes})
        for spec in components.get(impl, {"attributes": []})["attributes"]:
            name = spec["name"]
            values = [n["attrs"].get(name, spec.get("default")) for n in nodes]
            distinct = sorted({shown(v): v for v in values if v is not None and not isinstance(v, dict)}.items())
            others = []
            if len(distinct) > 1:
                others = [(text, False) for text, _ in distinct]
            for _, value in distinct if len(distinct) == 1 else ():
                if spec["type"] in ("number", "integer"):
                    others = list(of_numbers(value, spec))
                elif spec["type"] == "boolean":
                    others = [(shown(not value), True)]
                else:
                    others = [(c, True) for c in spec.get("choices") or () if c != value]
            for text, free in others:
                yield [w for g in globs for w in ("--set", f"{g}.{name}={text}")], free


def of_edges(graph):
    bandwidths = {}
    for edge in graph["edges"]:
        if edge.get("bw_gbs"):
            bandwidths.setdefault(edge["kind"], set()).add(edge["bw_gbs"])
    for kind, all_of_kind in sorted(bandwidths.items()):
        if len(all_of_kind) == 1:
            for factor in (2, 0.5):
                yield ["--set", f"edge:{kind}.bw_gbs={next(iter(all_of_kind)) * factor:.12g}"], False
    for part in ("wires", "mesh", "ucie", "hbm"):  # wires have no attribute, edges of a kind may differ
        yield ["--scale", f"{part}=2"], False


def of_parameters(words, kernel):
    given = dict(v.split("=", 1) for v in option(words, "param"))
    for spec in kernel["params"]:
        name = spec["name"]
        if name not in FREE_PARAMS:
            continue
        value = given.get(name, spec["default"])
        if spec["type"] == "integer":
            others = [str(int(int(value) * f)) for f in (2, 0.5) if int(int(value) * f) not in (0, int(value))]
        else:
            others = [c for c in spec.get("choices") or spec["legal"].split("|") if c != value and re.fullmatch(r"\w+", c)]
        for other in others:
            yield without(words, "param", name + "=") + ["--param", f"{name}={other}"]


def kernels():
    return {k["name"]: k for k in told("list", "kernels")}


def with_kernel(words, other):
    """The words of another kernel's run: with those parameters that it knows."""
    known = {p["name"] for p in kernels()[other]["params"]}
    kept = without(words, "kernel")
    for value in option(words, "param"):
        if value.split("=")[0] not in known:
            kept = without(kept, "param", value)
    return kept + ["--kernel", other]


def changes(words):
    """(changed words of run, what was changed, free) of all single changes."""
    compiled = [w for name in ("topology", "links", "response", "set", "scale") for v in option(words, name)
                for w in (f"--{name}", v)]
    graph = told("topology", *compiled)
    components = {c["impl"]: c for c in told("list", "components")}
    for options, free in [*of_attributes(graph, components), *of_edges(graph)]:
        yield words + options, options, free
    name = option(words, "kernel")[0]
    for changed in of_parameters(words, kernels()[name]):
        yield changed, changed[-2:], True
    for other in OTHER_KERNELS.get(name, ()):
        yield with_kernel(words, other), ["--kernel", other], True
    yield words + ["--launch", "direct"], ["--launch", "direct"], True
    if "virtual" in option(words, "address"):
        yield without(words, "address"), ["--address", "physical"], True


def truth(words):
    """sim_ns, and (share saved, free, change) of what can be done, the best first."""
    sim_ns = time_of(words)
    if sim_ns is None:
        raise SystemExit(f"not possible: {shlex.join(words)}: {kernbench('run', *words)[2]}")
    rows = []
    for changed, what, free in changes(words):
        ns = time_of(changed)
        if ns is not None and ns < sim_ns:
            rows.append((1 - ns / sim_ns, free, shlex.join(what)))
    return sim_ns, sorted(rows, key=lambda r: -r[0])


# ---- whether it is named

def pasted(words, change):
    """The words with a remedy's options, in the place of the run's own."""
    options = shlex.split(change)
    for name, value in zip(options[::2], options[1::2]):
        if name == "--kernel":
            words = with_kernel(words, value)
        elif name != "--set":  # of which the last one holds
            words = without(words, name[2:], value.split("=")[0] + "=" if "=" in value else "") + [name, value]
        else:
            words = words + [name, value]
    return words


class First:
    """The first remedy of `run --explain=verify`, by a run of our own."""

    def __init__(self, words, sim_ns):
        remedies = told("run", *words, "--explain=verify")["insight"]["remedies"]
        self.first, self.free, self.saved, self.predicted, self.about = "nothing", True, 0, 0, False
        if remedies and "ns" in remedies[0]:
            first = remedies[0]
            self.first, self.free, self.about = first["change"], first["free"], first["about"]
            ns = time_of(pasted(words, self.first))
            if ns != first["ns"]:
                raise SystemExit(f"{shlex.join(words)}: {self.first}: {first['ns']} is said, a run of it takes {ns} ns")
            self.saved = 1 - ns / sim_ns
            self.predicted = 1 - first["predicted_ns"] / sim_ns


class Judged(First):
    def __init__(self, words, known):
        """known: of truth()."""
        sim_ns, rows = known
        super().__init__(words, sim_ns)
        self.best = rows[0] if rows else (0, True, "nothing")
        self.free_is_as_good = any(free and saved >= self.best[0] - AS_GOOD for saved, free, _ in rows)
        self.near = self.saved >= self.best[0] - AS_GOOD
        self.cheap = self.free or not self.free_is_as_good
        self.right = self.near and self.cheap


def main():
    parser = argparse.ArgumentParser(description="Is what holds a run back named? 30 seeded cases a set: truth by simulating "
                                     "all single changes, beside the first remedy of run --explain=verify.")
    parser.add_argument("which", nargs="*", default=list(SETS), help="sets: " + ", ".join(SETS))
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--truth", help="a file in which truths are kept between campaigns; of a build with other times begin anew")
    parser.add_argument("--all", action="store_true", help="show the five best changes of each case")
    o = parser.parse_args()
    kept = json.load(open(o.truth)) if o.truth and os.path.exists(o.truth) else {}
    right = judged = 0
    for name, words in [c for which in o.which for c in cases(which)]:
        if o.only not in name:
            continue
        if name not in kept or kept[name][0] != words:
            kept[name] = [words, truth(words)]
            if o.truth:
                json.dump(kept, open(o.truth, "w"))
        j = Judged(words, kept[name][1])
        judged += 1
        right += j.right
        print(f"{'right' if j.right else 'WRONG' if not j.near else 'DEAR '} {name:22} best {100 * j.best[0]:5.1f} % {j.best[2]}"
              f"\n{'':29}first {100 * j.saved:5.1f} % {j.first} (predicted {'~' if j.about else ''}{100 * j.predicted:.1f} %)",
              flush=True)
        if not j.right or o.all:
            print("      ", shlex.join(words))
            for saved, free, what in kept[name][1][1][:5]:
                print(f"        {100 * saved:5.1f} % {'free' if free else '    '} {what}")
    print(f"{right} of {judged} right")
    return 0 if right == judged else 1


if __name__ == "__main__":
    sys.exit(main())
