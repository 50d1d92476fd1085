// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "kernbench/kernel_api/collectives/choice.h"
#include "kernbench/kernel_api/collectives/order.h"
#include "kernbench/kernel_api/kernels/collectives.h"
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/order.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::kernels {
namespace {

using ccl::Collective;
using ccl::Members;
using ccl::Op;

bool reduces(Op op) {
  return op == Op::all_reduce || op == Op::reduce_scatter || op == Op::reduce;
}
bool rooted(Op op) {
  return op == Op::broadcast || op == Op::reduce;
}
/// Whether the op's vectors consist of blocks with owners.
bool blockwise(Op op) {
  return op == Op::all_gather || op == Op::reduce_scatter || op == Op::all_to_all;
}

/// For an unknown launch: one group with one member.
std::vector<Members> groups(const Params& p) {
  if (p.launch() == nullptr) return {{0}};
  return ccl::groups_of(*p.launch(), ccl::parse_axes(p.choice("over")));
}

int64_t pes(const Params& p) {
  return p.launch() == nullptr ? 1 : static_cast<int64_t>(p.launch()->pes.size());
}

int64_t root_of(Op op, const Params& p, const Members& group) {
  return p.launch() == nullptr ? 0 : ccl::root_member(*p.launch(), collective_of(op, p), group);
}

/// One row for each group, stored at its root member.
std::function<ShardPlan(const Params&)> rows_at_roots(Op op) {
  return [op](const Params& p) {
    ShardPlan plan;
    plan.dtype = p.dtype();
    const int64_t n = p.integer("n");
    const std::vector<Members> all = groups(p);
    plan.whole = {static_cast<int64_t>(all.size()), n};
    for (uint32_t i = 0; i < static_cast<uint32_t>(pes(p)); ++i) plan.shards.push_back({i, {0, 0}, {0, 0}});
    for (size_t g = 0; g < all.size(); ++g) {
      Shard& s = plan.shards[static_cast<size_t>(all[g][static_cast<size_t>(root_of(op, p, all[g]))])];
      s.offset = {static_cast<int64_t>(g), 0};
      s.extent = {1, n};
    }
    return plan;
  };
}

Dims shape_of_x(Op op, const Params& p) {
  return {op == Op::broadcast ? static_cast<int64_t>(groups(p).size()) : pes(p), p.integer("n")};
}

Dims shape_of_y(Op op, const Params& p) {
  const int64_t n = p.integer("n"), members = static_cast<int64_t>(groups(p).front().size());
  if (op == Op::all_gather) return {pes(p), members * n};
  if (op == Op::reduce_scatter) return {pes(p), std::max<int64_t>(1, n / members)};
  return {op == Op::reduce ? static_cast<int64_t>(groups(p).size()) : pes(p), n};
}

/// Rows of elements as numbers that can hold any of them. Integers wrap to their type at each step, as in the kernel.
using Row = std::vector<double>;

double wrapped(DType t, int64_t v) {
  const auto bits = static_cast<uint64_t>(v);
  switch (t) {
    case DType::i8:
      return static_cast<int8_t>(bits);
    case DType::u8:
      return static_cast<uint8_t>(bits);
    case DType::i16:
      return static_cast<int16_t>(bits);
    case DType::i32:
      return static_cast<int32_t>(bits);
    default:
      return static_cast<double>(v);
  }
}

double combined(const std::string& redop, DType t, double a, double b) {
  if (redop == "max") return order::maximum(a, b);
  if (redop == "min") return order::minimum(a, b);
  if (is_float(t)) return redop == "sum" ? a + b : a * b;
  const auto i = static_cast<int64_t>(a), j = static_cast<int64_t>(b);
  return wrapped(t, redop == "sum" ? i + j : i * j);
}

std::vector<Row> rows_of(const HostTensor& t) {
  Row all;
  if (is_float(t.dtype)) {
    for (const float v : t.floats()) all.push_back(v);
  } else {
    for (const int32_t v : t.ints()) all.push_back(v);
  }
  const auto cols = static_cast<size_t>(t.shape[1]);
  std::vector<Row> rows;
  for (size_t at = 0; at < all.size(); at += cols)
    rows.emplace_back(all.begin() + static_cast<ptrdiff_t>(at), all.begin() + static_cast<ptrdiff_t>(at + cols));
  return rows;
}

Expected expected(DType dtype, const Dims& shape, const std::vector<Row>& rows, const std::vector<Row>& scales) {
  Floats floats, scale;
  std::vector<int32_t> ints;
  for (const Row& r : rows) {
    for (const double v : r) {
      floats.push_back(static_cast<float>(v));
      if (!is_float(dtype)) ints.push_back(static_cast<int32_t>(v));
    }
  }
  for (const Row& r : scales) scale.insert(scale.end(), r.begin(), r.end());
  return {is_float(dtype) ? HostTensor::from(dtype, shape, floats) : HostTensor::from(dtype, shape, ints), scale};
}

/// A group's reduction in the order of its schedule, with the same rounding; and Σ|x| of each element, which widens the
/// tolerance.
struct Reduced {
  Row value, scale;
};

Row combined(const Params& p, const Row& here, const Row& came) {
  const std::string& redop = p.choice("redop");
  Row sum(here.size());
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = combined(redop, p.dtype(), here[i], came[i]);
  if (!is_float(p.dtype())) return sum;
  Floats rounded(sum.begin(), sum.end());
  round_to(p.dtype(), rounded.data(), rounded.size());
  return {rounded.begin(), rounded.end()};
}

/// The end and owner of an element's block: a block of a part, or a block with an owner.
struct BlockEnd {
  size_t end;
  int64_t block;
};
BlockEnd block_at(Op op, const Params& p, size_t element, size_t n, size_t members) {
  if (op == Op::reduce_scatter)
    return {(element / (n / members) + 1) * (n / members), static_cast<int64_t>(element / (n / members))};
  const size_t part = std::max<size_t>(1, static_cast<size_t>(p.integer("part_bytes")) / size_of(p.dtype()));
  const size_t first = element / part * part, end = std::min(n, first + part);
  const size_t size = (end - first + members - 1) / members, block = (element - first) / size;
  return {std::min(end, first + (block + 1) * size), static_cast<int64_t>(block)};
}

Reduced reduced(Op op, const Params& p, const std::vector<Row>& x, const Members& group) {
  Reduced r;
  const size_t n = x.front().size();
  r.scale.assign(n, 0);
  for (const int64_t pe : group) {
    for (size_t i = 0; i < n; ++i) r.scale[i] += std::abs(x[static_cast<size_t>(pe)][i]);
  }
  if (p.launch() == nullptr) return {x.front(), r.scale};
  const ccl::Group g = ccl::make_group(*p.launch(), collective_of(op, p), group.front(), ccl::Of::all);
  for (size_t at = 0; at < n;) {
    const BlockEnd b = block_at(op, p, at, n, group.size());
    const auto own = [&](int64_t pe) {
      const Row& row = x[static_cast<size_t>(pe)];
      return Row(row.begin() + static_cast<ptrdiff_t>(at), row.begin() + static_cast<ptrdiff_t>(b.end));
    };
    const Row sum =
        ccl::reduced_in_order(g, b.block, own, [&](const Row& a, const Row& c) { return combined(p, a, c); });
    r.value.insert(r.value.end(), sum.begin(), sum.end());
    at = b.end;
  }
  return r;
}

Row part_of(const Row& row, size_t index, size_t parts) {
  const size_t n = row.size() / parts;
  return {row.begin() + static_cast<ptrdiff_t>(index * n), row.begin() + static_cast<ptrdiff_t>((index + 1) * n)};
}

/// Fills the rows of y of a group's members, in order.
void fill_group(Op op, const Params& p, const std::vector<Row>& x, size_t g, const Members& group, std::vector<Row>* y,
                std::vector<Row>* scale) {
  const size_t n = group.size();
  Reduced sum;
  if (reduces(op)) sum = reduced(op, p, x, group);
  const ccl::Phase ring = [&] {
    ccl::Phase r;
    if (p.launch() != nullptr && op == Op::sendrecv)
      r.order = ccl::ring_order(*p.launch(), ccl::parse_axes(p.choice("over")), group);
    return r;
  }();
  if (op == Op::reduce) {
    (*y)[g] = sum.value;
    (*scale)[g] = sum.scale;
    return;
  }
  for (size_t m = 0; m < n; ++m) {
    Row& out = (*y)[static_cast<size_t>(group[m])];
    if (op == Op::all_reduce) out = sum.value;
    if (op == Op::reduce_scatter) out = part_of(sum.value, m, n);
    if (reduces(op))
      (*scale)[static_cast<size_t>(group[m])] = op == Op::all_reduce ? sum.scale : part_of(sum.scale, m, n);
    if (op == Op::broadcast) out = x[g];
    if (op == Op::sendrecv) {
      const auto at = static_cast<size_t>(ccl::position_of(ring.order, static_cast<int64_t>(m)));
      out = x[static_cast<size_t>(group[static_cast<size_t>(ring.order[(at + n - 1) % n])])];
    }
    for (size_t from = 0; from < n && (op == Op::all_gather || op == Op::all_to_all); ++from) {
      const Row& row = x[static_cast<size_t>(group[from])];
      const Row piece = op == Op::all_gather ? row : part_of(row, m, n);
      out.insert(out.end(), piece.begin(), piece.end());
    }
  }
}

Reference reference_of(Op op) {
  return [op](const Params& p, const TensorMap& in) {
    const std::vector<Row> x = rows_of(in.at("x"));
    const Dims shape = shape_of_y(op, p);
    std::vector<Row> y(static_cast<size_t>(shape[0])), scale(reduces(op) ? y.size() : 0);
    const std::vector<Members> all = groups(p);
    for (size_t g = 0; g < all.size(); ++g) fill_group(op, p, x, g, all[g], &y, &scale);
    return std::map<std::string, Expected>{{"y", expected(p.dtype(), shape, y, scale)}};
  };
}

}  // namespace

Collective collective_of(Op op, const Params& p) {
  Collective c;
  c.op = op;
  c.over = p.choice("over");
  c.take_algorithm(p.choice("algorithm"));
  if (rooted(op) || op == Op::all_reduce) c.root = p.choice("root");
  if (p.integer("slots") > 0) c.slots = static_cast<uint32_t>(p.integer("slots"));
  if (p.integer("slot_bytes") > 0) c.slot_bytes = static_cast<uint64_t>(p.integer("slot_bytes"));
  if (p.choice("tier") != "default") c.tier = p.choice("tier");
  return c;
}

std::string wiring_text(Op op) {
  std::string text;
  for (const std::string& a : ccl::algorithms_of(op)) {
    const bool reduces_first = op == Op::all_reduce && a == "multicast";
    text += (text.empty() ? "" : "; ") + a + ": " + (reduces_first ? "halving or ring, and " : "") +
            ccl::algorithm_named(a).wiring;
  }
  return text;
}

void add_collective_params(Op op, std::vector<ParamSpec>* params) {
  params->push_back(ParamSpec::text("over", "rank+cube+pe", "rank, cube, pe, joined by +",
                                    "axes along which the members of a group differ"));
  if (reduces(op)) params->push_back(ParamSpec::choice("redop", {"sum", "max", "min", "prod"}, "the reduction"));
  params->push_back(
      ParamSpec::text("algorithm", "auto", "auto|best|" + joined(ccl::algorithms_of(op), "|"),
                      "algorithm; auto: the lowest estimated cost; best: the fastest in a separate simulation")
          .tuning());
  if (op == Op::all_reduce)
    params->push_back(ParamSpec::text("root", "centre", "centre, corner or a number",
                                      "grid, hierarchical: root of the reductions, a position in the grid")
                          .tuning());
  if (rooted(op))
    params->push_back(
        ParamSpec::text("root", "0", "a member's number, or centre or corner of a grid",
                        op == Op::reduce ? "root member, which gets the result" : "root member, whose vector is sent")
            .tuning());
  params->push_back(ParamSpec::size("part_bytes", 1 << 20, "part of a vector that is in TCM at one time").tuning());
  ParamSpec number =
      ParamSpec::size("chunk_bytes", 0, "chain, tree, grid, hierarchical: largest message; 0: one part").tuning();
  number.min = 0;
  if (op == Op::all_reduce || rooted(op)) params->push_back(number);
  number = ParamSpec::size("slots", 0, "slots of each ring; 0: as in the receiver's pe_ipcq").tuning();
  number.min = 0;
  number.max = 65536;
  params->push_back(number);
  number =
      ParamSpec::size("slot_bytes", 0, "size of a slot, a multiple of 64; 0: as in the receiver's pe_ipcq").tuning();
  number.min = 0;
  number.max = 1 << 30;
  params->push_back(number);
  params->push_back(ParamSpec::choice("tier", {"default", "tcm", "sram", "hbm"},
                                      "memory of the rings; default: as in the receiver's pe_ipcq")
                        .tuning());
}

namespace {

/// The same collective without other work, with as many elements as the table counts.
CollectiveTrial trial_of(Op op, int64_t elements, const Params& p, const std::vector<std::string>& algorithms) {
  CollectiveTrial t{ccl::name_of(op), {}, algorithms};
  const int64_t members = static_cast<int64_t>(groups(p).front().size());
  t.params.emplace_back("n", std::to_string(op == Op::all_gather ? elements / members : elements));
  for (const ParamSpec& s : KernelRegistry::instance().at(t.kernel).params) {
    if (s.name != "n" && s.name != "algorithm") t.params.emplace_back(s.name, to_text(p.values().at(s.name)));
  }
  return t;
}

}  // namespace

void prepare_collective(Op op, int64_t elements, Params* p, const LaunchCosts& costs, LaunchNotes* notes) {
  const Collective c = collective_of(op, *p);
  const Members first = ccl::groups_of(*p->launch(), ccl::parse_axes(c.over)).front();
  notes->members = static_cast<int64_t>(first.size());
  ccl::Amount amount;
  amount.dtype = p->dtype();
  const auto item = static_cast<int64_t>(size_of(amount.dtype));
  amount.elements = std::min(elements, std::max<int64_t>(1, p->integer("part_bytes") / item));
  if (reduces(op)) amount.redop = p->choice("redop");
  const auto simulate = [&](const std::vector<std::string>& algorithms) {
    return costs.simulated_ns(trial_of(op, elements, *p, algorithms));
  };
  notes->algorithm = ccl::choose_algorithm(ccl::CostTable(*p->launch(), costs, c, amount), c, simulate, notes);
  p->set("algorithm", notes->algorithm);
  if (rooted(op)) notes->root = std::to_string(ccl::root_member(*p->launch(), c, first));
  const std::string algorithm = collective_of(op, *p).algorithm;
  const bool at_a_root = algorithm == "grid" || algorithm == "hierarchical";
  if (op == Op::all_reduce && at_a_root) notes->root = c.root;
}

KernelSpec collective_spec(Op op, const std::string& help, KernelFunction function) {
  KernelSpec s;
  s.name = ccl::name_of(op);
  s.help = help;
  s.params = {ParamSpec::size("n", 4096,
                              blockwise(op) && op != Op::all_gather
                                  ? "elements of x of a member, a multiple of the number of members"
                                  : "elements of x of a member"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i32, DType::i16, DType::i8, DType::u8})};
  add_collective_params(op, &s.params);
  s.tensors = {{"x", TensorSpec::Role::in, [op](const Params& p) { return shape_of_x(op, p); }, own_dtype,
                Placement::rows, Init::uniform()},
               {"y",
                TensorSpec::Role::out,
                [op](const Params& p) { return shape_of_y(op, p); },
                own_dtype,
                Placement::rows,
                {}}};
  if (op == Op::broadcast) s.tensors[0].shards = rows_at_roots(op);
  if (op == Op::reduce) s.tensors[1].shards = rows_at_roots(op);
  s.function = std::move(function);
  s.reference = reference_of(op);
  s.any_shape = true;
  s.prepare = [op](Params* p, const LaunchCosts& costs, LaunchNotes* notes) {
    const auto members = static_cast<int64_t>(groups(*p).front().size());
    const int64_t n = p->integer("n");
    if ((op == Op::reduce_scatter || op == Op::all_to_all) && n % members != 0) {
      throw BadParam("n: found " + std::to_string(n) + ", expected a multiple of the " + std::to_string(members) +
                     " members of a group");
    }
    prepare_collective(op, op == Op::all_gather ? n * members : n, p, costs, notes);
  };
  s.wiring = wiring_text(op);
  s.queues = [op](const Params& p, const LaunchShape& launch) {
    return ccl::connections(launch, collective_of(op, p));
  };
  return s;
}

KernelSpec barrier_spec(KernelFunction function) {
  KernelSpec s;
  s.name = "barrier";
  s.help = "every PE of a scope waits for the others";
  s.params = {ParamSpec::choice("scope", {"all", "cube", "sip", "rank"}, "group of PEs that wait for each other"),
              ParamSpec::size("times", 1, "number of barriers")};
  s.function = std::move(function);
  s.reference = [](const Params&, const TensorMap&) { return std::map<std::string, Expected>(); };
  s.wiring = "heap (barrier.up, barrier.left, barrier.right)";
  s.queues = [](const Params& p, const LaunchShape& l) { return ccl::barrier_connections(l, p.choice("scope")); };
  return s;
}

}  // namespace kernbench::kernels
