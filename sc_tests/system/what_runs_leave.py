# SPDX-License-Identifier: Apache-2.0
"""What a run may leave that failed, was killed or ran out of disk, and how its end is told: one rule for all such tests."""
import json
import re
import subprocess

from cli_support import KERNBENCH, TIMES_LONGER
from ftr_reader import Ftr
from pftrace_reader import Pftrace, packets


def kernbench(*arguments, **more):
    return subprocess.run([KERNBENCH, *map(str, arguments)], capture_output=True, text=True, timeout=120 * TIMES_LONGER,
                          **more)


def told_in_one_line(what, result, statuses):
    lines = result.stderr.strip().splitlines()
    assert result.returncode in statuses, f"{what}: status {result.returncode}: {result.stderr}"
    assert len(lines) == 1 and len(lines[0]) < 500, f"{what}: {result.stderr}"
    for words in ("SystemC", "terminate", "bad_alloc", "what()", "libc++"):
        assert words not in result.stderr, f"{what}: {result.stderr}"


def is_whole(name, found, content, renewed=False):
    """Whether a file that a run left which did not end in order is the one that it leaves at its end or, of what grows with
    the run, a whole one of what had happened. `renewed`: signals came later, so that the waveform got a new header."""
    if found == content:
        return True
    if name.endswith(".json"):
        json.loads(found)
        return content.startswith(found.removesuffix(b"\n]\n"))
    if name.endswith(".vcd"):
        return found.endswith(b"\n") and (content.startswith(found) or renewed and b"$enddefinitions" in found)
    if name.endswith(".gtkw"):  # as written at the start, at time 0
        return renewed or re.sub(rb"(?m)^\*.*", b"", found) == re.sub(rb"(?m)^\*.*", b"", content)
    if name.endswith(".ftr"):
        some, every = Ftr(found), Ftr(content)
        return (some.complete and set(some.relations) <= set(every.relations) and
                all(every.transactions[i] == t for i, t in some.transactions.items() if "unfinished" not in t.attributes))
    if name.endswith(".pftrace"):  # its bandwidths end with the file
        some, every = Pftrace(packets(found)), Pftrace(packets(content))
        return (all(s in every.slices[track] for track, slices in some.slices.items() for s in slices) and
                all(i in every.instants[track] for track, instants in some.instants.items() for i in instants))
    return False


def what_is_left_is_honest(what, log, whole, *more, output="c"):
    """A replay of the log and its memory file gives the bits of the whole run or says that they were cut off. Returns
    whether ops could be replayed: those before the cut."""
    again = log.with_name("again.npy")
    again.unlink(missing_ok=True)
    plain = kernbench("replay", "--oplog", log, "--dump", f"{output}={again}", *more)
    if plain.returncode == 0:  # it ended before the kill
        assert again.read_bytes() == whole, f"{what}: other bits"
        return True
    told_in_one_line(what, plain, (2,))
    assert not again.exists(), what
    allowed = kernbench("replay", "--oplog", log, "--allow-cut-off", "--dump", f"{output}={again}", *more)
    if allowed.returncode == 0:
        assert again.read_bytes() == whole, f"{what}: other bits"
        return True
    told_in_one_line(what, allowed, (1, 2))
    assert not again.exists(), what
    return "was not written" in allowed.stderr
