# SPDX-License-Identifier: Apache-2.0
"""Are the headers that users may include those of docs/reference/headers.md, at most 120, and do docs and examples use no other?"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["KERNBENCH_BUILD"]
SOURCE = os.environ["KERNBENCH_SOURCE"]
LIST = os.path.join(BUILD, "package", "public_headers.txt")
MOST = 120


def text_of(file):
    with open(file) as f:
        return f.read()


def for_users(file):
    """Its text; of docs/extending.md without the skeletons of what no plug-in can have: they are files of kernbench."""
    text = text_of(file)
    if not file.endswith("docs/extending.md"):
        return text
    for heading in re.findall(r"^\| \[([\w ]+)\]\(#.*\| no \|$", text, re.M):
        text = re.sub(rf"^## {heading}\n.*?(?=^## |\Z)", "", text, flags=re.M | re.S | re.I)
    return text


def headers_below(folder):
    return {os.path.relpath(os.path.join(where, f), folder) for where, _, files in os.walk(folder) for f in files}


class PublicHeaders(unittest.TestCase):
    def setUp(self):
        self.public = text_of(LIST).split(";")

    def test_are_at_most_120_each_named_once(self):
        self.assertLessEqual(len(self.public), MOST)
        self.assertEqual(len(set(self.public)), len(self.public))

    def test_are_those_of_the_docs(self):
        rows = re.findall(r"^\| `([\w/]+/)` \| (.*) \|$", text_of(f"{SOURCE}/docs/reference/headers.md"), re.M)
        documented = [f"{folder}{name.strip()}.h" for folder, names in rows for name in names.split(",")]
        self.assertEqual(sorted(documented), sorted(self.public))

    def test_are_what_examples_and_docs_include(self):
        files = [*glob.glob(f"{SOURCE}/examples/*/*.[ch]*"), *glob.glob(f"{SOURCE}/docs/**/*.md", recursive=True),
                 f"{SOURCE}/README.md"]
        included = {(header, os.path.relpath(file, SOURCE)) for file in files
                    for header in re.findall(r'#include [<"]kernbench/([^">]+)', for_users(file))}
        self.assertGreater(len(included), 40)
        self.assertEqual([i for i in sorted(included) if i[0] not in self.public], [])

    def test_are_the_only_ones_with_a_path_of_their_own_once_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.environ["KERNBENCH_CMAKE"], f"-Dsource={SOURCE}", f"-Dinto={folder}", f"-Dlist={LIST}", "-P",
                            f"{SOURCE}/cmake/InstalledHeaders.cmake"], check=True)
            found = headers_below(f"{folder}/kernbench")
            details = {f for f in found if f.startswith("detail/")}
            self.assertEqual(found - details, set(self.public))
            self.assertEqual({d[len("detail/"):] for d in details} & set(self.public), set())
            included = set()
            for file in found:
                for name in re.findall(r'#include "kernbench/(.*)"', text_of(f"{folder}/kernbench/{file}")):
                    self.assertIn(name, found, file)
                    included.add(name)
            self.assertEqual(details - included, set())
            for file in found:  # installed files equal those of the tree, except for paths
                tree = text_of(os.path.join(SOURCE, file[len("detail/"):] if file in details else file))
                self.assertEqual(text_of(f"{folder}/kernbench/{file}").replace("kernbench/detail/", "kernbench/"), tree, file)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
