// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/sum_beside.h"

#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels {

SumBeside::SumBeside(tl::Context& tl, const tl::Args& args, size_t steps) : tl_(tl), args_(args) {
  if (!args.has("part")) return;
  const ccl::Redistribution& plan = redistribution(args, tl.launch(), "part", "sum", true);
  const auto me = static_cast<uint32_t>(tl.index());
  group_ = plan.group_of(me);
  if (group_ == nullptr) return;
  const auto turn = static_cast<size_t>(args.integer("turn")), turns = static_cast<size_t>(args.integer("turns"));
  const size_t number = static_cast<size_t>(group_ - plan.groups().data()) * turns, groups = plan.groups().size();
  if (number / groups != turn) return;  // an earlier or later launch handles it
  const auto own =
      static_cast<size_t>(std::find(group_->members.begin(), group_->members.end(), me) - group_->members.begin());
  for (const ccl::Redistribution::Take& t : group_->takes[own])
    cut_into_pieces(t, args.shard("part", t.from), args["sum"], &pieces_);
  const size_t mine = 3 * pieces_.size(), first = steps > mine ? steps - mine : 0;
  begin_ = (number - turn * groups) * first / groups;
}

void SumBeside::step() {
  if (now_++ < begin_ || done_ == 3 * pieces_.size()) return;
  if (done_ % 3 == 0) ask();
  if (done_ % 3 == 1) add();
  if (done_ % 3 == 2) store();
  ++done_;
}

void SumBeside::finish() {
  while (done_ < 3 * pieces_.size()) step();
}

void SumBeside::ask() {
  const Piece& p = pieces_[done_ / 3];
  loads_ = {tl_.load_async(block(args_.shard("part", p.take->from), p.in_x, p))};
  for (const uint32_t from : p.take->also)
    loads_.push_back(tl_.load_async(block(args_.shard("part", from), p.in_x, p)));
}

void SumBeside::add() {
  value_ = loads_.front();
  for (size_t i = 1; i < loads_.size(); ++i) value_ = tl_.async().add(value_, loads_[i]);
  loads_.clear();
}

void SumBeside::store() {
  const Piece& p = pieces_[done_ / 3];
  tl_.wait(value_);
  for (const uint32_t to : group_->members) {  // without a ring, each member computes the complete sum
    const bool wanted = group_->hand_on || to == static_cast<uint32_t>(tl_.index());
    if (wanted) tl_.store_async(block(args_.shard("sum", to), p.in_y, p), value_);
  }
  value_ = {};
}

void check_sum_beside(const Params& p) {
  if (p.integer("turn") >= p.integer("turns"))
    throw BadParam("turn: found " + std::to_string(p.integer("turn")) + ", expected less than turns, " +
                   std::to_string(p.integer("turns")));
}

void add_sum_beside(KernelSpec* s) {
  std::vector<ParamSpec> own = {
      ParamSpec::size("sum_rows", 1, "rows of part and sum; sum = part, summed over the ranks"),
      ParamSpec::size("sum_cols", 1, "columns of part and sum"),
      ParamSpec::size("turn", 0, "index of this launch among those that compute the sum"),
      ParamSpec::size("turns", 1, "launches that compute the sum, each on a share of the PEs")};
  own[2].min = 0;
  s->params.insert(s->params.end() - 1, own.begin(), own.end());
  TensorSpec part = input("part", {"sum_rows", "sum_cols"}, Placement::rows),
             sum = output("sum", {"sum_rows", "sum_cols"}, Placement::rows);
  part.optional = sum.optional = true;
  s->tensors.push_back(part);
  s->tensors.push_back(sum);
}

}  // namespace kernbench::kernels
