# SPDX-License-Identifier: Apache-2.0
"""Blocks of the examples as plug-ins of a binary: compiled by what its build folder was made with, from the sources of the
tree that it was made of."""
import glob
import hashlib
import os
import re
import subprocess


class Plugins:
    def __init__(self, folder):
        self.folder = folder

    def of(self, binary, example):
        name = hashlib.sha256(os.path.realpath(binary).encode()).hexdigest()[:8]
        return os.path.join(self.folder, f"{example}-{name}.so")

    def build(self, binary, examples):
        for example in sorted(examples):
            library = self.of(binary, example)
            if os.path.exists(library):
                continue
            build = os.path.dirname(os.path.dirname(os.path.realpath(binary)))
            with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
                cache = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.M))
            sources = glob.glob(os.path.join(cache["CMAKE_HOME_DIRECTORY"], "examples", example, "*.cpp"))
            os.makedirs(self.folder, exist_ok=True)
            done = subprocess.run([cache["CMAKE_CXX_COMPILER"], "-std=c++17", "-fPIC", "-shared", "-I",
                                   os.path.join(build, "include"), *sorted(sources), "-o", library],
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{example} cannot be compiled for {binary}: {done.stderr.strip()[:500]}")
