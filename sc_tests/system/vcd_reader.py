# SPDX-License-Identifier: Apache-2.0
"""A reader of Value Change Dumps of its own: it accepts what IEEE 1364-2001 §18 allows, and nothing else."""
import re


class Vcd:
    def __init__(self, text):
        self.signals = {}  # full name -> code
        self.widths = {}  # code -> bits
        self.reals = set()  # codes
        self.changes = {}  # code -> [(time, value text)]
        self.times = []
        head, found, body = text.partition("$enddefinitions $end\n")
        assert found, "no $enddefinitions"
        self._declarations(head)
        self._values(body)

    def _declarations(self, head):
        scopes = []
        for line in head.splitlines():
            if scope := re.fullmatch(r"\$scope module (\S+) \$end", line):
                scopes.append(scope[1])
            elif line == "$upscope $end":
                scopes.pop()
            elif var := re.fullmatch(r"\$var wire (\d+) ([!-~]+) (\S+)( \[\d+:0\])? \$end", line):
                bits, code, name = int(var[1]), var[2], ".".join([*scopes, var[3]])
                assert 1 <= bits <= 64 and (bits == 1) == (var[4] is None), line
                assert bits == 1 or var[4] == f" [{bits - 1}:0]", line
                assert code not in self.widths, f"{code} is declared twice"
                assert name not in self.signals, f"{name} is declared twice"
                self.signals[name], self.widths[code], self.changes[code] = code, bits, []
            elif var := re.fullmatch(r"\$var real 64 ([!-~]+) (\S+) \$end", line):
                code, name = var[1], ".".join([*scopes, var[2]])
                assert code not in self.widths and name not in self.signals, line
                self.signals[name], self.widths[code], self.changes[code] = code, 64, []
                self.reals.add(code)
            else:
                assert re.fullmatch(r"\$(version|timescale) .* \$end", line), line
        assert not scopes, "a scope stays open"

    def _values(self, body):
        time, section = -1, None  # $dumpon, $dumpoff repeat the value of every signal
        for line in body.splitlines():
            if line.startswith("#"):
                assert int(line[1:]) > time, f"time goes back at {line}"
                time = int(line[1:])
                self.times.append(time)
            elif line in ("$dumpvars", "$dumpon", "$dumpoff"):
                section = line
            elif line == "$end":
                section = None
            else:
                change = re.fullmatch(r"(?:b([01xz]+) |r([0-9.e+-]+) |([01xz]))([!-~]+)", line)
                assert change, line
                value, code = change[1] or change[2] or change[3], change[4]
                assert code in self.widths, f"{code} is not declared"
                assert (code in self.reals) == (change[2] is not None), line
                assert change[2] or len(value) <= self.widths[code], f"{line}: too wide"
                assert (self.widths[code] == 1) == (change[3] is not None), line
                changes = self.changes[code]
                if time == 0 and not section and len(changes) == 1:
                    changes.clear()  # changes at 0 replace the initial value
                assert not changes or changes[-1][0] < time, f"{code} changes twice at {time}"
                assert not changes or section or changes[-1][1] != value, f"{code} does not change at {time}"
                assert section != "$dumpoff" or value == "x", f"{code} has a value in $dumpoff"
                if changes and changes[-1][1] == value:
                    continue
                changes.append((time, value))

    def values(self, name):
        """[(time in ns, value)]; the value is None for z and for x."""
        if self.signals[name] in self.reals:
            return [(t * 1e-6, float(v)) for t, v in self.changes[self.signals[name]]]
        return [(t * 1e-6, None if v[0] in "xz" else int(v, 2)) for t, v in self.changes[self.signals[name]]]

    def end_ns(self):
        return self.times[-1] * 1e-6

    def intervals(self, name):
        """[(from, to, value)] in ns, up to the end."""
        values = self.values(name)
        ends = [t for t, _ in values[1:]] + [self.end_ns()]
        return [(t, end, v) for (t, v), end in zip(values, ends)]

    def integral(self, name):
        return sum((end - t) * v for t, end, v in self.intervals(name))
