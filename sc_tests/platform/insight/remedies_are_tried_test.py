# SPDX-License-Identifier: Apache-2.0
"""`whatif --remedies`: the change that helps most stands first whatever kind it is, its time is that of the run with it
pasted, and free ones go before those that cost. Seeded bottlenecks: a window, a hash, a slow slice, a tile."""
import json
import shlex
import sys
import unittest

import cli_support

GEMM = ("run", "--topology", "small.yaml", "--kernel", "gemm")
FUSED = (*GEMM[:-1], "gemm_epilogue")  # gemm_2d has other tensors


class Remedies(cli_support.Cli):
    def found(self, *run):
        return json.loads(self.succeeds("whatif", "--remedies", "--format", "json", "--", *run))

    def time_of(self, *run):
        return json.loads(self.succeeds(*run, "--format", "json"))["sim_ns"]

    def first(self, found, change, saves, free):
        first = found["remedies"][0]
        self.assertEqual((first["change"], first["free"]), (change, free))
        self.assertGreater(first["saved"], saves)
        return first

    def test_a_window_is_named_though_a_rate_holds_most_of_the_path(self):
        run = (*GEMM, "--links", "cut_through", "--response", "routed", "--param", "m=512", "--param", "tile_m=64",
               "--param", "tile_n=64", "--set", "*.reserved_mb=0.05")
        found = self.found(*run)
        first = self.first(found, "--set '*.reserved_mb=0.1'", 0.3, False)
        self.assertEqual(self.time_of(*run, *shlex.split(first["change"])), first["ns"])
        self.assertEqual(found["tried"], found["same"] + found["slower"] + len(found["remedies"]) +
                         len(found["impossible"]))
        half = next(r for r in found["impossible"] if r["change"] == "--set '*.reserved_mb=0.025'")
        self.assertIn("reserved", half["fault"])  # a tile no longer fits

    def test_a_hash_that_costs_nothing_goes_before_twice_the_channels(self):
        run = (*GEMM, "--param", "dtype=bf16", "--param", "n=1024", "--param", "tile_n=32", "--set", "*.hash=none")
        self.first(self.found(*run), "--set '*.hash=xor'", 0.7, True)

    def test_a_slow_slice_is_made_like_the_others(self):
        found = self.found(*GEMM, "--set", "sip0.cube0.hbm_ctrl.pe0.pc_bw_gbs=1")
        self.first(found, "--set '*.pc_bw_gbs=32'", 0.3, False)

    def test_pes_without_a_slow_slice_are_free(self):
        _, insight = self.tried(*FUSED, "--set", "sip0.cube1.hbm_ctrl.pe2.pc_bw_gbs=1")
        first = insight["remedies"][0]
        self.assertEqual((first["change"], first["cost"]), ("--pes sip0.cube0.pe0,sip0.cube0.pe1,sip0.cube0.pe2,sip0.cube0.pe3", 0))

    def test_a_tile_is_free(self):
        run = ("run", "--topology", "small.yaml", "--kernel", "gemm", "--param", "m=64", "--param", "n=64", "--param",
               "tile_m=8", "--param", "tile_n=4")
        first = self.found(*run)["remedies"][0]
        self.assertEqual((first["change"], first["free"]), ("--param tile_n=8", True))

    def test_idle_pes_count(self):
        out = self.succeeds(*GEMM, "--param", "m=2", "--explain")
        self.assertIn("2 of 8 PEs have work, 2 of 8 HBM slices; the peaks are those of all.", out)
        peaks = json.loads(self.succeeds(*GEMM, "--param", "m=2", "--explain", "--format", "json"))["insight"]
        self.assertEqual((peaks["pes_end"]["pes"], peaks["pes_end"]["working"]), (8, 2))
        self.assertEqual(peaks["roofline"]["hbm_gbs_most"], 8 * 256)  # of all slices, not only of the used ones
        work = {w["of"]: w for w in peaks["work"]}
        for of in ("PEs, FLOP", "PEs, bytes by DMA", "HBM slices, bytes"):
            self.assertEqual((work[of]["all"], work[of]["without"], work[of]["least"]), (8, 6, 0), of)
            self.assertEqual(work[of]["gini"], 0.75)  # two of eight have everything, in equal parts
        self.assertGreater(work["links, bytes"]["without"], 200)
        self.assertNotIn("have work", self.succeeds(*GEMM, "--explain"))

    def explained(self, *run):
        return json.loads(self.succeeds(*run, "--explain=verify", "--format", "json"))

    def tried(self, *run):
        """The insight of --explain=verify; each remedy's time is that of the run with it pasted."""
        report = self.explained(*run)
        remedies = report["insight"]["remedies"]
        self.assertLessEqual(len(remedies), 60)
        for r in remedies:
            self.assertLessEqual(r["predicted_ns"], report["sim_ns"])
            if "ns" in r:
                self.assertLessEqual(r["ns"], 0.995 * report["sim_ns"])
            if "ns" in r and not any(o in r["change"] for o in ("--param", "--kernel", "--address", "--pes")):  # replaced
                self.assertEqual(self.time_of(*run, *shlex.split(r["change"])), r["ns"], r["change"])
        return report["sim_ns"], report["insight"]

    def test_verify_tries_what_the_causes_suggest_of_a_window(self):
        sim_ns, insight = self.tried(*GEMM, "--links", "cut_through", "--response", "routed", "--param", "m=512",
                                     "--param", "tile_m=64", "--param", "tile_n=64", "--set", "*.reserved_mb=0.05")
        self.assertIn("The run waits for the window of tiles in flight first", " ".join(insight["verdict"]))
        # More space is repeated until it has no further effect.
        self.assertRegex(" ".join(r["change"] for r in insight["remedies"]), r"--set '\*\.reserved_mb=0\.[124]'")
        self.assertLess(insight["remedies"][0]["ns"], 0.7 * sim_ns)

    def test_all_changes_are_tried_on_request(self):
        """More of them help than the sixty that are tried otherwise; the best is as good."""
        run = ("run", "--topology", "small.yaml", "--kernel", "vector_add", "--param", "n=65536")
        sim_ns, some = self.tried(*run)
        every = json.loads(self.succeeds(*run, "--explain=all", "--format", "json"))["insight"]["remedies"]
        self.assertLessEqual({r["change"] for r in some["remedies"]}, {r["change"] for r in every})
        self.assertGreater(len(every), len(some["remedies"]))
        self.assertEqual(every[0], some["remedies"][0])
        found = self.found(*run)["remedies"]
        self.assertGreaterEqual(len(every), len([r for r in found if r["ns"] <= 0.995 * sim_ns]) / 2)

    def test_verify_tries_a_hash_before_bandwidth(self):
        sim_ns, insight = self.tried(*FUSED, "--param", "dtype=bf16", "--param", "n=1024", "--param", "tile_n=32",
                                     "--set", "*.hash=none")
        first = insight["remedies"][0]
        self.assertEqual((first["change"], first["free"]), ("--set '*.hash=xor'", True))
        self.assertLess(first["ns"], 0.3 * sim_ns)
        evenly = next(u for u in insight["without_limit"] if u["limit"] == "channels")
        self.assertLess(abs(first["ns"] - evenly["ns"]), 0.1 * sim_ns)

    def test_verify_says_in_text_what_was_predicted_and_what_came(self):
        out = self.succeeds(*GEMM, "--explain=verify")
        self.assertRegex(out, r"\n  try +--\S+ .* predicted to save \d+\.\d %( \([a-z ]+\))?, simulated \d+\.\d %")
        self.assertNotIn("  try ", self.succeeds(*GEMM, "--explain"))

    def test_verify_proposes_a_launch_at_no_cost_and_no_less_work(self):
        run = ("run", "--topology", "small.yaml", "--kernel", "barrier")
        sim_ns, insight = self.tried(*run)
        first = insight["remedies"][0]
        self.assertEqual(first["change"], "--launch direct")
        self.assertLess(abs(first["predicted_ns"] - first["ns"]), 0.05 * sim_ns)
        self.assertFalse(any("times" in r["change"] for r in insight["remedies"]))

    def test_room_for_more_goes_before_a_rate_that_saves_as_much(self):
        run = ("run", "--topology", "one_cube.yaml", "--kernel", "all_reduce", "--param", "algorithm=ring", "--set", "*.slots=1",
               "--set", "*.slot_bytes=1024", "--param", "n=16384")
        sim_ns, insight = self.tried(*run)
        first, best = insight["remedies"][0], min(insight["remedies"], key=lambda r: r.get("ns", sim_ns))
        self.assertEqual(first["cost"], min(r["cost"] for r in insight["remedies"]
                                            if r.get("ns", sim_ns) <= best["ns"] + 0.05 * sim_ns))
        by = {r["change"].partition("=")[0]: r for r in insight["remedies"]}
        self.assertEqual({c: by[c]["cost"] for c in ("--set '*.slots", "--scale mesh")},
                         {"--set '*.slots": 1, "--scale mesh": 2})
        self.assertTrue(all(r["free"] == (r["cost"] == 0) for r in insight["remedies"]))

    FLITS = ("run", "--topology", "one_cube.yaml", "--links", "flit", "--response", "routed", "--set", "file:ns_per_mm=0.2",
             "--kernel", "all_reduce", "--param", "algorithm=ring", "--param", "n=16384")

    @staticmethod
    def of_buffers(insight):
        return [r for r in insight["remedies"] if any(a in r["change"] for a in ("buffer_flits=", "vcs=", "allocation="))]

    def test_room_in_buffers_is_named_and_tried(self):
        sim_ns, insight = self.tried(*self.FLITS, "--set", "*.buffer_flits=1")
        self.assertIn("The run waits for room in finite buffers first", " ".join(insight["verdict"]))
        without = next(u for u in insight["without_limit"] if u["limit"] == "buffers")
        unlimited = self.time_of(*self.FLITS, "--set", "*.buffer_flits=1024")
        self.assertLess(abs(without["ns"] - unlimited), 0.05 * sim_ns)
        first = insight["remedies"][0]
        self.assertRegex(first["change"], r"^--set '\S*r\*c\*\.buffer_flits=2'$")  # routers are the bottleneck
        self.assertEqual(first["cost"], 1)
        self.assertLess(first["ns"], 0.85 * sim_ns)
        for r in self.of_buffers(insight):
            self.assertTrue(r["about"], r)
        unmarked = [r for r in insight["remedies"] if "ns" in r and not r["about"] and abs(r["predicted_ns"] - r["ns"]) > 0.02 * r["ns"]]
        self.assertEqual(unmarked, [])

    def test_buffers_that_nothing_waits_for_are_no_remedy(self):
        for words in ((), ("--set", "*.buffer_flits=65536"), ("--set", "*.buffer_flits=1", "--set", "*.buffer_flits=65536")):
            _, insight = self.tried(*self.FLITS, *words)
            self.assertEqual(self.of_buffers(insight), [], words)
            self.assertNotIn("buffers", " ".join(insight["verdict"]))
            self.assertNotIn("buffers", [u["limit"] for u in insight["without_limit"]])

    def test_one_router_with_less_room_is_made_like_the_others(self):
        run = (*self.FLITS, "--set", "*.buffer_flits=16", "--set", "*.r0c1.buffer_flits=1")
        sim_ns, insight = self.tried(*run)
        named = [r for r in self.of_buffers(insight) if "r*c*.buffer_flits=16" in r["change"]]
        self.assertEqual([r["cost"] for r in named], [1], insight["remedies"])  # memory, like more of it for all
        self.assertEqual(named[0]["ns"], self.time_of(*self.FLITS, "--set", "*.buffer_flits=16"))

    def test_what_is_no_faster_never_stands_first(self):
        for kernel, params in (("vector_add", ("--param", "n=1048576")), ("gemm", ()), ("barrier", ())):
            sim_ns, insight = self.tried("run", "--topology", "one_cube.yaml", "--kernel", kernel, *params, "--launch", "direct")
            self.assertLess(insight["remedies"][0]["ns"], sim_ns)

    def test_a_slow_edge_is_made_like_the_others(self):
        run = (*FUSED, "--links", "cut_through", "--response", "routed", "--param", "m=256", "--param", "n=128")
        sim_ns, insight = self.tried(*run, "--set", "edge:sip0.cube0.hbm_ctrl.pe0->*.bw_gbs=4")
        first = insight["remedies"][0]
        self.assertEqual(first["change"], "--set 'edge:sip*.cube*.hbm_ctrl.pe*->sip*.cube*.r*c*.bw_gbs=256'")
        self.assertLess(first["ns"], 0.2 * sim_ns)
        self.assertFalse(any("->" in r["change"] for r in self.tried(*run)[1]["remedies"]))

    def test_pes_are_proposed_where_what_they_do_does_not_follow_from_their_number(self):
        vector = ("run", "--topology", "small.yaml", "--kernel", "vector_add", "--param", "n=65536")
        some = "sip0.cube0.pe1,sip0.cube1.pe0,sip0.cube1.pe3"
        for pes, others in (("all", ("leaders", "sip0.cube0.pe0,sip0.cube0.pe1,sip0.cube0.pe2,sip0.cube0.pe3")),
                            ("leaders", ("all",)), (some, ("all", "sip0.cube0.pe1")), ("sip0.cube1.pe2", ("all",))):
            found = self.found(*vector, "--pes", pes)
            changes = [r["change"] for r in found["remedies"]] + [f["change"] for f in found["impossible"]]
            named = [c.split()[1] for c in changes if c.startswith("--pes")]
            self.assertLessEqual(set(named), set(others))
            if pes != "all":
                self.assertEqual(found["remedies"][0]["change"], "--pes all")
        found = self.found("run", "--topology", "small.yaml", "--kernel", "all_reduce", "--pes", "leaders")
        self.assertFalse(any("--pes" in r["change"] for r in found["remedies"]))

    def test_fewer_pes_are_sent_fewer_copies(self):
        run = (*FUSED, "--links", "cut_through", "--response", "routed", "--param", "m=128", "--param", "n=64", "--transfer",
               "timed", "--set", "edge:io.bw_gbs=4")
        sim_ns, insight = self.tried(*run)
        first = insight["remedies"][0]
        self.assertRegex(first["change"], "^--scale pcie=")  # the planted edge, with a repeated factor
        leaders = next(r for r in insight["remedies"] if r["change"] == "--pes leaders")
        self.assertLess(leaders["ns"], 0.5 * sim_ns)
        self.assertLess(1.3 * (sim_ns - leaders["ns"]), sim_ns - first["ns"])

    def test_a_kernel_of_fewer_commands_is_tried(self):
        many = (*GEMM[:-1], "gemm_dot", "--param", "m=256", "--param", "n=64", "--param", "k=128", "--set", "*.pe_cpu.overhead_ns=200")
        _, insight = self.tried(*many)
        self.assertEqual(insight["remedies"][0]["change"], "--kernel gemm")
        _, insight = self.tried(*many[:-2], "--set", "*.pe_tcm.write_bw_gbs=16")  # destination of the sums
        self.assertIn("--kernel gemm", [r["change"] for r in insight["remedies"]])
        for kernel, others in (("gemm_epilogue", set()), ("tp_linear", set()), ("vector_add", set()), ("gemm", {"gemm_dot", "gemm_2d"})):
            found = self.found(*GEMM[:-1], kernel)
            named = [r["change"] for r in found["remedies"]] + [f["change"] for f in found["impossible"]]
            self.assertLessEqual({c.split()[1] for c in named if c.startswith("--kernel")}, others)

    def test_of_two_links_that_are_as_slow_one_that_is_faster_saves_nothing(self):
        ring = ("run", "--topology", "latency_model.yaml", "--kernel", "all_gather", "--param", "n=1024", "--param", "algorithm=ring",
                "--set", "*.slots=2", "--set", "*.slot_bytes=1024")
        for ucie in (64, 128, 512):  # mesh: 128
            sim_ns, insight = self.tried(*ring, "--set", f"edge:ucie.bw_gbs={ucie}")
            for r in insight["remedies"]:
                if "ns" in r and not r["about"]:
                    self.assertLess(abs(r["predicted_ns"] - r["ns"]), 0.02 * r["ns"], (ucie, r))

    def test_work_nearer_to_its_data_is_tried(self):
        for run, planted in ((("run", "--topology", "h100.yaml", "--kernel", "gather", "--param", "n=128", "--set",
                               "edge:mesh.bw_gbs=8"), "--scale mesh="),
                             (("run", "--topology", "latency_model.yaml", "--kernel", "embedding_gather", "--param", "tokens=512",
                               "--param", "dim=64", "--set", "*.hbm_ctrl.*.overhead_ns=250"), "--scale memory=")):
            sim_ns, insight = self.tried(*run)
            first = insight["remedies"][0]  # the planted value, with a repeated factor
            self.assertIn(planted, first["change"])
            leaders = next(r for r in insight["remedies"] if r["change"] == "--pes leaders")
            self.assertLess(leaders["ns"], 0.3 * sim_ns)
            self.assertLess(first["ns"], leaders["ns"] - 0.05 * sim_ns)

    def test_another_algorithm_is_tried(self):
        run = ("run", "--topology", "small.yaml", "--kernel", "all_reduce", "--param", "n=64")
        for given, other in (("ring", "auto"), ("auto", "best"), ("best", None)):
            _, insight = self.tried(*run, "--param", f"algorithm={given}")
            named = [r["change"] for r in insight["remedies"] if "algorithm" in r["change"]]
            self.assertEqual(named, [f"--param algorithm={other}"] if other else [])

    def test_verify_of_programs_and_with_other_outputs(self):
        report = self.explained("run", "--topology", "small.yaml", "--program", "tp_mlp", "--verify")
        self.assertTrue(all("--param" not in r["change"] for r in report["insight"]["remedies"]))

    def test_text_and_csv(self):
        text = self.succeeds("whatif", "--remedies", "--", *GEMM)
        self.assertRegex(text, r"tried +\d+ single changes: \d+ faster, \d+ slower, \d+ equal, \d+ not possible\n")
        csv = self.succeeds("whatif", "--remedies", "--format", "csv", "--", *GEMM).splitlines()
        self.assertEqual(csv[0], "saved,ns,free,change")
        self.assertGreater(len(csv), 5)

    def test_programs_and_messages_too(self):
        found = self.found("run", "--topology", "small.yaml", "--kernel", "all_reduce", "--param", "algorithm=tree",
                           "--param", "n=16384")
        self.assertTrue(any(r["change"].startswith("--param algorithm=") and r["free"] for r in found["remedies"]))
        found = self.found("run", "--topology", "small.yaml", "--program", "tp_mlp")
        self.assertFalse(any("--param" in r["change"] for r in found["remedies"]))

    def test_wrong_questions(self):
        self.refuses(*GEMM, "--explain=very", saying=["--explain", "very", "verify"], lines=1)
        self.refuses("whatif", "--remedies", "--", *GEMM, "--explain=very", saying=["--explain=very"], lines=1)
        for words, saying in ((("--remedies", "--part", "hbm", "--", *GEMM), "--part"),
                              (("--remedies", "--predict", "--", *GEMM), "--predict"),
                              (("--remedies", "--", "probe"), "run"),
                              (("--remedies", "--", *GEMM, "--oplog", "x.jsonl"), "--oplog"),
                              (("--remedies", "--", "run", "--topology", "small.yaml", "--kernel", "gem"), "gemm")):
            self.refuses("whatif", *words, saying=[saying], lines=1)
        status, _, err = self.run_cli("whatif", "--remedies", "--", *GEMM, "--max-time", "10")
        self.assertEqual(status, 1)
        self.assertIn("the run itself fails", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
