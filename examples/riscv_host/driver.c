// SPDX-License-Identifier: Apache-2.0
// The driver, on bare metal (RV64GC, one hart, machine mode): two tensors into the device by its DMA, a kernel by its
// doorbell, the sum back by the DMA, and checked; each end is an interrupt. The device's registers: docs/tlm.md.
#include <stdint.h>

enum { N = 64 };  // elements; main.cpp has the same

struct handover {  // from the board, in a0; main.cpp has the same
  uint64_t job, a, b, c;
};

#define CONSOLE UINT64_C(0x10000000)
#define SERIAL (*(volatile uint8_t*)(CONSOLE + 0))      // a character
#define POWER_OFF (*(volatile uint32_t*)(CONSOLE + 4))  // the exit status

#define DEVICE (UINT64_C(1) << 52)  // where the board has the device's window
#define REGISTER(type, offset) (*(volatile type*)(DEVICE + (UINT64_C(1) << 51) + (offset)))
// Unicorn makes two accesses of one of 64 bits: a register that acts when it is written is written by one of 32.
#define ID REGISTER(uint32_t, 0x00)
#define DOORBELL REGISTER(uint32_t, 0x08)
#define STATUS REGISTER(uint32_t, 0x10)
#define INTERRUPT REGISTER(uint32_t, 0x20)
#define DMA_DEVICE REGISTER(uint64_t, 0x30)
#define DMA_HOST REGISTER(uint64_t, 0x38)
#define DMA_BYTES REGISTER(uint64_t, 0x40)
#define DMA_COMMAND REGISTER(uint32_t, 0x48)
enum { LAUNCH_DONE = 1, DMA_DONE = 2 };      // INTERRUPT
enum { LAUNCH_FAILED = 4, DMA_FAILED = 8 };  // STATUS
enum { TO_HOST = 1, TO_DEVICE = 2 };         // DMA_COMMAND
enum { MSTATUS_MIE = 1 << 3, MSTATUS_FS_INITIAL = 1 << 13, MIE_MEIE = 1 << 11 };
#define MACHINE_EXTERNAL_INTERRUPT (UINT64_C(1) << 63 | 11)

static volatile uint32_t happened;
static float a[N], b[N], sum[N];

static void print(const char* text) {
  while (*text) SERIAL = (uint8_t)*text++;
}

static void print_number(uint64_t value) {
  char digits[21], *p = digits + sizeof digits;
  *--p = 0;
  do *--p = (char)('0' + value % 10);
  while (value /= 10);
  print(p);
}

static void power_off(uint32_t status) {
  POWER_OFF = status;
  for (;;) __asm__ volatile("wfi");
}

static void fail(const char* why) {
  print(why);
  print("\n");
  power_off(1);
}

// mtvec has no place for the lowest two bits.
__attribute__((interrupt("machine"), aligned(4))) static void on_trap(void) {
  uint64_t cause;
  __asm__ volatile("csrr %0, mcause" : "=r"(cause));
  if (cause != MACHINE_EXTERNAL_INTERRUPT) fail("a trap that is no external interrupt");
  const uint32_t pending = INTERRUPT;
  INTERRUPT = pending;
  happened |= pending;
}

static void wait_for(uint32_t event) {
  // A pending interrupt ends wfi even while mstatus.MIE masks it, so none is lost between the look and the sleep.
  __asm__ volatile("csrc mstatus, %0" ::"r"(MSTATUS_MIE) : "memory");
  while (!(happened & event))
    __asm__ volatile("wfi\n csrs mstatus, %0\n csrc mstatus, %0" ::"r"(MSTATUS_MIE) : "memory");
  happened &= ~event;
  __asm__ volatile("csrs mstatus, %0" ::"r"(MSTATUS_MIE) : "memory");
}

static void copy(uint32_t command, uint64_t device, const void* host, uint64_t bytes) {
  DMA_DEVICE = device;
  DMA_HOST = (uint64_t)host;
  DMA_BYTES = bytes;
  __asm__ volatile("fence" ::: "memory");  // what the DMA reads is in memory
  DMA_COMMAND = command;
  wait_for(DMA_DONE);
  if (STATUS & DMA_FAILED) fail("the DMA has failed");
}

static __attribute__((used, noreturn)) void driver(const struct handover* given) {
  __asm__ volatile("csrs mstatus, %0" ::"r"(MSTATUS_FS_INITIAL));  // or an instruction on floats is illegal
  __asm__ volatile("csrw mtvec, %0" ::"r"(on_trap));
  __asm__ volatile("csrs mie, %0" ::"r"(MIE_MEIE));
  __asm__ volatile("csrs mstatus, %0" ::"r"(MSTATUS_MIE) : "memory");

  if (ID != 0x4b424348) fail("no device is there");
  for (int i = 0; i < N; ++i) {
    a[i] = (float)i;
    b[i] = (float)(10 * i);
  }
  copy(TO_DEVICE, given->a, a, sizeof a);
  copy(TO_DEVICE, given->b, b, sizeof b);
  print("tensors are in the device\n");

  DOORBELL = (uint32_t)given->job;
  wait_for(LAUNCH_DONE);
  if (STATUS & LAUNCH_FAILED) fail("the kernel has failed");
  print("the kernel is done\n");

  copy(TO_HOST, given->c, sum, sizeof sum);
  uint64_t wrong = 0;
  for (int i = 0; i < N; ++i) wrong += sum[i] != (float)(11 * i);
  print_number(N);
  print(" sums, ");
  print_number(wrong);
  print(" wrong\n");
  power_off(wrong != 0);
  __builtin_unreachable();
}

// The stack grows down from what the board hands over.
__attribute__((naked, used, section(".boot"))) void start(void) {
  __asm__ volatile("mv sp, a0\n j driver");
}
