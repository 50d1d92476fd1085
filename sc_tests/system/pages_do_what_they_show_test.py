# SPDX-License-Identifier: Apache-2.0
"""Do the pages of docs print what they show? Each page runs in a folder of its own.

A ```bash block is run as it stands, the blocks of a page one after the other in one shell. A ```text block behind it is
what is printed: pieces between lines of … in this order. Tutorials begin with an empty folder; the other pages have
examples/ and topologies/ there, as in a clone. A block marked "long" runs with scripts/test --all alone, one that
"needs" a program never."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import cli_support

BUILD, SOURCE, CMAKE = (os.environ[name] for name in ("KERNBENCH_BUILD", "KERNBENCH_SOURCE", "KERNBENCH_CMAKE"))
# Parts that depend on the version and the machine.
MASKS = [(r"max abs \S+  (max rel \S+|\S+( %)? of its tolerance)", "max abs #  of tolerance #"), (r"computed \(\w+\), in [\d.]+ s", "computed (#), in # s"),
         (r"wall \d+\.\d+ s \(simulation \d+\.\d+, replay \d+\.\d+\)", "wall # s (simulation #, replay #)")]
LONG = "(?: long)?" if os.environ.get("KERNBENCH_TEST_LONG") else ""
BLOCK = re.compile(rf"^```bash{LONG}\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
PAGES = {kind: sorted(glob.glob(f"{SOURCE}/docs/{kind}/*.md")) for kind in (".", "tutorials", "howto", "commands")}


def masked(text):
    for pattern, instead in MASKS:
        text = re.sub(pattern, instead, text)
    return text


def missing(shown, printed):
    """The first piece that is not printed behind those before it; None: all are."""
    at = 0
    for piece in re.split(r"^ *…\n", masked(shown), flags=re.M):
        found = printed.find(piece, at)
        if found < 0:
            return piece
        at = found + len(piece)
    return None


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = f"{folder.name}/installed"
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", cls.prefix], check=True, stdout=subprocess.DEVNULL)
        pkg_config, = glob.glob(f"{cls.prefix}/lib*/**/pkgconfig", recursive=True)
        cls.environment = {**os.environ, "PATH": f"{cls.prefix}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": pkg_config,
                           "LD_LIBRARY_PATH": os.path.dirname(pkg_config)}

    def outputs(self, page, like_a_clone):
        """(what is shown, what is printed) of each block of the page."""
        with open(page) as f:
            blocks = BLOCK.findall(f.read())
        with tempfile.TemporaryDirectory() as folder:
            for part in ("examples", "topologies") if like_a_clone else ():
                os.symlink(os.path.join(SOURCE, part), os.path.join(folder, part))
            script = "set -e\n" + "".join(f"{commands}\nprintf '\\0'\n" for commands, _ in blocks)
            done = subprocess.run(["bash", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, env=self.environment, timeout=(600 if LONG else 120) * cli_support.TIMES_LONGER)
            self.assertEqual(done.returncode, 0, f"{page}: {done.stdout[-500:]}{done.stderr[-1500:]}")
        return [(shown, printed.lstrip("\n")) for (_, shown), printed in zip(blocks, done.stdout.split("\0"))]

    def check(self, kind, like_a_clone):
        self.assertTrue(PAGES[kind])
        for page in PAGES[kind]:
            with self.subTest(page=os.path.relpath(page, SOURCE)):
                for shown, printed in self.outputs(page, like_a_clone):
                    piece = missing(shown, masked(printed))
                    self.assertIsNone(piece, f"is not printed, or not behind what stands before it:\n{piece}\nof\n{printed}")

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is missing")
    def test_tutorials_work_from_an_empty_folder(self):
        self.check("tutorials", like_a_clone=False)

    def test_other_pages_print_what_they_show(self):
        self.check(".", like_a_clone=True)
        self.check("howto", like_a_clone=True)
        self.check("commands", like_a_clone=True)

    def test_what_is_not_printed_is_found(self):
        self.assertIsNone(missing("a\n…\nc\n", "a\nb\nc\n"))
        self.assertEqual(missing("a\n…\nd\n", "a\nb\nc\n"), "d\n")
        self.assertEqual(missing("c\n…\na\n", "a\nb\nc\n"), "a\n")


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("plug-ins and platforms of the pages are built as a user builds them, without")
    cli_support.main()
