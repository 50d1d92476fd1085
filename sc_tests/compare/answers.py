# SPDX-License-Identifier: Apache-2.0
"""What a reference answered to the cases of recorded_cases.py, kept in answers.json: of every case the exit status of each
command, and a digest of each output in its canonical form (readers.py). The digest of its inputs says, where an answer
differs, whether the case itself is another one since.
"""
import hashlib
import json
import os

import readers

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers.json")
PREFIX = "recorded/"


def is_kept(case):
    return case.name.startswith(PREFIX)


def load():
    """Answers by the names of the cases, and the commit whose they are (those that were not renewed since)."""
    with open(FILE, encoding="utf-8") as file:
        content = json.load(file)
    return content["cases"], content["reference"]


def save(kept, reference):
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(kept[name], separators=(',', ':'))}" for name in sorted(kept))
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(f'{{"reference": {json.dumps(reference)}, "cases": {{\n{lines}\n}}}}\n')


def digest(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def input_digest(commands, folder, tidy):
    """Of the commands, the files that the case wrote, and those that it was given."""
    texts = [tidy.text(json.dumps(commands).encode(), folder)]
    files = {os.path.join(folder, name) for name in os.listdir(folder)}
    files.update(word for command in commands for word in command if os.path.isabs(word) and os.path.isfile(word))
    return digest("\n".join(texts + [tidy.file(path) for path in sorted(files)]))


class Answers:
    """One binary, held to what is kept."""

    def __init__(self, binary, runs):
        self.binaries, self.runs = (binary,), runs
        self.tidy = readers.Tidy(ignore_source_lines=True, root=runs.folder)
        self.kept, self.reference = load()

    def given(self, case):
        """The answer of the binary, and the first line that the last command said on stderr."""
        def act(commands, inputs, outcomes):
            [(folder, results)] = outcomes
            answer = {"status": [status for status, _, _ in results]}
            for i, (command, (_, out, err)) in enumerate(zip(commands, results)):
                number = f" {i}" if len(commands) > 1 else ""
                texts = {"stdout": self.tidy.stdout(command, out, folder), "stderr": self.tidy.text(err, folder)}
                answer.update({stream + number: digest(text) for stream, text in texts.items() if text})
            for name in sorted(os.listdir(folder)):
                answer[name] = digest(readers.canonical_text(os.path.join(folder, name), self.tidy))
            answer["inputs"] = input_digest(commands, inputs, self.tidy)
            return answer, (results[-1][2].decode("utf-8", "replace").splitlines() or [""])[0]

        return self.runs.of(case, self.binaries, act)

    def difference(self, case):
        """What of a case is not as it is kept, as a line of text, or None."""
        return self.departure(case, *self.given(case))

    def departure(self, case, answer, said):
        kept = self.kept.get(case.name)
        if kept is None:
            return "no answer is kept; --renew keeps one"
        found = []
        if kept["status"] != answer["status"]:
            found.append(readers.said("exit status", kept["status"], answer["status"]) + f" ({readers.shown(said)})")
        names = [*kept, *(name for name in answer if name not in kept)]
        found += [name + ("" if name in answer and name in kept else " (gone)" if name in kept else " (new)")
                  for name in names if name not in ("status", "inputs") and kept.get(name) != answer.get(name)]
        if not found:
            return None
        return "not as kept: " + ", ".join(found) + ("; its inputs are others, too" if kept["inputs"] != answer["inputs"]
                                                     else "")
