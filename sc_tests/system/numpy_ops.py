# SPDX-License-Identifier: Apache-2.0
"""What numpy says of an elementwise op by its name in phase2/op/elementwise_ops.inc: numpy's function of that name, or what
stands here where numpy has none or another name."""
import math

import numpy as np

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _at_minus_inf(f):
    """0 where f(-inf) would be infinity times zero."""
    return lambda x: np.where(np.isneginf(x), -0.0, f(np.where(np.isneginf(x), 0.0, x)))


_OTHERS = {
    "copy": np.positive, "neg": np.negative, "relu": lambda x: np.where((x > 0) | np.isnan(x), x, 0.0), "round": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "erf": _erf,
    "gelu": _at_minus_inf(lambda x: 0.5 * x * _erfc(-x / math.sqrt(2))), "silu": _at_minus_inf(lambda x: x / (1 + np.exp(-x))),
    "sub": np.subtract, "mul": np.multiply, "div": np.divide, "mod": np.fmod, "maxnum": np.fmax, "minnum": np.fmin,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
    "where": lambda a, b, c: np.where(a != 0, b, c), "fma": lambda a, b, c: a * b + c,
    "clamp": lambda a, b, c: np.minimum(np.maximum(a, b), c), "clampnum": lambda a, b, c: np.fmin(np.fmax(a, b), c),
}


def function_of(op):
    return _OTHERS.get(op) or getattr(np, op)
