// SPDX-License-Identifier: Apache-2.0
#include "kernbench/sc_tests/fuzz/mutators.h"

#include <sqlite3.h>

#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "kernbench/phase2/log/checksum.h"

namespace kernbench::fuzz {
namespace {

using Json = nlohmann::ordered_json;

/// Values that readers often handle wrongly: ends of ranges, other types, markers of the formats.
const char* const kOddWords[] = {"0",
                                 "1",
                                 "-1",
                                 "2",
                                 "3",
                                 "7",
                                 "255",
                                 "256",
                                 "4096",
                                 "65536",
                                 "2147483647",
                                 "2147483648",
                                 "-2147483648",
                                 "4294967296",
                                 "9223372036854775807",
                                 "9223372036854775808",
                                 "18446744073709551615",
                                 "18446744073709551616",
                                 "0.5",
                                 "-0.0",
                                 "1e-9",
                                 "1e-320",
                                 "1e300",
                                 "1e999",
                                 "nan",
                                 "inf",
                                 "0x10",
                                 "0xffffffffffffffff",
                                 "010",
                                 "1_000",
                                 "true",
                                 "false",
                                 "null",
                                 "~",
                                 "",
                                 "x",
                                 "\"\"",
                                 "''",
                                 "*",
                                 "?",
                                 "..",
                                 "{}",
                                 "[]",
                                 "[1, 2]",
                                 "{a: 1}",
                                 "\xff\xfe",
                                 "\x1b[31m",
                                 "\xc3\xa9",
                                 "a.b.c",
                                 "sip0.cube0.pe0",
                                 "f16",
                                 "f32",
                                 "bf16",
                                 "hbm",
                                 "tcm",
                                 "sram",
                                 "N"};
const char kMarks[] = ":,[]{}\"'#&*!|>-=%@ \t\n";

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

/// Start and length of every word.
std::vector<std::pair<size_t, size_t>> words_of(const std::string& text) {
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end > i) words.emplace_back(i, end - i);
    i = end + 1;
  }
  return words;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

void mutate_lines(std::vector<std::string>& lines, Random& random) {
  if (lines.empty()) return;
  const size_t at = random.below(lines.size()), other = random.below(lines.size());
  const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random.below(5)) {
    case 0:
      lines.erase(place);
      break;
    case 1: {
      const std::string again = lines[other];
      lines.insert(place, again);
      break;
    }
    case 2:
      std::swap(lines[at], lines[other]);
      break;
    case 3:
      lines[at].insert(0, 1 + random.below(4), ' ');
      break;
    default:
      lines[at].erase(0, 1 + random.below(3));
  }
}

std::string mutate_words(std::string text, Random& random) {
  const auto words = words_of(text);
  if (words.empty()) return text;
  const auto [at, length] = random.one_of(words);
  const auto [other, other_length] = random.one_of(words);
  switch (random.below(4)) {
    case 0:
      return text.erase(at, length);
    case 1:
      return text.replace(at, length, text.substr(other, other_length));
    default:
      return text.replace(at, length, random.one_of(kOddWords));
  }
}

/// Every value of a document.
void collect(Json& v, std::vector<Json*>& all) {
  all.push_back(&v);
  if (v.is_structured()) {
    for (Json& item : v) collect(item, all);
  }
}

Json odd_value(Random& random) {
  static const Json kOdd[] = {nullptr,
                              true,
                              false,
                              0,
                              1,
                              -1,
                              2,
                              64,
                              2147483648ll,
                              -2147483648ll,
                              4294967296ll,
                              9223372036854775807ll,
                              18446744073709551615ull,
                              0.5,
                              -0.0,
                              1e-9,
                              1e300,
                              "",
                              "x",
                              "f16",
                              "#",
                              "#4294967295",
                              "a\nb",
                              "\x1b[31m",
                              Json::array(),
                              Json::object(),
                              Json::array({1}),
                              Json::array({Json::array()}),
                              Json::object({{"a", 1}})};
  return random.one_of(kOdd);
}

void mutate_value(Json& document, Random& random) {
  std::vector<Json*> all;
  collect(document, all);
  Json& v = *all[random.below(all.size())];
  const Json other = *all[random.below(all.size())];
  switch (random.below(v.is_structured() ? 6 : 2)) {
    case 0:
      v = odd_value(random);
      break;
    case 1:
      v = other;
      break;
    case 2:
    case 3:
      if (!v.empty()) v.erase(std::next(v.begin(), static_cast<std::ptrdiff_t>(random.below(v.size()))));
      break;
    case 4:
      if (v.is_array())
        v.push_back(v.empty() ? other : v[random.below(v.size())]);
      else
        v[random.one_of(kOddWords)] = other;
      break;
    default:
      if (v.is_array() && v.size() > 1)
        std::swap(v[0], v[v.size() - 1]);
      else
        v = Json::array({v});
  }
}

std::string dumped(const Json& v, int indent) {
  return v.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// The lines of a log, with recomputed checksums.
void renew_checksums(std::vector<std::string>& lines) {
  Checksum sum;
  const std::string key = "\"checksum\":\"";
  for (std::string& line : lines) {
    const size_t at = line.find(key);
    const bool check = line.find("\"op_name\":\"log_check\"") != std::string::npos ||
                       line.find("\"op_name\":\"log_end\"") != std::string::npos;
    if (check && at != std::string::npos) {
      const size_t from = at + key.size();
      line.replace(from, std::min(line.find('"', from), line.size()) - from, hex_of(sum.value()));
    }
    sum.add(line).add("\n");
  }
}

/// See phase2/io/memory_file.h.
struct Head {
  uint32_t kind, space, pe, zero;
  uint64_t key, bytes, checksum;
};
constexpr size_t kHeadBytes = sizeof(Head);
static_assert(kHeadBytes == 40, "as documented");
struct Chunk {
  Head head{};
  std::string content;
};

std::vector<Chunk> chunks_of(const std::string& file) {
  std::vector<Chunk> chunks;
  for (size_t at = 8; at + kHeadBytes <= file.size();) {
    Chunk c;
    std::memcpy(&c.head, file.data() + at, kHeadBytes);
    at += kHeadBytes;
    if (c.head.bytes > file.size() - at) break;
    c.content = file.substr(at, c.head.bytes);
    at += (c.head.bytes + 7) / 8 * 8;
    chunks.push_back(std::move(c));
  }
  return chunks;
}

uint64_t sum_of(std::string bytes, uint64_t sum) {
  bytes.resize((bytes.size() + 7) / 8 * 8);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
    sum ^= sum >> 29;
  }
  return sum;
}

std::string file_of(const std::vector<Chunk>& chunks, bool with_checksums) {
  std::string file = "KBMEM001";
  for (const Chunk& c : chunks) {
    Head head = c.head;
    const auto bytes = [&] { return std::string(reinterpret_cast<const char*>(&head), kHeadBytes); };
    if (with_checksums) {
      head.checksum = 0;
      head.checksum = sum_of(c.content, sum_of(bytes(), 0x6b6265656e6368ull));
    }
    file += bytes() + c.content;
    file.resize((file.size() + 7) / 8 * 8);
  }
  return file;
}

uint64_t odd_number(Random& random) {
  static const uint64_t kOdd[] = {0,
                                  1,
                                  7,
                                  8,
                                  64,
                                  4096,
                                  uint64_t{1} << 31,
                                  uint64_t{1} << 32,
                                  uint64_t{1} << 46,
                                  uint64_t{1} << 63,
                                  ~uint64_t{0},
                                  ~uint64_t{7}};
  return random.one_of(kOdd);
}

void mutate_chunk(Chunk& c, Random& random) {
  switch (random.below(6)) {
    case 0:
      c.head.kind = static_cast<uint32_t>(random.below(7));
      break;
    case 1:
      c.head.space = static_cast<uint32_t>(odd_number(random));
      break;
    case 2:
      c.head.pe = static_cast<uint32_t>(odd_number(random));
      break;
    case 3:
      c.head.key = odd_number(random);
      break;
    case 4:
      c.content.resize(random.below(2 * c.content.size() + 9));
      c.head.bytes = c.content.size();
      break;
    default:
      c.content = c.head.kind == 4 ? mutate_json(c.content, random) : mutate_bytes(c.content, random);
      c.head.bytes = c.content.size();
  }
}

std::vector<std::string> column_of_texts(sqlite3* db, const std::string& sql) {
  std::vector<std::string> texts;
  const auto add = [](void* to, int, char** values, char**) {
    static_cast<std::vector<std::string>*>(to)->push_back(values[0] ? values[0] : "");
    return 0;
  };
  sqlite3_exec(db, sql.c_str(), add, &texts, nullptr);
  return texts;
}

/// A statement that changes a database in one place; empty if it has no table.
std::string odd_statement(sqlite3* db, Random& random) {
  const auto tables =
      column_of_texts(db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'");
  if (tables.empty()) return "";
  const std::string table = random.one_of(tables);
  const auto columns = column_of_texts(db, "SELECT name FROM pragma_table_info('" + table + "')");
  if (columns.empty()) return "";
  static const char* const kValues[] = {"NULL",
                                        "0",
                                        "1",
                                        "-1",
                                        "2147483648",
                                        "-2147483648",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "1e300",
                                        "-0.5",
                                        "9e999",
                                        "''",
                                        "'x'",
                                        "'[]'",
                                        "'{}'",
                                        "'{\"a\":[1,[2]]}'",
                                        "'[0,-1]'",
                                        "x'ff00'",
                                        "zeroblob(100)",
                                        "'gemm'"};
  const std::string row = " WHERE " + columns[0] + " = (SELECT " + columns[0] + " FROM " + table +
                          " ORDER BY 1 LIMIT 1 OFFSET " + std::to_string(random.below(12)) + ")";
  const std::string column = random.one_of(columns);
  switch (random.below(12)) {
    case 0:
      return "DELETE FROM " + table + row;
    case 1:
      return "ALTER TABLE " + table + " RENAME COLUMN " + column + " TO other";
    case 2:
      return "DROP TABLE " + table;
    case 3:
      return "CREATE TRIGGER g AFTER INSERT ON " + table + " BEGIN DELETE FROM " + table + "; END";
    case 4:
      return "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '" + column + "', 'x')";
    case 5:
      return "UPDATE " + table + " SET " + column + " = substr(" + column + ", 2)" + row;
    default:
      return "UPDATE " + table + " SET " + column + " = " + random.one_of(kValues) + row;
  }
}

}  // namespace

std::string mutate_bytes(std::string bytes, Random& random) {
  const size_t at = random.below(bytes.size() + 1);
  switch (random.below(5)) {
    case 0:
      return bytes.substr(0, at);
    case 1:
      return bytes.insert(at, 1 + random.below(9), static_cast<char>(random.below(256)));
    case 2:
      return at < bytes.size() ? bytes.erase(at, 1 + random.below(9)) : bytes;
    default:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      return bytes;
  }
}

std::string mutate_text(std::string text, Random& random) {
  switch (random.below(8)) {
    case 0:
    case 1: {
      std::vector<std::string> lines = lines_of(text);
      mutate_lines(lines, random);
      return joined(lines);
    }
    case 2:
      return text.insert(random.below(text.size() + 1), 1, random.one_of(kMarks));
    case 3:
      return mutate_bytes(std::move(text), random);
    default:
      return mutate_words(std::move(text), random);
  }
}

std::string mutate_json(std::string text, Random& random) {
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded() || random.one_in(10)) return mutate_text(std::move(text), random);
  mutate_value(document, random);
  return dumped(document, 1);
}

std::string mutate_jsonl_log(std::string text, Random& random) {
  std::vector<std::string> lines = lines_of(text);
  if (lines.empty() || random.one_in(10)) return mutate_bytes(std::move(text), random);
  std::string& line = lines[random.below(lines.size())];
  Json record = Json::parse(line, nullptr, false);
  if (record.is_discarded() || random.one_in(5)) {
    mutate_lines(lines, random);
  } else {
    mutate_value(record, random);
    line = dumped(record, -1);
  }
  if (!random.one_in(8)) renew_checksums(lines);
  return joined(lines);
}

std::string mutate_sqlite(std::string bytes, Random& random) {
  if (random.one_in(4)) return mutate_bytes(std::move(bytes), random);
  sqlite3* db = nullptr;
  if (sqlite3_open(":memory:", &db) == SQLITE_OK) {
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size() + 1));
    std::memcpy(copy, bytes.data(), bytes.size());
    sqlite3_deserialize(db, "main", copy, size, size, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    sqlite3_exec(db, odd_statement(db, random).c_str(), nullptr, nullptr, nullptr);
    sqlite3_int64 n = 0;
    if (unsigned char* changed = sqlite3_serialize(db, "main", &n, 0)) {
      bytes.assign(reinterpret_cast<const char*>(changed), static_cast<size_t>(n));
      sqlite3_free(changed);
    }
  }
  sqlite3_close(db);
  return bytes;
}

std::string mutate_npy(std::string bytes, Random& random) {
  if (bytes.size() < 10 || random.one_in(3)) return mutate_bytes(std::move(bytes), random);
  const size_t length = static_cast<uint8_t>(bytes[8]) | static_cast<size_t>(static_cast<uint8_t>(bytes[9])) << 8;
  const std::string header = mutate_text(bytes.substr(10, length), random);
  std::string made = bytes.substr(0, 8);
  made += static_cast<char>(header.size() & 0xff);
  made += static_cast<char>(header.size() >> 8);
  return made + header + (10 + length < bytes.size() ? bytes.substr(10 + length) : "");
}

std::string mutate_memory_file(std::string bytes, Random& random) {
  std::vector<Chunk> chunks = chunks_of(bytes);
  if (chunks.empty() || random.one_in(6)) return mutate_bytes(std::move(bytes), random);
  const size_t at = random.below(chunks.size());
  const auto place = chunks.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random.below(6)) {
    case 0:
      chunks.erase(place);
      break;
    case 1: {
      const Chunk again = random.one_of(chunks);
      chunks.insert(place, again);
      break;
    }
    default:
      mutate_chunk(chunks[at], random);
  }
  if (!chunks.empty() && chunks.back().head.kind == 3 && !random.one_in(8)) chunks.back().head.key = chunks.size() - 1;
  return file_of(chunks, !random.one_in(8));
}

namespace {

/// A field of a Protocol Buffers message.
struct WireField {
  uint64_t tag = 0;
  std::string bytes;  ///< after the tag; for wire type 2 after the length
};

bool read_varint(const std::string& bytes, size_t* at, uint64_t* value) {
  *value = 0;
  for (int shift = 0; *at < bytes.size() && shift < 64; shift += 7) {
    const auto b = static_cast<uint8_t>(bytes[(*at)++]);
    *value |= static_cast<uint64_t>(b & 127) << shift;
    if (b < 128) return true;
  }
  return false;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}

/// Empty if it is not a message.
std::vector<WireField> wire_fields(const std::string& bytes) {
  std::vector<WireField> fields;
  for (size_t at = 0; at < bytes.size();) {
    WireField f;
    uint64_t n = 0;
    if (!read_varint(bytes, &at, &f.tag) || f.tag < 8) return {};
    const size_t begin = at;
    switch (f.tag & 7) {
      case 0:
        if (!read_varint(bytes, &at, &n)) return {};
        n = at - begin;
        at = begin;
        break;
      case 1:
      case 5:
        n = (f.tag & 7) == 1 ? 8 : 4;
        break;
      case 2:
        if (!read_varint(bytes, &at, &n)) return {};
        break;
      default:
        return {};
    }
    if (n > bytes.size() - at) return {};
    f.bytes = bytes.substr(at, n);
    at += n;
    fields.push_back(std::move(f));
  }
  return fields;
}

}  // namespace

std::string mutate_protobuf(std::string bytes, Random& random) {
  std::vector<WireField> fields = wire_fields(bytes);
  if (fields.empty() || random.one_in(12)) return mutate_bytes(std::move(bytes), random);
  const size_t at = random.below(fields.size());
  WireField& f = fields[at];
  if ((f.tag & 7) == 2 && !random.one_in(6)) {
    f.bytes = mutate_protobuf(f.bytes, random);
  } else if ((f.tag & 7) == 0 && !random.one_in(4)) {
    const uint64_t odd[] = {0, 1, 2, 7, 16, 1000, uint64_t{1} << 31, uint64_t{1} << 62, ~uint64_t{0}, ~uint64_t{0} - 1};
    f.bytes = varint(random.one_of(odd));
  } else if (random.one_in(3)) {
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(at));
  } else {
    std::swap(f, fields[random.below(fields.size())]);
  }
  if (random.one_in(8) && !fields.empty()) fields.push_back(random.one_of(fields));
  std::string made;
  for (const WireField& w : fields) made += varint(w.tag) + ((w.tag & 7) == 2 ? varint(w.bytes.size()) : "") + w.bytes;
  return made;
}

std::string mutate_mesh_cache(std::string text, Random& random) {
  text = mutate_text(std::move(text), random);
  const size_t end = text.rfind("checksum ");
  if (end == std::string::npos || random.one_in(8)) return text;
  return text.substr(0, end) + "checksum " + hex_of(Checksum().add({text.data(), end}).value()) + '\n';
}

}  // namespace kernbench::fuzz
