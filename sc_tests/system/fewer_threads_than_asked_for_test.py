# SPDX-License-Identifier: Apache-2.0
"""Where the system refuses to start threads: does the run go on with fewer, or end in one line?"""
import os
import subprocess
import tempfile

import cli_support
from cli_support import topology

# A pthread_create that limits the number of concurrent threads, as with `ulimit -u`.
CODE = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <atomic>
#include <cerrno>
#include <cstdlib>
static std::atomic<int> alive{0};
struct Start { void* (*run)(void*); void* arg; };
static void* counted(void* start) {
  const Start s = *static_cast<Start*>(start);
  delete static_cast<Start*>(start);
  void* result = s.run(s.arg);
  --alive;
  return result;
}
extern "C" int pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*run)(void*), void* arg) {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (++alive > std::atoi(std::getenv("MOST_THREADS"))) { --alive; return EAGAIN; }
  return real(t, a, counted, new Start{run, arg});
}
"""


class Threads(cli_support.Cli):
    def test_fewer_threads(self):
        with tempfile.TemporaryDirectory() as folder:
            source, library, log = f"{folder}/few.cpp", f"{folder}/few.so", f"{folder}/log.jsonl"
            with open(source, "w") as f:
                f.write(CODE)
            cli_support.build_plugin(source, library, "-ldl")

            def run(most, *arguments):
                done = subprocess.run([cli_support.KERNBENCH, *arguments], capture_output=True,
                                      timeout=60 * cli_support.TIMES_LONGER,
                                      env={**os.environ, "LD_PRELOAD": library, "MOST_THREADS": str(most)})
                return done.returncode, done.stderr.decode()

            gemm = ("run", "--topology", topology("small.yaml"), "--kernel", "gemm")
            told = "kernbench: the system starts {} of 8 threads; the replay continues with those\n"
            self.assertEqual(run(2, *gemm, "--verify", "--threads", "8"), (0, told.format(3)))
            self.assertEqual(run(0, *gemm, "--verify", "--threads", "8", "--oplog", log), (0, told.format(1)))
            self.assertEqual(run(7, "replay", "--oplog", log, "--threads", "8"), (0, ""))
            self.assertEqual(run(1, "replay", "--oplog", log, "--threads", "8"), (0, told.format(2)))
            status, err = run(0, *gemm, "--oplog", f"{folder}/log.sqlite")
            self.assertEqual((status, len(err.splitlines())), (2, 1), err)
            self.assertIn("log.sqlite: no thread can be started to write it", err)


if __name__ == "__main__":
    cli_support.main()
