# SPDX-License-Identifier: Apache-2.0
"""Weights and caches in types of their own, with scales: do the kernels that have them give what numpy gives, on odd sizes
and for the edges of the types?"""
from kernel_cli import KernelCli, cli_support, np, topology


def f8e4m3():
    """All codes but NaN's: 1 sign, 4 exponent, 3 mantissa bits, bias 7; the largest is 448."""
    codes = [c for c in range(256) if c & 127 != 127]
    return np.array([(-1 if c & 128 else 1) * (2.0 ** -9 * (c & 7) if c >> 3 & 15 == 0 else
                                               2.0 ** ((c >> 3 & 15) - 7) * (1 + (c & 7) / 8)) for c in codes], np.float32)


class Narrow(KernelCli):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(7)

    def values(self, *shape):
        return self.random.uniform(-1, 1, shape).astype(np.float32)

    def weights(self, kind, k, n):
        if kind == "f8e4m3":
            return self.random.choice(f8e4m3(), (k, n))
        if kind == "dtype":
            return self.values(k, n)
        low, high = (-128, 127) if kind == "i8" else (-8, 7)
        w = self.random.integers(low, high + 1, (k, n)).astype(np.int8)
        w.flat[:2] = (low, high)[:w.size]
        return w

    @staticmethod
    def stored(kind, w):
        """As .npy files hold them: of i4 an even number of columns."""
        return np.pad(w, ((0, 0), (0, w.shape[1] % 2))) if kind == "i4" else w

    @staticmethod
    def scaled(w, scale, group):
        return w.astype(np.float64) * np.repeat(scale.astype(np.float64), group or len(w), 0)[:len(w)]

    def check_product(self, kernel, system, kind, m, n, k, group, dtype="f32", up=False, **params):
        a, b, y = ("a", "b", "c") if kernel == "gemm_2d" else ("x", "w", "y")
        real = np.float16 if dtype == "f16" else np.float32
        x, w, scale = self.values(m, k).astype(real), self.weights(kind, k, n), self.values(-(-k // (group or k)), n).astype(real)
        scale /= 448 if kind == "f8e4m3" else 128 if kind == "i8" else 8
        scale[:, :1] = 0
        inputs = {a: x, b: self.stored(kind, w), "scale": scale}
        if up:
            inputs.update({"up": self.stored(kind, w), "up_scale": scale})
        found, = self.run_kernel(kernel, [y], inputs, system, m=m, n=n, k=k, weights=kind, group=group, dtype=dtype, **params)
        product = x.astype(np.float64) @ self.scaled(w, scale, group)
        if params.get("activation") == "silu":
            product /= 1 + np.exp(-product)
        if up:
            product = product * (x.astype(np.float64) @ self.scaled(w, scale, group))
        tolerance = 1e-4 if dtype == "f32" else 4e-3
        np.testing.assert_allclose(found, product, rtol=tolerance, atol=tolerance * max(1, np.abs(product).max()))

    def test_linear_of_few_rows(self):
        small, six = "small.yaml", "six_sip_torus.yaml"
        for case in ((small, "f8e4m3", 1, 1, 1, 0), (small, "i8", 13, 70, 48, 0), (small, "i4", 13, 101, 48, 0), (small, "i4", 3, 70, 130, 32),
                     (six, "i4", 21, 33, 129, 7), (six, "i8", 5, 9, 300, 64), (small, "f8e4m3", 9, 31, 77, 5)):
            with self.subTest(case=case):
                self.check_product("decode_linear", *case)
        few = {"rows": 4, "sum_bytes": 64, "keep_bytes": 1, "ahead_bytes": 1, "piece_k": 3}
        self.check_product("decode_linear", small, "i4", 21, 37, 90, 8, **few)
        self.check_product("decode_linear", small, "i8", 21, 37, 90, 0, up=True, activation="silu", **few)
        self.check_product("decode_linear", small, "f8e4m3", 8, 64, 256, 0, dtype="f16")
        self.check_product("decode_linear", small, "dtype", 8, 31, 77, 5)

    def test_sums_of_large_weights_are_scaled_before_they_are_rounded(self):
        """What 448 · 64 rows come to is beyond f16, what it is times its scale is not."""
        for kernel, x, w, y in (("decode_linear", "x", "w", "y"), ("gemm_2d", "a", "b", "c")):
            found, = self.run_kernel(kernel, [y], {x: np.full((8, 512), 1, np.float16), w: np.full((512, 16), 448, np.float32),
                                                   "scale": np.full((1, 16), 1 / 448, np.float16)}, m=8, n=16, k=512,
                                     weights="f8e4m3", dtype="f16")
            np.testing.assert_allclose(found, 512, rtol=2e-3)

    def test_gemm_in_two_dimensions(self):
        small, six = "small.yaml", "six_sip_torus.yaml"
        panels = {"panel_m": 5, "panel_n": 3, "panel_k": 7, "first_k": 2}
        for case, params in (((small, "f8e4m3", 33, 1, 1, 0), {}), ((small, "i8", 40, 70, 48, 0), panels), ((small, "i4", 21, 101, 48, 0), panels),
                             ((small, "i4", 67, 70, 300, 128), {}), ((six, "i4", 21, 33, 129, 7), panels), ((six, "i8", 65, 9, 300, 64), {}),
                             ((small, "f8e4m3", 64, 31, 77, 5), {"activation": "silu"}), ((small, "i8", 64, 31, 77, 0), {"activation": "silu"})):
            with self.subTest(case=case):
                self.check_product("gemm_2d", *case, **params)
        self.check_product("gemm_2d", small, "i4", 64, 64, 256, 128, dtype="f16")
        for n in (17, 34):  # the ranks split columns, in pairs; and rows
            self.check_product("gemm_2d", six, "i4", 5, n, 7, 3, split="columns")
        self.check_product("gemm_2d", six, "i4", 17, 5, 7, 3, split="rows")
        for group in (0, 5):
            self.check_product("gemm_2d", small, "dtype", 33, 31, 77, group)

    @staticmethod
    def in_steps(x):
        """Integers of each row, and its step: the greatest absolute value / 127, in f32."""
        x = x.astype(np.float32)
        most = np.maximum(np.abs(x).max(-1, keepdims=True), np.float32(1e-36))
        return np.rint(x * (np.float32(127) / most)).astype(np.int8), most / np.float32(127)

    def test_rows_in_steps_of_their_own(self):
        x = self.values(21, 5000)
        x[0] = 0
        x[1] = 1e-38
        x[2, 1:] = 0
        x[3] *= 3e38
        for cols in (1, 77, 5000):
            for real in (np.float32, np.float16):
                part = np.clip(x[:, :cols], -6e4, 6e4).astype(real) if real is np.float16 else x[:, :cols]
                with self.subTest(cols=cols, real=real):
                    y, step = self.run_kernel("quantize_rows", ["y", "step"], {"x": part}, rows=21, cols=cols,
                                              dtype="f16" if real is np.float16 else "f32")
                    wanted, steps = self.in_steps(part)
                    np.testing.assert_array_equal(y, wanted)
                    np.testing.assert_array_equal(step, steps)

    def test_activations_are_integers(self):
        """Exact products, times scales and steps: far nearer than a step of either."""
        small, six = "small.yaml", "six_sip_torus.yaml"
        few = {"rows": 4, "sum_bytes": 64, "keep_bytes": 1, "ahead_bytes": 1, "piece_k": 3}
        for system, m, n, k, params in ((small, 1, 1, 1, {}), (small, 13, 70, 48, {}), (six, 21, 33, 129, {}), (small, 21, 37, 300, few)):
            with self.subTest(system=system, m=m, n=n, k=k):
                x, w, scale = self.values(m, k), self.weights("i8", k, n), self.values(1, n) / 128
                x[m // 2] *= 1e4
                x[-1] = 0
                q, step = self.in_steps(x)
                wanted = (q.astype(np.float64) @ w.astype(np.float64)) * scale * step
                tolerance = 1e-5 * max(1, np.abs(wanted).max())
                y, = self.run_kernel("decode_linear", ["y"], {"x": x, "w": w, "scale": scale}, system, m=m, n=n, k=k, weights="i8",
                                     activations="i8", **params)
                np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=tolerance)
                c, = self.run_kernel("gemm_2d", ["c"], {"a": q, "a_step": step, "b": w, "scale": scale}, system, m=m, n=n, k=k,
                                     weights="i8", activations="i8")
                np.testing.assert_allclose(c, wanted, rtol=1e-5, atol=tolerance)
        plain, = self.run_kernel("gemm_2d", ["c"], {"a": q, "b": w}, small, m=m, n=n, k=k, weights="i8", activations="i8",
                                 activation="relu", panel_k=7)
        np.testing.assert_array_equal(plain, np.maximum(0, q.astype(np.float64) @ w))

    def test_activations_are_integers_behind_a_norm(self):
        m, n, k = 9, 31, 77
        x, w, up, norm = self.values(m, k), self.weights("i8", k, n), self.weights("i8", k, n), self.values(k)
        scale, residual = np.full((1, n), 1 / 128, np.float32), self.values(m, n)
        y, = self.run_kernel("decode_linear", ["y"], {"x": x, "w": w, "up": up, "scale": scale, "up_scale": scale, "norm": norm,
                                                      "residual": residual}, m=m, n=n, k=k, weights="i8", activations="i8", activation="silu")
        normed = x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-5) * norm
        q, step = self.in_steps(normed)
        v, u = ((q.astype(np.float64) @ each) * scale * step for each in (w, up))
        one_step = step * np.abs(up).max() / 128 * np.abs(v).max()
        self.assertTrue((np.abs(y - residual - v / (1 + np.exp(-v)) * u) < 1e-4 + one_step).all())

    def test_integers_want_weights_of_integers(self):
        for weights, group, found in (("dtype", 0, "weights=dtype"), ("i4", 0, "weights=i4"), ("i8", 32, "group=32")):
            for kernel in ("gemm_2d", "decode_linear"):
                self.refuses("run", "--topology", topology("small.yaml"), "--kernel", kernel, "--param", "activations=i8", "--param",
                             f"weights={weights}", "--param", f"group={group}", saying=["activations: found 'i8' beside " + found], lines=1)

    def test_scales_are_not_of_integers(self):
        self.refuses("run", "--topology", topology("small.yaml"), "--kernel", "gemm_2d", "--param", "dtype=i8", "--param", "weights=i4",
                     saying=["weights: found 'i4'"], lines=1)

    def test_a_cache_in_its_own_type(self):
        """The new token sees itself as the cache has it; values beyond the type's saturate in i8 and are NaN in f8."""
        batch, heads, kv, dim, context = 3, 4, 2, 6, 5
        codes = f8e4m3()
        for kind, splits in (("f8e4m3", 1), ("i8", 1), ("i8", 3)):
            with self.subTest(kind=kind, splits=splits):
                qkv = self.values(batch, 8 * dim)
                k, v = self.weights(kind, batch * kv * 9, dim), self.weights(kind, batch * kv * 9, dim)
                k, v = (t.reshape(batch * kv * splits, 9 // splits, dim) / (448 if kind == "f8e4m3" else 1) for t in (k, v))
                if kind == "f8e4m3":
                    k, v = (codes[np.abs(codes - t[..., None]).argmin(-1)] for t in (k, v))
                else:
                    k, v = k.astype(np.int8), v.astype(np.int8)
                inputs, scales = {"qkv": qkv, "k": k, "v": v}, {"k_scale": np.ones(kv, np.float32), "v_scale": np.ones(kv, np.float32)}
                if kind == "i8":
                    scales = {"k_scale": np.array([1 / 127, 1 / 300], np.float32), "v_scale": np.array([0, 1 / 100], np.float32)}
                    inputs.update(scales)
                outputs = ["o", "k"] if splits == 1 else ["part", "k"]
                o, cached = self.run_kernel("flash_decode", outputs, inputs, batch=batch, heads=heads, kv_heads=kv, dim=dim,
                                            context=context, splits=splits, keys=9 // splits, cache=kind)
                x = qkv.reshape(batch, 8, dim)
                keys, values = (t.reshape(batch, kv, 9, dim)[:, :, :context + 1].astype(np.float64) for t in (k, v))
                ks, vs = scales["k_scale"][None, :, None], scales["v_scale"][None, :, None]
                with np.errstate(divide="ignore", invalid="ignore"):
                    new = (x[:, 4:6] / ks, np.where(vs == 0, 0, x[:, 6:] / vs))
                for all_of, t in zip((keys, values), new):
                    all_of[:, :, context] = np.clip(np.rint(t), -127, 127) if kind == "i8" else codes[np.abs(codes - t[..., None]).argmin(-1)]
                np.testing.assert_allclose(cached.reshape(batch, kv, 9, dim)[:, :, context], keys[:, :, context])
                if splits > 1:
                    continue  # --verify has checked the ranges
                s = np.einsum("bhgd,bhkd->bhgk", x[:, :4].reshape(batch, kv, 2, dim), keys * ks[..., None]) / np.sqrt(dim)
                p = np.exp(s - s.max(-1, keepdims=True))
                wanted = np.einsum("bhgk,bhkd->bhgd", p / p.sum(-1, keepdims=True), values * vs[..., None])
                np.testing.assert_allclose(o, wanted.reshape(batch, -1), rtol=1e-4, atol=1e-5)
        k = np.zeros((1, 4, 2), np.float32)
        _, cached = self.run_kernel("flash_decode", ["o", "k"], {"qkv": np.array([[0, 0, 460, 500, 1, 1]], np.float32), "k": k, "v": k},
                                    batch=1, heads=1, kv_heads=1, dim=2, context=0, splits=1, keys=4, cache="f8e4m3")
        np.testing.assert_array_equal(cached[0, 0], [448, np.nan])


if __name__ == "__main__":
    cli_support.main()
