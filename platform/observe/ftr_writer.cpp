// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/ftr_writer.h"

#include <algorithm>

#include "kernbench/phase2/text/text.h"

namespace kernbench::observe {

namespace {

// Major types of CBOR, shifted into place.
constexpr unsigned kUnsigned = 0 << 5, kNegative = 1 << 5, kBytes = 2 << 5, kText = 3 << 5, kArray = 4 << 5,
                   kMap = 5 << 5, kTag = 6 << 5;
constexpr char kUntilBreak = static_cast<char>(kArray | 31), kBreak = static_cast<char>(0xff);

// Kinds of chunks. A chunk's tag is 6 + 2 · kind; compressed chunks have 1 more.
constexpr unsigned kInfo = 0, kDictionary = 1, kDirectory = 2, kTransactions = 3, kRelations = 4;
// Tags inside chunks.
constexpr uint64_t kSelfDescribed = 55799, kEpoch = 1, kStreamTag = 16, kGeneratorTag = 17, kEvent = 6, kRecord = 8;
// Types of attributes; only these are numbered and decoded alike by all readers.
constexpr uint64_t kUnsignedType = 3, kStringType = 10;

constexpr int kFemtoseconds = -15;  // the file's time unit, 10^-15 s

constexpr size_t kBlockBytes = 1 << 16;    ///< a stream, or the relations, is written at this size
constexpr size_t kWaitingBytes = 8 << 20;  ///< of all streams together

/// Head of an item: its major type and a value or length.
void put(std::string& out, unsigned major, uint64_t value) {
  if (value < 24) {
    out += static_cast<char>(major | value);
    return;
  }
  unsigned size = 0;  // of the value, as a power of two
  while (size < 3 && value >> (8u << size) != 0) ++size;
  out += static_cast<char>(major | (24 + size));
  for (unsigned byte = 1u << size; byte-- > 0;) out += static_cast<char>(value >> (8 * byte));
}

void put_number(std::string& out, uint64_t value) {
  put(out, kUnsigned, value);
}

}  // namespace

FtrWriter::FtrWriter(const std::string& file) : out_(file) {
  std::string text;
  put(text, kTag, kSelfDescribed);
  text += kUntilBreak;
  out_.write(text);
  std::string info;
  put(info, kArray, 2);
  put(info, kNegative, -1 - kFemtoseconds);
  put(info, kTag, kEpoch);
  put_number(info, 0);  // no creation time
  write_chunk(kInfo, info);
  key_of("");  // readers treat key 0 as no name
}

FtrWriter::~FtrWriter() = default;

uint64_t FtrWriter::key_of(std::string_view name) {
  const auto [it, is_new] = keys_.try_emplace(escaped(name), keys_.size());
  if (is_new) new_names_.push_back(it->first);
  return it->second;
}

FtrWriter::Stream FtrWriter::add_stream(std::string_view name, std::string_view kind) {
  const Stream id = ++streams_;
  blocks_.resize(streams_ + 1);
  put(directory_, kTag, kStreamTag);
  put(directory_, kArray, 3);
  put_number(directory_, id);
  put_number(directory_, key_of(name));
  put_number(directory_, key_of(kind));
  return id;
}

FtrWriter::Generator FtrWriter::add_generator(Stream stream, std::string_view name) {
  const Generator id = ++generators_;
  put(directory_, kTag, kGeneratorTag);
  put(directory_, kArray, 3);
  put_number(directory_, id);
  put_number(directory_, key_of(name));
  put_number(directory_, stream);
  return id;
}

FtrWriter& FtrWriter::begin(const Transaction& t, Generator generator, uint64_t start_fs, uint64_t end_fs) {
  is_none_ = !t;
  stream_ = t.stream;
  start_fs_ = start_fs;
  end_fs_ = end_fs;
  head_.clear();
  attributes_.clear();
  attribute_count_ = 0;
  put(head_, kTag, kEvent);
  put(head_, kArray, 4);
  for (const uint64_t number : {t.id, uint64_t{generator}, start_fs, end_fs}) put_number(head_, number);
  return *this;
}

FtrWriter& FtrWriter::attribute(std::string_view name, uint64_t value) {
  if (is_none_) return *this;
  ++attribute_count_;
  put(attributes_, kTag, kRecord);
  put(attributes_, kArray, 3);
  for (const uint64_t number : {key_of(name), kUnsignedType, value}) put_number(attributes_, number);
  return *this;
}

FtrWriter& FtrWriter::attribute(std::string_view name, std::string_view value) {
  if (is_none_) return *this;
  ++attribute_count_;
  put(attributes_, kTag, kRecord);
  put(attributes_, kArray, 3);
  for (const uint64_t number : {key_of(name), kStringType, key_of(value)}) put_number(attributes_, number);
  return *this;
}

void FtrWriter::end() {
  if (is_none_) return;
  Block& b = blocks_[stream_];
  const size_t before = b.text.size();
  put(b.text, kArray, attribute_count_ + 1);
  b.text += head_;
  b.text += attributes_;
  b.start_fs = std::min(b.start_fs, start_fs_);
  b.end_fs = std::max(b.end_fs, end_fs_);
  waiting_bytes_ += b.text.size() - before;
  if (b.text.size() >= kBlockBytes) flush(stream_);
  if (waiting_bytes_ >= kWaitingBytes) flush_all();
}

void FtrWriter::relate(std::string_view name, const Transaction& from, const Transaction& to) {
  if (!from || !to) return;
  put(relations_, kArray, 5);
  for (const uint64_t number : {key_of(name), from.id, to.id, uint64_t{from.stream}, uint64_t{to.stream}})
    put_number(relations_, number);
  if (relations_.size() >= kBlockBytes) flush_relations();
}

/// Readers need names, streams and generators before items that refer to them.
void FtrWriter::flush_names() {
  if (!new_names_.empty()) {
    std::string text;
    put(text, kMap, new_names_.size());
    for (size_t i = 0; i < new_names_.size(); ++i) {
      put_number(text, keys_.size() - new_names_.size() + i);
      put(text, kText, new_names_[i].size());
      text += new_names_[i];
    }
    write_chunk(kDictionary, text);
    new_names_.clear();
  }
  if (directory_.empty()) return;
  write_chunk(kDirectory, kUntilBreak + directory_ + kBreak);
  directory_.clear();
}

void FtrWriter::flush(Stream stream) {
  Block& b = blocks_[stream];
  if (b.text.empty()) return;
  flush_names();
  const std::string content = kUntilBreak + b.text + kBreak;
  std::string text;
  put(text, kTag, 6 + 2 * kTransactions);
  put(text, kArray, 4);
  for (const uint64_t number : {uint64_t{stream}, b.start_fs, b.end_fs}) put_number(text, number);
  put(text, kBytes, content.size());
  out_.write(text + content);
  waiting_bytes_ -= b.text.size();
  b = Block();
}

void FtrWriter::flush_all() {
  for (Stream stream = 1; stream <= streams_; ++stream) flush(stream);
}

void FtrWriter::flush_relations() {
  if (relations_.empty()) return;
  flush_names();
  write_chunk(kRelations, kUntilBreak + relations_ + kBreak);
  relations_.clear();
}

void FtrWriter::write_chunk(unsigned kind, std::string_view content) {
  std::string text;
  put(text, kTag, 6 + 2 * kind);
  put(text, kBytes, content.size());
  out_.write(text.append(content));
}

void FtrWriter::close() {
  flush_names();
  flush_all();
  flush_relations();
  out_.write(std::string_view(&kBreak, 1));
  out_.keep();
}

}  // namespace kernbench::observe
