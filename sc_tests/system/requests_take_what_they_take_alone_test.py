# SPDX-License-Identifier: Apache-2.0
"""A request of `kernbench traffic` takes what its kind takes, whatever kinds came before it in its line: the driver has
one place for all that wait for a channel."""
import csv
import io
import itertools

from cli_support import FolderCli, main

SYSTEM = """
timing: {links: LINKS, response: routed, header_bytes: 16}
nodes:
- {id: pe0.pe_dma, kind: pe_dma}
- {id: r, kind: router, attrs: {overhead_ns: 1}}
- {id: h, kind: hbm_ctrl}
links: [{from: pe0.pe_dma, to: r, distance_mm: 1, bw_gbs: 64}, {from: r, to: h, distance_mm: 1, bw_gbs: 64}]
memories: [{node: h, space: hbm, base: 0, size: 1048576}]
"""
KINDS = {"read": 4096, "write": 4096, "post": 100, "atomic": 8, "red": 8, "cas": 4}


class OneLine(FolderCli):
    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def latencies(self, links, requests, ns_apart):
        """From grant to done, by request."""
        system = self.write("system.yaml", SYSTEM.replace("LINKS", links))
        lines = [f"{i},{i * ns_apart},pe0.pe_dma,{op},{4096 * i},{KINDS[op]}" for i, op in enumerate(requests)]
        trace = self.write("trace.csv", "\n".join(["id,issue_ns,initiator,op,address,bytes", *lines]) + "\n")
        rows = csv.DictReader(io.StringIO(self.succeeds("traffic", "--topology", system, "--trace", trace)))
        return [(float(r["done_ns"]) - float(r["grant_ns"]), float(r["formula_ns"])) for r in rows]

    def test_far_apart_each_takes_what_it_takes_alone(self):
        # Each kind after each other one, and after itself.
        requests = [op for pair in itertools.product(KINDS, KINDS) for op in pair]
        for links in ("cut_through", "flit"):
            alone = {op: self.latencies(links, [op], 0)[0] for op in KINDS}
            self.assertGreater(len({formula for _, formula in alone.values()}), 3, alone)
            found = self.latencies(links, requests, 10_000)
            self.assertEqual(len(found), len(requests))
            for op, (ns, formula) in zip(requests, found):
                self.assertAlmostEqual(ns, alone[op][0], 5, (links, op))
                self.assertEqual(formula, alone[op][1], (links, op))

    def test_at_one_instant_each_formula_is_its_kinds(self):
        requests = list(KINDS) * 4
        alone = {op: self.latencies("cut_through", [op], 0)[0][1] for op in KINDS}
        found = self.latencies("cut_through", requests, 0)
        self.assertEqual([formula for _, formula in found], [alone[op] for op in requests])

    def test_of_no_requests(self):
        self.assertEqual(self.latencies("cut_through", [], 0), [])


if __name__ == "__main__":
    main()
