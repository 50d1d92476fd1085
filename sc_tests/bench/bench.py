# SPDX-License-Identifier: Apache-2.0
"""Measures the project as its user meets it: whole processes of the command line, CPU time (user + system).

    bench.py --bin FOLDER --data FOLDER [--quick] [--json] [--runs N] [NAME-PREFIX]...

Rates are per CPU second of the whole process: start, reading the topology and the input, elaboration, simulation,
output. `name value unit`, one line a figure, medians over --runs; names that begin with a prefix, or all.

    bench.py --bin FOLDER --data FOLDER --against BINARY [NAME-PREFIX]...

The floors: both binaries on the same files in turns, `name ratio floor`, medians of the ratios of five pairs or --runs;
exit status 1 where one is missed. Of storms and tokens of 1,024 PEs and more what `kernbench topology` takes is taken off
on both sides.

    bench.py --bin FOLDER --data FOLDER --peer NAME=BINARY ...

Other simulators (peers.py) on the same work, in turns: kernbench's CPU time in units of the peer's, the median of five pairs
or --runs, and the simulated time of both.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import bench_inputs as inputs
import peers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOPOLOGIES = os.path.join(ROOT, "topologies")
DEFAULT, BIG = (os.path.join(TOPOLOGIES, t) for t in ("default.yaml", "big.yaml"))
os.environ["SYSTEMC_DISABLE_COPYRIGHT_MESSAGE"] = "1"


# Relative to the rate of the last version whose traffic did not use sockets (d3de8b2); run_*: on its
# topologies/default.yaml.
FLOORS = {
    "run_gemm_f16_cut_through": 0.8, "run_gemm_f32_cut_through": 0.8, "run_gemm_f32_flit": 0.8,
    "run_attention_cut_through": 0.8, "run_attention_flit": 0.8, "run_mlp_cut_through": 0.8, "run_mlp_flit": 0.8,
    "run_vector_add_cut_through": 0.8, "run_vector_add_flit": 0.8,
    "storm_ideal_64": 0.65, "storm_ideal_1024": 0.6, "storm_ideal_4096": 0.65,
    "storm_cut_through_64": 0.6, "storm_flit_64": 0.6,
    "tokens_ideal_64": 0.8, "tokens_ideal_1024": 0.75, "tokens_ideal_4096": 0.75,
}


# Upper limit of the CPU time of gemm_f16 on default.yaml, relative to the same file without `hash` and `burst_bytes`.
HASH_AND_BURSTS = 1.15


class Failed(Exception):
    pass


def run(argv, keep=False, environment=None):
    """CPU seconds, peak MiB and, if kept, output of a process."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(argv, stdout=out, stderr=err, env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            err.seek(0)
            raise Failed(f"{' '.join(argv)}: exit {child.returncode}: {err.read().decode(errors='replace')[:300]}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read() if keep else b""


class Bench:
    def __init__(self, args):
        self.args = args
        self.figures = {}
        os.makedirs(args.data, exist_ok=True)

    def wanted(self, name):
        return not self.args.names or any(name.startswith(p) for p in self.args.names)

    def put(self, name, value, unit):
        self.figures[name] = {"value": value, "unit": unit}
        if not self.args.json:
            print(f"{name} {value:.6g} {unit}", flush=True)

    def measure(self, name, argv):
        """Median CPU seconds and peak MiB over the runs."""
        print(f"bench: {name}", file=sys.stderr, flush=True)
        runs = [run(argv) for _ in range(self.args.runs)]
        return statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs)

    def rate(self, name, count, unit, argv):
        if not self.wanted(name):
            return
        seconds, mib = self.measure(name, argv)
        self.put(name, count / seconds, f"{unit}/s")
        self.put(name + "_memory", mib, "MiB")

    def cost(self, name, argv):
        if not self.wanted(name):
            return
        seconds, mib = self.measure(name, argv)
        self.put(name, seconds, "s")
        self.put(name + "_memory", mib, "MiB")

    def printed(self, name, argv):
        """A program that prints its own `name value unit` lines; medians by name."""
        if not self.wanted(name):
            return
        print(f"bench: {name}", file=sys.stderr, flush=True)
        values, units = {}, {}
        for _ in range(self.args.runs):
            _, _, out = run(argv, keep=True)
            for line in out.decode().splitlines():
                key, value, unit = line.split()[:3]
                values.setdefault(key, []).append(float(value))
                units[key] = unit
        for key, found in values.items():
            self.put(key, statistics.median(found), units[key])

    def tool(self, name):
        return os.path.join(self.args.bin, name)

    def data(self, name, write, *arguments, **options):
        return inputs.once(os.path.join(self.args.data, name), write, *arguments, **options)

    def system(self, pes, mode, hot_spot=False):
        return self.data(f"system_{pes}_{mode}{'_hot' * hot_spot}.yaml", inputs.system, pes, mode, hot_spot=hot_spot)

    def storm(self, name, pes, reads, mode, **options):
        if not self.wanted(name):
            return
        hot = options.get("hot_spot", False)
        kind = "".join("_" + o for o, on in sorted(options.items()) if on)
        trace = self.data(f"storm_{pes}_{reads}{kind}.csv", inputs.storm, pes, reads, **options)
        self.rate(name, pes * reads, "transactions",
                  [self.tool("kernbench"), "traffic", "--topology", self.system(pes, mode, hot), "--trace", trace])

    def tokens(self, name, pes, mode, count=1):
        if not self.wanted(name):
            return
        work = self.data(f"work_{pes}_{count}.json", inputs.composites, pes, count)
        self.rate(name, pes * count * 512, "tokens",
                  [self.tool("kernbench"), "pipeline", "--topology", self.system(pes, mode), "--work", work])

    def messages(self, pes, count, mode):
        """Messages beside loads that go as far: per CPU second, and what a message costs in loads."""
        system = self.data(f"pairs_{pes}_{mode}.yaml", inputs.system, pes, mode, pairs=True)
        for what in (inputs.loads, inputs.messages):
            name = f"{what.__name__}_{mode}_{pes}"
            work = self.data(f"{what.__name__}_{pes}_{count}.json", what, pes, count)
            self.rate(name, pes // 2 * count, what.__name__,
                      [self.tool("kernbench"), "pipeline", "--topology", system, "--work", work])
        loads, messages = (self.figures.get(f"{what}_{mode}_{pes}", {}).get("value") for what in ("loads", "messages"))
        if loads and messages:
            self.put(f"messages_{mode}_{pes}_in_loads", loads / messages, "loads")

    def kernel(self, name, *arguments):
        self.cost(name, [self.tool("kernbench"), "run", *arguments])

    def work(self, name, topology, links, memory=""):
        """The arguments of a piece of what users run."""
        works = inputs.SHORT_WORK if memory == "dram" else inputs.REAL_WORK
        return ["run", "--topology", topology, "--links", links, *works[name].split()]

    def real_work(self, quick):
        """On default.yaml, whose memory is hbm_pc, and with hbm_dram in its place."""
        dram = self.data("default_dram.yaml", inputs.with_dram, DEFAULT)
        for memory, topology in (("pc", DEFAULT),) if quick else (("pc", DEFAULT), ("dram", dram)):
            for links in inputs.LINKS[:1] if quick else inputs.LINKS:
                for name in inputs.REAL_WORK:
                    self.cost(f"run_{name}_{memory}_{links}",
                              [self.tool("kernbench"), *self.work(name, topology, links, memory)])

    def all(self):
        quick = self.args.quick
        self.real_work(quick)
        for what in ("threads", "methods", "sockets"):
            self.printed("systemc_" + what, [self.tool("systemc_floor"), what])

        # Storms: every PE reads 4 KiB blocks of its own slice. The total is the same for any number of PEs.
        for mode in inputs.TIMING:
            self.storm(f"storm_{mode}_64_x500", 64, 500, mode)
        sizes = ((8, 16000), (64, 2000)) if quick else ((8, 160000), (64, 20000), (512, 2500), (1024, 1250), (4096, 312))
        for pes, reads in sizes:
            for mode in inputs.TIMING:
                self.storm(f"storm_{mode}_{pes}", pes, reads if mode != "flit" else reads // 8, mode)
            self.storm(f"storm_staggered_{pes}", pes, reads, "ideal", staggered=True)
        for mode in ("ideal", "cut_through", "flit"):
            self.storm(f"storm_hot_spot_{mode}_64", 64, 500, mode, hot_spot=True)
        if not quick:
            self.storm("storm_ideal_10240", 10240, 100, "ideal")

        # Tile tokens: gemms of 512³ in 64³ tiles, 512 tokens each, with their memory traffic.
        for pes, count in ((8, 1), (64, 1)) if quick else ((8, 16), (64, 4), (512, 1), (1024, 1), (4096, 1)):
            for mode in ("ideal", "cut_through"):
                self.tokens(f"tokens_{mode}_{pes}", pes, mode, count)

        # Messages between PEs beside DMA transactions of the same route.
        for mode in ("ideal", "cut_through", "flit"):
            self.messages(64, 100 if quick else 2000, mode)

        # Kernels on systems of any size: one command each, loops of load / dot / store, composites; 32 rows per PE.
        for pes in (8, 64) if quick else (8, 64, 512, 4096):
            system = ["--topology", self.system(pes, "ideal")]
            rows = ["--param", f"m={32 * pes}"]
            self.kernel(f"launch_{pes}", *system, "--kernel", "vector_add", "--param", f"n={pes}")
            self.kernel(f"commands_{pes}", *system, "--kernel", "gemm_dot", *rows)
            self.kernel(f"composites_{pes}", *system, "--kernel", "gemm", *rows)
            for form, options in (("jsonl", ["--oplog", "oplog.jsonl"]), ("sqlite", ["--oplog", "oplog.sqlite"]),
                                  ("verified", ["--verify"])):
                options = [os.path.join(self.args.data, o) if o.startswith("oplog.") else o for o in options]
                self.kernel(f"oplog_{form}_{pes}", *system, "--kernel", "gemm_dot", *rows, *options)

        # The default machine of 256 PEs, launched by its host; with and without a waveform of one cube.
        gemm = ["--topology", DEFAULT, "--kernel", "gemm"]
        self.kernel("launch_by_host_256", "--topology", DEFAULT, "--kernel", "vector_add", "--param", "n=256")
        self.kernel("vcd_none", *gemm)
        self.kernel("vcd_one_cube", *gemm, "--vcd", os.path.join(self.args.data, "one_cube.vcd"), "--vcd-scope",
                    "sip0.cube0.*")

        # Collectives over all PEs: 64 KiB per PE.
        collective = ["--kernel", "all_reduce", "--param", "n=16384"]
        for algorithm in ("auto", "hierarchical"):
            for name, topology in (("256", DEFAULT),) if quick else (("256", DEFAULT), ("4096", BIG)):
                self.kernel(f"all_reduce_{algorithm}_{name}", "--topology", topology, *collective, "--param",
                            f"algorithm={algorithm}")

        # Elaboration: one read in an otherwise idle machine.
        for name, topology in (("default", DEFAULT),) if quick else (("default", DEFAULT), ("big", BIG)):
            trace = self.data(f"one_{name}.csv", self.one_read, topology)
            self.cost(f"elaborate_{name}", [self.tool("kernbench"), "traffic", "--topology", topology, "--trace", trace])

        # Phase 2, in the format of its own benchmark, if that was built.
        if os.path.exists(self.tool("phase2_bench")):
            self.printed("phase2", [self.tool("phase2_bench")] + (["--quick"] if quick else []))

    def floors(self, reference):
        """Exit status: 1 where one is missed."""
        missed = 0
        os.environ["KERNBENCH_CACHE"] = "off"  # the two must not share derived meshes

        def judge(name, ratio, of, limit, met):
            nonlocal missed
            missed += not met
            self.put(name, ratio, f"of {of}, {limit}{'' if met else ': missed'}")

        binaries = (reference, self.tool("kernbench"))
        for name, floor in FLOORS.items():
            if self.wanted(name):
                ratio = self.ratio(name, [[b, *self.files(name)] for b in binaries], self.reading_s(name, binaries))
                judge(name, ratio, "the reference's rate", f"floor {floor}", ratio >= floor)
        name = "hash_and_bursts"
        if self.wanted(name):
            plain = self.data("default_plain.yaml", inputs.without_hash_and_bursts, DEFAULT)
            ratio = self.ratio(name, [[self.tool("kernbench"), *self.work("gemm_f16", topology, "cut_through")]
                                      for topology in (DEFAULT, plain)])
            judge(name, ratio, "the CPU time without them", f"at most {HASH_AND_BURSTS}", ratio <= HASH_AND_BURSTS)
        return 1 if missed else 0

    def peer(self, name, binary):
        p = peers.PEERS[name](binary, self.tool("kernbench"), self.args.data)
        print(f"bench: {name}", file=sys.stderr, flush=True)
        ratios = []
        for pair in range(self.args.runs):
            seconds, text = {}, {}
            for which in ("ours", "theirs") if pair % 2 == 0 else ("theirs", "ours"):
                seconds[which], _, out = run(getattr(p, which), True, p.environment)
                text[which] = out.decode(errors="replace")
            ratios.append(seconds["ours"] / seconds["theirs"])
        self.put(f"peer_{name}", statistics.median(ratios), "of the peer's CPU time")
        self.put(f"peer_{name}_simulated", peers.our_time_ns(text["ours"]), "ns")
        self.put(f"peer_{name}_simulated_by_peer", p.time_ns(text["theirs"]), "ns")

    def files(self, name):
        """What both binaries are given for a floor."""
        kind, rest = name.split("_", 1)
        if kind == "run":
            work, links = next((w, rest[len(w) + 1:]) for w in inputs.REAL_WORK if rest.startswith(w + "_"))
            return self.work(work, inputs.OLD_DEFAULT, links)
        mode, pes = rest.rsplit("_", 1)
        pes = int(pes)
        system = self.system(pes, mode)
        if kind == "storm":
            reads = {64: 20000, 1024: 1250, 4096: 312}[pes] // (8 if mode == "flit" else 1)
            return ["traffic", "--topology", system, "--trace",
                    self.data(f"storm_{pes}_{reads}.csv", inputs.storm, pes, reads)]
        count = 4 if pes == 64 else 1
        return ["pipeline", "--topology", system, "--work",
                self.data(f"work_{pes}_{count}.json", inputs.composites, pes, count)]

    def reading_s(self, name, binaries):
        """What each takes to read the large flat files."""
        if not name.endswith(("_1024", "_4096")):
            return (0, 0)
        topology = self.files(name)[1:3]
        return [statistics.median(run([b, "topology", *topology])[0] for _ in range(3)) for b in binaries]

    def ratio(self, name, commands, less=(0, 0)):
        """CPU time of the first to that of the second: the median over pairs of runs, each begun by the other one."""
        print(f"bench: {name}", file=sys.stderr, flush=True)
        ratios = []
        for pair in range(self.args.runs):
            seconds = [0, 0]
            for which in (0, 1) if pair % 2 == 0 else (1, 0):
                seconds[which] = run(commands[which])[0] - less[which]
            ratios.append(seconds[0] / seconds[1])
        return statistics.median(ratios)

    def one_read(self, path, topology):
        _, _, out = run([self.tool("kernbench"), "topology", "--topology", topology, "--format", "json"], keep=True)
        graph = json.loads(out)
        dma = next(n["id"] for n in graph["nodes"] if n["kind"] == "pe_dma")
        with open(path, "w") as f:
            f.write(f"id,issue_ns,initiator,op,address,bytes\n0,0,{dma},read,{graph['memories'][0]['base']},4096\n")

    def ratios(self):
        """Figures in units of the SystemC kernel's own prices, which compare across machines."""
        wait = self.figures.get("systemc_thread_wait_1000", {}).get("value")
        for name, figure in list(self.figures.items()):
            if wait and figure["unit"] in ("transactions/s", "tokens/s"):
                self.put(name + "_in_thread_waits", 1e9 / figure["value"] / wait, "waits")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of the built programs")
    parser.add_argument("--data", required=True, help="folder for generated inputs; they are kept")
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look in a minute")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--against", metavar="BINARY", help="kernbench of d3de8b2: check the floors")
    parser.add_argument("--peer", metavar="NAME=BINARY", action="append", default=[],
                        help=f"beside another simulator; NAME: {', '.join(peers.PEERS)} (repeatable)")
    parser.add_argument("--runs", type=int, help="of each figure; the median is printed (3; pairs: 5)")
    parser.add_argument("names", nargs="*", metavar="NAME-PREFIX", help="only figures whose names begin so")
    args = parser.parse_args()
    args.runs = args.runs or (5 if args.against or args.peer else 3)
    others = [p.partition("=")[::2] for p in args.peer]
    for name, binary in others:
        if name not in peers.PEERS or not os.path.isfile(binary):
            parser.error(f"--peer: found '{name}={binary}'; legal: NAME=BINARY with a NAME of {', '.join(peers.PEERS)} and an "
                         "existing file")
    bench = Bench(args)
    try:
        if args.against:
            sys.exit(bench.floors(args.against))
        for name, binary in others:
            bench.peer(name, binary)
        if not others:
            bench.all()
    except (Failed, ValueError) as e:
        sys.exit(f"bench: {e}")
    bench.ratios()
    if args.json:
        json.dump(bench.figures, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
