'use strict';
// The report of one run. html_report.cpp writes the data block and documents the coding of each part.
(() => {
  const {$, number, element, svg, sorted, sortableHead} = Page;
  const D = JSON.parse($('data').textContent);
  const I = D.insight, END = D.sim_ns || 1;

  // ---- small helpers ----
  const percent = share => number(100 * share, 1) + ' %';
  const time = ns => ns >= 1e6 ? number(ns / 1e6, 3) + ' ms' :
      ns >= 1e4                ? number(ns / 1e3, 3) + ' µs' :
                                 number(ns, 3) + ' ns';
  const bytesText = n => n >= 2 ** 30 ? number(n / 2 ** 30) + ' GiB' :
      n >= 2 ** 20                    ? number(n / 2 ** 20) + ' MiB' :
      n >= 2 ** 10                    ? number(n / 2 ** 10) + ' KiB' :
                                        number(n, 0) + ' B';
  const lastWord = id => id.slice(id.lastIndexOf('.') + 1);
  const scopeOf = id => id.slice(0, Math.max(0, id.lastIndexOf('.')));
  function bytesOf(base64) {
    const text = atob(base64), out = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) out[i] = text.charCodeAt(i);
    return out;
  }

  // ---- look: dark is of the screen only; brightness alone tells how busy something is ----
  const darkQuery = matchMedia('(prefers-color-scheme: dark)');
  let printing = false;
  const isDark = () => darkQuery.matches && !printing;
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const RAMPS = {
    light: [[238, 241, 245], [158, 202, 225], [49, 130, 189], [8, 48, 107]],
    dark: [[32, 41, 53], [44, 92, 146], [92, 170, 222], [240, 248, 200]]
  };
  function ramp(share) {
    const stops = RAMPS[isDark() ? 'dark' : 'light'], at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
    const i = Math.min(Math.floor(at), stops.length - 2), f = at - i;
    return stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * f));
  }
  const rgb = c => `rgb(${c[0]},${c[1]},${c[2]})`;
  const inkOn = c => 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] > 140 ? '#10161e' : '#ffffff';
  const STAGES = ['DMA_READ', 'FETCH', 'GEMM', 'MATH', 'STORE', 'DMA_WRITE'];
  const STAGE_COLOURS =
      {DMA_READ: '#3b7dd8', FETCH: '#6fb6c9', GEMM: '#c0392b', MATH: '#d98e04', STORE: '#8ab661', DMA_WRITE: '#2e7d4f'};
  const KINDS = ['service', 'waits for the accel_slot', 'queue full', 'wait', 'scalar work', 'message', 'host'];
  const RESOURCE_COLOURS = {
    hbm: '#3b7dd8',
    mesh: '#6fb6c9',
    sram: '#5566b8',
    memory: '#5566b8',
    gemm: '#c0392b',
    math: '#d98e04',
    tcm: '#8ab661',
    ucie: '#2e7d4f',
    pcie: '#1d5c50',
    link: '#2e7d4f',
    routers: '#9b6fc3',
    wires: '#b99ad6',
    launch: '#7f8c9a',
    host: '#a9b3be',
    pe_cpu: '#b5651d',
    scheduler: '#8d6e63',
    kernel: '#e0a070',
    queues: '#c06c9b',
    engines: '#e57368',
    mmu: '#999933',
    other: '#777777'
  };

  // ---- data: series by time, slices by track ----
  const WIDTH = D.bins.width_ns, COUNT = D.bins.count;
  const seriesBytes = bytesOf(D.bins.series);
  /// A function of the bin: the amount in it.
  function series(coded) {
    if (!coded) return () => 0;
    const [place, most] = coded;
    return bin => seriesBytes[place * COUNT + bin] / 255 * most;
  }
  const binLength = bin => Math.min(WIDTH, END - bin * WIDTH) || WIDTH;
  /// Mean rate of an amount in a bin, or over the run (bin < 0).
  function rate(amount, bin) {
    if (bin >= 0) return amount(bin) / binLength(bin);
    let sum = 0;
    for (let b = 0; b < COUNT; ++b) sum += amount(b);
    return sum / END;
  }
  const links = new Map(D.bins.links.map(([edge, coded]) => [edge, series(coded)]));
  const memories = new Map(D.bins.memories.map(
      ([node, read, write,
        channels]) => [node, {read: series(read), write: series(write), channels: channels.map(series)}]));
  const mostOf = new Map(I.memories.map(m => [m.name, m.gbs_most]));
  const nodeOf = new Map(D.nodes.map((n, i) => [n[0], i]));
  const edgeName = e => `${D.nodes[D.edges[e][0]][0]}->${D.nodes[D.edges[e][1]][0]}`;

  const tracks = (() => {
    const data = bytesOf(D.slices);
    let at = 0;
    const unsigned = () => {
      let v = 0, scale = 1, b;
      do {
        b = data[at++];
        v += (b & 127) * scale;
        scale *= 128;
      } while (b & 128);
      return v;
    };
    const signed = () => {
      const v = unsigned();
      return v % 2 ? -(v + 1) / 2 : v / 2;
    };
    return D.tracks.map(([pe, name, n]) => {
      const t = {
        pe,
        name,
        stage: name.split(' ')[0],
        n,
        from: new Float64Array(n),
        to: new Float64Array(n),
        kind: new Uint8Array(n),
        op: new Uint32Array(n),
        tile: new Int32Array(n).fill(-1),
        busy: new Float64Array(n + 1)
      };
      let end = 0, op = 0, tile = 0;
      for (let i = 0; i < n; ++i) {
        const from = end + signed();
        end = from + unsigned();
        const head = unsigned();
        if (head & 8) op = unsigned();
        if (head & 16) t.tile[i] = tile += signed();
        t.from[i] = from / 1e3;
        t.to[i] = end / 1e3;
        t.kind[i] = head & 7;
        t.op[i] = op;
        // Prefix sums: the share of any interval takes two look-ups, so every zoom level is cheap.
        t.busy[i + 1] =
            t.busy[i] + ((head & 7) === 1 || (head & 7) === 2 || (head & 7) === 3 ? 0 : t.to[i] - t.from[i]);
      }
      return t;
    });
  })();
  /// The first slice that ends after t.
  function sliceAt(track, t) {
    let low = 0, high = track.n;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (track.to[middle] > t)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
  /// ns of [0, t) in which a track's server is busy.
  function busyUntil(track, t) {
    const i = sliceAt(track, t);
    let busy = track.busy[i];
    if (i < track.n && track.from[i] < t)
      busy += (track.busy[i + 1] - track.busy[i]) * (t - track.from[i]) / (track.to[i] - track.from[i]);
    return busy;
  }
  const tracksOfPe = new Map();
  for (const t of tracks) (tracksOfPe.get(t.pe) || tracksOfPe.set(t.pe, []).get(t.pe)).push(t);
  const rank = t => t.name === 'kernel' ? -1 : STAGES.includes(t.stage) ? STAGES.indexOf(t.stage) : STAGES.length;
  for (const lanes of tracksOfPe.values()) lanes.sort((a, b) => rank(a) - rank(b));
  const peOf = new Map(D.pes.map((id, i) => [id, i]));
  const usedStages = STAGES.filter(s => tracks.some(t => t.stage === s));
  /// Share of [from, to) in which a PE's stage is busy, mean over its servers.
  function stageShare(pe, stage, from, to) {
    let busy = 0, servers = 0;
    for (const t of tracksOfPe.get(pe) || []) {
      if (t.stage !== stage) continue;
      ++servers;
      busy += busyUntil(t, to) - busyUntil(t, from);
    }
    return servers && to > from ? busy / (to - from) / servers : 0;
  }

  const path = I.critical_path;

  // ---- verdict and figures ----
  function showVerdict() {
    const shown = [
      time(END), `${D.pes.length} PE${D.pes.length === 1 ? '' : 's'}`, `launch: ${D.launch}`, `transfer: ${D.transfer}`
    ];
    if (D.verified) shown.push(D.passed === null ? 'nothing to verify' : D.passed ? 'verified' : 'VERIFICATION FAILED');
    $('summary').textContent = shown.join(', ');
    $('verdict-text').append(...I.verdict.map(s => element('p', {}, s)));
    const figure = (name, value) => element('div', {}, element('dt', {}, name), element('dd', {}, value));
    const r = I.roofline,
          figures = [figure('Simulated time', time(END)), figure('GEMM, of its peak', percent(I.peaks.gemm))];
    if (r.hbm_gbs_most) figures.push(figure('HBM, of its peak', percent(I.peaks.hbm)));
    if (I.links.length) figures.push(figure('Busiest link', percent(I.peaks.link)));
    figures.push(figure('MATH busy', percent(I.peaks.math_busy)));
    if (r.flops) figures.push(figure('Computed', `${number(r.flops / END / 1e3, 2)} TFLOP/s`));
    if (r.hbm_bytes) figures.push(figure('HBM traffic', `${number(r.hbm_bytes / END)} GB/s`));
    if (I.pes_end.last) figures.push(figure('PEs end', `${time(I.pes_end.first_ns)} to ${time(I.pes_end.last_ns)}`));
    $('figures').append(...figures);
  }

  function showBlame() {
    const rows = Object.entries(I.blame_ns).filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
    const whole = rows.reduce((sum, [, ns]) => sum + ns, 0) || END;  // with repeated layers longer than the run
    const body = element('tbody');
    for (const [name, ns] of rows) {
      const saved = 1 - I.what_if[name].faster_ns / whole;
      const bar =
          element('div', {class: 'bar', role: 'img', 'aria-label': percent(ns / whole)}, element('i'), element('b'));
      bar.children[0].style.width = 100 * ns / whole + '%';
      bar.children[1].style.left = 100 * Math.max(0, saved) + '%';
      if (saved < 0.0005) bar.children[1].hidden = true;
      body.append(element(
          'tr', {}, element('td', {}, D.resource_titles[name]), element('td', {}, bar),
          element('td', {class: 'n'}, percent(ns / whole)), element('td', {class: 'n'}, time(ns)),
          element('td', {class: 'n'}, saved > 0.0005 ? percent(saved) : '–')));
    }
    $('blame-table')
        .append(
            element(
                'thead', {},
                element(
                    'tr', {}, element('th', {scope: 'col'}, 'Resource'),
                    element('th', {scope: 'col'}, 'Share of the run'), element('th', {scope: 'col', class: 'n'}, '%'),
                    element('th', {scope: 'col', class: 'n'}, 'Time'),
                    element(
                        'th', {
                          scope: 'col',
                          class: 'n',
                          title: 'Predicted: what the run would save were the resource twice as fast (dashed line)'
                        },
                        '×2 saves'))),
            body);
  }

  // ---- what if: the run timed anew from its causes, by retimer.cpp, which html_report.cpp embeds ----
  /// { time, how far it may be off, blame } of a machine whose parts have these speed factors, by name.
  async function retimerOfRun() {
    const causes = bytesOf(D.causes);
    const {instance} = await WebAssembly.instantiate(bytesOf($('retimer').textContent.trim()), {});
    const calls = instance.exports, names = Object.keys(I.blame_ns);
    const at = calls.room(causes.length);
    new Uint8Array(calls.memory.buffer, at, causes.length).set(causes);
    calls.read(at);
    const numbers = place => new Float64Array(calls.memory.buffer, place, names.length);
    return faster => {
      numbers(calls.factors()).set(names.map(n => 1 / (faster[n] || 1)));
      let ns = calls.retime();
      if (Math.abs(ns - END) < 1e-6) ns = END;  // rounding error of doubles
      const of = numbers(calls.blame()), doubt = calls.doubt(ns, END, I.blame_ns.buffers);
      return {ns, doubt, blame: Object.fromEntries(names.map((n, i) => [n, of[i]]))};
    };
  }

  async function showWhatIf() {
    const note = $('what-if-note');
    if (!D.causes) {
      note.textContent = `The causal graph of the run exceeds ${
          number(D.most_causes / 1e6, 0)} MB and is not in this page: --report-events embeds it and adds sliders here.`;
      return;
    }
    if (!$('retimer').textContent.trim()) {
      note.textContent =
          'This kernbench was built without a compiler for WebAssembly (clang and lld): --predict on the command line ' +
          'says the same.';
      return;
    }
    const timed = await retimerOfRun();
    const matters = D.scaled_parts.map(name => [name, I.blame_ns[name] + (I.what_if[name].slower_ns - END)])
                        .filter(([, ns]) => ns > 0.0005 * END)
                        .sort((a, b) => b[1] - a[1])
                        .slice(0, 10)
                        .map(([name]) => name);
    const faster = {}, sliders = {};
    const times = f => '×' + number(f, 3).replace(/0{1,2}$/, '');
    /// The largest saving at twice the speed: one part, or two if neither helps alone. set_bounds() of insight.cpp
    /// computes the same for the original run.
    function verdict(now) {
      const share = name => now.blame[name] / now.ns;
      const saved = names =>
          1 - timed({...faster, ...Object.fromEntries(names.map(n => [n, 2 * (faster[n] || 1)]))}).ns / now.ns;
      const byBlame = D.scaled_parts.filter(n => now.blame[n] > 0).sort((a, b) => now.blame[b] - now.blame[a]);
      if (!byBlame.length) return '';
      const alone = Object.fromEntries(byBlame.map(n => [n, saved([n])]));
      let best = {names: byBlame.slice(0, 1), saves: alone[byBlame[0]]};
      for (const n of byBlame)
        if (alone[n] > best.saves) best = {names: [n], saves: alone[n]};
      const tryPair = (a, b) => {
        const both = saved([a, b]);
        if (both > 1.5 * (alone[a] + (alone[b] || 0)) && both > 1.5 * best.saves) best = {names: [a, b], saves: both};
      };
      const most = byBlame[0];
      byBlame.slice(0, 3).forEach((b, i) => byBlame.slice(0, i).forEach(a => tryPair(a, b)));
      if (best.names.length === 1 && alone[most] < 0.25 * share(most))
        D.scaled_parts.filter(n => n !== most).forEach(n => tryPair(most, n));
      const names = best.names.map(n => D.resource_titles[n]).join(' and ');
      const path = percent(best.names.reduce((sum, n) => sum + share(n), 0));
      return best.names.length > 1 ?
          ` Bound by ${names} together: ${path} of the critical path; twice as fast, both would save ${
              percent(best.saves)}.` :
          ` Bound by ${names}: ${path} of the critical path; twice as fast, it would save ${percent(best.saves)}.`;
    }
    function show() {
      const now = timed(faster), where = $('what-if-verdict'), range = now.doubt ? ` ± ${time(now.doubt)}` : '';
      where.dataset.ns = now.ns;
      where.dataset.doubt = now.doubt;
      const change = now.ns / END - 1;
      const from = now.ns === END ? 'as it was' : `${time(END)} ${change < 0 ? '−' : '+'} ${percent(Math.abs(change))}`;
      where.textContent = `${time(now.ns)}${range}, ${from}.` + verdict(now);
      const changed = Object.entries(faster).filter(([, f]) => f !== 1).map(([name, f]) => `${name}=${f}`);
      $('what-if-options').textContent = changed.map(c => `--scale ${c}`).join(' ') || '(nothing is changed)';
      where.dataset.predict = changed.join(',');
    }
    for (const name of matters) {
      const value = element('output', {}, times(1));
      const slider = element('input', {
        type: 'range',
        min: -3,
        max: 3,
        step: 0.05,
        value: 0,
        'data-part': name,
        oninput: () => {
          faster[name] = Number((2 ** slider.value).toPrecision(3));
          value.textContent = times(faster[name]);
          show();
        }
      });
      sliders[name] = [slider, value];
      $('what-if-parts').append(element('label', {}, element('span', {}, D.resource_titles[name]), slider, value));
    }
    $('what-if-reset').addEventListener('click', () => {
      for (const [name, [slider, value]] of Object.entries(sliders)) {
        faster[name] = 1;
        slider.value = 0;
        value.textContent = times(1);
      }
      show();
    });
    note.textContent =
        'Predicted from what each moment of the run waited for, as --predict does; ±: an order at a server or waits for room in buffers change, so it may be off by this.';
    $('what-if-controls').hidden = false;
    show();
  }

  function showRoofline() {
    const r = I.roofline, where = $('roofline-picture');
    if (!r.flops || !r.hbm_bytes || !(r.gemm_tflops_most > 0)) {
      where.append(element('p', {}, 'Nothing was computed in matrix units from HBM: there is no roofline.'));
      return;
    }
    const w = 460, h = 300, left = 58, right = 14, top = 14, bottom = 44;
    const ridge = r.gemm_tflops_most * 1e3 / r.hbm_gbs_most, tflops = r.flops / END / 1e3, x0 = r.flop_per_byte;
    const low = Math.floor(Math.log10(Math.min(x0, ridge) / 4)), high = Math.ceil(Math.log10(Math.max(x0, ridge) * 4));
    const yLow = Math.floor(Math.log10(Math.min(tflops, 10 ** low * r.hbm_gbs_most / 1e3, r.gemm_tflops_most) / 1.2)),
          yHigh = Math.ceil(Math.log10(r.gemm_tflops_most * 1.5));
    const x = v => left + (Math.log10(v) - low) / (high - low) * (w - left - right);
    const y = v => h - bottom - (Math.log10(v) - yLow) / (yHigh - yLow) * (h - top - bottom);
    const say = (v, px, py, anchor = 'middle', more = {}) =>
        svg('text', {x: px, y: py, 'text-anchor': anchor, 'font-size': 12, ...more}, v);
    const p = svg('svg', {
      viewBox: `0 0 ${w} ${h}`,
      role: 'img',
      width: '100%',
      'aria-label':
          `Roofline: ${number(x0, 2)} FLOP a byte, ${number(tflops, 2)} of ${number(r.tflops_most, 2)} TFLOP/s`
    });
    const short = v => v >= 1 ? v.toLocaleString('en') : String(+v.toPrecision(1));
    for (let d = low; d <= high; ++d)
      p.append(
          svg('line', {x1: x(10 ** d), x2: x(10 ** d), y1: top, y2: h - bottom, stroke: 'var(--line)'}),
          say(short(10 ** d), x(10 ** d), h - bottom + 16));
    for (let d = yLow; d <= yHigh; ++d)
      p.append(
          svg('line', {x1: left, x2: w - right, y1: y(10 ** d), y2: y(10 ** d), stroke: 'var(--line)'}),
          say(short(10 ** d), left - 6, y(10 ** d) + 4, 'end'));
    p.append(
        say('FLOP a byte of HBM', (left + w) / 2, h - 8),
        say('TFLOP/s', 14, (h - bottom + top) / 2, 'middle', {transform: `rotate(-90 14 ${(h - bottom + top) / 2})`}));
    p.append(svg('polyline', {
      points: `${x(10 ** low)},${y(10 ** low * r.hbm_gbs_most / 1e3)} ${x(ridge)},${y(r.gemm_tflops_most)} ${
          x(10 ** high)},${y(r.gemm_tflops_most)}`,
      fill: 'none',
      stroke: 'var(--text)',
      'stroke-width': 2
    }));
    p.append(svg('line', {
      x1: x(x0),
      x2: x(x0),
      y1: y(r.tflops_most),
      y2: y(tflops),
      stroke: 'var(--path)',
      'stroke-width': 2,
      'stroke-dasharray': '4 3'
    }));
    p.append(svg('circle', {cx: x(x0), cy: y(tflops), r: 6, fill: 'var(--path)', stroke: 'var(--back)'}));
    p.append(say(`GEMM ${number(r.gemm_tflops_most, 1)} TFLOP/s`, w - right - 4, y(r.gemm_tflops_most) - 6, 'end'));
    where.append(
        p,
        element(
            'p', {},
            `${number(x0, 2)} FLOP a byte; ${number(tflops, 2)} of ${
                number(r.tflops_most, 2)} TFLOP/s that GEMM and HBM (${number(r.hbm_gbs_most, 0)} GB/s) allow: ${
                percent(tflops / r.tflops_most)}.`));
  }

  // ---- floorplan ----
  const plans = new Map(D.plans.map(p => [p.id, p]));
  const plan = {shown: null, bin: -1, stage: '', playing: 0};
  const windowNs = () => plan.bin < 0 ? [0, END] : [plan.bin * WIDTH, Math.min((plan.bin + 1) * WIDTH, END)];
  /// A node's box in a plan: its own, that of its parent, or its cube's core.
  function boxOfNodes(p) {
    const byId = new Map();
    p.boxes.forEach((b, i) => {
      if (!b[7] && b[1] !== 'hbm') byId.set(b[0], i);
    });
    return D.nodes.map(([id]) => {
      for (let part = id; part; part = scopeOf(part)) {
        if (byId.has(part)) return byId.get(part);
        if (byId.has(part + '.core')) return byId.get(part + '.core');
      }
      return -1;
    });
  }
  const STAGES_OF = JSON.parse($('stages-of').textContent);  // by kind of engine
  function prepare(p) {
    if (p.nodesOf) return;
    const box = boxOfNodes(p);
    p.nodesOf = p.boxes.map(() => []);
    box.forEach((b, n) => {
      if (b >= 0) p.nodesOf[b].push(n);
    });
    p.pesOf = p.boxes.map(() => []);
    D.pes.forEach((id, i) => {
      const dma = nodeOf.get(id + '.pe_dma');
      if (dma !== undefined && box[dma] >= 0) p.pesOf[box[dma]].push(i);
    });
    // In flat systems a PE's blocks have separate boxes.
    p.engineOf = p.boxes.map((_, i) => {
      const [n] = p.nodesOf[i], stages = p.nodesOf[i].length === 1 ? STAGES_OF[D.node_kinds[D.nodes[n][1]]] : undefined;
      return stages && peOf.has(scopeOf(D.nodes[n][0])) ? {pe: peOf.get(scopeOf(D.nodes[n][0])), stages} : null;
    });
    const wireOf = new Map();
    p.wires.forEach((w, i) => wireOf.set(Math.min(w[0], w[1]) * 65536 + Math.max(w[0], w[1]), i));
    p.edgesOf = p.wires.map(() => []);
    p.boxOf = box;
    p.wireOfEdge = new Map();
    D.edges.forEach(([from, to], e) => {
      const a = box[from], b = box[to];
      if (a < 0 || b < 0 || a === b) return;
      const w = wireOf.get(Math.min(a, b) * 65536 + Math.max(a, b));
      if (w === undefined) return;
      p.edgesOf[w].push(e);
      p.wireOfEdge.set(e, w);
    });
  }
  const edgeOf = new Map(D.edges.map((_, e) => [edgeName(e), e]));
  function memoryShare(node, bin) {
    const m = memories.get(node), most = mostOf.get(D.nodes[node][0]);
    return m && most ? (rate(m.read, bin) + rate(m.write, bin)) / most : 0;
  }
  function peShare(pe, [from, to]) {
    if (plan.stage) return stageShare(pe, plan.stage, from, to);
    return Math.max(0, ...usedStages.map(s => stageShare(pe, s, from, to)));
  }
  const mean = values => values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;
  /// A box's utilisation and its text; null: the box has neither PEs nor a memory.
  function useOfBox(p, i) {
    const parts = [], window = windowNs(), engine = p.engineOf[i];
    if (engine) {
      const share = Math.max(...engine.stages.map(s => stageShare(engine.pe, s, ...window)));
      return {share, parts: [['busy', share]]};
    }
    const mems = p.nodesOf[i].filter(n => memories.has(n));
    let share = null;
    if (p.pesOf[i].length) parts.push(['PE', share = mean(p.pesOf[i].map(pe => peShare(pe, window)))]);
    if (mems.length) {
      const hbm = mean(mems.map(n => memoryShare(n, plan.bin)));
      parts.push([mems.length > 1 || p.pesOf[i].length ? 'mem' : 'data', hbm]);
      if (share === null) share = hbm;
    }
    return share === null ? null : {share, parts};
  }
  function useOfWire(p, w) {
    let most = 0, gbs = 0;
    for (const e of p.edgesOf[w]) {
      const amount = links.get(e);
      if (!amount) continue;
      const r = rate(amount, plan.bin);
      gbs += r;
      if (D.edges[e][3]) most = Math.max(most, r / D.edges[e][3]);
    }
    return {share: most, gbs};
  }
  function planBelow(id) {
    const part = id.endsWith('.core') ? scopeOf(id) : id;
    return part !== (plan.shown && plan.shown.id) && part !== '' && plans.has(part) ? part : null;
  }
  function showPlan(id) {
    const p = plans.get(id);
    prepare(p);
    plan.shown = p;
    const box = {left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity};
    for (const [, , , x, y, w, h] of p.boxes) {
      box.left = Math.min(box.left, x - w / 2);
      box.right = Math.max(box.right, x + w / 2);
      box.top = Math.min(box.top, y - h / 2);
      box.bottom = Math.max(box.bottom, y + h / 2);
    }
    if (!p.boxes.length) {
      $('plan-picture').replaceChildren(element('p', {}, 'Nothing to draw.'));
      return;
    }
    const pad = 0.02 * Math.max(box.right - box.left, box.bottom - box.top) + 1e-6;
    const W = box.right - box.left + 2 * pad, H = box.bottom - box.top + 2 * pad;
    const picture = svg('svg', {
      tabindex: -1,
      viewBox: `${box.left - pad} ${box.top - pad} ${W} ${H}`,
      role: 'group',
      'aria-label': p.title + ', ' + p.subtitle
    });
    p.parts = [];
    p.lines = [];
    const unit = Math.max(W, H * 1.6) / 1000;  // about one pixel
    p.boxes.forEach((b, i) => {
      if (b[7] || b[1] === 'hbm') draw(b, i);
    });
    p.wires.forEach(([a, b, ...bends], i) => {
      const points = [p.boxes[a].slice(3, 5), ...pairs(bends), p.boxes[b].slice(3, 5)].map(q => q.join(',')).join(' ');
      const line = svg('polyline', {points, class: 'wire'}),
            mark = svg('polyline', {points, class: 'wire-path', visibility: 'hidden'});
      line.addEventListener('mouseenter', () => tellWire(i));
      picture.append(line, mark);
      p.lines.push({line, mark});
    });
    p.boxes.forEach((b, i) => {
      if (!b[7] && b[1] !== 'hbm') draw(b, i);
    });
    function draw([boxId, kind, title, x, y, w, h, container], i) {
      const back = container || kind === 'hbm', below = planBelow(boxId);
      const leads = below !== null || kind === 'pe';
      const g = svg('g', {class: leads ? 'leads' : '', 'data-id': boxId});
      const rect = svg('rect', {
        x: x - w / 2,
        y: y - h / 2,
        width: w,
        height: h,
        rx: Math.min(w, h) * 0.06,
        class: back ? 'container' : 'box'
      });
      g.append(rect);
      const label = container && kind !== 'hbm';
      const tall = !back && h > 3 * w, [long, high] = tall ? [h, w] : [w, h];
      const size = Math.min(
          back ? Math.min(14 * unit, h * 0.075) :
                 high *
                  (tall               ? 0.6 :
                       useOfBox(p, i) ? 0.3 :
                                        0.5),
          long / Math.max(3, (title.length + 1) * 0.62), 20 * unit);
      const name =
          svg('text', {
            x: back ? x - w / 2 + size * 0.4 : x,
            y: back ? y - h / 2 + size * 1.1 : y,
            'font-size': size,
            'text-anchor': back ? 'start' : 'middle',
            'pointer-events': 'none'
          },
              title);
      if (tall) name.setAttribute('transform', `rotate(-90 ${x} ${y})`);
      const value = svg('text', {'text-anchor': 'middle', 'pointer-events': 'none'});
      if (title && (label || size > 2 * unit)) g.append(name);
      if (!back) g.append(value);
      // A memory's channels: a strip of cells at its bottom.
      const memory = p.nodesOf[i].length === 1 ? memories.get(p.nodesOf[i][0]) : undefined;
      const cells = !back && memory && memory.channels.length > 1 ?
          memory.channels.map((_, k, {length}) => svg('rect', {
                                x: x - w / 2 + w * k / length,
                                y: y + h * 0.34,
                                width: w / length,
                                height: h * 0.16,
                                class: 'cell'
                              })) :
          [];
      g.append(...cells);
      if (!back || leads) {
        g.setAttribute('tabindex', '0');
        g.setAttribute('role', leads ? 'button' : 'img');
        g.addEventListener('focus', () => tellBox(i));
        g.addEventListener('mouseenter', () => tellBox(i));
      }
      const go = () => {
        if (below !== null)
          showPlan(below);
        else if (kind === 'pe')
          timelineTo(boxId);
      };
      if (leads) {
        g.addEventListener('click', go);
        g.addEventListener('keydown', e => {
          if (e.key === 'Enter' || e.key === ' ') {
            e.preventDefault();
            go();
          }
        });
      }
      picture.append(g);
      p.parts[i] = {
        g,
        rect,
        name,
        value,
        back,
        tall,
        size,
        cells,
        memory,
        x,
        y: cells.length ? y - h * 0.08 : y,
        w,
        h: cells.length ? h * 0.84 : h
      };
    }
    picture.addEventListener('keydown', e => {
      if (e.key === 'Escape' && p.id) showPlan(scopeOf(p.id));
    });
    const focused = $('plan-picture').contains(document.activeElement);
    $('plan-picture').replaceChildren(picture);
    if (focused) picture.focus({preventScroll: true});
    const crumbs = [''];
    if (p.id) {
      const words = p.id.split('.');
      words.forEach((_, i) => crumbs.push(words.slice(0, i + 1).join('.')));
    }
    $('plan-path')
        .replaceChildren(
            ...crumbs.filter(c => plans.has(c))
                .map(
                    c => element(
                        'button', {type: 'button', 'aria-current': String(c === p.id), onclick: () => showPlan(c)},
                        c                  ? lastWord(c) :
                            plans.size > 1 ? 'tray' :
                                             'system')),
            ' ');
    colourPlan();
  }
  function pairs(flat) {
    const out = [];
    for (let i = 0; i + 1 < flat.length; i += 2) out.push([flat[i], flat[i + 1]]);
    return out;
  }
  /// Boxes and wires of the plan on the critical path in the window.
  function onPath(p) {
    const boxes = new Set(), wires = new Set(), [from, to] = windowNs();
    for (const s of path) {
      if (s.to_ns <= from || s.from_ns >= to || !s.at) continue;
      const e = edgeOf.get(s.at), n = nodeOf.get(s.at);
      if (e !== undefined && p.wireOfEdge.has(e))
        wires.add(p.wireOfEdge.get(e));
      else if (e !== undefined)
        boxes.add(p.boxOf[D.edges[e][0]]);
      if (n !== undefined) boxes.add(p.boxOf[n]);
    }
    return {boxes, wires};
  }
  function colourPlan() {
    const p = plan.shown, marks = onPath(p);
    if (!p.parts) return;
    p.boxes.forEach((b, i) => {
      const part = p.parts[i];
      part.rect.classList.toggle('on-path', marks.boxes.has(i));
      if (part.back) return;
      const use = useOfBox(p, i);
      const colour = use ? ramp(use.share) : null;
      part.rect.style.fill = use ? rgb(colour) : 'var(--panel)';
      const ink = use ? inkOn(colour) : '';
      part.name.style.fill = part.value.style.fill = ink;
      part.cells.forEach((cell, k) => {
        cell.style.fill = rgb(ramp(rate(part.memory.channels[k], plan.bin)));
      });
      const lines = use && !part.tall ?
          use.parts.map(([name, v]) => (use.parts.length > 1 ? name + ' ' : '') + Math.round(100 * v) + ' %') :
          [];
      // The name and one line per part, centred below each other.
      const small = Math.min(
          part.size, part.w / (Math.max(6, ...lines.map(l => l.length)) * 0.66), part.h / (lines.length + 1) * 0.8);
      const top = part.y - (lines.length * small * 1.15 + part.size) / 2;
      if (!part.tall)
        part.name.setAttribute('y', top + part.size * 0.85);
      else
        part.name.setAttribute('dy', part.size * 0.35);
      part.value.setAttribute('font-size', small);
      part.value.replaceChildren(
          ...lines.map((l, k) => svg('tspan', {x: part.x, y: top + part.size + small * 1.15 * (k + 0.85)}, l)));
      part.g.setAttribute('aria-label', boxText(p, i));
    });
    p.lines.forEach(({line, mark}, i) => {
      const {share, gbs} = useOfWire(p, i);
      line.style.stroke = gbs > 0 ? rgb(ramp(0.15 + 0.85 * share)) : 'var(--line)';
      line.style.strokeWidth = gbs > 0 ? 1.5 + 6 * Math.min(1, share) : 1;  // width, not only colour, shows utilisation
      mark.setAttribute('visibility', marks.wires.has(i) ? 'visible' : 'hidden');
    });
    const [from, to] = windowNs();
    $('plan-window').textContent = plan.bin < 0 ? 'whole run' : `${time(from)} – ${time(to)}`;
    $('plan-time').setAttribute('aria-valuetext', $('plan-window').textContent);
    $('plan-scale')
        .replaceChildren(
            ...[0, 0.25, 0.5, 0.75, 1].map(v => {
              const i = element('i');
              i.style.background = rgb(ramp(v));
              return element('span', {}, i, Math.round(100 * v) + ' % ');
            }),
            ' links: the wider, the busier');
    drawBandwidthMark();
    drawTimelineSoon();
  }
  function boxText(p, i) {
    const use = useOfBox(p, i);
    return p.boxes[i][0] + (use ? ': ' + use.parts.map(([name, v]) => `${name} ${percent(v)}`).join(', ') : '') +
        (p.parts[i].rect.classList.contains('on-path') ? ', on the critical path' : '') +
        (planBelow(p.boxes[i][0]) !== null ? ' (opens it)' :
             p.boxes[i][1] === 'pe'        ? ' (to its timeline)' :
                                             '');
  }
  const tellBox = i => {
    $('plan-detail').textContent = boxText(plan.shown, i);
  };
  function tellWire(i) {
    const p = plan.shown, {share, gbs} = useOfWire(p, i), [a, b] = p.wires[i];
    $('plan-detail').textContent =
        `${p.boxes[a][0]} – ${p.boxes[b][0]}: ${number(gbs)} GB/s, its busiest way ${percent(share)}`;
  }
  function setBin(bin) {
    plan.bin = bin;
    $('plan-time').value = bin + 1;
    colourPlan();
  }
  function startFloorplan() {
    $('plan-stage')
        .append(
            element('option', {value: ''}, 'busiest engine'), ...usedStages.map(s => element('option', {value: s}, s)));
    $('plan-stage').addEventListener('change', e => {
      plan.stage = e.target.value;
      colourPlan();
    });
    $('plan-time').max = COUNT;
    $('plan-time').addEventListener('input', e => setBin(+e.target.value - 1));
    $('plan-play').addEventListener('click', () => {
      if (plan.playing) {
        clearInterval(plan.playing);
        plan.playing = 0;
      } else
        plan.playing = setInterval(() => setBin(plan.bin + 1 < COUNT ? plan.bin + 1 : -1), 80);
      $('plan-play').textContent = plan.playing ? 'Stop' : 'Play';
    });
    showPlan('');
  }

  // ---- timeline ----
  const ROW = 18, LABEL = 190, AXIS = 24;
  const view = {from: 0, to: END, scroll: 0, row: 0, slice: -1, open: new Set(), drag: null, asked: false};
  const groups = new Map();  // groups of PEs: cubes, or the name up to the last dot
  D.pes.forEach((id, i) => {
    if (tracksOfPe.has(i)) {
      const g = scopeOf(id);
      (groups.get(g) || groups.set(g, []).get(g)).push(i);
    }
  });
  const stepsOfPe = new Map();
  path.forEach((s, i) => {
    const pe = peOf.get(s.pe);
    if (pe !== undefined) (stepsOfPe.get(pe) || stepsOfPe.set(pe, []).get(pe)).push(i);
  });
  let rows = [];
  function layRows() {
    rows = [{name: 'critical path', path: true}];
    for (const t of tracksOfPe.get(-1) || []) rows.push({name: t.name, track: t});
    for (const [group, pes] of groups) {
      const flat = group === '';
      if (!flat) rows.push({name: group, key: group, pes, depth: 0});
      if (!flat && !view.open.has(group)) continue;
      for (const pe of pes) {
        const id = D.pes[pe];
        rows.push({name: lastWord(id), key: id, pe, depth: 1, lanes: tracksOfPe.get(pe)});
        if (view.open.has(id))
          for (const t of tracksOfPe.get(pe)) rows.push({name: t.name, track: t, pe, depth: 2});
      }
    }
    view.row = Math.min(view.row, rows.length - 1);
  }
  const canvas = $('timeline-canvas'), context = canvas.getContext('2d');
  const canvasHeight = () => AXIS + ROW * Math.min(Math.max(rows.length, 6), 30);
  const strip = document.createElement('canvas'), stripContext = strip.getContext('2d', {willReadFrequently: true});
  strip.height = ROW;
  const mostScroll = () => Math.max(0, AXIS + rows.length * ROW - canvasHeight());
  function drawTimelineSoon() {
    if (view.asked) return;
    view.asked = true;
    requestAnimationFrame(() => {
      view.asked = false;
      drawTimeline();
    });
  }
  const colourOf = track => STAGE_COLOURS[track.stage] ||
      (track.pe < 0                ? '#7f8c9a' :
           track.name === 'kernel' ? '#b5651d' :
                                     '#c06c9b');
  function drawTimeline() {
    const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvasHeight();
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.style.height = height + 'px';
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const c = context, colours = {
      text: css('--text'),
      soft: css('--soft'),
      line: css('--line'),
      panel: css('--panel'),
      path: css('--path'),
      back: css('--back'),
      none: css('--none'),
      accent: css('--accent')
    };
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.fillStyle = colours.back;
    c.fillRect(0, 0, width, height);
    c.font = '12px system-ui, sans-serif';
    c.textBaseline = 'middle';
    const span = view.to - view.from, plot = width - LABEL, x = t => LABEL + (t - view.from) / span * plot;
    const first = Math.floor(view.scroll / ROW),
          last = Math.min(rows.length, Math.ceil((view.scroll + height - AXIS) / ROW));
    for (let i = first; i < last; ++i) {
      const row = rows[i], y = AXIS + i * ROW - view.scroll;
      if (i % 2) {
        c.fillStyle = colours.panel;
        c.fillRect(LABEL, y, plot, ROW);
      }
      c.save();
      c.beginPath();
      c.rect(LABEL, Math.max(AXIS, y), plot, ROW);
      c.clip();
      if (row.path)
        drawPath(c, y, x, colours);
      else if (row.track)
        drawTrack(c, row.track, y + 2, ROW - 4, x, plot, span, true);
      else if (row.lanes) {
        const each = Math.max(2, (ROW - 3) / row.lanes.length);
        row.lanes.forEach((t, k) => drawTrack(c, t, y + 1 + k * each, each, x, plot, span, false));
      } else
        drawGroup(c, row, y, plot, span);
      if (row.pe !== undefined && !row.track) underline(c, row.pe, y, x, colours);
      c.restore();
      c.fillStyle = i === view.row && document.activeElement === canvas ? colours.accent : colours.text;
      const fold = row.key ? (view.open.has(row.key) ? '▾ ' : '▸ ') : '';
      c.save();
      c.beginPath();
      c.rect(0, Math.max(AXIS, y), LABEL - 6, ROW);
      c.clip();
      c.fillText(fold + row.name, 6 + 12 * (row.depth || 0), y + ROW / 2 + 1);
      c.restore();
    }
    // The row of the critical path stays when the others scroll.
    if (view.scroll > 0) {
      c.fillStyle = colours.back;
      c.fillRect(0, AXIS, width, ROW + 1);
      c.save();
      c.beginPath();
      c.rect(LABEL, AXIS, plot, ROW);
      c.clip();
      drawPath(c, AXIS, x, colours);
      c.restore();
      c.fillStyle = view.row === 0 && document.activeElement === canvas ? colours.accent : colours.text;
      c.fillText(rows[0].name, 6, AXIS + ROW / 2 + 1);
    }
    // The time axis, and the window's bounds for the floorplan.
    c.fillStyle = colours.back;
    c.fillRect(0, 0, width, AXIS);
    c.fillStyle = colours.soft;
    let step = 10 ** Math.ceil(Math.log10(span / plot * 90));
    if (span / (step / 5) * 90 < plot)
      step /= 5;
    else if (span / (step / 2) * 90 < plot)
      step /= 2;
    c.strokeStyle = colours.line;
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      c.fillRect(x(t), AXIS - 6, 1, 6);
      c.fillText(axisText(t, step), x(t) + 3, AXIS / 2);
    }
    if (plan.bin >= 0) {
      const [from, to] = windowNs();
      c.fillStyle = colours.accent;
      c.globalAlpha = 0.18;
      c.fillRect(Math.max(LABEL, x(from)), 0, Math.max(1, x(to) - Math.max(LABEL, x(from))), height);
      c.globalAlpha = 1;
    }
    c.strokeStyle = colours.line;
    c.strokeRect(LABEL + 0.5, -1, plot, height + 2);
    if (mostScroll() > 0) {
      const whole = height - AXIS, part = whole * whole / (rows.length * ROW);
      c.fillStyle = colours.soft;
      c.fillRect(width - 5, AXIS + view.scroll / mostScroll() * (whole - part), 4, part);
    }
    $('timeline-window').textContent = `${time(view.from)} – ${time(view.to)} (${time(span)})`;
  }
  function axisText(t, step) {
    const [unit, name] = END >= 1e6 && step >= 1e4 ? [1e6, 'ms'] : END >= 1e4 && step >= 10 ? [1e3, 'µs'] : [1, 'ns'];
    return number(t / unit, Math.max(0, Math.min(3, Math.ceil(-Math.log10(step / unit) - 1e-9)))) + ' ' + name;
  }
  /// Single slices if there is room, else the busy share of each pixel column.
  function drawTrack(c, t, y, h, x, plot, span, named) {
    const begin = sliceAt(t, view.from), end = Math.min(t.n, sliceAt(t, view.to) + 1), colour = colourOf(t);
    if (end <= begin || plot < 1) return;
    if (end - begin > plot / 3) {
      drawColumns(c, t, begin, y, h, plot, span);
      return;
    }
    for (let i = begin; i < end; ++i) {
      const left = Math.max(LABEL - 1, x(t.from[i])), w = Math.max(0.6, Math.min(LABEL + plot + 1, x(t.to[i])) - left);
      const stall = t.kind[i] >= 1 && t.kind[i] <= 3;
      c.fillStyle = colour;
      c.globalAlpha = stall ? 0.28 : 1;
      c.fillRect(left, stall ? y + h * 0.55 : y, w > 3 ? w - 0.7 : w, stall ? h * 0.45 : h);
      c.globalAlpha = 1;
      if (named && w > 34 && !stall) {
        const text = D.ops[t.op[i]][0] + (t.tile[i] >= 0 ? (t.kind[i] === 5 ? ' #' : ' tile ') + t.tile[i] : '');
        const fits = Math.floor((w - 6) / 6.4);
        if (fits < 3) continue;
        c.fillStyle = '#ffffff';
        if (['FETCH', 'MATH', 'STORE'].includes(t.stage)) c.fillStyle = '#10161e';
        c.fillText(text.length > fits ? text.slice(0, fits - 1) + '…' : text, Math.max(left, LABEL) + 4, y + h / 2 + 1);
      }
    }
  }
  /// A million rectangles per frame are too slow, so a track's columns are pixels of one image.
  function drawColumns(c, t, begin, y, h, plot, span) {
    const tallest = Math.round(h), picture = stripContext.createImageData(plot, tallest);
    const pixels = new Uint32Array(picture.data.buffer);
    const bgr = parseInt(colourOf(t).slice(1).replace(/(..)(..)(..)/, '$3$2$1'), 16);
    let before = busyUntil(t, view.from), i = begin;
    for (let px = 0; px < plot; ++px) {
      const until = view.from + (px + 1) / plot * span;
      while (i < t.n && t.to[i] <= until) {  // advances, in leaps if one pixel has many slices
        let leap = 1;
        while (i + leap * 2 < t.n && t.to[i + leap * 2] <= until) leap *= 2;
        i += leap > 1 ? leap : 1;
      }
      let busy = t.busy[i];
      if (i < t.n && t.from[i] < until)
        busy += (t.busy[i + 1] - t.busy[i]) * (until - t.from[i]) / (t.to[i] - t.from[i]);
      const share = Math.min(1, (busy - before) / (span / plot));
      before = busy;
      if (share <= 0.004) continue;
      const pixel = 255 * (0.2 + 0.8 * share) << 24 | bgr;
      for (let k = tallest - Math.max(1, Math.round(tallest * (0.25 + 0.75 * share))); k < tallest; ++k)
        pixels[k * plot + px] = pixel;
    }
    if (strip.width !== plot) strip.width = plot;
    stripContext.putImageData(picture, 0, 0);
    c.drawImage(strip, 0, 0, plot, tallest, LABEL, y, plot, h);
  }
  /// A collapsed cube: the mean of its PEs' engines, coloured by the busiest kind.
  function drawGroup(c, row, y, plot, span) {
    if (!row.shares) {
      row.shares = new Float32Array(COUNT);
      for (let b = 0; b < COUNT; ++b)
        row.shares[b] = Math.max(...usedStages.map(
            s => mean(row.pes.map(pe => stageShare(pe, s, b * WIDTH, Math.min((b + 1) * WIDTH, END))))));
    }
    for (let b = Math.floor(view.from / WIDTH); b < COUNT && b * WIDTH < view.to; ++b) {
      const left = LABEL + (b * WIDTH - view.from) / span * plot, w = WIDTH / span * plot;
      if (row.shares[b] < 0.004) continue;
      c.fillStyle = rgb(ramp(row.shares[b]));
      const tall = 3 + (ROW - 6) * row.shares[b];
      c.fillRect(left, y + ROW - 2 - tall, w + 0.5, tall);
    }
  }
  function firstStep(t) {
    let low = 0, high = path.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (path[middle].to_ns > t)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
  function drawPath(c, y, x, colours) {
    let drawn = -1;
    for (let i = firstStep(view.from); i < path.length && path[i].from_ns < view.to; ++i) {
      const s = path[i], left = Math.max(LABEL - 1, x(s.from_ns)), right = Math.min(canvas.clientWidth + 1, x(s.to_ns));
      if (right - drawn < 0.5) continue;
      drawn = right;
      c.fillStyle = RESOURCE_COLOURS[s.resource] || '#777777';
      c.fillRect(left, y + 2, Math.max(0.6, right - left), ROW - 4);
      const fits = Math.floor((right - left - 8) / 6.4);
      if (right - left > 4) {
        c.fillStyle = colours.back;
        c.fillRect(right - 0.7, y + 2, 0.7, ROW - 4);
      }
      if (fits < 3) continue;
      c.fillStyle = '#ffffff';
      if (['mesh', 'math', 'tcm', 'host', 'kernel', 'wires', 'engines'].includes(s.resource)) c.fillStyle = '#10161e';
      const text = s.resource + (s.at ? ' ' + s.at : '');
      c.fillText(text.length > fits ? text.slice(0, fits - 1) + '…' : text, left + 4, y + ROW / 2 + 1);
    }
  }
  /// The critical path in the row of its PE.
  function underline(c, pe, y, x, colours) {
    c.fillStyle = colours.path;
    for (const i of stepsOfPe.get(pe) || []) {
      const s = path[i];
      if (s.to_ns <= view.from || s.from_ns >= view.to) continue;
      c.fillRect(x(s.from_ns), y + ROW - 2.5, Math.max(0.6, x(s.to_ns) - x(s.from_ns)), 2.5);
    }
  }
  function setView(from, to) {
    const span = Math.min(END, Math.max(to - from, 0.002));
    view.from = Math.max(0, Math.min(from, END - span));
    view.to = view.from + span;
    drawTimelineSoon();
    tellView();
  }
  // In a page with two reports, both timelines follow the same window.
  let told = false;
  function tellView() {
    if (parent !== window && !told)
      parent.postMessage({about: 'timeline', from: view.from, to: view.to, scroll: view.scroll}, '*');
  }
  addEventListener('message', e => {
    const m = e.data;
    if (e.source !== parent || parent === window || !m || m.about !== 'timeline') return;
    if (![m.from, m.to, m.scroll].every(Number.isFinite) || m.to <= m.from) return;
    told = true;
    setView(m.from, m.to);
    setScroll(m.scroll);
    told = false;
  });
  function zoom(factor, at = (view.from + view.to) / 2) {
    setView(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }
  const pan = share => setView(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
  function setScroll(y) {
    view.scroll = Math.max(0, Math.min(mostScroll(), y));
    drawTimelineSoon();
    tellView();
  }
  function chooseRow(i) {
    view.row = Math.max(0, Math.min(rows.length - 1, i));
    view.slice = -1;
    const y = view.row * ROW, seen = canvasHeight() - AXIS - ROW;
    if (y < view.scroll + ROW)
      setScroll(y - ROW);
    else if (y > view.scroll + seen)
      setScroll(y - seen);
    $('timeline-detail').textContent = rowText(rows[view.row]);
    drawTimelineSoon();
  }
  function rowText(row) {
    if (row.key) return `${row.key}: ${view.open.has(row.key) ? 'open' : 'closed'}`;
    return row.pe !== undefined ? `${D.pes[row.pe]} ${row.name}` : row.name;
  }
  function toggle(row) {
    if (!row.key) return;
    view.open.has(row.key) ? view.open.delete(row.key) : view.open.add(row.key);
    layRows();
    setScroll(view.scroll);
  }
  function sliceText(t, i) {
    const [name, line] = D.ops[t.op[i]], where = t.pe < 0 ? 'host' : D.pes[t.pe];
    return `${where} ${t.name}: ${KINDS[t.kind[i]] === 'service' ? '' : KINDS[t.kind[i]] + ', '}${name}` +
        (t.tile[i] >= 0 ? (t.kind[i] === 5 ? ` number ${t.tile[i]}` : ` tile ${t.tile[i]}`) : '') +
        (line ? ` (${line})` : '') + `, ${time(t.from[i])} – ${time(t.to[i])}, ${time(t.to[i] - t.from[i])}`;
  }
  function stepText(s) {
    return `critical path: ${D.resource_titles[s.resource]}` + (s.at ? ` at ${s.at}` : '') +
        (s.op ? `, ${s.op} of ${s.pe}` : '') + (s.line ? ` (${s.line})` : '') +
        `, ${time(s.from_ns)} – ${time(s.to_ns)}, ${time(s.to_ns - s.from_ns)}`;
  }
  const rowAt = py => py < AXIS ? -1 : py < AXIS + ROW ? 0 : Math.floor((py - AXIS + view.scroll) / ROW);
  function textAt(px, py) {
    const row = rows[rowAt(py)];
    if (!row) return '';
    if (px < LABEL) return rowText(row);
    const t = view.from + (px - LABEL) / (canvas.clientWidth - LABEL) * (view.to - view.from);
    if (row.path) {
      const s = path[firstStep(t)];
      return s ? stepText(s) : '';
    }
    let track = row.track;
    if (row.lanes)
      track = row.lanes[Math.min(
          row.lanes.length - 1, Math.floor(((py - AXIS + view.scroll) % ROW) / (ROW / row.lanes.length)))];
    if (!track) {
      const b = Math.min(COUNT - 1, Math.floor(t / WIDTH));
      return `${row.name}: busiest engines ${percent(row.shares ? row.shares[b] : 0)} at ${time(t)}`;
    }
    const k = sliceAt(track, t);
    return k < track.n && track.from[k] <= t ? sliceText(track, k) :
                                               `${rowText({...row, key: null})}: idle at ${time(t)}`;
  }
  /// To the next or previous slice of the selected row.
  function stepSlice(by) {
    const row = rows[view.row], track = row.track, n = row.path ? path.length : track ? track.n : 0;
    if (!n) return;
    const middle = (view.from + view.to) / 2,
          now = view.slice >= 0 ? view.slice + by :
        row.path                ? firstStep(middle) :
                                  sliceAt(track, middle);
    view.slice = Math.max(0, Math.min(n - 1, now));
    const [from, to] =
        row.path ? [path[view.slice].from_ns, path[view.slice].to_ns] : [track.from[view.slice], track.to[view.slice]];
    const span = Math.min(view.to - view.from, Math.max((to - from) * 12, 1));
    setView((from + to - span) / 2, (from + to + span) / 2);
    $('timeline-detail').textContent = row.path ? stepText(path[view.slice]) : sliceText(track, view.slice);
  }
  function timelineTo(id) {
    if (!peOf.has(id)) return;
    if (scopeOf(id)) view.open.add(scopeOf(id));
    view.open.add(id);
    layRows();
    chooseRow(rows.findIndex(r => r.key === id));
    setScroll((view.row - 1) * ROW);
    canvas.scrollIntoView({block: 'center'});
    canvas.focus({preventScroll: true});
  }
  function startTimeline() {
    const last = peOf.get((path.findLast(s => s.pe) || {}).pe);
    const focus = last === undefined ? D.pes.find((_, i) => tracksOfPe.has(i)) : D.pes[last];
    if (focus) {
      view.open.add(scopeOf(focus));
      view.open.add(focus);
    }
    if (D.pes.length <= 16)
      for (const g of groups.keys()) view.open.add(g);
    layRows();
    const at = rows.findIndex(r => r.key === focus);
    if (at > 22) view.scroll = Math.min(mostScroll(), (at - 3) * ROW);
    canvas.addEventListener('wheel', e => {
      e.preventDefault();
      const box = canvas.getBoundingClientRect(), px = e.clientX - box.left;
      if (px < LABEL) return setScroll(view.scroll + e.deltaY);
      if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) return pan((e.deltaX || e.deltaY) / 1000);
      zoom(
          Math.exp(Math.max(-240, Math.min(240, e.deltaY)) / 400),
          view.from + (px - LABEL) / (canvas.clientWidth - LABEL) * (view.to - view.from));
    }, {passive: false});
    canvas.addEventListener('pointerdown', e => {
      canvas.setPointerCapture(e.pointerId);
      view.drag = {x: e.offsetX, y: e.offsetY, from: view.from, to: view.to, scroll: view.scroll, moved: false};
    });
    canvas.addEventListener('pointermove', e => {
      if (view.drag) {
        const dx = e.offsetX - view.drag.x, dy = e.offsetY - view.drag.y;
        if (Math.abs(dx) + Math.abs(dy) > 3) view.drag.moved = true;
        if (!view.drag.moved) return;
        const t = dx / (canvas.clientWidth - LABEL) * (view.drag.to - view.drag.from);
        setView(view.drag.from - t, view.drag.to - t);
        setScroll(view.drag.scroll - dy);
      } else
        $('timeline-detail').textContent = textAt(e.offsetX, e.offsetY);
    });
    canvas.addEventListener('pointerup', e => {
      if (view.drag && !view.drag.moved) {
        const i = rowAt(e.offsetY);
        if (rows[i]) {
          chooseRow(i);
          if (e.offsetX < LABEL || rows[i].pes)
            toggle(rows[i]);
          else
            $('timeline-detail').textContent = textAt(e.offsetX, e.offsetY);
        }
      }
      view.drag = null;
    });
    canvas.addEventListener('keydown', e => {
      const does = {
        '+': () => zoom(0.6),
        '=': () => zoom(0.6),
        '-': () => zoom(1 / 0.6),
        ArrowLeft: () => pan(-0.2),
        ArrowRight: () => pan(0.2),
        ArrowUp: () => chooseRow(view.row - 1),
        ArrowDown: () => chooseRow(view.row + 1),
        PageUp: () => chooseRow(view.row - 20),
        PageDown: () => chooseRow(view.row + 20),
        Home: () => setView(0, END),
        Enter: () => toggle(rows[view.row]),
        ' ': () => toggle(rows[view.row]),
        ',': () => stepSlice(-1),
        '.': () => stepSlice(1)
      }[e.key];
      if (!does || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      does();
    });
    for (const event of ['focus', 'blur']) canvas.addEventListener(event, drawTimelineSoon);
    $('zoom-in').addEventListener('click', () => zoom(0.5));
    $('zoom-out').addEventListener('click', () => zoom(2));
    $('zoom-all').addEventListener('click', () => setView(0, END));
    $('rows-all').addEventListener('click', () => {
      for (const [g, pes] of groups) {
        view.open.add(g);
        for (const pe of pes) view.open.add(D.pes[pe]);
      }
      layRows();
      setScroll(0);
    });
    $('rows-none').addEventListener('click', () => {
      view.open.clear();
      layRows();
      setScroll(0);
    });
    const item = (colour, text) => {
      const i = element('i');
      i.style.background = colour;
      return element('span', {}, i, text);
    };
    $('timeline-legend')
        .append(
            ...usedStages.map(s => item(STAGE_COLOURS[s], s)), item('var(--path)', 'underlined: critical path'),
            'pale, low: waits. Critical path: ',
            ...Object.keys(I.blame_ns).filter(r => I.blame_ns[r] > 0.02 * END).map(r => item(RESOURCE_COLOURS[r], r)));
    new ResizeObserver(drawTimelineSoon).observe(canvas);
    drawTimelineSoon();
  }

  // ---- bandwidth over time ----
  function bandwidthSeries() {
    const sum = (what, amounts) => {
      const values = new Array(COUNT).fill(0);
      for (const a of amounts)
        for (let b = 0; b < COUNT; ++b) values[b] += a(b) / binLength(b);
      return {what, values};
    };
    const all = [], hbm = [...memories].filter(([n]) => D.node_kinds[D.nodes[n][1]].startsWith('hbm'));
    const others = [...memories].filter(([n]) => !D.node_kinds[D.nodes[n][1]].startsWith('hbm'));
    all.push(sum('HBM read', hbm.map(([, m]) => m.read)), sum('HBM write', hbm.map(([, m]) => m.write)));
    all.push(sum('SRAM', others.flatMap(([, m]) => [m.read, m.write])));
    D.edge_kinds.forEach(
        (kind, k) =>
            all.push(sum('links: ' + kind, [...links].filter(([e]) => D.edges[e][2] === k).map(([, a]) => a))));
    return all.filter(s => s.values.some(v => v > 0));
  }
  const DASHES = ['', '8 4', '2 3', '12 4 2 4', '5 2', '1 2', '10 6', '3 6'];
  const LINES = ['#3b7dd8', '#c0392b', '#8ab661', '#d98e04', '#9b6fc3', '#2e7d4f', '#7f8c9a', '#c06c9b'];
  const chart = {from: 0, to: END, hidden: new Set(), mark: null, x: null};
  /// Round values in [from, to], about `count` of them.
  function ticks(from, to, count) {
    const power = 10 ** Math.floor(Math.log10((to - from) / count || 1));
    const step = power * [1, 2, 5, 10].find(s => s * power >= (to - from) / count), all = [];
    for (let i = Math.ceil(from / step); i * step <= to; ++i) all.push(Number((i * step).toPrecision(12)));
    return all;
  }
  /// Lines over time. Dragging zooms, a double click shows the whole run, a click on a name hides its line.
  function showBandwidth() {
    const where = $('bandwidth-picture'), all = bandwidthSeries();
    where.replaceChildren();
    if (!all.length) {
      where.append(element('p', {}, 'Nothing was moved.'));
      return;
    }
    // A printed page is narrower.
    const w = printing ? 660 : where.clientWidth || 900, h = 280, left = 74, right = 14, top = 10, bottom = 42;
    const unit = END >= 1e6 ? [1e6, 'ms'] : END >= 1e4 ? [1e3, 'µs'] : [1, 'ns'];
    const middle = b => b * WIDTH + binLength(b) / 2, {from, to} = chart;
    const first = Math.max(0, Math.floor(from / WIDTH)), last = Math.min(COUNT - 1, Math.floor(to / WIDTH));
    const shown = all.filter(s => !chart.hidden.has(s.what));
    const most = Math.max(0, ...shown.map(s => Math.max(...s.values.slice(first, last + 1)))) * 1.05 || 1;
    const x = ns => left + (ns - from) / (to - from) * (w - left - right),
          y = v => h - bottom - v / most * (h - top - bottom);
    const nsAt = e => from + Math.min(Math.max((e.offsetX - left) / (w - left - right), 0), 1) * (to - from);
    const line = (x1, y1, x2, y2) => svg('line', {x1, y1, x2, y2, stroke: 'var(--line)'});
    const say = (text, px, py, anchor, more = {}) =>
        svg('text', {x: px, y: py, 'text-anchor': anchor, 'font-size': 12, ...more}, text);
    const area = (fill, opacity) =>
        svg('rect', {y: top, height: h - top - bottom, width: 0, fill, opacity, 'pointer-events': 'none'});
    const clip =
        svg('clipPath', {id: 'bandwidth-clip'},
            svg('rect', {x: left, y: top, width: w - left - right, height: h - top - bottom}));
    const mark = area('var(--accent)', 0.25), chosen = area('var(--text)', 0.12), at = line(0, top, 0, h - bottom);
    const p = svg('svg', {width: w, height: h, role: 'img', 'aria-label': 'Bandwidth over time, GB/s'}, clip);
    const text = v => v.toLocaleString('en', {maximumFractionDigits: 6});
    for (const v of ticks(from / unit[0], to / unit[0], w / 90)) {
      const px = x(v * unit[0]);
      p.append(line(px, top, px, h - bottom), say(text(v), px, h - bottom + 16, 'middle'));
    }
    for (const v of ticks(0, most, 6))
      p.append(line(left, y(v), w - right, y(v)), say(text(v), left - 6, y(v) + 4, 'end'));
    const turned = {transform: `rotate(-90 14 ${(h - bottom + top) / 2})`};
    p.append(say(unit[1], (left + w) / 2, h - 8, 'middle'), say('GB/s', 14, (h - bottom + top) / 2, 'middle', turned));
    const lines = svg('g', {'clip-path': 'url(#bandwidth-clip)', fill: 'none', 'stroke-width': 2});
    all.forEach((s, i) => {
      if (!shown.includes(s)) return;
      const points = [];
      for (let b = Math.max(0, first - 1); b <= Math.min(COUNT - 1, last + 1); ++b)
        points.push(x(middle(b)).toFixed(1) + ',' + y(s.values[b]).toFixed(1));
      lines.append(svg('polyline', {
        points: points.join(' '),
        stroke: LINES[i % LINES.length],
        'stroke-dasharray': DASHES[i % DASHES.length] || 'none'
      }));
    });
    const place = (rect, begin, end) => {
      const low = Math.max(begin, from), high = Math.min(end, to);
      rect.setAttribute('x', x(low));
      rect.setAttribute('width', high > low ? Math.max(1, x(high) - x(low)) : 0);
    };
    chart.mark = () => plan.bin < 0 ? mark.setAttribute('width', 0) : place(mark, ...windowNs());
    at.setAttribute('stroke', 'var(--soft)');
    p.append(mark, chosen, at, lines);
    const values = all.map(() => element('b')), when = element('span');
    const legend = all.map((s, i) => {
      const sample = svg('line', {
        x1: 0,
        x2: 26,
        y1: 6,
        y2: 6,
        stroke: LINES[i % LINES.length],
        'stroke-width': 3,
        'stroke-dasharray': DASHES[i % DASHES.length] || 'none'
      });
      const toggle = () => {
        if (!chart.hidden.delete(s.what)) chart.hidden.add(s.what);
        showBandwidth();
      };
      return element(
          'button', {type: 'button', 'aria-pressed': String(shown.includes(s)), onclick: toggle},
          svg('svg', {width: 26, height: 12}, sample), ' ', s.what, ' ', values[i]);
    });
    const point = e => {
      const ns = e ? nsAt(e) : -1, bin = Math.min(COUNT - 1, Math.floor(ns / WIDTH));
      at.setAttribute('visibility', e ? 'visible' : 'hidden');
      if (e) at.setAttribute('x1', x(ns)), at.setAttribute('x2', x(ns));
      when.textContent = e ? `${number(ns / unit[0], 2)} ${unit[1]}` : `${unit[1]} –`;
      values.forEach((v, i) => v.textContent = e ? number(all[i].values[bin], 1) : '–');
      if (e && chart.x !== null) place(chosen, Math.min(chart.x, ns), Math.max(chart.x, ns));
    };
    const zoom = (begin, end) => {
      Object.assign(chart, {from: begin, to: end, x: null});
      showBandwidth();
    };
    p.addEventListener('pointermove', point);
    p.addEventListener('pointerleave', () => point(null));
    p.addEventListener('pointerdown', e => {
      chart.x = nsAt(e);
      p.setPointerCapture(e.pointerId);
    });
    p.addEventListener('pointerup', e => {
      const [begin, end] = [chart.x, nsAt(e)].sort((a, b) => a - b);
      chart.x = null;
      if (end - begin > (to - from) / 100) zoom(begin, end);
    });
    p.addEventListener('dblclick', () => zoom(0, END));
    point(null);
    chart.mark();
    where.append(p, element('div', {class: 'legend'}, when, ...legend));
  }
  const drawBandwidthMark = () => {
    if (chart.mark) chart.mark();
  };

  // ---- tables ----
  const column = (title, of, show = v => v, isNumber = false) => ({title, of, show, isNumber});
  const numeric = (title, of, show = v => number(v, 0)) => column(title, of, show, true);
  const use = (share, rowsOf, what) => ({
    rows: rowsOf,
    columns: [
      column('Name', r => r.name), column('Resource', r => r.resource), numeric(what, r => r.share, v => percent(v)),
      numeric('Bytes', r => r.bytes, bytesText), numeric('GB/s', r => r.share * r.gbs_most, v => number(v, 2)),
      numeric('of GB/s', r => r.gbs_most, v => v ? number(v, 2) : '–')
    ]
  });
  const digits = v => v === undefined || v === null ? '–' :
      typeof v === 'number'                         ? String(+v.toPrecision(4)) :
                                                      String(v);
  // Three columns if it has a band.
  const band = (title, of) =>
      [numeric(title, r => of(r).value, digits), numeric('low', r => of(r).low, digits),
       numeric('high', r => of(r).high, digits)];
  const area = (D.energy && D.energy.area) || {blocks: [], dies: []};
  const TABLES = {
    Links: use('share', I.links, 'Data'),
    Memories: use('share', I.memories, 'Data'),
    Channels: use('share', I.channels, 'Held'),
    Capacity: {
      rows: I.capacity,
      columns: [
        column('Memory', r => r.memory), column('Space', r => r.space), numeric('Full at most', r => r.share, percent),
        numeric('Bytes', r => r.most_bytes, bytesText), numeric('of', r => r.bytes, bytesText)
      ]
    },
    Figures:
        {rows: Object.entries(D.figures), columns: [column('Metric', r => r[0]), column('Value', r => digits(r[1]))]},
    Energy: {
      rows: D.energy ? D.energy.by_constant : [],
      columns: [
        column('Constant', r => r.name), ...band('J', r => r.joules), numeric('Share', r => r.share, percent),
        numeric('Count', r => r.count), column('Quality', r => r.quality), column('Source', r => r.source)
      ]
    },
    Area: {
      rows: area.blocks,
      columns: [
        column('Block', r => r.block.replace('*.', '')), ...band('mm²', r => r.mm2), numeric('Count', r => r.count),
        column('of', r => r.of), column('Quality', r => r.constant.quality), column('Source', r => r.constant.source)
      ]
    },
    Dies: {
      rows: area.dies,
      columns: [
        column('Die', r => r.die || 'one'), numeric('Alike', r => r.count), ...band('mm²', r => r.mm2),
        ...band('mm of edge for PHYs', r => r.phy_edge_mm), numeric('of mm', r => r.shoreline_mm, digits)
      ]
    },
    'Source lines': {
      rows: I.lines,
      columns: [
        column('Line on the critical path', r => r.name || '(no op)'), numeric('Time', r => r.ns, time),
        numeric('Share', r => r.ns / END, percent)
      ]
    },
    Components: {
      rows: I.components,
      columns: [
        column('On the critical path', r => r.name || '(nobody)'), column('Resource', r => r.resource),
        numeric('Time', r => r.ns, time), numeric('Share', r => r.ns / END, percent)
      ]
    },
    Engines: {
      rows: D.engines,
      columns: [
        column('Engine', r => r.id), numeric('Busy', r => r.utilization, percent), numeric('Ops', r => r.ops),
        numeric('Bytes', r => r.bytes, bytesText), numeric('GFLOP', r => r.flops / 1e9, v => number(v, 4)),
        numeric('Waits for links', r => r.stalls.link_ns || 0, time),
        numeric('for memory', r => r.stalls.memory_ns || 0, time),
        numeric('for the slot', r => r.stalls.slot_ns || 0, time),
        numeric('Queue full', r => r.stalls.queue_full_ns || 0, time)
      ]
    },
    'Path steps': {
      rows: path,
      columns: [
        numeric('From', r => r.from_ns, time), numeric('Length', r => r.to_ns - r.from_ns, time),
        column('Resource', r => r.resource), column('At', r => r.at), column('PE', r => r.pe), column('Op', r => r.op),
        column('Line', r => r.line)
      ]
    },
  };
  const table = {name: 'Links', sort: -1, down: true, rows: 40};
  function showTable() {
    const {rows: all, columns} = TABLES[table.name],
                      words = $('table-search').value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = all.filter(r => {
      const text = columns.filter(c => !c.isNumber).map(c => c.of(r)).join(' ').toLowerCase();
      return words.every(w => text.includes(w));
    });
    found = sorted(found, columns, table);
    const head = sortableHead(columns, table, showTable);
    const body = element(
        'tbody', {},
        ...found.slice(0, table.rows)
            .map(
                r => element(
                    'tr', {},
                    ...columns.map(
                        c => element('td', {class: c.isNumber ? 'n' : null}, String(c.show(c.of(r)) ?? ''))))));
    $('table').replaceChildren(element('caption', {hidden: true}, table.name), element('thead', {}, head), body);
    $('table-count').textContent = `${Math.min(table.rows, found.length)} of ${found.length}`;
    $('table-more').hidden = found.length <= table.rows;
  }
  function startTables() {
    const names = Object.keys(TABLES).filter(n => TABLES[n].rows.length);
    if (!names.includes(table.name)) table.name = names[0];
    if (!names.length) return;
    const show = name => {
      table.name = name;
      table.sort = -1;
      table.rows = 40;
      for (const b of $('table-tabs').children) {
        b.setAttribute('aria-selected', b.textContent === name);
        b.tabIndex = b.textContent === name ? 0 : -1;
      }
      showTable();
    };
    $('table-tabs')
        .append(...names.map(n => element('button', {type: 'button', role: 'tab', onclick: () => show(n)}, n)));
    $('table-tabs').addEventListener('keydown', e => {
      const by = {ArrowRight: 1, ArrowLeft: -1}[e.key];
      if (!by) return;
      const next = (names.indexOf(table.name) + by + names.length) % names.length;
      show(names[next]);
      $('table-tabs').children[next].focus();
    });
    $('table-search').addEventListener('input', () => {
      table.rows = 40;
      showTable();
    });
    $('table-more').addEventListener('click', () => {
      table.rows *= 4;
      showTable();
    });
    show(table.name);
  }

  // ---- configuration ----
  function showConfiguration() {
    const {version, command, options, topology} = D.run;
    $('command').textContent = command;
    const text = v => Array.isArray(v)      ? v.map(text).join(' ') :
        v !== null && typeof v === 'object' ? Object.entries(v).map(([k, x]) => `${k} ${text(x)}`).join(', ') :
                                              String(v);
    for (const [k, v] of Object.entries({kernbench: version, ...options})) {
      if (v === null || v === false || (typeof v === 'object' && !Object.keys(v).length)) continue;
      $('settings').append(element('div', {}, element('dt', {}, k), element('dd', {}, text(v))));
    }
    $('settings')
        .append(
            element('div', {}, element('dt', {}, 'events'), element('dd', {}, number(D.events, 0))),
            element('div', {}, element('dt', {}, 'wall'), element('dd', {}, number(D.wall_s, 2) + ' s')));
    $('topology-file').textContent = topology.text;
  }

  function redrawAll() {
    colourPlan();
    drawTimeline();
    showBandwidth();
  }
  showVerdict();
  showBlame();
  showRoofline();
  showWhatIf();
  startTimeline();
  startFloorplan();
  showBandwidth();
  startTables();
  showConfiguration();
  darkQuery.addEventListener('change', redrawAll);
  addEventListener('resize', () => {
    if (plot) plot.setSize({width: $('bandwidth-picture').clientWidth, height: 280});
  });
  addEventListener('beforeprint', () => {
    printing = true;
    redrawAll();
  });
  addEventListener('afterprint', () => {
    printing = false;
    redrawAll();
  });
  document.documentElement.dataset.ready = Math.round(performance.now());
})();
