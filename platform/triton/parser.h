// SPDX-License-Identifier: Apache-2.0
// A parser of Triton's IR in MLIR's assembly, custom and generic forms. It parses one text into a Module. Unknown
// operations are listed in the module; a syntax error is an InputError with its line.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/triton/ir.h"
#include "kernbench/platform/triton/scanner.h"
#include "kernbench/platform/triton/typing.h"

namespace kernbench::triton {

class Parser {
 public:
  Parser(const std::string& file, const std::string& text) : s_(file, text) { module_->file = file; }

  std::shared_ptr<const Module> read();

 private:
  static constexpr int kDeepest = 100;          // nesting of regions, locations or attributes
  static constexpr int64_t kLargest = 1048576;  // elements of a tensor: Triton's own limit

  struct Named {
    ValueId first = 0;
    int64_t count = 1;
  };
  using Scope = std::map<std::string, Named>;
  struct Depth {
    explicit Depth(Parser& p) : parser(p) {
      if (++parser.depth_ > kDeepest) parser.s_.fail("found more than " + std::to_string(kDeepest) + " levels");
    }
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };

  // ---- The file -----------------------------------------------------------------------------------------------------
  void top_level();
  std::string symbol();
  void begin_function();
  void end_function();
  void function();
  void take_arguments(const Block& entry);

  /// "tt.func"() <{function_type = (..) -> .., sym_name = ".."}> ({ .. }) : () -> ()
  void generic_function();

  // ---- Values -------------------------------------------------------------------------------------------------------
  ValueId value(const Type& t);
  void define(const std::string& name, const Named& n);
  ValueId operand();
  const Type& type_of(ValueId v) const { return f_->types[v]; }

  // ---- Regions ------------------------------------------------------------------------------------------------------
  using Arguments = std::vector<std::pair<std::string, Type>>;

  /// From { to }; `entry`: arguments of the entry block that the operation itself names.
  Region region(const Arguments* entry);
  void add_argument(Block& b, const std::string& name, const Type& t);
  uint32_t label(const std::string& name, bool entry = false);
  void operations(Block& b);

  // ---- Operations ---------------------------------------------------------------------------------------------------
  void operation(Block& b);
  [[noreturn]] void fail_at(const Operation& op, const std::string& what) const;
  void unknown(const Operation& op) { module_->unknown.push_back({op.line, op.name, "is not known"}); }

  std::vector<Type> settle(Operation& op, const Told& types);
  std::vector<Type> generic_form(Operation& op);
  void require_type(const Operation& op, ValueId v, const Type& t);

  /// Keeps the condition. The other operands belong to the successors, by operandSegmentSizes.
  void split_operands(Operation& op);

  /// The types that the custom form would write.
  std::vector<Type> settle_generic(Operation& op, const Told& all);
  std::vector<Type> own_form(Operation& op);
  static int words_in(const Operation& op);
  bool peek_word(const char* w);
  void loop_values(Operation& op, Arguments* arguments);
  std::vector<Type> type_list();
  std::vector<Type> for_loop(Operation& op);

  /// The text omits the terminator if nothing is yielded.
  void end_with_yield(Region& r);
  std::vector<Type> if_else(Operation& op);
  std::vector<Type> while_loop(Operation& op);
  void successor(Operation& op);
  std::vector<Type> branch(Operation& op);

  /// The condition's type is not written.
  std::vector<Type> condition(Operation& op);
  std::vector<Type> constant(Operation& op);

  // ---- Types --------------------------------------------------------------------------------------------------------
  /// `of`: the operation before the types; it allows short forms.
  Told told(const Operation* of = nullptr);

  /// `<f16>`, `<tensor<8x8xf16>>`: the operation implies !tt.ptr or !tt.tensordesc.
  Type short_type(const Operation& op, size_t number);
  Type pointer_type();
  Type descriptor_type();
  void refuse(const std::string& what) { module_->unknown.push_back({s_.line(), what, "is not known"}); }
  /// Skips to a closing >.
  void refuse_rest(const std::string& what);

  /// 64x32xf16
  Type shaped();
  Type type();

  // ---- Attributes ---------------------------------------------------------------------------------------------------
  std::map<std::string, Attribute> dictionary();
  /// The properties after the first <: {..}>.
  std::map<std::string, Attribute> properties();
  Attribute attribute();

  /// array<i32: 1, 0>
  void array(Attribute& a);
  double real_of(const std::string& written, Element e);
  static double real_of_bits(uint32_t bits, Element e);
  int64_t integer_of(const std::string& written, Element e);
  void set_number(Attribute& a, const std::string& written, const Type& t);
  void dense_items(std::vector<std::string>* items);
  Attribute dense();

  /// "0x0001…": bytes of the elements, little-endian.
  std::vector<std::string> from_bytes(const std::string& hex, const Type& t);

  // ---- Locations ----------------------------------------------------------------------------------------------------
  /// A location as written; resolved when all aliases are known.
  struct RawLocation {
    std::string alias;  ///< not empty: refers to the location of that name
    std::string file, name;
    int line = 0;
    std::vector<uint32_t> inner;  ///< of a name; callee and caller; parts of a fused location
    bool call_site = false;
  };
  /// loc(...) if it comes next; returns its number.
  uint32_t trailing_location() { return s_.take_word("loc") ? location() : 0; }

  uint32_t raw(RawLocation l);
  uint32_t location();
  uint32_t inner_location();

  /// A call's location is that of its caller in the kernel; a fused location is its first known part.
  const Location& settled(uint32_t n, int depth);
  void settle_locations();

  struct Labels {
    std::map<std::string, uint32_t> numbers;
    std::vector<bool> defined;
  };
  bool in_descriptor_ = false;
  Scanner s_;
  std::shared_ptr<Module> module_ = std::make_shared<Module>();
  Function* f_ = nullptr;
  std::vector<Scope> scopes_;
  std::vector<Labels> labels_;
  std::vector<uint32_t> block_places_;  ///< of the arguments of the last entry block
  std::vector<RawLocation> raw_;
  std::map<std::string, uint32_t> location_aliases_, alias_raw_;
  std::vector<std::pair<size_t, std::vector<uint32_t>>> argument_places_;
  std::map<std::string, std::vector<Type>> function_types_;
  std::vector<int> state_;  ///< of locations: 0 open, 1 in progress, 2 resolved
  int depth_ = 0;
};

}  // namespace kernbench::triton
