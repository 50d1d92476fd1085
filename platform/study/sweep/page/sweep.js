// The page of one sweep. page.cpp writes the data block.
(() => {
  const {$, element, svg, sorted, sortableHead} = Page;
  const D = JSON.parse($('data').textContent);
  const short = v => typeof v === 'number' ? v.toLocaleString('en', {maximumSignificantDigits: 5}) : String(v ?? '–');

  // ---- columns: what is varied, then what was found ----
  /// Axis values are strings; if all are numbers, they are used as numbers.
  const columns = [...D.axes.map(name => ({name, from: 'axes'})), ...D.metrics.map(m => ({...m, from: 'metrics'}))];
  for (const c of columns) {
    c.title ??= c.name;
    const words = D.points.map(p => p[c.from][c.name]).filter(v => v !== null && v !== undefined);
    const numbers = words.map(v => v === '' || typeof v === 'boolean' ? NaN : Number(v));
    c.isNumber = words.length > 0 && numbers.every(Number.isFinite);
    c.of = p => {
      const v = p[c.from][c.name];
      return v === null || v === undefined ? undefined : c.isNumber ? Number(v) : String(v);
    };
    c.words = [...new Set(words.map(String))];
    // From the least to the greatest; strings get equidistant positions.
    const most = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
    const least = numbers.reduce((a, b) => Math.min(a, b), Infinity);
    const apart = most - least > 1e-9 * Math.abs(least);  // else rounding error of doubles
    c.range = c.isNumber ? [least, apart ? most : least + (Math.abs(least) || 1) * 0.1] : [0, c.words.length - 1 || 1];
    c.place = p => {
      const v = c.of(p);
      return v === undefined ? undefined : c.isNumber ? v : c.words.indexOf(v);
    };
    c.chosen = null;  // the shown range of positions
  }
  D.points.forEach((p, i) => p.index = i);
  const shown = () => D.points.filter(p => columns.every(c => {
    const at = c.place(p);
    return !c.chosen || (at !== undefined && at >= c.chosen[0] && at <= c.chosen[1]);
  }));
  const onFront = D.points.filter(p => p.front);

  // ---- the chosen point ----
  let chosen = null;
  function choose(p) {
    chosen = p;
    $('chosen-none').hidden = $('chosen-run').hidden = false;
    $('chosen-none').textContent = p.error ||
        (p.front                 ? 'On the Pareto front.' :
             D.objectives.length ? 'Not on the Pareto front.' :
                                   '');
    $('chosen-values')
        .replaceChildren(...columns.map(
            c => element(
                'div', {}, element('dt', {title: c.meaning || null}, c.title), element('dd', {}, short(c.of(p))))));
    $('command').textContent = p.command;
    $('copied').textContent = '';
    for (const e of document.querySelectorAll('[data-point]')) {
      const is = e.dataset.point === String(p.index);
      e.classList.toggle('is-chosen', is);
      if (is && e.ownerSVGElement) e.parentNode.append(e);  // draws it above the others
    }
  }
  async function copy() {
    getSelection().selectAllChildren($('command'));
    try {
      await navigator.clipboard.writeText($('command').textContent);
      $('copied').textContent = 'copied';
    } catch {
      $('copied').textContent = 'selected: Ctrl+C copies it';
    }
  }

  // ---- two metrics ----
  const W = 900, H = 460, LEFT = 90, RIGHT = 24, TOP = 16, BOTTOM = 52;
  /// Round numbers in a range, about four to nine; on a wide logarithmic axis 1, 2 and 5 times powers of ten.
  function marks([from, to], logarithmic) {
    if (logarithmic) {
      const found = [];
      for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; ++power)
        found.push(...[1, 2, 5].map(f => f * 10 ** power).filter(v => v >= from && v <= to));
      if (found.length > 2) return found;
    }
    const rough = (to - from) / 6, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough);
    const found = [];
    for (let i = Math.ceil(from / step); i * step <= to; ++i) found.push(i * step);
    return found;
  }
  function scale(c, length, logarithmic) {
    const logs = logarithmic && c.isNumber && c.range[0] > 0, f = logs ? Math.log : v => v;
    const [from, to] = c.range;
    const margin = 0.04 * (f(to) - f(from));
    const at = v => (f(v) - f(from) + margin) / (f(to) - f(from) + 2 * margin) * length;
    return {
      at,
      marks: c.isNumber ? marks(c.range, logs) : c.words.map((_, i) => i),
      text: v => c.isNumber ? short(v) : c.words[v]
    };
  }
  function drawScatter() {
    const x = columns[$('across').value], y = columns[$('up').value], logs = $('logarithmic').checked;
    const sx = scale(x, W - LEFT - RIGHT, logs), sy = scale(y, H - TOP - BOTTOM, logs);
    const px = p => LEFT + sx.at(x.place(p)), py = p => H - BOTTOM - sy.at(y.place(p));
    const picture = svg('svg', {viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `${y.title} over ${x.title}`});
    for (const m of sx.marks) {
      const at = LEFT + sx.at(m);
      picture.append(
          svg('line', {class: 'grid', x1: at, x2: at, y1: TOP, y2: H - BOTTOM}),
          svg('text', {x: at, y: H - BOTTOM + 18, 'text-anchor': 'middle'}, sx.text(m)));
    }
    for (const m of sy.marks) {
      const at = H - BOTTOM - sy.at(m);
      picture.append(
          svg('line', {class: 'grid', x1: LEFT, x2: W - RIGHT, y1: at, y2: at}),
          svg('text', {x: LEFT - 8, y: at + 4, 'text-anchor': 'end'}, sy.text(m)));
    }
    picture.append(
        svg('text', {x: (LEFT + W - RIGHT) / 2, y: H - 10, 'text-anchor': 'middle'}, x.title),
        svg('text', {transform: `translate(16 ${(TOP + H - BOTTOM) / 2}) rotate(-90)`, 'text-anchor': 'middle'},
            y.title));
    const has = p => x.place(p) !== undefined && y.place(p) !== undefined;
    // With two objectives the Pareto front is a line.
    if (D.objectives.length === 2 && [x, y].every(c => D.objectives.some(o => o.metric === c.name))) {
      const line = onFront.filter(has).sort((a, b) => x.place(a) - x.place(b));
      picture.append(svg('polyline', {class: 'front-line', points: line.map(p => `${px(p)},${py(p)}`).join(' ')}));
    }
    const drawn = shown().filter(has).sort((a, b) => a.front - b.front);
    for (const p of drawn) {
      const circle = svg('circle', {
        class: p.front ? 'point front' : 'point',
        cx: px(p),
        cy: py(p),
        r: p.front ? 5.5 : 4,
        'data-point': p.index
      });
      circle.append(svg('title', {}, `${x.title} ${short(x.of(p))}, ${y.title} ${short(y.of(p))}`));
      circle.addEventListener('click', () => choose(p));
      picture.append(circle);
    }
    $('scatter-picture').replaceChildren(picture);
    const without = shown().length - drawn.length;
    $('scatter-count').textContent = without ? `${without} points without both are left out` : '';
  }

  // ---- parallel coordinates ----
  const PH = 320, PTOP = 58, PBOTTOM = 30;
  const upOf = (c, at) => PH - PBOTTOM - (at - c.range[0]) / (c.range[1] - c.range[0]) * (PH - PTOP - PBOTTOM);
  const placeOf = (c, up) => c.range[0] + (PH - PBOTTOM - up) / (PH - PTOP - PBOTTOM) * (c.range[1] - c.range[0]);
  /// Shortens text to the room beside a column.
  const beside = word => word.length > 14 ? `${word.slice(0, 13)}…` : word;
  function drawParallel() {
    const width = Math.max(W, 110 * columns.length), step = (width - 120) / Math.max(columns.length - 1, 1);
    const across = i => 60 + i * step;
    const picture = svg(
        'svg', {viewBox: `0 0 ${width} ${PH}`, role: 'img', 'aria-label': 'A line for each point through its values'});
    for (const p of shown().sort((a, b) => a.front - b.front)) {
      const ups = columns.map((c, i) => [across(i), c.place(p) === undefined ? undefined : upOf(c, c.place(p))]);
      const line = svg('polyline', {
        class: p.front ? 'line front' : 'line',
        'data-point': p.index,
        points: ups.filter(u => u[1] !== undefined).map(u => u.join()).join(' ')
      });
      line.addEventListener('click', () => choose(p));
      picture.append(line);
    }
    columns.forEach((c, i) => {
      const x = across(i);
      picture.append(
          svg('line', {class: 'column', x1: x, x2: x, y1: PTOP, y2: PH - PBOTTOM}),
          svg('text', {
            x: i === 0                   ? 6 :
                i === columns.length - 1 ? width - 6 :
                                           x,
            y: i % 2 ? 32 : 16,
            'text-anchor': i === 0       ? 'start' :
                i === columns.length - 1 ? 'end' :
                                           'middle'
          },
              c.title));
      const ends = c.isNumber ? c.range : c.words.map((_, k) => k);
      for (const v of ends) {
        const near = v === c.range[0] ? 14 : v === c.range[1] ? -5 : 4;
        picture.append(svg(
            'text', {x: x + (c.isNumber ? 0 : 6), y: upOf(c, v) + near, 'text-anchor': c.isNumber ? 'middle' : 'start'},
            c.isNumber ? short(v) : beside(c.words[v])));
      }
      if (c.chosen) {
        const [low, high] = c.chosen.map(v => upOf(c, v));
        picture.append(svg('rect', {class: 'range', x: x - 7, width: 14, y: high, height: Math.max(low - high, 1)}));
      }
      const handle =
          svg('rect',
              {class: 'handle', x: x - 12, width: 24, y: PTOP - 6, height: PH - PTOP - PBOTTOM + 12, 'data-column': i});
      handle.addEventListener('pointerdown', down => {
        const box = picture.getBoundingClientRect(), up = e => (e.clientY - box.top) / box.height * PH;
        const from = up(down);
        addEventListener('pointerup', e => {
          const to = up(e), moved = Math.abs(to - from) > 3;
          c.chosen = moved ? [placeOf(c, Math.max(from, to)), placeOf(c, Math.min(from, to))] : null;
          draw();
        }, {once: true});
        down.preventDefault();
      });
      picture.append(handle);
    });
    $('parallel-picture').replaceChildren(picture);
    $('parallel-count').textContent = `${shown().length} of ${D.points.length} points`;
  }

  // ---- table ----
  const table = {sort: -1, down: true};
  const all = [
    {title: '#', of: p => p.index + 1, isNumber: true}, {title: 'front', of: p => p.front ? 1 : 0, isNumber: true},
    ...columns, {title: 'exit', of: p => p.exit, isNumber: true}
  ];
  function drawTable() {
    const rows =
        sorted(shown(), all, table)
            .map(
                p => element(
                    'tr', {'data-point': p.index},
                    element(
                        'td', {class: 'n'},
                        element(
                            'button',
                            {type: 'button', onclick: () => choose(p), 'aria-label': `Choose point ${p.index + 1}`},
                            String(p.index + 1))),
                    element(
                        'td', {class: 'n'},
                        p.front ? element('span', {class: 'mark-front', title: 'on the Pareto front'}) : ''),
                    ...columns.map(c => element('td', {class: c.isNumber ? 'n' : null}, short(c.of(p)))),
                    element('td', {class: 'n'}, String(p.exit))));
    $('table').replaceChildren(
        element('caption', {hidden: true}, 'Points'), element('thead', {}, sortableHead(all, table, drawTable)),
        element('tbody', {}, ...rows));
    if (chosen) choose(chosen);
  }

  function draw() {
    drawScatter();
    drawParallel();
    drawTable();
  }
  function start() {
    const failed = D.points.filter(p => p.exit !== 0).length;
    const words = [D.points.length === 1 ? '1 point' : `${D.points.length} points`];
    if (failed) words.push(`${failed} of them failed`);
    if (D.objectives.length)
      words.push(`${onFront.length} on the Pareto front of ${
          D.objectives.map(o => `${o.most ? 'most' : 'least'} ${o.metric}`).join(', ')}`);
    $('summary').textContent = words.join('; ') + '.';
    const known = D.objectives.map(o => columns.findIndex(c => c.name === o.metric));
    const numbers = columns.map((c, i) => c.isNumber && c.from === 'metrics' ? i : -1).filter(i => i >= 0);
    const [x, y] =
        [...known, D.axes.length ? 0 : -1, ...numbers].filter((v, i, list) => v >= 0 && list.indexOf(v) === i);
    for (const [id, at] of [['across', x ?? 0], ['up', y ?? x ?? 0]]) {
      $(id).append(...columns.map((c, i) => element('option', {value: i, selected: i === at}, c.title)));
      $(id).addEventListener('change', draw);
    }
    $('logarithmic').addEventListener('change', draw);
    $('all-ranges').addEventListener('click', () => {
      for (const c of columns) c.chosen = null;
      draw();
    });
    $('copy').addEventListener('click', copy);
    if (onFront.length)
      $('scatter-legend')
          .append(element(
              'span', {class: 'mark-front'},
              'Pareto front: no other point is as good in every metric and better in one'));
    draw();
    document.documentElement.dataset.ready = Math.round(performance.now());
  }
  start();
})();
