# SPDX-License-Identifier: Apache-2.0
"""Is a program that writes one of its inputs told, with its own line, and no internal one?"""
import cli_support
from cli_support import build_plugin, topology

CODE = r"""
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/platform/host/context.h"
using namespace kernbench;
namespace {
const host::Layout kEverywhere = host::rank_shard(0).cube(host::shard(0)).pe(host::shard(0));
void writes(host::Context& h) {
  const std::string& how = h.params().choice("how");
  const host::Tensor a = h.input("a");
  if (how == "launch") h.launch(h.ranks(), "vector_add", {}, {{"a", a}, {"b", a}, {"c", a}});  // LINE launch
  if (how == "upload") h.upload(a, HostTensor(a.dtype(), a.shape()));  // LINE upload
  if (how == "freed") {
    host::Tensor t;
    { const host::Scope scope(h); t = h.tensor(a.dtype(), a.shape(), kEverywhere); }  // LINE scope
    h.read(t);  // LINE freed
  }
  h.launch(h.ranks(), "vector_add", {}, {{"a", a}, {"b", a}, {"c", h.output("y")}});
  h.launch(h.ranks(), "vector_add", {}, {{"a", a}, {"b", a}, {"c", h.output("z")}});
}
ProgramSpec spec() {
  ProgramSpec p;
  p.name = "writes";
  p.params = {ParamSpec::size("n", 64, "elements"), ParamSpec::choice("how", {"nothing", "launch", "upload", "freed"}, "what")};
  for (const char* name : {"a", "y", "z"}) {
    ProgramTensor t;
    t.name = name;
    t.role = name[0] == 'a' ? TensorSpec::Role::in : name[0] == 'y' ? TensorSpec::Role::out : TensorSpec::Role::in_out;
    t.shape = [](const Params& params) { return Dims{params.integer("n")}; };
    t.dtype = [](const Params&) { return DType::f32; };
    t.layout = kEverywhere;
    p.tensors.push_back(t);
  }
  p.function = writes;
  return p;
}
const RegisterProgram registered{spec()};
}  // namespace
KERNBENCH_PLUGIN("writes")
"""
LINES = {line.split("LINE ")[1]: number for number, line in enumerate(CODE.split("\n"), 1) if "LINE " in line}


class Inputs(cli_support.FolderCli):
    def setUp(self):
        super().setUp()
        with open(self.path("writes.cpp"), "w") as f:
            f.write(CODE)
        build_plugin(self.path("writes.cpp"), self.path("writes.so"))
        self.run_ = ("run", "--topology", topology("small.yaml"), "--plugin", self.path("writes.so"), "--program", "writes")

    def test_inputs_stay(self):
        for how, words in (("launch", "launch of vector_add: c: found 'a', an input of program writes"),
                           ("upload", "upload: found 'a', an input of program writes")):
            for transfer in ("instant", "timed"):
                self.refuses(*self.run_, "--param", f"how={how}", "--transfer", transfer, lines=1,
                             saying=(f"writes.cpp:{LINES[how]}: {words}",))

    def test_outputs_and_those_that_are_both_are_written(self):
        self.succeeds(*self.run_, "--transfer", "timed")

    def test_faults_name_the_users_lines(self):
        self.refuses(*self.run_, "--param", "how=freed", lines=1,
                     saying=(f"writes.cpp:{LINES['freed']}: tensor", f"was freed at writes.cpp:{LINES['scope']}"))


if __name__ == "__main__":
    cli_support.main()
