#include "kernbench/platform/triton/reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/triton/scanner.h"
#include "kernbench/platform/triton/typing.h"

namespace kernbench::triton {

namespace {

constexpr int kDeepest = 100;          // regions, locations, attributes in each other
constexpr int64_t kLargest = 1048576;  // elements of a tensor: Triton's own limit
constexpr int64_t kMostResults = 1024;

const std::map<std::string, Element>& elements() {
  static const std::map<std::string, Element> all = {
      {"i1", Element::i1},   {"i8", Element::i8},       {"i16", Element::i16},         {"i32", Element::i32},
      {"i64", Element::i64}, {"index", Element::index}, {"bf16", Element::bf16},       {"f16", Element::f16},
      {"f32", Element::f32}, {"f64", Element::f64},     {"f8E4M3FN", Element::f8e4m3}, {"f8E5M2", Element::f8e5m2}};
  return all;
}

/// A location as it is written: settled when all aliases are known.
struct RawLocation {
  std::string alias;  ///< not empty: the location of that name
  std::string file, name;
  int line = 0;
  std::vector<uint32_t> inner;  ///< of a name; callee and caller; those that were fused
  bool call_site = false;
};

class Reader {
 public:
  Reader(const std::string& file, const std::string& text) : s_(file, text) { module_->file = file; }

  std::shared_ptr<const Module> read() {
    raw_.emplace_back();
    while (!s_.at_end()) top_level();
    settle_locations();
    for (const Function& f : module_->functions) {
      const std::string fault = structure_fault(*module_, f);
      if (!fault.empty()) throw InputError(module_->file + ":" + fault);
    }
    return module_;
  }

 private:
  struct Named {
    ValueId first = 0;
    int64_t count = 1;
  };
  using Scope = std::map<std::string, Named>;
  struct Depth {
    explicit Depth(Reader& r) : reader(r) {
      if (++reader.depth_ > kDeepest) reader.s_.fail("found more than " + std::to_string(kDeepest) + " levels");
    }
    ~Depth() { --reader.depth_; }
    Reader& reader;
  };

  // ---- The file -------------------------------------------------------------------------------------------------
  void top_level() {
    const char c = s_.peek();
    if (c == '#') {
      s_.step();
      const std::string alias = s_.name();
      s_.require("=");
      if (s_.take_word("loc")) {
        location_aliases_[alias] = location();
      } else {
        s_.skip_statement();
      }
    } else if (s_.take("{-#")) {
      while (!s_.take("#-}")) {
        if (s_.at_end()) s_.expected("'#-}'");
        s_.step();
      }
    } else if (c == '!') {
      s_.skip_statement();
    } else if (s_.take_word("module")) {
      const Depth depth(*this);
      if (s_.peek() == '@') symbol();
      if (s_.take_word("attributes")) s_.peek() == '{' ? s_.skip_brackets() : s_.expected("'{'");
      s_.require("{");
      while (!s_.take("}")) top_level();
      trailing_location();
    } else if (s_.take("\"builtin.module\"")) {
      const Depth depth(*this);
      s_.require("(");
      s_.require(")");
      if (s_.take("<")) properties();
      s_.require("(");
      s_.require("{");
      if (s_.take("^")) {
        s_.name();
        s_.require(":");
      }
      while (!s_.take("}")) top_level();
      s_.require(")");
      if (s_.peek() == '{') s_.skip_brackets();
      s_.require(":");
      s_.require("(");
      s_.require(")");
      s_.require("->");
      s_.require("(");
      s_.require(")");
      trailing_location();
    } else if (s_.take_word("tt.func")) {
      function();
    } else if (s_.take("\"tt.func\"")) {
      generic_function();
    } else if (s_.at_word() || c == '"') {
      Operation op;
      op.line = s_.line();
      op.name = c == '"' ? s_.string() : s_.word();
      unknown(op);
      s_.skip_statement();
    } else {
      s_.expected("a function");
    }
  }

  std::string symbol() {
    s_.require("@");
    return s_.name();
  }

  void begin_function() {
    module_->functions.emplace_back();
    f_ = &module_->functions.back();
    scopes_.assign(1, {});
  }
  void end_function() {
    trailing_location();
    for (const Function& other : module_->functions) {
      if (&other != f_ && other.name == f_->name) s_.fail("found a second function @" + f_->name);
    }
    f_ = nullptr;
  }

  void function() {
    begin_function();
    f_->line = s_.line();
    for (const char* visibility : {"public", "private", "nested"}) {
      if (s_.take_word(visibility)) f_->is_public = std::string(visibility) == "public";
    }
    f_->name = symbol();
    s_.require("(");
    std::vector<std::pair<std::string, Type>> arguments;
    std::vector<uint32_t> places;
    while (!s_.take(")")) {
      if (!arguments.empty()) s_.require(",");
      std::string name;
      if (s_.peek() == '%') {
        s_.step();
        name = s_.name();
        s_.require(":");
      }
      arguments.emplace_back(name, type());
      f_->arguments.emplace_back();
      if (s_.peek() == '{') {
        const auto attributes = dictionary();
        const auto at = attributes.find("tt.divisibility");
        if (at != attributes.end()) f_->arguments.back().divisibility = std::max<int64_t>(1, at->second.integer);
      }
      places.push_back(trailing_location());
    }
    argument_places_.emplace_back(module_->functions.size() - 1, places);
    if (s_.take("->")) {
      if (s_.take("(")) {
        while (!s_.take(")")) {
          if (!f_->results.empty()) s_.require(",");
          f_->results.push_back(type());
          if (s_.peek() == '{') s_.skip_brackets();
        }
      } else {
        f_->results.push_back(type());
      }
    }
    if (s_.take_word("attributes")) dictionary();
    if (s_.peek() == '{') {
      f_->body = region(&arguments);
      take_arguments(f_->body.blocks.front());
    } else {
      for (size_t i = 0; i < arguments.size(); ++i) f_->arguments[i].value = value(arguments[i].second);
    }
    end_function();
  }

  void take_arguments(const Block& entry) {
    if (f_->arguments.empty()) f_->arguments.resize(entry.arguments.size());
    for (size_t i = 0; i < entry.arguments.size(); ++i) f_->arguments[i].value = entry.arguments[i];
  }

  /// "tt.func"() <{function_type = (..) -> .., sym_name = ".."}> ({ .. }) : () -> ()
  void generic_function() {
    begin_function();
    f_->line = s_.line();
    s_.require("(");
    s_.require(")");
    std::map<std::string, Attribute> attributes;
    if (s_.take("<")) attributes = properties();
    s_.require("(");
    f_->body = region(nullptr);
    s_.require(")");
    if (s_.peek() == '{') attributes.merge(dictionary());
    const auto name = attributes.find("sym_name");
    if (name == attributes.end()) s_.fail("found a function without sym_name");
    f_->name = name->second.text;
    for (const ValueId id : f_->body.blocks.front().arguments) {
      f_->arguments.emplace_back();
      f_->arguments.back().value = id;
    }
    argument_places_.emplace_back(module_->functions.size() - 1, block_places_);
    const auto signature =
        function_types_.find(attributes.count("function_type") ? attributes["function_type"].text : "");
    if (signature != function_types_.end()) f_->results = signature->second;
    s_.require(":");
    told();
    end_function();
  }

  // ---- Values ---------------------------------------------------------------------------------------------------
  ValueId value(const Type& t) {
    f_->types.push_back(t);
    return static_cast<ValueId>(f_->types.size() - 1);
  }
  void define(const std::string& name, const Named& n) {
    if (!scopes_.back().emplace(name, n).second) s_.fail("found a second value %" + name);
  }
  ValueId operand() {
    s_.require("%");
    const std::string name = s_.name();
    int64_t index = 0;
    bool numbered = false;
    if (s_.here('#')) {
      s_.step();
      index = s_.digits();
      numbered = true;
    }
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto it = scope->find(name);
      if (it == scope->end()) continue;
      if (index >= it->second.count || (!numbered && it->second.count != 1))
        s_.fail("found %" + name + (numbered ? "#" + std::to_string(index) : "") + ", which stands for " +
                std::to_string(it->second.count) + " values");
      return it->second.first + static_cast<ValueId>(index);
    }
    s_.fail("found %" + name + ", expected a value that is defined before");
  }
  const Type& type_of(ValueId v) const { return f_->types[v]; }

  // ---- Regions --------------------------------------------------------------------------------------------------
  using Arguments = std::vector<std::pair<std::string, Type>>;

  /// From { to }; `entry`: what the operation itself names as the entry block's arguments.
  Region region(const Arguments* entry) {
    const Depth depth(*this);
    s_.require("{");
    Region r;
    scopes_.emplace_back();
    labels_.emplace_back();
    block_places_.clear();
    if (entry || s_.peek() != '^') {
      r.blocks.emplace_back();
      labels_.back().defined.push_back(true);
      if (entry) {
        for (const auto& [name, t] : *entry) add_argument(r.blocks.back(), name, t);
      }
      operations(r.blocks.back());
    }
    while (s_.peek() == '^') {
      s_.step();
      const std::string name = s_.name();
      const uint32_t number = label(name, r.blocks.empty() && labels_.back().defined.empty());
      if (labels_.back().defined[number]) s_.fail("found a second block ^" + name);
      labels_.back().defined[number] = true;
      Block b;
      if (s_.take("(")) {
        while (!s_.take(")")) {
          if (!b.arguments.empty()) s_.require(",");
          s_.require("%");
          const std::string argument = s_.name();
          s_.require(":");
          add_argument(b, argument, type());
          const uint32_t place = trailing_location();
          if (number == 0) block_places_.push_back(place);
        }
      }
      s_.require(":");
      const std::vector<uint32_t> places = block_places_;
      operations(b);
      block_places_ = places;
      if (r.blocks.size() <= number) r.blocks.resize(number + 1);
      r.blocks[number] = std::move(b);
    }
    s_.require("}");
    const auto& defined = labels_.back().defined;
    if (std::find(defined.begin(), defined.end(), false) != defined.end())
      s_.fail("found a branch to a block that is not in its region");
    if (r.blocks.empty()) r.blocks.emplace_back();
    labels_.pop_back();
    scopes_.pop_back();
    return r;
  }
  void add_argument(Block& b, const std::string& name, const Type& t) {
    b.arguments.push_back(value(t));
    define(name, {b.arguments.back(), 1});
  }
  uint32_t label(const std::string& name, bool entry = false) {
    auto& l = labels_.back();
    const auto [at, fresh] = l.numbers.emplace(name, static_cast<uint32_t>(l.defined.size()));
    if (fresh) {
      l.defined.push_back(false);
      if (entry && at->second != 0) s_.fail("found ^" + name + " twice");
    }
    return at->second;
  }
  void operations(Block& b) {
    while (s_.peek() != '}' && s_.peek() != '^') operation(b);
  }

  // ---- Operations -----------------------------------------------------------------------------------------------
  void operation(Block& b) {
    Operation op;
    std::vector<std::pair<std::string, int64_t>> names;
    while (s_.peek() == '%') {
      s_.step();
      const std::string name = s_.name();
      int64_t count = 1;
      if (s_.take(":")) count = s_.digits();
      if (count < 1 || count > kMostResults) s_.fail("found " + std::to_string(count) + " results");
      names.emplace_back(name, count);
      if (!s_.take(",")) {
        s_.require("=");
        break;
      }
    }
    int64_t wanted = 0;
    for (const auto& [name, count] : names) wanted += count;
    if (s_.peek() != '"' && !s_.at_word()) s_.expected("an operation");
    op.line = s_.line();
    const bool generic = s_.peek() == '"';
    op.name = generic ? s_.string() : s_.word();
    op.info = find_op(op.name);
    std::vector<Type> results(static_cast<size_t>(wanted));
    if (op.info == nullptr) {
      unknown(op);
      s_.skip_statement();
    } else {
      results = generic ? generic_form(op) : own_form(op);
      op.location = trailing_location();
    }
    if (static_cast<int64_t>(results.size()) != wanted && !(names.empty() && op.info != nullptr))
      fail_at(op, "found " + std::to_string(wanted) + " results, expected " + std::to_string(results.size()));
    for (const Type& t : results) op.results.push_back(value(t));
    ValueId next = op.results.empty() ? 0 : op.results.front();
    for (const auto& [name, count] : names) {
      define(name, {next, count});
      next += static_cast<ValueId>(count);
    }
    if (op.info != nullptr) b.operations.push_back(std::move(op));
  }

  [[noreturn]] void fail_at(const Operation& op, const std::string& what) const {
    throw InputError(module_->file + ":" + std::to_string(op.line) + ": " + op.name + ": " + what);
  }
  void unknown(const Operation& op) { module_->unknown.push_back({op.line, op.name, "is not known"}); }

  std::vector<Type> settle(Operation& op, const Told& types) {
    std::string fault;
    std::vector<Type> operands;
    for (const ValueId v : op.operands) operands.push_back(type_of(v));
    std::vector<Type> results = settle_types(op, types, operands, &fault);
    if (!fault.empty()) fail_at(op, fault);
    return results;
  }

  std::vector<Type> generic_form(Operation& op) {
    s_.require("(");
    while (!s_.take(")")) {
      if (!op.operands.empty()) s_.require(",");
      op.operands.push_back(operand());
    }
    if (s_.take("[")) {
      while (!s_.take("]")) {
        if (!op.successors.empty()) s_.require(",");
        s_.require("^");
        op.successors.push_back({label(s_.name()), {}});
      }
    }
    if (s_.take("<")) op.attributes = properties();
    if (s_.take("(")) {
      while (!s_.take(")")) {
        if (!op.regions.empty()) s_.require(",");
        op.regions.push_back(region(nullptr));
      }
    }
    if (s_.peek() == '{') op.attributes.merge(dictionary());
    s_.require(":");
    Told types = told();
    if (!types.arrow) s_.expected("'->'");
    if (types.before.size() != op.operands.size())
      fail_at(op, "found " + std::to_string(op.operands.size()) + " operands of " +
                      std::to_string(types.before.size()) + " types");
    for (size_t i = 0; i < op.operands.size(); ++i) require_type(op, op.operands[i], types.before[i]);
    if (!op.successors.empty()) split_operands(op);
    types.arrow = true;
    Told as_told = types;
    return settle_generic(op, as_told);
  }

  void require_type(const Operation& op, ValueId v, const Type& t) {
    const Type& is = type_of(v);
    if (is.known() && t.known() && is != t)
      fail_at(op, "found an operand of " + is.to_string() + " where " + t.to_string() + " is told");
  }

  /// The condition stays; the rest are those of the successors, by operandSegmentSizes.
  void split_operands(Operation& op) {
    const size_t kept = op.name == "cf.cond_br" ? 1 : 0;
    std::vector<ValueId> rest(op.operands.begin() + static_cast<std::ptrdiff_t>(std::min(kept, op.operands.size())),
                              op.operands.end());
    op.operands.resize(std::min(kept, op.operands.size()));
    size_t first = rest.size();
    if (op.successors.size() == 2) {
      const Attribute* sizes = op.attribute("operandSegmentSizes");
      if (sizes == nullptr || sizes->integers.size() != 3 || sizes->integers[1] < 0 ||
          sizes->integers[1] > static_cast<int64_t>(rest.size()))
        fail_at(op, "found two successors, expected operandSegmentSizes of three");
      first = static_cast<size_t>(sizes->integers[1]);
    }
    op.successors[0].operands.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(first));
    if (op.successors.size() == 2)
      op.successors[1].operands.assign(rest.begin() + static_cast<std::ptrdiff_t>(first), rest.end());
  }

  /// What the op's own form would have told of the types.
  std::vector<Type> settle_generic(Operation& op, const Told& all) {
    switch (op.info->does) {
      case Does::for_loop:
      case Does::if_else:
      case Does::while_loop:
        return all.after;
      default:
        break;
    }
    if (op.info->does == Does::terminator || op.info->does == Does::branch) return {};
    Told t;
    switch (op.info->typing) {
      case Typing::alike:
      case Typing::compare:
        if (all.before.empty()) break;
        t.before = {all.before.front()};
        if (op.info->typing == Typing::alike && !all.after.empty() && all.after.front() != all.before.front())
          fail_at(op, "found a result of " + all.after.front().to_string());
        break;
      case Typing::select:
        if (!all.before.empty()) t.before = {all.before.back()};
        break;
      case Typing::load:
        if (!all.before.empty()) t.before = {all.before.front()};
        break;
      case Typing::store:
        if (!all.before.empty()) t.before = {all.before.front()};
        break;
      case Typing::addptr:
        t.before = all.before;
        break;
      case Typing::dot:
        t.before.assign(
            all.before.begin(),
            all.before.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(all.before.size())));
        t.after = all.after;
        break;
      case Typing::shape:
        if (!all.before.empty()) t.before = {all.before.front()};
        if (!all.after.empty()) t.after = {all.after.front()};
        break;
      case Typing::tile:
        if (!all.before.empty()) t.before = {all.before.front()};
        if (op.info->does == Does::make_descriptor || op.info->does == Does::make_block_pointer) t.before.clear();
        for (const Type& x : all.after) t.before.push_back(x);
        t.after = all.after;
        break;
      case Typing::result:
        t.before = all.after;
        break;
      default:
        t = all;
    }
    return settle(op, t);
  }

  std::vector<Type> own_form(Operation& op) {
    switch (op.info->does) {
      case Does::for_loop:
        return for_loop(op);
      case Does::if_else:
        return if_else(op);
      case Does::while_loop:
        return while_loop(op);
      case Does::branch:
        return branch(op);
      case Does::constant:
        return constant(op);
      default:
        break;
    }
    if (op.name == "scf.condition") return condition(op);
    // These may end without types, and then a line's end is theirs.
    const bool may_stop =
        op.info->typing == Typing::nothing || op.info->does == Does::terminator || op.info->does == Does::print;
    Told types;
    int line = op.line;
    bool comma = true;  // before an operand
    for (;;) {
      const char c = s_.peek();
      if (may_stop && s_.line() != line) break;
      line = s_.line();
      if (c == '%') {
        if (!comma) s_.expected("','");
        op.operands.push_back(operand());
        comma = false;
      } else if (c == ',') {
        s_.step();
        comma = true;
      } else if (c == '[' || c == '(') {
        s_.step();
        comma = true;
      } else if (c == ']' || c == ')') {
        s_.step();
        comma = false;
      } else if (c == '{') {
        op.attributes.merge(dictionary());
        comma = true;
      } else if (c == '<') {
        s_.step();
        op.attributes.merge(properties());
      } else if (c == '"') {
        Attribute a;
        a.kind = Attribute::Kind::text;
        a.text = s_.string();
        op.attributes.emplace("text", a);  // behind an assertion's text 3.1 has a file, a function and a line
        comma = true;
      } else if (op.info->does == Does::assertion && s_.at_number()) {
        s_.number();
        comma = true;
      } else if (c == '@') {
        Attribute a;
        a.kind = Attribute::Kind::text;
        a.text = symbol();
        op.attributes["callee"] = a;
      } else if (c == ':') {
        s_.step();
        if (s_.peek() == '%') {  // tt.print "x" : %a : i32
          comma = true;
          continue;
        }
        types = told(&op);
        break;
      } else if (s_.take("->")) {  // of no operands
        types.after = told(&op).before;
        types.arrow = true;
        break;
      } else if (s_.at_word()) {
        if (peek_word("loc")) break;
        const std::string word = s_.word();
        if (s_.take("=")) {
          op.attributes[word] = attribute();
        } else if (s_.here('<')) {
          s_.skip_brackets();
        } else {
          Attribute a;
          a.kind = Attribute::Kind::text;
          a.text = word;
          // get_program_id x; cmpi slt; atomic_rmw fadd, acq_rel, gpu; dot_scaled's `scale`.
          op.attributes["word" + std::to_string(words_in(op))] = a;
        }
        comma = true;
      } else {
        break;
      }
    }
    return settle(op, types);
  }

  static int words_in(const Operation& op) {
    int n = 0;
    while (op.attributes.count("word" + std::to_string(n))) ++n;
    return n;
  }
  bool peek_word(const char* w) {
    Scanner ahead = s_;
    return ahead.take_word(w);
  }

  void loop_values(Operation& op, Arguments* arguments) {
    s_.require("(");
    bool first = true;
    while (!s_.take(")")) {
      if (!first) s_.require(",");
      first = false;
      s_.require("%");
      const std::string name = s_.name();
      s_.require("=");
      op.operands.push_back(operand());
      arguments->emplace_back(name, type_of(op.operands.back()));
    }
  }
  std::vector<Type> type_list() {
    std::vector<Type> types;
    s_.require("(");
    while (!s_.take(")")) {
      if (!types.empty()) s_.require(",");
      types.push_back(type());
    }
    return types;
  }

  std::vector<Type> for_loop(Operation& op) {
    s_.take_word("unsigned");
    s_.require("%");
    const std::string induction = s_.name();
    s_.require("=");
    op.operands.push_back(operand());
    if (!s_.take_word("to")) s_.expected("'to'");
    op.operands.push_back(operand());
    if (!s_.take_word("step")) s_.expected("'step'");
    op.operands.push_back(operand());
    Arguments carried;
    std::vector<Type> results;
    if (s_.take_word("iter_args")) {
      loop_values(op, &carried);
      s_.require("->");
      results = s_.peek() == '(' ? type_list() : std::vector<Type>{type()};
    }
    Type counter{Type::Kind::number, Element::index};
    if (s_.take(":")) counter = type();
    for (size_t i = 0; i < 3; ++i) require_type(op, op.operands[i], counter);
    carried.insert(carried.begin(), {induction, counter});
    op.regions.push_back(region(&carried));
    end_with_yield(op.regions.back());
    if (s_.peek() == '{') op.attributes = dictionary();
    if (results.size() + 3 != op.operands.size())
      fail_at(op, "found " + std::to_string(op.operands.size() - 3) + " carried values of " +
                      std::to_string(results.size()) + " types");
    for (size_t i = 0; i < results.size(); ++i) require_type(op, op.operands[i + 3], results[i]);
    return results;
  }

  /// Where nothing is yielded the text has no terminator.
  void end_with_yield(Region& r) {
    Block& last = r.blocks.back();
    if (!last.operations.empty() &&
        (last.operations.back().info->does == Does::terminator || last.operations.back().info->does == Does::branch))
      return;
    Operation yield;
    yield.name = "scf.yield";
    yield.info = find_op(yield.name);
    yield.line = s_.line();
    last.operations.push_back(std::move(yield));
  }

  std::vector<Type> if_else(Operation& op) {
    op.operands.push_back(operand());
    std::vector<Type> results;
    if (s_.take("->")) results = s_.peek() == '(' ? type_list() : std::vector<Type>{type()};
    op.regions.push_back(region(nullptr));
    end_with_yield(op.regions.back());
    if (s_.take_word("else")) {
      op.regions.push_back(region(nullptr));
      end_with_yield(op.regions.back());
    }
    if (s_.peek() == '{') op.attributes = dictionary();
    return results;
  }

  std::vector<Type> while_loop(Operation& op) {
    Arguments carried;
    if (s_.peek() == '(') loop_values(op, &carried);
    s_.require(":");
    const Told types = told();
    if (types.before.size() != op.operands.size()) fail_at(op, "found other types than carried values");
    for (size_t i = 0; i < op.operands.size(); ++i) require_type(op, op.operands[i], types.before[i]);
    op.regions.push_back(region(&carried));
    if (!s_.take_word("do")) s_.expected("'do'");
    op.regions.push_back(region(nullptr));
    end_with_yield(op.regions.back());
    if (s_.take_word("attributes")) op.attributes = dictionary();
    return types.after;
  }

  void successor(Operation& op) {
    s_.require("^");
    Successor to;
    to.block = label(s_.name());
    if (s_.take("(")) {
      while (s_.peek() == '%') {
        to.operands.push_back(operand());
        if (!s_.take(",")) break;
      }
      if (!to.operands.empty()) s_.require(":");
      std::vector<Type> types;
      while (s_.peek() != ')') {
        if (!types.empty()) s_.require(",");
        types.push_back(type());
      }
      s_.require(")");
      if (types.size() != to.operands.size()) fail_at(op, "found other types than operands");
      for (size_t i = 0; i < types.size(); ++i) require_type(op, to.operands[i], types[i]);
    }
    op.successors.push_back(std::move(to));
  }

  std::vector<Type> branch(Operation& op) {
    if (op.name == "cf.cond_br") {
      op.operands.push_back(operand());
      s_.require(",");
      if (s_.peek() != '^') s_.expected("'^'");
      successor(op);
      s_.require(",");
    }
    successor(op);
    if (s_.peek() == '{') op.attributes = dictionary();
    return {};
  }

  /// The condition's type is not told.
  std::vector<Type> condition(Operation& op) {
    s_.require("(");
    op.operands.push_back(operand());
    s_.require(")");
    if (s_.peek() == '{') op.attributes = dictionary();
    while (s_.peek() == '%') {
      op.operands.push_back(operand());
      if (!s_.take(",")) break;
    }
    if (op.operands.size() == 1) return {};
    s_.require(":");
    const Told types = told();
    if (types.before.size() + 1 != op.operands.size()) fail_at(op, "found other types than values");
    for (size_t i = 0; i < types.before.size(); ++i) require_type(op, op.operands[i + 1], types.before[i]);
    return {};
  }

  std::vector<Type> constant(Operation& op) {
    if (s_.peek() == '{') op.attributes = dictionary();
    const bool truth = peek_word("true") || peek_word("false");
    op.attributes["value"] = attribute();
    Told types;
    types.before = {truth ? Type{Type::Kind::number, Element::i1} : op.attributes["value"].type};
    return settle(op, types);
  }

  // ---- Types ----------------------------------------------------------------------------------------------------
  /// `of`: the operation that tells them, whose short forms are known.
  Told told(const Operation* of = nullptr) {
    Told t;
    std::vector<Type>* list = &t.before;
    const bool short_forms = of && of->info->typing == Typing::tile;
    for (;;) {
      if (s_.take("(")) {
        while (!s_.take(")")) {
          if (s_.take(",")) continue;
          list->push_back(type());
        }
      } else if (short_forms && s_.peek() == '<') {
        list->push_back(short_type(*of, list->size()));
      } else {
        list->push_back(type());
      }
      if (s_.take("->") || s_.take_word("to")) {
        if (t.arrow) s_.expected("the end of the types");
        t.arrow = true;
        list = &t.after;
      } else if (!s_.take(",") && !s_.take("*")) {
        return t;
      }
    }
  }

  /// `<f16>`, `<tensor<8x8xf16>>`: without !tt.ptr or !tt.tensordesc, which the operation knows.
  Type short_type(const Operation& op, size_t number) {
    const bool descriptor = op.info->does == Does::make_descriptor && number > 0;
    return descriptor ? descriptor_type() : pointer_type();
  }

  Type pointer_type() {
    s_.require("<");
    Type t = type();
    if (s_.take(",")) {
      if (!s_.at_number()) s_.expected("an address space");
      s_.number();
    }
    s_.require(">");
    if (!t.known()) return t;
    if (t.kind != Type::Kind::number) {
      refuse("a pointer to " + t.to_string());
      return {};
    }
    t.kind = t.tensor ? Type::Kind::block_pointer : Type::Kind::pointer;
    return t;
  }

  Type descriptor_type() {
    s_.require("<");
    in_descriptor_ = true;
    Type t = s_.peek() >= '0' && s_.peek() <= '9' ? shaped() : type();
    in_descriptor_ = false;
    if (s_.take(",")) refuse_rest("an encoding");
    s_.require(">");
    if (!t.known()) return t;
    if (!t.is(Type::Kind::number, true)) {
      refuse("a descriptor of " + t.to_string());
      return {};
    }
    t.kind = Type::Kind::descriptor;
    return t;
  }

  void refuse(const std::string& what) { module_->unknown.push_back({s_.line(), what, "is not known"}); }
  /// Up to a closing >.
  void refuse_rest(const std::string& what) {
    refuse(what);
    while (s_.peek() != '>') {
      const char c = s_.peek();
      if (c == '\0') s_.expected("'>'");
      if (c == '(' || c == '[' || c == '{' || c == '<') {
        s_.skip_brackets();
      } else {
        s_.step();
      }
    }
  }

  /// 64x32xf16
  Type shaped() {
    Type t;
    Dims shape;
    int64_t elements_in = 1;
    s_.skip();
    while (s_.at_digit()) {
      const int64_t d = s_.digits();
      if (!s_.here('x')) s_.expected("'x'");
      s_.step();
      if (d < 1 || d > kLargest / elements_in)
        s_.fail("found a tensor of no or more than " + std::to_string(kLargest) + " elements");
      elements_in *= d;
      if (shape.rank() == kMaxRank) s_.fail("found more than " + std::to_string(kMaxRank) + " dimensions");
      shape.push_back(d);
    }
    t = type();
    if (!t.known()) return t;
    if (t.tensor || t.kind > Type::Kind::pointer) {
      refuse("a tensor of " + t.to_string());
      return {};
    }
    t.tensor = true;
    t.shape = shape;
    return t;
  }

  Type type() {
    const Depth depth(*this);
    if (s_.take("!")) {
      const std::string name = s_.word();
      if (name == "tt.ptr") return pointer_type();
      if (name == "tt.tensordesc") return descriptor_type();
      if (s_.here('<')) s_.skip_brackets();
      refuse("type !" + name);
      return {};
    }
    if (s_.peek() == '(') {  // a function's
      s_.skip_brackets();
      s_.require("->");
      if (s_.peek() == '(') {
        s_.skip_brackets();
      } else {
        type();
      }
      return {};
    }
    const std::string name = s_.word(false);
    if (name == "tensor") {
      s_.require("<");
      s_.skip();
      if (s_.here('?') || s_.here('*')) {
        refuse_rest("a tensor of open shape");
        s_.require(">");
        return {};
      }
      Type t = shaped();
      if (s_.take(",")) {
        refuse_rest("an encoding");
        t = {};
      }
      s_.require(">");
      return t;
    }
    // A descriptor's integers have a sign or none, si8 or ui8; what is read by it has not.
    const bool sign = in_descriptor_ && name.size() > 2 && (name[0] == 's' || name[0] == 'u') && name[1] == 'i';
    const auto it = elements().find(sign ? name.substr(1) : name);
    if (it != elements().end()) return {Type::Kind::number, it->second};
    if (s_.here('<')) s_.skip_brackets();
    refuse("type " + name);
    return {};
  }

  // ---- Attributes -----------------------------------------------------------------------------------------------
  std::map<std::string, Attribute> dictionary() {
    const Depth depth(*this);
    std::map<std::string, Attribute> all;
    s_.require("{");
    while (!s_.take("}")) {
      if (!all.empty()) s_.require(",");
      const std::string key = s_.peek() == '"' ? s_.string() : s_.word();
      Attribute a;
      if (s_.take("=")) a = attribute();
      if (!all.emplace(key, a).second) s_.fail("found a second '" + key + "'");
    }
    return all;
  }
  /// Behind the first <: {..}>.
  std::map<std::string, Attribute> properties() {
    auto all = dictionary();
    s_.require(">");
    return all;
  }

  Attribute attribute() {
    const Depth depth(*this);
    Attribute a;
    const char c = s_.peek();
    if (s_.at_number()) {
      const std::string written = s_.number();
      Type t;
      if (s_.take(":")) t = type();
      set_number(a, written, t);
    } else if (c == '"') {
      a.kind = Attribute::Kind::text;
      a.text = s_.string();
      if (s_.take(":")) type();
    } else if (c == '[') {
      s_.step();
      a.kind = Attribute::Kind::integers;
      while (!s_.take("]")) {
        const Attribute item = attribute();
        a.integers.push_back(item.integer);
        if (s_.peek() != ']') s_.require(",");
      }
    } else if (c == '{' || c == '(') {
      std::vector<Type> results;
      if (c == '{') {
        s_.skip_brackets();
      } else {
        s_.skip_brackets();
        s_.require("->");
        if (s_.peek() == '(') {
          results = type_list();
        } else {
          results = {type()};
        }
        a.kind = Attribute::Kind::text;
        a.text = "function type " + std::to_string(function_types_.size());
        function_types_[a.text] = results;
      }
    } else if (c == '@') {
      a.kind = Attribute::Kind::text;
      a.text = symbol();
    } else if (c == '#') {
      s_.step();
      a.kind = Attribute::Kind::text;
      a.text = s_.name();
      if (s_.here('<')) s_.skip_brackets();
    } else if (c == '!') {
      a.type = type();
    } else {
      const std::string word = s_.word();
      if (word == "dense") return dense();
      if (word == "true" || word == "false") {
        a.kind = Attribute::Kind::integer;
        a.integer = word == "true";
        if (s_.take(":")) type();
      } else if (word == "array") {
        array(a);
      } else if (word == "loc") {
        location();
      } else {
        a.kind = Attribute::Kind::text;
        a.text = word;
        if (s_.here('<')) s_.skip_brackets();
      }
    }
    return a;
  }

  /// array<i32: 1, 0>
  void array(Attribute& a) {
    a.kind = Attribute::Kind::integers;
    s_.require("<");
    type();
    if (s_.take(":")) {
      do {
        const Attribute item = attribute();
        a.integers.push_back(item.integer);
      } while (s_.take(","));
    }
    s_.require(">");
  }

  double real_of(const std::string& written, Element e) {
    if (written.find("0x") != std::string::npos) {
      int64_t bits = 0;
      if (!parse_integer(written, &bits) || written[0] == '-')
        s_.fail("found " + written + ", expected bits of a float");
      if (e == Element::f64) {
        double d;
        std::memcpy(&d, &bits, sizeof d);
        return d;
      }
      if (static_cast<uint64_t>(bits) >> bits_of(e) != 0)
        s_.fail("found " + written + ", which has more bits than " + name_of(e));
      return real_of_bits(static_cast<uint32_t>(bits), e);
    }
    double d = 0;
    const char* end = written.data() + written.size();
    const auto [stop, error] = std::from_chars(written.data(), end, d);
    if (stop != end || (error != std::errc() && error != std::errc::result_out_of_range))
      s_.fail("found " + written + ", expected a number");
    if (error == std::errc::result_out_of_range) s_.fail("found " + written + ", which no double holds");
    return d;
  }

  static double real_of_bits(uint32_t bits, Element e) {
    int exponent_bits = 8, mantissa_bits = 23;
    if (e == Element::f16) exponent_bits = 5, mantissa_bits = 10;
    if (e == Element::bf16) mantissa_bits = 7;
    if (e == Element::f8e5m2) exponent_bits = 5, mantissa_bits = 2;
    if (e == Element::f8e4m3) exponent_bits = 4, mantissa_bits = 3;
    const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
    const uint32_t exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
    const double sign = (bits >> (mantissa_bits + exponent_bits)) & 1 ? -1 : 1;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t most = (1u << exponent_bits) - 1;
    if (e == Element::f8e4m3 && exponent == most && mantissa == 7) return std::nan("");
    if (e != Element::f8e4m3 && exponent == most)
      return mantissa ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * std::ldexp(mantissa + (1u << mantissa_bits), static_cast<int>(exponent) - bias - mantissa_bits);
  }

  int64_t integer_of(const std::string& written, Element e) {
    int64_t n = 0;
    if (!parse_integer(written, &n)) s_.fail("found " + written + ", expected an integer of at most 64 bits");
    const int bits = bits_of(e);
    if (bits < 64 && (n < -(int64_t{1} << (bits - 1)) || n >= int64_t{1} << bits))
      s_.fail("found " + written + ", which is no " + name_of(e));
    return n;
  }

  void set_number(Attribute& a, const std::string& written, const Type& t) {
    a.type = t;
    const bool real = t.known() ? is_float(t.element)
                                : written.find('.') != std::string::npos && written.find("0x") == std::string::npos;
    if (t.known() && t.tensor) s_.fail("found a number for " + t.to_string() + ", expected dense<...>");
    if (real) {
      a.kind = Attribute::Kind::real;
      a.real = real_of(written, t.known() ? t.element : Element::f64);
    } else {
      a.kind = Attribute::Kind::integer;
      a.integer = integer_of(written, t.known() ? t.element : Element::i64);
    }
  }

  void dense_items(std::vector<std::string>* items) {
    const Depth depth(*this);
    if (s_.take("[")) {
      while (!s_.take("]")) {
        dense_items(items);
        if (s_.peek() != ']') s_.require(",");
      }
    } else if (s_.at_number()) {
      items->push_back(s_.number());
    } else if (s_.take_word("true")) {
      items->push_back("1");
    } else if (s_.take_word("false")) {
      items->push_back("0");
    } else {
      s_.expected("an element");
    }
    if (static_cast<int64_t>(items->size()) > kLargest) s_.fail("found too many elements");
  }

  Attribute dense() {
    Attribute a;
    a.kind = Attribute::Kind::dense;
    s_.require("<");
    std::vector<std::string> items;
    std::string bytes;
    bool as_bytes = false;
    if (s_.peek() == '"') {
      bytes = s_.string();
      as_bytes = true;
    } else if (s_.peek() != '>') {
      dense_items(&items);
    }
    s_.require(">");
    s_.require(":");
    a.type = type();
    if (!a.type.known()) return a;
    if (!a.type.is(Type::Kind::number, true)) s_.fail("found dense elements for " + a.type.to_string());
    const int64_t count = a.type.shape.elements();
    if (as_bytes) items = from_bytes(bytes, a.type);
    if (items.size() != 1 && static_cast<int64_t>(items.size()) != count)
      s_.fail("found " + std::to_string(items.size()) + " elements for " + a.type.to_string());
    for (const std::string& item : items) {
      if (is_float(a.type.element)) {
        a.reals.push_back(real_of(item, a.type.element));
      } else {
        a.integers.push_back(integer_of(item, a.type.element));
      }
    }
    return a;
  }

  /// "0x0001…": the elements' bytes, the lowest first.
  std::vector<std::string> from_bytes(const std::string& hex, const Type& t) {
    const auto digits_each = static_cast<size_t>(std::max(8, bits_of(t.element)) / 4);
    if (hex.compare(0, 2, "0x") != 0 || (hex.size() - 2) % digits_each != 0)
      s_.fail("found \"" + hex.substr(0, 20) + "\", expected \"0x\" and " + std::to_string(digits_each) +
              " digits an element");
    std::vector<std::string> items;
    for (size_t at = 2; at < hex.size(); at += digits_each) {
      std::string item = "0x";
      for (size_t b = digits_each; b > 0; b -= 2) item += hex.substr(at + b - 2, 2);
      if (item.find_first_not_of("0123456789abcdefABCDEF", 2) != std::string::npos)
        s_.fail("found \"" + item + "\", expected hexadecimal digits");
      items.push_back(item);
    }
    return items;
  }

  // ---- Locations ------------------------------------------------------------------------------------------------
  /// loc(...) if it comes next; its number.
  uint32_t trailing_location() { return s_.take_word("loc") ? location() : 0; }

  uint32_t raw(RawLocation l) {
    raw_.push_back(std::move(l));
    return static_cast<uint32_t>(raw_.size() - 1);
  }
  uint32_t location() {
    s_.require("(");
    const uint32_t l = inner_location();
    s_.require(")");
    return l;
  }
  uint32_t inner_location() {
    const Depth depth(*this);
    RawLocation l;
    if (s_.peek() == '#') {
      s_.step();
      const std::string alias = s_.name();
      const auto known = alias_raw_.find(alias);
      if (known != alias_raw_.end()) return known->second;
      l.alias = alias;
      return alias_raw_[alias] = raw(std::move(l));
    }
    if (s_.take_word("loc")) return location();
    if (s_.take_word("unknown")) return 0;
    if (s_.take_word("callsite")) {
      s_.require("(");
      l.call_site = true;
      l.inner.push_back(inner_location());
      if (!s_.take_word("at")) s_.expected("'at'");
      l.inner.push_back(inner_location());
      s_.require(")");
    } else if (s_.take_word("fused")) {
      if (s_.peek() == '<') s_.skip_brackets();
      s_.require("[");
      while (!s_.take("]")) {
        if (!l.inner.empty()) s_.require(",");
        l.inner.push_back(inner_location());
      }
    } else if (s_.peek() == '"') {
      const std::string text = s_.string();
      if (s_.take(":")) {
        l.file = text;
        s_.skip();
        l.line = static_cast<int>(std::min<int64_t>(s_.digits(), 1 << 30));
        s_.require(":");
        s_.skip();
        s_.digits();
        if (s_.take_word("to")) {  // a range
          while (s_.peek() == ':' || s_.at_number()) s_.at_number() ? static_cast<void>(s_.number()) : s_.step();
        }
      } else {
        l.name = text;
        if (s_.take("(")) {
          l.inner.push_back(inner_location());
          s_.require(")");
        }
      }
    } else {
      s_.expected("a location");
    }
    return raw(std::move(l));
  }

  /// A call's place is where the kernel calls; of fused ones the first that is known.
  const Location& settled(uint32_t n, int depth) {
    static const Location none;
    if (n == 0 || depth > 2 * kDeepest) return none;
    if (state_[n] == 2) return module_->locations[n];
    if (state_[n] == 1) return none;  // of itself
    state_[n] = 1;
    const RawLocation& l = raw_[n];
    Location out;
    if (!l.alias.empty()) {
      const auto it = location_aliases_.find(l.alias);
      if (it == location_aliases_.end())
        throw InputError(module_->file + ": found #" + l.alias + ", which is no location of the file");
      out = settled(it->second, depth + 1);
    } else if (l.call_site) {
      out = settled(l.inner[1], depth + 1);
      if (out.file.empty()) out = settled(l.inner[0], depth + 1);
    } else {
      for (const uint32_t i : l.inner) {
        if (out.file.empty()) out = settled(i, depth + 1);
      }
      if (!l.file.empty()) {
        out.file = l.file;
        out.line = l.line;
      }
      if (!l.name.empty()) out.name = l.name;
    }
    state_[n] = 2;
    module_->locations[n] = out;
    return module_->locations[n];
  }

  void settle_locations() {
    module_->locations.resize(raw_.size());
    state_.assign(raw_.size(), 0);
    for (uint32_t n = 1; n < raw_.size(); ++n) settled(n, 0);
    for (const auto& [function, places] : argument_places_) {
      Function& f = module_->functions[function];
      for (size_t i = 0; i < f.arguments.size(); ++i) {
        if (i < places.size()) f.arguments[i].name = module_->locations[places[i]].name;
        const bool taken = std::any_of(f.arguments.begin(), f.arguments.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const Argument& a) { return a.name == f.arguments[i].name; });
        if (f.arguments[i].name.empty() || taken) f.arguments[i].name = "arg" + std::to_string(i);
      }
    }
  }

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
  std::vector<uint32_t> block_places_;  ///< of the arguments of the entry block read last
  std::vector<RawLocation> raw_;
  std::map<std::string, uint32_t> location_aliases_, alias_raw_;
  std::vector<std::pair<size_t, std::vector<uint32_t>>> argument_places_;
  std::map<std::string, std::vector<Type>> function_types_;
  std::vector<int> state_;  ///< of locations: 0 open, 1 under way, 2 settled
  int depth_ = 0;
};

void print(std::string& text, const Function& f, const Region& r, const std::string& indent) {
  for (size_t b = 0; b < r.blocks.size(); ++b) {
    text += indent + "^" + std::to_string(b) + "(";
    for (const ValueId v : r.blocks[b].arguments) text += " %" + std::to_string(v) + ":" + f.types[v].to_string();
    text += " )\n";
    for (const Operation& op : r.blocks[b].operations) {
      text += indent;
      for (const ValueId v : op.results) text += "%" + std::to_string(v) + ":" + f.types[v].to_string() + " ";
      text += op.name;
      for (const ValueId v : op.operands) text += " %" + std::to_string(v);
      for (const auto& [key, a] : op.attributes) {
        text += " " + key + "=" + a.text;
        if (a.kind == Attribute::Kind::integer) text += std::to_string(a.integer);
        if (a.kind == Attribute::Kind::real) text += std::to_string(a.real);
        for (const int64_t n : a.integers) text += std::to_string(n) + ",";
        for (const double d : a.reals) text += std::to_string(d) + ",";
      }
      for (const Successor& to : op.successors) {
        text += " ^" + std::to_string(to.block);
        for (const ValueId v : to.operands) text += " %" + std::to_string(v);
      }
      text += "\n";
      for (const Region& inner : op.regions) print(text, f, inner, indent + "  ");
    }
  }
}

}  // namespace

std::shared_ptr<const Module> read_module(const std::string& file, const std::string& text) {
  return Reader(file, text).read();
}

std::shared_ptr<const Module> read_module_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(file + ": cannot be opened");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) throw InputError(file + ": cannot be read");
  return read_module(file, text);
}

std::string to_string(const Module& m) {
  std::string text;
  for (const Function& f : m.functions) {
    text += "@" + f.name + "(";
    for (const Argument& a : f.arguments)
      text += " " + a.name + ":" + f.types[a.value].to_string() + "/" + std::to_string(a.divisibility);
    text += " )\n";
    print(text, f, f.body, "  ");
  }
  for (const Refusal& r : m.unknown) text += std::to_string(r.line) + " " + r.op + " " + r.why + "\n";
  return text;
}

}  // namespace kernbench::triton
