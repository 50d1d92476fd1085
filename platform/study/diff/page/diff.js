'use strict';
// The differences of two runs. diff_page.cpp writes the data block.
(() => {
  const {$, number, element, svg} = Page;
  const D = JSON.parse($('data').textContent), diff = D.diff;
  const time = ns => number(ns, 3) + ' ns';
  const signed = (v, digits = 1) => (v > 0 ? '+' : v < 0 ? '−' : '') + number(Math.abs(v), digits);
  const points = share => signed(100 * share) + ' points';
  const row = (name, ...cells) => element('tr', {}, ...cells.map(c => element(name, c.n ? {class: 'n'} : {}, c.v)));
  const text = v => ({v: v === '' ? '–' : v}), numeric = v => ({v, n: true});

  function fill(id, heads, rows, none) {
    if (!rows.length) return $(id).replaceWith(element('p', {}, none));
    $(id).replaceChildren(element('thead', {}, row('th', ...heads)), element('tbody', {}, ...rows));
  }

  const mark = partial => partial ? ' (unfinished)' : '';
  $('summary').textContent = `a: ${diff.a}${mark(diff.a_partial)}, ${time(diff.a_ns)}. b: ${diff.b}${
      mark(diff.b_partial)}, ${time(diff.b_ns)}: ${signed(100 * diff.slower, 2)} %.`;
  fill(
      'settings-table', [text('option or attribute'), text('a'), text('b')],
      diff.configuration.map(s => row('td', text(s.key), text(s.a), text(s.b))), 'Nothing.');
  fill(
      'figures-table', [text('figure'), numeric('a'), numeric('b')],
      diff.figures.map(s => row('td', text(s.key), numeric(s.a || '–'), numeric(s.b || '–'))), 'All are the same.');

  // ---- the critical path: a's bar above, b's below ----
  const most = Math.max(1, ...diff.blame.flatMap(c => [c.a_ns, c.b_ns]));
  const bars = c => {
    const two = element(
        'div', {class: 'two', role: 'img', 'aria-label': `a ${time(c.a_ns)}, b ${time(c.b_ns)}`}, element('i'),
        element('i'));
    two.children[0].style.width = 100 * c.a_ns / most + '%';
    two.children[1].style.width = 100 * c.b_ns / most + '%';
    return two;
  };
  $('blame-note').textContent = 'The upper bar is a, the lower one b.';
  fill(
      'blame-table', [text('class'), text('a and b'), numeric('a, ns'), numeric('b, ns'), numeric('by, ns')],
      diff.blame.map(
          c =>
              row('td', text(c.name), {v: bars(c)}, numeric(number(c.a_ns, 3)), numeric(number(c.b_ns, 3)),
                  numeric(signed(c.by_ns, 3)))),
      'Both are alike, or one report has none: run --explain brings it.');

  // ---- engines ----
  const FEW = 20;
  function showEngines(count) {
    fill(
        'engines-table', [text('engine'), numeric('a, ns'), numeric('b, ns'), numeric('by, ns')],
        diff.engines.slice(0, count).map(
            c =>
                row('td', text(c.name), numeric(number(c.a_ns, 3)), numeric(number(c.b_ns, 3)),
                    numeric(signed(c.by_ns, 3)))),
        'All are as busy as they were.');
    $('engines-more').hidden = diff.engines.length <= count;
  }
  $('engines-more').addEventListener('click', () => showEngines(diff.engines.length));
  showEngines(FEW);

  // ---- the floorplan: of each box by how many points the busiest of its engines, its memories or links changed ----
  const plans = new Map((D.plans || []).map(p => [p.id, p]));
  const names = [...new Set([...Object.keys(D.a), ...Object.keys(D.b)])];
  const by = name => (D.b[name] || 0) - (D.a[name] || 0);
  /// The box of a node: its own, or the one whose id is a prefix.
  function boxOf(node, boxes) {
    for (let id = node; id; id = id.slice(0, Math.max(0, id.lastIndexOf('.'))))
      if (boxes.has(id)) return id;
    return null;
  }
  /// By box: the largest changes of its PEs, memories and links. A block's change is that of its most changed value.
  function changesOf(plan) {
    const boxes = new Map(plan.boxes.map(b => [b[0], b])), found = new Map();
    for (const name of names) {
      const ends = name.split('->').map(n => boxOf(n, boxes));
      const box = ends.length === 2 && ends[0] !== ends[1] ? ends.join('->') : ends[0];
      if (!box || box.startsWith('->') || box.endsWith('->')) continue;
      const now = found.get(box);
      if (!now || Math.abs(by(name)) > Math.abs(by(now))) found.set(box, name);
    }
    return found;
  }
  const share = v => v === undefined ? 'not there' : number(100 * v) + ' %';
  const told = name => `${name}: ${share(D.a[name])} in a, ${share(D.b[name])} in b, ${points(by(name))}`;
  const colour = v => v > 0 ? 'var(--busier)' : 'var(--idler)';

  function draw(id) {
    const plan = plans.get(id), changes = changesOf(plan);
    const left = Math.min(...plan.boxes.map(b => b[3] - b[5] / 2)),
          right = Math.max(...plan.boxes.map(b => b[3] + b[5] / 2));
    const top = Math.min(...plan.boxes.map(b => b[4] - b[6] / 2)),
          bottom = Math.max(...plan.boxes.map(b => b[4] + b[6] / 2));
    const w = right - left || 1, h = bottom - top || 1, pad = 0.02 * Math.max(w, h);
    const picture = svg(
        'svg',
        {viewBox: `${left - pad} ${top - pad} ${w + 2 * pad} ${h + 2 * pad}`, role: 'group', 'aria-label': plan.title});
    for (const [from, to, ...bends] of plan.wires) {
      const a = plan.boxes[from], b = plan.boxes[to];
      const path = [a[3], a[4], ...bends, b[3], b[4]];
      const name = [`${a[0]}->${b[0]}`, `${b[0]}->${a[0]}`]
                       .map(n => changes.get(n))
                       .filter(n => n)
                       .sort((x, y) => Math.abs(by(y)) - Math.abs(by(x)))[0];
      const line = svg('polyline', {class: 'wire', points: path.join(' ')});
      if (name && Math.abs(by(name)) > 0.0005) {
        line.style.stroke = colour(by(name));
        line.style.strokeWidth = 1 + 9 * Math.min(1, Math.abs(by(name)));
        line.append(svg('title', {}, told(name)));
      }
      picture.append(line);
    }
    for (const [box, , title, x, y, bw, bh, container] of plan.boxes) {
      const name = changes.get(box), v = name ? by(name) : 0, goesIn = plans.has(box) && box !== id;
      const g = svg('g', {'data-box': box, tabindex: container ? -1 : 0, role: goesIn ? 'button' : 'img'});
      const frame = svg('rect', {class: 'box', x: x - bw / 2, y: y - bh / 2, width: bw, height: bh});
      frame.style.fill = container ? 'none' : v === 0 ? 'var(--none)' : colour(v);
      frame.style.fillOpacity = container || v === 0 ? 1 : 0.15 + 0.85 * Math.min(1, Math.abs(v));
      g.append(frame);
      const size = Math.min(bh / 3.2, bw / Math.max(6, title.length) * 1.6);
      const line = (words, at) => {
        const t = svg('text', {x, y: y + at * size, 'text-anchor': 'middle', 'font-size': size}, words);
        t.style.fill = 'var(--text)';
        g.append(t);
      };
      if (!container) {
        line(title, name ? -0.2 : 0.35);
        if (name) line(Math.abs(v) < 0.0005 ? '±0' : signed(100 * v), 1);
      }
      const say = () => $('plan-detail').textContent = name ? told(name) : `${box}: nothing is told of it`;
      if (!container) {
        g.addEventListener('focus', say);
        g.addEventListener('mouseenter', say);
        g.setAttribute('aria-label', name ? told(name) : box);
      }
      if (goesIn) {
        g.style.cursor = 'pointer';
        g.addEventListener('click', () => show(box));
        g.addEventListener('keydown', e => e.key === 'Enter' && show(box));
      }
      picture.append(g);
    }
    picture.addEventListener(
        'keydown', e => e.key === 'Escape' && id && show(id.slice(0, Math.max(0, id.lastIndexOf('.')))));
    return picture;
  }
  function show(id) {
    const parts = id ? id.split('.') : [];
    const steps = ['', ...parts.map((_, i) => parts.slice(0, i + 1).join('.'))].filter(p => plans.has(p));
    $('plan-path')
        .replaceChildren(...steps.map(
            p => element(
                'button', {type: 'button', 'aria-current': p === id, onclick: () => show(p)},
                p ? p.slice(p.lastIndexOf('.') + 1) : plans.get('').title)));
    $('plan-picture').replaceChildren(draw(id));
    $('plan-detail').textContent = '';
  }
  if (!D.plans) {
    $('floorplan-note').textContent =
        'The topology is not known: run --format json --report-topology keeps it in the report.';
    $('floorplan-parts').hidden = true;
  } else {
    $('floorplan-note').textContent =
        'Numbers are points of a percentage, b less a: of an engine the share of its run in which it was busy, of memories and links the share of their bandwidth (with --explain); of each part that which changed most. Click or Enter goes in, Escape out.';
    show(plans.has('') ? '' : plans.keys().next().value);
  }
  document.documentElement.dataset.ready = 1;
})();
