# SPDX-License-Identifier: Apache-2.0
"""A test of `kernbench model FILE.onnx`: files in a folder of its own, what a run gives, and what it says."""
import json

import numpy as np

import onnx_file as onnx
from cli_support import FolderCli, topology

SMALL = topology("small.yaml")
X, Y = ("x", "float32", [2, 3]), ("y", None, None)  # an output of any type


class OnnxCli(FolderCli):
    def file(self, content, name="m.onnx"):
        with open(self.path(name), "wb") as f:
            f.write(content)
        return self.path(name)

    def array(self, name, values, dtype="f4"):
        np.save(self.path(name), np.asarray(values, dtype))
        return self.path(name)

    def one_node(self, op, inputs, opset=17, outputs=1, **attributes):
        """A graph of one node, named n, whose inputs i0, i1, … are of those arrays' types and shapes; None: left out."""
        there = {f"i{k}": a for k, a in enumerate(inputs) if a is not None}
        names = [f"i{k}" if a is not None else "" for k, a in enumerate(inputs)]
        made = [f"o{k}" for k in range(outputs)]
        return self.file(onnx.model([onnx.node(op, names, made, name="n", **attributes)],
                                    [(k, a.dtype.name, a.shape) for k, a in there.items()], [(o, None, None) for o in made],
                                    opset=opset))

    def report(self, model, *options):
        return json.loads(self.succeeds("model", model, "--topology", SMALL, "--format", "json", *options))

    def result(self, model, output, *options):
        self.report(model, *options, "--dump", f"{output}={self.path('out.npy')}")
        return np.load(self.path("out.npy"))

    def result_of_node(self, op, inputs, output="o0", **attributes):
        model = self.one_node(op, inputs, **attributes)
        options = []
        for k, a in enumerate(inputs):
            if a is not None:
                options += ["--tensor", f"i{k}={self.array(f'i{k}.npy', a, a.dtype)}"]
        return self.result(model, output, *options)

    def refuses_model(self, model, *options, saying=(), lines=1):
        return self.refuses("model", model, "--topology", SMALL, *options, saying=saying, lines=lines)
