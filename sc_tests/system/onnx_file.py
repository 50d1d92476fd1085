# SPDX-License-Identifier: Apache-2.0
"""ONNX files, byte by byte: what the tests of graphs need of the format, without the onnx package."""
import struct

import numpy as np

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
         "float64": 11, "uint32": 12}


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """An integer, text, or bytes (a message)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(array, name=""):
    array = np.asarray(array)
    return b"".join(field(1, d) for d in array.shape) + field(2, TYPES[array.dtype.name]) + field(8, name) + \
        field(9, np.ascontiguousarray(array).tobytes())


def attribute(name, value):
    """An int, float, str, list of ints, of floats or of str, numpy array (a tensor) or bytes (a graph)."""
    head = field(1, name)
    if isinstance(value, bool | int):
        return head + field(3, int(value)) + field(20, 2)
    if isinstance(value, float):
        return head + varint(2 << 3 | 5) + struct.pack("<f", value) + field(20, 1)
    if isinstance(value, str):
        return head + field(4, value) + field(20, 3)
    if isinstance(value, np.ndarray):
        return head + field(5, tensor(value)) + field(20, 4)
    if isinstance(value, bytes):
        return head + field(6, value) + field(20, 5)
    if len(value) > 0 and isinstance(value[0], str):
        return head + b"".join(field(9, v) for v in value) + field(20, 8)
    if len(value) > 0 and isinstance(value[0], float):
        return head + b"".join(varint(7 << 3 | 5) + struct.pack("<f", v) for v in value) + field(20, 6)
    return head + b"".join(field(8, int(v)) for v in value) + field(20, 7)


def node(op, inputs, outputs, name="", domain="", **attributes):
    return b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(3, name) + field(4, op) + \
        b"".join(field(5, attribute(k, v)) for k, v in attributes.items()) + (field(7, domain) if domain else b"")


def port(name, dtype, shape):
    """A dimension is a number or a name; no shape: None; no type: None."""
    if dtype is None:
        return field(1, name)
    dims = b"" if shape is None else field(2, b"".join(
        field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in shape))
    return field(1, name) + field(2, field(1, field(1, TYPES.get(dtype, dtype)) + dims))


def graph(nodes, inputs, outputs, constants=None, raw_constants=()):
    """inputs, outputs: (name, dtype, shape); constants: {name: array}."""
    return b"".join(field(1, n) for n in nodes) + field(2, "g") + \
        b"".join(field(5, tensor(a, k)) for k, a in (constants or {}).items()) + b"".join(field(5, t) for t in raw_constants) + \
        b"".join(field(11, port(*i)) for i in inputs) + b"".join(field(12, port(*o)) for o in outputs)


def model(nodes, inputs, outputs, constants=None, opset=17, raw_constants=()):
    return field(1, 8) + field(7, graph(nodes, inputs, outputs, constants, raw_constants)) + field(8, field(2, opset))
