// SPDX-License-Identifier: Apache-2.0
// Is a graph byte-identical without a cache, with one, and with one that is damaged, foreign or unwritable? Does a
// cached mesh belong to exactly the fields that it depends on?
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/log/checksum.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/build/mesh_cache.h"
#include "kernbench/platform/topology/view/print.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::mesh_cache_never_changes_a_graph {
namespace {

namespace fs = std::filesystem;
const testing::TestCatalog catalog;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class MeshFiles : public ::testing::Test {
 protected:
  MeshFiles() : yaml_(text_of(KERNBENCH_TOPOLOGIES "/one_cube.yaml")) {
    std::string name = ::testing::TempDir() + "mesh-cache-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~MeshFiles() override { fs::remove_all(folder_); }

  std::string compiled(const std::string& yaml, const MeshCache* cache) const {
    std::ostringstream out;
    print_json(compile_text(yaml, "t.yaml", catalog, {}, cache), out);
    return out.str();
  }
  /// With the cache in `folder_`; its messages are in `notes_`.
  std::string with_cache(const std::string& yaml) { return with_cache_in(folder_, yaml); }
  std::string with_cache_in(const std::string& folder, const std::string& yaml) {
    notes_.clear();
    logging::set_levels("test", "topology=info");
    logging::set_sink([this](const logging::Message& m) {
      if (m.text.substr(0, 4) == "mesh") notes_ += std::string(m.text) + "\n";
    });
    const MeshCache cache(folder);
    const std::string graph = compiled(yaml, &cache);
    logging::set_sink({});
    logging::set_levels("test", "warn");
    return graph;
  }
  std::vector<std::string> kept() const {
    std::vector<std::string> files;
    for (const auto& f : fs::directory_iterator(folder_)) files.push_back(f.path().string());
    return files;
  }
  std::string changed(const std::string& from, const std::string& to) const {
    std::string yaml = yaml_;
    const size_t at = yaml.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? yaml : yaml.replace(at, from.size(), to);
  }

  std::string folder_, yaml_, notes_;
};

TEST_F(MeshFiles, are_written_once_and_then_read) {
  const std::string without = compiled(yaml_, nullptr);
  EXPECT_EQ(with_cache(yaml_), without);
  EXPECT_NE(notes_.find("kept in "), std::string::npos) << notes_;
  ASSERT_EQ(kept().size(), 1u);
  const auto written = fs::last_write_time(kept()[0]);
  EXPECT_EQ(with_cache(yaml_), without);
  EXPECT_EQ(notes_, "mesh cache: taken from " + kept()[0] + "\n");
  EXPECT_EQ(fs::last_write_time(kept()[0]), written);
}

// A loaded plan is really used to build the graph: a forged one with a correct checksum shows.
TEST_F(MeshFiles, are_used) {
  const std::string without = with_cache(yaml_);
  std::string text = text_of(kept()[0]);
  const size_t sram = text.find("\nsram ") + 6;
  text.replace(sram, text.find('\n', sram) - sram, "0");
  text.resize(text.rfind("checksum "));
  put(kept()[0], text + "checksum " + hex_of(Checksum().add(text).value()) + "\n");
  EXPECT_NE(with_cache(yaml_), without);
}

TEST_F(MeshFiles, that_are_damaged_are_made_anew) {
  const std::string without = with_cache(yaml_);
  const std::string file = kept()[0], good = text_of(file);
  std::vector<std::string> bad = {"",          "\n",       "checksum 0000000000000000\n",
                                  good + good, good + "x", std::string(5000, '\0')};
  for (size_t n = 1; n < good.size(); n += 37) bad.push_back(good.substr(0, n));
  for (size_t at = 0; at < good.size(); at += 23) {
    bad.push_back(good);
    bad.back()[at] = static_cast<char>(bad.back()[at] ^ 1);
  }
  for (const std::string& text : bad) {
    put(file, text);
    ASSERT_EQ(with_cache(yaml_), without);
    ASSERT_TRUE(text.empty() || notes_.find(file + " is ") != std::string::npos) << notes_;
    ASSERT_EQ(text_of(file), good);
  }
}

// Errors that a checksum cannot detect: numbers of nonexistent routers, too many or too few numbers.
TEST_F(MeshFiles, that_say_what_cannot_be_are_made_anew) {
  const std::string without = with_cache(yaml_);
  const std::string file = kept()[0], good = text_of(file);
  for (const auto& [from, to] :
       std::vector<std::pair<const char*, const char*>>{{"\npe 8 0", "\npe 8 32"},
                                                        {"\npe 8 0", "\npe 9 0"},
                                                        {"\npe 8 0", "\npe 7 0"},
                                                        {"\npe 8 0", "\nqe 8 0"},
                                                        {"\npe 8 0", "\npe 99999999999 0"},
                                                        {"\nsram ", "\nsram 4"},
                                                        {"\nrouters 32", "\nrouters 4000000000"},
                                                        {"\npe 8 0", "\npe 7"},
                                                        {"\npe 8 0 1", "\npe 9 0 1 1"},
                                                        {"\nrouters 32 0 0 0 1", "\nrouters 32 0 0 0 0"},
                                                        {"\nrouters 32 0 0", "\nrouters 32 9 0"},
                                                        {"\nrouters 32 0 0", "\nrouters 33 0 0 2 2"},
                                                        {"\nhorizontal 24 0 1", "\nhorizontal 24 1 1"},
                                                        {"\nm_cpu 2", "\nm_cpu 4294967295"},
                                                        {"\nsram 16", "\nsram 4294967295"},
                                                        {"\nucie 4 0", "\nucie 3"},
                                                        {"\nucie 4 0 12 16 26", "\nucie 0"},
                                                        {"\nucie 0", "\nucie 1 0"},
                                                        {"\nm_cpu ", "\nm_cpu -"}}) {
    std::string text = good.substr(0, good.rfind("checksum "));
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), std::string(from).size(), to);
    put(file, text + "checksum " + hex_of(Checksum().add(text).value()) + "\n");
    EXPECT_EQ(with_cache(yaml_), without) << to;
    EXPECT_NE(notes_.find("made anew"), std::string::npos) << to;
  }
}

TEST_F(MeshFiles, of_another_cube_are_not_taken) {
  with_cache(yaml_);
  const std::string file = kept()[0];
  const std::string other = changed("at_mm: [1.5, 9.0]", "at_mm: [1.5, 13.0]");
  const std::string expected = compiled(other, nullptr);
  EXPECT_NE(expected, compiled(yaml_, nullptr));
  with_cache(other);
  for (const std::string& f : kept())
    if (f != file) fs::copy_file(file, f, fs::copy_options::overwrite_existing);
  EXPECT_EQ(with_cache(other), expected);
  EXPECT_NE(notes_.find("is of another description"), std::string::npos) << notes_;
}

TEST_F(MeshFiles, are_done_without_where_none_can_be_written) {
  const std::string without = compiled(yaml_, nullptr);
  put(folder_ + "/plain", "");
  for (const std::string& folder : {folder_ + "/plain", folder_ + "/plain/below", std::string("/proc/kernbench")}) {
    EXPECT_EQ(with_cache_in(folder, yaml_), without);
    EXPECT_NE(notes_.find("nothing kept: " + folder), std::string::npos) << notes_;
  }
  EXPECT_EQ(with_cache_in("", yaml_), without);
  EXPECT_EQ(notes_, "");
  // A folder is in the place of the file: it is neither read nor replaced.
  fs::remove(folder_ + "/plain");
  with_cache(yaml_);
  const std::string file = kept()[0];
  fs::remove(file);
  fs::create_directories(file + "/x");
  EXPECT_EQ(with_cache(yaml_), without);
  EXPECT_EQ(kept().size(), 1u) << "the file written aside is gone";
}

// A second file appears if, and only if, the mesh depends on the field.
TEST_F(MeshFiles, belong_to_exactly_the_fields_that_they_follow_from) {
  const std::string pes = "at: [r0c0, r0c1, r1c4, r1c5, r4c0, r4c1, r5c4, r5c5]";
  struct Change {
    std::string from, to;
  };
  for (const Change& c :
       std::vector<Change>{{"size_mm: [17.0, 14.0]", "size_mm: [17.0, 14.5]"},
                           {"grid: [6, 6]", "grid: [6, 7]"},
                           {"exclude: [2, 2, 3, 3]", "exclude: [2, 2, 3, 2]"},
                           {"    exclude: [2, 2, 3, 3]", "    #"},
                           {pes, "at: [r0c0, r0c1, r1c4, r1c5, r4c0, r4c1, r5c5, r5c4]"},
                           {"at_mm: [1.5, 9.0]", "at_mm: [1.5, 9.25]"},
                           {"at_mm: [7.5, 2.0]", "at_mm: [7.0, 2.0]"},
                           {"ports: [W]", "ports: [N, W]"},
                           {"connections: 4             # of each port, spread", "connections: 3 # spread"}}) {
    fs::remove_all(folder_);
    with_cache(yaml_);
    const std::string yaml = changed(c.from, c.to);
    EXPECT_EQ(with_cache(yaml), compiled(yaml, nullptr)) << c.to;
    EXPECT_EQ(kept().size(), 2u) << c.to;
  }
  fs::remove_all(folder_);
  with_cache(yaml_);
  for (const Change& c :
       std::vector<Change>{{"router_to_router: {bw_gbs: 256.0}", "router_to_router: {bw_gbs: 64.0, distance_mm: 1}"},
                           {"slice_mb: 6144", "slice_mb: 64"},
                           {"ns_per_mm: 0.01", "ns_per_mm: 0.02"},
                           {"router: {attrs: {overhead_ns: 0.0}}", "router: {attrs: {overhead_ns: 3.0}}"},
                           {"lanes: 128", "lanes: 64"},
                           {"links: cut_through", "links: ideal"}}) {
    const std::string yaml = changed(c.from, c.to);
    EXPECT_EQ(with_cache(yaml), compiled(yaml, nullptr)) << c.to;
    EXPECT_EQ(kept().size(), 1u) << c.to;
    EXPECT_NE(notes_.find("taken from"), std::string::npos) << c.to;
  }
}

TEST_F(MeshFiles, may_be_written_by_many_processes_at_once) {
  const std::string without = compiled(yaml_, nullptr);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool same = true;
      for (int k = 0; k < 10; ++k) {
        same = same && with_cache(yaml_) == without;
        if (k % 3 == i % 3) put(folder_ + "/x", "");  // others may be removed at any time
        for (const auto& f : fs::directory_iterator(folder_)) {
          std::error_code gone;
          if (k % 3 == i % 3 && f.path().extension() == ".txt") fs::remove(f.path(), gone);
        }
      }
      _exit(same ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  fs::remove(folder_ + "/x");
  EXPECT_EQ(with_cache(yaml_), without);
  EXPECT_EQ(kept().size(), 1u) << "nothing written aside is left";
}

}  // namespace
}  // namespace kernbench::topology::mesh_cache_never_changes_a_graph
