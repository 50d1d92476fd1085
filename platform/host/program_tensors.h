// SPDX-License-Identifier: Apache-2.0
// The tensors of a program: those of its spec, and those that it creates and frees. Maps them on the PEs with an MMU,
// counts their bytes, and stores which operations write them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/platform/host/context.h"

namespace kernbench::host {

class ProgramTensors {
 public:
  using Places = std::shared_ptr<const TensorPlaces>;
  ProgramTensors(Platform& platform, const ProgramPes& pes) : platform_(platform), pes_(pes) {}

  /// Places the tensors of the spec that are not late. Call it once.
  void add_named(const ProgramSpec&, const Params&);
  void add_named(const ProgramTensor&, const Params&);
  bool has(const std::string& name) const { return named_.count(name) > 0; }
  const Places& named(const std::string& name) const { return named_.at(name); }

  const Places& make(DType, const Dims& shape, const Layout&, const std::string& name);
  /// Created tensors that are not freed, in order of creation.
  const std::vector<Places>& made() const { return made_; }
  /// InputError for a tensor of the spec.
  void free(const Tensor&, const SourceLine& where);
  /// Frees a tensor that the program's spec declares.
  void take_out(const std::string& name, const SourceLine& where);
  /// Releases freed tensors that no operation uses. No kernel may run, because its memory must stay valid.
  void give_back_freed();
  bool any_freed() const { return !freed_.empty(); }

  /// The newest operation writes the tensor.
  void written_by(const Tensor&, const Operation&);
  std::vector<const Operation*> writers_of(const Tensor& t) { return writers_[t.places()->use()]; }

  /// Puts an input in place, without time.
  void place(const TensorPlaces&, const HostTensor& value) const;
  void place(const TensorPlaces&, const ElementSource&) const;
  void place_zeros(const TensorPlaces&) const;

  const Context::Stored& stored() const { return stored_; }
  const Context::Stored& most_stored() const { return most_stored_; }

 private:
  Places placed(const std::string& name, DType, const Dims& shape, const Layout&) const;
  void add(const TensorPlaces&);
  std::vector<size_t> with_mmu() const;

  Platform& platform_;
  const ProgramPes& pes_;
  std::map<std::string, Places> named_;
  std::vector<Places> made_;                                                      ///< until they are freed
  std::vector<Places> freed_;                                                     ///< still in use
  std::map<std::shared_ptr<const char>, std::vector<const Operation*>> writers_;  ///< by TensorPlaces::use()
  Context::Stored stored_, most_stored_;
};

}  // namespace kernbench::host
