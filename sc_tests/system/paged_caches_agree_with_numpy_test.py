# SPDX-License-Identifier: Apache-2.0
"""Does attention over a cache in pages, which a table names in a pool, give what numpy gives?"""
from kernel_cli import KernelCli, cli_support, np, topology


def weights_of(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Paged(KernelCli):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(5)

    def values(self, *shape):
        return self.random.uniform(-1, 1, shape)

    def pool(self, cache, real, *shape):
        if cache == "i8":
            return self.random.integers(-127, 128, shape).astype(np.int8)
        if cache == "f8e4m3":  # exact in f32 and in f8
            return (self.random.integers(-8, 9, shape) / 8).astype(np.float32)
        return self.values(*shape).astype(real)

    def decode(self, batch=2, kv=2, group=2, dim=6, context=13, splits=1, keys=16, page=4, table=None, pages=None, window=0,
               dtype="f32", cache="dtype", system="small.yaml"):
        """`table`: of numbers below `pages`; none: all pages of all sequences somewhere in a pool that has three more."""
        heads, blocks = kv * group, -(-splits * keys // page)
        pages = pages or batch * blocks + 3
        if table is None:
            table = self.random.permutation(pages)[:batch * blocks].reshape(batch, blocks)
        real = np.float16 if dtype == "f16" else np.float32
        # Multiples of an eighth are exact in the cache's types.
        qkv = (np.round(self.values(batch, (heads + 2 * kv) * dim) * 8) / 8).astype(real)
        pools = [self.pool(cache, real, kv * pages, page, dim) for _ in "kv"]
        scales = [np.ones(kv)] * 2
        inputs = {"qkv": qkv, "k": pools[0], "v": pools[1], "table": np.array(table, np.int32)}
        if cache == "i8":
            scales = [self.values(kv) / 500 + 1 / 100, self.values(kv) / 500 + 1 / 100]
            scales = [s.astype(np.float32) for s in scales]
            inputs.update(k_scale=scales[0], v_scale=scales[1])
        sizes = dict(batch=batch, heads=heads, kv_heads=kv, dim=dim, splits=splits, dtype=dtype)
        out = "o" if splits == 1 else "part"
        *found, o = self.run_kernel("flash_decode", ["k", "v", out], inputs, system, context=context, keys=keys, window=window,
                                    page=page, pages=pages, cache=cache, **sizes)
        if splits > 1:
            o, = self.run_kernel("flash_combine", ["o"], {"part": o}, **sizes)
        x = qkv.astype(np.float64).reshape(batch, heads + 2 * kv, dim)
        wanted, steps = np.zeros((batch, heads, dim)), 1 if cache == "i8" else 0
        for s in range(batch):
            for h in range(kv):
                seen = []
                for which in (0, 1):
                    number = table[s][context // page]
                    now = x[s, heads + which * kv + h] / scales[which][h]
                    now = np.clip(np.rint(now), -127, 127) if cache == "i8" else now
                    pools[which][h * pages + number, context % page] = now
                    places = range(max(0, context + 1 - window) if window else 0, context + 1)
                    seen.append(np.array([pools[which][h * pages + table[s][j // page], j % page] for j in places]).astype(np.float64)
                                * scales[which][h])
                q = x[s, h * group:(h + 1) * group]
                wanted[s, h * group:(h + 1) * group] = weights_of(q @ seen[0].T / np.sqrt(dim)) @ seen[1]
        for now, pool in zip(found, pools):
            self.assertLessEqual(np.abs(now.astype(np.float64) - pool).max(), steps)
        tolerance = 4e-3 if dtype == "f16" else 2e-5
        np.testing.assert_allclose(o, wanted.reshape(batch, -1), rtol=tolerance, atol=tolerance)

    def test_pages_anywhere(self):
        for case in (dict(), dict(page=1), dict(context=0, keys=1), dict(context=0, batch=5), dict(context=15), dict(page=100),
                     dict(context=20, splits=3, keys=7), dict(context=20, splits=3, keys=7, page=5, batch=3),
                     dict(context=6, splits=4, keys=7, page=3), dict(batch=1, kv=1, group=8, dim=512, context=130, splits=2, keys=100, page=16),
                     dict(batch=7, kv=3, group=1, dim=1, context=40, keys=41, page=16), dict(context=12, keys=13, page=13, window=5),
                     dict(splits=4, keys=4, window=6, page=3), dict(dtype="f16", page=3), dict(dtype="f16", splits=2, keys=7, page=3)):
            with self.subTest(case=case):
                self.decode(**case)

    def test_over_several_ranks(self):
        """Of fewer rows than PEs, and more; heads in parts, as many as ranks and not; results with whichever rank has them."""
        for case in (dict(), dict(batch=65, splits=2, keys=7), dict(batch=70, kv=4, dim=2)):
            with self.subTest(case=case):
                self.decode(system="six_sip_torus.yaml", **case)
        for params in ((), ("splits=3", "keys=33", "batch=20"), ("kv_heads=6", "heads=6", "parts=6"), ("parts=2", "batch=70"), ("kv_heads=6", "heads=6", "parts=6", "batch=64")):
            with self.subTest(params=params):
                options = [w for p in ("page=16", *params) for w in ("--param", p)]
                out = self.succeeds("run", "--topology", topology("six_sip_torus.yaml"), "--kernel", "flash_decode", "--verify", "--check-races", *options)
                self.assertIn("no races", out)

    def test_caches_in_types_of_their_own(self):
        for cache in ("i8", "f8e4m3"):
            for case in (dict(), dict(page=5, splits=2, keys=7, batch=3), dict(page=1, dtype="f16")):
                with self.subTest(cache=cache, case=case):
                    self.decode(cache=cache, **case)

    def test_sequences_share_pages(self):
        """A common beginning; what is not seen may be any number, one page many times too."""
        self.decode(batch=3, table=[[5, 1, 2, 7], [5, 1, 2, 0], [5, 1, 4, 3]], pages=8)
        self.decode(batch=2, context=9, table=[[0, 0, 1, -1], [0, 0, 2, 99]], pages=3)
        self.decode(batch=2, context=9, window=2, table=[[-7, 8, 1, -1], [99, -1, 2, 99]], pages=3)

    def test_without_a_table_they_follow_each_other(self):
        """And take as long as a cache that has none, where that lies as they do."""
        def run(*params):
            options = [w for p in ("batch=1", "splits=4", "keys=32", *params) for w in ("--param", p)]
            out = self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "flash_decode", "--verify", *options)
            return out.splitlines()[0]
        self.assertEqual(run("page=16"), run())
        run("page=5", "pages=100")

    def test_bad_ones_are_one_line(self):
        def refuses(saying, status, params, **tensors):
            options = [w for p in params for w in ("--param", p)]
            for name, value in tensors.items():
                np.save(self.path(name + ".npy"), np.array(value, np.int32))
                options += ["--tensor", f"{name}={self.path(name + '.npy')}"]
            self.refuses("run", "--topology", topology("small.yaml"), "--kernel", "flash_decode", "--verify", "--param", "batch=1",
                         *options, saying=[saying], lines=1, status=status)
        four = ["page=32", "pages=4", "context=96"]
        refuses("page 3 of sequence 0 is number 4 of a pool of 4", 1, four, table=[[0, 1, 2, 4]])
        refuses("page 0 of sequence 0 is number -1 of a pool of 4", 1, four, table=[[-1, 1, 2, 3]])
        refuses("page 3 of sequence 0 is number 3 of a pool of 3", 1, ["page=32", "pages=3"])
        refuses("table is of a cache in pages", 1, [], table=[[0]])
        refuses("table", 2, four, table=[[0, 1, 2]])
        refuses("pages: found 4, expected page beside it", 2, ["pages=4"])
        refuses("page", 2, ["page=-1"])
        refuses("found page twice", 2, ["page=4", "page=4"])
        refuses("too large", 2, ["page=1099511627776", "pages=1099511627776"])


if __name__ == "__main__":
    cli_support.main()
