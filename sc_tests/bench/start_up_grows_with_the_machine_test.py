# SPDX-License-Identifier: Apache-2.0
"""Does each step of the start-up grow with the machine, and no faster?

A kernel with one element runs on one PE of a mesh with few memories, so that the start is all there is. The mesh, its PEs,
memories, ports and further links are doubled in turn, then PEs and mesh together. Every function of kernbench that has 1 %
of the instructions, with all that it calls (callgrind), takes at most 2.3 times as many; for PEs and mesh together 4.6 times.

    start_up_grows_with_the_machine_test.py KERNBENCH
"""
import os
import re
import subprocess
import sys
import tempfile

import callgrind

BASE = {"pes": 32, "width": 16, "height": 16, "memories": 8, "ports": 32, "links": 32}
MOST_ONCE, MOST_TWICE = 2.3, 4.6
SHARE = 0.01
BLOCKS = (("pe_cpu", ""), ("pe_scheduler", ""), ("pe_dma", ""), ("pe_fetch_store", ""),
          ("pe_gemm", "macs_per_cycle: 4096, freq_ghz: 1"), ("pe_math", "lanes: 128, freq_ghz: 1"),
          ("pe_tcm", "size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512"))


def machine(pes, width, height, memories, ports, links):
    """Flat: a mesh, and everything else spread over its routers."""
    def router(i, count, right=0, down=0):
        y, x = divmod(i * width * height // count, width)
        return f"r{(y + down) % height}_{(x + right) % width}"

    nodes = [f"{{id: r{y}_{x}, kind: router, attrs: {{overhead_ns: 1}}}}" for y in range(height) for x in range(width)]
    ends = [(f"r{y}_{x}", f"r{y}_{x + 1}") for y in range(height) for x in range(width - 1)]
    ends += [(f"r{y}_{x}", f"r{y + 1}_{x}") for y in range(height - 1) for x in range(width)]
    ends += [(router(i, links), router(i, links, 1, 1)) for i in range(links)]
    for i in range(pes):
        nodes += [f"{{id: pe{i}.{kind}, kind: {kind}, attrs: {{{attrs}}}}}" for kind, attrs in BLOCKS]
        ends.append((f"pe{i}.pe_dma", router(i, pes)))
    for i in range(ports):
        nodes.append(f"{{id: at{i}, kind: port}}")
        ends.append((f"at{i}", router(i, ports)))
    for i in range(memories):
        nodes.append(f"{{id: m{i}, kind: hbm_ctrl, attrs: {{overhead_ns: 10}}}}")
        ends.append((router(i, memories), f"m{i}"))
    lines = ["timing: {links: cut_through, response: routed, header_bytes: 16}", "nodes:"] + ["- " + n for n in nodes]
    lines += ["links:"] + [f"- {{from: {a}, to: {b}, distance_mm: 1, bw_gbs: 64}}" for a, b in ends]
    lines += ["memories:"] + [f"- {{node: m{i}, space: hbm, base: {i << 24}, size: {1 << 24}}}" for i in range(memories)]
    return "\n".join(lines) + "\n"


def functions(folder, kernbench, **figures):
    """Instructions of the run by function, with what it calls; under "" all of them."""
    path = os.path.join(folder, "machine.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(machine(**figures))
    total, _ = callgrind.instructions(folder, [kernbench, "run", "--topology", path, "--kernel", "vector_add", "--param",
                                               "n=1", "--pes", "pe0", "--launch", "direct"])
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=99.9",
                           os.path.join(folder, "callgrind.out")], capture_output=True, text=True, check=True).stdout
    found = {"": total}
    for count, name in re.findall(r"^ *([\d,]+) \([ \d.]+%\)\s+\S+?:(\S*kernbench::.*?) \[", text, re.M):
        if name.endswith("'2"):  # a recursive call, which the kernel's thread causes in callgrind's output
            continue
        found[name] = max(found.get(name, 0), int(count.replace(",", "")))
    return found


def main():
    kernbench = sys.argv[1]
    callgrind.skip_where_nothing_can_be_counted()
    too_fast = 0
    with tempfile.TemporaryDirectory() as folder:
        before = functions(folder, kernbench, **BASE)
        for doubled in ("pes", "width", "memories", "ports", "links", "pes width"):
            most = MOST_TWICE if " " in doubled else MOST_ONCE
            after = functions(folder, kernbench, **{k: v * (1 + (k in doubled.split())) for k, v in BASE.items()})
            print(f"{doubled}: {before['']:,} instructions, then {after['']:,}")
            for name, count in after.items():
                if count < SHARE * after[""] or count <= most * before.get(name, count):
                    continue
                too_fast += 1
                print(f"  TOO FAST: {before[name]:,}, then {count:,}: {name}")
    return 1 if too_fast else 0


if __name__ == "__main__":
    sys.exit(main())
