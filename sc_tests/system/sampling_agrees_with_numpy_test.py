# SPDX-License-Identifier: Apache-2.0
"""Does top_p draw the tokens that numpy draws, where no sum is so near to p or to u that rounding decides?"""
from kernel_cli import KernelCli, cli_support, np, topology

NEAR = 3e-5


class Sampling(KernelCli):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(3)

    @staticmethod
    def nucleus(row, p, k, temperature):
        """Columns, the likeliest first, and their running sums; how near these are to p before the end."""
        order = np.argsort(-row, kind="stable")[:1 if temperature == 0 else k or None]
        scores = row[order].astype(np.float64)
        e = np.exp((scores - scores[0]) / (temperature or 1))
        sums = np.cumsum(e) / e.sum()
        count = min(int((sums < p).sum()) + 1, len(order)) if p < 1 else len(order)
        return order[:count], e[:count] / e[:count].sum(), np.abs(sums[:-1] - p).min() if p < 1 and len(sums) > 1 else 1

    def draws(self, x, p=0.9, k=0, temperature=1.0, dtype="f32", system="small.yaml"):
        """Each row one of its nucleus, by a number from the middle of what falls to that one. p moves until it is clear."""
        while min(self.nucleus(row, p, k, temperature)[2] for row in x) < NEAR:
            p = round(self.random.uniform(0.05, 0.95), 4)
        wanted, chances, u = [], [], []
        for row in x:
            order, share, _ = self.nucleus(row, p, k, temperature)
            clear = np.flatnonzero(share > 4 * NEAR)
            i = self.random.choice(clear)
            wanted.append(order[i])
            chances.append(share[i])
            u.append(share[:i].sum() + share[i] / 2)
        params = dict(rows=x.shape[0], cols=x.shape[1], p=p, k=k, temperature=temperature, dtype=dtype)
        token, prob = self.run_kernel("top_p", ["token", "prob"], {"x": x, "u": np.array(u, np.float32)}, system, **params)
        np.testing.assert_array_equal(token, wanted)
        np.testing.assert_allclose(prob, chances, rtol=1e-3)
        return token

    def logits(self, rows, cols, width=3):
        return self.random.normal(0, width, (rows, cols)).astype(np.float32)

    def test_draws(self):
        for case in (dict(x=self.logits(19, 37)), dict(x=self.logits(3, 50257, 6)), dict(x=self.logits(1, 130000, 6), temperature=0.8),
                     dict(x=self.logits(5, 1)), dict(x=self.logits(40, 64), k=5), dict(x=self.logits(9, 64), k=64, p=0.5),
                     dict(x=self.logits(9, 64), k=1), dict(x=self.logits(9, 33), p=1.0), dict(x=self.logits(9, 33), temperature=2.5, k=7, p=1.0),
                     dict(x=self.logits(70, 24), temperature=1e-3), dict(x=self.logits(5, 9), temperature=1e-39), dict(x=self.logits(7, 40).astype(np.float16), dtype="f16"),
                     dict(x=self.logits(100, 12), system="six_sip_torus.yaml")):
            with self.subTest(shape=case["x"].shape, **{k: v for k, v in case.items() if k != "x"}):
                self.draws(**case)

    def test_the_greatest(self):
        x = self.logits(9, 50)
        for case in (dict(p=0), dict(p=1e-6), dict(temperature=0), dict(k=1), dict(temperature=0, p=0, k=50)):
            with self.subTest(**case):
                np.testing.assert_array_equal(self.draws(x, **case), x.argmax(1))

    def drawn(self, x, u, **params):
        return list(self.run_kernel("top_p", ["token"], {"x": x, "u": np.array(u, np.float32)}, rows=len(x), cols=x.shape[1], **params)[0])

    def test_equals_stand_by_column_and_edges_of_u(self):
        last = np.nextafter(np.float32(1), np.float32(0))
        eight, u = np.zeros((8, 8), np.float32), [0, 0.1, 0.13, 0.3, 0.45, 0.9, last, 1]
        self.assertEqual(self.drawn(eight, u, p=1), [0, 0, 1, 2, 3, 7, 7, 7])
        self.assertEqual(self.drawn(eight, u, p=0.45), [0, 0, 0, 1, 1, 3, 3, 3])
        self.assertEqual(self.drawn(eight, u, p=1, k=2), [0, 0, 0, 0, 0, 1, 1, 1])
        banned = np.full((4, 6), -np.inf, np.float32)
        banned[:, [4, 1]] = [2, 2]
        self.assertEqual(self.drawn(banned, [0, 0.49, 0.51, last], p=1), [1, 1, 4, 4])

    def test_bad_ones_are_one_line(self):
        for word, saying in (("k=1025", "k: found 1025, expected at most cols, 1024"), ("k=-1", "k"), ("p=1.5", "p"), ("p=-0.1", "p"), ("temperature=-1", "temperature"),
                             ("dtype=i32", "dtype"), ("cols=0", "cols")):
            self.refuses("run", "--topology", topology("small.yaml"), "--kernel", "top_p", "--param", word, saying=[saying], lines=1)


if __name__ == "__main__":
    cli_support.main()
