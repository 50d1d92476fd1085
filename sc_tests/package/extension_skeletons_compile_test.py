# SPDX-License-Identifier: Apache-2.0
"""Does every skeleton of docs/extending.md compile, and the diff of docs/models.md? One that begins with // In FILE, behind "TEXT" is put there in a copy."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import cli_support

SOURCE, COMPILER, INCLUDE = (os.environ[name] for name in ("KERNBENCH_SOURCE", "KERNBENCH_CXX", "KERNBENCH_INCLUDE"))
PIECE = re.compile(r'// In (\S+), behind "(.*?)"\n', re.S)
# Extension points without C++: a row of phase2/op/elementwise_ops.inc, which has its own tests, and a key of a YAML
# file.
WITHOUT = {"Op", "Energy constant"}


def skeletons():
    """{heading: its C++}"""
    with open(f"{SOURCE}/docs/extending.md", encoding="utf-8") as f:
        sections = re.split(r"^## (.*)$", f.read(), flags=re.M)
    return {heading: re.findall(r"^```cpp\n(.*?)^```", text, re.M | re.S)
            for heading, text in zip(sections[1::2], sections[2::2])}


def whole_file(skeleton):
    """The skeleton, or the file of the sources that it is a piece of, with it."""
    piece = PIECE.match(skeleton)
    if not piece:
        return skeleton
    with open(f"{SOURCE}/{piece[1]}", encoding="utf-8") as f:
        text = f.read()
    if text.count(piece[2]) != 1:
        raise AssertionError(f"{piece[1]} has {text.count(piece[2])} times: {piece[2]}")
    return text.replace(piece[2], piece[2] + "\n" + skeleton[piece.end():])


def faults(text):
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/skeleton.cpp"
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
        return subprocess.run([COMPILER, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-const-variable",
                               "-I", INCLUDE, file], capture_output=True, text=True, timeout=120 * cli_support.TIMES_LONGER).stderr


class Skeletons(unittest.TestCase):
    def test_each_compiles_and_has_at_most_twenty_lines(self):
        for heading, blocks in skeletons().items():
            with self.subTest(heading=heading):
                self.assertEqual(len(blocks), 0 if heading in WITHOUT else 1)
                for block in blocks:
                    lines = [line for line in block.splitlines() if line.strip()]
                    self.assertLessEqual(len(lines), 20)
                    self.assertEqual(faults(whole_file(block)), "")

    def test_a_wrong_one_is_found(self):
        memory = skeletons()["Memory"][0]
        self.assertIn("error", faults(memory.replace("q.nbytes", "q.bytes")))
        family = skeletons()["Model family"][0]
        self.assertIn("error", faults(whole_file(family.replace("m->window", "m->windows"))))
        with self.assertRaises(AssertionError):
            whole_file(family.replace("all = {", "none = {"))

    def test_the_diff_of_a_model_family_applies_and_compiles(self):
        name = "platform/models/families.cpp"
        with open(f"{SOURCE}/docs/models.md", encoding="utf-8") as f:
            diff = re.search(r"^```diff\n(.*?)^```", f.read(), re.M | re.S)[1]
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(f"{folder}/{os.path.dirname(name)}")
            shutil.copy(f"{SOURCE}/{name}", f"{folder}/{name}")
            done = subprocess.run(["git", "apply"], input=diff, cwd=folder, capture_output=True, text=True,
                                  env={**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(folder)})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(f"{folder}/{name}", encoding="utf-8") as f:
                text = f.read()
        self.assertIn("settle_mine", text)
        self.assertEqual(faults(text), "")

    def test_each_point_of_the_table_has_its_section(self):
        with open(f"{SOURCE}/docs/extending.md", encoding="utf-8") as f:
            points = re.findall(r"^\| \[(.*?)\]\(#(.*?)\)", f.read(), re.M)
        self.assertEqual({anchor for _, anchor in points}, {h.lower().replace(" ", "-") for h in skeletons()})


if __name__ == "__main__":
    cli_support.main()
