# SPDX-License-Identifier: Apache-2.0
"""The fixed part of the list of commands: what is shipped, in every mode, and variants of it."""
import dataclasses
import os
import re
import shutil
import typing

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODES = (("ideal", "ideal"), ("ideal", "routed"), ("cut_through", "ideal"), ("cut_through", "routed"),
         ("flit", "routed"))
TOPOLOGIES = ("small", "one_cube", "default", "latency_model", "six_sip_torus")  # big has its own cases
SAMPLES = ("commands_and_composites", "composite_cut_through", "composite_flit", "composite_ideal",
           "traffic_cut_through", "traffic_cut_through_routed", "traffic_flit_hash", "traffic_flit_mesh",
           "traffic_flit_toy", "traffic_hbm_pc", "traffic_hbm_pc_hash", "traffic_ideal", "traffic_ideal_routed")
# Sizes without common divisors, so that last tiles and shards are partial; small enough to be quick.
KERNELS = {
    "assemble": ("n=3001",),
    "attention": ("heads=3", "seq=45", "dim=16"),
    "gather": ("n=37", "rows=16", "cols=33"),
    "gemm": ("m=100", "n=72", "k=130", "tile_m=8"),
    "gemm_dot": ("m=70", "n=40", "k=65", "tile_m=4", "tile_n=24"),
    "gemm_epilogue": ("m=50", "n=70", "k=100", "tile_n=16"),
    "mlp": ("tokens=29", "dim=24", "hidden=44"),
    "newton_sqrt": ("n=1001", "block=100"),
    "rmsnorm": ("rows=21", "cols=101"),
    "softmax": ("rows=13", "cols=70"),
    "vector_add": ("n=10007",),
}
OUTPUT = {"attention": "o", "gemm": "c", "gemm_dot": "c", "gemm_epilogue": "c", "vector_add": "c"}  # the others: y
PLUGIN = "(plugin)"
EXAMPLES = ("custom_hbm", "custom_router")  # with user-defined blocks
LOG = ("--oplog", "log.jsonl")
ALL_FILES = (*LOG, "--vcd", "wave.vcd", "--trace", "trace.json")

PE_DMA = "pe_dma: {attrs: {overhead_ns: 0.0, rd_engines: 1, wr_engines: 1, queue_depth: 2}}"
GEMM_RATE = re.compile(r"macs_per_cycle: .*\n *freq_ghz: (\S+) .*\n *rates: .*\n")
# Copies of small.yaml with replacements (old, new). Each old text must occur.
VARIANTS = {
    "two_engines": ((PE_DMA, "pe_dma: {attrs: {overhead_ns: 0.0, rd_engines: 2, wr_engines: 2, queue_depth: 2}}"),),
    "uneven_engines": ((PE_DMA, "pe_dma: {attrs: {overhead_ns: 1.3, rd_engines: 3, wr_engines: 1, queue_depth: 1}}"),),
    # Slow compute engines, so that the queues before them fill.
    "depth_1": (("queue_depth: 2", "queue_depth: 1"), ("macs_per_cycle: 4096", "macs_per_cycle: 64"),
                ("lanes: 128", "lanes: 4"), ("rd_engines: 1", "rd_engines: 3")),
    "depth_8": (("queue_depth: 2", "queue_depth: 8"), ("macs_per_cycle: 4096", "macs_per_cycle: 64"),
                ("lanes: 128", "lanes: 4"), ("rd_engines: 1", "rd_engines: 3")),
    "room_for_one_tile": (("reserved_mb: 1,", "reserved_mb: 0.0226,"),),
    "room_for_few_tiles": (("reserved_mb: 1,", "reserved_mb: 0.0601,"), ("rd_engines: 1", "rd_engines: 2")),
    "little_tcm": (("size_mb: 16,", "size_mb: 1.0025,"),),  # 2,621 bytes for handles: gather waits for space
    "tlb": (("tlb_hit_ns: 0.0", "tlb_hit_ns: 1.5"), ("tlb_miss_ns: 0.0", "tlb_miss_ns: 40.25"),
            ("page_bytes: 2097152", "page_bytes: 4096"), ("tlb_entries: 64", "tlb_entries: 3")),
    "tlb_large_pages": (("tlb_hit_ns: 0.0", "tlb_hit_ns: 0.3"), ("tlb_miss_ns: 0.0", "tlb_miss_ns: 101.0"),
                        ("rd_engines: 1", "rd_engines: 2")),
    "headers": (("header_bytes: 0", "header_bytes: 24"), ("flit_bytes: 256", "flit_bytes: 64")),
    "overheads": (("overhead_ns: 0.0", "overhead_ns: 0.7"),),
    "store_and_forward": (("router: {attrs: {", "router: {attrs: {store_and_forward: true, "),
                          ("connection: {attrs: {", "connection: {attrs: {store_and_forward: true, ")),
    "one_server_hbm": ((re.compile(r"impl: builtin.hbm_pc .*"), "impl: builtin.hbm_ctrl"),
                       (re.compile(r" *(pseudo_channels|interleave_bytes|pc_bw_gbs|hash|burst_bytes): .*\n"), ""),
                       (re.compile(r"(slice_mb: 1024(?:.*\n){3} *)overhead_ns: 0.0"), r"\1efficiency: 0.85")),
    "odd_channels": (("pseudo_channels: 8", "pseudo_channels: 3"), ("hash: xor", "hash: none"),
                     ("pc_bw_gbs: 32.0", "pc_bw_gbs: 21.7"), ("interleave_bytes: 256", "interleave_bytes: 512")),
    "systolic": (("      pe_gemm:\n", "      pe_gemm:\n        impl: builtin.pe_gemm_systolic\n"),
                 (GEMM_RATE, r"rows: 16\n          cols: 12\n          dataflow: ws\n          freq_ghz: \1\n")),
    "host": (("pcie_ep: {attrs: {", "pcie_ep: {attrs: {outstanding: 2, store_and_forward: false, "),
             ("5.0, rd_engines: 1, wr_engines: 1}", "5.0, rd_engines: 2, wr_engines: 3}")),  # for the m_cpu
    "materialize": (("\ntiming:", "\nmaterialize: outputs\n\ntiming:"),),
    "ports": (("  # ports:                     #", "  ports:                       #"),
              ("  #   - {at: r0c1", "    - {at: r0c1")),
}


@dataclasses.dataclass(frozen=True)
class Case:
    """Commands that are run one after the other in a folder of their own, where they leave their files."""
    name: str
    make: typing.Callable  # (Place) -> list of lists of arguments
    status: typing.Optional[int] = 0  # of the reference for the last command; None: any
    plugin: str = ""  # folder of an example; PLUGIN in the arguments becomes its blocks, built for the binary


class Place:
    """Where a case finds its inputs; the same for both binaries."""

    def __init__(self, inputs, folder, reference):
        self.inputs, self.folder, self.reference = inputs, folder, reference

    def topology(self, name):
        """Of a shipped topology or a variant."""
        kind = "variants" if name in VARIANTS else "topologies"
        return os.path.join(self.inputs, kind, name + ".yaml")

    def sample(self, name, file):
        return os.path.join(self.inputs, "samples", name, file)

    def example(self, name, file):
        return os.path.join(self.inputs, "examples", name, file)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path


def replaced(text, replacements):
    for old, new in replacements:
        if isinstance(old, str):
            count, text = text.count(old), text.replace(old, new)
        else:
            text, count = old.subn(new, text)
        if not count:
            raise ValueError(f"not found in small.yaml: {old}")
    return text


def copy_inputs(folder):
    """Copies what the cases read, so that work on it beside a comparison does not disturb it."""
    shutil.copytree(os.path.join(SOURCE, "topologies"), os.path.join(folder, "topologies"))
    shutil.copytree(os.path.join(SOURCE, "sc_tests", "data", "samples"), os.path.join(folder, "samples"))
    for name in EXAMPLES:
        shutil.copytree(os.path.join(SOURCE, "examples", name), os.path.join(folder, "examples", name))
    os.mkdir(os.path.join(folder, "variants"))
    with open(os.path.join(folder, "topologies", "small.yaml"), encoding="utf-8") as file:
        small = file.read()
    for name, replacements in VARIANTS.items():
        with open(os.path.join(folder, "variants", name + ".yaml"), "w", encoding="utf-8") as file:
            file.write(replaced(small, replacements))


def mode_options(mode):
    return ["--links", mode[0], "--response", mode[1]]


def params_options(params):
    return [word for param in params for word in ("--param", param)]


def run(place, topology, kernel, *options, mode=None, params=None, format="json"):
    """Arguments of `run`; params: the small ones of the kernel unless given."""
    given = params_options(KERNELS[kernel] if params is None else params) + (mode_options(mode) if mode else [])
    return ["run", "--topology", place.topology(topology), "--kernel", kernel, *given, "--format", format, *options]


def run_case(name, topology, kernel, *options, status=0, **more):
    return Case(f"run/{name}", lambda place: [run(place, topology, kernel, *options, **more)], status)


def list_cases():
    for what, form in (("kernels", "text"), ("components", "text"), ("components", "json"), ("topologies", "text")):
        yield Case(f"list/{what}/{form}", lambda place, a=("list", what, "--format", form): [list(a)])


def topology_cases():
    def case(name, topology, *options):
        return Case(f"topology/{topology}/{name}",
                    lambda place: [["topology", place.topology(topology), *options]])

    for topology in (*TOPOLOGIES, *VARIANTS):
        for form in ("text", "json"):
            yield case(form, topology, "--format", form)
    for topology in TOPOLOGIES:
        for form in ("svg", "dot"):
            for view in ("tray", "sip", "cube", "pe", "flat"):
                yield case(f"{form}-{view}", topology, "--format", form, "--view", view)
    yield case("svg-of-one", "default", "--format", "svg", "--view", "cube", "--id", "sip1.cube6")
    yield case("dot-of-one", "small", "--format", "dot", "--view", "pe", "--id", "sip0.cube1.pe2")
    for mode in MODES:
        yield case("-".join(mode), "small", *mode_options(mode), "--format", "json")


def probe_cases():
    def case(topology, name, *options):
        return Case(f"probe/{topology}/{name}",
                    lambda place: [["probe", "--topology", place.topology(topology), *options]])

    kinds = ((), ("--sweep",), ("--hops",), ("--saturate",))
    for topology in TOPOLOGIES:
        for mode in MODES:
            for kind in kinds:
                name = "".join(kind) or "--plain"
                yield case(topology, f"{'-'.join(mode)}{name[1:]}", *mode_options(mode), *kind, "--format", "json")
                for form in ("text", "csv"):
                    if topology in ("small", "latency_model") or mode[0] == "flit":
                        yield case(topology, f"{'-'.join(mode)}{name[1:]}/{form}", *mode_options(mode), *kind,
                                   "--format", form)
    for topology in ("small", "latency_model", "six_sip_torus", "store_and_forward", "headers", "odd_channels",
                     "one_server_hbm", "overheads", "host"):
        for mode in MODES:
            for size in ("1", "4097", "1000003"):
                yield case(topology, f"{'-'.join(mode)}-{size}-bytes", *mode_options(mode), "--bytes", size, "--hops",
                           "--format", "json", "--check")
    yield case("small", "one-case", "--case", "h2d-write", "--case", "pe-local-hbm", "--format", "csv")
    yield case("two_engines", "saturate", "--saturate", "--links", "flit", "--response", "routed", "--check")


def sample_cases():
    """`traffic` and `pipeline` on the samples, as they are and in every other mode that they allow."""
    for sample in SAMPLES:
        command, file = ("traffic", "trace.csv") if sample.startswith("traffic") else ("pipeline", "work.json")
        option = "--trace" if command == "traffic" else "--work"
        forms = ("csv", "json") if command == "traffic" else ("text", "json")

        def case(name, *options, sample=sample, command=command, file=file, option=option):
            return Case(f"{command}/{sample}/{name}",
                        lambda place: [[command, "--topology", place.sample(sample, "topology.yaml"), option,
                                        place.sample(sample, file), *options]])

        for form in forms:
            yield case(f"as-it-is-{form}", "--format", form, "--vcd", "wave.vcd")
        for mode in MODES:
            yield case("-".join(mode), *mode_options(mode), "--format", forms[1], "--vcd", "wave.vcd")


def port_traffic(place, mode):
    """Two ports, a PE, a management processor and the host at once: odd sizes, both directions, some at one instant."""
    who = ("sip0.cube0.port0", "sip0.cube1.port0", "sip0.cube0.pe0.pe_dma", "sip0.cube1.m_cpu", "sip0.io0.pcie_ep")
    rows = ["id,issue_ns,initiator,op,address,bytes"]
    for i in range(60):
        at = 1024 * 1024 * 1024 * (i % 3) + 7 * i  # in the slices of three PEs of the first cube
        rows.append(f"{i},{(i // 6) * 3.5},{who[i % 5]},{'write' if i % 7 < 3 else 'read'},{at},{1 + 613 * i % 5000}")
    trace = place.write("trace.csv", "\n".join(rows) + "\n")
    return [["traffic", "--topology", place.topology("ports"), "--trace", trace, *mode_options(mode), "--format",
             "json"]]


def kernel_cases():
    """Every kernel on the small machine in every mode."""
    for kernel in KERNELS:
        for mode in MODES:
            for launch in ("host", "direct"):
                yield run_case(f"{kernel}/{'-'.join(mode)}/{launch}", "small", kernel, "--launch", launch, "--verify",
                               *ALL_FILES, mode=mode)
            for transfer, address, topology in (("timed", "physical", "small"), ("instant", "virtual", "tlb"),
                                                ("timed", "virtual", "tlb_large_pages")):
                yield run_case(f"{kernel}/{'-'.join(mode)}/{transfer}-{address}", topology, kernel, "--transfer",
                               transfer, "--address", address, "--verify", *(ALL_FILES if mode[0] != "ideal" else LOG),
                               mode=mode)
            yield run_case(f"{kernel}/{'-'.join(mode)}/text", "small", kernel, "--verify", mode=mode, format="text")
        for mode in (MODES[0], MODES[3], MODES[4]):
            yield run_case(f"{kernel}/{'-'.join(mode)}/default-size", "small", kernel, *ALL_FILES, mode=mode, params=())
        yield run_case(f"{kernel}/sqlite", "small", kernel, "--oplog", "log.sqlite", mode=MODES[3])
        yield run_case(f"{kernel}/races-and-debug", "small", kernel, "--check-races", "--debug-verify", format="text")
        yield run_case(f"{kernel}/some-pes", "small", kernel, "--pes", "sip0.cube0.pe1,sip0.cube1.pe0,sip0.cube1.pe3",
                       *LOG, "--verify", mode=MODES[3])
        yield run_case(f"{kernel}/one-pe", "small", kernel, "--pes", "sip0.cube1.pe2", "--check-races", *ALL_FILES)
        yield run_case(f"{kernel}/outputs-materialized", "materialize", kernel, "--transfer", "timed", *LOG, "--verify",
                       mode=MODES[3])
        yield run_case(f"{kernel}/dump", "small", kernel, "--dump", f"{OUTPUT.get(kernel, 'y')}=out.npy", "--seed", "7",
                       "--isa", "portable", "--threads", "1", "--verify", format="text")


def variant_cases():
    """Kernels on variants of the small machine, in every mode."""
    sizes = {kernel: KERNELS[kernel] for kernel in ("gemm_dot", "mlp", "softmax", "assemble")}
    sizes.update(gemm=("m=100", "n=72", "k=130"), gemm_epilogue=("m=64", "n=64", "k=200"))
    for variant in VARIANTS:
        transfer = "timed" if variant in ("host", "materialize", "ports", "overheads") else "instant"
        for kernel, params in (sizes if variant != "little_tcm" else {"gather": ()}).items():
            for i, mode in enumerate(MODES):
                files = (LOG, ALL_FILES)[(i + len(kernel)) % 2]
                yield run_case(f"{kernel}/{variant}/{'-'.join(mode)}", variant, kernel, "--transfer", transfer, *files,
                               mode=mode, params=params)
    for mode in MODES:
        yield Case(f"traffic/ports/{'-'.join(mode)}", lambda place, mode=mode: port_traffic(place, mode))
        for kernel in ("gemm", "assemble", "gather", "attention"):
            for topology in ("tlb", "tlb_large_pages"):
                yield run_case(f"{kernel}/{topology}/{'-'.join(mode)}/virtual-sqlite", topology, kernel, "--address",
                               "virtual", "--oplog", "log.sqlite", "--launch", "direct", mode=mode)


def option_cases():
    """What parameters and options do beside modes and machines."""
    for dtype in ("f16", "bf16", "i8"):
        for kernel in ("gemm", "gemm_dot", "vector_add"):
            yield run_case(f"{kernel}/{dtype}", "small", kernel, *LOG, "--verify", mode=MODES[3],
                           params=(*KERNELS[kernel], f"dtype={dtype}"))
    for activation in ("none", "gelu", "silu"):
        yield run_case(f"gemm_epilogue/{activation}", "small", "gemm_epilogue", *ALL_FILES,
                       params=(*KERNELS["gemm_epilogue"], f"activation={activation}"))
    yield run_case("attention/causal", "small", "attention", *LOG, params=(*KERNELS["attention"], "causal=true"))
    for i, scope in enumerate((("sip0.cube0.*",), ("*.pe_gemm", "*.pe_dma"), ("sip0.cube1", "sip0.io0*"))):
        options = [word for glob in scope for word in ("--vcd-scope", glob)]
        yield run_case(f"gemm/vcd-scope-{i}", "small", "gemm", "--vcd", "wave.vcd", *options, mode=MODES[3 + i % 2])
    yield run_case("gemm/wrong-result", "small", "gemm", "--verify", "--corrupt", "c", format="text", status=1)
    yield run_case("gemm/wrong-result-json", "small", "gemm", "--verify", "--corrupt", "c", status=1)

    def with_tensor(place):
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1001,), }".ljust(117) + "\n"
        data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(4 * 1001)
        return [run(place, "small", "newton_sqrt", "--tensor", "x=" + place.write("x.npy", data), *LOG)]

    yield Case("run/newton_sqrt/tensor-from-file", with_tensor)
    for kernel in ("gemm", "attention", "newton_sqrt", "assemble"):
        for log in ("log.jsonl", "log.sqlite"):
            yield Case(f"replay/{kernel}/{log}", lambda place, kernel=kernel, log=log: [
                run(place, "small", kernel, "--oplog", log),
                ["replay", "--oplog", log, "--debug-verify", "--dump", f"{OUTPUT.get(kernel, 'y')}=out.npy"],
                ["replay", "--oplog", log, "--format", "json"]])
    for form in ("csv", "json"):
        yield Case(f"sweep/run/{form}", lambda place, form=form: [
            ["sweep", "--jobs", "2", "--format", form, "--over", "links=ideal,cut_through,flit", "--over",
              "param.n=16,33", "--", "run", "--topology", place.topology("small"), "--kernel", "gemm", "--param",
              "m=64", "--verify"]])
        yield Case(f"sweep/probe/{form}", lambda place, form=form: [
            ["sweep", "--jobs", "2", "--format", form, "--over", "links=ideal,cut_through,flit", "--over",
              "bytes=64,4097", "--", "probe", "--topology", place.topology("small")]])


def large_machine_cases():
    """Kernels on the larger shipped machines."""
    for topology in TOPOLOGIES[1:]:
        for kernel in ("gemm", "vector_add", "softmax", "attention", "assemble"):
            for mode in MODES:
                yield run_case(f"{kernel}/{topology}/{'-'.join(mode)}", topology, kernel, "--transfer",
                               "timed" if mode[1] == "routed" else "instant", *LOG, mode=mode)
    for kernel in ("gemm", "attention"):
        yield run_case(f"{kernel}/default/default-size", "default", kernel, "--oplog", "log.sqlite", params=())
        yield run_case(f"{kernel}/latency_model/default-size", "latency_model", kernel, *ALL_FILES, params=())
    yield run_case("gemm/default/one-sip", "default", "gemm", "--device", "sip:1", *ALL_FILES, "--vcd-scope",
                   "sip1.cube0.*", mode=MODES[3])
    yield run_case("gemm/default/text", "default", "gemm", "--verify", params=(), format="text")


def big_cases():
    """The largest machine: once by each command; seconds each."""
    for form in ("text", "json"):
        yield Case(f"topology/big/{form}",
                   lambda place, form=form: [["topology", place.topology("big"), "--format", form]])
    for mode, kind in ((MODES[0], "--sweep"), (MODES[4], "--hops"), (MODES[3], "--saturate")):
        yield Case(f"probe/big/{'-'.join(mode)}{kind[1:]}", lambda place, mode=mode, kind=kind: [
            ["probe", "--topology", place.topology("big"), *mode_options(mode), kind, "--format", "json"]])
    yield run_case("vector_add/big", "big", "vector_add", *LOG, params=("n=65537",))
    yield run_case("gemm/big", "big", "gemm", params=("m=4096", "n=32", "k=32"), mode=MODES[3])


FLAT = """\
nodes:
- {id: pe0.pe_dma, kind: pe_dma}
- {id: r, kind: router}
- {id: mem, kind: hbm_ctrl}
links:
- {from: pe0.pe_dma, to: r, distance_mm: 1, bw_gbs: 128}
- {from: r, to: mem, distance_mm: 1, bw_gbs: 128}
memories:
- {node: mem, space: hbm, base: 0, size: 4096}
"""
HEADER = "id,issue_ns,initiator,op,address,bytes\n"
WRONG_TOPOLOGIES = {
    "misspelt": FLAT.replace("distance_mm: 1, bw_gbs: 128}\nmem", "distanse_mm: 1, bw_gbs: 128}\nmem"),
    "attribute": FLAT.replace("kind: router}", "kind: router, attrs: {overhed_ns: 1}}"),
    "unreachable": FLAT.replace("- {from: r, to: mem, distance_mm: 1, bw_gbs: 128}\n", ""),
    "negative": FLAT.replace("bw_gbs: 128", "bw_gbs: -1"),
    "no-yaml": "nodes: [\n",
    "empty": "",
}
WRONG_TRACES = {
    "initiator": HEADER + "a,0,pe9.pe_dma,read,0,64\n",
    "two": HEADER + "a,-1,pe0.pe_dma,read,0,64\nb,0,pe0.pe_dma,read,0,0\n",
    "address": HEADER + "a,0,pe0.pe_dma,write,4090,64\n",
    "columns": HEADER + "a,0\n",
}
WRONG_USAGE = {
    "command": ["fly"], "nothing": [], "what": ["list", "planets"],
}
WRONG_RUNS = {
    "kernel": ["--kernel", "gemn"], "param": ["--kernel", "gemm", "--param", "q=1"],
    "value": ["--kernel", "gemm", "--param", "m=many"], "zero": ["--kernel", "gemm", "--param", "m=0"],
    "tensor": ["--kernel", "gemm", "--tensor", "a=none.npy"], "pe": ["--kernel", "gemm", "--pes", "sip9.cube0.pe0"],
    "response": ["--kernel", "gemm", "--links", "flit", "--response", "ideal"],
    "scope": ["--kernel", "gemm", "--vcd", "w.vcd", "--vcd-scope", "z"],
    "tile": ["--kernel", "gemm", *params_options(("tile_m=1000", "tile_n=1000", "tile_k=1000", "n=1000", "k=1000"))],
    "too-large": ["--kernel", "vector_add", "--param", "n=99999999999"],
}
WRONG_WORKS = {
    "pe": '{"pes": [{"pe": "sip9"}]}', "json": "{",
    "stage": '{"pes": [{"pe": "sip0.cube0.pe0", "commands": [{"id": "x", "submit_ns": 0, "stage": "GEMN"}]}]}',
}


def wrong_cases():
    """Wrong usage and input: the status and what is said."""
    for name, text in WRONG_TOPOLOGIES.items():
        yield Case(f"wrong/topology/{name}", lambda place, text=text: [["topology", place.write("t.yaml", text)]], 2)
    for name, text in WRONG_TRACES.items():
        yield Case(f"wrong/traffic/{name}", lambda place, text=text: [
            ["traffic", "--topology", place.write("t.yaml", FLAT), "--trace", place.write("trace.csv", text)]], 2)
    for name, text in WRONG_WORKS.items():
        yield Case(f"wrong/pipeline/{name}", lambda place, text=text: [
            ["pipeline", "--topology", place.sample("composite_ideal", "topology.yaml"), "--work",
             place.write("work.json", text)]], 2)
    for name, words in WRONG_USAGE.items():
        yield Case(f"wrong/usage/{name}", lambda place, words=words: [list(words)], 2)
    for name, words in WRONG_RUNS.items():
        yield Case(f"wrong/run/{name}",
                   lambda place, words=words: [["run", "--topology", place.topology("small"), *words]],
                   1 if name == "tile" else 2)
    for kernel in ("gemm_dot", "attention", "softmax"):
        yield run_case(f"{kernel}/tcm-exhausted", "little_tcm", kernel, *ALL_FILES, params=(), status=1)


def fixed_cases():
    for part in (big_cases, list_cases, topology_cases, probe_cases, sample_cases, kernel_cases, variant_cases,
                 option_cases, large_machine_cases, wrong_cases):
        yield from part()
