// Kernels of gathers_atomics_and_flags_move_data_test.py: one access of each kind, selected by parameters; flags; and
// illegal uses.
#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"

KERNBENCH_PLUGIN("access kernels")

namespace {
using namespace kernbench;

const auto i32 = [](const Params&) { return DType::i32; };
const auto u8 = [](const Params&) { return DType::u8; };
const auto own = [](const Params& p) { return p.dtype(); };
const auto size_of_table = [](const Params& p) { return Dims{p.integer("table")}; };
const auto size_of_index = [](const Params& p) { return Dims{p.integer("n")}; };
const auto size_of_value = [](const Params& p) { return Dims{p.integer("n"), p.integer("width")}; };

/// The complete table, in the memories of all PEs over which the tensor is distributed.
void access(tl::Context& tl, const tl::Args& args) {
  if (tl.index() > 0) return;
  const std::string op = args.choice("op");
  const int64_t n = args.integer("n"), width = args.integer("width"), stride = args.integer("stride");
  const tl::View whole = args.whole("t");
  const tl::Ptr table = args.flag("physical") ? args["t"].ptr : whole.ptr;
  if (args.flag("pending_table")) tl.store(whole, tl.load(whole) + 0);
  const auto index = tl.load(args["idx"].ptr, {n});
  const auto mask = args.flag("masked") ? tl.load(args["mask"].ptr, {n}) : tl::Loaded();
  const Dims shape = width > 1 ? Dims{n, width} : Dims{n};
  tl::Tensor value = tl.load(args["v"].ptr, shape);
  if (args.flag("pending_value")) value = value + 0;
  tl::Tensor result = value;
  if (op == "gather") {
    result = tl.gather(table, index, mask, -3, width, stride);
  } else if (op == "scatter") {
    tl.scatter(table, index, value, mask, width, stride);
  } else if (op == "cas") {
    result = tl.atomic_cas(table, index, tl.load(args["e"].ptr, {n}), value, tl::Sem::relaxed);
  } else if (args.flag("returns")) {
    result = tl.atomic(op.c_str(), table, index, value, mask, tl::Sem::acq_rel);
  } else {
    tl.red(op.c_str(), table, index, value, mask, tl::Sem::acq_rel);
  }
  tl.store(args["y"].ptr, result);
  // The contents afterwards, as a load sees them.
  tl.store(args["after"].ptr, tl.load(whole));
}

KernelSpec access_spec() {
  KernelSpec s;
  s.name = "t_access";
  s.help = "one gather, scatter or atomic";
  s.params = {
      ParamSpec::choice("op", {"gather", "scatter", "add", "max", "min", "and", "or", "xor", "xchg", "cas"}, "what"),
      ParamSpec::size("n", 16, "elements"),
      ParamSpec::size("table", 64, "elements of the table"),
      ParamSpec::size("width", 1, "of an element"),
      ParamSpec::size("stride", 1, "of an element"),
      ParamSpec::flag("masked", false, "by mask"),
      ParamSpec::flag("returns", true, "the old values"),
      ParamSpec::flag("physical", false, "through the PE's own shard"),
      ParamSpec::flag("pending_table", false, "is computed"),
      ParamSpec::flag("pending_value", false, "is computed"),
      ParamSpec::dtypes({DType::i32, DType::u32, DType::f32, DType::f16, DType::bf16, DType::i8})};
  s.tensors = {{"t", TensorSpec::Role::in_out, size_of_table, own, Placement::rows, Init::uniform()},
               {"idx", TensorSpec::Role::in, size_of_index, i32, Placement::replicate, Init::uniform()},
               {"mask", TensorSpec::Role::in, size_of_index, u8, Placement::replicate, Init::uniform()},
               {"v", TensorSpec::Role::in, size_of_value, own, Placement::replicate, Init::uniform()},
               {"e", TensorSpec::Role::in, size_of_index, own, Placement::replicate, Init::uniform()},
               {"y", TensorSpec::Role::out, size_of_value, own, Placement::single, {}},
               {"after", TensorSpec::Role::out, size_of_table, own, Placement::single, {}}};
  s.function = access;
  return s;
}

// ---- several PEs

TensorSpec shared(const std::string& name, int64_t n) {
  TensorSpec t{name, TensorSpec::Role::in_out, [n](const Params&) { return Dims{n}; }, i32, Placement::single, {}};
  t.fill = [n](const Params&, uint64_t) { return HostTensor(DType::i32, {n}); };
  return t;
}

/// Every PE draws tickets. Each number must occur once, and the numbers of a PE must increase.
void tickets(tl::Context& tl, const tl::Args& args) {
  const auto one = tl.load(args["zeros"].ptr, {1});
  for (int64_t i = 0; i < 4; ++i) {
    const auto drawn = tl.atomic_add(args["state"].ptr, one, 1);
    tl.store(args["y"].ptr + (tl.index() * 4 + i), drawn);
  }
}

/// The first PE passes a row from PE to PE, with one flag for each.
void relay(tl::Context& tl, const tl::Args& args) {
  const tl::Ptr flags = args["state"].ptr, row = args["row"].ptr;
  if (tl.index() == 0) {
    tl.store(row, tl.load(args["zeros"].ptr, {16}));
  } else {
    const std::string order = args.choice("order");
    if (order != "none") tl.wait_until(flags + tl.index(), tl::Cmp::ge, tl.index());
    tl.store(row, tl.load(row, {16}) + 1);
  }
  if (tl.index() + 1 < tl.size()) {
    if (args.choice("order") == "relaxed") {
      tl.atomic_xchg((flags + (tl.index() + 1)).block({1}), tl.index() + 1, {}, tl::Sem::relaxed);
    } else {
      tl.signal(flags + (tl.index() + 1), tl.index() + 1);
    }
  }
}

/// A barrier with one counter: earlier stores of other PEs can be read after it.
void ticket_barrier(tl::Context& tl, const tl::Args& args) {
  const tl::Ptr count = args["state"].ptr, row = args["row"].ptr;
  tl.store_async(row + tl.index(), tl.tensor(std::vector<int64_t>{tl.index()}, {1}, DType::i32));
  if (args.choice("order") != "none") {
    tl.atomic_add(count.block({1}), 1, {}, args.choice("order") == "relaxed" ? tl::Sem::relaxed : tl::Sem::release);
    tl.wait_until(count, tl::Cmp::ge, tl.size());
  }
  tl.store(args["y"].ptr + tl.index(), tl.load(row + (tl.index() + 1) % tl.size(), {1}));
}

/// Each PE adds its part of a tile's sum along k, with an atomic or (wrongly) without one.
void stream_k(tl::Context& tl, const tl::Args& args) {
  const tl::Block tile = args["state"].ptr.block({8, 8});
  const tl::Tensor x = tl.cast(tl.load(args["zeros"].ptr, {8, 8}), DType::i8);
  const tl::Tensor part = tl.dot(x, x, DType::i32) + (tl.index() + 1);
  if (args.choice("order") == "none") {
    tl.store(tile, tl.load(tile) + part);
  } else {
    tl.red_add(tile, part, {}, tl::Sem::relaxed);
  }
}

/// The same for single elements.
void histogram(tl::Context& tl, const tl::Args& args) {
  const tl::Ptr counts = args["state"].ptr;
  const tl::Tensor index = tl.tensor(std::vector<int64_t>{3, tl.index(), 9, 3}, {4}, DType::i32);
  if (args.choice("order") == "none") {
    tl.scatter(counts, index, tl.gather(counts, index) + 1);
  } else {
    tl.red_add(counts, index, 1, {}, tl::Sem::relaxed);
  }
}

/// Each PE adds to a row under a lock.
void lock(tl::Context& tl, const tl::Args& args) {
  const tl::Ptr next = args["state"].ptr, served = next + 1, row = args["row"].ptr;
  const std::string order = args.choice("order");
  const auto ticket = tl.atomic_add(next.block({1}), 1).item<int64_t>();
  if (order != "none") tl.wait_until(served, tl::Cmp::eq, ticket);
  tl.store(row, tl.load(row, {16}) + 1);
  if (order == "relaxed") {
    tl.atomic_xchg(served.block({1}), ticket + 1, {}, tl::Sem::relaxed);
  } else {
    tl.signal(served, ticket + 1);
  }
}

/// Gathers, scatters and atomics in the cube's SRAM, at a separate place for each PE. y is the final content.
void in_sram(tl::Context& tl, const tl::Args& args) {
  const tl::Ptr own = tl.sram(DType::i32) + 64 * tl.index();
  const tl::Tensor index = tl.tensor(std::vector<int64_t>{5, 2, 7, 2}, {4}, DType::i32);
  tl.store(own, tl.load(args["zeros"].ptr, {8}));
  tl.scatter(own, index, tl.tensor(std::vector<int64_t>{1, 2, 3, 4}, {4}, DType::i32));
  const auto old = tl.atomic_max(own, index, 3);
  if (old(0) != 1 || old(1) != 4 || old(2) != 3 || old(3) != 4)
    throw std::logic_error("an atomic gives what was not there");
  tl.red_add(own, index, tl.gather(own, index) + 10);
  tl.store(args["y"].ptr + 8 * tl.index(), tl.load(own, {8}));
}

/// Waits for an event that never comes. The second PE also waits for a message: at the same time, at its end, in a
/// separate wait, or its signal follows a copy of a message.
void waits_for_ever(tl::Context& tl, const tl::Args& args) {
  const tl::Ptr state = args["state"].ptr;
  if (tl.index() == 0) tl.wait_until(state, tl::Cmp::ge, 7);
  if (tl.index() != 1) return;
  const std::string order = args.choice("order");
  if (order == "relaxed") tl.recv_async("W", {4}, DType::i32);
  if (order != "none") return;
  tl.recv_async("W", {4}, DType::i32);
  tl.wait_until(state + 1, tl::Cmp::ge, 7);
}

/// Waits for a signal that its own PE delays: a copy of a message that no PE sends precedes it.
void waits_for_held(tl::Context& tl, const tl::Args& args) {
  const tl::Ptr state = args["state"].ptr;
  if (tl.index() == 0) tl.wait_until(state, tl::Cmp::ge, 7);
  if (tl.index() != 1) return;
  tl.copy_to_dst_async("W", args["y"].ptr.block({4}));
  tl.signal(state, 7);
}

KernelSpec with_line(KernelSpec s) {
  s.queues = [](const Params&, const LaunchShape& launch) {
    std::vector<QueueConnection> all;
    const auto pes = static_cast<int64_t>(launch.pes.size());
    for (int64_t i = 0; i + 1 < pes; ++i) all.push_back({i, "E", i + 1, "W", {}, {}, {}});
    return all;
  };
  return s;
}

KernelSpec shared_spec(const std::string& name, void (*body)(tl::Context&, const tl::Args&)) {
  KernelSpec s;
  s.name = name;
  s.help = "flags and atomics between PEs";
  s.params = {ParamSpec::choice("order", {"kept", "relaxed", "none"}, "between the PEs")};
  s.tensors = {shared("state", 64),
               shared("row", 64),
               shared("y", 256),
               {"zeros",
                TensorSpec::Role::in,
                [](const Params&) { return Dims{64}; },
                i32,
                Placement::replicate,
                {},
                {},
                {},
                0,
                [](const Params&, uint64_t) { return HostTensor(DType::i32, {64}); }}};
  s.function = body;
  return s;
}

// ---- wrong uses, by number

void wrong(tl::Context& tl, const tl::Args& args) {
  if (tl.index() > 0) return;
  const tl::Ptr p = args["state"].ptr;
  const tl::Loaded zeros = tl.load(args["zeros"].ptr, {4});
  const tl::Tensor pending = zeros + 1;
  const tl::Tensor floats = tl.cast(zeros, DType::f32);
  // Each case is one line, which the test finds by its number.
  // clang-format off
  switch (args.integer("case")) {
    case 1: tl.gather(p, pending); break;
    case 2: tl.gather(p, floats); break;
    case 3: tl.gather(p, zeros, pending); break;
    case 4: tl.gather(p, zeros, tl.load(args["zeros"].ptr, {5})); break;
    case 5: tl.gather(p, tl.tensor(std::vector<int>{3, 64}, {2}, DType::i32)); break;
    case 6: tl.gather(p, tl.tensor(std::vector<int>{0, -1}, {2}, DType::i32)); break;
    case 7: tl.gather(p, zeros, {}, 0, 0); break;
    case 8: tl.scatter(p, zeros, floats); break;
    case 9: tl.scatter(p, zeros, tl.load(args["zeros"].ptr, {5})); break;
    case 10: tl.atomic_add(p.cast(DType::i64), zeros, 1); break;
    case 11: tl.atomic_cas(p.cast(DType::f32), zeros, 0, 1); break;
    case 12: tl.atomic_and(p.cast(DType::f32), zeros, 1); break;
    case 13: tl.atomic_max(p.cast(DType::f16), zeros, 1); break;
    case 14: tl.atomic_add(p, zeros, pending); break;
    case 15: tl.atomic_add(p, zeros, 1.5); break;
    case 16: tl.red_add(p.cast(DType::u32), zeros, -1); break;
    case 17: { tl::Ptr q = p; q.addr += 2; tl.atomic_add(q, zeros, 1); break; }
    case 18: tl.atomic_add(p + 61, tl.tensor(std::vector<int>{0, 3}, {2}, DType::i32), 1); break;
    case 19: tl.atomic_add(tl::Ptr(Space::hbm, uint64_t{1} << 50, DType::i32), zeros, 1); break;
    case 20: tl.wait_until(p, tl::Cmp::eq, 1); break;
    case 21: tl.wait_until(p.cast(DType::f32), tl::Cmp::eq, 1); break;
    case 22: tl.store(p.block({4}), pending); tl.wait_until(p, tl::Cmp::eq, 1); break;
    case 23: tl.signal(p.cast(DType::u32), -1); break;
    case 24: tl.atomic_add(args["never"].ptr.block({1}), 1); break;
    case 25: tl.gather(args["never"].ptr, zeros); break;
    case 26: tl.store(p.block({4}), pending); tl.atomic_add(p.block({4}), 1)(0); break;
    case 27: tl.gather(tl::Ptr(Space::tcm, 0, DType::i32), zeros); break;
    case 28: tl.atomic("nand", p, zeros, 1, {}, tl::Sem::relaxed); break;
    case 29: tl.red_max(p, zeros, floats); break;
    case 30: tl.atomic_cas(p, zeros, pending, 1); break;
    default: break;
  }
  // clang-format on
}

KernelSpec wrong_spec() {
  KernelSpec s = shared_spec("t_wrong", wrong);
  s.params = {ParamSpec::size("case", 31, "which")};
  s.tensors.push_back(
      {"never", TensorSpec::Role::out, [](const Params&) { return Dims{8}; }, i32, Placement::single, {}});
  return s;
}

const RegisterKernel registered[] = {RegisterKernel{access_spec()},
                                     RegisterKernel{shared_spec("t_tickets", tickets)},
                                     RegisterKernel{shared_spec("t_relay", relay)},
                                     RegisterKernel{shared_spec("t_barrier", ticket_barrier)},
                                     RegisterKernel{shared_spec("t_stream_k", stream_k)},
                                     RegisterKernel{shared_spec("t_histogram", histogram)},
                                     RegisterKernel{shared_spec("t_lock", lock)},
                                     RegisterKernel{shared_spec("t_sram", in_sram)},
                                     RegisterKernel{with_line(shared_spec("t_waits_for_ever", waits_for_ever))},
                                     RegisterKernel{with_line(shared_spec("t_waits_for_held", waits_for_held))},
                                     RegisterKernel{wrong_spec()}};

}  // namespace

// SPDX-License-Identifier: Apache-2.0
