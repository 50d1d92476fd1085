# SPDX-License-Identifier: Apache-2.0
"""Six runs whose energy is worked out by hand, to the last digit. Times do not matter here, but for static power: what
counts is what was moved and computed."""
import json
import os
import tempfile
from decimal import Decimal

from cli_support import Cli, main, topology

CONSTANT = "{{value: {}, unit: {}, source: a test, quality: assumed, range: [{}, {}]}}"


def constant(value, unit):
    """With half and twice the value as its range."""
    return CONSTANT.format(value, unit, Decimal(value) / 2, Decimal(value) * 2)


TABLE = f"""
name: by hand
mac: {{f16: {constant("0.77", "pJ")}}}
math: {{add: {constant("0.38", "pJ")}, simple: {constant("5", "pJ")}}}
sram:
  - {{size_kb: 16384, read: {constant("0.249", "pJ/bit")}, write: {constant("0.293", "pJ/bit")}}}
wire: {constant("0.0695", "pJ/bit/mm")}
router: {constant("0.27", "pJ/bit")}
ucie: {constant("0.25", "pJ/bit")}
hbm: {{access: {constant("3.9", "pJ/bit")}}}
"""
PJ = Decimal("1e-12")


class ByHand(Cli):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def energy(self, system, *arguments, table=TABLE):
        """What a run's report says, numbers with all their digits; its joules by class; its time in ns."""
        file = os.path.join(self.folder.name, "table.yaml")
        with open(file, "w", encoding="utf-8") as out:
            out.write(table)
        said = self.succeeds("run", "--topology", topology(system), "--energy", file, "--format", "json", *arguments)
        report = json.loads(said, parse_float=Decimal)
        classes = {c["class"]: c["joules"] for c in report["energy"]["by_class"]}
        return report["energy"], classes, report["sim_ns"]

    def check(self, classes, energy, expected):
        """`expected`: pJ by class. The band is half and twice of it."""
        self.assertEqual(set(classes), set(expected))
        for name, pj in expected.items():
            self.assertEqual(classes[name]["value"], pj * PJ, name)
            self.assertEqual(classes[name]["low"], pj * PJ / 2, name)
            self.assertEqual(classes[name]["high"], pj * PJ * 2, name)
        self.assertEqual(energy["joules"]["value"], sum(expected.values()) * PJ)

    def test_a_sum_of_vectors(self):
        """1,024 elements of f32 on one PE of one_cube.yaml: two reads and a write of 4,096 bytes each.
        pe_dma --0.5 mm-- r0c0 --0.5 mm-- hbm_ctrl; routed responses; headers of 16 bytes = 128 bits on each message."""
        energy, classes, _ = self.energy("one_cube.yaml", "--kernel", "vector_add", "--param", "n=1024", "--pes",
                                         "sip0.cube0.pe0", "--launch", "direct")
        # A read: a request of 128 bits there, 32,768 + 128 bits back. A write: 32,768 + 128 there, 128 back.
        bits = 3 * (128 + 32768 + 128)
        self.assertEqual(bits, 99072)
        self.check(classes, energy, {
            "math": 1024 * Decimal("0.38"),
            "hbm": 3 * 32768 * Decimal("3.9"),
            "wire": bits * 2 * Decimal("0.5") * Decimal("0.0695"),
            "router": bits * Decimal("0.27"),
            # Read: two operands of the addition, the sum for the store. Written: two loads, the sum.
            "sram": 3 * 32768 * Decimal("0.249") + 3 * 32768 * Decimal("0.293"),
        })
        # By hand: 389.12 + 383385.6 + 6885.504 + 26749.44 + 24477.696 + 28803.072 pJ.
        self.assertEqual(energy["joules"]["value"], Decimal("0.000000470690432"))

    def test_an_op_counts_by_its_class_or_is_named(self):
        """A softmax of 8 x 32 elements: its row has 11 cycles of a multiply. A table that has neither it nor multiplies
        names it as not counted, though it has another class; one with its own constant takes that."""
        for math, each in (('multiply: ' + constant("2", "pJ"), 22),
                           ('multiply: ' + constant("2", "pJ") + ', softmax: ' + constant("3", "pJ"), 3),
                           ('simple: ' + constant("5", "pJ"), None), ('exp: ' + constant("5", "pJ"), None)):
            energy, classes, _ = self.energy("small.yaml", "--kernel", "softmax", "--param", "rows=8", "--param", "cols=32",
                                             "--pes", "sip0.cube0.pe0", "--launch", "direct",
                                             table=f"name: ops\nmath: {{{math}}}\n")
            named = [n for n in energy["not_counted"] if n.startswith("math.")]
            if each is None:
                self.assertEqual(classes, {})
                self.assertEqual(named, ["math.softmax (256)"])
                continue
            self.check(classes, energy, {"math": Decimal(256 * each)})
            self.assertEqual([c["name"] for c in energy["by_constant"]], ["math.softmax"])
            self.assertEqual(named, [])

    def test_a_product_in_tiles(self):
        """64 x 64 x 128 in tiles of 32 x 32 x 64, f16: eight tiles, each with an A part and a B part of 4,096 bytes;
        four output tiles of 2,048 bytes."""
        energy, classes, _ = self.energy(
            "one_cube.yaml", "--kernel", "gemm", "--pes", "sip0.cube0.pe0", "--launch", "direct",
            *(word for p in ("dtype=f16", "m=64", "n=64", "k=128", "tile_m=32", "tile_n=32", "tile_k=64")
              for word in ("--param", p)))
        read, written = 8 * 2 * 4096 * 8, 4 * 2048 * 8
        headers = (8 * 2 + 4) * 2 * 128
        self.check(classes, energy, {
            "mac": 64 * 64 * 128 * Decimal("0.77"),
            "hbm": (read + written) * Decimal("3.9"),
            "wire": (read + written + headers) * 2 * Decimal("0.5") * Decimal("0.0695"),
            "router": (read + written + headers) * Decimal("0.27"),
            # DMA writes what FETCH reads, STORE writes what DMA reads.
            "sram": (read + written) * (Decimal("0.249") + Decimal("0.293")),
        })
        # 403701.76 + 2300313.6 + 41348.608 + 160634.88 + 146866.176 + 172818.432... see the sum of all:
        self.assertEqual(energy["joules"]["value"],
                         (Decimal("403701.76") + Decimal("2300313.6") + Decimal("41348.608") + Decimal("160634.88")
                          + Decimal("319684.608")) * PJ)

    def test_short_rows_cost_whole_bursts(self):
        """Eight elements of f32 on small.yaml, whose links are ideal and without headers: 32 bytes move as bursts of 64
        in HBM alone."""
        energy, classes, _ = self.energy("small.yaml", "--kernel", "vector_add", "--param", "n=8", "--pes",
                                         "sip0.cube0.pe0", "--launch", "direct")
        self.check(classes, energy, {
            "math": 8 * Decimal("0.38"),
            "hbm": 3 * 64 * 8 * Decimal("3.9"),
            "wire": 3 * 32 * 8 * 2 * Decimal("0.5") * Decimal("0.0695"),
            "router": 3 * 32 * 8 * Decimal("0.27"),
            "sram": 3 * 32 * 8 * (Decimal("0.249") + Decimal("0.293")),
        })

    def test_flits_have_headers_where_they_have_no_data(self):
        """The sum of vectors with flits: a read's request and a write's acknowledgement have 128 bits, data have none."""
        energy, classes, _ = self.energy("one_cube.yaml", "--kernel", "vector_add", "--param", "n=1024", "--pes",
                                         "sip0.cube0.pe0", "--launch", "direct", "--links", "flit")
        bits = 3 * (32768 + 128)
        self.assertEqual(classes["wire"]["value"], bits * 2 * Decimal("0.5") * Decimal("0.0695") * PJ)
        self.assertEqual(classes["router"]["value"], bits * Decimal("0.27") * PJ)
        self.assertEqual(classes["hbm"]["value"], 3 * 32768 * Decimal("3.9") * PJ)

    def test_messages_cross_the_dies(self):
        """Two PEs on two dies send each other 1,024 elements of f32: a segment of 4,096 bytes and a credit of 16 each."""
        _, classes, _ = self.energy("small.yaml", "--kernel", "sendrecv", "--param", "n=1024", "--pes",
                                    "sip0.cube0.pe0,sip0.cube1.pe0", "--launch", "direct")
        self.assertEqual(classes["ucie"]["value"], 2 * (4096 + 16) * 8 * Decimal("0.25") * PJ)
        # A PE reads its TCM to send, reads its slot, and reads to store. It writes its loads, the slot, and its
        # received data.
        self.assertEqual(classes["sram"]["value"], 2 * 3 * 4096 * 8 * (Decimal("0.249") + Decimal("0.293")) * PJ)
        self.assertEqual(classes["hbm"]["value"], 2 * 2 * 4096 * 8 * Decimal("3.9") * PJ)

    def test_static_power(self):
        """0.125 W for each of the eight pe_gemm of one_cube.yaml, as long as the run takes."""
        table = TABLE + f"static: {{pe_gemm: {constant('0.125', 'W')}}}\n"
        energy, classes, sim_ns = self.energy("one_cube.yaml", "--kernel", "vector_add", "--param", "n=1024", "--pes",
                                              "sip0.cube0.pe0", "--launch", "direct", table=table)
        fs = int(Decimal(str(sim_ns)) * 10**6 + Decimal("0.38"))
        self.assertEqual(classes["static"]["value"], 8 * fs * Decimal("0.125") * Decimal("1e-15"))
        self.assertEqual(energy["joules"]["value"], Decimal("0.000000470690432") + classes["static"]["value"])


if __name__ == "__main__":
    main()
