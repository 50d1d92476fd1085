# SPDX-License-Identifier: Apache-2.0
"""Do the random kernels (random_kernel.h) draw every op that tl::Context has?

The list of ops is read from kernel_api/context.h: all calls that give a value or an event, and what moves data without
one; and from the rows of phase2/op/elementwise_ops.inc, of which it has a call each. Whoever adds one draws it there, or
says here why not. A row is drawn with all of as many operands.
"""
import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NOT_DRAWN = {
    "send": "messages have random programs of their own (queue_programs.h)",
    "send_async": "as send", "recv": "as send", "recv_async": "as send", "recv_any": "as send",
    "copy_to_dst": "as send", "copy_to_dst_async": "as send",
    "device_print": "says lines on standard error; kernel_api/ops_test.cpp reads them",
    "dot_async": "dot through async(), which context() draws",
    "none": "a word for an operand left out",
    "multicast": "needs distinct memories: multicasts_of_kernels_test.py",
    "multicast_async": "likewise",
    "send_all_async": "needs receivers: multicasts_of_kernels_test.py",
    "clampnum": "only Triton's clampf is it: ttir_values_agree_with_numpy_test.py",
}
# Elementwise ops with a name are selected by it; atomics by theirs through atomic() and red().
CALLED_BY_NAME = re.compile(r'"(\w+)"')


def rows():
    """Elementwise ops and how many operands they have."""
    with open(os.path.join(ROOT, "phase2", "op", "elementwise_ops.inc")) as f:
        return dict(re.findall(r"^KERNBENCH_ELEMENTWISE\((\w+), (\d)", f.read(), re.M))


def ops_of_header():
    with open(os.path.join(ROOT, "kernel_api", "context.h")) as f:
        text = f.read()
    public = text[text.index("class Context {"):text.index(" private:", text.index("class Context {"))]
    public = re.sub(r"//.*", "", public)
    given = r"(?:Tensor|Loaded|Event|FromAny|WithIndices|std::array<Tensor, \w+>|std::pair<Tensor, Tensor>)"
    ops = set(re.findall(rf"^\s*(?:static )?{given} (\w+)\(", public, re.M))
    ops |= set(re.findall(r"KERNBENCH_TL_ATOMIC\(\w+, (\w+)\)", public))
    ops |= {name for name in re.findall(r"^\s*void (\w+)\(", public, re.M)
            if name in ("send", "recv", "signal", "wait_until", "device_print", "device_assert", "wait")}
    return (ops | set(rows())) - {"name"}  # of the macros that generate the rows' calls


def drawn():
    with open(os.path.join(ROOT, "sc_tests", "system", "random_kernel.h")) as f:
        text = f.read()
    names = set(re.findall(r"(?:tl_|context\(\))\.(\w+)\(", text)) | set(CALLED_BY_NAME.findall(text))
    by_row = set(re.findall(r"one_of_rows\((\d), ", text))
    names |= {op for op, operands in rows().items() if operands in by_row}
    atomics = text[text.index("void atomic()"):text.index("void flag()")]
    for op in CALLED_BY_NAME.findall(atomics):
        names |= {"atomic_" + op, "red_" + op}
    return names


class EveryOp(unittest.TestCase):
    def test_is_drawn_or_named_with_its_reason(self):
        ops = ops_of_header()
        self.assertGreater(len(ops), 110)
        self.assertEqual(sorted(ops - drawn() - set(NOT_DRAWN)), [])
        self.assertEqual(sorted(set(NOT_DRAWN) - ops), [], "no longer ops")
        self.assertEqual(sorted(set(NOT_DRAWN) & drawn()), [], "drawn after all")


if __name__ == "__main__":
    unittest.main()
