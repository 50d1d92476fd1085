#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults put into the source that works out what depends on what are caught by the tests on random programs.

The three files with that logic are compiled once more with all faults in, each behind a number, and laid over the
library; then the tests run with one fault after the other, and must fail. Without a fault they must pass."""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import cli_support

SOURCE = pathlib.Path(os.environ["KERNBENCH_SOURCE"])
BUILD = pathlib.Path(os.environ["KERNBENCH_BUILD"])
PROPERTIES = [("phase2_tests", "Replay.equals_a_sequential_machine_on_random_programs_for_any_number_of_threads"),
              ("system_tests", "RandomKernels.*")]
SECONDS = 60  # a graph without an edge may wait for ever

# file: [(the fault, the current text (once in the file), the text that is faulty if MUTANT is true)]
FAULTS = {
    "replay_graph.cpp": [
        ("edges from an op's last operand are lost",
         "if (from < kZeroNode) before", "if (from < kZeroNode && !(MUTANT && k + 1 == n.inputs)) before"),
        ("explicit dependency_ids are not looked at",
         "if (open_.count(id)) return", "if (open_.count(id) && !MUTANT) return"),
        ("a reader of part of a value gets the value's beginning",
         "p.offset = e->offset() + offset;", "p.offset = e->offset() + (MUTANT ? 0 : offset);"),
        ("a reader of part of a buffer gets the buffer's beginning",
         "p.leaf = e->data() + offset;", "p.leaf = e->data() + (MUTANT ? 0 : offset);"),
        ("runs join as one stride whatever lies between them",
         "|| step == last.stride * last.count", "|| MUTANT || step == last.stride * last.count"),
        ("runs join as one though they overlap",
         "(step == static_cast<int64_t>(last.bytes) ||",
         "(step == static_cast<int64_t>(last.bytes) || (MUTANT && step < static_cast<int64_t>(last.bytes)) ||"),
        ("loads take effect at their submission",
         "femtoseconds(r.desc->type == CommandType::load ?", "femtoseconds(r.desc->type == CommandType::load && !MUTANT ?"),
        ("ties go to the later PE", "return a.pe < b.pe;", "return MUTANT ? a.pe > b.pe : a.pe < b.pe;"),
        ("ties of one PE go to the later command",
         "return a.seq < b.seq;", "return MUTANT ? a.seq > b.seq : a.seq < b.seq;"),
        ("what a masked store leaves as it was is not read", "if (overwrites_in_part(*d)) {",
         "if (overwrites_in_part(*d) && MUTANT) capture(d->operands[0], r, moves);\n"
         "      else if (overwrites_in_part(*d)) {"),
    ],
    "memory_image.cpp": [
        ("what a write leaves of a range's end begins a byte too early",
         "last->second.drop_front(used);", "last->second.drop_front(used - MUTANT);"),
        ("what a write into the middle leaves behind it begins at the range's start",
         "before->second.part(head + n, size - head - n)", "before->second.part(MUTANT ? 0 : head + n, size - head - n)"),
        ("a write takes a byte too few from the range before it",
         "before->second.resize(head);\n    }", "before->second.resize(head + MUTANT);\n    }"),
        ("a write takes a byte too many from the range before it",
         "const uint64_t head = addr - before->first;",
         "const uint64_t head = addr - before->first - (MUTANT && addr - before->first > 1);"),
        ("a part of a pending range counts from the range's start",
         "offset_ += n;", "offset_ += MUTANT ? 0 : n;"),
        ("parts of one op's output join out of order",
         "hold_ == b.hold_ && offset_ + size_ == b.offset_", "hold_ == b.hold_ && (MUTANT || offset_ + size_ == b.offset_)"),
        ("only the first piece of a range is looked at for pending bytes",
         "if (e->producer() && s.state == State::real) {",
         "if (e->producer() && s.state == State::real && !(MUTANT && at != addr)) {"),
    ],
    "effects.cpp": [
        ("a masked store under a pending mask takes its source at once",
         "image.state_of(mask).state == State::pending) return bind_output(d, image);\n  const std::vector<uint8_t> on = read_mask(mask, image);\n  const Bytes gathered",
         "(image.state_of(mask).state == State::pending && !MUTANT)) return bind_output(d, image);\n"
         "  const std::vector<uint8_t> on = MUTANT ? std::vector<uint8_t>(static_cast<size_t>(mask.shape.elements()), 1)"
         " : read_mask(mask, image);\n  const Bytes gathered"),
        ("a masked load is taken for a plain one",
         "if (d->operands.size() > 1) return load_masked", "if (d->operands.size() > 1 && !MUTANT) return load_masked"),
        ("an op's output begins anew in every row",
         "image.bind_pending(MemoryImage::key_of(d->output), addr, n, {d, offset});\n    offset += n;",
         "image.bind_pending(MemoryImage::key_of(d->output), addr, n, {d, offset});\n    offset += MUTANT ? 0 : n;"),
    ],
}


def with_faults(text, faults, first):
    """The source in which fault i comes to life where KERNBENCH_MUTANT is first + i."""
    for i, (what, original, faulty) in enumerate(faults):
        assert text.count(original) == 1, f"'{original}' ({what}) stands {text.count(original)} times in the source"
        text = text.replace(original, faulty.replace("MUTANT", f"mutant({first + i})"))
    return ("#include <cstdlib>\nstatic bool mutant(int n) {\n"
            "  static const char* chosen = std::getenv(\"KERNBENCH_MUTANT\");\n"
            "  return chosen && std::atoi(chosen) == n;\n}\n") + text


def compile_mutants(folder):
    # If sources are compiled in groups, all groups of the library have its options.
    command = next(c for c in json.loads((BUILD / "compile_commands.json").read_text())
                   if "/kernbench_phase2.dir/" in c["command"] and "/arithmetic_" not in c["file"])
    names, compilers, first = [], [], 1
    for file, faults in FAULTS.items():
        source = folder / file
        [original] = (SOURCE / "phase2").rglob(file)
        source.write_text(with_faults(original.read_text(), faults, first))
        words = shlex.split(command["command"])
        words = [w for w in words[:words.index("-o")] if not w.startswith(("-O", "-W"))]
        compilers.append(subprocess.Popen([*words, "-O0", "-c", source, "-o", source.with_suffix(".o")],
                                          cwd=command["directory"], stderr=subprocess.PIPE, text=True))
        names += [f"{file}: {what}" for what, _, _ in faults]
        first += len(faults)
    for c in compilers:
        assert c.wait() == 0, c.stderr.read()
    library = folder / "mutants.so"
    subprocess.run([os.environ["KERNBENCH_CXX"], "-shared", *folder.glob("*.o"), "-o", library], check=True)
    return library, names


def fails(program, tests, library, number):
    environment = {**os.environ, "KERNBENCH_SEED": "1", "KERNBENCH_MUTANT": str(number), "LD_PRELOAD": str(library)}
    try:
        run = subprocess.run([BUILD / "bin" / program, f"--gtest_filter={tests}", "--gtest_brief=1"], env=environment,
                             capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True
    assert "0 tests from 0 test suites ran" not in run.stdout, run.stdout
    return run.returncode != 0


def main():
    if not all((BUILD / "bin" / program).exists() for program, _ in PROPERTIES):
        print("the tests on random programs are not built")
        return 77
    with tempfile.TemporaryDirectory() as name:
        library, faults = compile_mutants(pathlib.Path(name))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = {(number, p): pool.submit(fails, *p, library, number)
                    for number in range(len(faults) + 1) for p in PROPERTIES}
        for p in PROPERTIES:
            assert not runs[0, p].result(), f"{p[0]} fails without a fault"
        missed = []
        for number, fault in enumerate(faults, 1):
            by = [p[0] for p in PROPERTIES if runs[number, p].result()]
            print(f"{number:2} {fault}: caught by {' and '.join(by) if by else 'NONE'}")
            missed += [] if by else [fault]
        assert not missed, missed
    return 0


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("it tests tests, by faults that are meant")
    sys.exit(main())
