#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stdout that does not take all of a command's output, a full disk, is told in one line; the exit status is 1."""
import os
import subprocess

import cli_support

SMALL = cli_support.topology("small.yaml")
COMMANDS = (
    ("topology", SMALL, "--format", "json"),
    ("topology", SMALL),
    ("list", "kernels"),
    ("list", "components", "--format", "json"),
    ("run", "--topology", SMALL, "--kernel", "vector_add"),
    ("run", "--topology", SMALL, "--kernel", "vector_add", "--format", "json"),
    ("probe", "--topology", SMALL),
    ("traffic", "--topology", cli_support.sample("traffic_ideal", "topology.yaml"), "--trace",
     cli_support.sample("traffic_ideal", "trace.csv")),
    ("pipeline", "--topology", cli_support.sample("composite_ideal", "topology.yaml"), "--work",
     cli_support.sample("composite_ideal", "work.json"), "--format", "json"),
    ("sweep", "--over", "links=ideal", "--", "run", "--topology", SMALL, "--kernel", "vector_add"),
    ("--help",),
)


class FullDisk(cli_support.Cli):
    def test_is_told_by_every_command(self):
        for command in COMMANDS:
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                done = subprocess.run([cli_support.KERNBENCH, *command], stdin=subprocess.DEVNULL, stdout=full,
                                      stderr=subprocess.PIPE, timeout=120 * cli_support.TIMES_LONGER, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr.decode(), r"\Astdout: cannot be written[^\n]*\n\Z")


if __name__ == "__main__":
    if not os.path.exists("/dev/full"):
        cli_support.leave_out("there is no /dev/full here")
    cli_support.main()
