// What each command does to memory at its instant (data contract §1).
#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/phase2/op/runs.h"

namespace kernbench {
namespace {

using State = MemoryImage::State;

void check_sizes(const OpDesc& d, const TensorRef& from) {
  if (from.nbytes() != d.output.nbytes()) {
    throw std::invalid_argument(
        fmt::format("{}: source of {} bytes, destination of {} bytes", d.name, from.nbytes(), d.output.nbytes()));
  }
}

/// The whole output, row by row, is to be made by this op. Always true: Phase 2 runs it.
bool bind_output(const std::shared_ptr<const OpDesc>& d, MemoryImage& image) {
  uint64_t offset = 0;
  for_each_run(d->output, [&](uint64_t addr, uint64_t n) {
    image.bind_pending(MemoryImage::key_of(d->output), addr, n, {d, offset});
    offset += n;
  });
  return true;
}

/// Writes row-major bytes to a tensor, sharing the buffer where its runs are long.
void write_rows(MemoryImage& image, const TensorRef& to, const SharedBytes& bytes) {
  uint64_t offset = 0;
  for_each_run(to, [&](uint64_t addr, uint64_t n) {
    if (n < kShortRun && n < bytes.size) {
      image.write(MemoryImage::key_of(to), addr, bytes.data + offset, n);
    } else {
      image.write_shared(MemoryImage::key_of(to), addr, {bytes.hold, bytes.data + offset, n});
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

/// 1 for every element whose mask is not zero.
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

bool load(const std::shared_ptr<const OpDesc>& d, MemoryImage& image, uint64_t share_from) {
  const TensorRef& source = d->operands.at(0).ref;
  check_sizes(*d, source);
  if (source.nbytes() == 0) return false;  // an empty message
  if (d->carried && d->carried->bytes) {
    if (d->carried->bytes->size() != d->output.nbytes())
      throw std::invalid_argument(d->name + ": its bytes are not there, which only a memory file has");
    write_rows(image, d->output, {d->carried->bytes, d->carried->bytes->data(), d->carried->bytes->size()});
    return false;
  }
  if (d->operands.size() > 1) return load_masked(d, image);
  if (has_short_runs(source, share_from)) {
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
  if (d->data && d->data->size() != d->output.nbytes()) {
    throw std::invalid_argument(d->name + ": data of " + std::to_string(d->data->size()) + " bytes, destination of " +
                                std::to_string(d->output.nbytes()) + " bytes");
  }
  if (!d->data) check_sizes(*d, d->operands.at(0).ref);
  if (d->operands.size() > 1) return store_masked(d, image);
  if (d->data) {
    write_rows(image, d->output, {d->data, d->data->data(), d->data->size()});
  } else {
    image.transfer(d->operands[0].ref, d->output);
  }
  return false;
}

}  // namespace

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
    case CommandType::send:
    case CommandType::receive:
      break;  // their segments have effects (QueueRecord)
  }
  return false;
}

}  // namespace kernbench
