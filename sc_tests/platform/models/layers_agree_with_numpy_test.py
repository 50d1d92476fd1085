#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One layer of families with layer norms, norms behind attention and MLP, or factors, beside NumPy, which makes its own cos and
sin: what a model's reference takes from the run, as the run takes it from the file."""
import json
import math
import os

import models_run_and_verify_test as models
from kernel_cli import cli_support, np

# dim, heads, heads of k, width of the MLP
CASES = {
    "starcoder2": (48, 4, 2, 70),
    "stablelm": (48, 4, 2, 70),
    "phi": (48, 4, 4, 70),
    "gpt_neox": (64, 4, 4, 70),
    "gpt_neox one after the other": (64, 4, 4, 70),
    "stablelm side by side": (48, 4, 2, 70),
}
MORE = {"gpt_neox one after the other": {"use_parallel_residual": False, "attention_bias": False},
        "stablelm side by side": {"use_parallel_residual": True, "use_qkv_bias": False}}
SHARE = {"stablelm": 0.5, "phi": 0.5, "gpt_neox": 0.25, "starcoder2": 1}
ROWS, THETA, WINDOW = 19, 500.0, 7


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def silu(x):
    return x / (1 + np.exp(-x))


def layer_norm(x, w, b):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b


def turned(x, share):
    """x [rows, heads, dim]: the first elements of a head in halves, by the row's number."""
    rows, _, dim = x.shape
    n = int(dim * share)
    angle = np.arange(rows)[:, None] / THETA ** (np.arange(0, n, 2) / n)
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b = x[..., :n // 2], x[..., n // 2:n]
    return np.concatenate([a * c - b * s, b * c + a * s, x[..., n:]], 2)


def attention(x, w, heads, kv, share, window):
    dim = w["o"].shape[0] // heads
    qkv = (x @ w["qkv"] + w.get("qkv_bias", 0)).reshape(len(x), heads + 2 * kv, dim)
    q, k, v = turned(qkv[:, :heads], share), turned(qkv[:, heads:heads + kv], share), qkv[:, heads + kv:]
    i, j = np.indices((len(x), len(x)))
    seen = (j <= i) & (i - j < (window or len(x)))
    out = np.zeros_like(q)
    for h in range(heads):
        of = h // (heads // kv)
        score = np.where(seen, q[:, h] @ k[:, of].T / np.sqrt(dim), -np.inf)
        e = np.exp(score - score.max(1, keepdims=True))
        out[:, h] = e / e.sum(1, keepdims=True) @ v[:, of]
    return out.reshape(len(x), -1) @ w["o"] + w.get("o_bias", 0)


def layer(family, one_norm, parallel, x, w, heads, kv):
    act = {"starcoder2": gelu_tanh, "phi": gelu_tanh, "gpt_neox": gelu, "stablelm": silu}[family]
    normed = layer_norm(x, w["norm1"], w["norm1_bias"])
    middle = x + attention(normed, w, heads, kv, SHARE[family], WINDOW if family == "starcoder2" else 0)
    if not one_norm:
        normed = layer_norm(x if parallel else middle, w["norm2"], w["norm2_bias"])
    hidden = normed @ w["up"] + w.get("up_bias", 0)
    hidden = act(normed @ w["gate"]) * hidden if "gate" in w else act(hidden)
    return middle + hidden @ w["down"] + w.get("down_bias", 0)


class Layers(models.ModelsCli):
    def test_one_layer(self):
        random = np.random.default_rng(5)
        for name, (dim, heads, kv, width) in CASES.items():
            family = name.split()[0]
            parallel = family in ("phi", "gpt_neox") and "after" not in name or "side" in name
            one_norm = parallel and family != "gpt_neox"
            qkv = (heads + 2 * kv) * (dim // heads)
            shapes = {"norm1": dim, "norm1_bias": dim, "qkv": (dim, qkv), "o": (dim, dim), "up": (dim, width), "down": (width, dim)}
            if not one_norm:
                shapes.update({"norm2": dim, "norm2_bias": dim})
            if family == "stablelm":
                shapes["gate"] = (dim, width)
            else:
                shapes.update({"up_bias": width, "down_bias": dim})
            if name in ("starcoder2", "stablelm", "phi", "gpt_neox"):
                shapes["qkv_bias"] = qkv
            if name in ("starcoder2", "phi", "gpt_neox"):
                shapes["o_bias"] = dim
            w = {n: random.uniform(-1, 1, s).astype(np.float32) / np.float32(4) for n, s in shapes.items()}
            x = (random.uniform(-1, 1, (ROWS, dim)) + 3).astype(np.float32)
            options = []
            for tensor, value in {"x": x, **{f"layers.0.{n}": v for n, v in w.items()}}.items():
                path = os.path.join(self.folder.name, tensor + ".npy")
                np.save(path, value)
                options += ["--tensor", f"{tensor}={path}"]
            config = self.config(family, **{"rope_theta": THETA, "rotary_emb_base": THETA, **MORE.get(name, {})})
            out = os.path.join(self.folder.name, "y.npy")
            with self.subTest(name):
                r = json.loads(self.succeeds("model", config, "--topology", models.SMALL, "--phase", f"prefill:{ROWS}", "--verify-layer", 0,
                                             "--format", "json", "--dump", f"y={out}", *options))
                self.assertTrue(r["verify"]["passed"], r["verify"])
                wanted = layer(family, one_norm, parallel, x.astype(np.float64), {n: v.astype(np.float64) for n, v in w.items()}, heads, kv)
                np.testing.assert_allclose(np.load(out), wanted, rtol=2e-4, atol=2e-4)

    def test_one_layer_with_norms_behind_it_or_factors(self):
        """Of gemma2 and gemma3_text both kinds of layers, which differ in window and theta; a decode beside a prefill."""
        random = np.random.default_rng(7)
        dim, heads, kv, of_head, width = 48, 4, 2, 20, 70
        def norm(x, w):
            return x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-5) * w
        longrope = {"type": "longrope", "short_factor": [1 + 0.25 * i for i in range(of_head // 2)],
                    "long_factor": [2.0 ** i for i in range(of_head // 2)]}
        for family, number, theta, window, original in (
                ("gemma2", 0, THETA, 7, 0), ("gemma2", 1, THETA, 0, 0), ("gemma3_text", 0, 100.0, 7, 0), ("gemma3_text", 1, THETA, 0, 0),
                ("granite", 0, THETA, 0, 0), ("phi3", 0, THETA, 7, ROWS), ("phi3", 1, THETA, 7, ROWS - 1), ("phi3", 0, THETA, 7, 256)):
            gemma = family.startswith("gemma")
            behind = 0.22 if family == "granite" else 1
            by_pair, amplitude = 1, 1
            if original:
                by_pair = np.array(longrope["short_factor" if ROWS <= original else "long_factor"])
                amplitude = np.sqrt(1 + np.log(256 / original) / np.log(original))
            shapes = {"norm1": dim, "norm2": dim, "qkv": (dim, (heads + 2 * kv) * of_head), "o": (heads * of_head, dim), "gate": (dim, width),
                      "up": (dim, width), "down": (width, dim)}
            if gemma:
                shapes.update({"post_norm1": dim, "post_norm2": dim})
            if family == "gemma3_text":
                shapes.update({"q_norm": of_head, "k_norm": of_head})
            w = {n: random.uniform(-1, 1, s).astype(np.float32) / np.float32(2) for n, s in shapes.items()}
            x = random.uniform(-1, 1, (ROWS, dim)).astype(np.float32)
            config = self.config(family, rope_theta=THETA, head_dim=of_head, rope_scaling=longrope if original else None,
                                 original_max_position_embeddings=original or None, attn_logit_softcapping=0.5 if gemma else None)
            options = ["--set", "*.pe_dma.outstanding=2"]
            for tensor, value in {"x": x, **{f"layers.{number}.{n}": v for n, v in w.items()}}.items():
                path = os.path.join(self.folder.name, tensor + ".npy")
                np.save(path, value)
                options += ["--tensor", f"{tensor}={path}"]
            out = os.path.join(self.folder.name, "y.npy")
            f = {n: v.astype(np.float64) for n, v in w.items()}
            rows = x.astype(np.float64)
            qkv = (norm(rows, f["norm1"]) @ f["qkv"]).reshape(ROWS, heads + 2 * kv, of_head)
            q, k, v = qkv[:, :heads], qkv[:, heads:heads + kv], qkv[:, heads + kv:]
            if family == "gemma3_text":
                q, k = norm(q, f["q_norm"]), norm(k, f["k_norm"])
            angle = np.arange(ROWS)[:, None] / theta ** (np.arange(0, of_head, 2) / of_head) / by_pair
            def turn(h):
                a, b = h[..., :of_head // 2], h[..., of_head // 2:]
                c, s = amplitude * np.cos(angle)[:, None], amplitude * np.sin(angle)[:, None]
                return np.concatenate([a * c - b * s, b * c + a * s], 2)
            q, k = turn(q), turn(k)
            i, j = np.indices((ROWS, ROWS))
            seen = (j <= i) & (i - j < (window or ROWS))
            o = np.zeros_like(q)
            for h in range(heads):
                score = q[:, h] @ k[:, h // 2].T * (12 ** -0.5 if gemma else 0.4 if family == "granite" else of_head ** -0.5)
                score = np.where(seen, 0.5 * np.tanh(score / 0.5) if gemma else score, -np.inf)
                e = np.exp(score - score.max(1, keepdims=True))
                o[:, h] = e / e.sum(1, keepdims=True) @ v[:, h // 2]
            o = o.reshape(ROWS, -1) @ f["o"]
            middle = rows + (norm(o, f["post_norm1"]) if gemma else behind * o)
            n = norm(middle, f["norm2"])
            down = (gelu_tanh if gemma else silu)(n @ f["gate"]) * (n @ f["up"]) @ f["down"]
            wanted = middle + (norm(down, f["post_norm2"]) if gemma else behind * down)
            with self.subTest(family=family, layer=number, original=original):
                r = json.loads(self.succeeds("model", config, "--topology", models.SMALL, "--phase", f"prefill:{ROWS}", "--verify-layer", number,
                                             "--format", "json", "--dump", f"y={out}", *options))
                self.assertTrue(r["verify"]["passed"], r["verify"])
                np.testing.assert_allclose(np.load(out), wanted, rtol=2e-4, atol=2e-4)


if __name__ == "__main__":
    cli_support.main()
