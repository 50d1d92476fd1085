# SPDX-License-Identifier: Apache-2.0
"""CPU time a command of Triton kernels beside that of tl's kernels: python3 triton_rate.py KERNBENCH [KERNEL...]

Of each a small and a large run on one PE, so that start and elaboration cancel out; medians of 5, the two kernels in
turns. Commands are those of the report's engines; tensors lie in one piece.
"""
import json
import os
import resource
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = os.path.join(HERE, "..", "data", "triton")
RUNS = 5


def ttir(text, grid, tensors, params):
    words = ["--ttir", os.path.join(TEXTS, text), "--grid", grid]
    for i, (name, shape) in enumerate(tensors.items()):
        words += ["--tensor", f"{name}=zeros:{shape}", "--place", f"{name}={'rows' if i + 1 == len(tensors) else 'replicate'}"]
    return words + [word for name, value in params.items() for word in ("--param", f"{name}={value}")]


def tl(kernel, **params):
    return ["--kernel", kernel, *(word for name, value in params.items() for word in ("--param", f"{name}={value}"))]


def matmul(n):
    shape = f"f16[{n},{n}]"
    return ttir("matmul_3_4.ttir", str((n // 32)**2), {"a_ptr": shape, "b_ptr": shape, "c_ptr": shape},
                dict.fromkeys(("M", "N", "K", "stride_am", "stride_bk", "stride_cm"), n))


def vector_add(n):
    return ttir("vector_add_3_1.ttir", str(n // 256), dict.fromkeys(("arg0", "arg1", "arg2"), f"f32[{n}]"), {"arg3": n})


def softmax(rows):
    return ttir("softmax_3_4.ttir", "4", {"x_ptr": f"f32[{rows},128]", "y_ptr": f"f32[{rows},128]"},
                {"x_stride": 128, "y_stride": 128, "rows": rows, "cols": 128})


def attention(s):
    return ttir("attention_64_3_7.ttir", f"{s // 64},1", dict.fromkeys("QKVO", f"f16[1,{s},64]"), {"S": s, "scale": 0.18})


# A kernel as TTIR and in tl, with its small and large sizes. (vector_add and softmax in tl have few, long commands.)
PAIRS = {
    "matmul": (matmul, lambda n: tl("gemm_dot", m=n, n=n, k=n, tile_k=16, dtype="f16"), 128, 768),
    "vector_add": (vector_add, lambda n: tl("vector_add", n=16 * n), 25600, 3072000),
    "softmax": (softmax, lambda n: tl("softmax", rows=n, cols=4096), 200, 20000),
    "attention": (attention, lambda n: tl("attention", heads=1, seq=n, dtype="f16", causal="true"), 512, 4096),
}


def run(program, words):
    """CPU seconds and commands."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    topology = os.path.join(HERE, "..", "..", "topologies", "small.yaml")
    done = subprocess.run([program, "run", "--topology", topology, "--pes", "sip0.cube0.pe0", "--format", "json", *words],
                          capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            sum(engine["ops"] for engine in json.loads(done.stdout)["engines"]))


def microseconds(program, kernel, small, large):
    a, b = run(program, kernel(small)), run(program, kernel(large))
    return (b[0] - a[0]) / (b[1] - a[1]) * 1e6


def main():
    program = sys.argv[1]
    for name in sys.argv[2:] or PAIRS:
        as_ttir, as_tl, *sizes = PAIRS[name]
        times = [(microseconds(program, as_ttir, *sizes), microseconds(program, as_tl, *sizes)) for _ in range(RUNS)]
        one, other = (statistics.median(t) for t in zip(*times))
        print(f"{name}: {one:.2f} us a command as TTIR, {other:.2f} as tl's kernel: {other / one:.2f} of its rate", flush=True)


if __name__ == "__main__":
    main()
