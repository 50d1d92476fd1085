# SPDX-License-Identifier: Apache-2.0
"""Do kernels on tensors from .npy files give what numpy gives, within the data contract's tolerances (§4)?"""
from kernel_cli import KernelCli, cli_support, np


TOLERANCE = {"f32": 1e-5, "f16": 1e-3, "bf16": 1e-2}


def bf16(x):
    """x as f32, rounded to the nearest bf16, ties to even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).reshape(np.shape(x))


class Numpy(KernelCli):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(7)

    def values(self, dtype, *shape):
        if dtype in ("i8", "i16", "i32"):
            return self.random.integers(-100, 100, shape, dtype={"i8": np.int8, "i16": np.int16, "i32": np.int32}[dtype])
        x = self.random.uniform(-1, 1, shape).astype(np.float32)
        return x.astype(np.float16) if dtype == "f16" else bf16(x) if dtype == "bf16" else x

    def result(self, kernel, output, inputs, params, system="small.yaml"):
        return self.run_kernel(kernel, [output], inputs, system, **params)[0]

    def check_gemm(self, kernel, m, n, k, dtype, **tiles):
        a, b = self.values(dtype, m, k), self.values(dtype, k, n)
        c = self.result(kernel, "c", {"a": a, "b": b}, {"m": m, "n": n, "k": k, "dtype": dtype, **tiles})
        self.assertEqual(c.shape, (m, n))
        if dtype == "i8":
            self.assertEqual(c.dtype, np.int32)
            np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))
            return
        self.assertEqual(c.dtype, np.float16 if dtype == "f16" else np.float32)
        a, b = a.astype(np.float64), b.astype(np.float64)
        reference, tolerance = a @ b, TOLERANCE[dtype]
        bound = tolerance + tolerance * np.maximum(np.abs(reference), np.abs(a) @ np.abs(b) / np.sqrt(k))
        error = np.abs(c.astype(np.float64) - reference)
        self.assertTrue((error <= bound).all(), f"{kernel} {dtype}: {error.max()}")
        self.assertGreater(np.abs(reference).max(), 10 * bound.min())  # the bound must exclude zero

    def test_gemm_2d_of_any_shape(self):
        """Also fewer rows, columns or k than PEs and cubes: some have no part of an operand, or of anything."""
        for m, n, k, dtype in ((1, 1, 1, "f32"), (1, 257, 64, "f16"), (257, 1, 3, "f32"), (5, 3, 7, "bf16"),
                               (16, 9, 1, "f32"), (100, 72, 130, "f32"), (33, 65, 129, "i8"), (300, 259, 40, "f32")):
            for small in ({}, {"panel_k": 8, "panel_m": 16, "panel_n": 16},
                          {"panel_n": 8, "keep_bytes": 1}):
                with self.subTest(m=m, n=n, k=k, **small):
                    self.check_gemm("gemm_2d", m, n, k, dtype, **small)

    def test_gemm_of_odd_shapes(self):
        for dtype in ("f32", "f16", "bf16", "i8"):
            self.check_gemm("gemm", 100, 75, 33, dtype)
            self.check_gemm("gemm", 1, 1, 1, "f32")
            self.check_gemm("gemm", 37, 130, 257, dtype, tile_m=16, tile_n=48, tile_k=100)

    def test_gemm_dot_of_odd_shapes(self):
        for dtype in ("f32", "f16", "bf16", "i8"):
            self.check_gemm("gemm_dot", 100, 75, 33, dtype)

    def test_newton_sqrt_which_branches_on_what_it_computes(self):
        x = self.values("f32", 1003) * np.logspace(-6, 0, 1003, dtype=np.float32)
        y = self.result("newton_sqrt", "y", {"x": x}, {"n": 1003, "block": 50})
        np.testing.assert_allclose(y, np.sqrt(np.abs(x)), rtol=1e-5, atol=1e-5)

    def test_vector_add(self):
        for dtype in ("f32", "f16", "bf16", "i32", "i8"):
            a, b = self.values(dtype, 1003), self.values(dtype, 1003)
            c = self.result("vector_add", "c", {"a": a, "b": b}, {"n": 1003, "dtype": dtype})
            # One rounding of an exact sum: equal bits. Integers wrap.
            expected = a + b if dtype in ("f32", "i32", "i8") else (a.astype(np.float32) + b.astype(np.float32))
            expected = bf16(expected) if dtype == "bf16" else expected.astype(a.dtype)
            np.testing.assert_array_equal(c, expected)

    def test_scans_and_sorts(self):
        shape = {"rows": 37, "cols": 301}
        for dtype in ("i32", "f16"):
            x = self.values(dtype, 37, 301)
            wide = np.int32 if dtype == "i32" else np.float32
            y = self.result("cumsum", "y", {"x": x}, {**shape, "dtype": dtype})
            expected = np.cumsum(x, 1, dtype=wide).astype(np.int32 if dtype == "i32" else np.float16)
            np.testing.assert_array_equal(y, expected)
            y = self.result("sort", "y", {"x": x}, {**shape, "dtype": dtype, "descending": "true"})
            np.testing.assert_array_equal(y, np.sort(x, 1)[:, ::-1])
            y = self.result("topk", "indices", {"x": x}, {**shape, "k": 7, "dtype": dtype})
            np.testing.assert_array_equal(y, np.argsort(-x.astype(np.int64 if dtype == "i32" else np.float32), 1,
                                                        kind="stable")[:, :7])

    def test_weights_of_four_bits(self):
        a, scale = self.values("f16", 50, 64), self.values("f16", 24, 2)
        w = self.random.integers(-8, 8, (24, 64)).astype(np.int8)  # like .npy files with i4
        c = self.result("gemm_w4", "c", {"a": a, "w": w, "scale": scale}, {"m": 50, "n": 24, "k": 64})
        b = (w.astype(np.float32) * np.repeat(scale, 32, 1).astype(np.float32)).astype(np.float16).astype(np.float64)
        reference = a.astype(np.float64) @ b.T
        bound = 1e-3 + 1e-3 * np.maximum(np.abs(reference), np.abs(a).astype(np.float64) @ np.abs(b.T) / 8)
        self.assertLessEqual((np.abs(c - reference) - bound).max(), 0)

    def index(self, low, high, *shape):
        return self.random.integers(low, high, shape).astype(np.int32)

    def test_gathers_from_shared_tables(self):
        for dtype, rows, cols, n in (("f32", 100, 9, 300), ("f16", 7, 1, 5), ("i8", 1, 33, 64), ("bf16", 64, 3000, 17)):
            table, idx = self.values(dtype, rows, cols), self.index(-1, rows, n)
            y = self.result("embedding_gather", "y", {"table": table, "idx": idx},
                                {"vocab": rows, "dim": cols, "tokens": n, "dtype": dtype})
            np.testing.assert_array_equal(y, np.where((idx >= 0)[:, None], table[np.maximum(idx, 0)], np.zeros_like(table[:1])))
        for pages, page, dim, seqs, blocks in ((20, 4, 6, 9, 5), (1, 1, 1, 1, 1), (50, 16, 64, 3, 7)):
            pool, table = self.values("f32", pages, page, dim), self.index(-1, pages, seqs, blocks)
            y = self.result("paged_gather", "y", {"pool": pool, "table": table},
                                {"pages": pages, "page": page, "dim": dim, "seqs": seqs, "blocks": blocks})
            expected = np.where((table >= 0)[..., None, None], pool[np.maximum(table, 0)], np.zeros_like(pool[:1]))
            np.testing.assert_array_equal(y, expected.reshape(seqs, blocks * page, dim))

    def test_histogram_by_atomics(self):
        for n, bins in ((5000, 64), (1, 1), (700, 1000)):
            x = self.index(-2, bins + 2, n)
            for method in ("atomics", "local"):
                counts = self.result("histogram", "counts", {"x": x}, {"n": n, "bins": bins, "method": method})
                np.testing.assert_array_equal(counts, np.bincount(x[(x >= 0) & (x < bins)], minlength=bins))

    def test_sums_under_a_lock(self):
        for rows, cols in ((1, 1), (37, 65)):
            x = self.values("i32", rows, cols)
            y = self.result("ticket_lock", "sum", {"x": x}, {"rows": rows, "cols": cols})
            np.testing.assert_array_equal(y, x.sum(0))

    def test_gemm_stream_k(self):
        for m, n, k, dtype in ((100, 75, 330, "f32"), (1, 1, 1, "f32"), (33, 20, 257, "f16")):
            a, b = self.values(dtype, m, k), self.values(dtype, k, n)
            c = self.result("gemm_stream_k", "c", {"a": a, "b": b}, {"m": m, "n": n, "k": k, "dtype": dtype})
            a, b = a.astype(np.float64), b.astype(np.float64)
            bound = 1e-5 + 1e-5 * np.maximum(np.abs(a @ b), np.abs(a) @ np.abs(b) / np.sqrt(k))
            self.assertTrue((np.abs(c - a @ b) <= bound).all())

    def test_experts(self):
        tokens, dim, experts, k, capacity = 50, 12, 5, 2, 15
        x, choice = self.values("f32", tokens, dim), self.index(-1, experts, tokens, k)
        params = {"tokens": tokens, "dim": dim, "experts": experts, "k": k, "capacity": capacity}
        buffer, slot = np.zeros((experts * capacity, dim), np.float32), np.full((tokens, k), -1, np.int32)
        taken = [0] * experts
        for t in range(tokens):
            for j in range(k):
                e = choice[t, j]
                if e >= 0 and taken[e] < capacity:
                    slot[t, j] = e * capacity + taken[e]
                    buffer[slot[t, j]] = x[t]
                if e >= 0:
                    taken[e] += 1
        inputs = {"x": x, "choice": choice}
        np.testing.assert_array_equal(self.result("moe_dispatch", "buffer", inputs, params), buffer)
        np.testing.assert_array_equal(self.result("moe_dispatch", "slot", inputs, params), slot)
        np.testing.assert_array_equal(self.result("moe_dispatch", "counts", inputs, params), taken)
        for first, here in ((0, 5), (1, 2), (4, 1)):  # some experts elsewhere; excess choices dropped
            several = choice if here > 1 else np.stack([choice[:, 0], np.full(tokens, -1)], 1).astype(np.int32)
            order = [(t, j) for e in range(first, first + here) for t in range(tokens) for j in range(k) if several[t, j] == e]
            buffer_of = np.zeros((tokens * min(k, here), dim), np.float32)
            slot_of = np.full((tokens, k), -1, np.int32)
            for i, at in enumerate(order):
                slot_of[at] = i
                buffer_of[i] = x[at[0]]
            inputs = {"x": x, "choice": several}
            params = {"tokens": tokens, "dim": dim, "experts": here, "first": first, "k": k}
            np.testing.assert_array_equal(self.result("moe_sort", "slot", inputs, params), slot_of)
            np.testing.assert_array_equal(self.result("moe_sort", "buffer", inputs, params), buffer_of)
        nothing = {"x": x[:1], "choice": np.full((1, 6), -1, np.int32)}  # consecutive scatters that move nothing
        params = {"tokens": 1, "dim": dim, "experts": experts, "k": 6}
        np.testing.assert_array_equal(self.result("moe_sort", "slot", nothing, params), nothing["choice"])
        params["capacity"] = capacity
        np.testing.assert_array_equal(self.result("moe_dispatch", "slot", nothing, params), nothing["choice"])
        weight = self.values("f32", tokens, k)
        y = self.result("moe_combine", "y", {"buffer": buffer, "slot": slot, "weight": weight},
                            {"tokens": tokens, "dim": dim, "k": k, "slots": experts * capacity})
        expected = np.where((slot >= 0)[..., None], buffer[np.maximum(slot, 0)], 0) * weight[..., None]
        np.testing.assert_allclose(y, expected.sum(1), rtol=1e-5, atol=1e-5)

    def test_routes(self):
        for dtype, tokens, experts, k in (("f32", 50, 7, 3), ("f16", 9, 1, 1), ("bf16", 30, 5, 5)):
            logits = self.values(dtype, tokens, experts)
            wide = logits.astype(np.float64)
            best = np.argsort(-wide, 1, kind="stable")[:, :k].astype(np.int32)
            given = np.stack([self.random.permutation(experts)[:k] for _ in range(tokens)]).astype(np.int32)
            params = {"tokens": tokens, "experts": experts, "k": k, "dtype": dtype}
            for kernel, inputs, choice in (("moe_top_k", {}, best), ("moe_route", {"given": given}, given)):
                inputs["logits"] = logits
                np.testing.assert_array_equal(self.result(kernel, "choice", inputs, params), choice)
                sizes = np.exp(np.take_along_axis(wide, choice.astype(np.int64), 1))
                for of_chosen, sums in (("true", sizes), ("false", np.exp(wide))):
                    weight = self.result(kernel, "weight", inputs, {**params, "of_chosen": of_chosen})
                    np.testing.assert_allclose(weight.astype(np.float64), sizes / sums.sum(1, keepdims=True), rtol=1e-2, atol=1e-6)

    def test_a_route_past_a_much_larger_logit(self):
        """Weights are of the chosen ones alone, whatever the others are."""
        inputs = {"logits": np.array([[1000, 0, 1], [-1000, 2, 2]], np.float32), "given": np.array([[1, 2], [2, 0]], np.int32)}
        weight = self.result("moe_route", "weight", inputs, {"tokens": 2, "experts": 3, "k": 2})
        e = np.e
        np.testing.assert_allclose(weight, [[1 / (1 + e), e / (1 + e)], [1, 0]], rtol=1e-5, atol=1e-30)

    def test_relu_keeps_nan(self):
        x, y = np.array([[np.nan, -1, -0.0, 2]], np.float32), np.ones((1, 4), np.float32)
        z = self.result("glu", "z", {"x": x, "y": y}, {"rows": 1, "cols": 4, "activation": "relu"})
        np.testing.assert_array_equal(z, [[np.nan, 0, 0, 2]])

    def test_gather_with_minus_one(self):
        for dtype in ("f32", "f16", "bf16", "i8"):
            x = self.values(dtype, 19, 45)
            idx = self.random.integers(-1, 19, 101).astype(np.int32)
            idx[3] = -1
            y = self.result("gather", "y", {"x": x, "idx": idx},
                                {"n": 101, "rows": 19, "cols": 45, "dtype": dtype})
            expected = np.where((idx >= 0)[:, None], x[np.maximum(idx, 0)], np.zeros_like(x[:1]))
            np.testing.assert_array_equal(y, expected)


if __name__ == "__main__":
    cli_support.main()
