# SPDX-License-Identifier: Apache-2.0
"""A composite cut into tiles: each token's stages with their parameters (§6)."""


def part(operand, columns, nbytes, row, rows, col, cols):
    """Ranges of a tile's part at its real, row-major addresses."""
    stride = operand.get("ld", columns)
    first = operand["addr"] + (row * stride + col) * nbytes
    return [[first + r * stride * nbytes, cols * nbytes] for r in range(rows)]


def plan_composite(c):
    """Tiles in feeding order, each as (ijk, [(stage, parameters)]) (§6)."""
    nbytes = c["dtype_bytes"]
    out_bytes = c.get("out_dtype_bytes", nbytes)
    epilogue = c.get("epilogue", [])
    m, n = c.get("m", 1), c["n"]
    if c["kind"] == "gemm":
        k = c["k"]
        tm, tn, tk = (min(t, s) for t, s in zip(c["tile"], (m, n, k)))
        out = c["c"]
        a_bytes, b_bytes = c["a"].get("dtype_bytes", nbytes), c["b"].get("dtype_bytes", nbytes)
        tile_bytes = tm * tk * a_bytes + tk * tn * b_bytes + tm * tn * out_bytes
    else:
        k = tk = 1
        tile = c["tile"] if len(c["tile"]) == 2 else [1, c["tile"][0]]
        tm, tn = (min(t, s) for t, s in zip(tile, (m, n)))
        out = c["out"]
        widths = [o.get("dtype_bytes", nbytes) for o in c["inputs"]]
        tile_bytes = tm * tn * (sum(widths) + out_bytes)
    tiles = []
    for i in range(0, m, tm):
        mm = min(tm, m - i)
        for j in range(0, n, tn):
            nn = min(tn, n - j)
            for l in range(0, k, tk):
                kk = min(tk, k - l)
                last_k = l + kk == k
                last = last_k and i + mm == m and j + nn == n
                if c["kind"] == "gemm":
                    reads = [(c["a"], part(c["a"], k, a_bytes, i, mm, l, kk)),
                             (c["b"], part(c["b"], n, b_bytes, l, kk, j, nn))]
                    fetched = mm * kk * a_bytes + kk * nn * b_bytes
                    ops = []
                else:
                    reads = [(o, part(o, n, w, i, mm, j, nn)) for o, w in zip(c["inputs"], widths)]
                    fetched = mm * nn * sum(widths)
                    ops = [c["op"]]
                ops = ops + [e["op"] for e in epilogue if e["scope"] == "per_k_tile"
                             or (e["scope"] == "per_output_tile" and last_k) or (e["scope"] == "once" and last)]
                plan = []
                parts = [r for o, r in reads if o["space"] != "tcm"]
                if parts:
                    plan.append(("DMA_READ", parts))
                plan.append(("FETCH", fetched))
                if c["kind"] == "gemm":
                    plan.append(("GEMM", (mm, nn, kk, c["dtype"])))
                if ops:
                    plan.append(("MATH", (ops, mm * nn)))
                if last_k:
                    plan.append(("STORE", mm * nn * out_bytes))
                    if out["space"] != "tcm":
                        plan.append(("DMA_WRITE", [part(out, n, out_bytes, i, mm, j, nn)]))
                tiles.append(([i // tm, j // tn, l // tk], plan))
    return {"tiles": tiles, "tile_bytes": tile_bytes}
