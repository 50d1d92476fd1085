#include "kernbench/systemc_models/pe/processing_element.h"

namespace kernbench {

ProcessingElement::ProcessingElement(const sc_core::sc_module_name& name, System& system, const Parameters& p)
    : sc_module(name),
      cpu("pe_cpu", system, p.cpu),
      scheduler("pe_scheduler", system, p.scheduler),
      dma("pe_dma", system, p.dma),
      fetch_store("pe_fetch_store", system, p.fetch_store),
      gemm("pe_gemm", system, p.gemm),
      math("pe_math", system, p.math),
      tcm("pe_tcm", system, p.tcm) {
  if (p.mmu) mmu.emplace("pe_mmu", system, *p.mmu);
  pe_.id = this->name();
  pe_.order = cpu.index();
  pe_.index = system.next_pe();
  PeParts parts;
  parts.add("pe_cpu", cpu);
  parts.add("pe_scheduler", scheduler);
  parts.add("pe_dma", dma);
  parts.add("pe_fetch_store", fetch_store);
  parts.add("pe_gemm", gemm);
  parts.add("pe_math", math);
  parts.add("pe_tcm", tcm);
  if (mmu) parts.add("pe_mmu", *mmu);
  assemble(pe_, parts, parts.standard_edges(), system);
}

void ProcessingElement::run(std::function<void(tl::Context&)> kernel,
                            std::function<void(const KernelRunner::Outcome&)> on_end) {
  pe_.runner->launch(
      [kernel = std::move(kernel)](PeBackend& backend) {
        tl::Context context(backend);
        kernel(context);
        context.finish();
      },
      dma.timeline().now_ns(), std::move(on_end));
}

}  // namespace kernbench
