// SPDX-License-Identifier: Apache-2.0
// Checks regions, blocks, terminators and calls.
#include <algorithm>
#include <functional>
#include <set>

#include "kernbench/platform/triton/typing.h"

namespace kernbench::triton {

namespace {

class Structure {
 public:
  Structure(const Module& m, const Function& f) : m_(m), f_(f) {}

  std::string fault() {
    if (f_.body.blocks.empty()) return {};
    region(f_.body, nullptr, 0);
    return fault_;
  }

 private:
  void told(const Operation& op, const std::string& what) {
    if (fault_.empty()) fault_ = std::to_string(op.line) + ": " + op.name + ": " + what;
  }
  std::vector<Type> types(const std::vector<ValueId>& values) const {
    std::vector<Type> t;
    for (const ValueId v : values) t.push_back(f_.types[v]);
    return t;
  }
  static bool fit(const std::vector<Type>& a, const std::vector<Type>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Type& x, const Type& y) { return !x.known() || !y.known() || x == y; });
  }
  static std::vector<Type> from(std::vector<Type> t, size_t first) {
    t.erase(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(std::min(first, t.size())));
    return t;
  }

  void region(const Region& r, const Operation* parent, size_t number) {
    if (parent && r.blocks.size() != 1)
      return told(*parent, "found a region of " + std::to_string(r.blocks.size()) + " blocks");
    for (const Block& b : r.blocks) {
      if (b.operations.empty()) {
        // An unknown operation may have been the terminator.
        if (m_.unknown.empty() && fault_.empty())
          fault_ = std::to_string(parent ? parent->line : f_.line) + ": found a block without an end";
        return;
      }
      for (size_t i = 0; i < b.operations.size(); ++i) {
        const Operation& op = b.operations[i];
        const bool ends = op.info->does == Does::terminator || op.info->does == Does::branch;
        const bool last = i + 1 == b.operations.size();
        if (ends != last && m_.unknown.empty())
          return told(op, ends ? "found before the end of its block" : "found at the end of its block");
        // Ops with regions, terminators and branches are checked only here.
        if (const std::string wrong = fault_of_count(op); !wrong.empty()) return told(op, wrong);
        if (ends) terminator(op, r, parent, number);
        operation(op);
        if (!fault_.empty()) return;
      }
    }
  }

  void terminator(const Operation& op, const Region& r, const Operation* parent, size_t number) {
    if (op.info->does == Does::branch) {
      if (op.successors.size() != (op.name == "cf.cond_br" ? 2 : 1)) return told(op, "found other successors");
      if (op.name == "cf.cond_br" && f_.types[op.operands[0]].known() &&
          f_.types[op.operands[0]] != Type{Type::Kind::number, Element::i1})
        return told(op, "found a condition of " + f_.types[op.operands[0]].to_string());
      for (const Successor& to : op.successors) {
        if (!fit(types(to.operands), types(r.blocks[to.block].arguments)))
          return told(op, "found other values than its block takes");
      }
      return;
    }
    const std::string wanted = parent == nullptr                                       ? "tt.return"
                               : parent->info->does == Does::reduce                    ? "tt.reduce.return"
                               : parent->info->does == Does::scan                      ? "tt.scan.return"
                               : parent->name == "tt.map_elementwise"                  ? "tt.map_elementwise.return"
                               : parent->info->does == Does::while_loop && number == 0 ? "scf.condition"
                                                                                       : "scf.yield";
    if (op.name != wanted) return told(op, "found where " + wanted + " ends");
    std::vector<Type> given = types(op.operands);
    if (parent == nullptr) {
      if (!fit(given, f_.results)) told(op, "found other values than the function returns");
      return;
    }
    std::vector<Type> results = types(parent->results);
    switch (parent->info->does) {
      case Does::reduce:
      case Does::scan:
        for (Type& t : results) {
          t.tensor = false;
          t.shape = {};
        }
        break;
      case Does::while_loop:
        if (number == 0) {
          if (given.empty() || (given[0].known() && given[0] != Type{Type::Kind::number, Element::i1}))
            return told(op, "found no condition");
          given = from(given, 1);
        } else {
          results = types(parent->operands);
        }
        break;
      default:
        break;
    }
    if (!fit(given, results)) told(op, "found other values than " + parent->name + " gives");
  }

  void operation(const Operation& op) {
    const auto wanted_regions = [&](size_t least, size_t most) {
      if (op.regions.size() < least || op.regions.size() > most)
        told(op, "found " + std::to_string(op.regions.size()) + " regions");
    };
    switch (op.info->does) {
      case Does::for_loop: {
        wanted_regions(1, 1);
        if (!fault_.empty()) return;
        const auto in = types(op.operands);
        if (in.size() < 3 || !in[0].known() || in[0].tensor || in[0].kind != Type::Kind::number ||
            is_float(in[0].element) || in[0] != in[1] || in[0] != in[2])
          return m_.unknown.empty() ? told(op, "found bounds that are no integers of one type") : void();
        auto arguments = types(op.regions[0].blocks[0].arguments);
        if (arguments.empty() || !fit({in[0]}, {arguments[0]}) || !fit(from(in, 3), from(arguments, 1)) ||
            !fit(from(in, 3), types(op.results)))
          return told(op, "found other carried values than arguments or results");
        break;
      }
      case Does::if_else:
        wanted_regions(1, 2);
        if (!fault_.empty()) return;
        if (op.regions.size() == 2 && op.regions[1].blocks.size() == 1 && op.regions[1].blocks[0].operations.empty() &&
            op.results.empty()) {
          region(op.regions[0], &op, 0);  // an empty else in generic form
          return;
        }
        if (op.regions.size() == 1 && !op.results.empty()) return told(op, "found results without else");
        if (f_.types[op.operands[0]].known() && f_.types[op.operands[0]] != Type{Type::Kind::number, Element::i1})
          return told(op, "found a condition of " + f_.types[op.operands[0]].to_string());
        break;
      case Does::while_loop: {
        wanted_regions(2, 2);
        if (!fault_.empty()) return;
        if (!fit(types(op.operands), types(op.regions[0].blocks[0].arguments)) ||
            !fit(types(op.results), types(op.regions[1].blocks[0].arguments)))
          return told(op, "found other carried values than arguments");
        break;
      }
      case Does::reduce:
      case Does::scan:
        return reduction(op);
      case Does::call:
        return call(op);
      default:
        if (!op.regions.empty() && op.info->does != Does::not_run) return told(op, "found a region");
        if (op.info->does == Does::not_run) return;
    }
    for (size_t i = 0; i < op.regions.size() && fault_.empty(); ++i) region(op.regions[i], &op, i);
  }

  void reduction(const Operation& op) {
    if (op.regions.size() != 1) return told(op, "found " + std::to_string(op.regions.size()) + " regions");
    const Attribute* axis = op.attribute("axis");
    const auto in = types(op.operands);
    std::vector<Type> elements, results;
    for (Type t : in) {
      if (!t.known()) return;
      if (!t.is(Type::Kind::number, true) || t.shape != in[0].shape) return told(op, "found " + t.to_string());
      if (axis == nullptr || axis->integer < 0 || axis->integer >= t.shape.rank())
        return told(op, "found no axis of its operands");
      Type result = t;
      if (op.info->does == Does::reduce) {
        result.shape = {};
        for (int i = 0; i < t.shape.rank(); ++i) {
          if (i != axis->integer) result.shape.push_back(t.shape[i]);
        }
        result.tensor = result.shape.rank() > 0;
      }
      results.push_back(result);
      t.tensor = false;
      t.shape = {};
      elements.push_back(t);
    }
    if (!fit(results, types(op.results))) return told(op, "found other results than its axis leaves");
    std::vector<Type> twice = elements;
    twice.insert(twice.end(), elements.begin(), elements.end());
    if (op.regions[0].blocks.size() != 1 || !fit(twice, types(op.regions[0].blocks[0].arguments)))
      return told(op, "found other arguments of its region than two of each operand");
    region(op.regions[0], &op, 0);
  }

  void call(const Operation& op) {
    const Attribute* callee = op.attribute("callee");
    const Function* f = callee ? m_.function(callee->text) : nullptr;
    if (f == nullptr || f->body.blocks.empty()) return told(op, "found no function @" + (callee ? callee->text : ""));
    std::vector<Type> arguments;
    for (const Argument& a : f->arguments) arguments.push_back(f->types[a.value]);
    if (!fit(types(op.operands), arguments) || !fit(types(op.results), f->results))
      return told(op, "found other types than @" + f->name + " has");
    std::set<const Function*> seen;
    if (reaches(*f, f_, &seen)) told(op, "found a function that calls itself: @" + f_.name);
  }
  bool reaches(const Function& from_function, const Function& to, std::set<const Function*>* seen) const {
    if (&from_function == &to) return true;
    if (!seen->insert(&from_function).second) return false;
    bool found = false;
    const std::function<void(const Region&)> walk = [&](const Region& r) {
      for (const Block& b : r.blocks) {
        for (const Operation& op : b.operations) {
          for (const Region& inner : op.regions) walk(inner);
          const Attribute* callee = op.info->does == Does::call ? op.attribute("callee") : nullptr;
          const Function* next = callee ? m_.function(callee->text) : nullptr;
          if (next) found = found || reaches(*next, to, seen);
        }
      }
    };
    walk(from_function.body);
    return found;
  }

  const Module& m_;
  const Function& f_;
  std::string fault_;
};

}  // namespace

std::string structure_fault(const Module& m, const Function& f) {
  return Structure(m, f).fault();
}

}  // namespace kernbench::triton
