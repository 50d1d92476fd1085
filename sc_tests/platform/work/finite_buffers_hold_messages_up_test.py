#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do finite buffers, virtual channels, credits and switch allocation give the times worked out by hand from
docs/flow_control.md? Is a ring refused with the links of its circle, does it hang when forced, with a word on who waits
for whom, and are bad values told?"""
import csv
import os
import random
import tempfile
import time

import cli_support

FLIT = 64  # bytes, and GB/s of a link of one flit a ns


def system(nodes, links, memories, timing=""):
    """nodes: {id: (kind, attrs)}; links: (from, to, mm = ns, GB/s); memories: ids, 64 KiB each, in turn from 0."""
    timing = f"links: flit, response: routed, flit_bytes: {FLIT}, header_bytes: 0{timing}"
    lines = ["ns_per_mm: 1", f"timing: {{{timing}}}", "nodes:"]
    lines += [f"- {{id: {name}, kind: {kind}, attrs: {{{attrs}}}}}" for name, (kind, attrs) in nodes.items()]
    lines += ["links:"]
    lines += [f"- {{from: {a}, to: {b}, distance_mm: {mm}, bw_gbs: {bw}{''.join(rest)}}}"
              for a, b, mm, bw, *rest in links]
    lines += ["memories:"]
    lines += [f"- {{node: {m}, space: sram, base: {i << 16}, size: {1 << 16}}}" for i, m in enumerate(memories)]
    return "\n".join(lines) + "\n"


def line(r1, wire=2):
    """a - r0 - r1 - m; r1's inputs as said."""
    return system({"a": ("port", ""), "r0": ("router", "overhead_ns: 1"), "r1": ("router", "overhead_ns: 1" + r1),
                   "m": ("sram", "")},
                  [("a", "r0", 0, 64), ("r0", "r1", wire, 64), ("r1", "m", 0, 64)], ["m"])


def fork(r1):
    """Two ports share the link to r1, behind which one memory is slow and one is fast."""
    return system({"a": ("port", ""), "b": ("port", ""), "r0": ("router", "overhead_ns: 1"),
                   "r1": ("router", "overhead_ns: 1, " + r1), "slow": ("sram", ""), "fast": ("sram", "")},
                  [("a", "r0", 0, 64), ("b", "r0", 0, 64), ("r0", "r1", 0, 64), ("r1", "slow", 0, 8),
                   ("r1", "fast", 0, 64)], ["slow", "fast"])


def merge(allocation):
    """Two ports onto a slow link."""
    return system({"a": ("port", ""), "b": ("port", ""),
                   "r0": ("router", f"overhead_ns: 1, buffer_flits: 8, allocation: {allocation}"), "m": ("sram", "")},
                  [("a", "r0", 0, 64), ("b", "r0", 0, 64), ("r0", "m", 0, 8)], ["m"])


def ring(attrs="buffer_flits: 2", timing="", routers=4, free=None):
    """Shortest ways go round in one direction only; answers come back in the other."""
    nodes, links = {}, []
    for i in range(routers):
        nodes[f"r{i}"] = ("router", "overhead_ns: 1" + ("" if i == free else ", " + attrs))
        nodes[f"d{i}"], nodes[f"m{i}"] = ("port", ""), ("sram", "")
        links += [(f"d{i}", f"r{i}", 0, 64), (f"r{i}", f"m{i}", 0, 64),
                  (f"r{i}", f"r{(i + 1) % routers}", 1, 64, ", bidirectional: false"),
                  (f"r{(i + 1) % routers}", f"r{i}", 50, 64, ", bidirectional: false")]
    return system(nodes, links, [f"m{i}" for i in range(routers)], timing)


# Every initiator writes 16 flits to the memory two positions further.
AROUND = [(0, f"d{i}", "write", (i + 2) % 4 << 16, 16 * FLIT) for i in range(4)]


class FiniteBuffers(cli_support.Cli):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def files(self, yaml, requests):
        paths = [os.path.join(self.folder.name, name) for name in ("t.yaml", "t.csv")]
        with open(paths[0], "w", encoding="utf-8") as f:
            f.write(yaml)
        with open(paths[1], "w", encoding="utf-8") as f:
            f.write("id,issue_ns,initiator,op,address,bytes\n")
            f.writelines(f"{i},{','.join(map(str, r))}\n" for i, r in enumerate(requests))
        return ["--topology", paths[0], "--trace", paths[1]]

    def done(self, yaml, requests):
        """When each is done, ns."""
        rows = csv.DictReader(self.succeeds("traffic", *self.files(yaml, requests)).splitlines())
        return [float(row["done_ns"]) for row in rows]

    def test_credits_limit_a_message_to_its_room_a_round_trip(self):
        """r0 sends flits 0 and 1 at 2 and 3. Flit 0 is at r1 at 2 + 1 + 2, goes on at 6, its credit is back at 8; flit
        1 goes on at 7, its credit is back at 9. From there two flits a round of 1 + 2 + 2 ns: flit 8 leaves at
        8 + 3 * 5 = 23, is at m at 23 + 1 + 2 + 1 = 27, served at 28; the answer takes 1 + 2 + 1."""
        nine = [(0, "a", "write", 0, 9 * FLIT)]
        self.assertEqual(self.done(line(""), nine), [20])
        self.assertEqual(self.done(line(", buffer_flits: 2"), nine), [32])
        # One flit per credit round trip: 2, 8 (after the head's overhead), then every 5 ns: flit 8 at 8 + 7 * 5.
        self.assertEqual(self.done(line(", buffer_flits: 1"), nine), [8 + 7 * 5 + 4 + 1 + 4])
        # A message uses one of two channels.
        self.assertEqual(self.done(line(", buffer_flits: 2, vcs: 2"), nine), [32])

    def test_room_of_a_round_trip_limits_nothing(self):
        for nbytes in (1, FLIT, 9 * FLIT, 64 * FLIT):
            for op in ("read", "write"):
                request = [(0, "a", op, 0, nbytes)]
                self.assertEqual(self.done(line(", buffer_flits: 6"), request), self.done(line(""), request))

    def test_who_is_behind_a_blocked_head_waits_unless_there_is_another_channel(self):
        """a's flits go to the slow memory at 4, 12, 20, … With room for two a's flit i is let in when flit i − 2 goes,
        the last, 7, at 44; 6 goes at 52: b comes in, goes on behind 7 at 60, is served at 62, answered at 64."""
        both = [(0, "a", "write", 0, 8 * FLIT), (3, "b", "write", 1 << 16, FLIT)]
        self.assertEqual(self.done(fork("buffer_flits: 2"), both)[1], 64)
        self.assertEqual(self.done(fork("buffer_flits: 2, vcs: 2"), both)[1], 3 + 8)

    def test_turns_and_age_decide_who_goes_onto_a_link(self):
        """a's four flits are ready at 2, 2, 3 and 4, b's at 7; the first goes at 2, each takes 8 ns, and 8 to be
        served. In turns b is the second, by age the last."""
        both = [(0, "a", "write", 0, 4 * FLIT), (5, "b", "write", 4096, FLIT)]
        self.assertEqual(self.done(merge("round_robin"), both), [2 + 5 * 8 + 8 + 1, 2 + 2 * 8 + 8 + 1])
        self.assertEqual(self.done(merge("oldest_first"), both), [2 + 4 * 8 + 8 + 1, 2 + 5 * 8 + 8 + 1])

    def test_credits_come_before_a_link_that_becomes_free(self):
        """a's first flit leaves m at 1.501, its credit is back at 4.501. b's flit leaves at 3.501, so that the link
        becomes free at 4.501: a's second goes then, c's, which is ready since 3.501 and has a channel, at 5.501. From m
        to a port: 1 + 0.5 + 1, but for the overhead of all flits but the first."""
        yaml = system({"a": ("port", ""), "b": ("port", ""), "c": ("port", ""),
                       "r": ("router", "overhead_ns: 1, buffer_flits: 1, vcs: 3"),
                       "m": ("hbm_ctrl, impl: builtin.hbm_pc", "pseudo_channels: 2, interleave_bytes: 64, pc_bw_gbs: 64000")},
                      [("a", "r", 0, 64), ("b", "r", 0, 64), ("c", "r", 0, 64), ("r", "m", 0.5, 64)], ["m"])
        self.assertEqual(self.done(yaml.replace("space: sram", "space: hbm"),
                                   [(0, "a", "read", 0, 2 * FLIT), (2, "b", "read", 256, FLIT), (2, "c", "read", 1024, FLIT)]),
                         [7.001, 7.001, 9.001])

    def test_the_order_of_nodes_changes_nothing(self):
        """Ports have the order of their links."""
        nodes = {"a": ("port", ""), "b": ("port", ""), "c": ("port", ""),
                 "r": ("router", "overhead_ns: 1, buffer_flits: 2, vcs: 2"),
                 "q": ("router", "overhead_ns: 1, buffer_flits: 2"), "m": ("sram", ""), "n": ("sram", "")}
        links = [("a", "r", 0.3, 64), ("b", "r", 0.4, 64), ("c", "r", 0.5, 64), ("r", "q", 0.5, 30), ("q", "m", 0.7, 17),
                 ("q", "n", 0.6, 19)]
        rng = random.Random(1)
        requests = [(round(i * 1.37, 3), rng.choice("abc"), rng.choice(("read", "write")),
                     rng.randrange(2) * 65536 + rng.randrange(500) * FLIT, rng.choice((64, 300, 512))) for i in range(40)]
        times = self.done(system(nodes, links, ["m", "n"]), requests)
        for seed in range(8):
            names = random.Random(seed).sample(sorted(nodes), len(nodes))
            self.assertEqual(self.done(system({n: nodes[n] for n in names}, links, ["m", "n"]), requests), times, names)

    def test_a_ring_is_refused_with_its_circle(self):
        circle = "r0 -> r1 -> r2 -> r3 -> r0 (requests)"
        for attrs in ("buffer_flits: 2", "buffer_flits: 1000"):
            files = self.files(ring(attrs), AROUND)
            self.refuses("traffic", *files, lines=1,
                         saying=["t.yaml:7: buffer_flits: ", circle, "prove_deadlock_free"])
            self.assertIn("may deadlock with less than 2 virtual channels: links wait for each other in a cycle: " + circle,
                          self.succeeds("topology", files[1]))

    def test_a_ring_that_is_forced_hangs_and_says_who_waits_for_whom(self):
        files = self.files(ring(timing=", prove_deadlock_free: false"), AROUND)
        self.refuses("traffic", *files, status=1,
                     saying=["4 of 4 requests never completed", "in a cycle: r0 -> r1, which waits for r1 -> r2, which "
                             "waits for r2 -> r3, which waits for r3 -> r0, which waits for the first (requests)",
                             "request of d0 (write of 1024 bytes at 0x20000)", "has 2 of 2 flits"])
        # Traffic that fits the buffers does not wait.
        self.done(ring(timing=", prove_deadlock_free: false"), [(*r[:4], FLIT) for r in AROUND])

    def test_a_ring_with_two_channels_goes_on_in_the_second_behind_its_dateline(self):
        for count in (2, 3, 8):
            with self.subTest(vcs=count):
                wide = ring(f"buffer_flits: 2, vcs: {count}")
                self.assertIn("dependencies in 2 layers of virtual channels\n",
                              self.succeeds("topology", self.files(wide, AROUND)[1]))
                self.assertEqual(len(self.done(wide, AROUND * 8)), 32)
        # One virtual channel too few behind a single link of the ring is refused.
        some = ring("buffer_flits: 2, vcs: 2").replace("vcs: 2", "vcs: 1", 1)
        self.refuses("traffic", *self.files(some, AROUND), lines=1, saying=["legal: 2 vcs or more at its nodes"])
        # An isolated message has the times of a ring that is forced.
        lone = AROUND[3:]
        self.assertEqual(self.done(ring("buffer_flits: 2, vcs: 2"), lone),
                         self.done(ring(timing=", prove_deadlock_free: false"), lone))

    def test_systems_with_holes_and_rings_run_with_layers(self):
        for name, layers in (("default.yaml", 3), ("six_sip_torus.yaml", 2)):
            with self.subTest(system=name):
                options = ["--topology", cli_support.topology(name), "--links", "flit", "--set", "*.buffer_flits=2"]
                self.refuses("run", "--kernel", "all_reduce", *options, lines=1, saying=[f"legal: {layers} vcs or more"])
                self.succeeds("run", "--kernel", "all_reduce", "--verify", *options, "--set", f"*.vcs={layers}")

    def test_a_ring_with_a_node_that_takes_all_is_proved(self):
        free = ring(free=2)
        self.assertIn("deadlock-free: proved over ", self.succeeds("topology", self.files(free, AROUND)[1]))
        self.assertEqual(len(self.done(free, AROUND)), 4)

    def test_a_large_mesh_is_proved_fast(self):
        """Links are listed row by row first: ways go along the row, then along the column."""
        side = 24
        nodes, links = {}, []
        at = [(r, c) for r in range(side) for c in range(side)]
        for r, c in at:
            nodes[f"r{r}_{c}"] = ("router", "buffer_flits: 4")
            nodes[f"d{r}_{c}"], nodes[f"m{r}_{c}"] = ("port", ""), ("sram", "")
        links += [(f"r{r}_{c}", f"r{r}_{c + 1}", 1, 64) for r, c in at if c + 1 < side]
        links += [(f"r{r}_{c}", f"r{r + 1}_{c}", 1, 64) for r, c in at if r + 1 < side]
        for r, c in at:
            links += [(f"d{r}_{c}", f"r{r}_{c}", 0, 64), (f"r{r}_{c}", f"m{r}_{c}", 0, 64)]
        yaml = system(nodes, links, [f"m{r}_{c}" for r, c in at])
        start = time.monotonic()
        self.assertIn("deadlock-free", self.succeeds("topology", self.files(yaml, [])[1]))
        self.assertLess(time.monotonic() - start, 20 * cli_support.TIMES_LONGER)

    def test_bad_values_are_told(self):
        legal = "legal: an integer from 1 to "
        for text, saying in (("buffer_flits: 0", ["buffer_flits: found '0'; " + legal]),
                             ("buffer_flits: -1", ["buffer_flits: found '-1'; " + legal]),
                             ("buffer_flits: 1.5", ["buffer_flits: found '1.5'; " + legal]),
                             ("buffer_flits: many", ["buffer_flits: found 'many'; " + legal]),
                             ("buffer_flits: 2, vcs: 0", ["vcs: found '0'; " + legal]),
                             ("buffer_flits: 2, vcs: 2000", ["vcs: found '2000'; " + legal]),
                             ("buffer_flits: 2, vcs: two", ["vcs: found 'two'; " + legal]),
                             ("buffer_flits: 2, allocation: fair",
                              ["allocation: found 'fair'; legal: round_robin, oldest_first"])):
            self.refuses("topology", self.files(line(", " + text), [])[1], lines=1,
                         saying=["t.yaml:6: nodes[2].attrs."] + saying)
        self.refuses("topology", self.files(ring(timing=", prove_deadlock_free: maybe"), [])[1],
                     saying=["prove_deadlock_free: found 'maybe'; legal: true or false"], lines=1)
        path = self.files(line(", buffer_flits: 2"), [])[1]
        for links in ("ideal", "cut_through"):
            self.refuses("topology", path, "--links", links, lines=1, saying=[
                f"t.yaml:6: buffer_flits: found 2 on 'r1' with links: {links}; legal: only with links: flit"])
        self.refuses("topology", cli_support.topology("small.yaml"), "--set", "*.r?c?.buffer_flits=4", lines=1,
                     saying=["found 4 on 'sip0.cube0.r0c0' and 23 more with links: ideal"])

    def test_a_foreign_block_takes_part_and_must_be_bound(self):
        yaml = line(", buffer_flits: 2") + "foreign:\n- {id: tap, between: [r0, r1]}\n"
        self.refuses("traffic", *self.files(yaml, [(0, "a", "write", 0, FLIT)]), lines=1,
                     saying=["tap: nothing is bound that takes the requests of r0"])


if __name__ == "__main__":
    cli_support.main()
