# SPDX-License-Identifier: Apache-2.0
"""Is the editors' schema what kernbench accepts: generated anew it is the same, and it knows every key that is read?"""
import json
import os
import subprocess
import unittest

from cli_support import TOPOLOGIES, Cli, main

ROOT = os.path.dirname(TOPOLOGIES)


class Schema(Cli):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(TOPOLOGIES, "topology.schema.json"), encoding="utf-8") as file:
            cls.schema = json.load(file)

    def test_is_up_to_date(self):
        done = subprocess.run([os.path.join(ROOT, "scripts", "topology-schema"), "--check"], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_has_the_attributes_that_the_blocks_declare(self):
        for component in json.loads(self.succeeds("list", "components", "--format", "json")):
            rules = self.schema["definitions"][component["kind"]]["allOf"]
            rule, = [r["then"] for r in rules if r["if"]["properties"]["impl"]["const"] == component["impl"]]
            attributes = rule["properties"]["attrs"]
            self.assertEqual(list(attributes["properties"]), [a["name"] for a in component["attributes"]])
            self.assertEqual(attributes.get("required", []), [a["name"] for a in component["attributes"] if a["required"]])
            self.assertFalse(attributes["additionalProperties"])

    def test_leaves_no_room_for_unknown_keys(self):
        def walk(path, schema):
            if "properties" in schema:
                self.assertIn("additionalProperties", schema, path)
                for key, value in schema["properties"].items():
                    walk(f"{path}.{key}", value)

        for key in ("timing", "tray", "sip", "cube", "io_chiplet", "nodes", "links", "memories"):
            walk(key, self.schema["properties"][key])

    def test_is_named_by_every_shipped_topology(self):
        for name in os.listdir(TOPOLOGIES):
            if name.endswith(".yaml"):
                with open(os.path.join(TOPOLOGIES, name), encoding="utf-8") as file:
                    self.assertEqual(file.readline(), "# yaml-language-server: $schema=topology.schema.json\n", name)


if __name__ == "__main__":
    main()
