# SPDX-License-Identifier: Apache-2.0
"""Kernels whose programs share data (locks, partial tiles, counts), a sort and an attention by block pointers: against
numpy, with odd shapes, one program and more of them than PEs. And texts in the spellings of Triton 3.1, 3.4 and 3.7:
the same kernel, values and time whoever printed it."""
import os
import re
import unittest

import numpy as np
from ttir_cli import TEXTS, Kernel

RANDOM = np.random.default_rng(381)
VERSIONS = ("3.1", "3.4", "3.7")


def floats(*shape, dtype=np.float32):
    return RANDOM.uniform(-1, 1, shape).astype(dtype)


def positional(*values):
    """As arguments whose names are not in the text."""
    return {f"arg{i}": v for i, v in enumerate(values)}


def dumped(kernel, *names):
    """The report of a verified run, and what these tensors are after it."""
    paths = [os.path.join(kernel.folder.name, f"dumped_{name}.npy") for name in names]
    for name, path in zip(names, paths):
        kernel.command += ["--dump", f"{name}={path}"]
    return kernel.verified(), *(np.load(path) for path in paths)


# ---- Layer norm, backward -------------------------------------------------------------------------------------------


def layer_norm_gradients(x, dy, w, mean, rstd):
    """Of all elements of x, and what each row adds to those of the weight and the bias; in f64, from the formula of y."""
    x, dy, w, mean, rstd = (v.astype(np.float64) for v in (x, dy, w, mean, rstd))
    normal = (x - mean[:, None]) * rstd[:, None]
    g = dy * w
    dx = (g - g.mean(1, keepdims=True) - normal * (g * normal).mean(1, keepdims=True)) * rstd[:, None]
    return dx, dy * normal, dy


def layer_norm_backward(rows, cols, *options):
    groups = 3
    x, dy, w = floats(rows, cols, dtype=np.float16), floats(rows, cols, dtype=np.float16), floats(cols, dtype=np.float16)
    mean = x.astype(np.float64).mean(1).astype(np.float32)
    rstd = (1 / np.sqrt(x.astype(np.float64).var(1) + 1e-5)).astype(np.float32)
    dx, dw, db = layer_norm_gradients(x, dy, w, mean, rstd)
    group = np.arange(rows) % groups
    sums = [np.stack([d[group == g].sum(0) for g in range(groups)]) for d in (dw, db)]
    locks = np.array([0] * groups + [int((group == g).any()) for g in range(groups)], np.int32)  # all free again
    zeros = np.zeros((groups, cols), np.float32)
    kernel = Kernel("layer_norm_dx_3_1.ttir", str(rows),
                    positional(np.zeros_like(x), dy, zeros, zeros, x, w, mean, rstd, np.zeros(2 * groups, np.int32), cols, cols),
                    {"arg0": dx.astype(np.float16), "arg2": sums[0].astype(np.float32), "arg3": sums[1].astype(np.float32),
                     "arg8": locks}, *options)
    _, *parts = dumped(kernel, "arg2", "arg3")
    whole = np.zeros(cols, np.float32)
    Kernel("layer_norm_dwdb_3_1.ttir", str(-(-cols // 32)), positional(*parts, whole, whole, groups, cols),
           {"arg2": dw.sum(0).astype(np.float32), "arg3": db.sum(0).astype(np.float32)}, *options).verified()


# ---- Attention ------------------------------------------------------------------------------------------------------


def attention_blocks(heads, s, *options):
    q, k, v = (floats(heads, s, 32, dtype=np.float16) for _ in range(3))
    out = np.zeros((heads, s, 32))
    for h in range(heads):
        for row in range(s):
            scores = np.array([q[h, row].astype(np.float64) @ k[h, key].astype(np.float64) for key in range(row + 1)]) * 0.2
            weights = np.exp(scores - scores.max())
            out[h, row] = weights / weights.sum() @ v[h, : row + 1].astype(np.float64)
    return Kernel("attention_blocks_3_1.ttir", f"{-(-s // 32)},{heads}",
                  positional(q, k, v, np.zeros_like(q), 0.2 * np.log2(np.e), s * 32, s), {"arg3": out.astype(np.float16)}, *options)


# ---- Stream-K, sort, histogram --------------------------------------------------------------------------------------


def stream_k(m, n, k, programs, *options, text="stream_k_3_4.ttir", seed=7):
    random = np.random.default_rng(seed)
    a, b = (random.uniform(-1, 1, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    return Kernel(text, str(programs), positional(a, b, np.zeros_like(c), m, n, k), {"arg2": c}, *options)


def sort(x, *options, text="sort_3_1.ttir"):
    rows, cols = x.shape
    return Kernel(text, str(rows), positional(x, np.zeros_like(x), cols), {"arg1": np.sort(x, axis=1)}, *options)


def histogram(x, programs, *options, text="histogram_3_7.ttir"):
    counted = x[: 128 * programs]
    return Kernel(text, str(programs), {"x_ptr": x, "bins_ptr": np.zeros(16, np.int32), "n": x.size},
                  {"bins_ptr": np.array([(counted == i).sum() for i in range(16)], np.int32)}, *options)


class SharedData(unittest.TestCase):
    def test_layer_norm_backward_adds_rows_under_locks(self):
        for rows, cols in ((1, 1), (19, 61), (3, 64)):
            layer_norm_backward(rows, cols, "--check-races")
        layer_norm_backward(7, 33, "--pes", "sip0.cube1.pe2")
        layer_norm_backward(7, 33, "--pes", "sip0.cube1.pe0,sip0.cube0.pe1,sip0.cube0.pe3", "--order", "blocks")

    def test_weights_of_more_rows_than_a_block(self):
        for rows, cols in ((1, 1), (16, 32), (53, 300)):
            dw, db = floats(rows, cols), floats(rows, cols)
            out = np.zeros(cols, np.float32)
            Kernel("layer_norm_dwdb_3_1.ttir", str(-(-cols // 32)), positional(dw, db, out, out, rows, cols),
                   {f"arg{i}": x.astype(np.float64).sum(0).astype(np.float32) for i, x in ((2, dw), (3, db))}).verified()

    def test_attention_by_block_pointers(self):
        for heads, s in ((1, 1), (1, 32), (3, 75), (5, 47)):
            attention_blocks(heads, s).verified()
        attention_blocks(2, 45, "--pes", "sip0.cube1.pe2").verified()

    def test_stream_k_however_many_programs_share_a_tile(self):
        for m, n, k, programs in ((32, 32, 16, 1), (45, 70, 37, 1), (45, 70, 37, 7), (33, 31, 100, 19), (1, 1, 1, 3), (70, 33, 50, 6)):
            stream_k(m, n, k, programs, "--check-races").verified()
        stream_k(45, 70, 37, 5, "--pes", "sip0.cube1.pe2").verified()

    def test_sort_of_rows(self):
        for rows, cols in ((1, 1), (1, 16), (11, 13)):
            sort(floats(rows, cols)).verified()
        sort(np.array([[0, 3, -np.inf, 3, 1e-40, np.inf, -2, 3], [7] * 8, range(8), range(7, -1, -1)], np.float32)).verified()

    def test_counts_of_a_histogram(self):
        for n, programs in ((1, 1), (128, 1), (300, 3), (1290, 11)):
            histogram(RANDOM.integers(0, 16, n).astype(np.int32), programs, "--check-races").verified()
        histogram(np.full(200, 15, np.int32), 3).verified()  # one bin, and a program without elements


# ---- Spellings ------------------------------------------------------------------------------------------------------


def without_names(text):
    """As 3.1 and 3.4 print values: numbers, and constants %c.. and %cst..; arguments have lost their names."""
    text = re.sub(r'loc\("(?!/)[^".]+"\((#loc\d*)\)\)', r"loc(\1)", text)
    functions = re.split(r"(?=^  tt\.func )", text, flags=re.M)
    for at, function in enumerate(functions):
        names = {}
        for name in re.findall(r"(%[A-Za-z]\w*): ", function.split("\n", 1)[0]):
            names[name] = f"%arg{len(names)}"
        numbers = 0
        for name in re.findall(r"^ +(%\w+)(?::\d+)? = (?!arith\.constant)", function, flags=re.M):
            if name not in names:
                names[name] = f"%{numbers}"
                numbers += 1
        functions[at] = re.sub(r"%\w+", lambda m: names.get(m[0], m[0]), function) if at else function
    return "".join(functions)


def with_names(text):
    """As 3.7 prints values: by the names that Python gave them, counted where one comes again."""
    functions = re.split(r"(?=^  tt\.func )", text, flags=re.M)
    for at, function in enumerate(functions[1:], 1):
        head, body = function.split("\n", 1)
        head = re.sub(r'%arg(\d+): ([^,]*?) loc\((?:"[^"]*":\d+:\d+|#loc\d*)\)', r'%arg\1: \2 loc("arg\1"(#loc))', head)
        names = {}
        for name in re.findall(r"^ +(%\d+)(?::\d+)? = ", body, flags=re.M):
            if name not in names:
                names[name] = f"%value_{len(names)}" if names else "%value"
        functions[at] = head + "\n" + re.sub(r"%\d+", lambda m: names.get(m[0], m[0]), body)
    return "".join(functions)


def respelt(text, version):
    """The same kernel as that version of Triton prints it."""
    text = with_names(text) if version == "3.7" else without_names(text)
    # Reshapes that keep the order have an attribute until 3.1; reshapes that may reorder have a keyword later.
    text = re.sub(r"(tt\.reshape %\w+) (\{allow_reorder = false\} )?:", r"\1 {allow_reorder = false} :" if version == "3.1" else r"\1 :", text)
    # An assertion's position is in its location in later versions.
    text = re.sub(r'(tt\.assert %\w+, "[^"]*")(, "[^"]*", "[^"]*", \d+)?', r'\1, "kernel.py", "kernel", 7' if version == "3.1" else r"\1", text)
    text = re.sub(r"gpu\.barrier|ttg\.barrier \w+", "ttg.barrier local" if version == "3.7" else "gpu.barrier", text)
    # Names of specialised functions are quoted from 3.3 on, because they contain brackets and commas.
    if version == "3.1":
        text = re.sub(r'@"([^"]*)"', lambda m: "@" + re.sub(r"[(),]", "", m[1]), text)
    else:
        text = re.sub(r'@(\w+\.\w+)\b(?!")', r'@"\1__(1,)cconstexpr_1_"', text)
    if version == "3.1":  # has no block after a function's last return
        text = re.sub(r"^ +\^bb\d+:  // no predecessors\n(?:(?!  }).*\n)+", "", text, flags=re.M)
    return text


class Spellings(unittest.TestCase):
    def test_each_version_has_five_texts(self):
        for version in VERSIONS:
            end = "_" + version.replace(".", "_") + ".ttir"
            self.assertGreaterEqual(sum(name.endswith(end) for name in os.listdir(TEXTS)), 5)

    def test_a_kernel_is_the_same_in_every_spelling(self):
        x, counted = floats(9, 13), RANDOM.integers(0, 16, 300).astype(np.int32)
        kernels = {"sort_3_1.ttir": lambda text: sort(x, text=text), "stream_k_3_4.ttir": lambda text: stream_k(45, 70, 37, 7, text=text),
                   "histogram_3_7.ttir": lambda text: histogram(counted, 3, text=text)}
        for name, kernel in kernels.items():
            with open(os.path.join(TEXTS, name), encoding="utf-8") as f:
                text = f.read()
            times, texts = [kernel(name).verified()["sim_ns"]], {text}
            for version in VERSIONS:
                one = kernel(name)
                path = os.path.join(one.folder.name, name)
                texts.add(respelt(text, version))
                with open(path, "w", encoding="utf-8") as f:
                    f.write(respelt(text, version))
                one.command[one.command.index(os.path.join(TEXTS, name))] = path
                if name == "histogram_3_7.ttir" and version != "3.7":  # its arguments have no names there
                    for i, old in enumerate(("x_ptr", "bins_ptr", "n")):
                        one.command = [re.sub(f"^{old}=", f"arg{i}=", word) for word in one.command]
                with self.subTest(name=name, version=version):
                    times.append(one.verified()["sim_ns"])
            self.assertGreaterEqual(len(texts), 3)
            self.assertEqual(len(set(times)), 1, f"{name}: {times}")


if __name__ == "__main__":
    unittest.main()
