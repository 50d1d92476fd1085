# SPDX-License-Identifier: Apache-2.0
"""Does `list ops` show the row of every op, and do the shipped machines take as many cycles as their rows say?"""
import json
import re

import cli_support
from cli_support import topology


class Ops(cli_support.Cli):
    def rows(self):
        return {row["name"]: row for row in json.loads(self.succeeds("list", "ops", "--format", "json"))}

    def test_a_row_has_all_that_is_known_of_an_op(self):
        rows = self.rows()
        self.assertGreater(len(rows), 70)
        for name, row in rows.items():
            self.assertTrue(row["help"], name)
            self.assertGreater(row["cycles"], 0, name)
            self.assertIn(row["energy"], ("simple", "multiply"), name)
        exp = dict(rows["exp"], help="")
        self.assertEqual(exp, {"name": "exp", "help": "", "operands": 1, "values": "floats", "elementwise": True, "cycles": 4,
                               "energy": "multiply", "triton": ["math.exp"], "library": ["exp", "fast_exp"], "onnx": "Exp",
                               "since_opset": 1})
        self.assertEqual(rows["maxnum"]["cycles"], rows["maximum"]["cycles"])
        self.assertNotIn("onnx", rows["randn"])

    def test_text_names_the_same(self):
        text = self.succeeds("list", "ops")
        self.assertEqual(re.findall(r"^(\w+)", text, re.M), list(self.rows()))
        self.assertIn("    onnx    Exp since opset 1\n", text)

    def test_no_name_is_of_two_ops(self):
        for key in ("triton", "library"):
            names = [name for row in self.rows().values() for name in row[key]]
            self.assertEqual(len(names), len(set(names)), key)

    def test_shipped_machines_list_the_rows_cycles(self):
        rows = self.rows()
        for name in ("default.yaml", "small.yaml", "one_cube.yaml", "six_sip_torus.yaml", "big.yaml", "tpu_v4i.yaml", "h100.yaml",
                     "a100.yaml"):
            with open(topology(name), encoding="utf-8") as file:
                listed = re.search(r"cycles: \{(.*?)\}", file.read(), re.S)[1]
            for op, cycles in re.findall(r"(\w+): (\d+)", re.sub(r"#.*", "", listed)):
                self.assertEqual(rows[op]["cycles"], int(cycles), f"{name}: {op}")


if __name__ == "__main__":
    cli_support.main()
