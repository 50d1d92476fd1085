# SPDX-License-Identifier: Apache-2.0
"""Do the kernels of decoder layers give what numpy gives, on odd sizes and at the edges of caches and windows?"""
import json
import os

from kernel_cli import KernelCli, cli_support, np, topology


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def with_sinks(scores, sinks):
    """The softmax of scores and of one more a row, which has no value."""
    return softmax(np.concatenate([scores, np.broadcast_to(sinks, scores.shape[:-1])[..., None]], -1))[..., :-1]


class Kernels(KernelCli):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(11)

    def values(self, *shape):
        return self.random.uniform(-1, 1, shape).astype(np.float32)

    def close(self, found, wanted, tolerance=2e-5):
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)

    def test_attention_in_a_window(self):
        blocks = ({}, {"shorter": "true", "keys": 128}, {"rows": 3, "keys": 1})
        for seq, window, of in ((70, 0, 0), (70, 1, 1), (70, 9, 2), (130, 64, 1), (130, 65, 0), (5, 200, 2), (130, 0, 1)):
            with self.subTest(seq=seq, window=window, blocks=blocks[of]):
                heads, kv, dim = 6, 2, 10
                qkv = self.values(seq, (heads + 2 * kv) * dim)
                o, = self.run_kernel("gqa_attention", ["o"], {"qkv": qkv}, seq=seq, heads=heads, kv_heads=kv, dim=dim, window=window,
                                     **blocks[of])
                x = qkv.astype(np.float64).reshape(seq, heads + 2 * kv, dim)
                i, j = np.indices((seq, seq))
                seen = (j <= i) & (i - j < (window or seq))
                wanted = np.zeros((seq, heads, dim))
                for h in range(heads):
                    scores = x[:, h] @ x[:, heads + h // 3].T / np.sqrt(dim)
                    wanted[:, h] = softmax(np.where(seen, scores, -np.inf)) @ x[:, heads + kv + h // 3]
                self.close(o, wanted.reshape(seq, -1))

    def test_attention_with_sinks(self):
        """Far below the scores, among them and so far above that nothing else counts."""
        seq, heads, kv, dim = 37, 6, 2, 10
        qkv, sinks = self.values(seq, (heads + 2 * kv) * dim), np.array([-1e4, -2, 0, 0.5, 3, 1e4], np.float32)
        x = qkv.astype(np.float64).reshape(seq, heads + 2 * kv, dim)
        i, j = np.indices((seq, seq))
        for window in (0, 5):
            o, = self.run_kernel("gqa_attention", ["o"], {"qkv": qkv, "sink": sinks}, seq=seq, heads=heads, kv_heads=kv, dim=dim,
                                 window=window, rows=7, keys=9)
            seen = (j <= i) & (i - j < (window or seq))
            wanted = np.zeros((seq, heads, dim))
            for h in range(heads):
                scores = np.where(seen, x[:, h] @ x[:, heads + h // 3].T / np.sqrt(dim), -np.inf)
                wanted[:, h] = with_sinks(scores, sinks[h]) @ x[:, heads + kv + h // 3]
            self.close(o, wanted.reshape(seq, -1))

    def test_scores_are_scaled_and_capped(self):
        """In a prefill and a decode; a cap below all scores, among them and above; beside a window and in ranges."""
        heads, kv, dim, seq = 6, 2, 10, 37
        qkv = 3 * self.values(seq, (heads + 2 * kv) * dim)
        x = qkv.astype(np.float64).reshape(seq, heads + 2 * kv, dim)
        i, j = np.indices((seq, seq))
        for scale, cap, window in ((0.7, 0, 0), (0, 1.5, 5), (1e-3, 50, 0), (2, 0.01, 1)):
            def scores(q, k):
                s = q @ k.T * (scale or 1 / np.sqrt(dim))
                return cap * np.tanh(s / cap) if cap else s
            params = {"heads": heads, "kv_heads": kv, "dim": dim, "window": window, "score_scale": scale, "softcap": cap}
            with self.subTest(params=params):
                o, = self.run_kernel("gqa_attention", ["o"], {"qkv": qkv}, seq=seq, rows=7, keys=9, **params)
                seen = (j <= i) & (i - j < (window or seq))
                wanted = np.stack([softmax(np.where(seen, scores(x[:, h], x[:, heads + h // 3]), -np.inf)) @ x[:, heads + kv + h // 3]
                                   for h in range(heads)], 1)
                self.close(o, wanted.reshape(seq, -1), 1e-4)
                # The last row is the next token of a sequence.
                splits, keys = 3, 13
                cache = np.zeros((2, kv, splits * keys, dim), np.float32)
                cache[:, :, :seq - 1] = x[:-1, heads:].reshape(seq - 1, 2, kv, dim).transpose(1, 2, 0, 3)
                sizes = dict(batch=1, heads=heads, kv_heads=kv, dim=dim, splits=splits)
                part, = self.run_kernel("flash_decode", ["part"], {"qkv": qkv[-1:], "k": cache[0].reshape(-1, keys, dim), "v": cache[1].reshape(-1, keys, dim)},
                                        context=seq - 1, keys=keys, window=window, score_scale=scale, softcap=cap, **sizes)
                last, = self.run_kernel("flash_combine", ["o"], {"part": part}, **sizes)
                self.close(last, wanted[-1:].reshape(1, -1), 1e-4)
        for kernel in ("gqa_attention", "flash_decode"):
            for word in ("score_scale=-1", "softcap=-1", "softcap=x"):
                self.refuses("run", "--topology", topology("small.yaml"), "--kernel", kernel, "--param", word, saying=[word.split("=")[0]], lines=1)

    def test_a_factor_of_a_product_and_a_cap(self):
        x, w, residual, bias = self.values(9, 33), self.values(33, 70), self.values(9, 70), self.values(70)
        y = x.astype(np.float64) @ w + bias
        for factor, cap in ((0.22, 0), (-3, 0), (0, 0), (0.125, 2.5), (1, 30)):
            with self.subTest(factor=factor, cap=cap):
                found, = self.run_kernel("decode_linear", ["y"], {"x": x, "w": w, "residual": residual, "bias": bias}, m=9, n=70, k=33, factor=factor,
                                         softcap=cap)
                wanted = cap * np.tanh(factor * y / cap) if cap else factor * y
                self.close(found, wanted + residual, 1e-4)

    def test_attention_over_the_ranks_rows(self):
        """Keys lie over the PEs of several SIPs, of some of which nothing."""
        for seq in (193, 21, 1):  # one row more than PEs; fewer; one
            q, k, v = (self.values(seq, 24) for _ in "qkv")
            o, = self.run_kernel("attention_columns", ["o"], {"q": q, "k": k, "v": v}, system="six_sip_torus.yaml", seq=seq, heads=2, dim=12)
            wanted = np.concatenate([softmax(q[:, h].astype(np.float64) @ k[:, h].T / np.sqrt(12)) @ v[:, h]
                                     for h in (slice(0, 12), slice(12, 24))], 1)
            self.close(o, wanted)

    def test_rope_of_both_pairings(self):
        for pairing in ("halves", "neighbours"):
            seq, heads, kv, dim = 13, 3, 1, 6
            x, angle = self.values(seq, 5 * dim), self.values(seq, 3) * 3
            y, = self.run_kernel("rope", ["y"], {"x": x, "cos": np.cos(angle), "sin": np.sin(angle)}, seq=seq, heads=heads,
                                 kv_heads=kv, dim=dim, pairing=pairing)
            wanted = x.astype(np.float64).reshape(seq, 5, dim)
            pairs = wanted[:, :4].reshape(seq, 4, 2, 3) if pairing == "halves" else \
                wanted[:, :4].reshape(seq, 4, 3, 2).swapaxes(2, 3)
            a, b = pairs[:, :, 0].copy(), pairs[:, :, 1].copy()
            c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
            turned = np.stack([a * c - b * s, b * c + a * s], 2)
            wanted[:, :4] = (turned if pairing == "halves" else turned.swapaxes(2, 3)).reshape(seq, 4, dim)
            self.close(y, wanted.reshape(seq, -1))

    def test_rope_of_the_first_elements_of_heads(self):
        for pairing in ("halves", "neighbours"):
            for dim, rotary in ((6, 2), (6, 6), (7, 4), (512, 128)):
                seq, heads, kv, half = 13, 3, 1, rotary // 2
                x, angle = self.values(seq, 5 * dim), self.values(seq, half) * 3
                y, = self.run_kernel("rope", ["y"], {"x": x, "cos": np.cos(angle), "sin": np.sin(angle)}, seq=seq, heads=heads,
                                     kv_heads=kv, dim=dim, pairing=pairing, rotary=rotary)
                wanted = x.astype(np.float64).reshape(seq, 5, dim)
                low = slice(0, half) if pairing == "halves" else slice(0, rotary, 2)
                high = slice(half, rotary) if pairing == "halves" else slice(1, rotary, 2)
                a, b = wanted[:, :4, low].copy(), wanted[:, :4, high].copy()
                c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
                wanted[:, :4, low], wanted[:, :4, high] = a * c - b * s, b * c + a * s
                self.close(y, wanted.reshape(seq, -1))

    def decode(self, batch, kv, group, dim, context, splits, keys, window=0, sinks=None):
        heads = kv * group
        qkv = self.values(batch, (heads + 2 * kv) * dim)
        k, v = self.values(batch * kv * splits, keys, dim), self.values(batch * kv * splits, keys, dim)
        sizes = dict(batch=batch, heads=heads, kv_heads=kv, dim=dim, splits=splits)
        found = self.run_kernel("flash_decode", ["k", "v", "part"], {"qkv": qkv, "k": k, "v": v}, context=context, keys=keys,
                                window=window, **sizes)
        beside = {} if sinks is None else {"sink": sinks}
        o, = self.run_kernel("flash_combine", ["o"], {"part": found[2], **beside}, **sizes)
        x = qkv.astype(np.float64).reshape(batch, heads + 2 * kv, dim)
        caches = []
        for cache, at, now in ((k, heads, found[0]), (v, heads + kv, found[1])):
            wanted = cache.reshape(batch, kv, splits * keys, dim).copy()
            wanted[:, :, context] = x[:, at:at + kv]
            np.testing.assert_array_equal(now.reshape(wanted.shape), wanted.astype(np.float32))
            first = max(0, context + 1 - window) if window else 0
            caches.append(wanted[:, :, first:context + 1].astype(np.float64))
        q = x[:, :heads].reshape(batch, kv, group, dim)
        scores = np.einsum("bhgd,bhkd->bhgk", q, caches[0]) / np.sqrt(dim)
        weights = softmax(scores) if sinks is None else with_sinks(scores, sinks.reshape(kv, group))
        wanted = np.einsum("bhgk,bhkd->bhgd", weights, caches[1]).reshape(batch, -1)
        self.close(o, wanted)
        if splits == 1:
            o, = self.run_kernel("flash_decode", ["o"], {"qkv": qkv, "k": k, "v": v, **beside}, context=context, keys=keys, window=window,
                                 **sizes)
            self.close(o, wanted)

    def test_decode_over_ranges_of_a_cache(self):
        for case in ((1, 1, 1, 2, 0, 1, 1), (3, 2, 3, 10, 20, 3, 7), (2, 1, 4, 16, 13, 2, 7), (2, 1, 4, 16, 14, 3, 7),
                     (1, 2, 1, 8, 6, 4, 7), (1, 1, 8, 512, 130, 2, 100)):
            with self.subTest(case=case):
                self.decode(*case)
        for window in (1, 5, 8, 100):  # ranges that are visible in part, or not at all
            self.decode(2, 2, 2, 6, 20, 4, 6, window)
        for splits, window in ((1, 0), (4, 0), (4, 3)):
            self.decode(2, 2, 3, 6, 20, splits, 24 // splits, window, np.array([-1e4, -2, 0, 0.5, 3, 1e4], np.float32))

    def test_decode_turns_q_and_k_and_gives_o(self):
        """All of a head, or its first elements."""
        for dim, rotary in ((6, 0), (6, 2), (7, 4)):
            with self.subTest(dim=dim, rotary=rotary):
                self.decode_turns(dim, rotary)

    def decode_turns(self, dim, rotary):
        batch, heads, kv, context, half = 3, 4, 2, 5, (rotary or dim) // 2
        qkv, angle = self.values(batch, 8 * dim), self.values(batch, half) * 3
        c, s = np.cos(angle), np.sin(angle)
        k, v = self.values(batch * kv, 9, dim), self.values(batch * kv, 9, dim)
        o, cached = self.run_kernel("flash_decode", ["o", "k"], {"qkv": qkv, "k": k, "v": v, "cos": c, "sin": s}, batch=batch,
                                    heads=heads, kv_heads=kv, dim=dim, context=context, splits=1, keys=9, rotary=rotary)
        x = qkv.astype(np.float64).reshape(batch, 8, dim)
        a, b = x[:, :6, :half].copy(), x[:, :6, half:2 * half].copy()
        x[:, :6, :2 * half] = np.concatenate([a * c[:, None] - b * s[:, None], b * c[:, None] + a * s[:, None]], 2)
        k, v = (t.reshape(batch, kv, 9, dim)[:, :, :context + 1].astype(np.float64) for t in (k, v))
        k[:, :, context], v[:, :, context] = x[:, 4:6], x[:, 6:]
        self.close(cached.reshape(batch, kv, 9, dim)[:, :, context], x[:, 4:6])
        weights = softmax(np.einsum("bhgd,bhkd->bhgk", x[:, :4].reshape(batch, kv, 2, dim), k) / np.sqrt(dim))
        self.close(o, np.einsum("bhgk,bhkd->bhgd", weights, v).reshape(batch, -1))

    def test_rows_before_the_sequences_stay(self):
        """Those of a prompt, in o: by flash_combine and by flash_decode, on one rank and on several."""
        for first, batch, splits, system in ((0, 3, 2, "small.yaml"), (1, 1, 1, "small.yaml"), (9, 3, 4, "small.yaml"), (5, 2, 2, "six_sip_torus.yaml")):
            sizes = dict(batch=batch, first=first, heads=4, kv_heads=2, dim=6, splits=splits)
            part, o = self.values(batch * 2 * splits, 2 * 8), self.values(first + batch, 24)
            ranges = part.reshape(batch, 2, splits, 2, 8)
            ranges[..., 7] = np.abs(ranges[..., 7]) + 1
            found, = self.run_kernel("flash_combine", ["o"], {"part": part, "o": o}, system=system, **sizes)
            wide = ranges.astype(np.float64)
            share = np.exp(wide[..., 6:7] - wide[..., 6:7].max(2, keepdims=True))
            wanted = (wide[..., :6] * share).sum(2) / (wide[..., 7:] * share).sum(2)
            np.testing.assert_array_equal(found[:first], o[:first])
            self.close(found[first:], wanted.reshape(batch, 24))
            self.succeeds("run", "--topology", topology(system), "--kernel", "flash_combine", "--verify", "--param", f"first={first}")
        qkv, k, v, o = self.values(7, 48), self.values(6, 9, 6), self.values(6, 9, 6), self.values(7, 24)
        found, = self.run_kernel("flash_decode", ["o"], {"qkv": qkv, "k": k, "v": v, "o": o}, batch=3, first=4, heads=4, kv_heads=2, dim=6,
                                 splits=1, keys=9, context=5)
        np.testing.assert_array_equal(found[:4], o[:4])

    def test_decode_stores_ranges_or_o(self):
        """What the ranges come to is written where nobody has o of it, or where it is named."""
        def written(splits, *dumps):
            dumps = [w for name in dumps for w in ("--dump", f"{name}={os.path.join(self.folder, name)}.npy")]
            report = json.loads(self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "flash_decode", "--verify", "--param",
                                              f"splits={splits}", "--param", f"keys={128 // splits}", "--format", "json", *dumps))
            names = {t["name"] for t in report["verify"]["tensors"]}
            return sum(e["bytes"] for e in report["engines"] if e["id"].endswith(".wr")), names
        cache, o, ranges = 2 * 8 * 32 * 4, 4 * 128 * 4, 8 * 2 * (32 + 2) * 4  # 4 sequences, 2 of 4 heads of 32 elements, f32
        self.assertEqual(written(1), (cache + ranges, {"k", "v", "part"}))
        self.assertEqual(written(2), (cache + 2 * ranges, {"k", "v", "part"}))
        self.assertEqual(written(1, "o"), (cache + o, {"k", "v", "o"}))
        self.assertEqual(written(1, "o", "part"), (cache + o + ranges, {"k", "v", "part", "o"}))
        self.assertRegex(self.succeeds("list", "kernels"), r"part  \[.*\] f32  \(placed: rows; not where there is o\)")

    def test_linear_of_few_rows(self):
        """Sizes that the PEs do not divide, fewer than there are, several blocks of rows and of columns, weights that are
        not kept; and all that goes with the product."""
        act = {"none": lambda x: x, "relu": lambda x: np.maximum(x, 0), "silu": lambda x: x / (1 + np.exp(-x)),
               "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))}
        cases = (("small.yaml", 1, 1, 1, {}), ("small.yaml", 13, 70, 48, {"activation": "silu"}),
                 ("six_sip_torus.yaml", 3, 7, 5, {"activation": "gelu_tanh"}),
                 ("six_sip_torus.yaml", 21, 33, 129, {"rows": 4, "sum_bytes": 64, "keep_bytes": 1, "ahead_bytes": 1, "piece_k": 3}),
                 ("small.yaml", 9, 300, 7, {"activation": "relu", "slot_bytes": 64, "slots": 1}))
        for system, m, n, k, params in cases:
            for extras in ((), ("up", "norm"), ("bias", "residual", "norm"), ("up", "bias", "up_bias")):
                with self.subTest(system=system, m=m, n=n, k=k, extras=extras):
                    given = {"x": self.values(m, k), "w": self.values(k, n), "up": self.values(k, n), "norm": self.values(k),
                             "bias": self.values(n), "up_bias": self.values(n), "residual": self.values(m, n)}
                    given = {name: t for name, t in given.items() if name in ("x", "w", *extras)}
                    y, = self.run_kernel("decode_linear", ["y"], given, system=system, m=m, n=n, k=k, **params)
                    f = {name: t.astype(np.float64) for name, t in given.items()}
                    x = f["x"]
                    if "norm" in f:
                        x = x / np.sqrt((x ** 2).mean(1, keepdims=True) + 1e-5) * f["norm"]
                    wanted = act[params.get("activation", "none")](x @ f["w"] + f.get("bias", 0))
                    wanted = wanted * (x @ f["up"] + f.get("up_bias", 0) if "up" in f else 1) + f.get("residual", 0)
                    self.close(y, wanted, 1e-4)

    def test_linear_of_rows_with_a_layer_norm(self):
        """One cube and several, some without columns, unlike means in them; with its bias and without."""
        for system, m, n, k, mean in (("small.yaml", 1, 1, 1, 3), ("small.yaml", 13, 70, 48, 0), ("six_sip_torus.yaml", 3, 7, 2, 1e3),
                                      ("six_sip_torus.yaml", 21, 33, 129, 1e4), ("default.yaml", 5, 40, 130, -1e4)):
            for extras in (("norm",), ("norm", "norm_bias"), ("norm", "norm_bias", "up", "residual")):
                with self.subTest(system=system, m=m, n=n, k=k, extras=extras):
                    given = {"x": (self.values(m, k) + mean).astype(np.float32), "w": self.values(k, n), "up": self.values(k, n),
                             "norm": self.values(k), "norm_bias": self.values(k), "residual": self.values(m, n)}
                    given["x"][:, :k // 2] *= np.float32(0.5)
                    given = {name: t for name, t in given.items() if name in ("x", "w", *extras)}
                    y, = self.run_kernel("decode_linear", ["y"], given, system=system, m=m, n=n, k=k, norm="layer", rows=8)
                    f = {name: t.astype(np.float64) for name, t in given.items()}
                    x = self.layer_norm(given["x"], f["norm"], f.get("norm_bias", 0))
                    wanted = x @ f["w"] * (x @ f["up"] if "up" in f else 1) + f.get("residual", 0)
                    self.close(y, wanted, 2e-4)
        x, w = (self.values(3, 40) + 1000).astype(np.float16), self.values(40, 9).astype(np.float16)
        norm = self.values(40).astype(np.float16)
        y, = self.run_kernel("decode_linear", ["y"], {"x": x, "w": w, "norm": norm}, m=3, n=9, k=40, norm="layer", dtype="f16")
        self.close(y.astype(np.float64), self.layer_norm(x, norm.astype(np.float64)) @ w.astype(np.float64), 1e-2)

    def test_norms_that_lack_something_are_told(self):
        np.save(self.path("v.npy"), self.values(512))
        for options, saying in ((["--param", "norm=layer"], "norm=layer: expected the tensor norm"),
                                (["--tensor", f"norm={self.path('v.npy')}", "--param", "norm=none"], "tensor norm: given with norm=none, expected norm=rms or norm=layer"),
                                (["--tensor", f"norm_bias={self.path('v.npy')}"], "tensor norm_bias: expected norm=layer")):
            self.refuses("run", "--topology", topology("small.yaml"), "--kernel", "decode_linear", *options, saying=[saying], status=1)
        self.refuses("run", "--topology", topology("small.yaml"), "--kernel", "decode_linear", "--param", "norm=batch", saying=["'batch'"], lines=1)

    def test_gated(self):
        x, y = 4 * self.values(5, 33), self.values(5, 33)
        z, = self.run_kernel("glu", ["z"], {"x": x, "y": y}, rows=5, cols=33, activation="gelu_tanh")
        w = x.astype(np.float64)
        self.close(z, 0.5 * w * (1 + np.tanh(np.sqrt(2 / np.pi) * (w + 0.044715 * w ** 3))) * y)

    def test_gated_by_swiglu_oai(self):
        """Both factors within their limits and beyond, alone and behind two products."""
        def wanted(x, y, limit):
            held = np.minimum(x.astype(np.float64), limit)
            return held / (1 + np.exp(-1.702 * held)) * (np.clip(y, -limit, limit) + 1)
        x, y = 12 * self.values(5, 33), 12 * self.values(5, 33)
        for more in ({}, {"limit": 2.5}):
            z, = self.run_kernel("glu", ["z"], {"x": x, "y": y}, rows=5, cols=33, activation="swiglu_oai", **more)
            self.close(z, wanted(x, y, more.get("limit", 7)))
        given = {"x": 6 * self.values(9, 20), "w": self.values(20, 41), "up": self.values(20, 41), "bias": self.values(41),
                 "up_bias": self.values(41)}
        y, = self.run_kernel("decode_linear", ["y"], given, m=9, n=41, k=20, activation="swiglu_oai")
        f = {name: t.astype(np.float64) for name, t in given.items()}
        self.close(y, wanted(f["x"] @ f["w"] + f["bias"], f["x"] @ f["up"] + f["up_bias"], 7), 1e-4)
        self.refuses("run", "--topology", topology("small.yaml"), "--kernel", "decode_linear", "--param", "activation=swiglu_oai",
                     saying=["swiglu_oai is of two products"], status=1)

    def test_heads_are_normed(self):
        seq, heads, kv, dim = 9, 4, 2, 12
        x, q_norm, k_norm = self.values(seq, 8 * dim), self.values(dim), self.values(dim)
        y, = self.run_kernel("head_norm", ["x"], {"x": x, "q_norm": q_norm, "k_norm": k_norm}, seq=seq, heads=heads, kv_heads=kv,
                             dim=dim, eps=1e-3)
        wanted = x.astype(np.float64).reshape(seq, 8, dim)
        scale = 1 / np.sqrt((wanted ** 2).mean(-1, keepdims=True) + 1e-3)
        wanted[:, :4] *= scale[:, :4] * q_norm
        wanted[:, 4:6] *= scale[:, 4:6] * k_norm
        self.close(y, wanted.reshape(seq, -1))

    def layer_norm(self, x, w, b=0, eps=1e-5):
        x = x.astype(np.float64)
        return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps) * w + b

    def test_layer_norm(self):
        """More rows than PEs and fewer, one column, several blocks of columns, means that squares would drown in."""
        for rows, cols, mean, more in ((37, 75, 0, {}), (1, 300, 0, {"eps": 0.5}), (3, 1, 7, {}), (9, 4096, 1e4, {}), (9, 4097, -1e4, {}),
                                       (2, 10001, 1e4, {"bias": "false"}), (1, 1, 1e4, {"bias": "false"}), (2, 5, 1e6, {})):
            with self.subTest(rows=rows, cols=cols, mean=mean, more=more):
                x, w, b = (self.values(rows, cols) + mean).astype(np.float32), self.values(cols), self.values(cols)
                y, = self.run_kernel("layer_norm", ["y"], {"x": x, "w": w, "b": b}, rows=rows, cols=cols, **more)
                self.close(y, self.layer_norm(x, w, 0 if "bias" in more else b, more.get("eps", 1e-5)))

    def test_layer_norm_of_unlike_blocks_and_of_like_elements(self):
        """A block far from the first, one value among others that are 0, and rows of one value, of whose mean f32 keeps less
        than eps has."""
        x = self.values(4, 9000)
        x[0, 4096:8192] += 1e4
        x[1] = 0
        x[1, 8999] = 3e3
        x[2:] = np.array([[1e6 / 3], [0]])
        w, b = self.values(9000), self.values(9000)
        for of in (x, np.ascontiguousarray(x[:, 4096 - 7:4096 + 9])):
            cols = of.shape[1]
            y, = self.run_kernel("layer_norm", ["y"], {"x": of, "w": w[:cols], "b": b[:cols]}, rows=4, cols=cols, eps=1e-12)
            self.close(y, self.layer_norm(of, w[:cols], b[:cols], 1e-12))

    def test_layer_norm_sums_in_f32(self):
        """16-bit elements whose squares f16 does not have; the tensors as numpy has them are f16."""
        x, w, b = (400 * self.values(9, 700) + 1000).astype(np.float16), self.values(700).astype(np.float16), self.values(700).astype(np.float16)
        y, = self.run_kernel("layer_norm", ["y"], {"x": x, "w": w, "b": b}, rows=9, cols=700, dtype="f16")
        self.close(y.astype(np.float64), self.layer_norm(x, w.astype(np.float64), b.astype(np.float64)), 2e-3)
        for rows, cols in ((21, 101), (1, 9001)):
            self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "layer_norm", "--verify", "--param", "dtype=bf16", "--param",
                          f"rows={rows}", "--param", f"cols={cols}")

    def test_softmax_of_rows_that_begin_with_nothing(self):
        """Blocks of -inf alone, before others and behind; rows as wide as a block and wider; one finite element, the least there is."""
        for cols in (4096, 4097, 9000):
            x = 3 * self.values(5, cols)
            x[0, :4096] = -np.inf
            x[0, -1] = 2
            x[1, :-1] = -np.inf
            x[2, 5:] = -np.inf
            x[3] = -np.inf
            x[3, -1] = np.finfo(np.float32).min
            y, = self.run_kernel("softmax", ["y"], {"x": x}, rows=5, cols=cols)
            self.close(y, softmax(x.astype(np.float64)), 2e-6)

    def test_small_ones(self):
        x, b = self.values(11, 37), self.values(37)
        self.close(self.run_kernel("add_bias", ["x"], {"x": x, "b": b}, rows=11, cols=37)[0], x + b)
        self.close(self.run_kernel("scale", ["x"], {"x": x}, rows=11, cols=37, factor=-0.75)[0], -0.75 * x)
        x[3, 5] = x[3, 30] = 2  # the first of equal ones
        np.testing.assert_array_equal(self.run_kernel("argmax", ["y"], {"x": x}, rows=11, cols=37)[0], x.argmax(1))
        for rows, cols in ((11, 37), (1, 1), (2, 3)):  # fewer columns than cubes, fewer rows than PEs
            y, = self.run_kernel("argmax_of_columns", ["y"], {"x": x[:rows, :cols]}, system="six_sip_torus.yaml", rows=rows,
                                 cols=cols)
            np.testing.assert_array_equal(y, x[:rows, :cols].argmax(1))

    def test_linear_of_many_rows_in_a_small_tcm(self):
        """Chunks of rows whose messages are longer than their rings follow each other; so they do where a chunk just fits,
        where PEs have no columns or no rows of a chunk, and what does not fit is a fault, not a circle of waiting."""
        def run(*options, n=4096, k=4096):
            words = ["run", "--topology", topology("small.yaml"), "--kernel", "decode_linear", "--param", f"n={n}", "--param", f"k={k}"]
            return self.run_cli(*words, *options)
        for options in (("--param", "m=512"), ("--param", "m=767", "--param", "dtype=f16"),
                        *(("--param", "m=512", "--set", f"*.pe_tcm.size_mb={mb}") for mb in (12, 10))):
            with self.subTest(options=options):
                status, _, err = run(*options)
                self.assertEqual((status, err), (0, ""))
        for mb in (3, 1.2):
            status, _, err = run("--param", "m=512", "--set", f"*.pe_tcm.size_mb={mb}")
            self.assertEqual((status, len(err.splitlines())), (1, 1), err)
            self.assertIn("TCM exhausted", err)
        for m, n in ((9, 1), (17, 70)):
            status, _, err = run("--param", f"m={m}", "--param", "rows=3", "--param", "slots=1", "--param", "slot_bytes=64", "--verify",
                                 n=n, k=130)
            self.assertEqual((status, err), (0, ""))
        x, w, norm, residual = self.values(41, 130), self.values(130, 37), self.values(130), self.values(41, 37)
        y, = self.run_kernel("decode_linear", ["y"], {"x": x, "w": w, "norm": norm, "residual": residual}, m=41, n=37, k=130, rows=8,
                             system="six_sip_torus.yaml", slots=1, slot_bytes=64)
        wide = x.astype(np.float64)
        self.close(y, residual + wide / np.sqrt((wide ** 2).mean(1, keepdims=True) + 1e-5) * norm @ w, 1e-4)

    def test_products_beside_which_ranks_add_up(self):
        """Over 6 ranks: sizes that they do not divide, one element, with a residual, and more rows than stay in TCM."""
        for split in ("k", "k_to_columns", "columns_gathered"):
            for m, n, k, more in ((133, 77, 95, {}), (1, 1, 6, {}), (19, 6, 40, {}), (600, 40, 300, {"keep_bytes": 40960, "panel_k": 32})):
                with self.subTest(split=split, m=m, n=n, k=k):
                    given = {"a": self.values(m, k), "b": self.values(k, n)}
                    wanted = given["a"].astype(np.float64) @ given["b"]
                    if split != "columns_gathered" and m != 133:
                        given["residual"] = self.values(m, n)
                        wanted += given["residual"]
                    c, = self.run_kernel("gemm_2d", ["c"], given, system="six_sip_torus.yaml", options=("--pes", "leaders"), split=split,
                                         m=m, n=n, k=k, **more)
                    self.close(c, wanted, 1e-4)

    def test_products_of_integers_beside_which_ranks_add_up(self):
        for split in ("k", "k_to_columns"):
            a, b = (self.random.integers(-128, 128, shape, dtype=np.int8) for shape in ((33, 70), (70, 19)))
            residual = self.random.integers(-2**31, 2**31, (33, 19), dtype=np.int32)
            for system in ("six_sip_torus.yaml", "small.yaml"):
                with self.subTest(split=split, system=system):
                    c, = self.run_kernel("gemm_2d", ["c"], {"a": a, "b": b, "residual": residual}, system=system, split=split, m=33, n=19,
                                         k=70, dtype="i8")
                    wanted = a.astype(np.int64) @ b.astype(np.int64) + residual
                    np.testing.assert_array_equal(c, wanted.astype(np.uint32).view(np.int32))

    def test_products_beside_which_ranks_add_up_in_a_small_tcm(self):
        """Deep ones, whose rows do not all stay there, and wide ones; one rank and six."""
        for split in ("k", "k_to_columns", "columns_gathered"):
            for system in ("six_sip_torus.yaml", "small.yaml"):
                for m, n, k in ((256, 256, 8192), (512, 1536, 128)):
                    with self.subTest(split=split, system=system, k=k):
                        a, b = self.values(m, k), self.values(k, n)
                        c, = self.run_kernel("gemm_2d", ["c"], {"a": a, "b": b}, system=system, verify=False, options=("--set", "*.pe_tcm.size_mb=2"),
                                             split=split, m=m, n=n, k=k)
                        self.close(c, a.astype(np.float64) @ b, 1e-3)

    def test_norm_of_rows_over_the_ranks(self):
        for rows, cols in ((70, 77), (1, 6), (25, 6000)):
            with self.subTest(rows=rows, cols=cols):
                x, w = self.values(rows, cols), self.values(cols)
                y, = self.run_kernel("rmsnorm_over_ranks", ["y"], {"x": x, "w": w}, system="six_sip_torus.yaml",
                                     options=("--pes", "leaders"), rows=rows, cols=cols, eps=1e-3)
                wide = x.astype(np.float64)
                self.close(y, wide / np.sqrt((wide ** 2).mean(1, keepdims=True) + 1e-3) * w)

    def test_what_does_not_fit_is_one_line(self):
        def refuses(kernel, saying, *params):
            options = [w for p in params for w in ("--param", p)]
            self.refuses("run", "--topology", topology("small.yaml"), "--kernel", kernel, *options, saying=[saying], lines=1)
        refuses("flash_decode", "less than splits times keys, 128", "context=128")
        refuses("flash_decode", "a divisor of heads, 4", "kv_heads=3")
        refuses("head_norm", "a divisor of kv_heads, 2", "parts=3")
        refuses("gqa_attention", "parts: found 2, expected 1 or one for each rank of the launch, 1", "parts=2")
        refuses("flash_combine", "parts: found 2, expected 1 or one for each rank of the launch, 1", "parts=2")
        refuses("rope", "rotary: found 3, expected an even number, at most dim, 32", "rotary=3")
        refuses("flash_decode", "rotary: found 34, expected an even number, at most dim, 32", "rotary=34")
        refuses("decode_linear", "'tanh'", "activation=tanh")
        refuses("gqa_attention", "causal attention only", "window=3", "causal=false")
        refuses("gemm_2d", "less than turns, 2", "turn=2", "turns=2")
        refuses("gemm_2d", "expected none with split=k", "split=k", "activation=relu")


if __name__ == "__main__":
    cli_support.main()
