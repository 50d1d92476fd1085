# SPDX-License-Identifier: Apache-2.0
"""Do reports of runs have the form of docs/run_report.schema.json, and nothing that it does not know?"""
import json
import os
import unittest

import cli_support
from cli_support import topology

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
         "null": type(None)}


def is_kind(value, kind):
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def faults(value, schema, whole, place="report"):
    """Where a value departs from a schema, of as much of JSON Schema as the file uses."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    unknown = set(schema) - {"$schema", "$defs", "title", "description", "type", "enum", "required", "properties",
                             "additionalProperties", "items"}
    assert not unknown, unknown
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_kind(value, k) for k in kinds):
        return [f"{place}: {value!r} is no {kinds}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place}: {value!r} is none of {schema['enum']}"]
    found = []
    if isinstance(value, dict):
        found += [f"{place}: lacks {key}" for key in schema.get("required", []) if key not in value]
        rest = schema.get("additionalProperties", True)
        for key, item in value.items():
            of = schema.get("properties", {}).get(key, rest)
            if of is False:
                found.append(f"{place}: unknown {key}")
            elif of is not True:
                found += faults(item, of, whole, f"{place}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            found += faults(item, schema["items"], whole, f"{place}[{i}]")
    return found


class Schema(cli_support.Cli):
    def setUp(self):
        with open(os.path.join(os.environ["KERNBENCH_SOURCE"], "docs/run_report.schema.json")) as f:
            self.schema = json.load(f)

    def test_reports_have_its_form(self):
        small = ("--topology", topology("small.yaml"), "--format", "json")
        for more in (("--kernel", "gemm", "--verify", "--explain", "--check-races", "--report-topology"),
                     ("--kernel", "vector_add", "--transfer", "timed", "--address", "virtual", "--launch", "direct"),
                     ("--kernel", "all_reduce", "--energy", topology("energy/n7.yaml")),
                     ("--program", "tp_mlp", "--verify", "--explain")):
            report = json.loads(self.succeeds("run", *small, *more))
            self.assertEqual(faults(report, self.schema, self.schema), [], more)

    def test_departures_are_found(self):
        report = json.loads(self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "gemm", "--format", "json"))
        for change in (lambda r: r.pop("run"), lambda r: r.update(more=1), lambda r: r["run"].update(schema=3),
                       lambda r: r["engines"][0].update(ops=1.5), lambda r: r["pes"].append({})):
            other = json.loads(json.dumps(report))
            change(other)
            self.assertNotEqual(faults(other, self.schema, self.schema), [])


if __name__ == "__main__":
    cli_support.main()
