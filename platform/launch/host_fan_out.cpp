#include "kernbench/platform/launch/host_fan_out.h"

#include "kernbench/platform/elaborate/machine.h"

namespace kernbench {

uint64_t HostFanOut::send(MessageIds ids, const LaunchTree& tree, Deliver deliver, Done done) {
  messages_.emplace_back();
  Message& m = messages_.back();
  if (ids.correlation == 0) ids.correlation = ++last_correlation_;
  m.deliver = std::move(deliver);
  m.done = std::move(done);
  m.sent_ns = machine_.timeline().now_ns();
  m.parties.resize(tree.stops.size());
  for (size_t i = 0; i < tree.stops.size(); ++i) {
    Party& p = m.parties[i];
    p.message = &m;
    p.stop = tree.stops[i];
    p.outstanding = p.stop.children;
    p.response.ids = {ids.correlation, ++last_request_};
  }
  pass(m.parties.front(), m.sent_ns,
       [](void* self, void* p) { static_cast<HostFanOut*>(self)->request_arrived(*static_cast<Party*>(p)); });
  return ids.correlation;
}

/// Messages come before whatever else happens at their instant.
void HostFanOut::pass(Party& p, double at_ns, void (*handler)(void*, void*)) {
  ++p.message->open;
  machine_.timeline().at(at_ns, Order(Order::kEngines, 0, 0), handler, this, &p);
}

void HostFanOut::request_arrived(Party& p) {
  Message& m = *p.message;
  if (p.stop.role == LaunchTree::Role::pe) {
    ++m.open;
    m.deliver(p, p.stop.place);
  } else if (p.stop.children == 0) {
    respond(p, HostError::ok, {}, m.sent_ns);
  } else {
    for (uint32_t c = 0; c < p.stop.children; ++c) {
      Party& child = m.parties[p.stop.first_child + c];
      pass(child, m.sent_ns + child.stop.arrival_ns,
           [](void* self, void* to) { static_cast<HostFanOut*>(self)->request_arrived(*static_cast<Party*>(to)); });
    }
  }
  close_one(m);
}

void HostFanOut::answer(Party& p, HostError code, const std::string& text, double at_ns) {
  respond(p, code, text, at_ns);
  close_one(*p.message);
}

void HostFanOut::respond(Party& p, HostError code, const std::string& text, double at_ns) {
  p.answered = true;
  p.response.code = code;
  p.response.text = text;
  p.response.done_ns = at_ns + p.stop.leg_ns;
  pass(p, p.response.done_ns,
       [](void* self, void* from) { static_cast<HostFanOut*>(self)->response_arrived(*static_cast<Party*>(from)); });
}

void HostFanOut::response_arrived(Party& from) {
  Message& m = *from.message;
  if (from.stop.role == LaunchTree::Role::host) {
    m.done(from.response);
  } else {
    Party& p = m.parties[from.stop.parent];
    --p.outstanding;
    // An error is passed on at once; what comes after it has nobody to tell.
    if (!p.answered && (!from.response.ok() || p.outstanding == 0))
      respond(p, from.response.code, from.response.text, from.response.done_ns);
  }
  close_one(m);
}

void HostFanOut::close_one(Message& m) {
  if (--m.open > 0) return;
  messages_.remove_if([&m](const Message& x) { return &x == &m; });
}

}  // namespace kernbench
