# SPDX-License-Identifier: Apache-2.0
"""What run and pipeline tell of messages between PEs: rows of their servers, why they stood still, each queue's account."""
import collections
import json
import tempfile

import cli_support
from cli_support import sample, topology


def run(*more, kernel="all_reduce", params=("algorithm=ring", "n=200", "slots=1", "slot_bytes=64")):
    return ["run", "--topology", topology("small.yaml"), "--kernel", kernel, *more,
            *(x for p in params for x in ("--param", p))]


class Messages(cli_support.Cli):
    def test_queues_and_rows_of_a_kernel_are_those_of_its_log(self):
        for links in ("ideal", "flit"):
            with self.subTest(links=links), tempfile.TemporaryDirectory() as folder:
                out = json.loads(self.succeeds(*run("--links", links, "--format", "json", "--oplog", f"{folder}/l.jsonl")))
                with open(f"{folder}/l.jsonl", encoding="utf-8") as file:
                    records = [json.loads(line) for line in file]
                copies = {r["op_id"]: r["params"] for r in records if r.get("op_name") == "ipcq_copy"}
                expected = collections.defaultdict(lambda: [0, 0, 0, 0.0])
                for r in records:
                    if r.get("op_name") != "ipcq_recv":
                        continue
                    copy, p = copies[r["dependency_ids"][0]], r["params"]
                    total = expected[copy["src_pe"], copy["peer_port"], p["dst_pe"], p["port"]]
                    for i, x in enumerate((p["segment"] == 0, 1, p["nbytes"], r["t_end"] - copy["send_ns"])):
                        total[i] += x
                self.assertEqual(len(expected), 8)
                self.assertEqual(len(out["queues"]), 8)
                for q in out["queues"]:
                    messages, segments, nbytes, ns = expected[q["from"], q["port"], q["to"], q["peer_port"]]
                    self.assertEqual((q["messages"], q["segments"], q["bytes"]), (messages, segments, nbytes))
                    self.assertAlmostEqual(sum(q["account"].values()) - q["account"]["call_ns"], ns, delta=1e-6 * segments)
                rows = {e["id"].partition(".pe_ipcq.")[2] for e in out["engines"] if ".pe_ipcq." in e["id"]}
                self.assertEqual(rows, {"wr", "rd"} if links == "flit" else {"in", "wr", "rd"})
                reasons = {reason for e in out["engines"] for reason in e["stalls"]}
                self.assertLessEqual({"no_slot_ns", "comm_busy_ns", "slot_writer_busy_ns", "no_message_ns",
                                      "slot_reader_busy_ns", "credit_ns"}, reasons)
                self.assertEqual("inbound_busy_ns" in reasons, links != "flit")

    def test_text_names_what_stood_still_most(self):
        text = self.succeeds(*run())
        self.assertRegex(text, r"messages stood still +mean % +most %\n")
        self.assertRegex(text, r"\n  no message +[\d.]+ +[\d.]+  sip0\.cube\d\.pe\d\.pe_ipcq\.rd\n")
        self.assertRegex(text, r"\n  no slot +[\d.]+ +[\d.]+  sip0\.cube\d\.pe\d\.pe_dma\.comm\n")

    def test_a_run_without_messages_tells_nothing_of_them(self):
        out = json.loads(self.succeeds(*run("--format", "json", kernel="gemm", params=())))
        self.assertNotIn("queues", out)
        self.assertFalse([e for e in out["engines"] if "pe_ipcq" in e["id"] or "no_slot_ns" in e["stalls"]])
        self.assertNotIn("stood still", self.succeeds(*run(kernel="gemm", params=())))

    def test_pipeline_prints_the_breakdown_of_segments(self):
        play = ["pipeline", "--topology", sample("programs_ideal", "topology.yaml"), "--work",
                sample("programs_ideal", "work.json")]
        plain, with_breakdown = (json.loads(self.succeeds(*play, "--format", "json", *more)) for more in ([], ["--breakdown"]))
        kept = 0
        for p in with_breakdown["programs"]:
            for c in p["calls"]:
                kept += len(c.pop("accounts", []))
        self.assertGreater(kept, 0)
        self.assertEqual(plain, with_breakdown)
        self.assertRegex(self.succeeds(*play, "--breakdown"), r"\n    segment 0: call \d+\.\d{3}, ")


if __name__ == "__main__":
    cli_support.main()
