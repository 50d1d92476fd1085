#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do messages go through a network by its own rule, there and back, in every link mode? Times are worked out by hand:
on a ring of one direction request and answer go round it together, wherever they go to. Packets have their headers,
commands their costs, posted writes no answer; what such a file may not say is told; rings need virtual channels."""
import csv
import os
import random
import tempfile

import cli_support

MODES = ["ideal", "cut_through", "flit"]
FLIT = 32  # bytes; 32 GB/s: a ns on a link
HOP = 4    # ns of wire from router to router, and 1 in the router


def system(columns, rows, networks, links="cut_through", router="overhead_ns: 1", port="", memory="", timing=""):
    """Networks: (x, y, routing). At each router of each a port pN-X-Y; a memory mX-Y at the routers of all."""
    lines = ["ns_per_mm: 1", f"timing: {{links: {links}, response: routed, flit_bytes: {FLIT}{timing}}}", "networks:"]
    for n, (x, y, routing) in enumerate(networks):
        lines.append(f"- {{id: n{n}, size: [{columns}, {rows}], wrap: true, x: {x}, y: {y}, routing: {routing}, "
                     f"router: {{attrs: {{{router}}}}}, link: {{distance_mm: {HOP}, bw_gbs: 32}}}}")
    cells = [(x, y) for y in range(rows) for x in range(columns)]
    lines.append("nodes:")
    for x, y in cells:
        lines += [f"- {{id: p{n}-{x}-{y}, kind: port, attrs: {{{port}}}}}" for n in range(len(networks))]
        lines.append(f"- {{id: m{x}-{y}, kind: sram, attrs: {{{memory}}}}}")
    lines.append("links:")
    for x, y in cells:
        for n in range(len(networks)):
            lines += [f"- {{from: {what}{x}-{y}, to: n{n}.r{y}c{x}, distance_mm: 0, bw_gbs: 32}}" for what in (f"p{n}-", "m")]
    lines.append("memories:")
    lines += [f"- {{node: m{x}-{y}, space: sram, base: {base(x, y, columns)}, size: {1 << 20}}}" for x, y in cells]
    return "\n".join(lines) + "\n"


def base(x, y, columns):
    return (y * columns + x) << 20


class Test(cli_support.Cli):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def play(self, yaml, requests):
        """Latencies of (issue, initiator, op, address, bytes)."""
        trace = "id,issue_ns,initiator,op,address,bytes\n"
        trace += "".join(f"{i},{t},{who},{op},{at},{n}\n" for i, (t, who, op, at, n) in enumerate(requests))
        out = self.succeeds("traffic", "--topology", self.write("t.yaml", yaml), "--trace", self.write("t.csv", trace))
        rows = list(csv.DictReader(out.splitlines()))
        return [(float(r["latency_ns"]), float(r["formula_ns"])) for r in rows]

    def refused(self, yaml, *texts):
        status, out, err = self.run_cli("topology", self.write("t.yaml", yaml))
        self.assertEqual(status, 2, out)
        for text in texts:
            self.assertIn(text, err)

    def test_answers_go_on_round_a_ring(self):
        for links in MODES:
            yaml = system(5, 1, [("up", "both", "xy"), ("down", "both", "xy")], links)
            for n in (0, 1):
                cases = [(1000 * x, f"p{n}-0-0", "read", base(x, 0, 5), 32) for x in range(5)]
                for x, (latency, formula) in enumerate(self.play(yaml, cases)):
                    # 5 hops of wire; 7 routers: one more than hops, there and back. Data take 1 ns. With flits they
                    # take 1 ns on every link: 9 back in total including the memory's server, or there for the request
                    # without data.
                    hops = 5 if x else 0
                    ahead = x if n == 0 else (5 - x) % 5
                    back = hops - ahead
                    data = 1 if links != "flit" else 2 + back + 1
                    self.assertAlmostEqual(latency, hops * HOP + hops + 2 + data, 6, (links, n, x))
                    self.assertAlmostEqual(latency, formula, 6)

    def test_one_axis_goes_first(self):
        """A long write from (0, 0) to (1, 2) holds up one that shares its second link: of (1, 0) down, or of (0, 1) down."""
        for routing, waits in (("xy", [True, False]), ("yx", [False, True])):
            yaml = system(3, 3, [("up", "up", routing)])
            _, *others = self.play(yaml, [(0, "p0-0-0", "write", base(1, 2, 3), 3200),
                                          (20, "p0-1-0", "write", base(1, 1, 3), 32),
                                          (20, "p0-0-1", "write", base(0, 2, 3), 32)])
            self.assertEqual([latency > formula + 1 for latency, formula in others], waits, routing)

    def test_both_axes_go_round_both_rings(self):
        for links in MODES:
            yaml = system(4, 3, [("up", "up", "xy"), ("down", "down", "yx")], links, timing=", header_bytes: 0")
            for n in (0, 1):
                one, both = (self.play(yaml, [(0, f"p{n}-1-1", "write", base(x, y, 4), 32)])[0][0]
                             for x, y in ((1, 2), (3, 2)))
                extra = 4 * (HOP + 1)
                # Two hops along x there (in each network: 3 and 1 are opposite), where data take 1 ns per link with
                # flits.
                self.assertAlmostEqual(both - one, extra + (2 if links == "flit" else 0), 6, (links, n))

    def test_packets_have_headers(self):
        for links, took in (("cut_through", 5), ("flit", 8 + 1)):
            yaml = system(1, 1, [("both", "both", "xy")], links, timing=", packet_flits: 2, header_bytes: 32")
            # 5 flits of data and 3 headers on two links; the acknowledgement is a header.
            (latency, formula), = self.play(yaml, [(0, "p0-0-0", "write", 0, 160)])
            self.assertAlmostEqual(latency, formula, 6)
            self.assertAlmostEqual(latency, 2 + took + (3 if links == "flit" else 0), 6, links)
            # The next write leaves when all 8 flits of the first one have left.
            (_, _), (second, _) = self.play(yaml, [(0, "p0-0-0", "write", 0, 160), (0, "p0-0-0", "write", 0, 160)])
            self.assertAlmostEqual(second - latency, 8, 6, links)

    def test_commands_cost_what_they_cost(self):
        port = "issue_ns: 10, read_overhead_ns: 3, write_overhead_ns: 5, post_overhead_ns: 7"
        for links in MODES:
            plain = system(1, 1, [("both", "both", "xy")], links)
            costly = system(1, 1, [("both", "both", "xy")], links, port=port)
            for op, more in (("read", 3), ("write", 5), ("post", 7)):
                requests = [(0, "p0-0-0", op, 0, 32)] * 3
                (without, _), *_ = self.play(plain, requests[:1])
                for i, (latency, formula) in enumerate(self.play(costly, requests)):
                    self.assertAlmostEqual(latency, without + more + 10 * i, 6, (links, op))
                    self.assertAlmostEqual(formula, without + more, 6)

    def test_posted_writes_are_done_at_their_memory(self):
        for links in MODES:
            yaml = system(4, 1, [("up", "both", "xy")], links, timing=", header_bytes: 32")
            (post, formula), (write, _) = self.play(yaml, [(0, "p0-0-0", "post", base(1, 0, 4), 64),
                                                           (1000, "p0-0-0", "write", base(1, 0, 4), 64)])
            self.assertAlmostEqual(post, formula, 6)
            # The acknowledgement: 3 hops of wire, 4 routers; with flits a header on 5 links.
            self.assertAlmostEqual(write - post, 3 * HOP + 4 + (5 if links == "flit" else 0), 6, links)

    def test_rings_need_virtual_channels(self):
        def torus(vcs):
            return system(4, 3, [("up", "up", "xy"), ("down", "down", "yx")], "flit",
                          f"overhead_ns: 1, buffer_flits: 4, vcs: {vcs}", memory=f"buffer_flits: 4, vcs: {vcs}")
        self.assertIn("with less than 3 virtual channels: links wait for each other in a cycle",
                      self.succeeds("topology", self.write("t.yaml", torus(1))))
        status, _, err = self.run_cli("traffic", "--topology", self.write("t.yaml", torus(1)), "--trace",
                                      self.write("t.csv", "id,issue_ns,initiator,op,address,bytes\n"))
        self.assertEqual(status, 2)
        self.assertIn("vcs or more", err)
        self.assertIn("deadlock-free: proved", self.succeeds("topology", self.write("t.yaml", torus(3))))

    def test_random_traffic_ends_and_plenty_of_room_is_no_limit(self):
        draw = random.Random(40)
        for case in range(4):
            columns, rows = draw.choice([(4, 3), (2, 5), (5, 1), (3, 3)])
            networks = [("up", "up", "xy"), ("down", "down", "yx")]
            requests = []
            for i in range(150):
                n, x, y = draw.randrange(2), draw.randrange(columns), draw.randrange(rows)
                at = base(draw.randrange(columns), draw.randrange(rows), columns)
                requests.append((draw.randrange(40), f"p{n}-{x}-{y}", draw.choice(["read", "write", "post"]), at,
                                 draw.choice([1, 32, 100, 700])))
            packets = ", packet_flits: 4, header_bytes: 32"
            by_age = ", allocation: oldest_first"
            unlimited, plenty, tight = (
                self.play(system(columns, rows, networks, "flit", f"overhead_ns: 1{room}{by_age if room else ''}",
                                 timing=packets), requests)
                for room in ("", ", buffer_flits: 100000, vcs: 600", ", buffer_flits: 2, vcs: 3"))
            self.assertEqual(unlimited, plenty, case)
            self.assertEqual(len(tight), len(requests))
            self.assertNotEqual(unlimited, tight, case)

    def test_what_a_file_may_not_say_is_told(self):
        good = system(2, 2, [("both", "both", "xy")])
        self.succeeds("topology", self.write("t.yaml", good))
        self.refused(good.replace("wrap: true, x: both", "wrap: false, x: up"), "networks[0].x: found one direction without wrap")
        self.refused(good.replace("size: [2, 2]", "size: [2]"), "networks[0].size")
        self.refused(good.replace("size: [2, 2]", "size: [0, 2]"), "networks[0].size[0]")
        self.refused(good.replace("routing: xy", "routing: zz"), "networks[0].routing", "xy, yx")
        self.refused(good.replace("id: n0,", "id: 'n 0',"), "networks[0].id")
        self.refused(good.replace("- {id: m0-0,", "- {id: n0.r0c0,"), "a second time")
        self.refused(good.replace("\nlinks:\n", "\nlinks:\n- {from: n0.r0c0, to: n0.r1c1, distance_mm: 1}\n"),
                     "found a link inside network 'n0'")
        self.refused(good + "foreign:\n- {id: f, between: [n0.r0c0, n0.r0c1]}\n", "found a link inside network 'n0'")

    def test_a_mesh_needs_no_virtual_channels(self):
        yaml = system(3, 3, [("both", "both", "yx")], "flit", "overhead_ns: 1, buffer_flits: 2").replace("wrap: true", "wrap: false")
        self.assertIn("deadlock-free: proved", self.succeeds("topology", self.write("t.yaml", yaml)))


if __name__ == "__main__":
    cli_support.main()
