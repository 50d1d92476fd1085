#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX graphs written by hand: what is read, planned and run; options; and what is refused, all at once, in a line each."""
import itertools
import os
import resource
import tempfile

import numpy as np

import onnx_file as onnx
from cli_support import TIMES_LONGER, checksum, main
from onnx_cli import SMALL, X, Y, OnnxCli


class Graphs(OnnxCli):
    def test_a_chain_runs_and_what_moves_nothing_does_not(self):
        m = self.file(onnx.model([onnx.node("Mul", ["x", "c"], ["t"], name="scale"),
                                  onnx.node("Reshape", ["t", "six"], ["flat"], name="flatten"),
                                  onnx.node("Add", ["two", "two"], ["four"], name="folded"),
                                  onnx.node("Sub", ["flat", "four"], ["y"], name="shift")],
                                 [X], [Y], {"c": np.float32([1, 2, 3]), "six": np.array([6]), "two": np.float32(2)}))
        x = np.float32([[1, -2, 3], [0.5, 0, 7]])
        options = ("--tensor", f"x={self.array('x.npy', x)}")
        np.testing.assert_array_equal(self.result(m, "y", *options), (x * np.float32([1, 2, 3])).reshape(6) - 4)
        nodes = {n["name"]: n for n in self.report(m, *options)["nodes"]}
        self.assertEqual({n: nodes[n]["runs"] for n in nodes},
                         {"scale": True, "flatten": False, "folded": False, "shift": False})
        self.assertIn("fused into 'scale'", nodes["shift"]["how"])
        np.testing.assert_array_equal(self.result(m, "flat", *options).reshape(2, 3), x * np.float32([1, 2, 3]))

    def test_every_node_is_verified_and_a_wrong_expectation_fails(self):
        m = self.file(onnx.model([onnx.node("Exp", ["x"], ["t"]), onnx.node("Softmax", ["t"], ["y"])], [X], [Y]))
        self.assertEqual({t["name"] for t in self.report(m, "--verify")["verify"]["tensors"]}, {"t", "y"})
        wrong = self.array("wrong.npy", np.ones((2, 3)))
        status, out, _ = self.run_cli("model", m, "--topology", SMALL, "--expected", f"y={wrong}")
        self.assertEqual(status, 1)
        self.assertIn("differs      first at node 'Softmax_1' (Softmax)", out)

    def test_no_elements_and_no_dimensions(self):
        m = self.file(onnx.model([onnx.node("Concat", ["x", "none"], ["y"], axis=0), onnx.node("ReduceMax", ["x"], ["m"], keepdims=0)],
                                 [X], [Y, ("m", "float32", [])], {"none": np.zeros((0, 3), "f4")}))
        x = np.arange(6, dtype="f4").reshape(2, 3)
        np.testing.assert_array_equal(self.result(m, "y", "--tensor", f"x={self.array('x.npy', x)}"), x)
        self.assertEqual(self.result(m, "m", "--tensor", f"x={self.array('x.npy', x)}"), 5)
        nothing = self.file(onnx.model([onnx.node("Neg", ["x"], ["y"])], [("x", "float32", [0, 4])], [Y]))
        self.assertEqual(self.report(nothing)["nodes"][0]["runs"], False)

    def test_dimensions_that_have_names(self):
        m = self.file(onnx.model([onnx.node("Shape", ["x"], ["y"])], [("x", "float32", ["batch", 4, "time"])], [("y", "int64", None)]))
        self.refuses("model", m, "--topology", SMALL, saying=("dimension 0", "--dim batch=N", "--dim time=N"), lines=2)
        self.report(m, "--dim", "batch=3", "--dim", "time=5")
        self.refuses("model", m, "--topology", SMALL, "--dim", "batch=3", "--dim", "time=5", "--dim", "width=1", saying=("'width'",))
        self.refuses("model", m, "--topology", SMALL, "--dim", "batch=x", "--dim", "time=5", saying=("--dim batch", "'x'"))

    def test_control_flow_is_what_it_comes_to(self):
        branches = {k: onnx.graph([onnx.node(op, ["x"], ["r"])], [], [("r", None, None)])
                    for k, op in (("then_branch", "Neg"), ("else_branch", "Abs"))}
        body = onnx.graph([onnx.node("Add", ["a", "x"], ["b"]), onnx.node("Identity", ["go"], ["still"]), onnx.node("Identity", ["b"], ["s"])],
                          [("i", "int64", []), ("go", "bool", []), ("a", "float32", [2, 3])],
                          [("still", "bool", []), ("b", None, None), ("s", None, None)])
        m = self.file(onnx.model([onnx.node("If", ["yes"], ["n"], **branches), onnx.node("Loop", ["three", "yes", "n"], ["y", "all"], body=body)],
                                 [X], [Y, ("all", None, None)], {"yes": np.array(True), "three": np.array(3)}))
        x = np.float32([[1, -2, 3], [4, 5, -6]])
        options = ("--tensor", f"x={self.array('x.npy', x)}")
        np.testing.assert_array_equal(self.result(m, "y", *options), 2 * x)
        np.testing.assert_array_equal(self.result(m, "all", *options), np.stack([0 * x, x, 2 * x]))

    def test_external_data_lie_below_the_model(self):
        np.float32([1, 2, 3, 9]).tofile(self.path("w.bin"))
        def tensor(location, offset="0", length="12"):
            entries = b"".join(onnx.field(13, onnx.field(1, k) + onnx.field(2, v))
                               for k, v in (("location", location), ("offset", offset), ("length", length)))
            return onnx.field(1, 3) + onnx.field(2, 1) + onnx.field(8, "w") + entries + onnx.field(14, 1)
        def model(*of):
            return self.file(onnx.model([onnx.node("Add", ["x", "w"], ["y"])], [X], [Y], raw_constants=[tensor(*of)]))
        x = self.array("x.npy", np.zeros((2, 3)))
        np.testing.assert_array_equal(self.result(model("w.bin", "4"), "y", "--tensor", f"x={x}")[0], [2, 3, 9])
        before = checksum(self.path("w.bin"))
        run = ("model", model("w.bin", "4"), "--topology", SMALL, "--tensor", f"x={x}")
        for command in (("--log", self.path("w.bin"), *run), (*run, "--dump", "y=" + self.path("w.bin")),
                        (*run, "--trace", self.path("w.bin"))):
            self.refuses(*command, saying=("the file of --model",), lines=1)
            self.assertEqual(checksum(self.path("w.bin")), before)
        for of, said in ((("../w.bin",), "below the model's folder"), (("/etc/passwd",), "below the model's folder"),
                         (("w.bin", "8"), "which has 16"), (("none.bin",), "cannot be read"), (("w.bin", "-1"), "offset"),
                         (("w.bin", "0", "16"), "expected 12")):
            with self.subTest(of=of):
                self.refuses("model", model(*of), "--topology", SMALL, saying=("initializer 'w'", said), lines=1)

    def test_external_data_behind_links(self):
        """A link that leaves the folder of the model, and that of the model's own real path, is refused."""
        def model(location):
            entry = onnx.field(13, onnx.field(1, "location") + onnx.field(2, location))
            return onnx.model([onnx.node("Add", ["x", "w"], ["y"])], [X], [Y],
                              raw_constants=[onnx.field(1, 3) + onnx.field(2, 1) + onnx.field(8, "w") + entry + onnx.field(14, 1)])
        x = ("--tensor", f"x={self.array('x.npy', np.zeros((2, 3)))}")
        for folder in ("blobs", "snapshot", "elsewhere"):
            os.mkdir(self.path(folder))
        self.file(model("w.bin"), "blobs/1")
        for name in ("blobs/2", "elsewhere/2", "snapshot/inside.bin"):
            np.float32([1, 2, 3]).tofile(self.path(name))
        os.symlink("../blobs/1", self.path("snapshot/m.onnx"))
        data = self.path("snapshot/w.bin")
        for target, fits in (("../blobs/2", True), ("inside.bin", True), ("../elsewhere/2", False), (self.path("elsewhere/2"), False)):
            with self.subTest(target=target):
                os.symlink(target, data)
                if fits:
                    np.testing.assert_array_equal(self.result(self.path("snapshot/m.onnx"), "y", *x)[0], [1, 2, 3])
                else:
                    self.refuses_model(self.path("snapshot/m.onnx"), saying=("initializer 'w'", "which is a link to", "elsewhere/2"))
                os.remove(data)
        os.symlink("../elsewhere", self.path("snapshot/folder"))
        self.refuses_model(self.file(model("folder/2"), "snapshot/n.onnx"), saying=("initializer 'w'", "which is a link to"))

    def test_what_no_op_reads_is_refused(self):
        vector, c = ("v", "float32", [4]), {"axes": np.array([1]), "one": np.float32(1)}
        for op, inputs, attributes, opset, said in (
                ("Softmax", ["x"], {"Axis": 0}, 17, "attribute 'Axis'"), ("ReduceSum", ["x"], {"keepdim": 0}, 17, "did you mean 'keepdims'"),
                ("Relu", ["x"], {"alpha": 0.5}, 17, "legal: none"), ("Clip", ["x"], {"max": 1.0}, 13, "opset 13"),
                ("Squeeze", ["x"], {"axes": [0]}, 13, "'axes'"), ("Relu", ["x", "x"], {}, 17, "found 2 inputs, expected at most 1"),
                ("Clip", ["x", "one", "one"], {}, 6, "at most 1 in opset 6"), ("Add", ["x", "x", "x"], {}, 17, "at most 2"),
                ("Transpose", ["x"], {"perm ": [1, 0]}, 17, "'perm '"), ("Gelu", ["x"], {"approximate": "tanh"}, 17, "not in opset 17"),
                ("QuantizeLinear", ["x", "one"], {"Axis": 1}, 17, "'Axis'")):
            with self.subTest(op=op, inputs=inputs, **attributes):
                m = self.file(onnx.model([onnx.node(op, inputs, ["y"], name="n", **attributes)], [X, vector], [Y], c, opset=opset))
                self.refuses_model(m, saying=(f"m.onnx: node 'n' ({op}): ", said))
        # An omitted input at the end counts as none.
        m = self.file(onnx.model([onnx.node("Relu", ["x", ""], ["y"])], [X], [Y]))
        self.report(m)
        # Nodes that are expanded into others.
        branch = onnx.graph([onnx.node("Neg", ["x"], ["r"])], [], [("r", None, None)])
        m = self.file(onnx.model([onnx.node("If", ["yes"], ["y"], name="n", then_branch=branch, else_branch=branch, branch=1)], [X], [Y],
                                 {"yes": np.array(True)}))
        self.refuses_model(m, saying=("node 'n' (If): found attribute 'branch'",))
        m = self.file(onnx.model([onnx.node("Constant", [], ["y"], name="n", value_float=1.0, value_int=1)], [X], [Y]))
        self.refuses_model(m, saying=("node 'n' (Constant)", "other than one value"))

    def test_numbers_beyond_their_type_are_refused(self):
        def tensor(dtype, field, *values):
            data = b"".join(onnx.varint(v) for v in values)
            return onnx.field(1, len(values)) + onnx.field(2, dtype) + onnx.field(8, "w") + onnx.varint(field << 3 | 2) + onnx.varint(len(data)) + data
        for dtype, field, value, said in ((3, 5, 1000, "-128 to 127 of int8"), (2, 5, -1, "0 to 255 of uint8"), (5, 5, 40000, "int16"),
                                          (4, 5, 65536, "uint16"), (9, 5, 2, "0 to 1 of bool"), (10, 5, 1 << 16, "float16"),
                                          (12, 11, 1 << 32, "0 to 4294967295 of uint32")):
            with self.subTest(dtype=dtype):
                m = self.file(onnx.model([onnx.node("Identity", ["w"], ["y"])], [], [Y], raw_constants=[tensor(dtype, field, 0, value)]))
                self.refuses_model(m, saying=("initializer 'w'", f"found {value} at element 1", said))
        m = self.file(onnx.model([onnx.node("Identity", ["w"], ["y"])], [], [Y], raw_constants=[tensor(3, 5, -128, 127)]))
        np.testing.assert_array_equal(self.result(m, "y"), np.int8([-128, 127]))

    def test_what_is_declared_is_what_comes_out(self):
        def model(output, declared=(), inputs=(X,)):
            info = b"".join(onnx.field(13, onnx.port(*d)) for d in declared)
            g = onnx.graph([onnx.node("Neg", ["x"], ["t"]), onnx.node("Abs", ["t"], ["y"])], inputs, [output]) + info
            return self.file(onnx.field(1, 8) + onnx.field(7, g) + onnx.field(8, onnx.field(2, 17)), f"m{next(number)}.onnx")
        number = itertools.count()
        self.refuses_model(model(("y", "int32", [2, 3])), saying=("'y' is declared as int32 [2, 3], found float [2, 3]",))
        self.refuses_model(model(("y", "float32", [2, 3, 1])), saying=("'y' is declared as float [2, 3, 1]",))
        self.refuses_model(model(Y, [("t", "float16", None)]), saying=("'t' is declared as float16",))
        self.refuses_model(model(Y, [("t", "float32", [6])]), saying=("'t' is declared as float [6]",))
        batch = (("x", "float32", ["n", 3]),)
        for m, options, said in ((model(("y", "float32", [2, 4])), (), "'y' is declared with sizes [2, 4], found [2, 3]"),
                                 (model(("y", "float32", [1, 1]), [("t", "float32", [1, 1])]), (), "'y' is declared with sizes [1, 1], found [2, 3], and 1 more so"),
                                 (model(("y", "float32", [3, "n"]), (), batch), ("--dim", "n=2"), "'y' is declared with sizes [3, 2], found [2, 3]")):
            with self.subTest(said=said):
                status, _, err = self.run_cli("model", m, "--topology", SMALL, *options)
                self.assertEqual(status, 0, err)
                self.assertEqual(len(err.strip().splitlines()), 1, err)
                self.assertIn(said, err)
        for m, options in ((model(("y", "float32", [2, 3])), ()), (model(("y", "float32", ["a", "b"])), ()),
                           (model(("y", "float32", ["n", 3]), [("t", "float32", ["n", 3])], batch), ("--dim", "n=5"))):
            self.assertEqual(self.run_cli("model", m, "--topology", SMALL, *options)[::2], (0, ""))
        # An initializer that is also an input.
        m = self.file(onnx.model([onnx.node("Add", ["x", "w"], ["y"])], [X, ("w", "int32", [3])], [Y], {"w": np.zeros(3, "f4")}))
        self.refuses_model(m, saying=("'w' is declared as int32 [3], found float [3]",))

    def test_a_name_of_a_dimension_has_one_size(self):
        m = self.file(onnx.model([onnx.node("MatMul", ["a", "b"], ["y"])], [("a", "float32", ["n", 3]), ("b", "float32", [3, "n"])], [Y]))
        def tensors(k, n):
            return ("--tensor", f"a={self.array('a.npy', np.zeros((k, 3)))}", "--tensor", f"b={self.array('b.npy', np.zeros((3, n)))}")
        self.refuses_model(m, *tensors(2, 4), saying=("dimension 'n' is 2 in input 'a' and 4 in input 'b'",))
        self.report(m, *tensors(4, 4))

    def test_all_that_is_not_supported_is_told_at_once(self):
        m = self.file(onnx.model([onnx.node("NoSuchOp", ["x"], ["a"], name="first"), onnx.node("Neg", ["a"], ["b"], name="behind"),
                                  onnx.node("Bernoulli", ["x"], ["c"], name="random"),
                                  onnx.node("Mine", ["x"], ["d"], name="own", domain="com.mine"),
                                  onnx.node("Add", ["x", "wide"], ["y"], name="shapes")], [X], [Y], {"wide": np.zeros((5, 5), "f4")}))
        err = self.refuses("model", m, "--topology", SMALL, lines=4)
        for name, op, why in (("first", "NoSuchOp", "not supported"), ("random", "Bernoulli", "random numbers"),
                              ("own", "com.mine.Mine", "not supported"), ("shapes", "Add", "do not broadcast")):
            self.assertRegex(err, rf"m\.onnx: node '{name}' \({op}\): [^\n]*{why}")

    def test_what_is_no_graph_is_refused_in_a_line(self):
        good = onnx.model([onnx.node("Neg", ["x"], ["y"])], [X], [Y])
        nested = b""
        for _ in range(200):
            nested = onnx.field(6, onnx.field(1, onnx.field(5, onnx.field(1, "body") + nested)))
        cases = {
            "empty": (b"", "is empty, expected an ONNX model"),
            "no graph": (onnx.field(1, 8), "no graph"),
            "no nodes": (onnx.model([], [X], [("x", "float32", [2, 3])]), "has no nodes"),
            "no outputs": (onnx.model([onnx.node("Neg", ["x"], ["y"])], [X], []), "has no outputs"),
            "two opsets": (onnx.model([onnx.node("Neg", ["x"], ["y"])], [X], [Y]) + onnx.field(8, onnx.field(1, "ai.onnx") + onnx.field(2, 13)),
                           "two opsets of domain"),
            "text": (b"model_type: llama\n", "no Protocol Buffers message"),
            "cut short": (good[:-9], "no Protocol Buffers message"),
            "an opset to come": (onnx.model([onnx.node("Neg", ["x"], ["y"])], [X], [Y], opset=24), "opset 24"),
            "an input from nowhere": (onnx.model([onnx.node("Add", ["x", "z"], ["y"])], [X], [Y]), "no earlier node produces its input 'z'"),
            "two of a name": (onnx.model([onnx.node("Neg", ["x"], ["x"])], [X], [Y]), "two tensors named 'x'"),
            "no such output": (onnx.model([onnx.node("Neg", ["x"], ["t"])], [X], [Y]), "no tensor 'y'"),
            "a type that is none": (onnx.model([onnx.node("Cast", ["x"], ["y"], to=257)], [X], [Y]), "type 257"),
            "an input of doubles": (onnx.model([onnx.node("Neg", ["x"], ["y"])], [("x", "float64", [2])], [Y]), "double"),
            "bytes that do not fit": (onnx.model([onnx.node("Neg", ["w"], ["y"])], [], [Y], raw_constants=[
                onnx.field(1, 1 << 40) + onnx.field(2, 1) + onnx.field(8, "w") + onnx.field(9, b"1234")]), "initializer 'w'"),
            "a shape beyond all bounds": (onnx.model([onnx.node("Expand", ["x", "s"], ["y"])], [X], [Y],
                                                     {"s": np.array([1 << 33, 1 << 33, 2, 3])}), "2^34"),
            "nested graphs": (onnx.field(7, onnx.field(1, onnx.field(5, nested))), "m.onnx"),
            "millions of empty nodes": (onnx.field(7, onnx.field(1, b"") * (1 << 21)), "2^20"),
        }
        for name, (content, said) in cases.items():
            with self.subTest(case=name):
                self.refuses("model", self.file(content), "--topology", SMALL, saying=("m.onnx", said), lines=1)

    def test_long_graphs(self):
        count = 100000
        chain = [onnx.node("Neg", [f"s{i}"], [f"s{i + 1}"]) for i in range(count)]
        m = self.file(onnx.model([*chain, onnx.node("Reshape", ["x", f"s{count}"], ["y"])], [X, ("s0", "int64", [2])], [Y]))
        self.assertEqual(self.result(m, "y", "--tensor", f"s0={self.array('s0.npy', [3, 2], 'i8')}").size, 6)
        # Inside an If: the names of each node are looked up in the outer scope, which is not copied.
        branch = onnx.graph([onnx.node("Identity", [f"t{i}" if i else "x"], [f"t{i + 1}"]) for i in range(16000)],
                            [], [("t16000", None, None)])
        m = self.file(onnx.model([onnx.node("If", ["yes"], ["y"], then_branch=branch, else_branch=branch)], [X], [Y],
                                 {"yes": np.array(True)}))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.report(m)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 15 * TIMES_LONGER)

    def test_time_grows_with_the_graph(self):
        """Elementwise chains whose values stay open, or close at each node; a loop of few bytes."""
        def chain(n, second):
            nodes = [onnx.node("Add", [f"t{i}" if i else "x", second if i else "x"], [f"t{i + 1}" if i + 1 < n else "y"]) for i in range(n)]
            return onnx.model(nodes, [("x", "float32", [8])], [Y])
        def seconds(content, *options):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            self.report(self.file(content), *options)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        body = onnx.graph([onnx.node("Identity", ["go"], ["still"]), onnx.node("Neg", ["a"], ["b"])],
                          [("i", "int64", []), ("go", "bool", []), ("a", "float32", [8])], [("still", "bool", []), ("b", None, None)])
        loops = {n: onnx.model([onnx.node("Loop", ["n", "", "x"], ["y"], body=body)], [("x", "float32", [8])], [Y], {"n": np.array(n)})
                 for n in (500, 2000)}
        for name, of in (("closed", lambda n: chain(n, "x")), ("open", lambda n: chain(n, "t1")), ("loop", loops.get)):
            with self.subTest(name):
                few, many = seconds(of(500)), seconds(of(2000))
                self.assertLess(many, 8 * few + 1, "of four times the nodes")

    def test_names_are_told_in_a_line(self):
        m = self.file(onnx.model([onnx.node("Neg", ["x"], ["y"], name="a\nb\x1b[31m")], [X], [Y]))
        out = self.succeeds("model", m, "--topology", SMALL, "--plan")
        self.assertIn("a\\nb\\x1b[31m", out)
        self.assertNotIn("\x1b", out)
        bad = self.file(onnx.model([onnx.node("Neg", ["z\n" + 200 * "é"], ["y"], name="n\tn")], [X], [Y]))
        self.refuses_model(bad, saying=("node 'n\\tn' (Neg)", "'z\\né", "…'"))

    def test_data_of_a_folder_fit_the_graph(self):
        m = self.file(onnx.model([onnx.node("Add", ["a", "b"], ["s"]), onnx.node("Sub", ["a", "b"], ["d"])],
                                 [("a", "float32", [2]), ("b", "float32", [2])], [("s", "float32", [2]), ("d", "float32", [2])]))
        data = {"input_0": [5, 7], "input_1": [1, 2], "output_0": [6, 9], "output_1": [4, 5]}
        def folder(**more):
            to = tempfile.mkdtemp(dir=self.folder)
            for name, values in {**data, **more}.items():
                if values is not None:
                    with open(os.path.join(to, name + ".pb"), "wb") as f:
                        f.write(onnx.tensor(np.float32(values)))
            return to
        self.report(m, "--test-data", folder())
        self.assertEqual(self.run_cli("model", m, "--topology", SMALL, "--test-data", folder(output_1=[4, 6]))[0], 1)
        for name in data:
            self.refuses_model(m, "--test-data", folder(**{name: None}), saying=("--test-data", f"has no {name}.pb"))
        for name in ("input_2", "output_2"):
            kind = name[:-2]
            self.refuses_model(m, "--test-data", folder(**{name: [1, 1]}), saying=(f"has {name}.pb", f"the model has 2 {kind}s"))

    def test_arrays_of_integers_and_booleans_come_back(self):
        m = self.file(onnx.model([onnx.node("Where", ["c", "n", "zero"], ["y"]), onnx.node("Not", ["c"], ["b"])],
                                 [("c", "bool", [4]), ("n", "int64", [4])], [("y", "int64", [4]), ("b", "bool", [4])],
                                 {"zero": np.int64(0)}))
        n = np.array([1 << 40, -1, 3, -(1 << 62)])
        given = ("--tensor", f"n={self.array('n.npy', n, 'i8')}")
        for dtype, condition in (("?", [True, False, True, True]), ("u1", [1, 0, 2, 255])):
            with self.subTest(dtype=dtype):
                options = (*given, "--tensor", f"c={self.array('c.npy', condition, dtype)}")
                y = self.result(m, "y", *options)
                self.assertEqual(y.dtype, np.dtype("i8"))
                np.testing.assert_array_equal(y, [n[0], 0, n[2], n[3]])
                np.testing.assert_array_equal(self.result(m, "b", *options), [0, 1, 0, 0])
                # Dumped values can be used as inputs and as expected values.
                again = self.array("again.npy", y, "i8")
                self.report(m, *options, "--expected", f"y={again}")
                np.testing.assert_array_equal(self.result(m, "y", *options[2:], "--tensor", f"n={again}"), y)

    def test_what_to_change(self):
        m = self.file(onnx.model([onnx.node("Neg", ["x"], ["y"])], [X], [Y]))
        report = self.report(m, "--explain=verify")
        remedies = {r["change"]: r for r in report["insight"]["remedies"]}
        self.assertLess(remedies["--launch direct"]["ns"], 0.5 * report["sim_ns"])  # each one was simulated

    def test_wrong_options(self):
        m = self.file(onnx.model([onnx.node("Neg", ["x"], ["y"])], [X], [Y]))
        self.refuses("model", m, "--topology", SMALL, "--phase", "prefill:4", saying=("--phase",), lines=1)
        for option, value in (("tp", 2), ("pp", 2), ("ep", 2), ("weights", "f8"), ("kv", "f8"), ("layers", 1), ("dtype", "f16")):
            self.refuses_model(m, f"--{option}", value, saying=(f"--{option}", "decoders"))
        self.refuses("model", m, "--topology", SMALL, "--tensor", f"z={self.array('z.npy', [1])}", saying=("'z'", "x"), lines=1)
        self.refuses("model", m, "--topology", SMALL, "--tensor", f"x={self.array('z.npy', [1])}", saying=("[1]", "[2, 3]"), lines=1)
        self.refuses("model", m, "--topology", SMALL, "--tensor", "x=/nowhere.npy", saying=("/nowhere.npy",), lines=1)
        self.refuses("model", m, "--topology", SMALL, "--tensor", f"x={self.file(b'no array', 'x.npy')}", saying=("x.npy",), lines=1)
        self.refuses("model", m, "--topology", SMALL, "--tensor", f"x={self.file(b'no tensor', 'x.pb')}", saying=("x.pb",), lines=1)
        self.refuses("model", m, "--topology", SMALL, "--expected", f"y={self.array('z.npy', [1])}", saying=("'y'", "[2, 3]", "[1]"), lines=1)
        self.refuses("model", m, "--topology", SMALL, "--dump", f"q={self.path('q.npy')}", saying=("'q'",), lines=1)
        self.refuses("model", m, "--topology", SMALL, "--test-data", self.path("none"), saying=("--test-data",), lines=1)
        self.refuses("model", self.file(b"model_type: llama\n", "m.yaml"), "--topology", SMALL, "--dim", "n=1", saying=("--dim",), lines=1)


if __name__ == "__main__":
    main()
