// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/placed.h"

#include <algorithm>

#include "kernbench/kernel_api/context.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

constexpr int64_t kLeastOfPe = 16;  // elements of a PE's block, per PE of the machine
constexpr const char *kIntoBlocks = "onnx:into_blocks", *kOutOfBlocks = "onnx:out_of_blocks";

/// Each PE copies its block of a matrix from the flat tensor or to it.
void lay_out_block(tl::Context& tl, const tl::Args& args, bool into_blocks) {
  const tl::View& own = args["blocks"];
  if (own.empty()) return;
  const int64_t columns = own.whole[1], rows_at_once = std::max<int64_t>(1, kRow / own.shape[1]);
  const tl::Ptr flat = whole_of(args, "flat") + (own.offset[0] * columns + own.offset[1]);
  for (int64_t r = 0; r < own.shape[0]; r += rows_at_once) {
    const int64_t rows = std::min(rows_at_once, own.shape[0] - r);
    const tl::Block there = (flat + r * columns).block({rows, own.shape[1]}, columns), here = own.block().rows(r, rows);
    if (into_blocks)
      tl.store_async(here, tl.load_async(there));
    else
      tl.store_async(there, tl.load_async(here));
  }
}

void register_kernel(const char* name, bool into_blocks) {
  KernelSpec k;
  k.name = name;
  k.help = "a conversion between a matrix in blocks and a flat tensor";
  k.any_shape = true;
  k.params = {ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  for (const char* tensor : {"flat", "blocks"}) {
    TensorSpec t;
    t.name = tensor;
    t.role = (tensor[0] == 'b') == into_blocks ? TensorSpec::Role::out : TensorSpec::Role::in;
    t.shape = [](const Params&) { return Dims{1}; };
    t.dtype = [](const Params& p) { return p.dtype(); };
    k.tensors.push_back(t);
  }
  k.function = [into_blocks](tl::Context& tl, const tl::Args& args) { lay_out_block(tl, args, into_blocks); };
  KernelRegistry::instance().add(std::move(k));
}

}  // namespace

host::Layout flat_layout(const Dims& shape, const MachineShape& machine) {
  int axis = 0;
  while (axis + 1 < shape.rank() && shape[axis] == 1) ++axis;
  int64_t row = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) row *= shape[i];
  const int64_t unit = std::max<int64_t>(1, kLeastOfPe * machine.cubes * machine.pes / std::max<int64_t>(1, row)),
                of_cube = std::max<int64_t>(1, machine.pes) * unit;
  return host::rank_replicate().cube(host::shard(axis, of_cube)).pe(host::shard(axis, unit));
}

host::Layout lanes() {
  return host::rank_replicate().cube(host::shard(1)).pe(host::shard(0));
}

Placed::Placed(host::Context& h, const MachineShape& machine) : h_(h), machine_(machine) {
  register_kernel(kIntoBlocks, true);
  register_kernel(kOutOfBlocks, false);
}

void Placed::add_output(const Value& v, const host::Tensor& t, bool in_lanes) {
  (in_lanes ? forms_[&v].own_blocks : forms_[&v].flat) = t;
}

const host::Tensor* Placed::find(const Value& v, const host::Layout& layout, const Dims& matrix) const {
  const auto forms = forms_.find(&v);
  if (forms == forms_.end()) return nullptr;
  for (const host::Tensor& t : forms->second.blocks) {
    if (t.shape() == matrix && t.layout() == layout) return &t;
  }
  return nullptr;
}

bool Placed::lies_in(const Value& v, const host::Layout& layout, const Dims& matrix) const {
  return find(v, layout, matrix) != nullptr;
}

Dims Placed::only_in_lanes(const Value& v) const {
  const auto forms = forms_.find(&v);
  if (forms == forms_.end() || forms->second.has_flat) return {};
  for (const host::Tensor& t : forms->second.blocks) {
    if (t.layout() == lanes()) return t.shape();
  }
  return {};
}

void Placed::lay_out(const host::Tensor& flat, const host::Tensor& blocks, bool into_blocks) const {
  h_.launch(h_.rank(0), into_blocks ? kIntoBlocks : kOutOfBlocks, {}, {{"flat", flat}, {"blocks", blocks}});
}

host::Tensor Placed::flat(const Value& v) {
  Forms& forms = forms_[&v];
  if (!forms.has_flat) lay_out(make_flat(v), forms.blocks.front(), false);
  return forms.flat;
}

host::Tensor Placed::in_blocks(const Value& v, const host::Layout& layout, const Dims& matrix) {
  if (const host::Tensor* t = find(v, layout, matrix)) return *t;
  const host::Tensor from = flat(v), to = make_in_blocks(v, layout, matrix);
  lay_out(from, to, true);
  return to;
}

host::Tensor Placed::make_flat(const Value& v, const Dims& shape) {
  Forms& forms = forms_[&v];
  const Dims as = shape.rank() > 0 ? shape : Dims{v.elements()};
  if (!forms.flat.places()) {
    forms.flat = h_.tensor(v.dtype(), as, flat_layout(as, machine_), v.name);
    forms.is_new = true;
  }
  forms.has_flat = true;
  return shape.rank() > 0 && forms.flat.shape() != shape ? h_.view(forms.flat, shape) : forms.flat;
}

host::Tensor Placed::make_in_blocks(const Value& v, const host::Layout& layout, const Dims& matrix) {
  Forms& forms = forms_[&v];
  const host::Tensor& own = forms.own_blocks;
  const bool is_own = own.places() && own.layout() == layout && own.shape() == matrix;
  forms.blocks.push_back(is_own ? own : h_.tensor(v.dtype(), matrix, layout, v.name));
  return forms.blocks.back();
}

void Placed::free(const Value& v) {
  const auto at = forms_.find(&v);
  if (at == forms_.end()) return;
  Forms& forms = at->second;
  for (const host::Tensor& t : forms.blocks) {
    if (t.places() != forms.own_blocks.places()) h_.free(t);
  }
  forms.blocks.clear();
  if (forms.is_new) h_.free(forms.flat);
  if (forms.is_new || !forms.flat.places()) forms_.erase(at);
}

}  // namespace kernbench::onnx
