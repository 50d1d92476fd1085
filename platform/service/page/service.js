'use strict';
(() => {
  const {$, number, element, svg} = Page;
  const d = JSON.parse($('data').textContent);
  const table = (id, head, rows) => $(id).append(
      element('tr', {}, ...head.map((h, i) => element('th', {scope: 'col', class: i ? 'n' : null}, h))),
      ...rows.map(r => element('tr', {}, ...r.map((c, i) => element('td', {class: i ? 'n' : null}, c)))));
  $('summary').textContent = `${d.requests.toLocaleString('en')} requests in ${number(d.end_ns / 1e9, 3)} s, ` +
      `${d.steps.toLocaleString('en')} steps, ${number(d.tokens_s)} tokens a second`;
  table('latency', ['ms', 'mean', 'p50', 'p90', 'p99'], [
    ['TTFT', d.ttft_ns], ['TPOT', d.tpot_ns], ['end to end', d.e2e_ns]
  ].map(([name, q]) => [name, ...['mean', 'p50', 'p90', 'p99'].map(k => number(q[k] / 1e6, 3))]));
  const figure = (name, text) =>
      $('figures').append(element('div', {}, element('dt', {}, name), element('dd', {}, text)));
  if ('goodput_s' in d)
    figure('goodput', `${number(d.goodput_s, 3)} requests a second, ${number(100 * d.within_slo, 2)} %`);
  if ('usd_million_tokens' in d) figure('USD a million tokens', number(d.usd_million_tokens, 4));
  figure('preemptions', d.preemptions.toLocaleString('en'));
  figure('prompt tokens reused', d.reused_tokens.toLocaleString('en'));
  figure(
      'KV blocks, at most', `${d.most_blocks.toLocaleString('en')} of ${d.scheduler.kv_blocks.toLocaleString('en')}`);
  if (d.exact_steps) {
    figure('error of prices, median, with chunks', `${number(100 * d.error_with_chunks.median, 2)} %`);
    figure('error of prices, median, without', `${number(100 * d.error_without_chunks.median, 2)} %`);
  }
  const seconds = d.timeline.width_ns / 1e9;
  $('lines-note').textContent = `Means over intervals of ${seconds} s. Left: 0 s; right: ` +
      `${number(seconds * d.timeline.waiting.length, 3)} s.`;
  for (const [key, title] of [
           ['waiting', 'Requests that wait'], ['running', 'Requests that run'],
           ['prefill_tokens', 'Prompt tokens of a step'], ['kv_blocks', 'KV blocks in use'],
           ['kv_blocks_kept', 'KV blocks kept for reuse']]) {
    const values = d.timeline[key], most = values.reduce((a, b) => Math.max(a, b), 0);
    const points = values.map((v, i) => `${i + 0.5},${most > 0 ? 100 - 98 * v / most : 100}`);
    const label = `${title}: at most ${number(most, 2)}`;
    $('lines').append(
        element('h3', {}, label),
        svg('svg', {viewBox: `0 0 ${values.length} 100`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label},
            svg('path', {d: `M${points.join('L')}`})));
  }
  if (!d.exact_steps) return $('exact-part').remove();
  table(
      'exact', ['step', 'prefill', 'batch', 'context', 'simulated, ms', 'priced, ms', 'error, %'],
      d.exact_steps.map(
          e =>
              [`${e.step}`, `${e.prefill}`, `${e.batch}`, `${e.context}`, number(e.exact_ns / 1e6, 3),
               number(e.priced_ns / 1e6, 3), number(100 * (e.priced_ns / e.exact_ns - 1), 2)]));
})();
