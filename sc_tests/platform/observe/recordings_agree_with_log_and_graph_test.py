# SPDX-License-Identifier: Apache-2.0
"""Does an FTR file say what the op log, the graph and the report say, hop by hop, and is it the same every time?

It is read by a reader of its own (ftr_reader.py); ways and times of hops are those of the independent model of the
graph (sc_tests/oracle).
"""
import collections
import csv
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import cli_support
from cli_support import KERNBENCH, sample, topology
from ftr_reader import Ftr, femtoseconds

sys.path.insert(0, os.path.join(os.environ["KERNBENCH_SOURCE"], "sc_tests", "oracle"))
from model_graph import INF, Graph  # noqa: E402

GEMM = ("run", "--kernel", "gemm", "--topology", topology("small.yaml"))
SMALL_GEMM = (*GEMM, "--param", "m=96", "--param", "n=64", "--param", "k=64")
REDUCE = ("run", "--kernel", "all_reduce", "--topology", topology("small.yaml"), "--param", "algorithm=ring", "--param",
          "n=200", "--param", "slots=1", "--param", "slot_bytes=64")
MODES = (("--links", "ideal", "--response", "ideal"), ("--links", "ideal", "--response", "routed"),
         ("--links", "cut_through", "--response", "ideal"), ("--links", "cut_through", "--response", "routed"),
         ("--links", "flit"))
ACCOUNT = ("overhead_fs", "wire_fs", "drain_fs", "store_forward_fs", "link_wait_fs", "memory_wait_fs")
FIRST_HOP_ID = 1 << 52


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Recordings(cli_support.FolderCli):
    def recorded(self, *arguments, name="t.ftr"):
        """The CLI's stdout, and what it recorded."""
        file = f"{self.folder}/{name}"
        out = self.succeeds(*arguments, "--ftr", file)
        ftr = Ftr(read(file))
        self.assertTrue(ftr.complete)
        self.assertEqual(ftr.unit, -15)
        self.assertFalse(os.path.exists(file + ".part"))
        self.assertFalse([t for t in ftr.transactions.values() if "unfinished" in t.attributes])
        return out, ftr

    def log(self, file="log.jsonl"):
        records = [json.loads(x) for x in read(f"{self.folder}/{file}").decode().splitlines()]
        return [r for r in records if r["op_id"] > 0]

    def graph(self, *topology_arguments):
        return Graph(json.loads(self.succeeds("topology", *topology_arguments, "--format", "json")))

    def near(self, found, expected, what, slack=1):
        """Equal up to the rounding of each to whole fs."""
        self.assertLessEqual(abs(found - expected), slack, what)

    # ---- the op log

    def agrees_with_log(self, ftr, records):
        """Every op is one transaction of its component, with its times."""
        by_op = collections.defaultdict(list)
        for t in ftr.transactions.values():
            if "op_id" in t.attributes and t.generator not in ("read", "write"):
                by_op[t.attributes["op_id"]].append(t)
        self.assertEqual(set(by_op), {r["op_id"] for r in records})
        for r in records:
            self.assertEqual(len(by_op[r["op_id"]]), 1, r)
            t = by_op[r["op_id"]][0]
            self.assertEqual(ftr.stream(t), "system." + r["component_id"])
            self.assertEqual((t.start, t.end), (femtoseconds(r["t_start"]), femtoseconds(r["t_end"])), r)

    def test_every_op_of_the_log_is_there_with_its_times(self):
        for command in (GEMM, REDUCE, ("run", "--kernel", "attention", "--topology", topology("small.yaml"))):
            for links in ("ideal", "cut_through", "flit"):
                with self.subTest(command=command[2], links=links):
                    _, ftr = self.recorded(*command, "--links", links, "--oplog", f"{self.folder}/log.jsonl")
                    records = self.log()
                    self.assertGreater(len(records), 20)
                    self.agrees_with_log(ftr, records)

    def test_relations_lead_from_every_access_to_its_kernel_call(self):
        _, ftr = self.recorded(*GEMM, "--oplog", f"{self.folder}/log.jsonl")
        records = {r["op_id"]: r for r in self.log()}
        parents = ftr.parents()
        accesses = ftr.named("read", "write")
        self.assertGreater(len(accesses), 100)
        seen = collections.Counter()
        for access in accesses:
            (service,) = parents[access.id]
            self.assertIn(service.generator, ("DMA_READ", "DMA_WRITE"))
            self.assertEqual(service.attributes["op_id"], access.attributes["op_id"])
            self.assertLessEqual(service.start, access.start)
            self.assertLessEqual(access.end, service.end)
            r = records[service.attributes["op_id"]]
            (parent,) = parents[service.id]
            if "composite_op_id" in r["params"]:
                self.assertEqual(parent.generator, "tile")
                self.assertEqual(parent.attributes["tile"], r["params"]["tile_id"])
                self.assertEqual(parent.start, femtoseconds(r["params"]["fed_ns"]))
                (composite,) = parents[parent.id]
                self.assertEqual(composite.attributes["op_id"], r["params"]["composite_op_id"])
                r = records[composite.attributes["op_id"]]
                (parent,) = parents[composite.id]
            self.assertEqual(parent.generator, r["op_name"])
            self.assertEqual(parent.start, femtoseconds(r["params"]["submit_ns"]))
            self.assertEqual(parent.attributes["seq"], r["params"]["seq"])
            self.assertEqual(parent.attributes["source"], r["params"]["source"])
            (kernel,) = parents[parent.id][:1]  # the kernel precedes the events that waited for it
            self.assertEqual(kernel.generator, "kernel")
            self.assertEqual(ftr.stream(kernel), f"system.{r['params']['pe']}.pe_cpu")
            self.assertEqual(kernel.attributes["kernel"], "gemm")
            (launch,) = parents[kernel.id]
            self.assertEqual(ftr.stream(launch), "system.host")
            self.assertLessEqual(launch.start, kernel.start)
            self.assertLessEqual(parent.end, launch.end)
            seen[service.generator, "tile" in access.attributes, parent.generator] += 1
        self.assertGreater(len(seen), 1)
        # And no tile is missing: each has the stages of the log.
        tiles = ftr.named("tile")
        stages = ftr.children("serves")
        self.assertEqual(sum(len(stages[t.id]) for t in tiles),
                         sum(1 for r in records.values() if r["op_name"].startswith("TileToken/")))
        for tile in tiles:
            self.assertEqual(max(s.end for s in stages[tile.id]), tile.end)

    def test_messages_lead_from_send_to_receive(self):
        for links in ("cut_through", "flit"):
            with self.subTest(links=links):
                _, ftr = self.recorded(*REDUCE, "--links", links, "--oplog", f"{self.folder}/log.jsonl")
                records = {r["op_id"]: r for r in self.log()}
                parents = ftr.parents()
                reads = ftr.named("SLOT_READ")
                self.assertGreater(len(reads), 10)
                for read_ in reads:
                    by_name = {(p.generator, p.stream): p for p in parents[read_.id]}
                    receive = [p for p in parents[read_.id] if p.generator.startswith("recv")]
                    self.assertEqual(len(receive), 1, by_name)
                    at = read_
                    while at.generator != "message":
                        (at,) = [p for p in parents[at.id] if p.generator in ("INBOUND", "SLOT_WRITE", "message")]
                        if at.generator == "SLOT_WRITE":
                            copy = records[at.attributes["op_id"]]
                            self.assertEqual(records[read_.attributes["op_id"]]["dependency_ids"], [copy["op_id"]])
                    self.assertEqual(at.start, femtoseconds(copy["params"]["grant_ns"]))
                    self.near(at.end, femtoseconds(copy["params"]["arrival_ns"]), at)
                    (comm,) = parents[at.id]
                    self.assertEqual(comm.generator, "COMM")
                    (send,) = parents[comm.id]
                    self.assertTrue(send.generator.startswith("send"), send)
                    self.assertEqual(send.start, femtoseconds(copy["params"]["send_ns"]))

    # ---- hops

    def chain(self, ftr, access, first, following):
        hops = list(first[access.id])
        self.assertEqual(len(hops), 1, access)
        while following[hops[-1].id]:
            (hop,) = [h for h in following[hops[-1].id] if h.generator in ("request", "response")]
            hops.append(hop)
        return hops

    def check_chain(self, ftr, graph, access, hops, ends=None):
        """Blocks and times of a way, by the graph: what a link takes is the next hop's start less the end."""
        nodes = [ftr.stream(h).removeprefix("system.") for h in hops]
        write, posted = access.generator == "write", access.generator in ("message", "credit")
        memory = ends or access.attributes["memory"]
        if access.generator == "credit":  # back along the path of its message
            there = graph.reversed_path(graph.route(graph.index[memory], graph.index[nodes[0]]))
        else:
            there = graph.route(graph.index[nodes[0]], graph.index[memory])
        back = graph.reversed_path(there) if graph.routed and not posted else []
        edges = there + back
        expected = [nodes[0]] + [graph.nodes[graph.dst[e]]["id"] for e in edges]
        self.assertEqual(nodes, expected, access)
        self.assertEqual(hops[0].start, access.start)
        self.assertEqual(hops[-1].end, access.end)
        queued = 0
        for i, (hop, e) in enumerate(zip(hops, edges)):
            response = i >= len(there)
            a = hop.attributes
            self.assertEqual(hop.generator, "response" if response else "request")
            self.assertEqual(a["to"], nodes[i + 1])
            data = (write or posted) != response and access.attributes["bytes"] > 0
            link_ns = graph.wire[e]
            if graph.flit:
                nbytes = self.first_flit(graph, access, posted) if data else graph.header_bytes
                link_ns += nbytes / graph.bw[e]
                total = access.attributes["bytes"] if data else graph.header_bytes
            else:
                total = (access.attributes["bytes"] if data else 0) + graph.header_bytes
            self.near(hops[i + 1].start - hop.end, link_ns * 1e6, (access, hop))
            self.assertEqual(a["link_bytes"], total)
            self.assertLessEqual(a["ready_fs"], hop.end)
            if graph.links == "ideal":
                self.assertEqual(a["ready_fs"], hop.end)
            elif graph.links == "cut_through" and graph.bw[e] < INF:
                self.near(a["tail_fs"] - hop.end, total / graph.bw[e] * 1e6, hop)
            self.assertGreaterEqual(a["tail_fs"], hop.end)
            node = graph.index[nodes[i]]
            if nodes[i] != memory:
                wait_ns = 0  # for the rest of the data, at store-and-forward nodes
                if data and i > 0 and graph.gate[node] and not graph.flit and graph.bw[edges[i - 1]] < INF:
                    wait_ns = access.attributes["bytes"] / graph.bw[edges[i - 1]]
                if not (data and graph.gate[node] and graph.flit):
                    self.near(a["ready_fs"] - hop.start, (graph.overhead[node] + wait_ns) * 1e6, hop)
                queued += hop.end - a["ready_fs"]
            elif response and i == len(there):
                queued += hop.end - a["ready_fs"]
        return queued

    @staticmethod
    def first_flit(graph, access, posted):
        a = access.attributes
        at = 0 if posted else a["address"]
        contiguous = a["bytes"] if a.get("row_stride") == a.get("row_bytes") else a["row_bytes"]
        return min(contiguous, graph.flit_bytes - at % graph.flit_bytes)

    def test_hops_of_every_access_add_up_by_the_graph(self):
        for mode in MODES:
            for command in (SMALL_GEMM, REDUCE):
                with self.subTest(mode=mode, command=command[2]):
                    _, ftr = self.recorded(*command, *mode)
                    graph = self.graph(topology("small.yaml"), *mode)
                    first, following = ftr.children("hops"), ftr.children("next")
                    accesses = ftr.named("read", "write")
                    self.assertGreater(len(accesses), 15)
                    for access in accesses:
                        hops = self.chain(ftr, access, first, following)
                        queued = self.check_chain(ftr, graph, access, hops)
                        a = access.attributes
                        self.near(sum(a[x] for x in ACCOUNT), access.end - a["issue_fs"], access, slack=6)
                        if graph.links == "cut_through":
                            # Without the part that overlaps with the memory's own wait (timing rules §4).
                            self.assertLessEqual(a["link_wait_fs"], queued + len(hops))
                            if access.generator == "write" or not graph.routed:
                                self.near(a["link_wait_fs"], queued, access, slack=len(hops))
                        elif graph.links == "ideal":
                            self.assertEqual((a["link_wait_fs"], queued), (0, 0))
                    sent = ftr.named("message", "credit")
                    self.assertEqual(bool(sent), command is REDUCE)
                    for message in sent:
                        hops = self.chain(ftr, message, first, following)
                        end = ftr.stream(hops[-1]).removeprefix("system.")
                        self.check_chain(ftr, graph, message, hops, ends=end)
                    hops = ftr.named("request", "response")
                    self.assertEqual(len(hops), sum(len(self.chain(ftr, a, first, following))
                                                    for a in (*accesses, *sent)))

    def test_traffic_is_recorded_request_by_request(self):
        for name in ("traffic_ideal", "traffic_cut_through", "traffic_cut_through_routed", "traffic_flit_toy",
                     "traffic_flit_mesh", "traffic_hbm_pc"):
            with self.subTest(sample=name):
                arguments = ("traffic", "--topology", sample(name, "topology.yaml"), "--trace", sample(name, "trace.csv"))
                out, ftr = self.recorded(*arguments)
                self.assertEqual(out, self.succeeds(*arguments))
                graph = self.graph(sample(name, "topology.yaml"))
                first, following = ftr.children("hops"), ftr.children("next")
                with open(sample(name, "trace.csv"), encoding="utf-8") as f:
                    asked = {r["id"]: r for r in csv.DictReader(f)}
                expected, found = collections.Counter(), collections.Counter()
                for r in csv.DictReader(io.StringIO(out)):
                    q = asked[r["id"]]
                    expected[f"system.{q['initiator']}", q["op"], int(q["address"], 0), int(q["bytes"]),
                             femtoseconds(float(r["grant_ns"])), femtoseconds(float(r["done_ns"]))] += 1
                for access in ftr.named("read", "write"):
                    found[ftr.stream(access), access.generator, access.attributes["address"], access.attributes["bytes"],
                          access.start, access.end] += 1
                    self.check_chain(ftr, graph, access, self.chain(ftr, access, first, following))
                self.assertEqual(len(asked), sum(found.values()))
                # The CSV has fewer digits.
                for got, wanted in zip(sorted(found.elements()), sorted(expected.elements())):
                    self.assertEqual(got[:4], wanted[:4])
                    self.near(got[4], wanted[4], got, slack=1000)
                    self.near(got[5], wanted[5], got, slack=1000)

    # ---- the host, drivers

    def test_host_transfers_and_launches(self):
        out, ftr = self.recorded(*SMALL_GEMM, "--transfer", "timed", "--launch", "host", "--format", "json")
        report = json.loads(out)
        host = [t for t in ftr.transactions.values() if ftr.stream(t) == "system.host"]
        self.assertEqual([t.generator for t in sorted(host, key=lambda t: t.start)], ["upload", "launch", "download"])
        upload, launch, download = sorted(host, key=lambda t: t.start)
        self.assertEqual((upload.start, upload.end), (0, launch.start))
        self.assertEqual((launch.end, download.end), (download.start, femtoseconds(report["sim_ns"])))
        accesses = ftr.children("accesses")
        pes = len(report["pes"])  # each has a copy of b
        for transfer, op, expected in ((upload, "write", (96 * 64 + pes * 64 * 64) * 4), (download, "read", 96 * 64 * 4)):
            chunks = accesses[transfer.id]
            self.assertEqual({(ftr.stream(c), c.generator) for c in chunks}, {("system.sip0.io0.pcie_ep", op)})
            self.assertEqual(sum(c.attributes["bytes"] for c in chunks), transfer.attributes["bytes"])
            self.assertEqual(transfer.attributes["bytes"], expected)
            self.assertEqual((min(c.attributes["issue_fs"] for c in chunks), max(c.end for c in chunks)),
                             (transfer.start, transfer.end))
        kernels = ftr.children("launches")[launch.id]
        self.assertEqual(len(kernels), len(report["pes"]))
        self.assertEqual({k.start for k in kernels}, {femtoseconds(report["start_ns"])})

    def test_a_program_names_its_launches(self):
        _, ftr = self.recorded("run", "--program", "tp_mlp", "--topology", topology("six_sip_torus.yaml"), "--ranks",
                               "2", "--pes", "leaders", "--param", "tokens=8", "--param", "dim=16", "--param",
                               "hidden=16", "--transfer", "timed", "--oplog", f"{self.folder}/log.jsonl")
        self.agrees_with_log(ftr, self.log())
        launches = ftr.named("launch")
        self.assertGreater(len(launches), 1)
        kernels = ftr.children("launches")
        for launch in launches:
            self.assertTrue(kernels[launch.id])
            for kernel in kernels[launch.id]:
                for key in ("kernel", "launch"):
                    self.assertEqual(kernel.attributes[key], launch.attributes[key])
        self.assertTrue(ftr.named("upload"))

    def test_a_pipeline_has_tiles_and_accesses(self):
        for links in ("ideal", "cut_through", "flit"):
            with self.subTest(links=links):
                name = f"composite_{links}"
                out, ftr = self.recorded("pipeline", "--topology", sample(name, "topology.yaml"), "--work",
                                         sample(name, "work.json"), "--format", "json")
                self.assertTrue(json.loads(out))
                parents = ftr.parents()
                for access in ftr.named("read", "write"):
                    (service,) = parents[access.id]
                    (tile,) = parents[service.id]
                    (composite,) = parents[tile.id]
                    (command,) = parents[composite.id]
                    self.assertEqual(parents[command.id], [])
                self.assertTrue(ftr.named("tile"))

    # ---- rows of the op log

    def rows(self, file):
        """Records by op_id, of either form of the log."""
        if file.endswith(".jsonl"):
            return {r["op_id"]: r for r in self.log(os.path.basename(file))}
        with sqlite3.connect(file) as db:
            return {row[0]: {"op_id": row[0], "t_start": row[1], "t_end": row[2], "component_id": row[3],
                             "op_kind": row[4], "op_name": row[5], "params": json.loads(row[6]),
                             "dependency_ids": json.loads(row[7])}
                    for row in db.execute("SELECT op_id, t_start, t_end, component_id, op_kind, op_name, params, "
                                          "dependency_ids FROM ops")}

    def test_hops_are_rows_of_the_log_too(self):
        for command in (SMALL_GEMM, REDUCE):
            for end in ("jsonl", "sqlite"):
                with self.subTest(command=command[2], form=end):
                    file, plain = f"{self.folder}/hops.{end}", f"{self.folder}/plain.{end}"
                    _, ftr = self.recorded(*command, "--oplog", file, "--oplog-hops", "--verify")
                    self.succeeds(*command, "--oplog", plain)
                    rows = self.rows(file)
                    hops = {i: r for i, r in rows.items() if i >= FIRST_HOP_ID}
                    # Records without recording are unchanged, including ids.
                    self.assertEqual({i: r for i, r in rows.items() if i not in hops}, self.rows(plain))
                    self.check_hop_rows(ftr, hops)
                    for kind in ("replay", os.environ["KERNBENCH_REPLAY"]):
                        program = [KERNBENCH, "replay"] if kind == "replay" else [kind, "replay"]
                        done = subprocess.run([*program, "--oplog", file, "--dump",
                                               f"{'c' if command is SMALL_GEMM else 'y'}={self.folder}/r.npy"],
                                              capture_output=True, text=True)
                        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_documented_query_answers(self):
        with open(os.path.join(os.environ["KERNBENCH_SOURCE"], "docs", "recording.md"), encoding="utf-8") as f:
            query = f.read().split("```sql\n")[1].split("```")[0]
        file = f"{self.folder}/hops.sqlite"
        self.succeeds(*SMALL_GEMM, "--links", "cut_through", "--oplog", file, "--oplog-hops")
        graph = self.graph(topology("small.yaml"), "--links", "cut_through")
        with sqlite3.connect(file) as db:
            rows = db.execute(query).fetchall()
        self.assertEqual(len(rows), 10)
        for link, messages, latency, waited in rows:
            e = graph.edge_of[tuple(graph.index[n] for n in link.split("->"))]
            self.assertAlmostEqual(latency, graph.wire[e], places=6)
            self.assertGreater(messages, 0)
            self.assertGreaterEqual(waited, 0)

    def check_hop_rows(self, ftr, hops):
        first, following = ftr.children("hops"), ftr.children("next")
        recorded = collections.Counter()
        for access in ftr.named("read", "write", "message", "credit"):
            for i, h in enumerate(self.chain(ftr, access, first, following)):
                recorded[ftr.stream(h), h.start, h.end, i, access.generator, access.attributes["bytes"],
                         h.generator == "response", h.attributes.get("to"), h.attributes["ready_fs"],
                         access.attributes.get("op_id")] += 1
        logged = collections.Counter()
        for r in hops.values():
            p = r["params"]
            self.assertEqual((r["op_kind"], r["op_name"], r["dependency_ids"]), ("unknown", "hop", []))
            logged[f"system.{r['component_id']}", femtoseconds(r["t_start"]), femtoseconds(r["t_end"]), p["hop"], p["op"],
                   p["nbytes"], bool(p["response"]), p.get("to"), femtoseconds(p["ready_ns"]), p.get("op_id")] += 1
        self.assertGreater(len(logged), 50)
        self.assertEqual(logged, recorded)
        by_access = collections.defaultdict(list)
        for op_id in sorted(hops):
            by_access[hops[op_id]["params"]["access"]].append(hops[op_id]["params"])
        for chain in by_access.values():
            self.assertEqual([p["hop"] for p in chain], list(range(chain[0]["hops"])))

    # ---- the file

    def test_the_file_is_the_same_every_time_and_beside_others(self):
        out, _ = self.recorded(*GEMM, "--format", "json", name="a.ftr")
        files = {"--vcd": f"{self.folder}/v.vcd", "--trace": f"{self.folder}/t.json"}
        for option, file in files.items():
            self.succeeds(*GEMM, option, file)
        alone = {option: read(file) for option, file in files.items()}
        everything = [x for pair in files.items() for x in pair]
        again, _ = self.recorded(*GEMM, "--format", "json", *everything, "--oplog", f"{self.folder}/l.jsonl",
                                 "--oplog-hops", name="b.ftr")
        self.assertEqual(read(f"{self.folder}/a.ftr"), read(f"{self.folder}/b.ftr"))
        for option, file in files.items():
            self.assertEqual(read(file), alone[option], option)
        plain = self.succeeds(*GEMM, "--format", "json")
        reports = [json.loads(x) for x in (out, again, plain)]
        for report in reports:
            report.pop("wall_s")
        self.assertEqual(reports[0], reports[2])
        self.assertEqual(reports[1], reports[2])

    def test_what_cannot_be_is_refused(self):
        self.refuses(*GEMM, "--ftr", "/nowhere/x.ftr", saying=["/nowhere/x.ftr: cannot be written"], lines=1)
        self.refuses(*GEMM, "--oplog-hops", saying=["--oplog-hops: needs --oplog"], lines=1)
        same = f"{self.folder}/same"
        for command in (GEMM, ("traffic", "--topology", sample("traffic_ideal", "topology.yaml"), "--trace",
                               sample("traffic_ideal", "trace.csv")),
                        ("pipeline", "--topology", sample("composite_ideal", "topology.yaml"), "--work",
                         sample("composite_ideal", "work.json"))):
            self.refuses(*command, "--ftr", same, "--vcd", same, saying=["--ftr", "--vcd"], lines=1)
            self.assertFalse(os.path.exists(same))

    def test_a_run_that_stops_leaves_what_has_happened(self):
        file = f"{self.folder}/stopped.ftr"
        status, _, err = self.run_cli(*GEMM, "--ftr", file, "--max-time", "150")
        self.assertEqual(status, 1, err)
        ftr = Ftr(read(file))
        self.assertTrue(ftr.complete)
        cut = [t for t in ftr.transactions.values() if "unfinished" in t.attributes]
        self.assertIn("kernel", {t.generator for t in cut})
        self.assertEqual({t.end for t in cut if t.generator == "kernel"}, {max(t.end for t in cut)})

    def test_a_killed_run_leaves_a_readable_file(self):
        file = f"{self.folder}/cut.ftr.part"
        run = subprocess.Popen([KERNBENCH, "run", "--kernel", "gemm", "--topology", topology("default.yaml"), "--param",
                                "m=4096", "--param", "n=4096", "--param", "k=4096", "--ftr", file.removesuffix(".part")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            if run.poll() is not None or (os.path.exists(file) and os.path.getsize(file) > 10_000_000):
                break
            time.sleep(0.05)
        run.send_signal(signal.SIGKILL)
        run.wait()
        ftr = Ftr(read(file))
        self.assertFalse(ftr.complete)
        self.assertGreater(len(ftr.transactions), 1000)
        self.assertGreater(len(ftr.relations), 1000)


if __name__ == "__main__":
    cli_support.main()
