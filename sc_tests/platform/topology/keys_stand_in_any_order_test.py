#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does every topology that ships compile to the same graph, whatever the order of the keys in its mappings?"""
import json
import os
import random
import tempfile

import cli_support
import random_machines

try:
    import yaml
except ImportError:
    cli_support.leave_out("there is no yaml for Python (Debian: apt-get install python3-yaml)")


class Keys(cli_support.Cli):
    def graph(self, path):
        return json.loads(self.succeeds("topology", path, "--format", "json"))

    def test_shipped_topologies(self):
        for name in sorted(os.listdir(cli_support.TOPOLOGIES)):
            if not name.endswith(".yaml") or name == "big.yaml":
                continue
            with self.subTest(topology=name), tempfile.TemporaryDirectory() as folder:
                path = cli_support.topology(name)
                with open(path, encoding="utf-8") as file:
                    described = yaml.safe_load(file)
                if isinstance(described.get("energy"), str):
                    described["energy"] = os.path.join(cli_support.TOPOLOGIES, described["energy"])
                graph = self.graph(path)
                for seed in range(3):
                    other = random_machines.permuted(described, random.Random(seed))
                    found = self.graph(random_machines.write(other, os.path.join(folder, name)))
                    for part in ("ns_per_mm", "timing", "nodes", "edges", "memories"):
                        self.assertEqual(found[part], graph[part], f"{part}, seed {seed}")


if __name__ == "__main__":
    cli_support.main()
