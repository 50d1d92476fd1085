# SPDX-License-Identifier: Apache-2.0
"""A kernel that crashes, overflows its stack or never ends: is it named, with its PE and source line, whatever ends the
run, and is the op log readable?"""
import json
import os
import re
import signal
import subprocess
import tempfile
import time

import cli_support
from cli_support import topology

CODE = r"""
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
#include <unistd.h>
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"
using namespace kernbench;
namespace {
volatile int zero = 0, one = 1;
[[gnu::noinline]] int dig(volatile char* above, int64_t kib) {
  volatile char block[1024];
  block[0] = above[0];
  return kib == 0 ? block[0] : dig(block, kib - 1) + block[0];
}
[[gnu::noinline]] void reach(int64_t kib) {
  volatile char* array = static_cast<volatile char*>(__builtin_alloca(kib << 10));
  array[0] = 1;  // LINE array
}
void misbehave(tl::Context& tl, const tl::Args& args) {
  const std::string& how = args.choice("how");
  const auto x = tl.load(args["x"]);  // LINE load
  if (tl.index() != 1) return;
  if (const char* started = std::getenv("STARTED")) std::fclose(std::fopen(started, "w"));
  volatile char first = 0;
  char program[] = "true", *words[] = {program, nullptr};
  if (how == "stack") dig(&first, args.integer("kib"));
  if (how == "array") reach(args.integer("kib"));
  if (how == "segv") *reinterpret_cast<volatile int*>(16) = 1;  // LINE segv
  if (how == "fpe") one = one / zero;  // LINE fpe
  if (how == "abort") std::abort();  // LINE abort
  if (how == "exit") std::exit(0);  // LINE exit
  if (how == "quick_exit") std::quick_exit(3);  // LINE quick_exit
  if (how == "_exit") _exit(0);  // LINE _exit
  if (how == "_Exit") std::_Exit(-1);  // LINE _Exit
  if (how == "raise") raise(SIGTERM);  // LINE raise
  if (how == "user") raise(SIGUSR1);  // LINE user
  if (how == "kill") kill(getpid(), SIGHUP);  // LINE kill
  if (how == "fork") fork();  // LINE fork
  if (how == "vfork" && vfork() == 0) _exit(0);  // LINE vfork
  if (how == "execl") execl("/bin/true", "true", static_cast<char*>(nullptr));  // LINE execl
  if (how == "execvp") execvp("true", words);  // LINE execvp
  if (how == "execve") execve("/bin/true", words, environ);  // LINE execve
  if (how == "crashing") std::thread([] { *static_cast<volatile int*>(nullptr) = 1; }).join();
  if (how == "throwing") std::thread([] { throw 1; }).join();
  if (how == "joined") std::thread([] {}).join();
  if (how == "left") std::thread([] { sleep(100); }).detach();
  if (how == "exiting") std::thread([] { std::exit(0); }).join();
  if (how == "throw") throw 1;
  if (how == "memory") throw std::bad_alloc();
  if (how == "tcm") tl.full({1 << 20, 1 << 10}, 1, DType::f32);  // LINE tcm
  if (how == "slice") x.slice(0, 60, 5);  // LINE slice
  if (how == "indices") x(0, 0);  // LINE indices
  while (how == "spin") one = one + 1;  // LINE spin
  while (how == "elapse") tl.elapse(1);  // LINE elapse
  while (how == "loads") tl.load(args["x"]);  // LINE loads
  while (how == "stores") tl.store_async(args["x"], x);  // LINE stores
}
KernelSpec spec() {
  KernelSpec k;
  k.name = "misbehave";
  k.params = {ParamSpec::choice("how", {"stack", "array", "segv", "fpe", "abort", "exit", "quick_exit", "_exit", "_Exit", "raise", "user", "kill", "fork", "vfork", "execl", "execvp", "execve", "crashing", "throwing", "joined", "left", "exiting", "throw", "memory", "tcm", "slice", "indices", "spin", "elapse", "loads", "stores"}, "what it does"),
              ParamSpec::size("kib", 1, "about how much stack it takes")};
  const auto shape = [](const Params&) { return Dims{64}; };
  k.tensors = {{"x", TensorSpec::Role::in, shape, [](const Params&) { return DType::f32; }, Placement::replicate,
                Init::uniform()}};
  k.function = misbehave;
  return k;
}
const RegisterKernel registered{spec()};
}  // namespace
KERNBENCH_PLUGIN("misbehave")
"""
LINES = {m[1]: number for number, line in enumerate(CODE.splitlines(), 1) if (m := re.search(r"// LINE (\w+)", line))}


class Signals(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = cls.kept.name
        with open(f"{cls.folder}/bad.cpp", "w") as f:
            f.write(CODE)
        cli_support.build_plugin(f"{cls.folder}/bad.cpp", f"{cls.folder}/with.so", "-g")
        subprocess.run(["strip", "--strip-debug", f"{cls.folder}/with.so", "-o", f"{cls.folder}/without.so"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def test_the_stacks_of_many_kernels_fit_a_limit_on_address_space(self):
        for mib in (600, 1000, 4000):
            ran = subprocess.run(["bash", "-c", f"ulimit -v {mib << 10}; exec \"$@\"", "run", cli_support.KERNBENCH, "run", "--kernel",
                                  "vector_add", "--topology", topology("default.yaml"), "--verify"],
                                 capture_output=True, text=True, check=False)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), mib)

    def command(self, how, *more, lines="with"):
        return ("run", "--topology", topology("small.yaml"), "--plugin", f"{self.folder}/{lines}.so", "--kernel",
                "misbehave", "--param", f"how={how}", *more)

    def test_a_stack_that_is_too_small_is_told(self):
        self.succeeds(*self.command("stack", "--param", "kib=128"))
        said = "sip0.cube0.pe1: kernel misbehave needs more than its stack of 256 KiB"
        self.refuses(*self.command("stack", "--param", "kib=100000"), status=1, lines=1, saying=[said, ", at bad.cpp:"])
        # An array whose only touched page is its first one, beyond the page that SystemC protects.
        self.succeeds(*self.command("array", "--param", "kib=200"))
        for kib in (256, 300, 1000, 1200):
            self.refuses(*self.command("array", "--param", f"kib={kib}"), status=1, lines=1,
                         saying=[said, f", at bad.cpp:{LINES['array']}\n"])

    def test_guards_of_stacks_take_what_the_address_space_has(self):
        run = [cli_support.KERNBENCH, "run", "--topology", topology("default.yaml"), "--kernel", "vector_add", "--launch", "direct"]
        needed = 64
        while subprocess.run(["prlimit", f"--as={needed << 20}", *run], capture_output=True).returncode:
            needed += 16
        self.assertLess(needed, 512 * cli_support.TIMES_LONGER)

    def test_a_crash_is_told_in_a_line(self):
        for how, name in (("segv", "SIGSEGV"), ("fpe", "SIGFPE"), ("abort", "SIGABRT")):
            self.refuses(*self.command(how), status=1, lines=1,
                         saying=[f"kernbench: sip0.cube0.pe1: kernel misbehave ends by {name}, at bad.cpp:{LINES[how]}\n"])
            self.refuses(*self.command(how, lines="without"), status=1, lines=1,
                         saying=[f"kernel misbehave ends by {name}, behind bad.cpp:{LINES['load']}\n"])
        self.refuses(*self.command("throw"), status=1, lines=1,
                     saying=[f"sip0.cube0.pe1: behind bad.cpp:{LINES['load']}: the kernel throws an object that is not a std::exception"])

    def test_a_kernel_that_ends_the_program_is_no_success(self):
        for how, status in (("exit", 0), ("quick_exit", 3), ("_exit", 0), ("_Exit", -1)):
            self.refuses(*self.command(how), status=1, lines=1,
                         saying=[f"kernbench: sip0.cube0.pe1: kernel misbehave ends the program by {how}({status}), "
                                 f"at bad.cpp:{LINES[how]}\n"])
        for how, words in (("raise", "ends the program by raise(15)"), ("user", "ends the program by raise(10)"),
                           ("kill", "ends the program by kill(1)"), ("fork", "copies the program by fork(0)"),
                           ("vfork", "copies the program by vfork(0)"), ("execl", "replaces the program by execv(0)"),
                           ("execvp", "replaces the program by execvp(0)"), ("execve", "replaces the program by execve(0)")):
            self.refuses(*self.command(how), status=1, lines=1,
                         saying=[f"kernbench: sip0.cube0.pe1: kernel misbehave {words}, at bad.cpp:{LINES[how]}\n"])
        self.refuses(*self.command("exiting"), status=1, lines=1,
                     saying=["kernbench: a plug-in or one of its threads ends the program by exit(0)\n"])

    def test_a_point_whose_kernel_ends_the_program_has_failed(self):
        status, out, err = self.run_cli("sweep", "--over", "param.how=exit,joined", "--", *self.command("exit")[:-2])
        self.assertEqual(status, 1, err)
        self.assertIn("exit,1,", out)
        self.assertIn("joined,0,", out)

    def test_a_thread_that_a_kernel_leaves_is_told(self):
        self.succeeds(*self.command("joined"))
        status, _, err = self.run_cli(*self.command("left"))
        self.assertEqual((status, err), (1, "kernbench: sip0.cube0.pe1: a thread that kernel misbehave began still runs, "
                                         f"behind {self.folder}/bad.cpp:{LINES['load']}\n"))

    def test_a_thread_of_a_kernel_that_crashes_is_told(self):
        for how, name in (("crashing", "SIGSEGV"), ("throwing", "SIGABRT")):
            status, _, err = self.run_cli(*self.command(how))
            self.assertEqual((status, err.splitlines()[-1]),
                             (1, f"kernbench: sip0.cube0.pe1: a thread that kernel misbehave began ends by {name}"))

    def test_plugins_that_end_or_throw_while_they_are_loaded_are_refused(self):
        late = f"--plugin {self.folder}/late.so, while it is loaded or unloaded,"
        for does, status, words in (("std::exit(0)", 1, f"{late} ends the program by exit(0)"),
                                    ("_exit(0)", 1, f"{late} ends the program by _exit(0)"),
                                    ("std::abort()", 1, f"{late} ends by SIGABRT"),
                                    ("*reinterpret_cast<volatile int*>(16) = 1", 1, f"{late} ends by SIGSEGV"),
                                    ("throw 42", 2, "late.so: throws an object that is not a std::exception while it is loaded"),
                                    ('throw std::runtime_error("no licence")', 2,
                                     "late.so: throws while it is loaded: no licence")):
            with open(f"{self.folder}/late.cpp", "w") as f:
                f.write('#include <cstdlib>\n#include <stdexcept>\n#include <unistd.h>\n#include "kernbench/kernel_api/plugin.h"\n'
                        f'const int at_load = [] {{ {does}; return 0; }}();\nKERNBENCH_PLUGIN("late")\n')
            cli_support.build_plugin(f"{self.folder}/late.cpp", f"{self.folder}/late.so")
            self.refuses("run", "--topology", topology("small.yaml"), "--plugin", f"{self.folder}/late.so", "--kernel",
                         "gemm", status=status, lines=1, saying=[words])

    def test_plugins_that_end_the_program_while_they_are_unloaded_are_no_success(self):
        for does, words in (("_exit(0)", "ends the program by _exit(0)"), ("std::abort()", "ends by SIGABRT")):
            with open(f"{self.folder}/late.cpp", "w") as f:
                f.write('#include <cstdlib>\n#include <unistd.h>\n#include "kernbench/kernel_api/plugin.h"\n'
                        '#include "kernbench/kernel_api/registry.h"\n'
                        f'struct AtUnload {{ ~AtUnload() {{ {does}; }} }} at_unload;\n'
                        'kernbench::KernelSpec spec() { kernbench::KernelSpec k; k.name = "late"; return k; }\n'
                        'const kernbench::RegisterKernel registered{spec()};\nKERNBENCH_PLUGIN("late")\n')
            cli_support.build_plugin(f"{self.folder}/late.cpp", f"{self.folder}/late.so")
            status, _, err = self.run_cli("list", "kernels", "--plugin", f"{self.folder}/late.so")
            self.assertEqual((status, err), (1, f"kernbench: --plugin {self.folder}/late.so, while it is loaded or unloaded, "
                                             f"{words}\n"))

    def test_lack_of_memory_ends_the_simulation(self):
        trace = f"{self.folder}/memory.json"
        self.refuses(*self.command("memory", "--trace", trace, "--ftr", f"{self.folder}/memory.ftr"), status=1, lines=1,
                     saying=[f"kernbench: sip0.cube0.pe1: behind bad.cpp:{LINES['load']}: this machine's memory does not"])
        self.assertFalse([f for f in os.listdir(self.folder) if f.startswith("memory")])

    def test_faults_name_the_kernels_line(self):
        for how, words in (("tcm", "TCM exhausted: 4294967296 bytes asked"), ("slice", "slice [60, 65) along axis 0"),
                           ("indices", "element of h1 (shape [64] f32): 2 indices given")):
            self.refuses(*self.command(how), status=1, lines=1,
                         saying=[f"kernbench: sip0.cube0.pe1: bad.cpp:{LINES[how]}: {words}"])

    def stopped(self, how, number, *more):
        started = f"{self.folder}/{how}.started"
        run = subprocess.Popen([cli_support.KERNBENCH, *self.command(how, *more)], env={**os.environ, "STARTED": started},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not os.path.exists(started) and run.poll() is None:
            time.sleep(0.01)
        time.sleep(0.1)
        run.send_signal(number)
        out, err = run.communicate(timeout=20)
        self.assertEqual((run.returncode, out), (128 + number, b""), err)
        return err.decode()

    def test_a_signal_says_where_kernels_are(self):
        err = self.stopped("spin", signal.SIGINT)
        self.assertEqual([re.sub("at [0-9]+ ns", "at T ns", line) for line in err.splitlines()],
                         ["kernbench: stopped by SIGINT at T ns of simulated time", "  sip0.cube0.pe1: kernel misbehave runs and "
                                            f"does not return, at bad.cpp:{LINES['spin']}"])
        log = f"{self.folder}/stopped.jsonl"
        err = self.stopped("loads", signal.SIGTERM, "--oplog", log)
        self.assertRegex(err, "kernbench: stopped by SIGTERM at [0-9.]+ ns of simulated time\n"
                         f"  sip0.cube0.pe1: misbehave (waits for dma_read of|runs, behind) bad.cpp:{LINES['loads']}\n$")
        self.refuses("replay", "--oplog", log, saying=["was cut off"])
        self.succeeds("replay", "--oplog", log, "--allow-cut-off")

    def test_a_file_that_may_not_grow_is_told(self):
        for output, file in (("--oplog", "large.jsonl"), ("--vcd", "large.vcd"), ("--trace", "large.json")):
            run = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$0" "$@"', cli_support.KERNBENCH, "run", "--topology",
                                  topology("small.yaml"), "--kernel", "gemm", output, f"{self.folder}/{file}"],
                                 capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout), (1, ""), run.stderr)
            self.assertRegex(run.stderr, "^kernbench: .*large.*: cannot be written to.*: File too large\n$")

    def test_a_signal_at_the_start_is_told(self):
        for wait in range(40):
            run = subprocess.Popen([cli_support.KERNBENCH, *self.command("loads")], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
            caught = 0  # time in the dynamic linker does not count
            while not caught & 1 << (signal.SIGTERM - 1):
                with open(f"/proc/{run.pid}/status") as status:
                    caught = int(re.search("SigCgt:\\s*(\\w+)", status.read())[1], 16)
            time.sleep(wait * 0.0005)
            run.send_signal(signal.SIGTERM)
            out, err = run.communicate(timeout=20)
            self.assertEqual((run.returncode, out), (143, ""), err)
            self.assertIn("kernbench: stopped by SIGTERM", err)

    def test_limits_end_a_run(self):
        for how in ("elapse", "loads", "stores"):
            err = self.refuses(*self.command(how, "--max-time", "5000"), status=1, lines=2,
                               saying=["kernbench: --max-time: not done at ", "ns of simulated time", "sip0.cube0.pe1"])
            self.assertIn(f"bad.cpp:{LINES['load' if how == 'elapse' else how]}", err)
            self.assertLessEqual(float(re.search("at ([0-9.]+) ns", err)[1]), 5000)
        for how in ("spin", "loads"):
            self.refuses(*self.command(how, "--max-wall", str(cli_support.TIMES_LONGER)), status=1, lines=2,
                         saying=["kernbench: --max-wall: not done at ", "ns of simulated time", "sip0.cube0.pe1"])
        gemm = ("run", "--topology", topology("small.yaml"), "--kernel", "gemm", "--format", "json")
        free, limited = (json.loads(self.succeeds(*gemm, *limits))
                         for limits in ((), ("--max-time", "1e6", "--max-wall", "100")))
        for run in (free, limited):
            del run["run"], run["wall_s"]
        self.assertEqual(free, limited)

    def test_limits_that_are_none_are_refused(self):
        for limit in ("0", "-1", "nan", "inf", "1e13", "x", "0x10"):
            self.refuses(*self.command("spin", "--max-time", limit), saying=["--max-time", "a number above 0"], lines=1)


if __name__ == "__main__":
    cli_support.main()
