// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/triton/reader.h"

#include <fstream>
#include <iterator>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/triton/parser.h"

namespace kernbench::triton {

namespace {

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
  return Parser(file, text).read();
}

std::shared_ptr<const Module> read_module_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(file + ": cannot be opened");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) throw InputError(file + ": cannot be read");
  std::shared_ptr<const Module> module = read_module(file, text);
  logging::info(logging::Room::models,
                [&] { return "read " + file + ": " + std::to_string(module->functions.size()) + " Triton functions"; });
  return module;
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
