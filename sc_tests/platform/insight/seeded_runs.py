# SPDX-License-Identifier: Apache-2.0
"""Runs that something known holds back: twenty classes, each on three kinds of machine: a small shipped one, another
shipped one, a random one. Three more are of finite buffers, on small and random machines: the sets `finite…`. Magnitudes are
drawn; a case that nothing holds back is drawn anew (bottlenecks.py)."""
import os
import random

SETS = {"fixed": 34, "new": 3058173887}  # the seeds; new: the commit of the detectors
KINDS = ("small", "shipped", "random")


class Machine:
    """Options of a shipped or of a random machine; `several`: PEs."""

    def __init__(self, rng, kind, several):
        self.cube = "sip0.cube0"
        self.pes = 8
        if kind == "small":
            self.words = rng.choice((["--topology", "small.yaml", "--links", "cut_through", "--response", "routed"],
                                     ["--topology", "one_cube.yaml"]))
        elif kind == "shipped":
            name = rng.choice(("default", "h100", "latency_model") + (() if several else ("tpu_v4i",)))
            self.words = ["--topology", name + ".yaml"]
            if name == "default":  # two cubes of the same machine
                self.words += [w for key, value in (("tray.sips", "{count: 1}"), ("sip.cubes", "{w: 2, h: 1}"))
                               for w in ("--set", f"file:{key}={value}")]
            self.pes = {"h100": 8, "tpu_v4i": 1}.get(name, 16)
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

    def in_flits(self):
        """With finite buffers one can wait for."""
        for option in ("--links", "--response"):
            if option in self.words:
                at = self.words.index(option)
                del self.words[at:at + 2]
        self.words += ["--links", "flit", "--response", "routed"]

    def shipped_as(self, name):
        return any(name in w for w in self.words)


# The kernels of examples/kernels, of which some classes have runs.
EXAMPLES = os.environ.get("KERNBENCH_EXAMPLE_KERNELS", "build/release/sc_tests/libexample_kernels.so")


def run(kernel, **params):
    plugin = ["--plugin", EXAMPLES] if kernel in ("histogram", "paged_gather") else []
    return ["--kernel", kernel] + [w for name, value in params.items() for w in ("--param", f"{name}={value}")] + plugin


def product(rng, **params):
    """A matrix product; only some could be another kernel's."""
    return run(rng.choice(("gemm", "gemm_epilogue", "gemm_epilogue")), **params)


def window(rng, m):
    tile = rng.choice((32, 64))
    m.set("*.reserved_mb", round(3 * tile * tile * 4 / 2 ** 20 * rng.choice((1.1, 1.6, 2.2)), 4))
    return product(rng, m=rng.choice((512, 1024)), n=256, k=256, tile_m=tile, tile_n=tile, tile_k=tile)


def channels(rng, m):
    if m.shipped_as("latency_model"):  # its HBM has no channels
        m.words[1] = "small.yaml"
    m.set("*.hash", "none")
    if rng.random() < 0.4:
        m.set("*.interleave_bytes", rng.choice((1024, 4096)))
    return product(rng, dtype="bf16", m=rng.choice((256, 1024)), n=rng.choice((512, 1024)), k=256, tile_n=rng.choice((16, 32)))


def idle(rng, m):
    if rng.random() < 0.3:
        return run("softmax", rows=rng.choice((1, 2, 3)), cols=rng.choice((2048, 4096)))
    return product(rng, m=rng.choice((m.pes // 8, m.pes // 4, m.pes // 2)), n=rng.choice((512, 1024)), k=rng.choice((512, 1024)))


def mesh(rng, m):
    m.set(rng.choice(("edge:pe.bw_gbs", "edge:*.bw_gbs" if m.shipped_as("latency_model") else "edge:mesh.bw_gbs")),
          rng.choice((8, 16, 32)))
    return rng.choice((run("vector_add", n=65536), run("gemm_epilogue", m=256, n=128, k=128), run("gather", n=128, cols=256)))


def ucie(rng, m):
    if m.shipped_as("one_cube") or m.shipped_as("h100"):  # of one cube
        m.words[1] = "small.yaml"
    m.set("edge:ucie.bw_gbs", rng.choice((4, 8, 16)))
    return rng.choice((run("all_reduce", n=rng.choice((4096, 16384)), algorithm="ring"),
                       run("all_gather", n=4096), run("broadcast", n=16384)))


def hbm(rng, m):
    m.set("*.hbm_ctrl.*.efficiency", rng.choice((0.05, 0.1, 0.2)))
    return rng.choice((run("vector_add", n=65536), run("softmax", rows=128, cols=512), run("elementwise", rows=256, cols=256),
                       run("gemm_epilogue", m=256, n=128, k=128)))


def outstanding(rng, m):
    m.set("*.hbm_ctrl.*.overhead_ns", rng.choice((40, 100, 250)))
    if rng.random() < 0.5:
        m.set("*.pe_dma.outstanding", rng.choice((1, 2, 4)))
    return rng.choice((run("embedding_gather", tokens=512, dim=64), run("paged_gather", seqs=16, blocks=8),
                       run("gather", n=128, cols=64), run("gemm_epilogue", m=256, n=128, k=128)))


def launch(rng, m):
    m.set(rng.choice(("*.io_cpu.overhead_ns", "*.m_cpu.overhead_ns", "*.pcie_ep.overhead_ns")), rng.choice((100, 500, 2000)))
    return rng.choice((run("vector_add", n=rng.choice((512, 4096))), run("barrier"), run("add_bias", rows=16, cols=64),
                       run("rmsnorm", rows=16, cols=128)))


def math(rng, m):
    m.set(*rng.choice((("*.pe_math.lanes", 8), ("*.pe_math.lanes", 16), ("*.pe_math.freq_ghz", 0.1))))
    return rng.choice((run("softmax", rows=64, cols=512), run("layer_norm", rows=64, cols=512), run("rope"),
                       run("attention", heads=2, seq=64, dim=64), run("elementwise", rows=128, cols=256, op="exp")))


def gemm(rng, m):
    m.set(*rng.choice((("*.pe_gemm.freq_ghz", 0.05), ("*.macs_per_cycle", 128), ("*.macs_per_cycle", 256))))
    return rng.choice((run("gemm_epilogue", m=256, n=128, k=256), run("gemm_dot", m=256, n=128, k=256), run("mlp"),
                       run("attention", heads=2, seq=64, dim=64), run("gemm", m=256, n=128, k=128)))


def issue(rng, m):
    m.set(*rng.choice((("*.pe_cpu.dispatch_cycles", 400), ("*.pe_cpu.overhead_ns", 200), ("*.pe_scheduler.overhead_ns", 100),
                       ("*.pe_cpu.freq_ghz", 0.02), ("*.pe_cpu.read_cycles", 400), ("*.pe_fetch_store.overhead_ns", 50))))
    return rng.choice((run("gemm_epilogue", m=256, n=64, k=128), run("softmax", rows=64, cols=256), run("gather", n=128, cols=64),
                       run("gemm_dot", m=256, n=64, k=128)))


def mmu(rng, m):
    m.set("*.page_bytes", rng.choice((4096, 16384)))
    m.set("*.tlb_entries", rng.choice((1, 2, 4, 8)))
    m.set("*.tlb_miss_ns", rng.choice((50, 200)))
    return [*rng.choice((run("gemm_epilogue", m=256, n=128, k=256), run("vector_add", n=65536),
                         run("softmax", rows=64, cols=512))), "--address", "virtual"]


def messages(rng, m):
    m.set("*.slots", rng.choice((1, 2)))
    m.set("*.slot_bytes", rng.choice((256, 1024)))
    return run(*rng.choice((("all_reduce",), ("all_gather",), ("reduce_scatter",))), n=rng.choice((4096, 16384)),
               algorithm=rng.choice(("ring", "halving")))


def imbalance(rng, m):
    """Rows that the PEs do not share evenly."""
    return rng.choice((run("softmax", rows=m.pes + rng.choice((1, 2)), cols=4096),
                       run("layer_norm", rows=2 * m.pes + 1, cols=2048),
                       product(rng, m=32 * m.pes + rng.choice((8, 16, 32)), n=128, k=256),
                       run("gemm_dot", m=m.pes + 1, n=256, k=256)))


def slow(rng, m):
    if m.pes == 16 and rng.random() < 0.5:
        m.cube = "sip0.cube1"
    port = f"{m.cube}.hbm_ctrl.pe2"
    changes = [(f"edge:{port}->*.bw_gbs", 4), (f"{m.cube}.pe3.pe_gemm.freq_ghz", 0.1), (f"{m.cube}.pe1.pe_tcm.read_bw_gbs", 16),
               (f"{m.cube}.pe0.pe_dma.overhead_ns", 200), (f"{port}.efficiency", 0.05), (f"{port}.overhead_ns", 300)]
    if not m.shipped_as("latency_model"):
        changes.append((f"{port}.pc_bw_gbs", 2))
    m.set(*rng.choice(changes))
    return rng.choice((run("gemm_epilogue", m=256, n=128, k=256), run("tp_linear"), run("gemm_dot", m=256, n=128, k=128)))


def host(rng, m):
    if rng.random() < 0.6:
        m.set(*rng.choice((("edge:pcie.bw_gbs", 4), ("edge:io.bw_gbs", 4), ("*.pcie_ep.overhead_ns", 400))))
    return [*rng.choice((run("vector_add", n=16384), run("gemm_epilogue", m=128, n=64, k=128), run("softmax", rows=32, cols=256))),
            "--transfer", "timed"]


def tiles(rng, m):
    m.set("*.pe_dma.overhead_ns", rng.choice((0, 4)))
    return product(rng, m=256, n=rng.choice((64, 128)), k=128, tile_m=rng.choice((8, 16)), tile_n=rng.choice((4, 8)),
                   tile_k=rng.choice((32, 64)))


def split(rng, m):
    """Over fewer PEs than there are, or over more than there is work for."""
    if rng.random() < 0.7:
        ids = [f"{m.cube}.pe{i}" for i in range(rng.choice((1, 2, 3)))]
        return [*rng.choice((run("gemm_epilogue", m=256, n=128, k=128), run("softmax", rows=64, cols=512),
                             run("vector_add", n=65536))), "--pes", ",".join(ids)]
    return rng.choice((run("all_reduce", n=64, algorithm="ring"), run("barrier", times=8), run("histogram", n=64)))


def engines(rng, m):
    m.set("*.pe_dma.rd_engines", 1)
    m.set("*.hbm_ctrl.*.overhead_ns", rng.choice((100, 200)))
    m.set("*.queue_depth", rng.choice((1, 2, 4)))
    return product(rng, m=256, n=128, k=rng.choice((128, 256)), tile_m=rng.choice((16, 32)))


def tcm(rng, m):
    m.set(rng.choice(("*.pe_tcm.read_bw_gbs", "*.pe_tcm.write_bw_gbs")), rng.choice((8, 16)))
    return rng.choice((run("gemm_epilogue", m=256, n=128, k=128), run("softmax", rows=64, cols=512),
                       run("gemm_dot", m=256, n=128, k=128), run("attention", heads=2, seq=64, dim=64)))


CLASSES = {f.__name__: f for f in (window, channels, idle, mesh, ucie, hbm, outstanding, launch, math, gemm, issue, mmu,
                                   messages, imbalance, slow, host, tiles, split, engines, tcm)}


def traffic(rng):
    return rng.choice((run("vector_add", n=65536), run("gather", n=128, cols=256), run("gemm_epilogue", m=256, n=128, k=128),
                       run("embedding_gather", tokens=256, dim=64), run("all_reduce", n=16384, algorithm="ring"),
                       run("all_gather", n=4096)))


def buffers(rng, m):
    """Less room than a link's round trip takes."""
    m.in_flits()
    m.set("file:ns_per_mm", rng.choice((0.2, 0.5, 1)))
    m.set(rng.choice(("*.buffer_flits", "*.r*c*.buffer_flits")), rng.choice((1, 1, 2)))
    return rng.choice((run("vector_add", n=65536), run("gather", n=128, cols=256), run("gemm_epilogue", m=256, n=128, k=128),
                       run("all_reduce", n=16384, algorithm="ring"), run("all_gather", n=16384)))


def virtual_channels(rng, m):
    """Messages to one place hold up those to others."""
    m.in_flits()
    m.set("*.buffer_flits", rng.choice((1, 2, 4)))
    m.set("*.allocation", rng.choice(("round_robin", "oldest_first")))
    m.set("*.hbm_ctrl.*.efficiency", rng.choice((0.25, 0.5, 1)))
    return rng.choice((run("gather", n=128, cols=256), run("paged_gather", seqs=16, blocks=8), run("all_to_all", n=4096),
                       run("all_reduce", n=16384, algorithm="halving")))


def memory_room(rng, m):
    """A latency that passes in a memory's limited buffer."""
    m.in_flits()
    m.set("*.hbm_ctrl.*.buffer_flits", rng.choice((1, 2, 4)))
    m.set("*.hbm_ctrl.*.overhead_ns", rng.choice((20, 50, 100)))
    return traffic(rng)


FINITE = {f.__name__: f for f in (buffers, virtual_channels, memory_room)}
OF_SEVERAL = {"idle", "ucie", "messages", "imbalance", "slow", "split"}  # of several PEs


def drawn(which, name, kind, draw):
    """Words of run."""
    rng = random.Random(f"{SETS.get(which, which)} {name} {kind} {draw}")
    machine = Machine(rng, kind, name in OF_SEVERAL)
    words = {**CLASSES, **FINITE}[name](rng, machine)
    return machine.words + words


def names(which):
    """(class, kind of machine) of a set of thirty: every other one; both sets together have each class on each kind."""
    if str(which).startswith("finite"):
        return [(name, kind) for name in FINITE for kind in ("small", "random")]
    pairs = [(name, kind) for c, name in enumerate(CLASSES) for k, kind in enumerate(KINDS)
             if which not in SETS or (c + k) % 2 == list(SETS).index(which)]
    return pairs
