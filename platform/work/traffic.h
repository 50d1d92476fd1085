// SPDX-License-Identifier: Apache-2.0
// `kernbench traffic`: plays memory requests on a platform's initiators (rules on interfaces).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/fabric/access.h"

namespace kernbench::elaborate {
class Machine;
}
namespace kernbench {
class Platform;
}

namespace kernbench {
namespace spec {
struct RunDocument;
}

/// The destinations of a multicast, or none. A pointer, because most requests have none.
class Destinations {
 public:
  Destinations() = default;
  explicit Destinations(fabric::MulticastTo to) : to_(std::make_unique<fabric::MulticastTo>(std::move(to))) {}
  Destinations(const Destinations& o) : to_(o ? std::make_unique<fabric::MulticastTo>(*o) : nullptr) {}
  Destinations(Destinations&&) = default;
  Destinations& operator=(Destinations o) {
    to_ = std::move(o.to_);
    return *this;
  }
  explicit operator bool() const { return to_ != nullptr; }
  fabric::MulticastTo* get() const { return to_.get(); }
  fabric::MulticastTo* operator->() const { return get(); }
  fabric::MulticastTo& operator*() const { return *to_; }

 private:
  std::unique_ptr<fabric::MulticastTo> to_;
};

}  // namespace kernbench
namespace kernbench::work {
struct TrafficRequest {
  std::string id;  ///< as in the file
  double issue_ns = 0;
  uint32_t initiator = 0;  ///< node index
  bool write = false;      ///< also true for an atomic
  uint64_t address = 0;
  uint64_t nbytes = 0;
  AtomicKind atomic = AtomicKind::none;
  bool posted = false;
  uint8_t op = 0;               ///< number of its op (op_of)
  Destinations multicast = {};  ///< none: another op
};
/// The name of the op in a trace.
const char* op_of(const TrafficRequest&);
/// Whether an op, as red_add, adds up the messages of a group on their way.
bool is_reduction(std::string_view op);
/// Of the acknowledgements of a multicast: "separate", false; "combined", true; other words: nothing.
std::optional<bool> combined_acks(std::string_view word);

/// Reductions on the way by the name of their group: the requests that are sources, by their numbers.
using TrafficGroups = std::map<std::string, std::vector<uint32_t>>;

struct TrafficResult {
  double grant_ns = 0, done_ns = 0, formula_ns = 0;
};

/// Latency breakdown of a request; sums to done − issue.
struct TrafficAccount {
  double grant_wait_ns = 0, overhead_ns = 0, wire_ns = 0, drain_ns = 0, store_forward_ns = 0, link_queue_ns = 0,
         memory_queue_ns = 0;
};

struct Traffic {
  std::vector<TrafficRequest> requests;
  TrafficGroups groups;  ///< of several sources
};

/// Reads `id,issue_ns,initiator,op,address,bytes`, with optional columns `acks` and `group`. InputError with up to 20
/// errors (file:line: field: …).
Traffic read_traffic(std::istream&, const std::string& file_name, Machine&);

/// AccessError for destinations that cannot be a multicast.
void check_destinations(Machine&, uint32_t initiator, const MulticastTo&, uint64_t nbytes);
/// AccessError for requests that cannot be one reduction.
void check_group(Machine&, const std::vector<TrafficRequest>&, const std::vector<uint32_t>& sources);

/// Runs the simulation to its end. Returns results, and latency breakdowns if requested, in the order of the requests.
/// The formula of a reduction is its latency alone, which a forked process simulates. Call it once per platform.
/// RunError if a request never completes.
std::vector<TrafficResult> run_traffic(Platform&, const std::vector<TrafficRequest>&,
                                       std::vector<TrafficAccount>* accounts = nullptr, const TrafficGroups& = {});

void write_traffic_csv(std::ostream&, const Machine&, const std::vector<TrafficRequest>&,
                       const std::vector<TrafficResult>&);
/// {"run": …, "requests": […]}.
void write_traffic_json(std::ostream&, const Machine&, const std::vector<TrafficRequest>&,
                        const std::vector<TrafficResult>&, const std::vector<TrafficAccount>&,
                        const spec::RunDocument&);

}  // namespace kernbench::work
