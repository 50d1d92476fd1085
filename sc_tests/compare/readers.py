# SPDX-License-Identifier: Apache-2.0
"""Compares one output of two binaries: text, op logs, waveforms, traces. What is compared and what is exempt is said in
compare.py. Every function here gives None where two outputs agree, or the first difference as one line of text:
where, the old value, the new one.
"""
import itertools
import json
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import vcd_reader  # noqa: E402

COMPUTED_FILES = (".npy", ".kbmem")  # computed values, and a memory image with a checksum of the log's header
LOG_HEADERS = ("log_header", "log_check", "log_end")
SHOWN = 60  # characters of a line on each side of the first difference

# Since JSON tables name their run, they are objects instead of lists.
TABLE_IN_JSON = ((re.compile(r'^\{"run": .*\n"\w+": \['), "["), (re.compile(r"^\]\}$", re.M), "]"))

# Exempt parts of stdout, by command: wall-clock times, numbers of events, computed values.
EXEMPT = {
    "traffic": TABLE_IN_JSON,
    "probe": TABLE_IN_JSON,
    "collectives": TABLE_IN_JSON,
    "pipeline": ((re.compile(r'^\{"run": .*\n'), "{"),),
    "run": (
        (re.compile(r'^ "run": \{\n(?:  .*\n)* \},\n', re.M), ""),  # identity of the run: its version is the binary's
        (re.compile(r'"(wall_s|events|max_abs_err|max_rel_err)": [^,\n]+'), r'"\1": *'),
        (re.compile(r'^ "figures": \{\n(?:  .*\n)* \},\n', re.M), ""),  # of the surrounding text
        (re.compile(r'("moments": )\d+(,\s+"bytes": )\d+'), r"\1*\2*"),  # of the causes that --explain keeps
        (re.compile(r"^  wall .*\n?", re.M), ""),
        (re.compile(r"max abs \S+  (max rel \S+|\S+( %)? of its tolerance)"), "max abs *  max rel *"),
        (re.compile(r": \S+, expected [^\s\"]+"), ": *, expected *"),  # elements of a wrong result
    ),
    "replay": (
        (re.compile(r'"(graph_s|run_s)":[^,}]+'), r'"\1":*'),
        (re.compile(r", in \S+ s$", re.M), ", in * s"),
        (re.compile(r'"isa":"\w+"'), '"isa":"*"'),  # the machine's
        (re.compile(r"( computed \()\w+\)"), r"\1*)"),
    ),
    # Unused attributes are reported since edges inside a PE are bound one by one.
    "topology": ((re.compile(r"\n^Edges inside a PE take no time: .*\n", re.M), ""),),
    # Each binary lists the topologies of its own source tree.
    "list": (
        (re.compile(r"[^\s\"]*/topologies/"), "topologies/"),
        # A kind that the reference lacks.
        (re.compile(r"^builtin\.foreign .*\n(?:    .*\n)*", re.M), ""),
        (re.compile(r'^ \{\n  "impl": "builtin\.foreign",\n(?:  .*\n)* \},?\n', re.M), ""),
    ),
}


SOURCE_LINE = re.compile(r"(?<![\w./+-])([\w./+-]+\.(?:cpp|h)):\d+")
# From --explain: a longer line number shifts all columns to the right.
SOURCE_LINES = re.compile(r"^  source lines on it .*\n(?:  .*\n)*", re.M)


class Tidy:
    """Takes out of a text what legitimately differs between two binaries."""

    def __init__(self, ignore_source_lines=False, root=None):
        self.ignore_source_lines, self.root = ignore_source_lines, root

    def text(self, data, folder):
        """Text of a file or a stream; the folder in which the binary ran is called OUT, the one of all cases ROOT."""
        text = data.decode("utf-8", "backslashreplace").replace(folder, "OUT")
        if self.root:
            text = text.replace(self.root, "ROOT")
        if self.ignore_source_lines:
            text = SOURCE_LINE.sub(lambda match: os.path.basename(match[1]) + ":*", text)
            text = SOURCE_LINES.sub(lambda match: re.sub(" +", " ", match[0]), text)
        return text

    def file(self, path):
        with open(path, "rb") as file:
            return self.text(file.read(), os.path.dirname(path))

    def stdout(self, command, data, folder):
        text = self.text(data, folder)
        for pattern, instead in EXEMPT.get(command[0], ()):
            text = pattern.sub(instead, text)
        return text


def shown(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 2 * SHOWN else text[:SHOWN] + " … " + text[-SHOWN:]


def said(where, old, new):
    return f"{where}: {shown(old)} -> {shown(new)}"


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
numbers_alone = False  # only words of texts may differ


def numbers(text):
    """Those of a text; what is below a femtosecond is rounding, and 0."""
    return ["0" if abs(float(n.replace(",", ""))) < 1e-6 else n for n in NUMBER.findall(text)]


def alike(old, new):
    return old == new or numbers_alone and numbers(old) == numbers(new)


def text_difference(where, old, new):
    if alike(old, new):
        return None
    lines = itertools.zip_longest(old.split("\n"), new.split("\n"))
    number, a, b = next((i, a, b) for i, (a, b) in enumerate(lines, 1) if a != b)
    if a is None or b is None:
        return said(f"{where} line {number}", "(no line)" if a is None else a, "(no line)" if b is None else b)
    column = len(os.path.commonprefix([a, b]))
    start = max(0, column - SHOWN)
    parts = ["…" * (start > 0) + line[start:column + SHOWN] + "…" * (len(line) > column + SHOWN) for line in (a, b)]
    return f"{where} line {number}: {parts[0]} -> {parts[1]}"


def json_difference(old, new, path=""):
    """(path, old value, new value) of the first place where two values differ, or None."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(k for k in new if k not in old)]:
            if key not in old or key not in new:
                return f"{path}.{key}", old.get(key, "(none)"), new.get(key, "(none)")
            if found := json_difference(old[key], new[key], f"{path}.{key}"):
                return found
        return None
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new)):
            if found := json_difference(a, b, f"{path}[{i}]"):
                return found
        return None
    if isinstance(old, str) and isinstance(new, str) and alike(old, new):
        return None
    return None if old == new and isinstance(old, bool) == isinstance(new, bool) else (path, old, new)


def json_text_difference(where, old, new):
    """Of two JSON texts that are not the same bytes."""
    try:
        found = json_difference(json.loads(old), json.loads(new))
    except ValueError:
        found = None
    return said(where + found[0], *found[1:]) if found else text_difference(where, old, new)


def sequence_difference(where, kind, old, new):
    """Of two lists of equal meaning, item by item; kind names an item."""
    for i, (a, b) in enumerate(zip(old, new)):
        if a != b:
            found = json_difference(a, b)
            return said(f"{where} {kind} {i}{found[0] if found else ''}", *(found[1:] if found else (a, b)))
    if len(old) != len(new):
        return said(where, f"{len(old)} {kind}s", f"{len(new)} {kind}s")
    return None


# ---- Op logs


def log_records(text):
    """The lines of a JSONL log without those that only say where it comes from and that it is whole."""
    def is_header(line):
        return '"log_' in line and json.loads(line)["op_name"] in LOG_HEADERS
    return [line for line in text.splitlines() if not is_header(line)]


def jsonl_difference(where, old, new):
    a, b = log_records(old), log_records(new)
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return json_text_difference(f"{where} record {i} ", x, y)
    return said(where, f"{len(a)} records", f"{len(b)} records") if len(a) != len(b) else None


def sqlite_rows(path, tidy):
    """Columns and rows of the view `ops`."""
    base = sqlite3.connect(path)
    try:
        rows = base.execute("SELECT * FROM ops ORDER BY op_id")
        columns = [column[0] for column in rows.description]
        folder = os.path.dirname(path)
        return columns, [[tidy.text(v.encode(), folder) if isinstance(v, str) else v for v in row] for row in rows]
    finally:
        base.close()


def sqlite_difference(where, old_path, new_path, tidy):
    (old_columns, old), (new_columns, new) = sqlite_rows(old_path, tidy), sqlite_rows(new_path, tidy)
    if old_columns != new_columns:
        return said(f"{where} columns of ops", old_columns, new_columns)
    for i, (a, b) in enumerate(zip(old, new)):
        for column, x, y in zip(old_columns, a, b):
            if x != y:
                at = f"{where} row {i} {column}"
                both_json = column == "params" and isinstance(x, str) and isinstance(y, str)
                return json_text_difference(at, x, y) if both_json else said(at, x, y)
    return said(where, f"{len(old)} rows", f"{len(new)} rows") if len(old) != len(new) else None


# ---- Waveforms and traces


def value(bits):
    """A VCD value without the digits that a reader would put before it anyway."""
    return re.sub(r"^(?:0+(?=[01])|x+(?=x)|z+(?=z))", "", bits)


def timescale(text):
    return re.findall(r"\$timescale (.*?) \$end", text, re.S)


def vcd_difference(where, old_text, new_text):
    old, new = vcd_reader.Vcd(old_text), vcd_reader.Vcd(new_text)
    scale = [timescale(text) for text in (old_text, new_text)]
    if scale[0] != scale[1]:
        return said(f"{where} timescale", *scale)
    for name in sorted(old.signals.keys() | new.signals.keys()):
        if name not in old.signals or name not in new.signals:
            return said(f"{where} signal {name}", *("there" if name in vcd.signals else "(none)" for vcd in (old, new)))
        a, b = old.signals[name], new.signals[name]
        if old.widths[a] != new.widths[b]:
            return said(f"{where} width of {name}", old.widths[a], new.widths[b])
        changes = [[[time, value(bits)] for time, bits in vcd.changes[code]] for vcd, code in ((old, a), (new, b))]
        if found := sequence_difference(f"{where} signal {name}", "change", *changes):
            return found
    return said(f"{where} last time", old.times[-1], new.times[-1]) if old.times[-1:] != new.times[-1:] else None


def tracks(text):
    """Events of a Chrome trace by track, in order; those that only name things apart, sorted."""
    names, by_track = [], {}
    for event in json.loads(text):
        if event.get("ph") == "M":
            names.append(json.dumps(event, sort_keys=True))
        else:
            by_track.setdefault(f"pid {event.get('pid')} tid {event.get('tid')}", []).append(event)
    return sorted(names), by_track


def trace_difference(where, old_text, new_text):
    (old_names, old), (new_names, new) = tracks(old_text), tracks(new_text)
    for track in sorted(old.keys() | new.keys()):
        if found := sequence_difference(f"{where} {track}", "event", old.get(track, []), new.get(track, [])):
            return found
    return sequence_difference(where, "name", old_names, new_names)


# ---- Reports


def page_data(text):
    """What a report page shows, without what is exempt; its looks are another matter."""
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
    for exempt in ("run", "command", "configuration", "events", "wall_s"):
        data.pop(exempt, None)
    for exempt in ("moments", "bytes"):
        data["insight"]["causes"].pop(exempt, None)
    return data


def page_difference(where, old, new):
    found = json_difference(page_data(old), page_data(new))
    return said(where + found[0], *found[1:]) if found else None


# ---- Files


def canonical_text(path, tidy):
    """Of one file: the same text for two files where file_difference finds none between them, and only there."""
    if path.endswith(COMPUTED_FILES):
        return ""
    if path.endswith(".sqlite"):
        return json.dumps(sqlite_rows(path, tidy))
    text = tidy.file(path)
    if path.endswith(".jsonl"):
        return "\n".join(log_records(text))
    if path.endswith(".vcd"):
        vcd = vcd_reader.Vcd(text)
        signals = {name: [vcd.widths[code], [[time, value(bits)] for time, bits in vcd.changes[code]]]
                   for name, code in vcd.signals.items()}
        return json.dumps([timescale(text), signals, vcd.times[-1:]], sort_keys=True)
    if path.endswith(".json"):
        return json.dumps(tracks(text), sort_keys=True)
    if path.endswith(".html"):
        return json.dumps(page_data(text), sort_keys=True)
    return text


def file_difference(name, old_path, new_path, tidy):
    """Of one file that both have written, by the end of its name."""
    if name.endswith(COMPUTED_FILES):
        return None
    try:
        if name.endswith(".sqlite"):
            return sqlite_difference(name, old_path, new_path, tidy)
        old, new = tidy.file(old_path), tidy.file(new_path)
        if old == new:
            return None  # the usual case
        readers = {".jsonl": jsonl_difference, ".vcd": vcd_difference, ".json": trace_difference,
                   ".html": page_difference}
        return readers.get(os.path.splitext(name)[1], text_difference)(name, old, new)
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError, sqlite3.Error) as fault:
        return f"{name}: cannot be read: {type(fault).__name__} {shown(str(fault))}"
