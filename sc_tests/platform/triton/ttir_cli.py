# SPDX-License-Identifier: Apache-2.0
"""What tests of Triton's IR share: runs of the command line, and kernels written in a few lines."""
import json
import os
import subprocess
import tempfile

import numpy as np

CLI = os.environ["KERNBENCH_CLI"]
TOPOLOGY = os.path.join(os.environ["KERNBENCH_TOPOLOGIES"], "small.yaml")
TEXTS = os.path.join(os.environ["KERNBENCH_TEST_DATA"], "triton")
ELEMENTS = {"float32": "f32", "float16": "f16", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8"}


class Kernel:
    """One run: arrays are tensors, the rest are numbers; expected ones are verified."""

    def __init__(self, text, grid, arguments, expected, *options):
        self.folder = tempfile.TemporaryDirectory()
        self.command = [CLI, "run", "--topology", TOPOLOGY, "--ttir", text if os.path.sep in text else os.path.join(TEXTS, text),
                        "--grid", grid, "--format", "json", *options]
        for name, value in arguments.items():
            if isinstance(value, np.ndarray):
                self.command += ["--tensor", f"{name}={self.save(name, value)}"]
            else:
                self.command += ["--param", f"{name}={value}"]
        for name, value in expected.items():
            self.command += ["--expected", f"{name}={self.save('expected_' + name, value)}"]

    def save(self, name, value):
        path = os.path.join(self.folder.name, name + ".npy")
        np.save(path, value)
        return path

    def run(self):
        return subprocess.run(self.command, capture_output=True, text=True)

    def verified(self):
        done = self.run()
        assert done.returncode == 0, done.stderr + done.stdout[-2000:]
        report = json.loads(done.stdout)
        assert report["verify"]["passed"]
        return report


def rows(body, arguments, expected, *options, elements=(), grid="1"):
    """A kernel over rows: `%x_at` points to all of each array x, `%x_v` is what is there. `elements`: of arrays whose
    files have others (bf16 lies in f32)."""
    signature, lines, counted = [], [], set()
    for name, x in arguments.items():
        if not isinstance(x, np.ndarray):
            signature.append(f'%{name}: {"f32" if isinstance(x, float) else "i32"} loc("{name}")')
            continue
        e = dict(elements).get(name) or ELEMENTS[str(x.dtype)]
        n = x.size
        signature.append(f'%{name}: !tt.ptr<{e}> loc("{name}")')
        if n not in counted:
            lines.append(f"%r{n} = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>")
            counted.add(n)
        lines += [f"%{name}_p = tt.splat %{name} : !tt.ptr<{e}> -> tensor<{n}x!tt.ptr<{e}>>",
                  f"%{name}_at = tt.addptr %{name}_p, %r{n} : tensor<{n}x!tt.ptr<{e}>>, tensor<{n}xi32>",
                  f"%{name}_v = tt.load %{name}_at : tensor<{n}x!tt.ptr<{e}>>"]
    with tempfile.NamedTemporaryFile("w", suffix=".ttir", delete=False) as f:
        f.write("\n".join(["module {", "tt.func public @k(" + ", ".join(signature) + ") {", *lines, *body, "tt.return", "}", "}", ""]))
    kernel = Kernel(f.name, grid, arguments, expected, *options)
    try:
        return kernel.verified()
    finally:
        os.remove(f.name)
        kernel.folder.cleanup()


def number(x, element="f32"):
    """As a constant of the IR."""
    bits = {"f32": np.float32, "f16": np.float16, "f64": np.float64}[element](x).tobytes()[::-1].hex().upper()
    return f"0x{bits} : {element}"


def ops():
    """The rows of the ops."""
    return json.loads(subprocess.run([CLI, "list", "ops", "--format", "json"], capture_output=True, text=True, check=True).stdout)
