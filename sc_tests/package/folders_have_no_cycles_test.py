# SPDX-License-Identifier: Apache-2.0
"""No folder of the sources knows itself by way of another, nor one SystemC, a link mode or an attribute that must not:
scripts/check-folders."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import unittest


CHECK = os.path.join(os.environ["KERNBENCH_SOURCE"], "scripts", "check-folders")


class Folders(unittest.TestCase):
    def test_have_no_cycles(self):
        checked = subprocess.run([CHECK], capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_a_list_of_attributes_or_kinds_is_found(self):
        loader = importlib.machinery.SourceFileLoader("check_folders", CHECK)
        check = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(check)
        names = check.declared_names()
        for name in ("queue_depth", "tRP", "pc_bw_gbs", "bus_width", "poll_ns", "router", "io_noc", "pe_gemm", "pcie_ep", "foreign"):
            self.assertIn(name, names)
        lists = 'const char* kinds[] = {"router", "xbar"};\nif (a.name == "reserved_mb") ++room;\n// "lanes"\n"no lanes"\n'
        self.assertEqual([line[0] for line in check.declared_names_in(lists, names)], ["1", "2"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
