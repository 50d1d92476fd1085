# SPDX-License-Identifier: Apache-2.0
"""The same work on another simulator and on kernbench, for `scripts/bench --peer NAME=BINARY`.

A peer is installed as its authors build it: BINARY is inside its tree, whose folder `configs` it needs.

onnxim   a product of 1024³ f16 on four 128 x 128 weight-stationary arrays (its configs/CONFIG; ours: four PEs of
         one_cube.yaml, hbm_dram hbm2 of 8 channels)
dramsys  200,000 sequential reads of 32 bytes, one each 4 ns, on one channel (its configs/hbm2-example.json with this trace;
         ours: a port behind hbm_dram)
"""

import json
import os
import re
import sys

import bench_inputs as inputs

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "system"))
import onnx_file as onnx  # noqa: E402

ONE_CUBE = os.path.join(HERE, "..", "..", "topologies", "one_cube.yaml")
CONFIG = "systolic_ws_128x128_c4_simple_noc_tpuv4.json"
SIZE, READS, PERIOD_NS = 1024, 200000, 4
NS = {"ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class Peer:
    """argv and environment of both, and the simulated ns of the peer by its output."""

    def __init__(self, theirs, ours, time_ns, environment=None):
        self.theirs, self.ours, self.time_ns, self.environment = theirs, ours, time_ns, environment or {}


def tree_of(binary):
    """The nearest folder above the program that has `configs`."""
    folder = os.path.dirname(os.path.abspath(binary))
    while not os.path.isdir(os.path.join(folder, "configs")):
        if folder == os.path.dirname(folder):
            raise ValueError(f"{binary}: no folder above it has configs/, as in the peer's own tree")
        folder = os.path.dirname(folder)
    return folder


def written(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def four_arrays(path):
    gone = [(key, "") for key in ("interleave_bytes: ", "pc_bw_gbs: ", "hash: xor", "burst_bytes: ", "macs_per_cycle: ",
                                  "rates: {f32")]
    return inputs.changed(path, ONE_CUBE, (
        ("count: 8 ", "    count: 4\n"), (r"at: \[r0c0, r0c1", "    at: [r0c0, r1c4, r4c0, r5c4]\n"),
        ("impl: builtin.hbm_pc", "    impl: builtin.hbm_dram\n"),
        ("pseudo_channels: ", "      preset: hbm2\n      channels: 8\n"),
        ("pe_gemm:$", "      pe_gemm:\n        impl: builtin.pe_gemm_systolic\n"),
        ("shared_resource: accel_slot  #", "          shared_resource: accel_slot\n          rows: 128\n          cols: 128\n"
         "          dataflow: ws\n"), *gone))


def onnxim(binary, kernbench, data):
    tree, home, name = tree_of(binary), os.path.join(data, "onnxim"), f"matmul_{SIZE}"
    shape = (SIZE, SIZE)
    product = onnx.model([onnx.node("MatMul", ["a", "b"], ["c"], "matmul")],
                         [("a", "float16", shape), ("b", "float16", shape)], [("c", "float16", shape)])
    written(os.path.join(home, "models", name, name + ".onnx"), product)
    models = written(os.path.join(home, "models.json"),
                     json.dumps({"models": [{"name": name, "batch_size": 1, "request_time": 0}]}))
    configs = os.path.join(home, "configs")
    if not os.path.exists(configs):
        os.symlink(os.path.join(tree, "configs"), configs)
    config = os.path.join(configs, CONFIG)
    with open(config) as f:
        mhz = json.load(f)["core_freq"]

    def time_ns(text):
        return max(int(n) for n in re.findall(r"Total cycle:?\s+(\d+)", text)) * 1e3 / mhz

    machine = inputs.once(os.path.join(data, "four_arrays.yaml"), four_arrays)
    tiles = [f"m={SIZE}", f"n={SIZE}", f"k={SIZE}", "tile_m=256", "tile_n=128", "tile_k=128", "dtype=f16"]
    return Peer([binary, "--config", config, "--models_list", models],
                [kernbench, "run", "--kernel", "gemm", "--topology", machine, "--links", "cut_through", "--format", "json"] +
                [a for t in tiles for a in ("--param", t)], time_ns, {"ONNXIM_HOME": home})


def dramsys(binary, kernbench, data):
    configs = os.path.join(tree_of(binary), "configs")
    folder = os.path.join(data, "dramsys")
    trace = written(os.path.join(folder, "reads.stl"), "".join(f"{PERIOD_NS * i}: read 0x{32 * i:x}\n" for i in range(READS)))
    with open(os.path.join(configs, "hbm2-example.json")) as f:
        config = json.load(f)
    config["simulation"]["tracesetup"] = [{"type": "player", "clkMhz": 1000, "name": trace}]
    written(os.path.join(folder, "reads.json"), json.dumps(config))
    machine = written(os.path.join(folder, "port.yaml"), """ns_per_mm: 0.01
timing: {links: ideal, response: routed}
nodes:
- {id: port, kind: port}
- {id: hbm, kind: hbm_ctrl, impl: builtin.hbm_dram, attrs: {preset: hbm2, channels: 1, pseudo_channels: 1}}
links:
- {from: port, to: hbm, distance_mm: 0}
memories:
- {node: hbm, space: hbm, base: 0, size: 268435456}
""")
    requests = written(os.path.join(folder, "reads.csv"), "id,issue_ns,initiator,op,address,bytes\n" + "".join(
        f"{i},{PERIOD_NS * i},port,read,{32 * i},32\n" for i in range(READS)))

    def time_ns(text):
        return max(float(n) * NS[unit] for n, unit in re.findall(r"Total Time:\s+([\d.]+)\s*(ps|ns|us|ms|s)\b", text))

    return Peer([binary, os.path.join(folder, "reads.json"), configs],
                [kernbench, "traffic", "--topology", machine, "--trace", requests, "--format", "csv"], time_ns)


PEERS = {"onnxim": onnxim, "dramsys": dramsys}


def our_time_ns(text):
    """Of `run --format json` or `traffic --format csv`."""
    if text.startswith("{"):
        return json.loads(text)["sim_ns"]
    head, *rows = (line.split(",") for line in text.splitlines())
    at = head.index("done_ns")
    return max(float(row[at]) for row in rows)
