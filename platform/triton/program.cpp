// SPDX-License-Identifier: Apache-2.0
// Properties of a function before it runs.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>

#include "kernbench/phase2/op/math_op.h"
#include "kernbench/platform/triton/interpreter.h"

namespace kernbench::triton {

namespace {

using Visit = std::function<void(const Operation&)>;

void for_each(const Region& r, const Visit& visit) {
  for (const Block& b : r.blocks) {
    for (const Operation& op : b.operations) {
      visit(op);
      for (const Region& inner : op.regions) for_each(inner, visit);
    }
  }
}

/// Whether the operation supports tensors with more dimensions than tl.
bool takes_any_rank(Does d) {
  switch (d) {
    case Does::bitcast:
    case Does::constant:
    case Does::poison:
    case Does::splat:
    case Does::unsplat:
    case Does::expand_dims:
    case Does::broadcast:
    case Does::reshape:
    case Does::reduce:
    case Does::print:
    case Does::assertion:
    case Does::call:
    case Does::terminator:
    case Does::branch:
    case Does::for_loop:
    case Does::if_else:
    case Does::while_loop:
      return true;
    default:
      return is_elementwise(d);
  }
}

/// The function and all its callees.
std::vector<const Function*> reached(const Module& m, const Function& f) {
  std::vector<const Function*> all = {&f};
  for (size_t i = 0; i < all.size(); ++i) {
    for_each(all[i]->body, [&](const Operation& op) {
      if (op.info->does != Does::call) return;
      const Attribute* name = op.attribute("callee");  // not checked if something is unknown
      const Function* callee = name ? m.function(name->text) : nullptr;
      for (const Function* known : all) {
        if (known == callee) callee = nullptr;
      }
      if (callee) all.push_back(callee);
    });
  }
  return all;
}

}  // namespace

Program::Program(std::shared_ptr<const Module> module, const Function& function)
    : module_(std::move(module)), function_(function) {
  for (const Function* f : reached(*module_, function_)) examine(*f);
}

void Program::examine(const Function& f) {
  // Where each value is defined, and its last use in that block, including uses in nested regions.
  std::map<ValueId, const Block*> home;
  const std::function<void(const Region&)> find_homes = [&](const Region& r) {
    for (const Block& b : r.blocks) {
      for (const ValueId v : b.arguments) home[v] = &b;
      for (const Operation& op : b.operations) {
        for (const ValueId v : op.results) home[v] = &b;
        for (const Region& inner : op.regions) find_homes(inner);
      }
    }
  };
  find_homes(f.body);
  std::set<ValueId> elsewhere;  // used outside the defining block, in a function with branches
  const std::function<void(const Region&)> find_ends = [&](const Region& r) {
    for (const Block& b : r.blocks) {
      std::map<ValueId, const Operation*> last;
      for (const Operation& op : b.operations) {
        for (const ValueId v : op.results) last[v] = &op;
        const Visit use = [&](const Operation& user) {
          for (const ValueId v : user.operands) last[v] = &op;
          for (const Successor& to : user.successors) {
            for (const ValueId v : to.operands) last[v] = &op;
          }
        };
        use(op);
        for (const Region& inner : op.regions) for_each(inner, use);
      }
      for (const auto& [v, op] : last) {
        if (home[v] == &b) {
          if (elsewhere.count(v) == 0) dying_[op].push_back(v);
        }
      }
      for (const ValueId v : b.arguments) {
        if (last.count(v) == 0 && elsewhere.count(v) == 0) unused_[&b].push_back(v);
      }
      for (const Operation& op : b.operations) {
        for (const Region& inner : op.regions) find_ends(inner);
      }
    }
  };
  for (const Block& b : f.body.blocks) {
    for (const Operation& op : b.operations) {
      const Visit use = [&](const Operation& user) {
        const auto note = [&](ValueId v) {
          for (const Block& other : f.body.blocks) {
            if (home[v] == &other && &other != &b) elsewhere.insert(v);
          }
        };
        for (const ValueId v : user.operands) note(v);
        for (const Successor& to : user.successors) {
          for (const ValueId v : to.operands) note(v);
        }
      };
      use(op);
      for (const Region& inner : op.regions) for_each(inner, use);
    }
  }
  find_ends(f.body);
  const std::function<void(const Region&)> lay_out = [&](const Region& r) {
    for (const Block& b : r.blocks) {
      std::vector<Step>& steps = steps_[&b];
      const Operations joins = joining(b, elsewhere);
      for (const Operation& op : b.operations) {
        steps.push_back({&op, place(op), &dying(op), joins.count(&op) > 0});
        for (const Region& inner : op.regions) lay_out(inner);
      }
    }
  };
  lay_out(f.body);
}

bool is_elementwise(Does d) {
  return d == Does::integer || d == Does::real || d == Does::compare || d == Does::select || d == Does::convert ||
         d == Does::extern_call;
}

Program::Operations Program::joining(const Block& b, const std::set<ValueId>& elsewhere) {
  const auto elementwise = [](const Operation& op) { return is_elementwise(op.info->does); };
  // Operations without an engine command, and loads.
  const auto lets_pass = [&](const Operation& op) {
    const Does d = op.info->does;
    return elementwise(op) || d == Does::load || d == Does::constant || d == Does::make_range ||
           d == Does::program_id || d == Does::num_programs || d == Does::splat || d == Does::expand_dims ||
           d == Does::broadcast || d == Does::addptr;
  };
  Operations joins;
  std::map<ValueId, const Operation*> open;  // results without a reader so far
  std::map<ValueId, const Operation*> made;  // results with one reader so far
  for (const Operation& op : b.operations) {
    std::set<ValueId> read(op.operands.begin(), op.operands.end());
    for (const Region& inner : op.regions) {
      for_each(inner, [&](const Operation& user) { read.insert(user.operands.begin(), user.operands.end()); });
    }
    for (const Successor& to : op.successors) read.insert(to.operands.begin(), to.operands.end());
    for (const ValueId v : read) {
      const auto second = made.find(v);
      if (second != made.end()) joins.erase(second->second);
      const auto first = open.find(v);
      if (first == open.end()) continue;
      if (elementwise(op)) joins.insert(first->second);
      made.insert(*first);
      open.erase(first);
    }
    if (!lets_pass(op)) open.clear();
    if (elementwise(op) && op.results.size() == 1 && elsewhere.count(op.results[0]) == 0) open[op.results[0]] = &op;
  }
  return joins;
}

const std::vector<ValueId>& Program::dying(const Operation& op) const {
  static const std::vector<ValueId> none;
  const auto it = dying_.find(&op);
  return it == dying_.end() ? none : it->second;
}

const std::vector<ValueId>& Program::unused(const Block& block) const {
  static const std::vector<ValueId> none;
  const auto it = unused_.find(&block);
  return it == unused_.end() ? none : it->second;
}

SourceLine Program::place(const Operation& op) const {
  const Location& l = module_->locations[op.location];
  if (!l.file.empty()) return {l.file.c_str(), l.line};
  return {module_->file.c_str(), op.line};
}

std::vector<Refusal> refusals(const Module& m, const Function& f) {
  std::vector<Refusal> all = m.unknown;
  for (const Function* function : reached(m, f)) {
    for_each(function->body, [&](const Operation& op) {
      const auto type = [&](ValueId v) { return function->types[v]; };
      const auto refuse = [&](const std::string& why) { all.push_back({op.line, op.name, why}); };
      if (op.info->does == Does::not_run) refuse("is not supported");
      const auto arity = [](const std::string& name) {  // of computable ops; 0: not computable
        const MathOp* found = find_math_op(name);
        return name == kPower ? 2 : found ? found->arity : 0;
      };
      if (op.info->does == Does::real && arity(op.info->tl) == 0)
        refuse(std::string("is not supported: the engines have no op '") + op.info->tl + "'");
      if (op.info->does == Does::extern_call) {
        const Attribute* symbol = op.attribute("symbol");
        const char* name = library_op(symbol ? symbol->text : "");
        if (!name || arity(name) != static_cast<int>(op.operands.size()))
          refuse("is not supported: the engines have no op for " + (symbol ? symbol->text : "it"));
      }
      if (op.info->does == Does::dot && type(op.results[0]).shape.rank() != 2)
        refuse("is not supported for more than two dimensions");
      bool deep = false;
      for (const auto* values : {&op.operands, &op.results}) {
        for (const ValueId v : *values) deep = deep || type(v).shape.is_deep();
      }
      if (deep && !takes_any_rank(op.info->does))
        refuse(fmt::format("is not supported for tensors of more than {} dimensions", kMaxRank));
      if ((op.info->does == Does::descriptor_load || op.info->does == Does::descriptor_store) &&
          type(op.operands[0]).kind != Type::Kind::descriptor)
        refuse("is not supported for descriptors that are raw pointers");
      for (const auto* values : {&op.operands, &op.results}) {
        for (const ValueId v : *values) {
          const Type& t = type(v);
          const bool memory = t.kind != Type::Kind::number && t.known();
          if ((memory || t.element == Element::f64) && !fits_memory(t.element)) {
            refuse("is not supported for " + t.to_string() + ": memories and engines hold no " + name_of(t.element));
            return;
          }
        }
      }
    });
  }
  return all;
}

std::vector<bool> stored_arguments(const Module& m, const Function& f) {
  // Pointers that a store may use: traces the data flow backwards to a fixed point.
  std::set<ValueId> stored;
  for (size_t before = SIZE_MAX; before != stored.size();) {
    before = stored.size();
    for_each(f.body, [&](const Operation& op) {
      if (op.info->does == Does::load) return;          // a loaded value does not depend on its address
      bool number = op.info->does == Does::int_to_ptr;  // its origin was a pointer
      for (const ValueId v : op.results)
        number = number || (f.types[v].kind == Type::Kind::number && stored.count(v) > 0);
      const auto add = [&](ValueId v) {
        if (number || f.types[v].kind != Type::Kind::number) stored.insert(v);
      };
      const bool writes = op.info->does == Does::store || op.info->does == Does::descriptor_store ||
                          op.info->does == Does::atomic || op.info->does == Does::not_run;
      if (writes && !op.operands.empty()) add(op.operands[0]);
      if (op.info->does == Does::call) {  // follows the callee
        const Function& callee = *m.function(op.attribute("callee")->text);
        const std::vector<bool> inner = stored_arguments(m, callee);
        for (size_t i = 0; i < op.operands.size(); ++i) {
          if (inner[i]) stored.insert(op.operands[i]);
          if (!op.results.empty()) add(op.operands[i]);
        }
        return;
      }
      bool any = false;
      for (const ValueId v : op.results) any = any || stored.count(v) > 0;
      for (const Region& r : op.regions) {
        for (const Block& b : r.blocks) {
          for (const ValueId v : b.arguments) any = any || stored.count(v) > 0;
        }
      }
      if (any) {
        for (const ValueId v : op.operands) add(v);
        for (const Region& r : op.regions) {
          for (const Block& b : r.blocks) {
            if (b.operations.empty()) continue;
            for (const ValueId v : b.operations.back().operands) add(v);
          }
        }
      }
      for (const Successor& to : op.successors) {
        const Block& b = f.body.blocks[to.block];
        for (size_t i = 0; i < to.operands.size(); ++i) {
          if (stored.count(b.arguments[i]) > 0) stored.insert(to.operands[i]);
        }
      }
    });
  }
  std::vector<bool> result;
  for (const Argument& a : f.arguments) result.push_back(stored.count(a.value) > 0);
  return result;
}

}  // namespace kernbench::triton
