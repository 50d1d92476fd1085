# SPDX-License-Identifier: Apache-2.0
"""Do kernels and their references hold to numpy's rules where inputs are NaN, infinite, or integers that f32 has not?"""
from kernel_cli import KernelCli, cli_support, np

np.seterr(all="ignore")
ROWS, COLS = 16, 40


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def with_edges(random, kind=np.float32):
    """Rows of all kinds: with one NaN, several, an infinity before and behind one, masked but for one, masked, all NaN."""
    x = random.uniform(-1, 1, (ROWS, COLS)).astype(kind)
    x[1, 7] = np.nan
    x[2, [0, 3, 39]] = np.nan
    x[3, 5], x[3, 6] = np.inf, np.nan
    x[4, 5], x[4, 6] = np.nan, -np.inf
    x[5] = -np.inf
    x[5, 38] = -1
    x[6] = -np.inf
    x[7] = np.nan
    x[8, [3, 4]] = np.inf
    x[9, 0] = -np.inf
    x[10, [1, 2]] = [0.0, -0.0]
    return x


class Edges(KernelCli):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(5)

    def same(self, found, wanted):
        np.testing.assert_array_equal(found, wanted)

    def test_argmax(self):
        x = with_edges(self.random)
        for kernel in ("argmax", "argmax_of_columns"):
            for dtype, kind in (("f32", np.float32), ("f16", np.float16)):
                with self.subTest(kernel=kernel, dtype=dtype):
                    y, = self.run_kernel(kernel, ["y"], {"x": x.astype(kind)}, rows=ROWS, cols=COLS, dtype=dtype)
                    self.same(y, np.argmax(x.astype(kind), 1))

    def test_order_of_floats(self):
        x = with_edges(self.random)
        y, = self.run_kernel("sort", ["y"], {"x": x}, rows=ROWS, cols=COLS)
        self.same(y, np.sort(x, 1))
        y, = self.run_kernel("sort", ["y"], {"x": x}, rows=ROWS, cols=COLS, descending="true")
        self.same(y, np.sort(x, 1)[:, ::-1])
        for k in (1, 8, COLS):
            values, indices = self.run_kernel("topk", ["values", "indices"], {"x": x}, rows=ROWS, cols=COLS, k=k)
            self.same(values, np.sort(x, 1)[:, ::-1][:, :k])
            self.same(np.take_along_axis(x, indices.astype(np.int64), 1), values)

    def test_integers_beyond_those_of_f32(self):
        x = self.random.integers(2**24, 2**24 + 9, (ROWS, COLS)).astype(np.int32)
        x[3, 4:7] = [2**31 - 1, 2**31 - 2, -2**31]
        y, = self.run_kernel("sort", ["y"], {"x": x}, rows=ROWS, cols=COLS, dtype="i32")
        self.same(y, np.sort(x, 1))
        values, indices = self.run_kernel("topk", ["values", "indices"], {"x": x}, rows=ROWS, cols=COLS, k=5, dtype="i32")
        first = np.argsort(-x.astype(np.int64), 1, kind="stable")[:, :5]
        self.same(indices, first)
        self.same(values, np.take_along_axis(x, first, 1))

    def test_extremes_of_two(self):
        x, y = with_edges(self.random), with_edges(self.random)[::-1].copy()
        for op in ("maximum", "minimum"):
            z, = self.run_kernel("elementwise", ["z"], {"x": x, "y": y}, rows=ROWS, cols=COLS, op=op)
            self.same(z, getattr(np, op)(x, y))

    def test_extremes_of_all_pes(self):
        x = self.random.uniform(-1, 1, (8, 33)).astype(np.float32)
        x[2, 5], x[3, 5], x[7, 32], x[0, 0] = np.nan, 2, np.nan, np.nan
        for redop in ("max", "min"):
            for algorithm in ("ring", "tree"):
                y, = self.run_kernel("all_reduce", ["y"], {"x": x}, n=33, redop=redop, over="cube+pe", algorithm=algorithm)
                self.same(y, np.broadcast_to(getattr(np, redop)(x, 0), y.shape))

    def test_experts_of_masked_tokens(self):
        x = with_edges(self.random)
        choice, weight = self.run_kernel("moe_top_k", ["choice", "weight"], {"logits": x}, tokens=ROWS, experts=COLS, k=3)
        chosen = np.take_along_axis(x, choice.astype(np.int64), 1)
        self.same(chosen, np.sort(x, 1)[:, ::-1][:, :3])
        np.testing.assert_allclose(weight, softmax(chosen), rtol=1e-5)

    def test_softmax_of_masked_rows(self):
        x = with_edges(self.random)
        y, = self.run_kernel("softmax", ["y"], {"x": x}, rows=ROWS, cols=COLS)
        np.testing.assert_allclose(y, softmax(x), rtol=1e-5, atol=1e-7)

    def test_activations_of_infinities(self):
        x = with_edges(self.random)
        one = np.ones_like(x)
        for activation in ("relu", "gelu", "silu"):
            with self.subTest(activation=activation):
                z, = self.run_kernel("glu", ["z"], {"x": x, "y": one}, rows=ROWS, cols=COLS, activation=activation)
                self.same(z[x == -np.inf], 0 * z[x == -np.inf])
                self.same(z[x == np.inf], x[x == np.inf])
                self.same(np.isnan(z), np.isnan(x))


if __name__ == "__main__":
    cli_support.main()
