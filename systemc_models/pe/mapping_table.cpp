// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/mapping_table.h"

#include <iterator>

#include "kernbench/phase2/op/address_text.h"

namespace kernbench::pe {

std::string VirtualMapping::to_string() const {
  return tensor + " " + range_text(begin(), nbytes);
}

const VirtualMapping* MappingTable::at_or_before(uint64_t addr) const {
  const auto behind = by_begin_.upper_bound(addr);
  return behind == by_begin_.begin() ? nullptr : std::prev(behind)->second.get();
}

const VirtualMapping* MappingTable::map(std::shared_ptr<const VirtualMapping> m) {
  const VirtualMapping* before = at_or_before(m->begin());
  if (before && before->end() > m->begin()) return before;
  const auto next = by_begin_.upper_bound(m->begin());
  if (next != by_begin_.end() && next->first < m->end()) return next->second.get();
  const uint64_t begin = m->begin();
  by_begin_.emplace(begin, std::move(m));
  return nullptr;
}

bool MappingTable::unmap(uint64_t addr, uint64_t nbytes) {
  const auto it = by_begin_.find(addr);
  if (it == by_begin_.end() || it->second->nbytes != nbytes) return false;
  by_begin_.erase(it);
  return true;
}

std::shared_ptr<const Translation> MappingTable::translate(uint64_t addr, uint64_t nbytes, Space* space) const {
  const auto access = [&] {
    return "virtual address " + address_text(addr) + ", " + std::to_string(nbytes) + " bytes: ";
  };
  const VirtualMapping* m = at_or_before(addr);
  if (!m || m->end() <= addr) throw TranslationFault(access() + "not mapped; " + nearest(addr));
  if (nbytes > m->end() - addr) {
    const auto next = by_begin_.upper_bound(addr);
    throw TranslationFault(access() + "runs over the end of the mapping of " + m->to_string() +
                           (next == by_begin_.end() ? "" : ", the next one is " + next->second->to_string()));
  }
  *space = m->space;
  auto t = std::make_shared<Translation>();
  t->virtual_addr = addr;
  uint64_t at = 0;
  m->range.for_each_range(addr - m->begin(), nbytes, [&](uint64_t physical, uint64_t n) {
    t->pieces.push_back({at, physical, n});
    at += n;
  });
  return t;
}

std::string MappingTable::nearest(uint64_t addr) const {
  if (by_begin_.empty()) return "nothing is mapped";
  const VirtualMapping* before = at_or_before(addr);
  const auto behind = by_begin_.upper_bound(addr);
  const VirtualMapping* nearest = before;
  if (!before || (behind != by_begin_.end() && addr >= before->end() && behind->first - addr < addr - before->end()))
    nearest = behind->second.get();
  return "nearest mapping: " + nearest->to_string();
}

}  // namespace kernbench::pe
