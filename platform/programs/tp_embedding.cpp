// SPDX-License-Identifier: Apache-2.0
// y[i] = table[idx[i]] with the table's rows over the ranks.
#include "kernbench/platform/programs/common.h"

namespace kernbench::programs::tp_embedding_program {
namespace {

void tp_embedding(host::Context& h) {
  host::vocabulary_parallel_embedding(h, h.input("idx"), h.input("table"), h.output("y"),
                                      h.params().choice("algorithm"));
}

ProgramSpec spec() {
  const KernelSpec& embedding = KernelRegistry::instance().at("embedding");
  ProgramSpec s;
  s.name = "tp_embedding";
  s.help = "y[i] = table[idx[i]], with the table's rows split over the ranks";
  s.params = embedding.params;
  s.params.push_back(algorithm_of("all_reduce"));
  const host::Layout by_index = host::rank_replicate().cube(host::shard(0)).pe(host::shard(0));
  s.tensors = {with_layout(*embedding.tensor("idx"), by_index),
               with_layout(*embedding.tensor("table"), host::rank_shard(0)),
               with_layout(*embedding.tensor("y"), host::rows_of_pes())};
  s.function = tp_embedding;
  s.reference = embedding.reference;
  return s;
}

const RegisterProgram registered{spec()};

}  // namespace
}  // namespace kernbench::programs::tp_embedding_program
