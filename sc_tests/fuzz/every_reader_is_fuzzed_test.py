# SPDX-License-Identifier: Apache-2.0
"""Has every reader of what comes from outside a mutator, good inputs and a fuzz target? What calls one of the ways to read
or to parse must stand in readers.json, with its reader or with why it needs none."""
import json
import os
import re
import subprocess
import unittest

SOURCE = os.environ["KERNBENCH_SOURCE"]
BUILD = os.environ["KERNBENCH_BUILD"]
# Omitted together with their readers if cpp-httplib or Protocol Buffers are missing.
LEFT_OUT = {reader for reader, made in (("http_request", "bin/kernbench-web"), ("onnx", "generated/onnx.pb.h"))
            if not os.path.exists(os.path.join(BUILD, made))}
HERE = os.path.join(SOURCE, "sc_tests/fuzz")
FOLDERS = ("phase2", "kernel_api", "systemc_models", "platform")
# Opening a file for reading, and converting text to values.
WAYS = re.compile(r"ifstream|istream&|fopen\([^;]*\"r|sqlite3_open|YAML::Parser|YAML::Load|json::parse|Json::parse|parse_json|"
                  r"sys/socket\.h|from_chars|\bsto(?:i|l|ul|ull|d|f)\(|\bstrto[a-z]+\(|\bato[ifl]\(|O_RDONLY|O_RDWR")


def readers_in_the_tree():
    for folder in FOLDERS:
        for where, _, files in os.walk(os.path.join(SOURCE, folder)):
            for name in files:
                path = os.path.join(where, name)
                if name.endswith((".cpp", ".h", ".inc")):
                    with open(path) as f:
                        text = re.sub(r"//[^\n]*", "", f.read())
                    # A declaration reads nothing.
                    if WAYS.search(re.sub(r"\b[\w:<>]+ \w+\([^(){}]*istream&[^(){}]*\)( const)?;", "", text)):
                        yield os.path.relpath(path, SOURCE)


class Readers(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(HERE, "readers.json")) as f:
            self.listed = json.load(f)
        self.targets = subprocess.run([os.path.join(BUILD, "bin/fuzz_read")], check=True,
                                      capture_output=True, text=True,
                                      env={**os.environ, "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1"}).stdout.split()

    def test_every_reader_is_listed(self):
        found = set(readers_in_the_tree())
        self.assertGreater(len(found), 20)
        self.assertEqual(sorted(found - set(self.listed)), [], "read from outside: add them to readers.json")
        self.assertEqual(sorted(set(self.listed) - found), [], "read nothing any more")

    def test_every_listed_reader_has_a_target(self):
        named = {reader for reader in self.listed.values() if not reader.startswith("-- ")} - LEFT_OUT
        self.assertEqual(sorted(named), sorted(self.targets))

    def test_every_target_is_built_and_has_inputs(self):
        folders = sorted(set(os.listdir(os.path.join(HERE, "corpus"))) - LEFT_OUT)
        self.assertEqual(folders, sorted(self.targets))
        with open(os.path.join(HERE, "CMakeLists.txt")) as f:
            built = re.search(r"set\(fuzzed ([^)]*)\)", f.read()).group(1).split()
        self.assertEqual(sorted(set(built) - LEFT_OUT), sorted(self.targets))


if __name__ == "__main__":
    unittest.main()
