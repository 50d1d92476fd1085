# SPDX-License-Identifier: Apache-2.0
"""Is the critical path of a run exact? Every moment of every kernel, system and link mode is explained by what it waited
for, the blame sums to the run's time, and on a machine small enough for arithmetic path and verdict are what they must be."""
import json
import os
import tempfile

import cli_support
from cli_support import topology

MODES = (("ideal", "ideal"), ("ideal", "routed"), ("cut_through", "ideal"), ("cut_through", "routed"), ("flit", "routed"))
KERNELS = ("gemm", "gemm_dot", "gemm_epilogue", "vector_add", "softmax", "rmsnorm", "attention", "mlp", "embedding",
           "newton_sqrt", "gather", "all_reduce", "all_reduce algorithm=ring slot_bytes=256", "all_reduce algorithm=tree",
           "all_reduce tier=hbm algorithm=halving", "all_gather", "all_to_all", "broadcast", "reduce", "sendrecv", "barrier",
           "reduce_scatter", "tp_linear", "tp_gemm_all_reduce", "assemble --address virtual", "gemm --transfer timed", "gemm --address virtual",
           "gemm --address virtual --transfer timed", "gemm --launch direct", "@tp_mlp", "@tp_attention", "@tp_embedding",
           "@all_reduce_loop", "@tp_mlp --transfer timed")


class Exactness(cli_support.Cli):
    def explained(self, *arguments):
        return json.loads(self.succeeds("run", *arguments, "--explain", "--format", "json"))

    def holds(self, run):
        insight, sim_ns = run["insight"], run["sim_ns"]
        causes = insight["causes"]
        self.assertEqual(causes["contradictions"], 0)
        self.assertLess(causes["unexplained_ns"], 1e-3)
        for name in ("components", "lines", "ranks", "launches"):
            self.assertLess(abs(sum(s["ns"] for s in insight[name]) / sim_ns - 1), 1e-6, name)
        self.assertLess(abs(sum(insight["blame_ns"].values()) / sim_ns - 1), 1e-6)
        self.assertEqual(insight["blame_ns"]["other"], 0)
        path, at = insight["critical_path"], 0
        for step in path:
            self.assertLess(abs(step["from_ns"] - at), 1e-6 * sim_ns)
            self.assertGreater(step["to_ns"], step["from_ns"])
            at = step["to_ns"]
        self.assertLess(abs(at / sim_ns - 1), 1e-6)
        return causes["moments"]

    def of_kernel(self, words, *more):
        name, *rest = words.split()
        arguments = ["--program", name[1:]] if name.startswith("@") else ["--kernel", name]
        while rest and not rest[0].startswith("--"):
            arguments += ["--param", rest.pop(0)]
        return self.explained(*arguments, *rest, *more)

    def test_all_kernels_in_all_link_modes(self):
        for links, response in MODES:
            for kernel in KERNELS:
                with self.subTest(kernel=kernel, links=links, response=response):
                    run = self.of_kernel(kernel, "--topology", topology("small.yaml"), "--links", links, "--response",
                                         response)
                    self.holds(run)

    def test_other_systems(self):
        for system, kernels in (("one_cube.yaml", ("gemm", "attention", "all_reduce")),
                                ("latency_model.yaml", ("gemm", "all_reduce", "gemm --transfer timed")),
                                ("six_sip_torus.yaml", ("all_reduce", "@tp_mlp")), ("default.yaml", ("gemm",))):
            for links, response in (MODES[0], MODES[3], MODES[4]):
                for kernel in kernels:
                    with self.subTest(system=system, kernel=kernel, links=links):
                        self.holds(self.of_kernel(kernel, "--topology", topology(system), "--links", links, "--response",
                                                  response))

    def test_a_dram(self):
        """It answers late and out of order, and reports the causes of each access's wait."""
        dram = ["--topology", topology("small.yaml"), "--set", "file:cube.hbm={slice_mb: 6144, impl: builtin.hbm_dram}"]
        for links, response in MODES:
            for kernel in ("gemm", "attention", "all_reduce tier=hbm", "vector_add --address virtual", "gemm --transfer timed"):
                for policy in ("all_bank", "none"):
                    with self.subTest(kernel=kernel, links=links, response=response, refresh=policy):
                        self.holds(self.of_kernel(kernel, *dram, "--links", links, "--response", response, "--set",
                                                  f"*.refresh={policy}"))

    def test_waits_for_room_have_a_name(self):
        for kernel in ("gemm", "attention", "all_reduce"):
            with self.subTest(kernel=kernel):
                options = ["--topology", topology("small.yaml"), "--links", "flit"]
                plain = self.of_kernel(kernel, *options)
                tight = self.of_kernel(kernel, *options, "--set", "*.buffer_flits=1")
                self.holds(tight)
                self.assertEqual(plain["insight"]["blame_ns"]["buffers"], 0)
                self.assertGreater(tight["insight"]["blame_ns"]["buffers"], 0)

    def test_twice_the_same(self):
        once, again = (self.explained("--topology", topology("small.yaml"), "--kernel", "mlp") for _ in range(2))
        self.assertEqual(once["insight"], again["insight"])


class ByArithmetic(cli_support.Cli):
    """One tile of gemm, 32 x 32 x 32 in f32, on one PE: everything happens one after the other."""
    USUAL = {"launch": 1, "pe_cpu": 2, "scheduler": 1, "dma": 1, "router": 1, "hbm": 1, "bw": 256, "pe_bw": 256, "fs": 1,
             "tcm": 512, "gemm": 1, "macs": 1024, "mm": 100}

    def system(self, **changed):
        v = {**self.USUAL, **changed}
        pe = "sip0.cube0.pe0."
        nodes = [("sip0.io0.pcie_ep", "pcie_ep", {"overhead_ns": v["launch"]}),
                 ("sip0.io0.io_cpu", "io_cpu", {"overhead_ns": v["launch"]}),
                 ("sip0.cube0.m_cpu", "m_cpu", {"overhead_ns": v["launch"]}),
                 ("sip0.cube0.r", "router", {"overhead_ns": v["router"]}),
                 (pe + "pe_cpu", "pe_cpu", {"overhead_ns": v["pe_cpu"]}),
                 (pe + "pe_scheduler", "pe_scheduler", {"overhead_ns": v["scheduler"]}),
                 (pe + "pe_dma", "pe_dma", {"overhead_ns": v["dma"]}),
                 (pe + "pe_fetch_store", "pe_fetch_store", {"overhead_ns": v["fs"]}),
                 (pe + "pe_gemm", "pe_gemm", {"overhead_ns": v["gemm"], "macs_per_cycle": v["macs"], "freq_ghz": 1}),
                 (pe + "pe_math", "pe_math", {"lanes": 16, "freq_ghz": 1}),
                 (pe + "pe_tcm", "pe_tcm", {"size_mb": 4, "reserved_mb": 1, "read_bw_gbs": v["tcm"],
                                            "write_bw_gbs": v["tcm"]})]
        hbm = {"id": "sip0.cube0.hbm", "kind": "hbm_ctrl", "attrs": {"overhead_ns": v["hbm"]}}
        if "channels" in v:
            hbm["impl"] = "builtin.hbm_pc"
            hbm["attrs"].update(pseudo_channels=v["channels"], interleave_bytes=256, pc_bw_gbs=v["pc_bw"])
        links = [("sip0.io0.pcie_ep", "sip0.io0.io_cpu", 0, None), ("sip0.io0.io_cpu", "sip0.cube0.m_cpu", 0, None),
                 ("sip0.cube0.m_cpu", pe + "pe_cpu", 0, None),
                 (pe + "pe_dma", "sip0.cube0.r", v["mm"], v["pe_bw"]), ("sip0.cube0.r", "sip0.cube0.hbm", v["mm"], v["bw"])]
        return v, {"ns_per_mm": 0.01, "nodes": [dict(id=i, kind=k, attrs=a) for i, k, a in nodes] + [hbm],
                   "links": [{"from": a, "to": b, "distance_mm": mm, **({"bw_gbs": bw} if bw else {})}
                             for a, b, mm, bw in links],
                   "memories": [{"node": "sip0.cube0.hbm", "space": "hbm", "base": 0, "size": 1 << 24}]}

    def check(self, bound_by, bound, **changed):
        v, system = self.system(**changed)
        n, size = 32, 32 * 32 * 4
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "flat.yaml")
            with open(file, "w") as out:
                json.dump(system, out)  # JSON is YAML
            run = json.loads(self.succeeds("run", "--topology", file, "--kernel", "gemm", "--launch", "host", "--explain",
                                           "--format", "json", *(w for p in ("m", "n", "k") for w in ("--param", f"{p}={n}")),
                                           *(w for p in "mnk" for w in ("--param", f"tile_{p}={n}"))))
        # Two reads and a write: their overheads, wires, and the serialization latency of the slowest link.
        expected = {"launch": 6 * v["launch"], "pe_cpu": v["pe_cpu"], "scheduler": v["scheduler"],
                    "engines": 3 * v["dma"] + 2 * v["fs"] + v["gemm"], "routers": 3 * v["router"],
                    "memory": 3 * v["hbm"], "wires": 3 * 2 * v["mm"] * 0.01, "gemm": n ** 3 / v["macs"],
                    "tcm": 3 * size / v["tcm"]}
        if "channels" in v:
            expected["hbm"] = 3 * size / v["channels"] / v["pc_bw"]
        else:
            expected["hbm" if v["bw"] < v["pe_bw"] else "link"] = 3 * size / min(v["bw"], v["pe_bw"])
        insight = run["insight"]
        blame = {k: ns for k, ns in insight["blame_ns"].items() if ns > 0}
        self.assertEqual(set(blame), set(expected))
        for part, ns in expected.items():
            self.assertAlmostEqual(blame[part], ns, 6, part)
        self.assertAlmostEqual(run["sim_ns"], sum(expected.values()), 6)
        self.assertEqual((insight["bound_by"], insight["bound"]), (bound_by, bound))
        # On a single path, a part that is twice as fast saves half of its blame.
        for part, ns in expected.items():
            self.assertAlmostEqual(run["sim_ns"] - insight["what_if"][part]["faster_ns"], ns / 2, 6, part)
            self.assertAlmostEqual(insight["what_if"][part]["slower_ns"] - run["sim_ns"], ns, 6, part)

    def test_compute(self):
        self.check(["gemm"], "compute", macs=8, pe_bw=512)

    def test_link(self):
        self.check(["link"], "bandwidth", pe_bw=8)

    def test_channels(self):
        self.check(["hbm"], "bandwidth", channels=4, pc_bw=2, bw=1024, pe_bw=1024)

    def test_launch(self):
        self.check(["launch"], "launch", launch=500, pe_bw=512)

    def test_dependencies(self):
        self.check(["routers"], "dependencies", router=300, pe_bw=512)


if __name__ == "__main__":
    cli_support.main()
