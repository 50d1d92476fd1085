#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two kernbench binaries on the same list of commands, or one binary with recorded answers.

scripts/compare REFERENCE_BIN [NEW_BIN] [--only PATTERN] [--random N] [--seed S] [--jobs J] [--list] ...
scripts/compare --answers [BIN] [--only PATTERN] ...
scripts/compare --renew NAME [REFERENCE_BIN] BIN

Both binaries get the same input files and run in folders of their own. Compared for every command:
  - exit status, stdout and stderr, byte for byte (traffic, pipeline, probe, topology, list, run, replay, sweep, wrong
    usage and wrong input);
  - op logs: .jsonl record by record, as text and in order; .sqlite by the rows of its view `ops`;
  - VCD: the signals with their widths, and each signal's changes (time, value), but not codes and order of the text;
  - traces (Chrome JSON): each track's events in order, and the names of processes and tracks;
  - report pages: their data;
  - the set of files, and every other file (GTKWave's) byte for byte.
Not compared:
  - of `run`: wall_s, events, the number of events of the causal graph, the line "wall ..." of the text, and computed
    values: max_abs_err, max_rel_err, elements that a failed verification shows ("passed" is compared); of `replay`: its
    seconds and instruction set;
  - of `traffic`, `pipeline`, `probe` and `collectives` in JSON: the object `run`, and the object around their tables;
  - of report pages: the same, their layout, and the configuration;
  - of op logs: log_header, log_check, log_end; in SQLite the table `header`;
  - .npy (outputs) and .kbmem (memory): computed values, and checksums of the log's header;
  - the folder of each binary's own topologies in `list topologies`; builtin.foreign in `list components`; the line of
    `topology` on unused figures of edges inside a PE.
Output: one line for each case that differs: place, reference value -> new value. Exit status: 0 no difference, 1 some
differences, 2 wrong usage. --selftest proves that every kind of difference is found, and that exempt parts are ignored.

--answers compares a binary with answers.json. For every case whose name begins with "recorded/", that file has the exit
status and a digest of each output, without exempt parts, folders, and lines of sources. A case with another answer is
named with the outputs that differ. To see the difference, give both binaries, and --only with the case's name. If the new
answer is right, --renew NAME (a shell pattern for the whole name) records the answer of BIN, lists the changed outputs
and, with a reference, shows the first difference. Cases with blocks from plug-ins need the build folder of the binary, in
which their sources are compiled.
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
import answers  # noqa: E402
import cases  # noqa: E402
import plugins  # noqa: E402
import random_commands  # noqa: E402
import readers  # noqa: E402
import recorded_cases  # noqa: E402

ENVIRONMENT = {**os.environ, "KERNBENCH_CACHE": "off"}  # both binaries must not share derived meshes
TIMEOUT_S = 300


class Runs:
    """Runs cases in a folder for temporary files, each in one of its own."""

    def __init__(self, folder, keep=False):
        self.folder, self.keep = folder, keep
        self.inputs = os.path.join(folder, "inputs")
        self.built = plugins.Plugins(os.path.join(folder, "plugins"))
        os.mkdir(self.inputs)
        cases.copy_inputs(self.inputs)

    def of(self, case, binaries, act):
        """What act gives of the case's commands, its input folder, and the folder and results of each binary."""
        folder = os.path.join(self.folder, case.name.replace("/", "_"))
        inputs = os.path.join(folder, "in")
        os.makedirs(inputs)
        try:
            commands = case.make(cases.Place(self.inputs, inputs, binaries[0]))
            folders = [os.path.join(folder, name) for name in ("ref", "new")]  # of equal length: outputs may show them
            results = [run(binary, self.with_plugin(case, binary, commands), out)
                       for binary, out in zip(binaries, folders)]
            return act(commands, inputs, list(zip(folders, results)))
        finally:
            if not self.keep:
                shutil.rmtree(folder, ignore_errors=True)

    def with_plugin(self, case, binary, commands):
        if not case.plugin:
            return commands
        library = self.built.of(binary, case.plugin)
        return [[library if word == cases.PLUGIN else word for word in command] for command in commands]


class Comparison:
    """Of two binaries."""

    def __init__(self, reference, new, folder, tidy, keep=False):
        self.reference, self.new, self.tidy, self.runs = reference, new, tidy, Runs(folder, keep)
        self.binaries = (reference, new)

    def difference(self, case):
        """The first difference of a case as a line of text, or None."""
        def act(commands, _, outcomes):
            (old_folder, old), (new_folder, new) = outcomes
            if case.status is not None and old[-1][0] != case.status:
                return f"no case: the reference's exit status is {old[-1][0]}, expected {case.status}: " + \
                    readers.shown(old[-1][2].decode("utf-8", "replace").strip())
            folders = [old_folder, new_folder]
            return self.of_streams(commands, old, new, folders) or self.of_files(*folders)

        return self.runs.of(case, (self.reference, self.new), act)

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
    """(whether it was done, what the job gave or why not, seconds)."""
    start = time.monotonic()
    try:
        done, result = True, STATE["job"](STATE["cases"][index])
    except Exception as fault:  # a failed case must not end the others
        done, result = False, f"the comparison failed: {type(fault).__name__}: {fault}"
    return done, result, time.monotonic() - start


def over_all(job, chosen, jobs):
    """What `work` gives of each case, in their order."""
    STATE.update(job=job, cases=chosen)
    context = multiprocessing.get_context("fork")
    with context.Pool(jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        yield from zip(chosen, pool.imap(work, range(len(chosen))))


def build_plugins(comparison, chosen):
    """At once, not by each process for itself. Gives the cases that can be run."""
    try:
        for binary in comparison.binaries:
            comparison.runs.built.build(binary, {case.plugin for case in chosen if case.plugin})
        return chosen
    except (KeyError, OSError, RuntimeError) as fault:
        rest = [case for case in chosen if not case.plugin]
        print(f"{len(chosen) - len(rest)} cases with plug-ins are left out: {fault}", flush=True)
        return rest


def compare_all(comparison, chosen, jobs, verbose=False):
    """Prints a line for each case that differs; gives their names."""
    differ = []
    terminal = sys.stderr.isatty()
    for i, (case, (_, found, seconds)) in enumerate(over_all(comparison.difference, chosen, jobs)):
        if terminal:
            sys.stderr.write("\r\033[K")
        if found:
            differ.append(case.name)
            print(f"{case.name}: {found}", flush=True)
        if verbose:
            print(f"{case.name}: {'differs' if found else 'same'}, {seconds:.2f} s", flush=True)
        if terminal:
            sys.stderr.write(f"{i + 1} of {len(chosen)} cases, {len(differ)} differ")
            sys.stderr.flush()
    if terminal:
        sys.stderr.write("\r\033[K")
    return differ


def hold_to_answers(held, chosen, options):
    """Gives the exit status."""
    chosen = build_plugins(held, chosen)
    differ = compare_all(held, chosen, options.jobs, options.verbose)
    if differ:
        print(f"What differs: scripts/compare REFERENCE_BIN {held.binaries[0]} --only '{differ[0]}', the reference being "
              f"{held.reference} or what has answers.json last from (git log)")
    print(f"{len(chosen)} cases, {len(differ)} not as kept")
    return 1 if differ else 0


def renew(held, chosen, comparison, options):
    """Keeps the answers of the chosen cases anew, and says what is new in them. Gives the exit status."""
    chosen = build_plugins(held, chosen)
    renewed = failed = 0
    for case, (done, result, _) in over_all(held.given, chosen, options.jobs):
        if done and case.status not in (None, result[0]["status"][-1]):
            done, result = False, f"exit status {result[0]['status'][-1]}, expected {case.status}: {result[1]}"
        if not done:
            failed += 1
            print(f"{case.name}: {result}")
            continue
        departs = held.departure(case, *result)
        if departs:
            renewed += 1
            print(f"{case.name}: {departs}", flush=True)
            if comparison and build_plugins(comparison, [case]) and (found := comparison.difference(case)):
                print(f"  {found}", flush=True)
        held.kept[case.name] = result[0]
    there = {case.name for case in recorded_cases.recorded_cases()}
    gone = [name for name in held.kept if name not in there]
    for name in gone:
        del held.kept[name]
    answers.save(held.kept, held.reference)
    print(f"{len(chosen)} cases, {renewed} renewed, {failed} failed, {len(gone)} dropped that are no cases any more")
    return 1 if failed else 0


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
    parser.add_argument("binaries", metavar="BIN", nargs="*",
                        help="the reference binary and the binary to compare; with --answers only the latter; its default: "
                             "build/release/bin/kernbench")
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--answers", action="store_true", help="compare one binary with the recorded answers")
    kept.add_argument("--renew", metavar="NAME", action="append",
                      help="record the answers of these cases again (a shell pattern for the whole name; repeatable)")
    parser.add_argument("--only", metavar="PATTERN", action="append",
                        help="only cases whose name contains this shell pattern (repeatable)")
    parser.add_argument("--random", metavar="N", type=whole(0), default=200, help="number of random cases (200)")
    parser.add_argument("--seed", metavar="S", type=whole(0), default=1, help="seed of the first random case (1)")
    parser.add_argument("--jobs", metavar="J", type=whole(1), default=os.cpu_count() or 1, help="parallel cases")
    parser.add_argument("--list", action="store_true", help="only name the cases")
    parser.add_argument("--selftest", action="store_true", help="compare the reference with changed outputs of its own")
    parser.add_argument("--ignore-source-lines", action="store_true",
                        help="do not compare the line numbers of kernels' sources in logs and messages")
    parser.add_argument("--numbers", action="store_true", help="compare only the numbers in texts; words may differ")
    parser.add_argument("--keep", metavar="FOLDER", help="keep inputs and outputs of the cases in this new folder")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every case, with its seconds")
    return parser, parser.parse_args()


def choose(options):
    everything = [*cases.fixed_cases(), *recorded_cases.recorded_cases()]
    if options.answers or options.renew:
        everything = [case for case in everything if answers.is_kept(case)]
    else:
        everything += random_commands.random_commands(options.random, options.seed)
    names = [case.name for case in everything]
    assert len(set(names)) == len(names), sorted(n for n in set(names) if names.count(n) > 1)
    wanted = [f"*{pattern}*" for pattern in options.only or [""]]
    return [case for case in everything if any(fnmatch.fnmatchcase(case.name, pattern) for pattern in wanted)
            and (not options.renew or any(fnmatch.fnmatchcase(case.name, name) for name in options.renew))]


def binaries(parser, options):
    """The reference, or None where one binary is looked at alone; and the binary to look at."""
    alone = options.answers or options.renew
    given = list(options.binaries)
    if len(given) > (1 if options.answers else 2) or not (given or alone):
        parser.error(f"found {len(given)} programs, expected " + ("one" if options.answers else "one or two"))
    if len(given) < (1 if alone else 2) and not options.selftest:
        given.append(os.path.join(cases.SOURCE, "build", "release", "bin", "kernbench"))
    for binary in given:
        if not (os.path.isfile(binary) and os.access(binary, os.X_OK)):
            parser.error(f"{binary} is no program")
    given = [os.path.abspath(binary) for binary in given]
    return (given[0] if len(given) == 2 or options.selftest else None), given[-1]


def main():
    parser, options = arguments()
    chosen = choose(options)
    if not chosen:
        parser.error(f"no case has {' or '.join(options.only or options.renew or ['a name'])} in its name; --list names all")
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    reference, new = binaries(parser, options)
    readers.numbers_alone = options.numbers
    if options.keep and (options.renew or os.path.exists(options.keep)):
        parser.error("--keep: found --renew beside it" if options.renew else f"{options.keep} exists")
    with tempfile.TemporaryDirectory(prefix="compare.") as temporary:
        folder = temporary
        if options.keep:
            os.makedirs(options.keep)
            folder = os.path.abspath(options.keep)
        if options.selftest:
            import selftest
            return selftest.run(reference, folder, [*cases.fixed_cases(), *recorded_cases.recorded_cases()])
        comparison = reference and Comparison(reference, new, folder, readers.Tidy(options.ignore_source_lines),
                                              bool(options.keep))
        if options.answers or options.renew:
            held = answers.Answers(new, comparison.runs if comparison else Runs(folder, bool(options.keep)))
            return hold_to_answers(held, chosen, options) if options.answers else renew(held, chosen, comparison, options)
        chosen = build_plugins(comparison, chosen)
        differ = len(compare_all(comparison, chosen, options.jobs, options.verbose))
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
