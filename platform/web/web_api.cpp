// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/web/web_api.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <set>
#include <string_view>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/text_stream.h"

namespace kernbench::web {

namespace page {
extern const std::string_view html, colours, css, js;
}

namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kName = "/([A-Za-z0-9._-]+)";

/// The page may only run its own script and contact this server.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A report contains a script; without an origin it cannot access the server.
constexpr const char* kReportPolicy =
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
constexpr const char* kFilePolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'";

void give(httplib::Response& r, std::string_view text, const char* type, const char* policy = kFilePolicy) {
  r.set_header("Content-Security-Policy", policy);
  r.set_content(text.data(), text.size(), type);
}

/// Sent in pieces, because reports are large and may be requested concurrently.
void give_file(httplib::Response& r, const std::shared_ptr<const OpenFile>& file, const char* type,
               const char* policy) {
  if (file->size() == 0) return give(r, "", type, policy);
  r.set_header("Content-Security-Policy", policy);
  r.set_content_provider(file->size(), type, [file](size_t from, size_t size, httplib::DataSink& sink) {
    std::array<char, 1 << 16> piece;
    const size_t got = file->read(from, piece.data(), std::min(size, piece.size()));
    return got > 0 && sink.write(piece.data(), got);  // the file became shorter: cut off
  });
}

void give_fault(httplib::Response& r, int status, const std::string& line) {
  std::string text;
  JsonWriter(text).open('{').field("fault", line).close('}');
  r.status = status;
  give(r, text, kJson);
}

/// Not found in the folder.
class NotFound : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Options that a page may set, by command.
void write_options(JsonWriter& w, const char* command) {
  w.key(command).open('[');
  for (const spec::Option* o : page_options(command)) {
    w.open('{').field("name", o->name).field("help", o->help).field("flag", o->type == spec::Option::Type::flag);
    w.field("list", o->often != spec::Option::Often::once).field("form", o->form);
    w.field("initial", o->initial).field("legal", o->legal).close('}');
  }
  w.close(']');
}

const char* state_of(const std::optional<RunEnd>& end) {
  if (!end) return "cut off";
  if (end->status == 128 + SIGINT || end->status == 128 + SIGTERM) return "stopped";
  return end->status == 0 ? "done" : "failed";
}

}  // namespace

WebApi::WebApi(PageServer& server, RunFolder& folder, Children& children, std::vector<std::string> more)
    : server_(server), folder_(folder), children_(children), more_(std::move(more)) {
  serve_page();
  serve_runs();
  serve_answers();
}

WebApi::Handler WebApi::told(Handler handler) {
  return [handler](const httplib::Request& request, httplib::Response& response) {
    try {
      handler(request, response);
    } catch (const NotFound& e) {
      give_fault(response, 404, e.what());
    } catch (const InputError& e) {
      give_fault(response, 400, e.what());
    } catch (const RunError& e) {
      give_fault(response, 409, e.what());
    } catch (const std::bad_alloc&) {
      give_fault(response, 503, kOutOfMemory);
    } catch (const std::exception& e) {
      give_fault(response, 500, first_line(e.what()));
    }
  };
}

void WebApi::serve_page() {
  const auto serve = [&](const char* path, std::string_view text, const char* type) {
    server_.Get(server_.path(path), [text, type](const auto&, auto& r) { give(r, text, type, kPagePolicy); });
  };
  serve("/", page::html, "text/html; charset=utf-8");
  static const std::string css = std::string(page::colours) + std::string(page::css);
  serve("/page\\.css", css, "text/css");
  serve("/page\\.js", page::js, "text/javascript");
}

void WebApi::serve_runs() {
  server_.Get(server_.path("/api/runs"), told([this](const auto&, auto& r) { give(r, runs(), kJson); }));
  server_.Post(server_.path("/api/runs"), told([this](const httplib::Request& request, httplib::Response& r) {
                 give(r, start(request.body), kJson);
               }));
  server_.Post(server_.path(std::string("/api/runs") + kName + "/stop"),
               told([this](const httplib::Request& request, httplib::Response& r) {
                 const std::string name = run_named(request);
                 if (!children_.stop(name)) throw RunError(name + " does not run");
                 give(r, "{}", kJson);
               }));
  server_.Get(server_.path(std::string("/runs") + kName + "/(report\\.html|run\\.json|stderr\\.txt)"),
              told([this](const httplib::Request& request, httplib::Response& r) {
                const std::string name = run_named(request), file = request.matches[2];
                const auto content = folder_.open(name, file);
                if (!content) throw NotFound(name + " has no " + file);
                const bool report = file == "report.html";
                give_file(r, content,
                          report               ? "text/html; charset=utf-8"
                          : file == "run.json" ? kJson
                                               : "text/plain; charset=utf-8",
                          report ? kReportPolicy : kFilePolicy);
              }));
}

void WebApi::serve_answers() {
  server_.Get(server_.path("/api/system"), told([this](const auto&, auto& r) { give(r, system(), kJson); }));
  server_.Get(server_.path("/api/diff"), told([this](const httplib::Request& request, httplib::Response& r) {
                std::vector<std::string> words = {"diff", "--format=json"};
                for (const char* side : {"a", "b"}) {
                  const std::string name = request.get_param_value(side);
                  if (!folder_.has_run(name)) throw NotFound("no run '" + name + "'");
                  words.push_back(folder_.file(name, "run.json"));
                }
                give(r, answer(words, false), kJson);
              }));
  server_.Get(server_.path(std::string("/topologies") + kName + "\\.svg"),
              told([this](const httplib::Request& request, httplib::Response& r) {
                const std::string name = request.matches[1];
                const auto known = topologies();
                if (std::find(known.begin(), known.end(), name) == known.end()) throw NotFound("no topology " + name);
                give(r, answer({"topology", "--format=svg", "--topology=" + name}, true), "image/svg+xml");
              }));
}

std::string WebApi::answer(std::vector<std::string> arguments, bool knows_kernels) {
  if (knows_kernels) arguments.insert(arguments.end(), more_.begin(), more_.end());
  ChildPool::Ended r = children_.ask(arguments);
  if (r.status != 0) throw InputError(first_line(r.err));
  return std::move(r.out);
}

/// The folder's own paths are relative.
std::vector<std::filesystem::path> WebApi::shipped_topologies() {
  std::vector<std::filesystem::path> found;
  const ChildPool::Ended shipped = children_.ask({"list", "topologies"});  // fails if there are none
  TextInput files(shipped.status == 0 ? shipped.out : "");
  for (std::string file; std::getline(files, file);) {
    const std::filesystem::path path = file;
    if (path.is_absolute() && is_plain_name(path.filename().string())) found.push_back(path);
  }
  return found;
}

std::vector<std::string> WebApi::topologies() {
  std::vector<std::string> names = folder_.topologies();
  for (const std::filesystem::path& path : shipped_topologies()) {
    const std::string name = path.filename().string();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> WebApi::energies() {
  std::set<std::string> names, folders;
  for (const std::filesystem::path& path : shipped_topologies()) folders.insert(path.parent_path() / "energy");
  for (const std::string& folder : folders) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".yaml" && is_plain_name(name)) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::string WebApi::system() {
  std::string text;
  JsonWriter w(text);
  w.open('{').field("folder", folder_.path()).field("topologies", topologies()).field("models", folder_.models());
  w.field("energies", energies());
  w.key("kernels").raw(answer({"list", "kernels", "--format=json"}, true));
  w.key("programs").raw(answer({"list", "programs", "--format=json"}, true));
  w.key("links").raw(answer({"list", "links", "--format=json"}, true)).key("options").open('{');
  for (const char* command : {"run", "model"}) write_options(w, command);
  w.close('}').close('}');
  return text;
}

std::string WebApi::runs() const {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::compact, JsonWriter::Reals::decimal);
  w.open('[');
  for (const std::string& name : folder_.runs()) {
    const auto request = folder_.request(name);
    if (!request) continue;
    const Children::Place place = children_.place(name);
    w.open('{').field("name", name).key("request").raw(request->json());
    w.field("command", request->arguments());
    if (place.state == Children::State::none) {
      const auto end = folder_.end(name);
      w.field("state", state_of(end));
      if (end) w.key("end").raw(end->json());
      const auto said = folder_.said(name);
      if (!said.empty()) w.field("said", said);
    } else {
      w.field("state", place.state == Children::State::running ? "running" : "waiting");
      const RunProgress p = folder_.progress(name, place.elapsed_s);
      w.field("elapsed_s", place.elapsed_s).field("progress", p.text).field("left_s", p.left_s);
    }
    w.close('}');
  }
  w.close(']');
  return text;
}

std::string WebApi::start(const std::string& body) {
  const RunRequest request = parse_run_request(body);
  const auto check = [](const char* field, const std::vector<std::string>& known, const std::string& name) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(std::string("request: ") + field + ": no '" + name + "' here");
  };
  check("topology", topologies(), request.topology);
  if (request.is_model()) check("model", folder_.models(), request.name);
  if (!request.energy.empty()) check("energy", energies(), request.energy);
  const std::string name = folder_.create(request);
  std::vector<std::string> words = request.arguments(folder_.file(name, "report.html"));
  words.insert(words.end(), more_.begin(), more_.end());
  children_.start({name, words, folder_.file(name, "run.json"), folder_.file(name, "stderr.txt"),
                   [this, name](int status, double wall_s) { folder_.finish(name, status, wall_s); }});
  std::string text;
  JsonWriter(text).open('{').field("name", name).close('}');
  return text;
}

std::string WebApi::run_named(const httplib::Request& request) const {
  std::string name = request.matches[1];
  if (!folder_.has_run(name)) throw NotFound("no run '" + name + "'");
  return name;
}

}  // namespace kernbench::web
