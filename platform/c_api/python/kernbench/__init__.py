# SPDX-License-Identifier: Apache-2.0
"""kernbench from Python: the C interface (kernbench_c.h), records as dictionaries, and stores of sweeps.

    import kernbench
    r = kernbench.model("config.json", topology="default", phase="prefill:512", repeat=True)
    print(r["report"]["phases"][0]["ttft_ns"])

Options have the names of the command line, with _ for -; True is a flag, a list a repeated option, a dictionary
NAME=VALUE. Faults are Error with the lines of the command line. KERNBENCH_C_LIBRARY and KERNBENCH_CLI name another
libkernbench_c.so and kernbench than those of the linker's and the shell's paths.
"""
import ctypes
import json
import os
import sqlite3
import subprocess

__all__ = ["Error", "Store", "model", "report", "run", "store", "sweep"]


class Error(Exception):
    """What the command line would say on stderr; `status` is 1 (a run failed) or 2 (bad input), as its exit status."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


class _Pair(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


_LIBRARY = None


def _library():
    global _LIBRARY
    if _LIBRARY is None:
        lib = ctypes.CDLL(os.environ.get("KERNBENCH_C_LIBRARY", "libkernbench_c.so.1"))
        lib.kernbench_last_error.restype = ctypes.c_char_p
        lib.kernbench_run.argtypes = [ctypes.c_char_p, ctypes.POINTER(_Pair), ctypes.c_size_t,
                                      ctypes.POINTER(ctypes.c_void_p)]
        lib.kernbench_record_json.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p)]
        lib.kernbench_record_destroy.argtypes = [ctypes.c_void_p]
        _LIBRARY = lib
    return _LIBRARY


def _pairs(options):
    """(name, value) of each value of each option."""
    for name, value in options.items():
        name = name.replace("_", "-")
        if isinstance(value, dict):
            values = [f"{k}={v}" for k, v in value.items()]
        else:
            values = value if isinstance(value, (list, tuple)) else [value]
        for v in values:
            if v is not None and v is not False:
                yield name, "true" if v is True else os.fspath(v) if isinstance(v, os.PathLike) else str(v)


def run(command="run", /, **options):
    """Simulates `kernbench COMMAND` (run, model, traffic, pipeline, probe or collectives) in a process of its own.

    Returns the record: {"status", "told", "figures", "verdict", "wall_s", "report"}; times in ns. The status is 1 where
    an output is wrong. Error for bad input and for a run that fails.
    """
    lib = _library()
    given = [_Pair(n.encode(), v.encode()) for n, v in _pairs(options)]
    record, text = ctypes.c_void_p(), ctypes.c_char_p()
    status = lib.kernbench_run(command.encode(), (_Pair * len(given))(*given), len(given), ctypes.byref(record))
    if not record:
        raise Error(lib.kernbench_last_error().decode(), status)
    try:
        if failed := lib.kernbench_record_json(record, ctypes.byref(text)):
            raise Error(lib.kernbench_last_error().decode(), failed)
        return json.loads(text.value)
    finally:
        lib.kernbench_record_destroy(record)


def model(file, **options):
    """run() of `kernbench model FILE`: phases, or with `requests` or `synthetic` a service."""
    return run("model", model=file, **options)


def report(file, command="run", /, **options):
    """run() that also writes the HTML page `file`."""
    return run(command, report=file, **options)


def sweep(store_file, over, command="run", /, jobs=0, **options):
    """Simulates all combinations of `over`, {option: values}, and keeps them in `store_file`. Returns its Store."""
    words = [os.environ.get("KERNBENCH_CLI", "kernbench"), "sweep", "--store", os.fspath(store_file), "--jobs",
             str(jobs)]
    for name, values in over.items():
        words += ["--over", f"{name.replace('_', '-')}={','.join(map(str, values))}"]
    words += ["--", command]
    for name, value in _pairs(options):
        words += ["--" + name] if value == "true" else ["--" + name, value]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error(done.stderr.strip(), done.returncode)
    return store(store_file)


class Store:
    """The points that a sweep has kept."""

    def __init__(self, file):
        self.file = os.fspath(file)

    def rows(self):
        """A dictionary for each point that has ended, in the order of their commands: command, exit, error, wall_s,
        then its metrics."""
        if not os.path.isfile(self.file):
            raise Error(f"{self.file}: no such file", 2)
        try:
            with sqlite3.connect(f"file:{self.file}?mode=ro", uri=True) as db:
                found = db.execute("select command, status, error, wall_s, metrics from points "
                                   "where status is not null order by command").fetchall()
        except sqlite3.Error as e:
            raise Error(f"{self.file}: is no store of a sweep: {e}", 2) from e
        return [{"command": c, "exit": s, "error": e, "wall_s": w, **json.loads(m)} for c, s, e, w, m in found]

    def frame(self):
        """rows() as a pandas.DataFrame. Error where pandas is missing."""
        try:
            import pandas
        except ImportError as e:
            raise Error("frame() needs pandas; rows() has the same as dictionaries", 2) from e
        return pandas.DataFrame(self.rows())


def store(file):
    """A store of `kernbench sweep --store`."""
    return Store(file)
