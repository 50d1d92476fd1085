"""No folder of the sources knows itself by way of another, nor one SystemC or a link mode that must not:
scripts/check-folders."""
import os
import subprocess
import sys
import unittest


class Folders(unittest.TestCase):
    def test_have_no_cycles(self):
        checked = subprocess.run([os.path.join(os.environ["KERNBENCH_SOURCE"], "scripts", "check-folders")],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
