# SPDX-License-Identifier: Apache-2.0
"""Does a plug-in's engine of a kind of its own take part, in all that tells of engines, from its one file? And is it told
in one line where it cannot?"""
import json
import os
import pathlib
import tempfile

import cli_support
from cli_support import build_plugin

ROOT = pathlib.Path(os.environ["KERNBENCH_SOURCE"])
EXAMPLE = ROOT / "examples" / "custom_engine"

# Engines that claim stages or ops of another engine of the PE.
CLAIMS = """
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/compute_engine.h"
using namespace kernbench;
KERNBENCH_PLUGIN("claims")

struct Claim : ComputeEngine {
  struct Parameters : ComputeParameters {
    template <class List>
    static void describe(List& list) { BlockParameters::describe(list); }
  };
  Claim(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p, Stage stage)
      : ComputeEngine(name, config, checked(p), stage) {}
  Compute compute(const PeItem&) override { return {1, 0, 0}; }
};
struct SecondGemm : Claim {
  SecondGemm(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : Claim(name, config, p, Stage::gemm) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("custom.second_gemm", "pe_second_gemm", "").engine({{{Stage::gemm, StageWork::macs}}});
  }
};
KERNBENCH_REGISTER_COMPONENT(SecondGemm)

const Stage kAdd = add_stage("ADD", OpKind::math);
struct Adder : Claim {
  Adder(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : Claim(name, config, p, kAdd) {}
  static ImplSpec spec() {
    EngineFacts facts;
    facts.stages = {{kAdd, StageWork::elements}};
    facts.ops = {"add", "sum"};
    return spec_of<Parameters>("custom.adder", "pe_adder", "").engine(facts);
  }
};
KERNBENCH_REGISTER_COMPONENT(Adder)
"""
ANOTHER_WORK = CLAIMS.replace("StageWork::macs", "StageWork::elements").replace('"claims"', '"another work"')
ADDER = "id: pe0.pe_adder, kind: pe_adder, impl: custom.adder"
KERNEL = ("--kernel", "rmsnorm", "--param", "rows=64")


class OneFile(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.plugin = str(cls.folder / "reduce.so")
        build_plugin(str(EXAMPLE / "reduce.cpp"), cls.plugin)
        cls.yaml = (EXAMPLE / "system.yaml").read_text()

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def build(self, name, code):
        library = str(self.folder / (name + ".so"))
        build_plugin(self.file(name + ".cpp", code), library)
        return library

    def yaml_with(self, node):
        """The example's system and one node more."""
        self.assertEqual(self.yaml.count("\nlinks:"), 1)
        return self.yaml.replace("\nlinks:", f"\n- {{{node}}}\nlinks:")

    def run_with(self, yaml, *arguments, plugins=()):
        loaded = [x for p in (self.plugin, *plugins) for x in ("--plugin", p)]
        return self.succeeds("run", *loaded, "--topology", self.file("m.yaml", yaml), *KERNEL, *arguments)

    def engines(self, yaml, **options):
        report = json.loads(self.run_with(yaml, "--verify", "--format", "json", **options))
        return {e["id"]: e for e in report["engines"]}

    def test_only_its_own_file_names_it(self):
        for top in ("phase2", "kernel_api", "systemc_models", "platform", "topologies"):
            for file in (ROOT / top).rglob("*"):
                if file.is_file():
                    self.assertNotIn(b"pe_reduce", file.read_bytes(), file)
        sources = [f.name for f in EXAMPLE.iterdir() if f.suffix in (".cpp", ".h")]
        self.assertEqual(sources, ["reduce.cpp"])

    def test_sums_go_to_it_and_results_stay_right(self):
        without = self.engines("".join(l for l in self.yaml.splitlines(True) if "pe_reduce" not in l))
        here = self.engines(self.yaml)
        moved = here["pe0.pe_reduce"]["ops"]
        self.assertGreater(moved, 0)
        self.assertNotIn("pe0.pe_reduce", without)
        self.assertEqual(here["pe0.pe_math"]["ops"] + moved, without["pe0.pe_math"]["ops"])
        # Each element counts once, regardless of where it is added.
        self.assertEqual(here["pe0.pe_math"]["flops"] + here["pe0.pe_reduce"]["flops"], without["pe0.pe_math"]["flops"])

    def test_logs_traces_waveforms_and_recordings_show_it(self):
        names = {k: str(self.folder / f"r.{k}") for k in ("jsonl", "json", "vcd", "ftr", "html")}
        self.run_with(self.yaml, "--oplog", names["jsonl"], "--trace", names["json"], "--vcd", names["vcd"], "--ftr",
                      names["ftr"], "--report", names["html"])
        ops = self.engines(self.yaml)["pe0.pe_reduce"]["ops"]
        with open(names["jsonl"]) as f:
            records = [json.loads(line) for line in f]
        sums = [r for r in records if r.get("component_id") == "pe0.pe_reduce"]
        self.assertEqual(len(sums), ops)
        self.assertEqual({r["op_name"] for r in sums}, {"sum"})
        with open(names["json"]) as f:
            trace = json.load(f)
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        track = {e["tid"] for e in events if e.get("name") == "thread_name" and e["args"]["name"].endswith("REDUCE")}
        self.assertEqual(len(track), 1)
        self.assertEqual(sum(e.get("cat") == "service" and e.get("tid") in track for e in events), ops)
        vcd = pathlib.Path(names["vcd"]).read_text()
        self.assertIn("pe_reduce", vcd)
        self.assertIn("REDUCE", pathlib.Path(names["html"]).read_text())
        self.assertIn(b"pe_reduce", pathlib.Path(names["ftr"]).read_bytes())

    def test_explain_blames_what_it_takes(self):
        slow = self.yaml.replace("lanes: 256", "lanes: 1")
        insight = json.loads(self.run_with(slow, "--explain", "--format", "json"))["insight"]
        held = sum(s["to_ns"] - s["from_ns"] for s in insight["critical_path"] if s["at"] == "pe0.pe_reduce")
        # All of its time is on the critical path, because the following ops need the sums.
        self.assertAlmostEqual(held, self.engines(slow)["pe0.pe_reduce"]["busy_ns"], places=3)
        self.assertGreater(held, 1000)
        self.assertIn("at pe0.pe_reduce", insight["verdict"][0])

    def test_beside_another_engine_of_a_users_own(self):
        rest = self.build("rest", CLAIMS.replace('"add", "sum"', '"add", "fma"'))  # the kernel has fma, but no add
        alone = self.engines(self.yaml)
        found = self.engines(self.yaml_with(ADDER), plugins=[rest])
        moved = found["pe0.pe_adder"]["ops"]
        self.assertGreater(moved, 0)
        self.assertEqual(found["pe0.pe_math"]["ops"] + moved, alone["pe0.pe_math"]["ops"])
        self.assertGreater(alone["pe0.pe_reduce"]["ops"], 0)
        self.assertEqual(found["pe0.pe_reduce"]["ops"], alone["pe0.pe_reduce"]["ops"])

    def refuses_run(self, yaml, plugins, *saying, options=()):
        loaded = [x for p in plugins for x in ("--plugin", p)]
        self.refuses("run", *loaded, "--topology", self.file("m.yaml", yaml), *KERNEL, *options, saying=saying, lines=1)

    def test_two_engines_of_one_stage_are_told(self):
        claims = self.build("claims", CLAIMS)
        yaml = self.yaml_with("id: pe0.second, kind: pe_second_gemm, impl: custom.second_gemm")
        self.refuses_run(yaml, [self.plugin, claims],
                         "pe0.second: serves GEMM, as does pe0.pe_gemm; legal: one engine of a PE")

    def test_two_engines_of_one_op_are_told(self):
        claims = self.build("claims", CLAIMS)
        self.refuses_run(self.yaml_with(ADDER), [self.plugin, claims], "takes op sum, which another engine of the PE takes")

    def test_a_stage_is_one_kind_of_work(self):
        another = self.build("another", ANOTHER_WORK)
        self.refuses_run(self.yaml, [self.plugin, another], "kind pe_second_gemm", "legal: the same")

    def test_one_that_nobody_leads_to_is_told(self):
        links = "".join(f"- {{from: pe0.{a}, to: pe0.{b}, distance_mm: 0, bidirectional: false}}\n" for a, b in (
            ("pe_cpu", "pe_scheduler"), *(("pe_scheduler", e) for e in ("pe_dma", "pe_fetch_store", "pe_gemm", "pe_math")),
            ("pe_dma", "pe_fetch_store"), *(("pe_fetch_store", e) for e in ("pe_gemm", "pe_math", "pe_tcm", "pe_dma")),
            ("pe_gemm", "pe_math"), ("pe_gemm", "pe_fetch_store"), ("pe_math", "pe_fetch_store")))
        self.refuses_run(self.yaml.replace("memories:", links + "memories:"), [self.plugin],
                         "found no edge 'pe0.pe_scheduler -> pe0.pe_reduce'")

    def test_kernels_need_pe_math_all_the_same(self):
        yaml = "".join(l for l in self.yaml.splitlines(True) if "pe0.pe_math" not in l)
        self.assertNotEqual(yaml, self.yaml)
        self.refuses_run(yaml, [self.plugin], "the topology has no PE with all blocks that a kernel needs")
        self.refuses_run(yaml, [self.plugin], "pe0 has no pe_math", options=("--pes", "pe0"))


if __name__ == "__main__":
    import unittest
    unittest.main()
