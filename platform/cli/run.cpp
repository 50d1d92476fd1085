#include "kernbench/phase2/tool/whole_number.h"
#include "kernbench/platform/cli/run_command.h"

namespace kernbench::cli {

CLI::App* add_run_options(CLI::App& app, const std::shared_ptr<RunCommand>& o) {
  CLI::App* cmd =
      app.add_subcommand("run", "Run a kernel or a program on a system's PEs; time it, and verify its results");
  o->topology.add_to(*cmd);
  cmd->add_option("--kernel", o->kernel, "see `kernbench list kernels`")->type_name("NAME");
  cmd->add_option("--program", o->program,
                  "instead of a kernel: host code that launches several, see `kernbench list programs`")
      ->type_name("NAME");
  o->triton.add_to(*cmd);
  cmd->add_option("--param", o->params, "a parameter of the kernel or program (repeatable)")->type_name("NAME=VALUE");
  cmd->add_option("--tensor", o->tensors, "an input from a file instead of a seeded one (repeatable)")
      ->type_name("NAME=FILE.npy");
  cmd->add_option("--dump", o->dumps, "write an output (repeatable)")->type_name("NAME=FILE.npy");
  whole_number(cmd->add_option("--seed", o->seed, "of the inputs"))->capture_default_str();
  cmd->add_option("--pes", o->pes, "all, leaders (the first PE of every cube), or ids separated by commas")
      ->capture_default_str();
  cmd->add_option("--device", o->device, "all, or sip:N")->capture_default_str();
  cmd->add_option(
         "--ranks", o->ranks,
         "a rank is a SIP: all, N (the first N of those that --device leaves), or their numbers from 0: i,j,...")
      ->capture_default_str();
  cmd->add_option("--launch", o->launch,
                  "host: from the PCIe endpoint through io_cpu and m_cpu to the PEs and back; direct: at no "
                  "cost. Without it: host where the topology has that path, else direct")
      ->check(CLI::IsMember({"host", "direct"}));
  cmd->add_option("--transfer", o->transfer,
                  "instant: tensors are placed and read back at no cost; timed: the host uploads the inputs "
                  "before the launch and reads the outputs back through the fabric")
      ->check(CLI::IsMember({"instant", "timed"}))
      ->capture_default_str();
  cmd->add_option("--address", o->address,
                  "what kernels are given. physical: where each shard lies; virtual: pointers into one range a tensor, "
                  "through the PEs' MMUs (with --transfer timed the host maps the ranges by messages)")
      ->check(CLI::IsMember({"physical", "virtual"}))
      ->capture_default_str();
  cmd->add_flag("--verify", o->verify, "replay the op log and compare the outputs with the kernel's reference");
  cmd->add_option("--expected", o->expected,
                  "verify an output against a file, instead of the reference if there is one (repeatable)")
      ->type_name("NAME=FILE.npy");
  cmd->add_flag("--debug-verify", o->debug_verify,
                "also check every op against plain loops and name the first that departs; slow");
  cmd->add_flag("--check-races", o->check_races,
                "report reads and writes that only luck orders (docs/races.md); with any, the exit status is 1");
  cmd->add_flag("--explain", o->explain,
                "say what bounds the run: verdict, critical path, how far from each peak (docs/insight.md)");
  cmd->add_option("--isa", o->isa,
                  "instruction set of the replay's arithmetic: portable, avx2, avx512; default: the best")
      ->type_name("NAME");
  cmd->add_option("--corrupt", o->corrupt, "damage this output before it is verified: shows that a wrong result fails")
      ->type_name("NAME");
  whole_number(cmd->add_option("--threads", o->threads, "of the replay; 0: all"), 0, 1024)->capture_default_str();
  cmd->add_option("--oplog", o->oplog, "write the op log (.jsonl or .sqlite)")->type_name("FILE");
  cmd->add_option("--memory", o->memory,
                  "the memory file that `kernbench replay` needs beside the log; default: the log's name with .kbmem; "
                  "none: no such file")
      ->type_name("FILE");
  cmd->add_flag("--oplog-hops", o->hops, "in the op log, also each memory access block by block (docs/recording.md)");
  o->limits.add_to(*cmd);
  o->vcd.add_to(*cmd);
  o->recording.add_to(*cmd);
  cmd->add_option("--trace", o->trace,
                  "what every engine did, for Perfetto: .pftrace is its own form, with counters, any other ending "
                  "Chrome trace events, JSON (docs/trace.md)")
      ->type_name("FILE");
  cmd->add_option("--energy", o->energy,
                  "what the run takes in joules, by the constants of a table such as n7.yaml, also over the topology's "
                  "own energy section (docs/energy.md)")
      ->type_name("FILE.yaml");
  cmd->add_option("--activity", o->activity, "with energy: component,action,count of all that was counted")
      ->type_name("FILE.csv");
  cmd->add_option("--wiring", o->wiring, "a picture of which PEs the kernel's queues join (docs/collectives.md)")
      ->type_name("FILE.svg");
  cmd->add_option("--report", o->report, "what bounds the run, as one HTML page (docs/insight.md)")
      ->type_name("FILE.html");
  add_format(*cmd, o->format, {"text", "json"});
  return cmd;
}

Command add_run(CLI::App& app) {
  auto o = std::make_shared<RunCommand>();
  CLI::App* cmd = add_run_options(app, o);
  return {cmd, [o] { return run(*o); }};
}

}  // namespace kernbench::cli
