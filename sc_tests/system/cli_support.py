# SPDX-License-Identifier: Apache-2.0
"""What the Python tests of the command line share: where things are, how the CLI is called."""
import hashlib
import os
import subprocess
import sys
import tempfile
import unittest

KERNBENCH = os.environ["KERNBENCH_CLI"]
TOPOLOGIES = os.environ["KERNBENCH_TOPOLOGIES"]
DATA = os.environ["KERNBENCH_TEST_DATA"]
# From exceptions that name neither the input nor the position.
BARE = r"json\.exception|\bsto[uidl]+\b|_M_|bad_alloc|basic_|map::at|bad_function|bad_optional|bad_variant|std::(?!exception)"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
TIMES_LONGER = int(os.environ.get("KERNBENCH_TIMES_LONGER", 1))  # time limit factor under a sanitizer


def skip_under_sanitizers(why):
    if os.environ.get("KERNBENCH_SANITIZED"):
        leave_out(f"not under a sanitizer: {why}")


def leave_out(why):
    """Ends the file as skipped; scripts/test gathers these lines."""
    print(f"left out: {os.path.basename(sys.argv[0])}: {why}")
    sys.exit(SKIPPED)


def topology(name):
    return os.path.join(TOPOLOGIES, name)


def sample(name, file):
    return os.path.join(DATA, "samples", name, file)


def build_plugin(source, library, *flags):
    subprocess.run([os.environ["KERNBENCH_CXX"], "-std=c++17", "-O1", *flags, "-fPIC", "-shared", "-I",
                    os.environ["KERNBENCH_INCLUDE"], source, "-o", library], check=True)


def example_kernels():
    """Names of the kernels of examples/kernels."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "kernels")
    return {file[:-4] for file in os.listdir(folder) if file.endswith(".cpp")} - {"plugin"}


PLUGIN = ["--plugin", os.environ.get("KERNBENCH_EXAMPLE_KERNELS", "")]


def with_plugin(words):
    """The words, and the plug-in of examples/kernels where they name a kernel of it."""
    named = [kernel for option, kernel in zip(words, words[1:]) if option == "--kernel"]
    return [*words, *PLUGIN] if example_kernels().intersection(named) and PLUGIN[0] not in words else words


OUTPUTS = {"--log", "--dump", "--oplog", "--memory", "--trace", "--report", "--vcd", "--ftr", "--activity", "--wiring", "--svg",
           "--sqlite", "--store", "--output", "-o", "--statistics", "--dram-commands", "--into"}
INPUTS_OF = {"replay": {"--memory"}, "traffic": {"--trace"}}  # commands for which an output of `run` is an input


def input_files(arguments):
    """The files that the words of a command line name, but for its outputs; those of folders too."""
    outputs = OUTPUTS - set().union(*(INPUTS_OF.get(word, ()) for word in arguments))
    files, before = set(), ""
    for word in arguments:
        option, equals, value = word.partition("=") if word.startswith("-") else (before, "", word)
        before = "" if equals or not word.startswith("-") else word
        if option in outputs or (arguments[:2] == ["sweep", "merge"] and word == arguments[2]):
            continue
        for name in (value, value.partition("=")[2]):
            for file in (name, topology(name)) if name else ():
                in_it = [os.path.join(file, f) for f in os.listdir(file)] if option == "--test-data" and os.path.isdir(file) else []
                files.update(f for f in [file, *in_it] if os.path.isfile(f))
    return files


def checksum(file):
    with open(file, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


class Cli(unittest.TestCase):
    def run_cli(self, *arguments, timeout=120):
        """Exit status, stdout and stderr of a run without terminal and stdin. No input file is another one behind it."""
        words = with_plugin([str(a) for a in arguments])
        inputs = {file: checksum(file) for file in input_files(words)}
        done = subprocess.run([KERNBENCH, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout * TIMES_LONGER)
        for file, before in inputs.items():
            assert os.path.exists(file), f"{words}: {file} is gone"
            assert checksum(file) == before, f"{words}: {file} has changed"
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def succeeds(self, *arguments):
        status, out, err = self.run_cli(*arguments)
        self.assertEqual(status, 0, err)
        return out

    def refuses(self, *arguments, status=2, saying=(), lines=None):
        """Asserts the status, an empty stdout, and one line per fault on stderr that says all of `saying`."""
        found, out, err = self.run_cli(*arguments)
        told = err.strip().splitlines()
        self.assertEqual(found, status, f"{arguments}: {err}")
        self.assertEqual(out, "", arguments)
        self.assertTrue(told, "nothing on stderr")
        for word in saying:
            self.assertIn(word, err)
        if lines is not None:
            self.assertEqual(len(told), lines, err)
        for line in told:
            self.assertLess(len(line), 800, line)
        self.assertNotIn("terminate called", err)
        self.assertNotIn("SystemC", err)
        self.assertNotRegex(err, BARE, "a library's words")
        self.assertNotRegex(err, "[\x00-\x09\x0b-\x1f\x7f]", "control characters")
        return err


class FolderCli(Cli):
    """Each test has a folder of its own."""

    def setUp(self):
        # A browser that has just ended may still write to its profile there.
        self.folder = self.enterContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))

    def path(self, name):
        return os.path.join(self.folder, name)


def main():
    """A file of which a case was left out counts as skipped, never as passed, and says what would bring the case."""
    program = unittest.main(exit=False, verbosity=2)
    if not program.result.wasSuccessful() or not (program.result.testsRun or program.result.skipped):
        sys.exit(1)
    for case, why in program.result.skipped:
        print(f"left out: {os.path.basename(sys.argv[0])}: {case.id().replace('__main__.', '')}: {why}")
    sys.exit(SKIPPED if program.result.skipped else 0)
