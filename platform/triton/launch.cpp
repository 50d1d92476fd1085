// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/triton/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/launch/deployment.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/triton/reader.h"
#include "kernbench/platform/triton/scanner.h"

namespace kernbench::triton {

namespace {

constexpr int64_t kMostPrograms = int64_t{1} << 24;
constexpr uint64_t kMostBlocks = uint64_t{1} << 22;  // blocks of an interleaved tensor, with copies

const Function& chosen(const Module& m, const std::string& name) {
  std::string all;
  const Function* only = nullptr;
  int candidates = 0;
  for (const Function& f : m.functions) {
    if (f.body.blocks.empty()) continue;
    if (f.name == name) return f;
    if (!f.is_public) continue;
    all += (all.empty() ? "" : ", ") + f.name;
    only = &f;
    ++candidates;
  }
  if (!name.empty()) throw InputError("--function: found '" + name + "', " + m.file + " has " + all);
  if (candidates == 0) {
    std::vector<std::string> lines;
    for (const Refusal& r : m.unknown) lines.push_back(fmt::format("{}:{}: {} {}", m.file, r.line, r.op, r.why));
    lines.push_back(m.file + ": found no public function");
    throw InputError(lines);
  }
  if (candidates > 1) throw InputError("--function: " + m.file + " has several: " + all);
  return *only;
}

/// The value that the request has for a name; null: none.
const std::string* given(const LaunchRequest::Words& words, const std::string& name) {
  for (const auto& [key, value] : words) {
    if (key == name) return &value;
  }
  return nullptr;
}

void check_words(const char* option, const LaunchRequest::Words& words, const std::vector<std::string>& legal,
                 std::vector<std::string>* faults) {
  std::set<std::string> seen;
  for (const auto& [name, value] : words) {
    if (std::find(legal.begin(), legal.end(), name) == legal.end())
      faults->push_back(
          fmt::format("{}: found '{}', the kernel has {}", option, name, legal.empty() ? "none" : joined(legal)));
    if (!seen.insert(name).second) faults->push_back(fmt::format("{}: found {} twice", option, name));
  }
}

/// Parses "f16[128,64]" after the kind of data. False: no match.
bool read_shape(const std::string& text, DType* dtype, Dims* shape) {
  const size_t open = text.find('[');
  if (open == std::string::npos || text.back() != ']') return false;
  const auto type = parse_dtype(text.substr(0, open));
  if (!type) return false;
  *dtype = *type;
  std::string rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    int64_t n = 0;
    if (!parse_integer(rest.substr(0, comma), &n) || n < 1 || n > int64_t{1} << 40 || shape->rank() == kMaxRank)
      return false;
    shape->push_back(n);
    if (comma == std::string::npos) break;
    rest = rest.substr(comma + 1);
    if (rest.empty()) return false;
  }
  try {
    return shape->rank() > 0 && shape->elements() > 0;
  } catch (const std::overflow_error&) {
    return false;
  }
}

HostTensor filled(const std::string& how, const std::string& name, DType dtype, const Dims& shape, uint64_t seed) {
  HostTensor t(dtype, shape);
  if (how == "uniform") t.bytes = random_tensor(dtype, shape, seed_for(seed, name));
  if (how == "arange") {
    const auto n = static_cast<size_t>(shape.elements());
    if (is_float(dtype)) {
      std::vector<float> values(n);
      for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
      return HostTensor::from(dtype, shape, values);
    }
    std::vector<int32_t> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<int32_t>(i);
    return HostTensor::from(dtype, shape, values);
  }
  return t;
}

/// Whether the tensor is contiguous in one memory, so that it needs no virtual addresses.
bool only_shard(const TensorSpec& s, const tl::Args& args) {
  const tl::View& first = args.shard(s.name, 0);
  return first.shape.elements() == first.whole.elements();
}

/// Each block of each copy has its own description, so their number is limited.
void check_blocks(const TensorSpec& s, const Params& params) {
  if (s.interleave_bytes == 0) return;
  std::set<std::pair<int64_t, int64_t>> cubes = {{0, 0}};
  if (s.policy && params.launch()) {
    cubes.clear();
    for (const LaunchShape::Place& p : params.launch()->pes) cubes.emplace(p.rank_place, p.cube_place);
  }
  const uint64_t bytes = static_cast<uint64_t>(s.shape(params).elements()) * size_of(s.dtype(params));
  if (bytes / s.interleave_bytes > kMostBlocks / cubes.size())
    throw BadParam(fmt::format("--interleave: found {}, which makes more than 2^22 blocks of {} ({} times {} bytes)",
                               s.interleave_bytes, s.name, cubes.size(), bytes));
}

/// The address of this PE's copy of a tensor that is copied to each cube. Copies are adjacent in the virtual range, in
/// the order in which the launch's PEs first name their cubes.
tl::Ptr copy_of_cube(const TensorSpec& s, const tl::Context& tl, const tl::Args& args) {
  std::vector<std::pair<int64_t, int64_t>> cubes;
  const auto number_of = [&](const LaunchShape::Place& p) {
    const std::pair cube{p.rank_place, p.cube_place};
    const auto at = std::find(cubes.begin(), cubes.end(), cube);
    const int64_t n = at - cubes.begin();
    if (at == cubes.end()) cubes.push_back(cube);
    return n;
  };
  int64_t mine = 0;
  for (int64_t p = 0; p <= tl.index(); ++p) mine = number_of(tl.launch().pes[static_cast<size_t>(p)]);
  tl::Ptr p = args.virtual_ptr(s.name);
  const uint64_t nbytes = static_cast<uint64_t>(args.shard(s.name, 0).whole.elements()) * size_of(p.dtype);
  p.addr += static_cast<uint64_t>(mine) * bytes_of_cube_copy(nbytes);
  return p.bounded(nbytes, s.name.c_str());
}

}  // namespace

Launch::Launch(const LaunchRequest& request) : request_(request) {
  const auto module = read_module_file(request_.file);
  const Function& f = chosen(*module, request_.function);
  const std::vector<Refusal> refused = refusals(*module, f);
  if (!refused.empty()) {
    std::vector<std::string> lines;
    for (const Refusal& r : refused) lines.push_back(fmt::format("{}:{}: {} {}", module->file, r.line, r.op, r.why));
    throw InputError(lines);
  }
  if (!f.results.empty())
    throw InputError(fmt::format("{}:{}: @{} returns values, expected a kernel", module->file, f.line, f.name));
  program_ = std::make_shared<const Program>(module, f);
  read_grid();
  take_arguments();
}

void Launch::read_grid() {
  const auto fault = [&] {
    throw InputError("--grid: found '" + request_.grid + "', expected X[,Y[,Z]], each 1 or more, at most 2^24 in all");
  };
  std::string rest = request_.grid;
  size_t n = 0;
  for (;; ++n) {
    const size_t comma = rest.find(',');
    if (n == 3 || !parse_integer(rest.substr(0, comma), &grid_[n]) || grid_[n] < 1 || grid_[n] > kMostPrograms) fault();
    if (comma == std::string::npos) break;
    rest = rest.substr(comma + 1);
  }
  if (grid_[0] > kMostPrograms / grid_[1] || grid_[0] * grid_[1] > kMostPrograms / grid_[2]) fault();
}

void Launch::take_arguments() {
  const Function& f = program_->function();
  std::vector<std::string> faults, pointers, numbers;
  for (const Argument& a : f.arguments) {
    const Type& t = f.types[a.value];
    if (t.is(Type::Kind::pointer, false)) {
      pointers.push_back(a.name);
      if (const std::string* text = given(request_.tensors, a.name)) {
        take_tensor(a, t, *text, &faults);
      } else {
        faults.push_back(fmt::format("--tensor {}=: missing; expected FILE.npy or uniform:{}[...]", a.name,
                                     name_of(dtype_of(t.element))));
      }
    } else if (t.is(Type::Kind::number, false)) {
      numbers.push_back(a.name);
      if (!given(request_.params, a.name))
        faults.push_back(fmt::format("--param {}=: missing; expected {}", a.name, t.to_string()));
      ParamSpec p;
      p.name = a.name;
      p.help = "argument of the kernel";
      if (is_float(t.element)) {
        p.type = ParamType::number;
        p.default_value = 0.0;
      } else {
        p.type = ParamType::integer;
        p.default_value = int64_t{0};
        const int bits = std::min(bits_of(t.element), 53);
        p.min = t.element == Element::i1 ? 0 : -std::ldexp(1.0, bits - 1);
        p.max = t.element == Element::i1 ? 1 : std::ldexp(1.0, bits - 1) - 1;
      }
      params_.push_back(std::move(p));
    } else {
      faults.push_back(fmt::format("{}:{}: argument {} is a {}, expected a pointer or a number", request_.file, f.line,
                                   a.name, t.to_string()));
    }
  }
  check_words("--tensor", request_.tensors, pointers, &faults);
  check_words("--param", request_.params, numbers, &faults);
  check_words("--place", request_.places, pointers, &faults);
  if (!faults.empty()) throw InputError(faults);
}

void Launch::take_tensor(const Argument& a, const Type& t, const std::string& text, std::vector<std::string>* faults) {
  const DType wanted = dtype_of(t.element);
  const size_t colon = text.find(':');
  const std::string how = colon == std::string::npos ? "" : text.substr(0, colon);
  DType dtype = wanted;
  Dims shape;
  const bool made = spec::is_made_tensor(text);
  if (made) {
    if (!read_shape(text.substr(colon + 1), &dtype, &shape) || dtype != wanted) {
      faults->push_back(fmt::format("--tensor {}={}: expected {}:{}[N,...]", a.name, text, how, name_of(wanted)));
      return;
    }
  } else {
    shape = read_npy_as(text, wanted).shape;
    files_.emplace_back(a.name, text);
    if (shape.rank() == 0 || shape.elements() == 0) {
      faults->push_back(
          fmt::format("--tensor {}={}: found shape {}, expected elements", a.name, text, shape.to_string()));
      return;
    }
  }
  TensorSpec s;
  s.name = a.name;
  s.shape = [shape](const Params&) { return shape; };
  s.dtype = [wanted](const Params&) { return wanted; };
  const std::vector<bool> stored = stored_arguments(program_->module(), program_->function());
  const auto index = static_cast<size_t>(&a - program_->function().arguments.data());
  s.role = stored[index] ? TensorSpec::Role::in_out : TensorSpec::Role::in;
  if (made) {
    s.fill = [how, name = a.name, wanted, shape](const Params&, uint64_t seed) {
      return filled(how, name, wanted, shape, seed);
    };
  }
  const std::string* place = given(request_.places, a.name);
  const std::string where = place ? *place : "interleave";
  if (where == "interleave" || where == "cube") {
    if (request_.interleave == 0 || request_.interleave % size_of(wanted) != 0)
      faults->push_back(fmt::format("--interleave: found {}, expected a multiple of the {} bytes of {}'s elements",
                                    request_.interleave, size_of(wanted), a.name));
    s.interleave_bytes = request_.interleave;
    if (where == "cube") s.policy = CubePePolicy{Split::replicate, Split::row_wise};
  } else if (where == "rows") {
    s.placement = Placement::rows;
  } else if (where == "replicate") {
    s.placement = Placement::replicate;
  } else {
    faults->push_back(fmt::format("--place {}={}: expected interleave, cube, rows or replicate", a.name, where));
  }
  if ((where == "replicate" || where == "cube") && s.role != TensorSpec::Role::in)
    faults->push_back(fmt::format("--place {}={}: the kernel stores to it, and copies would differ", a.name, where));
  tensors_.push_back(std::move(s));
}

KernelSpec Launch::spec() {
  KernelSpec s;
  s.name = "ttir:" + program_->function().name;
  s.help = "a Triton kernel, from " + request_.file;
  s.params = params_;
  s.tensors = tensors_;
  s.function = [this](tl::Context& tl, const tl::Args& args) { run(tl, args); };
  s.prepare = [this](Params* params, const LaunchCosts&, LaunchNotes*) {
    for (const TensorSpec& t : tensors_) check_blocks(t, *params);
    const Function& f = program_->function();
    for (const Argument& a : f.arguments) {
      const Type& t = f.types[a.value];
      if (t.kind != Type::Kind::number || is_float(t.element) || a.divisibility <= 1) continue;
      const int64_t n = params->integer(a.name);
      if (n % a.divisibility != 0)
        throw BadParam(fmt::format("--param {}={}: {}:{}: was compiled for multiples of {}", a.name, n, request_.file,
                                   f.line, a.divisibility));
    }
  };
  return s;
}

void Launch::run(tl::Context& tl, const tl::Args& args) {
  const Function& f = program_->function();
  std::vector<Value> arguments;
  for (const Argument& a : f.arguments) {
    const Type& t = f.types[a.value];
    if (t.kind == Type::Kind::number) {
      arguments.push_back(is_float(t.element) ? Value::of_real(rounded(args.number(a.name), t.element))
                                              : Value::of(args.integer(a.name)));
      continue;
    }
    const TensorSpec* s = nullptr;
    for (const TensorSpec& x : tensors_) {
      if (x.name == a.name) s = &x;
    }
    const bool own = s->interleave_bytes == 0 && s->placement == Placement::replicate;
    const tl::Ptr p = own                    ? args[a.name].ptr
                      : s->policy            ? copy_of_cube(*s, tl, args)
                      : only_shard(*s, args) ? args.shard(a.name, 0).ptr
                                             : args.whole(a.name).ptr;
    if (p.addr % static_cast<uint64_t>(a.divisibility) != 0)
      throw KernelFault(fmt::format("{}:{}: {} lies at {}, but was compiled for multiples of {}", request_.file, f.line,
                                    a.name, p.to_string(), a.divisibility));
    arguments.push_back(Value::of(p));
  }
  const int64_t n = programs();
  const int64_t each = waves(tl.size());
  const bool blocks = request_.order == "blocks";
  const int64_t first = blocks ? tl.index() * each : tl.index();
  const int64_t step = blocks ? 1 : tl.size();
  const int64_t end = blocks ? std::min(n, first + each) : n;
  for (int64_t p = first; p < end; p += step) {
    const Index3 id = {p % grid_[0], p / grid_[0] % grid_[1], p / grid_[0] / grid_[1]};
    const double start_ns = tl.now_ns();
    run_program(*program_, tl, arguments, id, grid_, request_.chains == "joined");
    times_.push_back({p, tl.pe_id(), start_ns, tl.now_ns()});
  }
}

std::vector<ProgramTime> Launch::times() const {
  std::vector<ProgramTime> t = times_;
  std::sort(t.begin(), t.end(), [](const ProgramTime& a, const ProgramTime& b) { return a.id < b.id; });
  return t;
}

}  // namespace kernbench::triton
