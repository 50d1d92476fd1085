// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/fan_out.h"

#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "kernbench/systemc_models/fabric/control_legs.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"

namespace kernbench::fabric {

void FanOut::pass_on(ControlMessage& request) {
  open_.emplace_back();
  Open& open = open_.back();
  open.request = &request;
  open.self = std::prev(open_.end());
  Fabric& fabric = node_.fabric();
  std::unordered_map<uint32_t, ControlMessage*> by_stop;
  std::vector<std::pair<uint32_t, ControlMessage*>> messages;  // in order
  for (const uint32_t place : request.places) {
    const uint32_t stop = (*request.addresses)[place].stops[request.next_stop];
    ControlMessage*& m = by_stop[stop];
    if (!m) {
      m = &fabric.messages().acquire(request.ids.correlation);
      m->body = request.body;
      m->addresses = request.addresses;
      m->next_stop = request.next_stop + 1;
      m->context = &open;
      messages.emplace_back(stop, m);
    }
    m->places.push_back(place);
  }
  std::vector<const ControlLeg*> legs;
  HostError code = HostError::ok;
  std::string text;
  try {
    for (const auto& [stop, m] : messages) legs.push_back(&fabric.control_legs().leg(node_.owner().index(), stop));
  } catch (const std::runtime_error& e) {  // for blocks made by hand; a platform has checked all segments before the
                                           // run
    code = HostError::no_path;
    text = e.what();
    for (const auto& [stop, m] : messages) m->payload.release();
    messages.clear();
  }
  if (messages.empty()) {
    open_.erase(open.self);
    return request.respond(code, text, request.time_ns());
  }
  open.outstanding = messages.size();
  for (size_t i = 0; i < messages.size(); ++i)
    messages[i].second->send(*legs[i], *this, request.sent_ns(), request.offset_ns());
}

void FanOut::response_arrived(ControlMessage& m) {
  Open& open = *static_cast<Open*>(m.context);
  --open.outstanding;
  // After an error the request is already answered, so later responses are ignored.
  if (open.request && (!m.response.ok() || open.outstanding == 0)) {
    ControlMessage& request = *open.request;
    open.request = nullptr;
    request.respond(m.response.code, m.response.text, m.response.done_ns);
  }
  if (open.outstanding == 0) open_.erase(open.self);
}

}  // namespace kernbench::fabric
