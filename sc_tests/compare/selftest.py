# SPDX-License-Identifier: Apache-2.0
"""Shows that compare.py finds what it must, and only that: compares the reference with itself, one output changed; and
holds it so to answers that are its own.

The "new binary" is this file, called by a shell script as `selftest.py CHANGE REFERENCE ARGUMENTS...`: it runs the
reference, changes one thing in what it gave, and passes that on.
"""
import dataclasses
import json
import os
import re
import shlex
import sqlite3
import stat
import subprocess
import sys
import typing


class Output:
    """What the reference gave: streams, status, and files in the current folder."""

    def __init__(self, done):
        self.stdout, self.stderr, self.status = done.stdout.decode(), done.stderr.decode(), done.returncode

    def edit(self, file, change):
        """Changes the text of a stream or of a file that is there."""
        if file in ("stdout", "stderr"):
            setattr(self, file, changed(getattr(self, file), change))
        elif os.path.exists(file):
            with open(file, encoding="utf-8") as old:
                text = old.read()
            with open(file, "w", encoding="utf-8") as new:
                new.write(changed(text, change))


def changed(text, change):
    result = change(text)
    if result == text:
        raise ValueError("the change changed nothing")
    return result


def other_digit(pattern):
    """A change of the last digit of the number that group 1 of the pattern finds first."""
    def change(text):
        match = re.search(pattern, text, re.M)
        at = match.end(1) - 1
        return text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1:]
    return change


def replaced(pattern, by, count=0):
    return lambda text: re.sub(pattern, by, text, count=count, flags=re.M)


def lines(change):
    """A change of the list of lines."""
    return lambda text: "\n".join(change(text.rstrip("\n").split("\n"))) + "\n"


def swapped(list_of_lines, first):
    i = next(i for i, line in enumerate(list_of_lines) if first(line) and first(list_of_lines[i + 1]))
    return [*list_of_lines[:i], list_of_lines[i + 1], list_of_lines[i], *list_of_lines[i + 2:]]


def records_swapped(text):
    return lines(lambda ls: swapped(ls, lambda line: '"TileToken/' in line))(text)


def without_record(text):
    return lines(lambda ls: ls[:5] + ls[6:])(text)


# ---- Waveforms


def vcd_change(text, take):
    """Changes the body of a VCD by its list of lines."""
    head, end, body = text.partition("$enddefinitions $end\n")
    return head + end + lines(take)(body)


def later_step(text):
    """One time step a femtosecond later."""
    def take(ls):
        steps = [i for i, line in enumerate(ls) if line.startswith("#")]
        i = steps[len(steps) // 2]
        return [*ls[:i], f"#{int(ls[i][1:]) + 1}", *ls[i + 1:]]
    return vcd_change(text, take)


def other_value(text):
    """The last vector that is a number gets another lowest bit."""
    def take(ls):
        i = max(i for i, line in enumerate(ls) if re.match(r"b[01]*[01] ", line))
        value, code = ls[i].split(" ")
        return [*ls[:i], value[:-1] + ("1" if value[-1] == "0" else "0") + " " + code, *ls[i + 1:]]
    return vcd_change(text, take)


def without_signal(text):
    code = re.search(r"^\$var wire 3 (\S+) state .*\n", text, re.M)[1]
    text = re.sub(r"^\$var wire 3 " + re.escape(code) + r" state .*\n", "", text, flags=re.M)
    return re.sub(r"^b\S+ " + re.escape(code) + "\n", "", text, flags=re.M)


def written_otherwise(text):
    """The same waveform: other codes, the changes of a step in the opposite order, leading zeros."""
    codes = re.findall(r"^\$var wire \d+ (\S+) ", text, re.M)
    other = dict(zip(codes, reversed(codes)))
    text = re.sub(r"^(\$var wire \d+ )(\S+) ", lambda m: m[1] + other[m[2]] + " ", text, flags=re.M)

    def take(ls):
        result, step = [], []
        for line in [*ls, "#"]:
            if line.startswith(("#", "$")):
                result += reversed(step)
                result.append(line)
                step = []
            elif line.startswith("b"):
                value, code = line[1:].split(" ")
                step.append(f"b{'0' if value == '1' else ''}{value} {other[code]}")
            else:
                step.append(line[0] + other[line[1:]])
        return result[:-1]
    return vcd_change(text, take)


# ---- Traces


def events_changed(change):
    def whole(text):
        return json.dumps(change(json.loads(text)))
    return whole


def later_slice(events):
    slice_ = [e for e in events if e["ph"] == "X"][-2]
    slice_["args"]["end_ns"] += 1e-6
    return events


def slices_swapped(events):
    """Two neighbours of one track change places."""
    for i, event in enumerate(events):
        for j in range(i + 1, len(events)):
            if event["ph"] != "M" and events[j]["ph"] != "M" and events[j]["tid"] == event["tid"]:
                events[i], events[j] = events[j], event
                return events
    raise ValueError("no track has two events")


def track_renamed(events):
    next(e for e in events if e["name"] == "thread_name")["args"]["name"] += " too"
    return events


def track_by_track(events):
    """The same trace, a track after the other."""
    return sorted(events, key=lambda e: (e["pid"], e["tid"]))


# ---- SQLite and other files


def sql(statement):
    def change(_):
        if os.path.exists("log.sqlite"):
            base = sqlite3.connect("log.sqlite")
            with base:
                if not base.execute(statement).rowcount:
                    raise ValueError("the change changed nothing")
            base.close()
    return change


def status_3(output):
    output.status = 3


def replay_changed(output):
    if output.stdout.startswith('{"ops":'):
        output.edit("stdout", other_digit(r'^{"ops":(\d+)'))


def array_changed(_):
    with open("out.npy", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x55")


def byte_changed(name):
    """One bit of the middle of a file."""
    def change(_):
        with open(name, "r+b") as file:
            middle = file.seek(os.path.getsize(name) // 2)
            byte = file.read(1)[0]
            file.seek(middle)
            file.write(bytes([byte ^ 1]))
    return change


recording_changed, trace_changed = byte_changed("run.ftr"), byte_changed("trace.pftrace")


def longer_source_line(text):
    """A kernel's line has a digit more, so that all columns of their table are farther right."""
    head, title, rest = text.partition("  source lines on it")
    table, end, rest = rest.partition("\n\n")
    rows = [re.sub(r"( +\S+ +\S+)$", r" \1", row) for row in (title + table).split("\n")]
    return head + "\n".join(re.sub(r"(\.cpp:\d+) ", r"\g<1>7", row) for row in rows) + end + rest


@dataclasses.dataclass(frozen=True)
class Change:
    """Of an output of one case: a function of a text with the file that has it, or of all outputs."""
    case: str
    found: str  # beginning of the difference; "": none, the change is exempt
    act: typing.Callable
    file: str = ""
    ignore_source_lines: bool = False
    kept: bool = False  # the difference is one that a recorded answer shows; lines of sources are no difference there


def held(case, found, act, file=""):
    return Change("recorded/" + case, found, act, file, kept=True)


RUN = "run/gemm/cut_through-ideal/host"
SQLITE = "run/gemm/sqlite"
TEXT = "run/gemm/flit-routed/text"
CSV = "traffic/traffic_hbm_pc/as-it-is-csv"
PIPELINE = "pipeline/composite_flit/as-it-is"
PAGE = "recorded/explain/gemm/page"
EXPLAINED = "explain/gemm/overheads-flit-routed"
HOST = "host/gemm/latency_model-cut_through-routed"
SEEN = "log/seen/gemm-flit-routed"
TABLE = "collectives/ring/cut_through-routed"
DRAM = "dram/traffic/hbm2-flit-routed"
RING = "buffers/ring/refused-4"
CHANGES = {
    "csv time": Change(CSV, "stdout line 3", other_digit(r"^1,(?:[^,]*,){6}([\d.]+),"), "stdout"),
    "csv order": Change(CSV, "stdout line 2", lines(lambda ls: [ls[0], ls[2], ls[1], *ls[3:]]), "stdout"),
    "traffic json bytes": Change("traffic/traffic_ideal/as-it-is-json", "stdout line",
                                 other_digit(r'"bytes": (\d+)'), "stdout"),
    "pipeline json time": Change(PIPELINE + "-json", "stdout line", other_digit(r'"FETCH", ([\d.]+)'), "stdout"),
    "pipeline text": Change(PIPELINE + "-text", "stdout line", other_digit(r"(\d+\.\d+)"), "stdout"),
    "probe text": Change("probe/small/ideal-ideal-plain/text", "stdout line", other_digit(r"(\d+\.\d+)"), "stdout"),
    "probe csv": Change("probe/small/flit-routed-saturate/csv", "stdout line", other_digit(r"(\d+\.\d{6})"), "stdout"),
    "probe json": Change("probe/small/flit-routed-hops", "stdout line", other_digit(r'"wire_ns": ([\d.]+)'), "stdout"),
    "topology json": Change("topology/small/json", "stdout line", other_digit(r'"distance_mm": ([\d.]+)'), "stdout"),
    "topology svg": Change("topology/small/svg-cube", "stdout line", other_digit(r'x="([\d.]+)"'), "stdout"),
    "list": Change("list/kernels/text", "stdout line", replaced("gemm_dot", "gemm_dots", 1), "stdout"),
    "run json time": Change(RUN, "stdout line", other_digit(r'"end_ns": ([\d.]+)'), "stdout"),
    "run json passed": Change(RUN, "stdout line", replaced('"passed": true', '"passed": false', 1), "stdout"),
    "run json bytes": Change(RUN, "stdout line", other_digit(r'"bytes": ([1-9]\d*)'), "stdout"),
    "run text time": Change(TEXT, "stdout line", other_digit(r"^  time +([\d.]+)"), "stdout"),
    "run text passed": Change(TEXT, "stdout line", replaced("^pass ", "FAIL ", 1), "stdout"),
    "one line more": Change(TEXT, "stdout line", lambda text: text + "more\n", "stdout"),
    "exit status": Change(RUN, "exit status: 0 -> 3", status_3),
    "stderr": Change("wrong/run/kernel", "stderr line 1", replaced("gemn", "gemm"), "stderr"),
    "a warning": Change(RUN, "stderr line 1", lambda text: "careful\n", "stderr"),
    "jsonl time": Change(RUN, "log.jsonl record", other_digit(r'^\{"op_id":[1-9].*"t_end":([\d.]+)'), "log.jsonl"),
    "jsonl bytes": Change(RUN, "log.jsonl record", other_digit(r'^\{"op_id":[1-9].*"bytes":(\d+)'), "log.jsonl"),
    "jsonl order": Change(RUN, "log.jsonl record", records_swapped, "log.jsonl"),
    "jsonl record lost": Change(RUN, "log.jsonl record", without_record, "log.jsonl"),
    "jsonl source line": Change(RUN, "log.jsonl record", other_digit(r'"source":"[^"]*:(\d+)"'), "log.jsonl"),
    "sqlite time of a token": Change(SQLITE, "log.sqlite row",
                                     sql("UPDATE tokens SET t_end = t_end + 1e-9 WHERE tile_id = 1")),
    "sqlite bytes": Change(SQLITE, "log.sqlite row", sql("UPDATE tokens SET bytes = bytes + 1 WHERE bytes > 0")),
    "sqlite params": Change(SQLITE, "log.sqlite row",
                            sql("UPDATE commands SET params = json_set(params, '$.seq', 9) WHERE op_id = 1")),
    "sqlite record lost": Change(SQLITE, "log.sqlite",
                                 sql("DELETE FROM tokens WHERE op_id = (SELECT max(op_id) FROM tokens)")),
    "vcd time": Change(RUN, "wave.vcd signal", later_step, "wave.vcd"),
    "vcd value": Change(RUN, "wave.vcd signal", other_value, "wave.vcd"),
    "vcd width": Change(RUN, "wave.vcd width",
                        replaced(r"wire 16 (\S+) queue_depth \[15", r"wire 17 \1 queue_depth [16", 1), "wave.vcd"),
    "vcd signal lost": Change(RUN, "wave.vcd signal", without_signal, "wave.vcd"),
    "vcd is cut": Change(RUN, "wave.vcd", lambda text: text[:len(text) // 2], "wave.vcd"),
    "gtkw": Change(RUN, "wave.gtkw line", replaced(r"\[timestart\] 0", "[timestart] 1"), "wave.gtkw"),
    "trace time": Change(RUN, "trace.json pid", events_changed(later_slice), "trace.json"),
    "trace order": Change(RUN, "trace.json pid", events_changed(slices_swapped), "trace.json"),
    "trace event lost": Change(RUN, "trace.json pid", events_changed(lambda events: events[:-1]), "trace.json"),
    "trace name": Change(RUN, "trace.json name", events_changed(track_renamed), "trace.json"),
    "no file": Change(RUN, "files:", lambda _: os.remove("trace.json")),
    "a later command of a case": Change("replay/gemm/log.jsonl", "replay stdout line 1", replay_changed),
    # Exempt changes.
    "wall_s": Change(RUN, "", replaced(r'"wall_s": .*,', '"wall_s": 77.5,'), "stdout"),
    "events": Change(RUN, "", replaced(r'"events": \d+', '"events": 5'), "stdout"),
    "errors": Change(RUN, "", replaced(r'("max_(?:abs|rel)_err": )[^,\n]+', r"\1 0.25"), "stdout"),
    "wall of the text": Change(TEXT, "", replaced(r"^  wall .*", "  wall 7 s (simulation 6, replay 1), 12 events"),
                               "stdout"),
    "errors of the text": Change(TEXT, "", replaced(r"max abs \S+", "max abs 0.5"), "stdout"),
    "log_header": Change(RUN, "", replaced(r'"isa":"\w+"', '"isa":"other","more":1', 1), "log.jsonl"),
    "log_check and log_end": Change(RUN, "", replaced(r'"checksum":"\w+"', '"checksum":"0"'), "log.jsonl"),
    "source lines where asked": Change(RUN, "", other_digit(r'"source":"[^"]*:(\d+)"'), "log.jsonl", True),
    "sqlite header": Change(SQLITE, "", sql("UPDATE header SET value = 'other' WHERE key = 'checksum'")),
    "vcd written otherwise": Change(RUN, "", written_otherwise, "wave.vcd"),
    "trace track by track": Change(RUN, "", events_changed(track_by_track), "trace.json"),
    "figures that are not used": Change("topology/small/text", "",
                                        lambda text: text + "\nEdges inside a PE take no time: of 1\n", "stdout"),
    "outputs": Change("run/gemm/dump", "", array_changed),
    "page time": Change(PAGE, "page.html.sim_ns", other_digit(r'"sim_ns":([\d.]+)'), "page.html"),
    "page wall": Change(PAGE, "", other_digit(r'"wall_s":([\d.]+)'), "page.html"),
    "moments": Change("recorded/" + EXPLAINED, "", other_digit(r'"moments": (\d+)'), "stdout"),
    "cost table": Change("recorded/" + TABLE, "stdout line", other_digit(r'"time_us":([\d.]+)'), "stdout"),
    # Recorded answers.
    "kept: time": held(EXPLAINED, "not as kept: stdout", other_digit(r'"end_ns": ([\d.]+)'), "stdout"),
    "kept: blame": held(EXPLAINED, "not as kept: stdout", other_digit(r'"routers": ([\d.]+)'), "stdout"),
    "kept: time of a log": held(HOST, "not as kept: log.jsonl", other_digit(r'^\{"op_id":[1-9].*"t_end":([\d.]+)'),
                                "log.jsonl"),
    "kept: order of a log": held(HOST, "not as kept: log.jsonl", records_swapped, "log.jsonl"),
    "kept: bytes of a log": held(HOST, "not as kept: log.jsonl", other_digit(r'^\{"op_id":[1-9].*"bytes":(\d+)'),
                                 "log.jsonl"),
    "kept: time of a waveform": held(SEEN, "not as kept: wave.vcd", later_step, "wave.vcd"),
    "kept: byte of a recording": held(SEEN, "not as kept: run.ftr", recording_changed),
    "kept: byte of a trace": held(SEEN, "not as kept: trace.pftrace", trace_changed),
    "kept: cost table": held(TABLE, "not as kept: stdout", other_digit(r'"time_us":([\d.]+)'), "stdout"),
    "kept: order of commands": held(DRAM, "not as kept: commands.csv",
                                    lines(lambda ls: [*ls[:9], ls[10], ls[9], *ls[11:]]), "commands.csv"),
    "kept: circle": held(RING, "not as kept: stderr", replaced("r1", "r2", 1), "stderr"),
    "kept: exit status": held(RING, "not as kept: exit status: [2] -> [3]", status_3),
    "kept: no file": held(HOST, "not as kept: log.jsonl (gone)", lambda _: os.remove("log.jsonl")),
    "kept: wall_s": held(EXPLAINED, "", replaced(r'"wall_s": .*', '"wall_s": 77.5'), "stdout"),
    "kept: log_header": held(HOST, "", replaced(r'"isa":"\w+"', '"isa":"other","more":1', 1), "log.jsonl"),
    "kept: source lines": held(HOST, "", replaced(r'"source":"[^"]*/(\w+\.cpp):\d+"', r'"source":"elsewhere/\1:123"'),
                               "log.jsonl"),
    "kept: source lines of a text": held("explain/gemm/text", "", longer_source_line, "stdout"),
    "kept: waveform written otherwise": held(SEEN, "", written_otherwise, "wave.vcd"),
}


def play(name, command):
    """What the new binary does: the reference's run, changed."""
    output = Output(subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False))
    change = CHANGES[name]
    if change.file:
        output.edit(change.file, change.act)
    else:
        change.act(output)
    sys.stdout.write(output.stdout)
    sys.stderr.write(output.stderr)
    return output.status


def run(reference, folder, all_cases, only_kept=False):
    """Every change against its case; prints those that are not told as they must be. Gives the exit status."""
    import answers
    import compare
    import readers
    by_name = {case.name: case for case in all_cases}
    script = os.path.join(folder, "new")
    comparison = compare.Comparison(reference, script, folder, None)
    its_own = answers.Answers(reference, comparison.runs)
    answered = answers.Answers(script, comparison.runs)
    changes = {name: change for name, change in CHANGES.items() if change.kept or not only_kept}
    answered.kept = {case: its_own.given(by_name[case])[0] for case in {c.case for c in changes.values() if c.kept}}
    wrong = 0
    for name, change in changes.items():
        with open(script, "w", encoding="utf-8") as file:
            words = (sys.executable, os.path.abspath(__file__), name, reference)
            file.write(f"#!/bin/sh\nexec {shlex.join(words)} \"$@\"\n")
        os.chmod(script, stat.S_IRWXU)
        comparison.tidy = readers.Tidy(change.ignore_source_lines)
        found = (answered if change.kept else comparison).difference(by_name[change.case]) or ""
        # An error in the change itself appears as an exit status with a Python trace.
        right = found.startswith(change.found) if change.found else not found
        if not right or "Traceback" in found:
            wrong += 1
            print(f"{name} ({change.case}): expected {change.found or 'no difference'}, found {found or 'none'}")
    print(f"{len(changes)} changes, {wrong} not told as they must be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(play(sys.argv[1], sys.argv[2:]))
