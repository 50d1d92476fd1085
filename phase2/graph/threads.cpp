// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/graph/threads.h"

#include <exception>
#include <future>
#include <thread>
#include <vector>

namespace kernbench::phase2 {

int threads_to_be_had(int wanted) {
  std::promise<void> all_tried;
  const std::shared_future<void> end = all_tried.get_future().share();
  std::vector<std::thread> threads;
  try {
    while (static_cast<int>(threads.size()) + 1 < wanted) threads.emplace_back([end] { end.wait(); });
  } catch (const std::exception&) {  // no more threads: the system's limit, or no memory for one
  }
  all_tried.set_value();
  for (std::thread& t : threads) t.join();
  return static_cast<int>(threads.size()) + 1;
}

}  // namespace kernbench::phase2
