# SPDX-License-Identifier: Apache-2.0
"""Does nobody but a link mode's own files name it?

Names come from the registry (`kernbench list links`). Looked for in the sources of the product are texts and constants
that name one: "flit", 'flit', Links::flit. Exempt: the files that define modes, the header in which C++ users find their
constants, and `response: ideal`, which is no mode.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(os.environ["KERNBENCH_SOURCE"])
OWN = ("systemc_models/core/links.h",)
TOPS = ("systemc_models", "platform", "kernel_api", "phase2", "scripts", "cmake")
ENDINGS = (".h", ".cpp", ".inc", ".js", ".html", ".py", ".cmake", "")


def modes():
    listed = subprocess.run([os.environ["KERNBENCH_CLI"], "list", "links", "--format", "json"], capture_output=True,
                            text=True, check=True)
    return [m["name"] for m in json.loads(listed.stdout)]


def is_own(file, names):
    """A mode's files: those whose LinkModeSpec says its name."""
    return file in OWN or any(f's.name = "{n}"' in (ROOT / file).read_text(encoding="utf-8") for n in names)


def wrong_lines(file, pattern):
    before = ""
    for number, line in enumerate((ROOT / file).read_text(encoding="utf-8").splitlines(), 1):
        code = line.split("//")[0]
        if pattern.search(code) and "esponse" not in before + code:
            yield f"{file}:{number}: {line.strip()}"
        before = code


def main():
    names = modes()
    if len(names) < 3:
        sys.exit(f"modes: {names}; expected at least three")
    one = "|".join(map(re.escape, names))
    pattern = re.compile(rf"""["'](?:{one})["']|\bLinks::(?:{one})\b|>(?:{one})<""")
    found, seen = [], 0
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*")):
            file = path.relative_to(ROOT).as_posix()
            if not path.is_file() or path.suffix not in ENDINGS or is_own(file, names):
                continue
            seen += 1
            found += wrong_lines(file, pattern)
    if not pattern.search('if (links == "flit")') or not pattern.search("t.links = Links::flit;"):
        sys.exit("the pattern finds nothing")
    if found or seen < 500:
        sys.exit(f"{seen} files, of which these name a link mode that is not theirs:\n" + "\n".join(found))
    print(f"OK: {seen} files")


if __name__ == "__main__":
    main()
