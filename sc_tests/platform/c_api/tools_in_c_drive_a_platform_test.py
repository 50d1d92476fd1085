# SPDX-License-Identifier: Apache-2.0
"""The C interface as a tool sees it that knows no C++: Python loads the library by dlopen and calls it by ctypes, in a
process of its own for each case, since there is one simulation a process."""
import json
import os
import re
import subprocess
import sys

import cli_support
from cli_support import topology

LIBRARY = os.environ["KERNBENCH_C_LIBRARY"]
HEADER = os.path.join(os.environ["KERNBENCH_SOURCE"], "platform/c_api/kernbench_c.h")
ONE_PE = """
materialize: outputs
timing: {{links: cut_through, response: routed, header_bytes: 16}}
nodes:
- {{id: pe.pe_cpu, kind: pe_cpu, attrs: {{overhead_ns: 2}}}}
- {{id: pe.pe_scheduler, kind: pe_scheduler, attrs: {{overhead_ns: 1}}}}
- {{id: pe.pe_dma, kind: pe_dma, attrs: {{queue_depth: 2}}}}
- {{id: pe.pe_fetch_store, kind: pe_fetch_store}}
- {{id: pe.pe_gemm, kind: pe_gemm, attrs: {{macs_per_cycle: 4096, freq_ghz: 1, rates: {{f32: 0.5}}}}}}
- {{id: pe.pe_math, kind: pe_math, attrs: {{lanes: 128, freq_ghz: 1, cycles: {{exp: 4}}}}}}
- {{id: pe.pe_tcm, kind: pe_tcm, attrs: {{size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512}}}}
- {{id: r, kind: router, attrs: {{overhead_ns: 1}}}}
- {{id: hbm, kind: hbm_ctrl, {hbm}}}
- {{id: cpu, kind: port, attrs: {{bus_width: 128}}}}
links:
- {{from: pe.pe_dma, to: r, distance_mm: 0.5, bw_gbs: 256}}
- {{from: r, to: hbm, distance_mm: 2.5, bw_gbs: 256}}
- {{from: cpu, to: r, distance_mm: 0.5, bw_gbs: 256}}
memories:
- {{node: hbm, space: hbm, base: 0, size: 16777216}}
"""
OURS, THEIRS = ONE_PE.format(hbm="attrs: {overhead_ns: 10}"), ONE_PE.format(hbm="impl: builtin.hbm_tlm")

# Beginning of each case: the declarations that a user of ctypes would write.
PREAMBLE = '''
import ctypes, json, struct, sys, threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
lib = ctypes.CDLL(sys.argv[1])
lib.kernbench_last_error.restype = lib.kernbench_version.restype = c_char_p
lib.kernbench_advance.argtypes = [c_double]
OK, FAILED, BAD_INPUT, BAD_STATE = 0, 1, 2, 3
Done = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_double)
Access = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_uint64, c_void_p, c_uint64, POINTER(c_double))
Interrupt = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_double)
class Pair(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]
def pairs(**all):
    return (Pair * len(all))(*[Pair(k.encode(), str(v).encode()) for k, v in all.items()]), c_size_t(len(all))
def error():
    return lib.kernbench_last_error().decode()
def ok(status):
    assert status == OK, (status, error())
def fails(expected, saying, status):
    assert status == expected and saying in error() and error(), (status, error())
def create(file, name=b"npu"):
    p = c_void_p()
    ok(lib.kernbench_create(name, file.encode(), None, c_size_t(0), byref(p)))
    return p
def add_job(p, kernel, verify=0, pes=None, **params):
    j = c_void_p()
    ok(lib.kernbench_add_job(p, kernel, *pairs(**params), pes, verify, byref(j)))
    return j
def address_of(job, tensor):
    address, nbytes = c_uint64(), c_uint64()
    ok(lib.kernbench_job_range(job, tensor, c_size_t(0), byref(address), byref(nbytes)))
    return address
def now():
    ns = c_double()
    ok(lib.kernbench_now(byref(ns)))
    return ns.value
class Memory:
    """A tool's own: bytes, and a latency for each access."""
    def __init__(self, size, latency_ns):
        self.bytes, self.calls, self.fail = bytearray(size), [], False
        def access(user, write, untimed, address, data, nbytes, latency):
            self.calls.append(("write" if write else "read", bool(untimed), address, nbytes))
            if self.fail or address + nbytes > size:
                return 1
            if write:
                self.bytes[address:address + nbytes] = ctypes.string_at(data, nbytes)
            else:
                ctypes.memmove(data, bytes(self.bytes[address:address + nbytes]), nbytes)
            latency[0] = latency_ns
            return 0
        self.access = Access(access)
'''


class CInterface(cli_support.FolderCli):
    def file(self, text, name="t.yaml"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def case(self, code, *arguments):
        """What the code prints; nothing else may come to stdout, and the process must end by itself."""
        done = subprocess.run([sys.executable, "-c", PREAMBLE + code, LIBRARY, *arguments], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=100 * cli_support.TIMES_LONGER)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_only_the_interface_is_seen(self):
        names = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", LIBRARY], check=True, capture_output=True,
                               text=True).stdout
        seen = {line.split()[0].split("@")[0] for line in names.splitlines()}
        with open(HEADER) as f:
            declared = set(re.findall(r"KERNBENCH_C_API .*?(kernbench_\w+)\(", f.read()))
        self.assertGreater(len(declared), 25)
        self.assertEqual(seen, declared | {"sc_main"})

    def test_the_header_is_c(self):
        source = self.file('#include "kernbench/platform/c_api/kernbench_c.h"\nint main(void) { return kernbench_c_abi(); }\n',
                           "h.c")
        subprocess.run(["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I",
                        os.environ["KERNBENCH_INCLUDE"], source], check=True)

    def test_a_run_is_the_command_lines(self):
        out = self.case('''
p = create(sys.argv[2])
report = c_char_p()
ok(lib.kernbench_run_kernel(p, b"gemm", *pairs(m=64, n=64, k=64), None, 1, byref(report)))
print(report.value.decode())
fails(BAD_INPUT, "no_such", lib.kernbench_run_kernel(p, b"no_such", None, c_size_t(0), None, 1, byref(report)))
fails(BAD_INPUT, "m", lib.kernbench_run_kernel(p, b"gemm", *pairs(m=-1), None, 1, byref(report)))
ok(lib.kernbench_destroy(p))
''', topology("small.yaml"))
        ours = json.loads(out)
        theirs = json.loads(self.succeeds("run", "--topology", topology("small.yaml"), "--kernel", "gemm", "--param", "m=64",
                                          "--param", "n=64", "--param", "k=64", "--verify", "--format", "json"))
        self.assertEqual(set(ours), set(theirs))
        for key in ("kernel", "params", "end_ns", "pes", "engines"):
            if key in theirs:
                self.assertEqual(ours[key], theirs[key], key)

    def test_settings_go_over_the_file(self):
        self.case('''
p = c_void_p()
one = (Pair * 1)(Pair(b"no.such.node.overhead_ns", b"1"))
fails(BAD_INPUT, "no.such.node", lib.kernbench_create(b"npu", sys.argv[2].encode(), one, c_size_t(1), byref(p)))
one[0] = Pair(b"hbm.overhead_ns", b"60")
ok(lib.kernbench_create(b"npu", sys.argv[2].encode(), one, c_size_t(1), byref(p)))
port, data = c_void_p(), ctypes.create_string_buffer(64)
ok(lib.kernbench_open_port(p, b"cpu", byref(port)))
ok(lib.kernbench_read(port, c_uint64(0), data, c_uint64(64)))
assert 60 < now() < 70, now()
''', self.file(OURS))

    def test_a_port_a_job_and_its_result(self):
        self.case('''
p = create(sys.argv[2])
port, job = c_void_p(), None
ok(lib.kernbench_open_port(p, b"cpu", byref(port)))
job = add_job(p, b"vector_add", 1, n=8)
a, b = struct.pack("8f", *range(8)), struct.pack("8f", *range(0, 80, 10))
ok(lib.kernbench_write(port, address_of(job, b"a"), a, c_uint64(32)))
assert now() > 0
ok(lib.kernbench_job_place(job, b"b", b, c_uint64(32)))
fails(BAD_INPUT, "tensor b: found 31 bytes; legal: 32", lib.kernbench_job_place(job, b"b", b, c_uint64(31)))
fails(BAD_INPUT, "no such tensor", lib.kernbench_job_place(job, b"zz", b, c_uint64(32)))
start, end = c_double(), c_double()
fails(BAD_STATE, "has not completed", lib.kernbench_job_result(job, byref(start), byref(end)))
ok(lib.kernbench_job_run(job))
ok(lib.kernbench_job_result(job, byref(start), byref(end)))
assert 0 < start.value < end.value <= now(), (start, end, now())
passed = c_int()
ok(lib.kernbench_job_verify(job, byref(passed)))
assert passed.value == 1
c = ctypes.create_string_buffer(32)
ok(lib.kernbench_read(port, address_of(job, b"c"), c, c_uint64(32)))
assert struct.unpack("8f", c.raw) == tuple(11.0 * i for i in range(8)), struct.unpack("8f", c.raw)
other = ctypes.create_string_buffer(32)
ok(lib.kernbench_job_read(job, b"c", other, c_uint64(32)))
assert other.raw == c.raw
# It may be started again, and simulated in slices.
ok(lib.kernbench_job_start(job))
running, slices = c_int(1), 0
while running.value:
    ok(lib.kernbench_advance(10)); slices += 1
    ok(lib.kernbench_job_running(job, byref(running)))
assert slices > 1
# It may be ended, or its PE be reset, in the middle.
for end in (lambda: lib.kernbench_job_abort(job), lambda: lib.kernbench_reset(p, b"")):
    ok(lib.kernbench_job_start(job))
    ok(lib.kernbench_advance(5))
    ok(end())
    running = c_int(1)
    while running.value:
        ok(lib.kernbench_advance(10))
        ok(lib.kernbench_job_running(job, byref(running)))
    fails(FAILED, "", lib.kernbench_job_result(job, byref(start), byref(end_ns := c_double())))
fails(BAD_INPUT, "no_part", lib.kernbench_reset(p, b"no_part"))
ok(lib.kernbench_job_run(job))
ok(lib.kernbench_job_verify(job, byref(passed)))
assert passed.value == 1
ok(lib.kernbench_destroy(p))
''', self.file(OURS))

    def test_a_memory_of_the_tools(self):
        self.case('''
p = create(sys.argv[2])
memory = Memory(1 << 24, 40.0)
ok(lib.kernbench_bind_memory(p, b"hbm", memory.access, None))
fails(BAD_INPUT, "bound already", lib.kernbench_bind_memory(p, b"hbm", memory.access, None))
report = c_char_p()
ok(lib.kernbench_run_kernel(p, b"vector_add", *pairs(n=1024), None, 1, byref(report)))
timed = [c for c in memory.calls if not c[1]]
assert {c[0] for c in timed} == {"read", "write"} and any(c[1] for c in memory.calls), memory.calls
assert sum(c[3] for c in timed if c[0] == "read") == 8192 and sum(c[3] for c in timed if c[0] == "write") == 4096
first = json.loads(report.value)["end_ns"]
memory.fail = True
fails(FAILED, "hbm", lib.kernbench_run_kernel(p, b"vector_add", *pairs(n=1024), None, 1, byref(report)))
assert first > 80, first
''', self.file(THEIRS))

    def test_a_host_with_registers_dma_and_interrupt(self):
        self.case('''
REGISTERS, DOORBELL, INTERRUPT, DMA_DEVICE, DMA_HOST, DMA_BYTES, DMA_COMMAND = 1 << 51, 8, 0x20, 0x30, 0x38, 0x40, 0x48
p = create(sys.argv[2])
host, memory, seen = c_void_p(), Memory(4096, 25.0), []
interrupt = Interrupt(lambda user, level, ns: seen.append((level, ns)))
ok(lib.kernbench_open_host(p, 0, byref(host)))
ok(lib.kernbench_bind_host_memory(p, 0, memory.access, None))
ok(lib.kernbench_on_interrupt(p, 0, interrupt, None))
fails(BAD_INPUT, "SIP 7", lib.kernbench_open_host(p, 7, byref(host)))
def register(offset, value):
    ok(lib.kernbench_write(host, c_uint64(REGISTERS + offset), struct.pack("Q", value), c_uint64(8)))
job = add_job(p, b"gather", 1, b"sip0.cube0.pe0", n=16, rows=32, cols=8)
for tensor in (b"x", b"idx"):
    ok(lib.kernbench_job_place_random(job, tensor, c_uint64(3)))
number = c_uint64()
ok(lib.kernbench_job_doorbell(job, 0, byref(number)))
register(DOORBELL, number.value)
while not seen:
    ok(lib.kernbench_advance(100))
assert seen[0][0] == 1 and 0 < seen[0][1] <= now()
register(INTERRUPT, 1)
ok(lib.kernbench_advance(1))
assert [level for level, _ in seen] == [1, 0], seen
passed = c_int()
ok(lib.kernbench_job_verify(job, byref(passed)))
assert passed.value == 1
x = ctypes.create_string_buffer(32 * 8 * 4)
ok(lib.kernbench_job_read(job, b"x", x, c_uint64(len(x))))
for offset, value in ((DMA_DEVICE, address_of(job, b"x").value), (DMA_HOST, 512), (DMA_BYTES, len(x)), (DMA_COMMAND, 1)):
    register(offset, value)
while len(seen) < 3:
    ok(lib.kernbench_advance(100))
assert bytes(memory.bytes[512:512 + len(x)]) == x.raw and memory.calls
fails(FAILED, "doorbell 9", lib.kernbench_write(host, c_uint64(REGISTERS + DOORBELL), struct.pack("Q", 9), c_uint64(8)))
''', topology("small.yaml"))

    def test_accesses_under_way_tell_when_they_are_done(self):
        self.case('''
p = create(sys.argv[2])
port, done, inside = c_void_p(), [], []
ok(lib.kernbench_open_port(p, b"cpu", byref(port)))
data = ctypes.create_string_buffer(256)
def ended(user, status, error, ns):
    inside.append((lib.kernbench_advance(1), lib.kernbench_destroy(p)))
    done.append((user, status, ns))
call = Done(ended)
for i in range(3):
    ok(lib.kernbench_access(port, 0, c_uint64(256 * i), data, c_uint64(256), call, c_void_p(i + 1)))
ok(lib.kernbench_access(port, 0, c_uint64(1 << 40), data, c_uint64(4), call, c_void_p(9)))
ok(lib.kernbench_advance(1000))
assert now() == 1000, now()
assert sorted(d[0] for d in done) == [1, 2, 3, 9], done
assert [d[1] for d in sorted(done)] == [OK, OK, OK, FAILED], done
assert inside == [(BAD_STATE, BAD_STATE)] * 4, inside
# With accesses under way: it goes, and nothing is called afterwards.
ok(lib.kernbench_access(port, 0, c_uint64(0), data, c_uint64(256), call, None))
ok(lib.kernbench_destroy(p))
ok(lib.kernbench_advance(1000))
assert len(done) == 4
''', self.file(OURS))

    def test_wrong_use_is_a_status_and_a_text(self):
        broken = self.file("timing: {links: fast}\nnodes: 7\n", "broken.yaml")
        self.case('''
p, port, job, number = c_void_p(), c_void_p(), c_void_p(), c_uint64()
new = lambda name, file: lib.kernbench_create(name, file, None, c_size_t(0), byref(p))
fails(BAD_INPUT, "no_such.yaml", new(b"npu", b"no_such.yaml"))
fails(BAD_INPUT, "broken.yaml:1: timing.links: found 'fast'", new(b"npu", sys.argv[3].encode()))
assert len(error().splitlines()) == 3, error()
for name in (b"", b"1a", b"a.b", b"a b"):
    fails(BAD_INPUT, "legal: a letter", new(name, sys.argv[2].encode()))
fails(BAD_INPUT, "name: found null", new(None, sys.argv[2].encode()))
fails(BAD_INPUT, "platform: found null", lib.kernbench_create(b"npu", sys.argv[2].encode(), None, c_size_t(0), None))
fails(BAD_INPUT, "settings: found null", lib.kernbench_create(b"npu", sys.argv[2].encode(), None, c_size_t(1), byref(p)))
fails(BAD_INPUT, "platform: is none", lib.kernbench_open_port(None, b"cpu", byref(port)))
fails(BAD_INPUT, "platform: is none", lib.kernbench_destroy(c_void_p(12345)))
# Made, gone, and made again, as long as nothing has been simulated; two of them, too.
first = create(sys.argv[2])
ok(lib.kernbench_destroy(first))
fails(BAD_INPUT, "platform: is none", lib.kernbench_destroy(first))
first, second = create(sys.argv[2]), create(sys.argv[2], b"other")
fails(BAD_INPUT, "'other' is taken", new(b"other", sys.argv[2].encode()))
fails(BAD_INPUT, "cpu", lib.kernbench_open_port(first, b"cpu7", byref(port)))
ok(lib.kernbench_open_port(first, b"cpu", byref(port)))
fails(BAD_INPUT, "bound already", lib.kernbench_open_port(first, b"cpu", byref(port)))
data = ctypes.create_string_buffer(16)
fails(BAD_INPUT, "data: found null", lib.kernbench_read(port, c_uint64(0), None, c_uint64(16)))
for nbytes in (0, 1 << 31):
    fails(BAD_INPUT, "bytes: found", lib.kernbench_read(port, c_uint64(0), data, c_uint64(nbytes)))
fails(BAD_INPUT, "done: found null", lib.kernbench_access(port, 0, c_uint64(0), data, c_uint64(4), None, None))
fails(BAD_INPUT, "port: is none", lib.kernbench_read(c_void_p(7), c_uint64(0), data, c_uint64(16)))
for ns in (0.0, -1.0, float("nan"), float("inf"), 1e300):
    fails(BAD_INPUT, "ns: found", lib.kernbench_advance(ns))
fails(BAD_INPUT, "kernel", lib.kernbench_add_job(first, b"zz", None, c_size_t(0), None, 0, byref(job)))
fails(BAD_INPUT, "nn", lib.kernbench_add_job(first, b"vector_add", *pairs(nn=1), None, 0, byref(job)))
fails(BAD_INPUT, "pe77", lib.kernbench_add_job(first, b"vector_add", None, c_size_t(0), b"pe77", 0, byref(job)))
fails(BAD_INPUT, "job: is none", lib.kernbench_job_run(job))
job = add_job(first, b"vector_add", n=8)
fails(BAD_INPUT, "pcie_ep", lib.kernbench_job_doorbell(job, 0, byref(number)))
other_thread = []
thread = threading.Thread(target=lambda: other_thread.append((lib.kernbench_advance(1), error())))
thread.start(); thread.join()
assert other_thread[0][0] == BAD_STATE and "another thread" in other_thread[0][1], other_thread
ok(lib.kernbench_advance(5))
assert now() == 5
status = lib.kernbench_read(port, c_uint64(1 << 40), data, c_uint64(16))
assert status == FAILED and error(), (status, error())
# From here on there is no other machine.
fails(BAD_STATE, "has begun", new(b"late", sys.argv[2].encode()))
fails(BAD_STATE, "has begun", lib.kernbench_open_port(second, b"cpu", byref(port)))
ok(lib.kernbench_destroy(second))
fails(FAILED, "memory that was never written", lib.kernbench_job_run(job))
for tensor in (b"a", b"b"):
    ok(lib.kernbench_job_place_random(job, tensor, c_uint64(1)))
ok(lib.kernbench_job_run(job))
ok(lib.kernbench_destroy(first))
fails(BAD_INPUT, "job: is none", lib.kernbench_job_run(job))
fails(BAD_STATE, "has begun", new(b"npu", sys.argv[2].encode()))
''', self.file(OURS), broken)

    def test_what_is_not_now_is_a_bad_state(self):
        self.case('''
p = create(sys.argv[2])
job, passed = add_job(p, b"vector_add", verify=1, n=64), c_int()
fails(BAD_STATE, "has completed", lib.kernbench_job_verify(job, byref(passed)))
for name in (b"a", b"b"):
    ok(lib.kernbench_job_place_random(job, name, c_uint64(1)))
ok(lib.kernbench_job_start(job))
fails(BAD_STATE, "while it runs", lib.kernbench_job_start(job))
fails(BAD_STATE, "while it runs", lib.kernbench_job_run(job))
fails(BAD_STATE, "has completed", lib.kernbench_job_verify(job, byref(passed)))
ok(lib.kernbench_advance(1e5))
ok(lib.kernbench_job_verify(job, byref(passed)))
assert passed.value == 1
unverified = add_job(p, b"vector_add", n=64)
fails(BAD_INPUT, "verify", lib.kernbench_job_verify(unverified, byref(passed)))
''', self.file(OURS))

    def test_a_memory_that_fails_says_where(self):
        """The tool's own callback has no words for it."""
        self.case('''
p = create(sys.argv[2])
memory, port, data = Memory(1 << 24, 40.0), c_void_p(), ctypes.create_string_buffer(64)
ok(lib.kernbench_bind_memory(p, b"hbm", memory.access, None))
ok(lib.kernbench_open_port(p, b"cpu", byref(port)))
ok(lib.kernbench_read(port, c_uint64(4096), data, c_uint64(64)))
memory.fail = True
fails(FAILED, "read of 64 bytes at 0x1000", lib.kernbench_read(port, c_uint64(4096), data, c_uint64(64)))
fails(FAILED, "write of 16 bytes at 0x2000", lib.kernbench_write(port, c_uint64(8192), data, c_uint64(16)))
memory.fail = False
ok(lib.kernbench_read(port, c_uint64(4096), data, c_uint64(64)))
''', self.file(THEIRS))

    def test_a_memory_that_nobody_binds_is_told(self):
        self.case('''
p = create(sys.argv[2])
fails(FAILED, "no model is bound", lib.kernbench_advance(1))
assert lib.kernbench_advance(1) != OK and error()
''', self.file(THEIRS))


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("Python is not built with them")
    cli_support.main()
