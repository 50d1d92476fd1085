# SPDX-License-Identifier: Apache-2.0
"""Do blocks of a plug-in take part that are of kinds of their own, and log messages of types of their own?"""
import csv
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile

import cli_support
from cli_support import KERNBENCH

COMPILER = os.environ["KERNBENCH_CXX"]
INCLUDE = os.environ["KERNBENCH_INCLUDE"]
# A router, a memory and an initiator of kinds that are new to kernbench; and an HBM slice of a known kind, which logs
# its actions in addition to transactions.
BLOCKS = """
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/host/m_cpu.h"
#include "kernbench/systemc_models/memory/hbm_ctrl.h"
using namespace kernbench;
KERNBENCH_PLUGIN("own kinds and messages")

struct RingStop : Router {
  using Router::Router;
  static ImplSpec spec() { return spec_of<Parameters>("custom.ring_stop", "ring_stop", "").transit(); }
};
KERNBENCH_REGISTER_COMPONENT(RingStop)

struct Scratchpad : Sram {
  Scratchpad(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : Sram(name, config, parameters) {
    serve_flit_by_flit();
  }
  static ImplSpec spec() { return spec_of<Parameters>("custom.scratchpad", "scratchpad", "").memory("sram"); }
};
KERNBENCH_REGISTER_COMPONENT(Scratchpad)

struct Sequencer : MCpu {
  using MCpu::MCpu;
  static ImplSpec spec() { return spec_of<Parameters>("custom.sequencer", "sequencer", "").initiator(); }
};
KERNBENCH_REGISTER_COMPONENT(Sequencer)

struct PageOpened {  // of these every second one is worth a record
  bool data_op;
  uint64_t address;
  double row;
  void describe(OpRecord& r) const { r.own("page opened").with("address", address).with("row", row).with("why", "miss"); }
};
struct Refreshed {  // of these each is
  static constexpr bool data_op = true;
  int bank;
  void describe(OpRecord& r) const { r.own("composite_refresh").with("bank", bank).with("submit_ns", "never"); }
};

struct TalkingHbm : HbmCtrl {
  using HbmCtrl::HbmCtrl;
  static ImplSpec spec() { return spec_of<Parameters>("custom.talking_hbm", "hbm_ctrl", ""); }
  int count = 0;
  void served(const FabricTransaction& x, const Service& s) override {
    const PageOpened page{count % 2 == 0, x.address, 0.5};
    end_service(page, begin_service(page), x.time_ns, s.finish_ns);
    const Refreshed refresh{-++count};
    end_service(refresh, begin_service(refresh), s.finish_ns, s.finish_ns);
  }
};
KERNBENCH_REGISTER_COMPONENT(TalkingHbm)
"""
# The same machine with built-in kinds and with the plug-in's.
FLAT = """timing: {links: %s, response: routed, header_bytes: 16}
nodes:
- {id: a, kind: INITIATOR, attrs: {overhead_ns: 2}}
- {id: b, kind: INITIATOR}
- {id: r, kind: ROUTER, attrs: {overhead_ns: 1}}
- {id: m, kind: MEMORY, attrs: {overhead_ns: 3}}
links:
- {from: a, to: r, distance_mm: 0.5, bw_gbs: 256}
- {from: b, to: r, distance_mm: 1.5, bw_gbs: 128}
- {from: r, to: m, distance_mm: 2.5, bw_gbs: 64}
memories:
- {node: m, space: sram, base: 0, size: 65536}
"""
OURS = {"INITIATOR": "m_cpu", "ROUTER": "router", "MEMORY": "sram"}
THEIRS = {k: f"{kind}, impl: custom.{kind}" for k, kind in
          (("INITIATOR", "sequencer"), ("ROUTER", "ring_stop"), ("MEMORY", "scratchpad"))}
TRACE = "id,issue_ns,initiator,op,address,bytes\n" + "".join(
    f"{i},{3 * i},{'ab'[i % 2]},{('read', 'write')[i % 3 == 0]},{256 * i},{64 * (1 + i % 5)}\n" for i in range(40))

ONE_PE = """timing: {links: cut_through, response: routed, header_bytes: 16}
nodes:
- {id: pe.pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}
- {id: pe.pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1}}
- {id: pe.pe_dma, kind: pe_dma, attrs: {rd_engines: 1, wr_engines: 1, queue_depth: 2}}
- {id: pe.pe_fetch_store, kind: pe_fetch_store}
- {id: pe.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 4096, freq_ghz: 1, rates: {f32: 0.5}}}
- {id: pe.pe_math, kind: pe_math, attrs: {lanes: 128, freq_ghz: 1, cycles: {exp: 4}}}
- {id: pe.pe_tcm, kind: pe_tcm, attrs: {size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512}}
- {id: hbm, kind: hbm_ctrl, impl: IMPL}
links:
- {from: pe.pe_dma, to: hbm, distance_mm: 0.5, bw_gbs: 256}
memories:
- {node: hbm, space: hbm, base: 0, size: 1073741824}
"""
RUN = ("run", "--kernel", "gemm", "--param", "m=64", "--param", "n=64", "--param", "k=64")


class Plugins(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.plugin = cls.build(BLOCKS, "blocks")

    @classmethod
    def build(cls, code, name):
        source, library = cls.folder / f"{name}.cpp", cls.folder / f"{name}.so"
        source.write_text(code)
        subprocess.run([COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I", INCLUDE, source, "-o",
                        library], check=True)
        return library

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def flat(self, kinds, links):
        text = FLAT % links
        for word, kind in kinds.items():
            text = text.replace(word, kind)
        return self.file("flat.yaml", text)

    def test_kinds_of_their_own_have_the_times_of_those_that_they_are_like(self):
        trace = self.file("trace.csv", TRACE)
        for links in ("ideal", "cut_through", "flit"):
            ours = self.succeeds("traffic", "--topology", self.flat(OURS, links), "--trace", trace)
            theirs = self.succeeds("traffic", "--topology", self.flat(THEIRS, links), "--trace", trace, "--plugin",
                                   self.plugin)
            self.assertEqual(theirs, ours)
            self.assertEqual(len(list(csv.DictReader(io.StringIO(ours)))), 40)
        self.refuses("topology", self.flat(THEIRS, "ideal"), saying=["unknown kind 'sequencer'"])

    def test_one_that_disagrees_about_a_kind_is_refused(self):
        code = """
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/hbm_ctrl.h"
using namespace kernbench;
KERNBENCH_PLUGIN("disagrees")
struct Odd : Sram {
  using Sram::Sram;
  static ImplSpec spec() { return spec_of<Parameters>("custom.odd", "sram", "").memory("hbm"); }
};
KERNBENCH_REGISTER_COMPONENT(Odd)
"""
        self.refuses("list", "components", "--plugin", self.build(code, "odd"), lines=1,
                     saying=["kind sram: builtin.sram says memory sram; custom.odd says memory hbm; legal: the same"])

    def records(self, log):
        if log.suffix == ".jsonl":
            records = [json.loads(line) for line in log.read_text().splitlines()]
            return [r for r in records if r["op_id"] > 0]
        with sqlite3.connect(log) as db:
            db.row_factory = sqlite3.Row
            records = [dict(r) for r in db.execute("SELECT * FROM ops")]
        return [{**r, "params": json.loads(r["params"]), "dependency_ids": json.loads(r["dependency_ids"])} for r in records]

    def test_messages_of_their_own_are_logged_and_skipped_by_replay(self):
        talking = self.file("talking.yaml", ONE_PE.replace("IMPL", "custom.talking_hbm"))
        silent = self.file("silent.yaml", ONE_PE.replace("IMPL", "builtin.hbm_ctrl"))
        found = {}
        for form in ("jsonl", "sqlite"):
            log, plain = self.folder / f"talking.{form}", self.folder / f"silent.{form}"
            dump, again = self.folder / "run.npy", self.folder / "replay.npy"
            self.succeeds(*RUN, "--topology", talking, "--plugin", self.plugin, "--oplog", log, "--dump", f"c={dump}", "--verify")
            self.succeeds(*RUN, "--topology", silent, "--oplog", plain)
            found[form] = self.records(log)
            pages = [r for r in found[form] if r["op_name"] == "page opened"]
            refreshes = sorted((r for r in found[form] if r["op_name"] == "composite_refresh"), key=lambda r: r["op_id"])
            self.assertEqual([r["params"] for r in refreshes],
                             [{"bank": -1 - i, "submit_ns": "never"} for i in range(len(refreshes))])
            self.assertEqual(len(pages), (len(refreshes) + 1) // 2)
            self.assertGreater(len(pages), 2)
            for r in pages + refreshes:
                self.assertEqual((r["op_kind"], r["component_id"], r["dependency_ids"]), ("unknown", "hbm", []))
            self.assertEqual({"address", "row", "why"}, set(pages[0]["params"]))
            self.assertEqual((pages[0]["params"]["row"], pages[0]["params"]["why"]), (0.5, "miss"))
            # All others are unchanged except for their op ids.
            without_id = lambda r: json.dumps({k: v for k, v in r.items() if k not in ("op_id",)}, sort_keys=True)
            others = [without_id(r) for r in found[form] if r["op_kind"] != "unknown" and "composite_op_id" not in r["params"]]
            self.assertEqual(sorted(others), sorted(without_id(r) for r in self.records(plain)
                                                    if "composite_op_id" not in r["params"]))
            for program in (KERNBENCH, KERNBENCH + "-replay"):
                again.unlink(missing_ok=True)
                done = subprocess.run([program, "replay", "--oplog", log, "--dump", f"c={again}", "--debug-verify"],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(again.read_bytes(), dump.read_bytes())
        by_id = lambda records: sorted(records, key=lambda r: r["op_id"])
        self.assertEqual(by_id(found["jsonl"]), by_id(found["sqlite"]))


if __name__ == "__main__":
    cli_support.main()
