#!/usr/bin/env python3
"""Two kernbench binaries on the same list of commands: does the new one give what the reference gives?

scripts/compare REFERENCE_BIN [NEW_BIN] [--only PATTERN] [--random N] [--seed S] [--jobs J] [--list] ...

Both get the same input files and run in folders of their own. Compared are, of every command:
  - the exit status, stdout and stderr, byte for byte (traffic, pipeline, probe, topology, list, run, replay, sweep,
    wrong usage and wrong input);
  - op logs: .jsonl record by record, as text and in order; .sqlite by the rows of its view `ops`;
  - VCD: the signals with their widths, and each signal's changes (time, value); neither codes nor the text's order;
  - traces (Chrome JSON): each track's events in order, and the names of processes and tracks;
  - which files there are, and every other file (GTKWave's) byte for byte.
Exempt are
  - of `run`: wall_s, events, the text's line "wall ...", and computed values: max_abs_err, max_rel_err, elements that a
    failed verification shows ("passed" is compared); of `replay`: its seconds;
  - of op logs: log_header, log_check, log_end; in SQLite the table `header`;
  - .npy (outputs) and .kbmem (memory): computed values, and checksums of the log's header;
  - the folder of each binary's own topologies in `list topologies`; builtin.foreign in `list components`; the line of `topology` on figures that edges inside
    a PE do not use.
One line a case that differs: where, the reference's value -> the new one. Exit status: 0 none differs, 1 some do,
2 wrong usage. --selftest shows that every kind of difference is found, and that what is exempt is not taken for one.
"""
import argparse
import fnmatch
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import cases  # noqa: E402
import random_commands  # noqa: E402
import readers  # noqa: E402

ENVIRONMENT = {**os.environ, "KERNBENCH_CACHE": "off"}  # the two must not share derived meshes
TIMEOUT_S = 300


class Comparison:
    """Runs cases with two binaries in a folder for temporary files."""

    def __init__(self, reference, new, folder, tidy, keep=False):
        self.reference, self.new, self.folder, self.tidy, self.keep = reference, new, folder, tidy, keep
        self.inputs = os.path.join(folder, "inputs")
        os.mkdir(self.inputs)
        cases.copy_inputs(self.inputs)

    def difference(self, case):
        """The first difference of a case as a line of text, or None."""
        folder = os.path.join(self.folder, case.name.replace("/", "_"))
        os.makedirs(os.path.join(folder, "in"))
        try:
            commands = case.make(cases.Place(self.inputs, os.path.join(folder, "in"), self.reference))
            folders = [os.path.join(folder, name) for name in ("ref", "new")]  # of one length: outputs may show them
            old, new = [run(binary, commands, out) for binary, out in zip((self.reference, self.new), folders)]
            if case.status is not None and old[-1][0] != case.status:
                return f"no case: the reference's exit status is {old[-1][0]}, expected {case.status}: " + \
                    readers.shown(old[-1][2].decode("utf-8", "replace").strip())
            return self.of_streams(commands, old, new, folders) or self.of_files(*folders)
        finally:
            if not self.keep:
                shutil.rmtree(folder, ignore_errors=True)

    def of_streams(self, commands, old, new, folders):
        for i, (command, a, b) in enumerate(zip(commands, old, new)):
            which = f"{command[0]} " if len(commands) > 1 else ""
            if a[0] != b[0]:
                told = f" ({readers.shown(self.tidy.text(b[2], folders[1]).strip())})" if b[2] else ""
                return readers.said(f"{which}exit status", a[0], b[0]) + told
            texts = [self.tidy.stdout(command or [""], r[1], f) for r, f in zip((a, b), folders)]
            errors = [self.tidy.text(r[2], f) for r, f in zip((a, b), folders)]
            if found := (readers.text_difference(which + "stdout", *texts)
                         or readers.text_difference(which + "stderr", *errors)):
                return found
        return None

    def of_files(self, old, new):
        names = [sorted(os.listdir(folder)) for folder in (old, new)]
        if names[0] != names[1]:
            return readers.said("files", " ".join(names[0]) or "none", " ".join(names[1]) or "none")
        for name in names[0]:
            if found := readers.file_difference(name, os.path.join(old, name), os.path.join(new, name), self.tidy):
                return found
        return None


def run(binary, commands, folder):
    """Exit status, stdout and stderr of each command, run in the folder one after the other."""
    os.mkdir(folder)
    results = []
    for command in commands:
        try:
            done = subprocess.run([binary, *command], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=TIMEOUT_S, check=False)
            results.append((done.returncode, done.stdout, done.stderr))
        except subprocess.TimeoutExpired:
            results.append((f"none in {TIMEOUT_S} s", b"", b""))
    return results


# ---- Many at once: processes, because reading logs is work for this one too


STATE = {}


def work(index):
    start = time.monotonic()
    try:
        found = STATE["comparison"].difference(STATE["cases"][index])
    except Exception as fault:  # one case must not end all others; it counts as different
        found = f"the comparison failed: {type(fault).__name__}: {fault}"
    return found, time.monotonic() - start


def compare_all(comparison, chosen, options):
    """Prints a line for each case that differs; gives their number."""
    STATE.update(comparison=comparison, cases=chosen)
    differ = 0
    terminal = sys.stderr.isatty()
    context = multiprocessing.get_context("fork")
    with context.Pool(options.jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        for i, (found, seconds) in enumerate(pool.imap(work, range(len(chosen)))):
            if terminal:
                sys.stderr.write("\r\033[K")
            if found:
                differ += 1
                print(f"{chosen[i].name}: {found}", flush=True)
            if options.verbose:
                print(f"{chosen[i].name}: {'differs' if found else 'same'}, {seconds:.2f} s", flush=True)
            if terminal:
                sys.stderr.write(f"{i + 1} of {len(chosen)} cases, {differ} differ")
                sys.stderr.flush()
    if terminal:
        sys.stderr.write("\r\033[K")
    return differ


# ---- The command line


class Parser(argparse.ArgumentParser):
    def error(self, message):
        sys.stderr.write(f"compare: {message}\n")
        sys.exit(2)


def whole(least):
    def parse(text):
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"found '{text}', expected a whole number from {least}")
        return int(text)
    return parse


def arguments():
    parser = Parser(prog="scripts/compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference", metavar="REFERENCE_BIN", help="the kernbench whose results are right")
    parser.add_argument("new", metavar="NEW_BIN", nargs="?",
                        default=os.path.join(cases.SOURCE, "build", "release", "bin", "kernbench"),
                        help="the kernbench to compare; default: build/release/bin/kernbench")
    parser.add_argument("--only", metavar="PATTERN", action="append",
                        help="only cases with this shell pattern in their name (repeatable: any of them)")
    parser.add_argument("--random", metavar="N", type=whole(0), default=200, help="random cases (200)")
    parser.add_argument("--seed", metavar="S", type=whole(0), default=1, help="of the first random case (1)")
    parser.add_argument("--jobs", metavar="J", type=whole(1), default=os.cpu_count() or 1, help="cases at a time")
    parser.add_argument("--list", action="store_true", help="only name the cases")
    parser.add_argument("--selftest", action="store_true", help="the reference against itself with outputs changed")
    parser.add_argument("--ignore-source-lines", action="store_true",
                        help="do not compare the line numbers of kernels' sources in logs and messages")
    parser.add_argument("--keep", metavar="FOLDER", help="leave inputs and outputs of the cases here; must not exist")
    parser.add_argument("-v", "--verbose", action="store_true", help="every case, with its seconds")
    return parser, parser.parse_args()


def choose(options):
    everything = [*cases.fixed_cases(), *random_commands.random_commands(options.random, options.seed)]
    names = [case.name for case in everything]
    assert len(set(names)) == len(names), sorted(n for n in set(names) if names.count(n) > 1)
    wanted = options.only or ["*"]
    return [case for case in everything if any(fnmatch.fnmatchcase(case.name, f"*{pattern}*") for pattern in wanted)]


def main():
    parser, options = arguments()
    for binary in (options.reference, *(() if options.list or options.selftest else (options.new,))):
        if not (os.path.isfile(binary) and os.access(binary, os.X_OK)):
            parser.error(f"{binary} is no program")
    options.reference, options.new = os.path.abspath(options.reference), os.path.abspath(options.new)
    chosen = choose(options)
    if not chosen:
        parser.error(f"no case has {' or '.join(options.only or ['a name'])} in its name; --list names all")
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    if options.keep and os.path.exists(options.keep):
        parser.error(f"{options.keep} exists")
    with tempfile.TemporaryDirectory(prefix="compare.") as temporary:
        folder = temporary
        if options.keep:
            os.makedirs(options.keep)
            folder = os.path.abspath(options.keep)
        if options.selftest:
            import selftest
            return selftest.run(options.reference, folder, cases.fixed_cases())
        tidy = readers.Tidy(options.ignore_source_lines)
        comparison = Comparison(options.reference, options.new, folder, tidy, bool(options.keep))
        differ = compare_all(comparison, chosen, options)
    print(f"{len(chosen)} cases, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # `--list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
