# SPDX-License-Identifier: Apache-2.0
"""Can the linker give one instruction set the code of another? It keeps one copy of each name that several objects define
(inline functions, templates); so each set's object may define such names in its own Eigen namespace only."""
import glob
import os
import subprocess
import unittest

import cli_support

BUILD = os.environ["KERNBENCH_BUILD"]
SETS = ("portable", "avx2", "avx512")
# A word of data in each object: the address of the library's function for exceptions.
HARMLESS = {"DW.ref.__gxx_personality_v0"}


def symbols(path, *options):
    """[(name, type)] as nm lists what the object or library defines."""
    done = subprocess.run(["nm", "--format=posix", "--defined-only", *options, path], capture_output=True, text=True,
                          check=True)
    return [tuple(line.split()[:2]) for line in done.stdout.splitlines()]


def shared(found, isa):
    """Names that other objects may define as well."""
    own = f"{len('Eigen_' + isa)}Eigen_{isa}"
    return [name for name, kind in found if kind in "WwVvu" and name not in HARMLESS and own not in name]


class InstructionSets(unittest.TestCase):
    def objects(self):
        for isa in SETS:
            (path,) = glob.glob(f"{BUILD}/phase2/CMakeFiles/kernbench_phase2.dir/eval/arithmetic_{isa}.cpp.*o*")
            yield isa, symbols(path)

    def test_define_nothing_that_the_linker_could_merge(self):
        for isa, found in self.objects():
            self.assertEqual(shared(found, isa), [], isa)
            self.assertTrue(any(f"Eigen_{isa}" in name for name, _ in found), f"{isa}: no Eigen in the object")

    def test_are_reached_by_one_name_each(self):
        for isa, found in self.objects():
            strong = [name for name, kind in found if kind in "TDBRGS"]
            self.assertEqual(strong, [f"_ZN9kernbench6phase26detail{len('arithmetic_' + isa)}arithmetic_{isa}Ev"], isa)

    def test_show_nothing_of_eigen_outside_the_library(self):
        (library,) = glob.glob(f"{BUILD}/lib/libkernbench_phase2.so")
        self.assertEqual([name for name, _ in symbols(library, "--dynamic") if "Eigen_" in name], [])

    def test_of_another_name_or_none_are_noticed(self):
        own, other = "_ZN10Eigen_avx28internal1fEv", "_ZN12Eigen_avx5128internal1fEv"
        found = [(own, "W"), (other, "W"), ("_ZSt3maxIfERKT_S2_S2_", "W"), ("_ZN5Eigen8internal1fEv", "u"), ("f", "t")]
        self.assertEqual(shared(found, "avx2"), [name for name, _ in found[1:4]])
        self.assertEqual(shared(found, "avx512"), [own] + [name for name, _ in found[2:4]])


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("their objects have names that all share")
    unittest.main()
