// y = x in another layout: each PE takes what its part lacks from where it is, and PEs that get the same part hand on
// what they have taken (collectives/redistribution.h says who does what).
#include <algorithm>
#include <cstdlib>
#include <deque>

#include "kernbench/kernel_api/collectives/redistribution.h"
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels {
namespace {

using ccl::Redistribution;

constexpr int64_t kPieceBytes = 256 << 10;  // moved at once
constexpr size_t kInFlight = 4;             // loads

std::vector<host::LayoutPlace> places_of(const LaunchShape& launch) {
  std::vector<host::LayoutPlace> all;
  for (const LaunchShape::Place& p : launch.pes)
    all.push_back({static_cast<uint32_t>(p.rank), static_cast<uint32_t>(p.cube), static_cast<uint32_t>(p.pe)});
  return all;
}

ShardPlan plan_of(const tl::Args& args, const std::string& tensor) {
  ShardPlan plan;
  plan.dtype = args.shard(tensor, 0).dtype();
  plan.whole = args.shard(tensor, 0).whole;
  for (uint32_t p = 0; p < args.shards(); ++p) {
    const tl::View& v = args.shard(tensor, p);
    plan.shards.push_back({p, v.offset, v.shape});
  }
  return plan;
}

/// The same for all PEs of launches with the same parts.
const Redistribution& redistribution(const tl::Args& args, const LaunchShape& launch) {
  const ShardPlan x = plan_of(args, "x"), y = plan_of(args, "y");
  std::string text = "redistribution";
  if (args.flag("partial")) text += " of a sum";
  for (const ShardPlan* plan : {&x, &y}) {
    for (const Shard& s : plan->shards) {
      for (const int64_t v : s.offset) text += ',' + std::to_string(v);
      for (const int64_t v : s.extent) text += '+' + std::to_string(v);
      text += ';';
    }
  }
  text += std::to_string(size_of(x.dtype));
  return launch.memo.get<Redistribution>(text,
                                         [&] { return Redistribution(x, args.flag("partial"), y, places_of(launch)); });
}

/// A strided block of rows of one shard: `first` elements behind its beginning, rows `ld` elements apart.
struct Rows {
  int64_t first = 0, ld = 0;
};
/// A block that one command moves, in the shard that it comes from and in the one that it goes to.
struct Piece {
  const Redistribution::Take* take;
  int64_t rows = 1, cols = 1;
  Rows in_x, in_y;
};

/// Cuts a block into pieces: in both shards rows at a fixed distance.
void cut(const Redistribution::Take& t, const tl::View& x, const tl::View& y, std::vector<Piece>* pieces) {
  const int rank = t.extent.rank();
  int axis = rank - 1;  // along which a row goes; behind it both shards have all
  while (axis > 0 && t.extent[axis] == x.shape[axis] && t.extent[axis] == y.shape[axis]) --axis;
  int64_t behind = 1;
  for (int i = axis + 1; i < rank; ++i) behind *= t.extent[i];
  const int64_t along = rank > 0 ? t.extent[axis] : 1, down = axis > 0 ? t.extent[axis - 1] : 1;
  const int64_t most = std::max<int64_t>(1, kPieceBytes / static_cast<int64_t>(size_of(x.dtype())));
  const int64_t width = std::min(along, std::max<int64_t>(1, most / behind));
  const int64_t height = std::min(down, std::max<int64_t>(1, most / (width * behind)));
  int64_t outer = 1;
  for (int i = 0; i + 1 < axis; ++i) outer *= t.extent[i];
  const auto rows = [&](const tl::View& v, int64_t n, int64_t row, int64_t col) {
    int64_t stride = behind, first = 0;
    Rows r{0, 1};
    for (int i = axis; i >= 0; --i) {
      int64_t at = t.offset[i] - v.offset[i];
      if (i == axis) at += col;
      if (i == axis - 1) {
        at += row;
        r.ld = stride;
      }
      if (i < axis - 1) {
        at += n % t.extent[i];
        n /= t.extent[i];
      }
      first += at * stride;
      stride *= v.shape[i];
    }
    r.first = first;
    return r;
  };
  for (int64_t n = 0; n < outer; ++n) {
    for (int64_t row = 0; row < down; row += height) {
      for (int64_t col = 0; col < along; col += width) {
        Piece p{&t, std::min(height, down - row), std::min(width, along - col) * behind, {}, {}};
        if (rank > 0) {
          p.in_x = rows(x, n, row, col);
          p.in_y = rows(y, n, row, col);
        }
        if (p.rows == 1) p.in_x.ld = p.in_y.ld = p.cols;
        pieces->push_back(p);
      }
    }
  }
}

tl::Block block(const tl::View& v, const Rows& r, const Piece& p) {
  return (v.ptr + r.first).block({p.rows, p.cols}, r.ld);
}

void redistribute(tl::Context& tl, const tl::Args& args) {
  const Redistribution& plan = redistribution(args, tl.launch());
  const auto me = static_cast<uint32_t>(tl.index());
  const Redistribution::Group* group = plan.group_of(me);
  if (group == nullptr) return;
  const tl::View& y = args["y"];
  std::vector<std::vector<Piece>> pieces(group->members.size());
  for (size_t m = 0; m < pieces.size(); ++m) {
    for (const Redistribution::Take& t : group->takes[m]) cut(t, args.shard("x", t.from), y, &pieces[m]);
  }
  const size_t own =
      static_cast<size_t>(std::find(group->members.begin(), group->members.end(), me) - group->members.begin());
  size_t rounds = 0;
  for (size_t m = 0; m < pieces.size(); ++m)
    rounds = std::max(rounds, group->hand_on || m == own ? pieces[m].size() : 0);

  std::deque<std::vector<tl::Loaded>> loads;  // summands of this PE's pieces, ahead of their turn
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

/// Of the parameter rings, which host::Context::redistribute() gives.
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
  s.help = "y = x in another layout: by rows to by columns, in a program any";
  s.params = {
      ParamSpec::size("rows", 256, "of x and y"), ParamSpec::size("cols", 256, "of x and y"),
      ParamSpec::text("rings", "", "0,1,2;3,4: PEs by tl.index()", "PEs that hand on to the next (by the program)"),
      ParamSpec::flag("partial", false, "what several ranks have of the same part of x are summands"),
      ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::u8})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), output("y", {"rows", "cols"}, Placement::cols)};
  s.any_shape = true;
  s.function = redistribute;
  s.reference = [](const Params&, const TensorMap& in) {
    return std::map<std::string, Expected>{{"y", {in.at("x"), {}}}};
  };
  s.wiring = "ring: next to prev, among PEs that get the same part";
  s.queues = connections;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels
