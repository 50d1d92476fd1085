// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/service/service_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/fields.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/run/record/html_page.h"

namespace kernbench {
namespace page {
extern const std::string_view service_html, service_css, service_js;
}
namespace service {
namespace {

constexpr double kBinsOfOctave = 1024;
constexpr std::array<double, 3> kQuantiles = {0.5, 0.9, 0.99};

/// Index of a quantile in sorted values or counts, from 0.
uint64_t nearest_rank(double q, uint64_t count) {
  return static_cast<uint64_t>(std::max(1.0, std::ceil(q * static_cast<double>(count)))) - 1;
}

double ms(double ns) {
  return ns / 1e6;
}

}  // namespace

size_t Distribution::bin_of(double v) {
  return v < 1 ? 0 : 1 + static_cast<size_t>(std::log2(v) * kBinsOfOctave);
}

void Distribution::add(double v) {
  ++count_;
  sum_ += v;
  const auto to_bin = [this](double value) {
    const size_t bin = bin_of(value);
    if (bin >= bins_.size()) bins_.resize(bin + 1);
    ++bins_[bin];
  };
  if (count_ <= kExact) {
    values_.push_back(v);
    return;
  }
  for (const double value : values_) to_bin(value);
  values_ = {};
  to_bin(v);
}

double Distribution::quantile(double q) const {
  if (count_ == 0) return 0;
  uint64_t rank = nearest_rank(q, count_);
  if (!values_.empty()) {
    std::vector<double> sorted = values_;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(rank), sorted.end());
    return sorted[rank];
  }
  size_t bin = 0;
  for (; rank >= bins_[bin]; ++bin) rank -= bins_[bin];
  return bin == 0 ? 0 : std::exp2((static_cast<double>(bin) - 0.5) / kBinsOfOctave);
}

void LoadTimeline::add(double start_ns, double ns, const Values& values) {
  const double end_ns = start_ns + ns;
  while (end_ns > width_ns_ * static_cast<double>(kMost)) {
    for (size_t i = 1; i < sums_.size(); ++i) {
      if (i % 2 == 0) sums_[i / 2] = {};
      for (size_t s = 0; s < kSeries; ++s) sums_[i / 2][s] += sums_[i][s];
    }
    sums_.resize((sums_.size() + 1) / 2);
    width_ns_ *= 2;
  }
  for (auto bin = static_cast<size_t>(start_ns / width_ns_); static_cast<double>(bin) * width_ns_ < end_ns; ++bin) {
    const double from = std::max(start_ns, static_cast<double>(bin) * width_ns_),
                 to = std::min(end_ns, static_cast<double>(bin + 1) * width_ns_);
    if (bin >= sums_.size()) sums_.resize(bin + 1);
    for (size_t s = 0; s < kSeries; ++s) sums_[bin][s] += values[s] * std::max(0.0, to - from);
  }
}

Slo parse_slo(const std::string& text) {
  Slo slo;
  for (const std::string& word : parts_between(',', text)) {
    const std::string name = word.substr(0, word.find('='));
    std::optional<double>* limit = name == "ttft"   ? &slo.ttft_ns
                                   : name == "tpot" ? &slo.tpot_ns
                                   : name == "e2e"  ? &slo.e2e_ns
                                                    : nullptr;
    double v = 0;
    const char *first = word.data() + std::min(name.size() + 1, word.size()), *last = word.data() + word.size();
    const auto [ended, error] = std::from_chars(first, last, v);
    if (!limit || *limit || error != std::errc() || ended != last || !(v > 0) || !std::isfinite(v))
      throw InputError(fmt::format(
          "--slo: found {}, expected ttft=MS, tpot=MS and e2e=MS, each at most once, above 0, joined by commas",
          in_quotes(word)));
    *limit = v * 1e6;
  }
  return slo;
}

void ServiceReport::add(const Step& s) {
  timeline.add(s.start_ns, s.ns,
               {static_cast<double>(s.waiting), static_cast<double>(s.running), static_cast<double>(s.prefill),
                static_cast<double>(s.blocks), static_cast<double>(s.cached)});
}

void ServiceReport::add(const Served& r) {
  const double ttft = r.first_ns - r.arrival_ns, e2e = r.end_ns - r.arrival_ns;
  ttft_ns.add(ttft);
  e2e_ns.add(e2e);
  const double tpot = r.output > 1 ? (r.end_ns - r.first_ns) / static_cast<double>(r.output - 1) : 0;
  if (r.output > 1) tpot_ns.add(tpot);
  const auto within = [](double v, const std::optional<double>& limit) { return !limit || v <= *limit; };
  if (slo.given() && within(ttft, slo.ttft_ns) && within(tpot, slo.tpot_ns) && within(e2e, slo.e2e_ns)) ++within_slo;
}

double ServiceReport::tokens_s() const {
  return static_cast<double>(totals.output_tokens) / seconds();
}

std::optional<double> ServiceReport::usd_million() const {
  if (!usd_hour) return std::nullopt;
  return *usd_hour / 3600 / tokens_s() * 1e6;
}

double ServiceReport::error_quantile(double q, bool with_chunks) const {
  std::vector<double> errors;
  for (const ExactStep& e : exact) {
    if ((e.of.prefill > 0) == with_chunks) errors.push_back(std::abs(e.error()));
  }
  std::sort(errors.begin(), errors.end());
  return errors.empty() ? 0 : errors[nearest_rank(q, errors.size())];
}

void write_service_text(std::ostream& out, const ServiceReport& r) {
  const ServiceTotals& t = r.totals;
  print_to(out, "{} on {}, requests of {}\n\n", r.model, r.machine, r.trace);
  print_to(out,
           "  scheduler    {} tokens a step, at most {} requests at a time, KV cache of {} blocks of {} tokens{}\n",
           r.limits.token_budget, r.limits.max_batch, grouped(static_cast<uint64_t>(r.limits.blocks)), r.limits.block,
           r.limits.prefix_reuse ? ", prefixes reused" : "");
  print_to(out, "  served       {} requests in {:.3f} s, busy {:.1f} %, {} steps\n", t.requests, r.seconds(),
           100 * t.busy_ns / t.end_ns, t.steps);
  print_to(out, "  tokens       {} of prompts, {} of them reused; {} given out, {:.1f} a second; {} computed\n",
           t.prompt_tokens, t.reused_tokens, t.output_tokens, r.tokens_s(), t.computed_tokens);
  print_to(out, "  KV cache     at most {} blocks, {:.1f} %; {} preemptions\n\n", t.most_blocks,
           100 * static_cast<double>(t.most_blocks) / static_cast<double>(r.limits.blocks), t.preemptions);
  print_to(out, "  {:12}{:>14}{:>14}{:>14}{:>14}\n", "ms", "mean", "p50", "p90", "p99");
  for (const auto& [name, d] : {std::pair("TTFT", &r.ttft_ns), {"TPOT", &r.tpot_ns}, {"end to end", &r.e2e_ns}}) {
    print_to(out, "  {:12}{:>14.3f}", name, ms(d->mean()));
    for (const double q : kQuantiles) print_to(out, "{:>14.3f}", ms(d->quantile(q)));
    out << '\n';
  }
  out << '\n';
  if (r.slo.given())
    print_to(out, "  goodput      {:.3f} requests a second within the limits, {:.2f} % of all\n",
             static_cast<double>(r.within_slo) / r.seconds(),
             100 * static_cast<double>(r.within_slo) / static_cast<double>(t.requests));
  if (const auto usd = r.usd_million()) print_to(out, "  cost         {:.4f} USD a million tokens given out\n", *usd);
  print_to(out, "  prices       {} phases simulated\n", r.simulated);
  for (const bool chunks : {true, false}) {
    const auto count =
        std::count_if(r.exact.begin(), r.exact.end(), [&](const ExactStep& e) { return (e.of.prefill > 0) == chunks; });
    if (count == 0) continue;
    print_to(out,
             "  error        of {} steps {} chunks, simulated exactly: median {:.2f} %, p90 {:.2f} %, most {:.2f} %\n",
             count, chunks ? "with" : "without", 100 * r.error_quantile(0.5, chunks),
             100 * r.error_quantile(0.9, chunks), 100 * r.error_quantile(1, chunks));
  }
  out << "  not in it    the attention of a chunk to tokens of earlier steps, and of several chunks in a step, is by\n"
         "               the rule alone (docs/service.md): no phase has them\n";
}

void describe(Fields& f, const ServiceReport& r) {
  const ServiceTotals& t = r.totals;
  f("model", r.model)("machine", r.machine)("trace", r.trace)("scheduler", [&] {
    f("token_budget", r.limits.token_budget)("max_batch", r.limits.max_batch)("kv_block", r.limits.block);
    f("kv_blocks", r.limits.blocks)("prefix_reuse", r.limits.prefix_reuse);
  });
  f("requests", t.requests)("steps", t.steps)("end_ns", t.end_ns)("busy_ns", t.busy_ns);
  f("prompt_tokens", t.prompt_tokens)("output_tokens", t.output_tokens)("computed_tokens", t.computed_tokens);
  f("reused_tokens", t.reused_tokens)("preemptions", t.preemptions)("most_blocks", t.most_blocks);
  f("tokens_s", r.tokens_s());
  for (const auto& [name, d] : {std::pair("ttft_ns", &r.ttft_ns), {"tpot_ns", &r.tpot_ns}, {"e2e_ns", &r.e2e_ns}}) {
    f(name, [&, of = d] {
      f("count", of->count())("mean", of->mean());
      f("p50", of->quantile(kQuantiles[0]))("p90", of->quantile(kQuantiles[1]))("p99", of->quantile(kQuantiles[2]));
    });
  }
  if (r.slo.given()) {
    f("goodput_s", static_cast<double>(r.within_slo) / r.seconds());
    f("within_slo", static_cast<double>(r.within_slo) / static_cast<double>(t.requests));
  }
  if (const auto usd = r.usd_million()) f("usd_million_tokens", *usd);
  f("phases_simulated", r.simulated);
  if (!r.exact.empty()) {
    for (const bool chunks : {true, false}) {
      f(chunks ? "error_with_chunks" : "error_without_chunks", [&] {
        f("median", r.error_quantile(0.5, chunks))("p90", r.error_quantile(0.9, chunks));
        f("most", r.error_quantile(1, chunks));
      });
    }
    f.each("exact_steps", r.exact, [&](const ExactStep& e) {
      f("step", e.step)("prefill", e.of.prefill)("batch", e.of.batch)("context", e.of.context);
      f("exact_ns", e.exact_ns)("priced_ns", e.priced_ns);
    });
  }
  f("timeline", [&] {
    const double width = r.timeline.width_ns();
    f("width_ns", width);
    constexpr std::array<const char*, LoadTimeline::kSeries> kNames = {"waiting", "running", "prefill_tokens",
                                                                       "kv_blocks", "kv_blocks_kept"};
    for (size_t s = 0; s < LoadTimeline::kSeries; ++s) {
      std::vector<double> values;
      for (const LoadTimeline::Values& v : r.timeline.sums()) values.push_back(v[s] / width);
      f(kNames[s], values);
    }
  });
}

void write_service_page(const ServiceReport& r, const std::function<void(std::string_view)>& write) {
  const std::string title = escaped_html(fmt::format("{} on {}: {}", r.model, r.machine, r.trace)),
                    data = escaped_json(to_json([&](Fields&f) { describe(f, r); }));
  write_page(page::service_html,
             {{"title", title}, {"own_css", page::service_css}, {"service_js", page::service_js}, {"data", data}},
             write);
}

}  // namespace service
}  // namespace kernbench
