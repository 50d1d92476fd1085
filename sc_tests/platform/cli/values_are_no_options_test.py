# SPDX-License-Identifier: Apache-2.0
"""Is an option without its value refused by every command, and does a flag mean what it is given?"""
import os
import re
import subprocess

import cli_support
from cli_support import KERNBENCH, topology

RUN = ("run", "--topology", topology("small.yaml"), "--kernel", "vector_add", "--param", "n=64")


class Values(cli_support.FolderCli):
    def commands(self):
        for name in re.findall(r"^  (\w+) {2,}", self.succeeds("--help").split("\n\n", 2)[2], re.M):
            text = self.succeeds(name, "--help")
            yield name, re.findall(r"^  (?:-\w,)?(--[\w-]+)(?: (?!\s)(\S+))?", text, re.M)

    def refused(self, *arguments):
        done = subprocess.run([KERNBENCH, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), (arguments, done.stderr))
        self.assertEqual(os.listdir(self.folder), [], arguments)
        return done.stderr

    def test_every_option_of_every_command(self):
        seen = 0
        for command, options in self.commands():
            for option, form in options:
                if option in ("--help", "--version"):
                    continue
                seen += 1
                with self.subTest(command=command, option=option):
                    self.assertIn(option, self.refused(command, option + "="))
                    if form:
                        self.assertIn(option, self.refused(command, option, "--verify"))
                        self.assertIn(option, self.refused(command, option + "=--verify"))
                    else:
                        for value in ("maybe", "0", "2", "nan", "True", "--verify"):
                            self.assertIn(option, self.refused(command, f"{option}={value}"))
        self.assertGreater(seen, 150)

    def test_in_the_command_of_many_points(self):
        for words in (("--verify=maybe",), ("--links=",), ("--seed", "--verify"), ("--seed",)):
            self.refused("sweep", "--over", "param.n=64", "--", *RUN[:-2], *words)
            self.refused("whatif", "--", *RUN, *words)

    def test_flags_mean_what_they_are_given(self):
        bare = self.succeeds(*RUN)
        self.assertEqual(self.succeeds(*RUN, "--verify=false").split("\n")[0].split(",")[:2], bare.split("\n")[0].split(",")[:2])
        self.assertNotIn("verified", self.succeeds(*RUN, "--verify=false"))
        self.assertIn("verified", self.succeeds(*RUN, "--verify=true"))
        self.assertNotIn("verified", self.succeeds(*RUN, "--verify", "--verify=false"))
        self.assertNotIn("critical path", self.succeeds(*RUN, "--explain=false"))
        self.assertIn("false", self.refused(*RUN, "--explain=maybe"))
        self.assertEqual(self.succeeds("sweep", "--list-metrics=false", "--over", "param.n=64", "--", *RUN[:-2])[:8], "param.n,")

    def test_requests(self):
        requests = ('{"id": 1, "options": {"links": ""}}', '{"id": 2, "options": {"param.n": []}}',
                    '{"id": 3, "options": {"verify": "maybe"}}', '{"id": 4, "options": {"param.n": ""}}',
                    '{"id": 5, "options": {"links": "--verify"}}')
        done = subprocess.run([KERNBENCH, "serve", "--stdio", "--", *RUN[:-2]], input="\n".join(requests) + "\n", text=True,
                              capture_output=True, check=True)
        answers = done.stdout.splitlines()[1:]
        self.assertEqual(len(answers), len(requests))
        for answer in answers:
            self.assertIn('"status": 2', answer)

    def test_plans(self):
        for text, said in (("options: {links: ''}\nover: {param.n: [64]}\n", "options.links: found ''"),
                           ("options: {param.n: []}\nover: {links: [ideal]}\n", "options.param.n: found []"),
                           ("over: {kernal: [gemm]}\n", "did you mean 'kernel'?")):
            with open(self.path("p.yaml"), "w") as f:
                f.write(text)
            self.refuses("sweep", "--plan", self.path("p.yaml"), saying=(said,), lines=1)


class Warnings(cli_support.FolderCli):
    def warned(self, *arguments):
        status, _, err = self.run_cli(*arguments)
        self.assertEqual(status, 0, err)
        return err

    def test_options_that_change_nothing(self):
        for words, option in ((("--corrupt", "c"), "--corrupt"), (("--threads", "2"), "--threads"),
                              (("--isa", "portable"), "--isa"),
                              (("--trace", self.path("t.json"), "--trace-from", "1e9"), "--trace-from"),
                              (("--ftr", self.path("t.ftr"), "--ftr-from", "1e9"), "--ftr-from"),
                              (("--vcd", self.path("t.vcd"), "--vcd-from", "1e9"), "--vcd-from")):
            with self.subTest(option=option):
                err = self.warned(*RUN, *words)
                self.assertRegex(err, rf"^kernbench: warning: {option}: [^\n]*\n$")
        self.assertEqual(self.warned(*RUN, "--threads", "2", "--isa", "portable", "--verify"), "")
        self.assertEqual(self.warned(*RUN, "--trace", self.path("t.json"), "--trace-from", "10"), "")
        self.assertEqual(self.warned("sweep", "--jobs", "2", "--over", "param.n=64,128", "--", *RUN[:-2]), "")

    def test_a_map_of_a_setting_is_merged(self):
        def ns(kernel, *settings):
            out = self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", kernel, "--format", "json",
                                *[word for s in settings for word in ("--set", s)])
            return float(re.search(r'"sim_ns": ?([\d.]+)', out).group(1))
        self.assertEqual(ns("softmax", "*.pe_math.cycles={copy: 1}"), ns("softmax"))
        self.assertLess(ns("softmax", "*.pe_math.cycles={}", "*.pe_math.cycles={copy: 1}"), ns("softmax"))
        self.assertGreater(ns("vector_add", "*.pe_math.cycles={add: 4096}"), ns("vector_add"))


class ClosedStreams(cli_support.Cli):
    def test_results_are_those_with_open_streams(self):
        small = topology("small.yaml")
        for words in (("sweep", "--over", "param.n=64,128", "--", *RUN[:-2]),
                      ("tune", "--over", "param.n=64,128", *RUN[1:-2]), ("collectives", "--topology", small, "--sizes", "1K"),
                      ("run", "--topology", small, "--kernel", "all_reduce", "--param", "algorithm=best"),
                      ("whatif", "--part", "hbm", "--", *RUN)):
            with self.subTest(words=words):
                expected = self.succeeds(*words)
                for closed in ("<&-", "<&- 2>&-"):
                    done = subprocess.run(["bash", "-c", f'"$0" "$@" {closed}', KERNBENCH, *words], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(re.sub(r"wall.*", "", done.stdout), re.sub(r"wall.*", "", expected))


if __name__ == "__main__":
    cli_support.main()
