#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A .pftrace decodes by the schema that Perfetto publishes, without a field that it does not know, to what the tests' own
reader reads, on which the comparison with JSON stands (perfetto_traces_show_what_json_shows_test.py).

The schema is Perfetto's file perfetto_trace.proto (protos/perfetto/trace in its sources), named by
KERNBENCH_PERFETTO_PROTO and compiled here with protoc; or what its Python package `perfetto` brings. Neither is in this
tree: without them this is skipped."""
import importlib
import os
import subprocess
import sys
import tempfile

import cli_support
from cli_support import leave_out, topology
from pftrace_reader import packets

RUNS = (("--topology", topology("small.yaml"), "--kernel", "gemm"),
        ("--topology", topology("small.yaml"), "--kernel", "attention", "--param", "seq=64"),
        ("--topology", topology("small.yaml"), "--kernel", "all_reduce", "--param", "algorithm=ring", "--links",
         "flit"),
        ("--topology", topology("small.yaml"), "--kernel", "vector_add", "--transfer", "timed"),
        ("--topology", topology("six_sip_torus.yaml"), "--program", "tp_mlp", "--param", "tokens=64", "--ranks", "2",
         "--pes", "leaders"))


def compiled(proto, folder):
    name = os.path.basename(proto).removesuffix(".proto")
    subprocess.run(["protoc", f"--proto_path={os.path.dirname(os.path.abspath(proto))}", f"--python_out={folder}",
                    os.path.abspath(proto)], check=True)
    sys.path.insert(0, folder)
    return importlib.import_module(name + "_pb2")


def published_schema(folder):
    """The module of Perfetto's messages; None: there is none."""
    proto = os.environ.get("KERNBENCH_PERFETTO_PROTO")
    try:
        if proto:
            return compiled(proto, folder)
        return importlib.import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    except ImportError as e:
        if proto:
            sys.exit(f"{proto}: {e}: needs python3-protobuf")
        return None


def plain(message):
    """By names, as pftrace_reader has it."""
    found = {}
    for field, value in message.ListFields():
        if field.message_type:
            value = [plain(v) for v in value] if field.label == field.LABEL_REPEATED else plain(value)
        elif field.label == field.LABEL_REPEATED:
            value = list(value)
        found[field.name] = value
    return found


class Published(cli_support.Cli):
    def test_decodes_to_what_our_reader_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "t.pftrace")
            for run in RUNS:
                self.succeeds("run", *run, "--trace", file)
                with open(file, "rb") as f:
                    data = f.read()
                trace = SCHEMA.Trace()
                self.assertEqual(trace.ParseFromString(data), len(data))
                ours = packets(data)
                self.assertGreater(len(ours), 100)
                self.assertEqual(len(trace.packet), len(ours))
                for theirs, own in zip(trace.packet, ours):
                    self.assertEqual(plain(theirs), own)
                trace.DiscardUnknownFields()
                self.assertEqual(trace.ByteSize(), len(data), "fields that the schema does not know")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as modules:
        SCHEMA = published_schema(modules)
        if SCHEMA is None:
            leave_out("Perfetto's schema is not here: set KERNBENCH_PERFETTO_PROTO, or install its Python package")
        cli_support.main()
