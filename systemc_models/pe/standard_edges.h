// The edges between the blocks of a PE that has no others (ADR-0014 D8), by kinds. Plain C++: no SystemC here.
#pragma once

#include <utility>

namespace kernbench {

/// Without which a PE that has both blocks cannot work: commands, stages, and who is asked for what an access takes.
inline constexpr std::pair<const char*, const char*> kStandardEdges[] = {
    {"pe_cpu", "pe_scheduler"},    {"pe_scheduler", "pe_dma"},    {"pe_scheduler", "pe_fetch_store"},
    {"pe_scheduler", "pe_gemm"},   {"pe_scheduler", "pe_math"},   {"pe_dma", "pe_fetch_store"},
    {"pe_dma", "pe_mmu"},          {"pe_fetch_store", "pe_gemm"}, {"pe_fetch_store", "pe_math"},
    {"pe_fetch_store", "pe_tcm"},  {"pe_fetch_store", "pe_dma"},  {"pe_gemm", "pe_math"},
    {"pe_gemm", "pe_fetch_store"}, {"pe_math", "pe_fetch_store"}, {"pe_cpu", "pe_ipcq"},
    {"pe_ipcq", "pe_dma"},         {"pe_dma", "pe_ipcq"},
};

}  // namespace kernbench
