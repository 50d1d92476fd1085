// SPDX-License-Identifier: Apache-2.0
// y = x in another layout. Each PE fetches the missing parts, and PEs that need the same part pass on what they fetched
// (see collectives/redistribution.h).
#include <algorithm>
#include <cstdlib>
#include <deque>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/redistribution_pieces.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::redistribute_kernel {
namespace {

using ccl::Redistribution;

constexpr size_t kInFlight = 4;  // loads in flight

void redistribute(tl::Context& tl, const tl::Args& args) {
  const Redistribution& plan = redistribution(args, tl.launch(), "x", "y", args.flag("partial"));
  const auto me = static_cast<uint32_t>(tl.index());
  const Redistribution::Group* group = plan.group_of(me);
  if (group == nullptr) return;
  const tl::View& y = args["y"];
  std::vector<std::vector<Piece>> pieces(group->members.size());
  for (size_t m = 0; m < pieces.size(); ++m) {
    for (const Redistribution::Take& t : group->takes[m]) cut_into_pieces(t, args.shard("x", t.from), y, &pieces[m]);
  }
  const size_t own =
      static_cast<size_t>(std::find(group->members.begin(), group->members.end(), me) - group->members.begin());
  size_t rounds = 0;
  for (size_t m = 0; m < pieces.size(); ++m)
    rounds = std::max(rounds, group->hand_on || m == own ? pieces[m].size() : 0);

  std::deque<std::vector<tl::Loaded>> loads;  // prefetched summands of this PE's pieces
  size_t asked = 0;
  for (size_t r = 0; r < rounds; ++r) {
    for (; asked < pieces[own].size() && asked < r + kInFlight; ++asked) {
      const Piece& p = pieces[own][asked];
      loads.emplace_back();
      loads.back().push_back(tl.load_async(block(args.shard("x", p.take->from), p.in_x, p)));
      for (const uint32_t a : p.take->also) loads.back().push_back(tl.load_async(block(args.shard("x", a), p.in_x, p)));
    }
    tl::Tensor value;
    if (r < pieces[own].size()) {
      value = loads.front().front();
      for (size_t i = 1; i < loads.front().size(); ++i) value = value + loads.front()[i];
      loads.pop_front();
      tl.store_async(block(y, pieces[own][r].in_y, pieces[own][r]), value);
    }
    if (!group->hand_on) continue;
    const size_t n = pieces.size();
    for (size_t s = 1; s < n; ++s) {
      if (value.valid()) tl.send_async("next", value);
      const std::vector<Piece>& from = pieces[(own + n - s) % n];
      value = {};
      if (r >= from.size()) continue;
      value = tl.recv("prev", {from[r].rows, from[r].cols}, y.dtype());
      tl.store_async(block(y, from[r].in_y, from[r]), value);
    }
  }
}

/// From the parameter rings, which host::Context::redistribute() sets.
std::vector<QueueConnection> connections(const Params& p, const LaunchShape& launch) {
  std::vector<QueueConnection> all;
  std::vector<int64_t> ring;
  const auto close = [&] {
    for (size_t i = 0; i < ring.size(); ++i)
      all.push_back({ring[i], "next", ring[(i + 1) % ring.size()], "prev", {}, {}, {}});
    ring.clear();
  };
  const std::string& text = p.choice("rings");
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    ring.push_back(std::strtoll(at, &end, 10));
    if (end == at || ring.back() < 0 || ring.back() >= static_cast<int64_t>(launch.pes.size()))
      throw BadParam("rings: found '" + text + "', expected PEs of the launch: 0,1,2;3,4");
    at = end;
    if (*at == ';' || *at == '\0') close();
    if (*at != '\0') ++at;
  }
  return all;
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "redistribute";
  s.help = "y = x in another layout: rows to columns; in a program, any layout";
  s.params = {ParamSpec::size("rows", 256, "rows of x and y"), ParamSpec::size("cols", 256, "columns of x and y"),
              ParamSpec::text("rings", "", "0,1,2;3,4: PEs by tl.index()",
                              "rings of PEs that pass data to the next (set by the program)"),
              ParamSpec::flag("partial", false, "ranks hold partial sums of x"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::u8})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), output("y", {"rows", "cols"}, Placement::cols)};
  s.any_shape = true;
  s.function = redistribute;
  s.reference = [](const Params&, const TensorMap& in) {
    return std::map<std::string, Expected>{{"y", {in.at("x"), {}}}};
  };
  s.wiring = "ring (next to prev) among PEs that get the same part";
  s.queues = connections;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::redistribute_kernel
