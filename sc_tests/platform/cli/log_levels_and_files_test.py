# SPDX-License-Identifier: Apache-2.0
"""Do --log-level, --log and KERNBENCH_LOG say what is logged where, in all three programs, and refuse what is none?"""
import os
import re
import subprocess

import cli_support
from cli_support import topology

RUN = ["run", "--topology", topology("small.yaml"), "--kernel", "vector_add"]
FILE_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (-|\d+\.\d{3}) \w+ (debug|info|warn): .+")


class Logging(cli_support.FolderCli):
    def logs(self, *words, env=None, program=cli_support.KERNBENCH):
        done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                              env={**os.environ, **(env or {})})
        return done.returncode, done.stdout, done.stderr

    def rooms(self, text):
        return set(re.findall(r"^[\d:.]+ (\w+): ", text, re.M))

    def test_nothing_is_logged_unless_asked_for(self):
        self.assertEqual(self.logs(*RUN)[2], "")

    def test_levels_choose_rooms_and_leave_stdout_alone(self):
        status, out, err = self.logs("--log-level", "warn,run=info", *RUN)
        self.assertEqual((status, self.rooms(err)), (0, {"run"}), err)
        self.assertRegex(err, r"simulated \d+\.\d{3} ns of \d+ PEs")
        status, out, err = self.logs("--log-level", "debug", *RUN)
        self.assertEqual((status, self.rooms(err)), (0, {"topology", "elaborate", "launch", "run"}), err)
        self.assertRegex(err, r"topology: read .*small\.yaml: \d+ bytes")
        without_wall_time = [line for line in self.logs(*RUN)[1].splitlines() if "wall" not in line]
        self.assertEqual([line for line in out.splitlines() if "wall" not in line], without_wall_time)

    def test_the_environment_counts_where_no_option_does(self):
        self.assertEqual(self.rooms(self.logs(*RUN, env={"KERNBENCH_LOG": "launch=debug"})[2]), {"launch"})
        both = self.logs("--log-level", "launch=warn,run=info", *RUN, env={"KERNBENCH_LOG": "launch=debug"})[2]
        self.assertEqual(self.rooms(both), {"run"})
        self.assertEqual(self.logs(*RUN, env={"KERNBENCH_LOG": ""})[2], "")

    def test_a_file_gets_both_times_and_stderr_warnings_only(self):
        file = self.path("x.log")
        self.assertEqual(self.logs("--log", file, *RUN)[2], "")
        with open(file) as f:
            lines = f.read().splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, FILE_LINE)
        times = [FILE_LINE.fullmatch(line)[1] for line in lines]
        self.assertEqual(times[0], "-")  # before a platform exists
        self.assertGreater(float(times[-1]), 100)
        self.assertNotIn(" debug: ", "\n".join(lines))
        self.logs("--log-level", "debug", "--log", file, *RUN)
        with open(file) as f:
            self.assertIn(" launch debug: ", f.read())

    def test_points_of_a_sweep_write_to_its_file_and_their_errors_stay_what_they_are(self):
        file = self.path("x.log")
        sweep = ["sweep", "--over", "param.n=1024,0", "--metric", "sim_ns,error", "--format", "csv", "--", *RUN]
        plain = self.logs(*sweep)
        logged = self.logs("--log-level", "debug", "--log", file, *sweep)
        self.assertEqual(logged, plain)
        self.assertEqual(self.logs(*sweep, env={"KERNBENCH_LOG": "debug"})[:2], plain[:2])
        with open(file) as f:
            text = f.read()
        self.assertEqual(len(re.findall(r"study info: point \d is simulated", text)), 2)
        self.assertIn(" run info: simulated ", text)

    def test_levels_that_are_none_are_refused_with_the_legal_ones(self):
        for words, env, option in ((["--log-level", "loud"], {}, "--log-level"), ([], {"KERNBENCH_LOG": "loud"}, "KERNBENCH_LOG"),
                                   (["--log-level", "kitchen=info"], {}, "--log-level")):
            status, out, err = self.logs(*words, *RUN, env=env)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
            self.assertRegex(err, rf"^{option}: found '\S+', expected LEVEL or ROOM=LEVEL; levels: debug, info, warn, off; "
                                  "rooms: topology, elaborate, launch, run, study, web, models$")

    def test_files_that_cannot_be_written_are_told(self):
        status, _, err = self.logs("--log", "/no/such/folder/x.log", *RUN)
        self.assertEqual((status, err), (2, "--log: /no/such/folder/x.log: cannot be written: No such file or directory\n"))
        status, _, err = self.logs("--log", "/dev/full", *RUN)
        self.assertEqual((status, err), (1, "kernbench: /dev/full: cannot be written to: No space left on device\n"))
        self.assertEqual(self.logs("--log", "", *RUN)[0], 2)
        status, _, err = self.logs("--log", self.path("x"), *RUN, "--oplog", self.path("x"))
        self.assertEqual(status, 2, err)
        self.assertIn("--log", err)

    def test_warnings_are_what_they_were_and_can_be_switched_off(self):
        words = [*RUN, "--set", "edge:memory.bw_gbs=16"]
        self.assertRegex(self.logs(*words)[2], "^kernbench: warning: sip0.cube0.hbm_ctrl.pe0 and 7 more: .*\n$")
        self.assertEqual(self.logs("--log-level", "off", *words)[2], "")

    def test_the_other_programs_have_the_same_options(self):
        replay = os.environ["KERNBENCH_REPLAY"]
        log = self.path("x.jsonl")
        self.assertEqual(self.logs(*RUN, "--oplog", log)[0], 0)
        status, _, err = self.logs("--log-level", "info", "replay", "--oplog", log, program=replay)
        self.assertEqual(status, 0, err)
        self.assertRegex(err, r"run: read .*x\.jsonl: \d+ records")
        self.assertEqual(self.logs("--log-level", "loud", "replay", "--oplog", log, program=replay)[0], 2)
        web = os.path.join(os.path.dirname(cli_support.KERNBENCH), "kernbench-web")
        if os.path.exists(web):
            for words in (["--log-level", "loud", "web"], ["web", "--log-level", "loud"]):
                self.assertEqual(self.logs(*words, self.folder)[0], 2, words)


if __name__ == "__main__":
    cli_support.main()
