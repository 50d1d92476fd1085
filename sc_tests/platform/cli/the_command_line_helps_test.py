# SPDX-License-Identifier: Apache-2.0
"""Does the command line help who does not know it: near words, older names, groups of help, completion, man pages, a tidy terminal?"""
import json
import os
import pty
import re
import shutil
import subprocess
import tempfile

import cli_support
from cli_support import KERNBENCH, topology

SMALL = topology("small.yaml")
GEMM = ["run", "--topology", SMALL, "--kernel", "gemm"]


class Words(cli_support.Cli):
    def said(self, *arguments):
        status, out, err = self.run_cli(*arguments)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
        return err

    def test_a_wrong_word_is_told_with_the_nearest_right_one(self):
        for arguments, wrong, right in [
                (["rnu"], "rnu", "run"),
                (["run", "--topolgy", SMALL, "--kernel", "gemm"], "--topolgy", "--topology"),
                (["--verbos", *GEMM], "--verbos", "--verbose"),
                (["run", "--topology", SMALL, "--kernel", "gem"], "gem", "gemm"),
                (["run", "--topology", SMALL, "--program", "tp_mpl"], "tp_mpl", "tp_mlp"),
                ([*GEMM, "--param", "tile_mm=3"], "tile_mm", "tile_m"),
                ([*GEMM, "--set", "*.pe_gemm.frq_ghz=1"], "frq_ghz", "freq_ghz"),
                ([*GEMM, "--set", "edge:mesh.bw_gb=1"], "bw_gb", "bw_gbs"),
                ([*GEMM, "--scale", "hmb=2"], "hmb", "hbm"),
                ([*GEMM, "--links", "flt"], "flt", "flit"),
                (["run", "--topology", "smal", "--kernel", "gemm"], "smal", "small"),
                (["topology", "defalt.yaml"], "defalt.yaml", "default.yaml"),
                (["man", "pobe"], "pobe", "probe")]:
            said = self.said(*arguments)
            self.assertIn(f"'{wrong}', did you mean '{right}'?", said)

    def test_what_is_near_nothing_gets_no_guess(self):
        for arguments in ([], ["frobnicate"], ["run", "--frobnicate"], [*GEMM, "stray"], ["topology", "frobnicate.yaml"],
                          ["run", "--topology", SMALL, "--kernel", "x" * 100], [*GEMM, "--param", "q=1"]):
            self.assertNotIn("did you mean", self.said(*arguments))

    def test_values_and_words_behind_a_double_dash_are_no_mistakes(self):
        self.assertIn("--kernel: found '--verify', expected a value", self.said("run", "--kernel", "--verify"))
        self.succeeds("sweep", "--over", "param.m=32", "--", *GEMM)

    def test_an_option_without_what_it_needs_is_refused(self):
        for option, value in (("function", "f"), ("grid", "2"), ("order", "blocks"), ("interleave", "64"), ("place", "x=rows")):
            self.assertEqual(self.said(*GEMM, f"--{option}", value), f"--{option}: needs --ttir beside it\n")
        self.assertEqual(self.said(*GEMM, "--memory", "x.kbmem"), "--memory: needs --oplog beside it\n")
        traffic = ["traffic", "--topology", SMALL, "--trace", os.devnull]
        self.assertEqual(self.said(*traffic, "--ftr-to", "3", "--vcd-to", "3"), "--vcd-to: needs --vcd beside it\n")

    def test_the_replay_by_itself_says_the_same(self):
        done = subprocess.run([os.environ["KERNBENCH_REPLAY"], "repaly"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("unknown command 'repaly', did you mean 'replay'?", done.stderr)


class Help(cli_support.Cli):
    def commands(self):
        return re.findall(r"^  (\w+) {2,}", self.succeeds("--help").split("\n\n", 2)[2], re.M)

    def test_every_command_and_option_stands_in_a_group(self):
        self.assertGreater(len(self.commands()), 15)
        self.assertNotIn("Subcommands:", self.succeeds("--help"))
        for command in self.commands():
            if command == "web":  # a separate program
                continue
            options = re.search(r"^Options:\n((?:  .*\n)+)", self.succeeds(command, "--help"), re.M)
            self.assertEqual(re.findall(r"^  (-\S+)", options.group(1), re.M), ["-h,--help"], command)

    def test_an_older_name_of_an_option_still_does_the_same(self):
        options = json.loads(self.succeeds("list", "options", "--format", "json"))
        older = {(c, o["name"]): o["alias"] for c, of in options.items() for o in of if o["alias"]}
        self.assertEqual(older[("run", "report-events")], "report-causes")
        self.assertEqual(older[("pipeline", "breakdown")], "accounts")
        for (command, name), alias in older.items():
            self.assertIn(f"--{name},--{alias}", self.succeeds(command, "--help"))
        for name in ("report-events", "report-causes"):  # an error names the newer option
            self.refuses(*GEMM, f"--{name}", saying=["--report-events: needs --report"], lines=1)
        play = ("pipeline", "--topology", cli_support.sample("programs_ideal", "topology.yaml"), "--work",
                cli_support.sample("programs_ideal", "work.json"))
        self.assertEqual(self.succeeds(*play, "--accounts"), self.succeeds(*play, "--breakdown"))

    def test_a_man_page_has_every_option_and_is_one(self):
        with tempfile.TemporaryDirectory() as folder:
            self.succeeds("man", "--into", folder)
            self.assertEqual(sorted(os.listdir(folder)),
                             sorted(["kernbench.1", *(f"kernbench-{c}.1" for c in self.commands())]))
            for command in self.commands():
                with open(os.path.join(folder, f"kernbench-{command}.1")) as f:
                    page = f.read()
                self.assertEqual(page, self.succeeds("man", command))
                for option in re.findall(r"^  (--[\w-]+)", self.succeeds(command, "--help"), re.M):
                    if command == "web":  # a separate program, to whose help the page refers
                        option = "--help"
                    self.assertIn(option.replace("-", "\\-"), page)
                self.assertNotRegex(page, r"(?m)^[.'](?!TH|SH|SS|TP|nf|fi)")
            if shutil.which("man"):
                done = subprocess.run(["man", "--warnings=w", os.path.join(folder, "kernbench-run.1")], text=True,
                                      capture_output=True, env={**os.environ, "MANPAGER": "cat", "MANWIDTH": "100"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("--kernel NAME", re.sub(".\b", "", done.stdout))


class Completion(cli_support.Cli):
    def complete(self, *words):
        return [line.split("\t")[0] for line in self.succeeds("complete", "--", *words).splitlines()]

    def test_each_place_has_its_words(self):
        self.assertEqual(self.complete("pr"), ["probe"])
        self.assertEqual(self.complete("run", "--top"), ["--topology"])
        self.assertEqual(self.complete("run", "--kernel", "gemm_e"), ["gemm_epilogue"])
        self.assertEqual(self.complete("run", "--kernel", "gemm", "--param", "tile"), ["tile_m=", "tile_n=", "tile_k="])
        self.assertEqual(self.complete("run", "--kernel", "gemm", "--dump", ""), ["c="])
        self.assertEqual(self.complete("run", "--topology", "sm"), ["small.yaml"])
        self.assertEqual(self.complete("run", "--topology=sm"), ["--topology=small.yaml"])
        self.assertEqual(self.complete("run", "--topology", "=", "sm"), ["small.yaml"])  # with bash's word splitting
        self.assertEqual(self.complete("run", "--format", ""), ["text", "json"])
        self.assertEqual(self.complete("list", "comp"), ["components"])
        self.assertEqual(self.complete("sweep", "--jobs", "2", "--", "run", "--kernel", "sof"), ["softmax"])
        self.assertEqual(self.complete("sweep", "pro"), ["progress"])
        self.assertEqual(self.complete("run", "--oplog", "x"), [])  # a file's name
        self.assertIn("run", self.complete(""))
        self.assertIn("run", self.complete())
        self.assertNotIn("complete", self.complete("c"))

    def test_a_real_bash_completes(self):
        script = f'''source <("{KERNBENCH}" completion bash)
COMP_WORDS=("{KERNBENCH}" run --kernel gemm --param tile_m); COMP_CWORD=5; _kernbench; echo "${{COMPREPLY[@]}}"
COMP_WORDS=("{KERNBENCH}" run --ker); COMP_CWORD=2; _kernbench; echo "${{COMPREPLY[@]}}"
complete -p kernbench'''
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        self.assertEqual((lines[0], lines[1]), ("tile_m=", "--kernel"), done.stderr)
        self.assertIn("-F _kernbench kernbench", lines[2])


class Terminal(cli_support.Cli):
    def test_rows_and_progress_never_share_a_line(self):
        """A sweep longer than a second whose rows and progress go to one terminal."""
        main, end = pty.openpty()
        with subprocess.Popen([KERNBENCH, "sweep", "--jobs", "1", "--over", "seed=1," + ",".join(map(str, range(2, 201))), "--",
                               *GEMM, "--param", "m=512", "--param", "n=512"], stdin=subprocess.DEVNULL, stdout=end,
                              stderr=end) as sweep:
            os.close(end)
            said = b""
            try:
                while chunk := os.read(main, 65536):
                    said += chunk
            except OSError:  # the terminal's other end was closed
                pass
            self.assertEqual(sweep.wait(), 0)
        os.close(main)
        rows = 0
        for line in said.decode().replace("\r\n", "\n").split("\n"):
            shown = line.split("\r\x1b[K")[-1]  # the remaining text after the line was rewritten
            if re.match(r"\d+,0,", shown):
                rows += 1
                self.assertRegex(shown, r"^\d+,0,[\d.]+,$")
        self.assertEqual(rows, 200, said.decode())
        self.assertIn(b"\r\x1b[K", said)  # it has shown progress


if __name__ == "__main__":
    cli_support.main()
