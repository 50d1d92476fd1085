#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attention over what is kept of earlier calls, ONNX's and onnxruntime's, against softmax(q kT) v in f64: how many keys there are
of each batch, what is turned, masked, added, and what is refused."""
import numpy as np

from cli_support import main
from onnx_cli import SMALL, OnnxCli

RNG = np.random.default_rng(12)
MS = {"domain": "com.microsoft"}


def f4(*shape):
    return RNG.uniform(-1, 1, shape).astype("f4")


def softmax(x, sink=None):
    top = x.max(-1, keepdims=True) if sink is None else np.maximum(x.max(-1, keepdims=True), sink)
    e = np.exp(x - top)
    return e / (e.sum(-1, keepdims=True) + (0 if sink is None else np.exp(sink - top)))


def split(x, heads):
    """[batch, rows, heads · columns] to [batch, heads, rows, columns]."""
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2).astype("f8")


def joined(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def turned(x, cos, sin, neighbours):
    """x [rows, columns] by tables [rows, half]."""
    half, y = cos.shape[1], x.copy()
    a, b = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if neighbours else (slice(0, half), slice(half, 2 * half))
    y[:, a], y[:, b] = x[:, a] * cos - x[:, b] * sin, x[:, b] * cos + x[:, a] * sin
    return y


class Cache(OnnxCli):
    def outputs(self, op, inputs, outputs=3, **words):
        m = self.one_node(op, inputs, outputs=outputs, **words)
        options = [w for k, a in enumerate(inputs) if a is not None
                   for w in ("--tensor", f"i{k}={self.array(f'i{k}.npy', a, a.dtype)}")]
        files = [self.path(f"o{k}.npy") for k in range(outputs)]
        dumps = [w for k, f in enumerate(files) for w in ("--dump", f"o{k}={f}")]
        self.assertIn(", verified", self.succeeds("model", m, "--topology", SMALL, *options, *dumps, "--verify"))
        return [np.load(f) for f in files]

    def grouped(self, rows, heads=4, shared=2, columns=16, past=0, total=None, lengths=(None,), packed=False, half=0, neighbours=0,
                window=0, softcap=0.0, bias=False, sink=False, smooth=0, ids=False, dtype="f4", atol=1e-5):
        """lengths: of each batch, with the new keys."""
        batch, total = len(lengths), total or past + rows
        lengths = [n or total for n in lengths]
        q, k, v = (f4(batch, rows, n * columns).astype(dtype) for n in (heads, shared, shared))
        kept = [f4(batch, shared, past, columns).astype(dtype) for _ in range(2)]
        room = max(total, past)
        angles = RNG.uniform(-3, 3, (room + 3, half))
        tables = [np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)]
        places = RNG.integers(0, room, (batch, rows))
        added = f4(1, heads, rows, room).astype(dtype)
        sinks = (3 * f4(heads)).astype(dtype)
        inputs = [np.concatenate([q, k, v], -1) if packed else q, *((None, None) if packed else (k, v)), *kept,
                  np.array(lengths, "i4") - 1, np.array(total, "i4"), *(tables if half else (None, None)), places if ids else None,
                  added if bias else None, sinks if sink else None]
        words = {"num_heads": heads, "kv_num_heads": shared, "do_rotary": int(half > 0), "rotary_interleaved": neighbours,
                 "smooth_softmax": smooth, "softcap": softcap, "local_window_size": window or -1}
        while inputs[-1] is None:
            inputs.pop()
        found = self.outputs("GroupQueryAttention", inputs, **words, **MS)
        q, k, v = split(q, heads), split(k, shared), split(v, shared)
        keys, values = np.zeros((2, batch, shared, room, columns))
        for b in range(batch):
            before = 0 if rows == total else lengths[b] - rows
            if half:
                at = places[b] if ids else before + np.arange(rows)
                q[b], k[b] = ([turned(h, *(t[at].astype("f8") for t in tables), neighbours) for h in x[b]] for x in (q, k))
            for all_, old, new in ((keys, kept[0], k), (values, kept[1], v)):
                all_[b, :, :before], all_[b, :, before:before + rows] = old[b, :, :before], new[b]
            scores = q[b] @ keys[b].repeat(heads // shared, 0).swapaxes(1, 2) / np.sqrt(columns)
            scores = np.tanh(scores / softcap) * softcap if softcap else scores
            scores = scores + added[0] if bias else scores
            row, column = before + np.arange(rows)[:, None], np.arange(room)
            scores = np.where((column <= row) & (column > row - (window or room)), scores, -np.inf)
            weights = softmax(scores, sinks[:, None, None].astype("f8") if sink else 0 if smooth else None)
            n = min(rows, lengths[b])  # the rest is padding
            expected = (weights @ values[b].repeat(heads // shared, 0)).swapaxes(0, 1).reshape(rows, -1)
            np.testing.assert_allclose(found[0][b, :n], expected[:n], rtol=0, atol=atol)
        np.testing.assert_allclose(found[1], keys, rtol=0, atol=atol)
        np.testing.assert_allclose(found[2], values, rtol=0, atol=0)

    def test_heads_that_share_keys(self):
        for words in ({"rows": 5}, {"rows": 5, "lengths": (5, 3)}, {"rows": 1, "heads": 1, "shared": 1, "columns": 1},
                      {"rows": 1, "past": 7, "lengths": (8, 4)}, {"rows": 5, "past": 3, "shared": 4},
                      {"rows": 1, "past": 20, "total": 9}, {"rows": 4, "past": 20, "total": 4},  # a larger cache
                      {"rows": 1, "past": 100, "half": 8}, {"rows": 70, "half": 8}, {"rows": 70, "half": 8, "past": 10, "neighbours": 1},
                      {"rows": 6, "half": 2}, {"rows": 6, "half": 2, "neighbours": 1, "packed": True, "lengths": (6, 6)},
                      {"rows": 4, "past": 3, "half": 8, "ids": True, "lengths": (7, 7)}, {"rows": 9, "window": 3},
                      {"rows": 90, "past": 70, "window": 20}, {"rows": 1, "past": 70, "window": 5}, {"rows": 3, "window": 90},
                      {"rows": 4, "past": 3, "softcap": 0.7, "bias": True}, {"rows": 4, "past": 3, "sink": True},
                      {"rows": 4, "smooth": 1}, {"rows": 3, "past": 70, "half": 8, "dtype": "f2", "atol": 4e-3}):
            with self.subTest(**words):
                self.grouped(**words)

    def test_what_heads_that_share_keys_refuse(self):
        q, k, cache = f4(1, 2, 64), f4(1, 2, 32), f4(1, 2, 3, 16)
        length, total, table = np.int32([4]), np.array(5, "i4"), f4(9, 8)
        usual = [q, k, k, cache, cache, length, total]
        for inputs, said, words in (
                (usual, "3 heads that share 2", {"num_heads": 3}), ([q, k, None, *usual[3:]], "keys or values alone", {}),
                ([q, k, f4(1, 3, 32), *usual[3:]], "[1, 3, 32]", {}), ([q, f4(1, 1, 32), f4(1, 1, 32), *usual[3:]], "[1, 1, 32]", {}),
                ([*usual[:4], f4(1, 2, 4, 16), *usual[5:]], "input 4 is of shape [1, 2, 4, 16], expected [1, 2, 3, 16]", {}),
                ([*usual[:3], None, *usual[4:]], "past values without keys", {}),
                ([*usual[:5], np.int32([4, 4]), total], "seqlens_k of shape [2]", {}), (usual[:6], "input 6 is missing", {}),
                ([*usual, table], "input 8 is missing", {"do_rotary": 1}), ([*usual, table, f4(8, 8)], "tables of shape [8, 8]", {"do_rotary": 1}),
                ([*usual, f4(9, 9), f4(9, 9)], "tables of shape [9, 9]", {"do_rotary": 1}),
                ([*usual, None, None, None, None, f4(3)], "input 11 is of shape [3], expected [4]", {}),
                (usual, "scores are an output", {"outputs": 4})):
            with self.subTest(said=said):
                words = {"num_heads": 4, "kv_num_heads": 2, **words}
                options = ["--tensor", f"i6={self.array('total.npy', 5, 'i4')}"] if len(inputs) > 6 else []
                self.refuses_model(self.one_node("GroupQueryAttention", inputs, **words, **MS), *options,
                                   saying=("node 'n' (com.microsoft.GroupQueryAttention): ", said))
        m = self.one_node("GroupQueryAttention", usual, num_heads=4, kv_num_heads=2, **MS)
        for wrong in (-1, 0, 5, 1 << 30):  # at least one token, at least the new ones, and at most the capacity
            self.refuses("model", m, "--topology", SMALL, "--tensor", f"i6={self.array('t.npy', 5, 'i4')}", "--tensor",
                         f"i5={self.array('s.npy', [wrong], 'i4')}", status=1, saying=("node 'n'", f"found a seqlens_k of {wrong}"), lines=1)

    def of_one_head_count(self, rows, keys, heads=3, columns=8, width=8, batch=2, past=0, bias=False, padding=0, causal=0, form="flat",
                          added=None, outputs=3):
        q, k, v = f4(batch, rows, heads * columns), f4(batch, keys, heads * columns), f4(batch, keys, heads * width)
        shifts, kept = f4(heads * (2 * columns + width)), [f4(batch, heads, past, n) for n in (columns, width)]
        total = past + keys
        mask = [None, RNG.integers(1, total + 1, batch).astype("i4"), (RNG.random((batch, total)) < 0.7).astype("i4"),
                (RNG.random((batch, rows, total)) < 0.7).astype("i4")][padding]
        scores_too = None if added is None else f4(*added)
        given = {"flat": lambda: (q, k, v), "apart": lambda: (q, split(k, heads).astype("f4"), split(v, heads).astype("f4")),
                 "pairs": lambda: (q, self.side_by_side(heads, k, v), None), "one": lambda: (self.side_by_side(heads, q, k, v), None, None)}
        inputs = [*given[form](), shifts if bias else None, mask, scores_too, *(kept if past else (None, None))]
        while inputs[-1] is None:
            inputs.pop()
        found = self.outputs("MultiHeadAttention", inputs, outputs, num_heads=heads, unidirectional=causal, **MS)
        if bias:
            q, k, v = (t + s for t, s in zip((q, k, v), np.split(shifts, [heads * columns, 2 * heads * columns])))
        q, k, v = (split(t, heads) for t in (q, k, v))
        k, v = (np.concatenate([old, new], 2) for old, new in zip(kept, (k, v)))
        scores = q @ k.swapaxes(2, 3) / np.sqrt(columns) + (0 if added is None else scores_too)
        if padding == 1:
            mask = np.arange(total) < mask[:, None]
        if padding:
            scores = scores - 10000 * (1 - (mask.reshape(batch, 1, -1, total) > 0))
        if causal:
            scores = np.where(np.arange(total) <= past + np.arange(rows)[:, None], scores, -np.inf)
        for of, expected in zip(found, (joined(softmax(scores) @ v), k, v)):
            np.testing.assert_allclose(of, expected, rtol=0, atol=1e-5)

    def side_by_side(self, heads, *parts):
        return np.stack([t.reshape(*t.shape[:2], heads, -1) for t in parts], 3)

    def test_heads_of_one_count(self):
        for words in ({"rows": 5, "keys": 5}, {"rows": 5, "keys": 9, "width": 4, "bias": True}, {"rows": 70, "keys": 130, "outputs": 1},
                      {"rows": 5, "keys": 5, "padding": 1, "past": 4, "bias": True}, {"rows": 1, "keys": 1, "padding": 2, "past": 100},
                      {"rows": 4, "keys": 6, "padding": 3}, {"rows": 5, "keys": 5, "past": 3, "causal": 1},
                      {"rows": 70, "keys": 70, "causal": 1}, {"rows": 5, "keys": 5, "padding": 2, "past": 4, "added": (2, 3, 5, 9)},
                      {"rows": 5, "keys": 7, "form": "apart"}, {"rows": 5, "keys": 70, "form": "pairs"}, {"rows": 6, "keys": 6, "form": "one"},
                      {"rows": 2, "keys": 2, "form": "one", "past": 2, "padding": 1}):
            with self.subTest(**words):
                self.of_one_head_count(**words)

    def test_the_first_keys_are_hidden(self):
        """More of them than a block of keys has, and altogether."""
        q = f4(1, 100, 8)
        mask = (np.arange(100) >= 70).astype("i4")[None]
        found, = self.outputs("MultiHeadAttention", [q, q, q, None, mask], 1, num_heads=2, mask_filter_value=-np.inf, **MS)
        k = split(q, 2)
        expected = joined(softmax(k @ k[:, :, 70:].swapaxes(2, 3) / 2) @ k[:, :, 70:])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)

    def test_of_onnx(self):
        for rank, past, rows, width, mask, causal in ((4, 6, 5, 8, None, 0), (3, 6, 5, 4, None, 1), (4, 70, 1, 8, "f4", 0), (3, 3, 66, 8, bool, 1)):
            with self.subTest(rank=rank, past=past, rows=rows):
                q, k, v = f4(2, 4, rows, 8), f4(2, 2, rows, 8), f4(2, 2, rows, width)
                kept = [f4(2, 2, past, 8), f4(2, 2, past, width)]
                hidden = f4(rows, past + rows) if mask == "f4" else RNG.random((rows, past + rows)) < 0.7
                words = {"q_num_heads": 4, "kv_num_heads": 2} if rank == 3 else {}
                given = [t.swapaxes(1, 2).reshape(2, rows, -1) if rank == 3 else t for t in (q, k, v)]
                found = self.outputs("Attention", [*given, hidden if mask else None, *kept], opset=23, is_causal=causal, **words)
                k, v = (np.concatenate([old, new], 2).astype("f8") for old, new in zip(kept, (k, v)))
                scores = q @ k.repeat(2, 1).swapaxes(2, 3) / np.sqrt(8)
                if mask:
                    scores = scores + (hidden if mask == "f4" else np.where(hidden, 0, -1e30))
                if causal:
                    scores = np.where(np.arange(past + rows) <= past + np.arange(rows)[:, None], scores, -1e30)
                y = softmax(scores) @ v.repeat(2, 1)
                for of, expected in zip(found, (joined(y) if rank == 3 else y, k, v)):
                    np.testing.assert_allclose(of, expected, rtol=0, atol=1e-5)


if __name__ == "__main__":
    main()
