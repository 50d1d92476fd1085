// SPDX-License-Identifier: Apache-2.0
// Helpers of the system tests: platforms from text or file, traffic in a separate process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/work/traffic.h"

namespace kernbench::testing {

std::string topology_path(const std::string& file);  ///< of a supplied topology
std::string sample_path(const std::string& sample, const std::string& file);
std::string read_file(const std::string& path);

std::unique_ptr<Platform> platform_from_text(const std::string& yaml, const topology::Overrides& overrides = {});
std::unique_ptr<Platform> platform_from_file(const std::string& path, const topology::Overrides& overrides = {});

/// A request by the initiator's name.
TrafficRequest request(Platform&, double issue_ns, const std::string& initiator, const std::string& op,
                       uint64_t address, uint64_t nbytes);

/// Runs `body` in a forked child, so that one test can simulate repeatedly; the parent must not have simulated. Returns
/// the body's text, which is empty on success. A crash or an exception also becomes text.
std::string in_child(const std::function<std::string()>& body);

}  // namespace kernbench::testing
