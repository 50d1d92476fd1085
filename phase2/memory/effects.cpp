// SPDX-License-Identifier: Apache-2.0
// The effect of each command on memory at its instant (data rules §1).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/memory/left_out.h"
#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/phase2/op/runs.h"
#include "kernbench/phase2/op/stretch.h"

namespace kernbench::phase2 {
namespace {

using State = MemoryImage::State;

void check_sizes(const OpDesc& d, const TensorRef& from) {
  if (from.nbytes() != d.output.nbytes()) {
    throw std::invalid_argument(
        fmt::format("{}: source of {} bytes, destination of {} bytes", d.name, from.nbytes(), d.output.nbytes()));
  }
}

/// The bytes of an op's complete output that passed a foreign block.
const Bytes& carried_bytes(const OpDesc& d) {
  if (!d.carried->bytes || d.carried->bytes->size() != d.output.nbytes())
    throw std::invalid_argument(d.name + ": its bytes are not there, which only a memory file has");
  return *d.carried->bytes;
}

/// Makes the complete output pending, row by row, with this op as producer. Returns true: Phase 2 must run it.
bool bind_output(const std::shared_ptr<const OpDesc>& d, MemoryImage& image) {
  uint64_t offset = 0;
  for_each_run(d->output, [&](uint64_t addr, uint64_t n) {
    image.bind_pending(MemoryImage::key_of(d->output), addr, n, {d, offset});
    offset += n;
  });
  return true;
}

/// From this many bytes on, rows are copied on first access; fewer bytes are copied at once.
constexpr uint64_t kWorthALook = 4096;

/// Writes row-major bytes to a tensor. Long runs share the buffer.
void write_rows(MemoryImage& image, const TensorRef& to, const SharedBytes& bytes) {
  uint64_t offset = 0;
  for_each_run(to, [&](uint64_t addr, uint64_t n) {
    if (n < kShortRun && n < bytes.size) {
      image.write(MemoryImage::key_of(to), addr, bytes.data() + offset, n);
    } else {
      image.write_shared(MemoryImage::key_of(to), addr, bytes.part(offset, n));
    }
    offset += n;
  });
}

TensorRef element_of(const TensorRef& t, int64_t index) {
  TensorRef e = t;
  e.shape = Dims{};
  e.strides = Dims{};
  int64_t offset = 0;
  for (int i = t.shape.rank() - 1; i >= 0; --i) {
    offset += (index % t.shape[i]) * t.strides[i];
    index /= t.shape[i];
  }
  e.addr = t.address_at(static_cast<uint64_t>(offset) * size_of(t.dtype));
  e.translation.reset();
  return e;
}

/// 1 for each element with a nonzero mask, else 0.
std::vector<uint8_t> read_mask(const TensorRef& mask, const MemoryImage& image) {
  const Bytes raw = image.gather(mask);
  std::vector<uint8_t> on(static_cast<size_t>(mask.shape.elements()));
  nonzero(raw.data(), mask.dtype, on.data(), on.size());
  return on;
}

bool load_masked(const std::shared_ptr<const OpDesc>& d, MemoryImage& image) {
  const TensorRef& source = d->operands[0].ref;
  const TensorRef& mask = d->operands[1].ref;
  if (image.state_of(mask).state == State::pending) return bind_output(d, image);
  const std::vector<uint8_t> on = read_mask(mask, image);
  const size_t item = size_of(source.dtype);
  Bytes out(source.nbytes());
  Bytes other(item);
  store_scalar(d->operands.size() > 2 ? d->operands[2].scalar : 0.0, source.dtype, other.data());
  for (size_t i = 0; i < on.size(); ++i) {
    if (!on[i]) {
      std::memcpy(out.data() + i * item, other.data(), item);
      continue;
    }
    const TensorRef e = element_of(source, static_cast<int64_t>(i));
    if (image.state_of(MemoryImage::key_of(e), e.addr, item).state == State::pending) return bind_output(d, image);
    image.read(MemoryImage::key_of(e), e.addr, out.data() + i * item, item);
  }
  write_rows(image, d->output, SharedBytes::take(std::move(out)));
  return false;
}

/// A range of one space whose bytes are pending or unwritten elsewhere.
struct HeldElsewhere {
  uint64_t addr = 0, nbytes = 0;
  std::optional<MemoryImage::Extent> pending;  ///< none: unwritten
};

/// Copies all bytes from the first range to the last. Empty if some are not real, or if the ranges are so far apart
/// that copying the gaps would cost more than separate look-ups.
SharedBytes copy_of_stretch(const RangedOp& op, const Stretch& all, const MemoryImage& image) {
  constexpr uint64_t kBetween = 512, kMost = 1 << 20;  // bytes per range, bytes
  const MemoryImage::SpaceKey key{op.space, kNoPe};
  if (op.ranges.size() < 2 || all.nbytes() > std::min(kMost, op.nbytes() + op.ranges.size() * kBetween) ||
      image.state_of(key, all.begin, all.nbytes()).state != State::real)
    return {};
  return SharedBytes::made_by(all.nbytes(), [&](uint8_t* to) { image.read(key, all.begin, to, all.nbytes()); });
}

/// For a gather: reads the contents of its ranges. Real bytes come in one buffer.
bool gather_ranges(const OpDesc& d, MemoryImage& image) {
  const RangedOp& op = *d.ranged;
  const MemoryImage::SpaceKey from{op.space, kNoPe}, to = MemoryImage::key_of(d.output);
  fill_left_out(d, image);
  std::vector<HeldElsewhere> rest;
  // The ranges usually lie in one extent, which is looked up once.
  const Stretch all(op.ranges);
  const uint8_t* held = all.empty() ? nullptr : image.view(from, all.begin, all.nbytes());
  const SharedBytes copied = held ? SharedBytes{} : copy_of_stretch(op, all, image);
  if (!held) held = copied.place;
  const auto read = [&](const MovedRange& r, uint8_t* bytes) {
    if (held) return void(std::memcpy(bytes, held + (r.addr - all.begin), r.nbytes));
    image.for_each_piece(from, r.addr, r.nbytes,
                         [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
                           if (e && !e->producer())
                             return void(std::memcpy(bytes + (at - r.addr), e->data() + offset, n));
                           rest.push_back({d.output.addr + r.offset + (at - r.addr), n, {}});
                           if (e) rest.back().pending = e->part(offset, n);
                         });
  };
  if (op.nbytes() == d.output.nbytes()) {
    image.write_shared(to, d.output.addr, SharedBytes::made_by(d.output.nbytes(), [&](uint8_t* bytes) {
                         for (const MovedRange& r : op.ranges) read(r, bytes + r.offset);
                       }));
  } else {
    Bytes bytes;
    for (const MovedRange& r : op.ranges) {
      bytes.resize(r.nbytes);
      read(r, bytes.data());
      image.write(to, d.output.addr + r.offset, bytes.data(), r.nbytes);
    }
  }
  for (HeldElsewhere& h : rest) {
    if (h.pending) {
      image.place(to, h.addr, std::move(*h.pending));
    } else {
      image.erase(to, h.addr, h.nbytes);
    }
  }
  return false;
}

/// For a scatter of real bytes: writes all ranges at once if they are close together.
void scatter_bytes(const RangedOp& op, const uint8_t* value, MemoryImage& image) {
  const MemoryImage::SpaceKey to{op.space, kNoPe};
  const Stretch all(op.ranges);
  SharedBytes whole = copy_of_stretch(op, all, image);
  auto* bytes = const_cast<uint8_t*>(whole.place);  // not shared so far
  for (const MovedRange& r : op.ranges) {
    if (bytes) {
      std::memcpy(bytes + (r.addr - all.begin), value + r.offset, r.nbytes);
    } else {
      image.write(to, r.addr, value + r.offset, r.nbytes);
    }
  }
  if (bytes) image.write_shared(to, all.begin, std::move(whole));
}

/// For a scatter: if an address occurs twice, the later value remains.
bool scatter_ranges(const OpDesc& d, MemoryImage& image) {
  const MemoryImage::SpaceKey to{d.ranged->space, kNoPe};
  if (d.data) {
    scatter_bytes(*d.ranged, d.data->data(), image);
    return false;
  }
  for (const MovedRange& r : d.ranged->ranges) {
    const TensorRef& value = d.operands.at(0).ref;
    std::vector<HeldElsewhere> parts;
    image.for_each_piece(MemoryImage::key_of(value), value.addr + r.offset, r.nbytes,
                         [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
                           if (e) parts.push_back({r.addr + (at - value.addr - r.offset), n, e->part(offset, n)});
                         });
    for (HeldElsewhere& h : parts) image.place(to, h.addr, std::move(*h.pending));
  }
  return false;
}

/// For an atomic that a foreign block executed with its own write: the returned old elements.
void carry_old(const OpDesc& d, MemoryImage& image) {
  if (!d.ranged->returns_old) return;
  const Bytes& old = carried_bytes(d);
  for (const MovedRange& r : d.ranged->ranges)
    image.write(MemoryImage::key_of(d.output), d.output.addr + r.offset, old.data() + r.offset, r.nbytes);
}

/// For an atomic: stores the new elements in its ranges and the old ones in the result. Both are pending if any operand
/// is.
bool do_ranges(const std::shared_ptr<const OpDesc>& d, MemoryImage& image) {
  const RangedOp& op = *d->ranged;
  if (op.returns_old) fill_left_out(*d, image);
  if (op.ranges.empty() || d->without_effect()) return false;
  if (d->carried) {
    carry_old(*d, image);
    return false;
  }
  const std::vector<Operand> inputs = inputs_of(*d);
  bool real = true;
  for (const Operand& o : inputs) real &= o.is_scalar || image.state_of(o.ref).state != State::pending;
  if (real) {
    std::vector<Bytes> held;
    held.reserve(inputs.size());
    std::vector<EvalInput> in;
    for (const Operand& o : inputs) {
      if (o.is_scalar) {
        in.push_back(EvalInput::immediate(o.scalar));
      } else {
        held.push_back(image.gather(o.ref));
        in.push_back(EvalInput::tensor(held.back().data(), o.ref.dtype, o.ref.shape));
      }
    }
    const SharedBytes value = SharedBytes::take(evaluate(*d, in));
    const uint64_t n = value.size / 2;
    uint64_t at = 0;
    for (const MovedRange& r : op.ranges) {
      image.write({op.space, kNoPe}, r.addr, value.data() + n + at, r.nbytes);
      if (op.returns_old)
        image.write(MemoryImage::key_of(d->output), d->output.addr + r.offset, value.data() + at, r.nbytes);
      at += r.nbytes;
    }
    return false;
  }
  const uint64_t n = op.nbytes();
  uint64_t at = 0;
  for (const MovedRange& r : op.ranges) {
    image.bind_pending({op.space, kNoPe}, r.addr, r.nbytes, {d, n + at});
    if (op.returns_old)
      image.bind_pending(MemoryImage::key_of(d->output), d->output.addr + r.offset, r.nbytes, {d, at});
    at += r.nbytes;
  }
  return true;
}

bool load(const std::shared_ptr<const OpDesc>& d, MemoryImage& image, uint64_t share_from) {
  const TensorRef& source = d->operands.at(0).ref;
  check_sizes(*d, source);
  if (source.nbytes() == 0) return false;  // an empty message
  if (d->carried && d->carried->bytes) {
    const Bytes& bytes = carried_bytes(*d);
    write_rows(image, d->output, {d->carried->bytes, bytes.data(), bytes.size()});
    return false;
  }
  if (d->ranged) return gather_ranges(*d, image);
  if (d->operands.size() > 1) return load_masked(d, image);
  if (has_short_runs(source, share_from)) {
    const SharedBytes later = source.nbytes() < kWorthALook ? SharedBytes{} : image.gathered_later(source);
    if (later.size > 0) {
      write_rows(image, d->output, later);
      return false;
    }
    const State state = image.state_of(source).state;
    if (state == State::real) {
      write_rows(image, d->output,
                 SharedBytes::made_by(source.nbytes(), [&](uint8_t* to) { image.gather(source, to); }));
      return false;
    }
    if (state == State::pending && has_short_runs(source)) return bind_output(d, image);
  }
  image.transfer(source, d->output);
  return false;
}

bool store_masked(const std::shared_ptr<const OpDesc>& d, MemoryImage& image) {
  const TensorRef& source = d->operands[0].ref;
  const TensorRef& mask = d->operands[1].ref;
  const bool source_real = d->data || image.state_of(source).state == State::real;
  if (!source_real || image.state_of(mask).state == State::pending) return bind_output(d, image);
  const std::vector<uint8_t> on = read_mask(mask, image);
  const Bytes gathered = d->data ? Bytes{} : image.gather(source);
  const uint8_t* bytes = d->data ? d->data->data() : gathered.data();
  const uint64_t item = size_of(d->output.dtype);
  uint64_t i = 0;
  for_each_run(d->output, [&](uint64_t addr, uint64_t n) {
    const uint64_t end = i + n / item;
    for (uint64_t at = addr; i < end;) {
      uint64_t stop = i;
      while (stop < end && on[stop] == on[i]) ++stop;
      const uint64_t len = (stop - i) * item;
      if (on[i]) image.write(MemoryImage::key_of(d->output), at, bytes + i * item, len);
      at += len;
      i = stop;
    }
  });
  return false;
}

bool store(const std::shared_ptr<const OpDesc>& d, MemoryImage& image) {
  if (d->ranged) return scatter_ranges(*d, image);
  if (d->data && d->data->size() != d->output.nbytes()) {
    throw std::invalid_argument(d->name + ": data of " + std::to_string(d->data->size()) + " bytes, destination of " +
                                std::to_string(d->output.nbytes()) + " bytes");
  }
  if (!d->data) check_sizes(*d, d->operands.at(0).ref);
  if (d->operands.size() > 1) return store_masked(d, image);
  for_each_output(*d, [&](const TensorRef& to) {
    if (d->data) {
      write_rows(image, to, {d->data, d->data->data(), d->data->size()});
    } else {
      image.transfer(d->operands[0].ref, to);
    }
  });
  return false;
}

}  // namespace

void fill_left_out(const OpDesc& d, MemoryImage& image) {
  for (const MovedRange& r : d.ranged->left_out) {
    Bytes bytes(r.nbytes);
    for (uint64_t at = 0; at < r.nbytes; at += size_of(d.output.dtype))
      store_scalar(d.ranged->other, d.output.dtype, bytes.data() + at);
    image.write_shared(MemoryImage::key_of(d.output), d.output.addr + r.offset, SharedBytes::take(std::move(bytes)));
  }
}

bool apply_effect(const std::shared_ptr<const OpDesc>& d, MemoryImage& image) {
  return apply_effect(d, image, kShortRun);
}

bool apply_effect(const std::shared_ptr<const OpDesc>& d, MemoryImage& image, uint64_t share_from) {
  switch (d->type) {
    case CommandType::load:
      return load(d, image, share_from);
    case CommandType::store:
      return store(d, image);
    case CommandType::gemm:
    case CommandType::math:
    case CommandType::composite:
      return bind_output(d, image);
    case CommandType::atomic:
      return do_ranges(d, image);
    case CommandType::send:
    case CommandType::receive:
      break;  // their segments have effects (QueueRecord)
  }
  return false;
}

}  // namespace kernbench::phase2
