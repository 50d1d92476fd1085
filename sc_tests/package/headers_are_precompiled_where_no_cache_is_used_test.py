# SPDX-License-Identifier: Apache-2.0
"""Headers are precompiled where sources are compiled in groups and no compiler cache is used: a cache would lose its hits,
and sources that are read each by itself must find what they include themselves."""
import os
import subprocess
import sys
import tempfile
import unittest


class Configured(unittest.TestCase):
    def precompiled(self, *options):
        """The targets with a precompiled header."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([os.environ["KERNBENCH_CMAKE"], "-S", os.environ["KERNBENCH_SOURCE"], "-B", folder,
                                   f"-DCMAKE_CXX_COMPILER={os.environ['KERNBENCH_CXX']}", "-G", "Ninja",
                                   "-DKERNBENCH_BUILD_TESTS=OFF", *options],
                                  env={k: v for k, v in os.environ.items() if k != "CMAKE_CXX_COMPILER_LAUNCHER"},
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return {os.path.basename(where).removesuffix(".dir") for where, _, files in os.walk(folder)
                    if "cmake_pch.hxx" in files}

    def test_without_a_cache(self):
        self.assertEqual(self.precompiled(), {"kernbench_kernel_api", "kernbench_models", "kernbench_platform"})

    def test_with_a_cache(self):
        self.assertEqual(self.precompiled("-DCMAKE_CXX_COMPILER_LAUNCHER=env"), set())

    def test_source_by_source(self):
        self.assertEqual(self.precompiled("-DKERNBENCH_UNITY=OFF"), set())

    def test_as_it_is_said(self):
        self.assertEqual(self.precompiled("-DKERNBENCH_PRECOMPILE=OFF"), set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
