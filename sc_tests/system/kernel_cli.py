# SPDX-License-Identifier: Apache-2.0
"""A test that holds kernels on tensors from .npy files against NumPy; without NumPy it is left out."""
import cli_support
from cli_support import topology

try:
    import numpy as np
except ImportError:
    cli_support.leave_out("there is no NumPy (Debian: apt-get install python3-numpy)")


class KernelCli(cli_support.FolderCli):
    def run_kernel(self, kernel, outputs, inputs, system="small.yaml", verify=True, options=(), **params):
        """The outputs of these names."""
        arguments = ["run", "--topology", topology(system), "--kernel", kernel] + ["--verify"] * verify + list(options)
        for name, value in params.items():
            arguments += ["--param", f"{name}={value}"]
        for name, value in inputs.items():
            np.save(self.path(name + ".npy"), value)
            arguments += ["--tensor", f"{name}={self.path(name + '.npy')}"]
        for name in outputs:
            arguments += ["--dump", f"{name}={self.path(name + '_out.npy')}"]
        self.succeeds(*arguments)
        return [np.load(self.path(name + "_out.npy")) for name in outputs]
