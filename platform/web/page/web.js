// The page of `kernbench web`. It only contacts its own server (platform/web/web_api.h) and inserts all answers as
// text.
'use strict';

const $ = id => document.getElementById(id);

function make(tag, text = '', properties = {}) {
  const e = Object.assign(document.createElement(tag), properties);
  e.textContent = text;
  return e;
}

async function ask(path, options = {}) {
  const answer = await fetch(path, options);
  const type = answer.headers.get('Content-Type') || '';
  const body = type.startsWith('application/json') ? await answer.json() : {};
  if (!answer.ok) throw new Error(body.fault || `${path}: status ${answer.status}`);
  return body;
}

/** Wraps an action; its errors are shown on top of the page. */
function telling(action) {
  return async (...given) => {
    try {
      $('fault').textContent = '';
      await action(...given);
    } catch (e) {
      $('fault').textContent = e.message;
    }
  };
}

// ---- The form ----

let system = {kernels: [], programs: [], models: [], topologies: [], energies: [], links: []};

const works = () => ({kernel: system.kernels, program: system.programs, model: system.models.map(name => ({name}))});

const chosen = () => {
  const [kind, name] = $('work').value.split(':');
  return {kind, name, spec: works()[kind].find(s => s.name === name)};
};

/** A field for a parameter; empty means its default. */
function field(p) {
  if (p.choices || p.type === 'boolean') {
    const select = make('select');
    for (const value of p.choices || ['true', 'false'])
      select.append(make('option', value, {value, selected: value === p.default}));
    return select;
  }
  const input = make('input', '', {placeholder: p.default});
  if (p.type === 'integer' || p.type === 'number') {
    input.type = 'number';
    input.step = p.type === 'integer' ? 1 : 'any';
    if ('min' in p) input.min = p.min;
    if ('max' in p) input.max = p.max;
  }
  return input;
}

function showParams() {
  const {kind, spec} = chosen(), params = spec && spec.params || [];
  $('params').replaceChildren();
  $('of-params').hidden = kind === 'model';
  $('work-help').textContent = spec && spec.help || '';
  for (const p of params) {
    const input = field(p), label = make('label', p.name + ' ');
    input.dataset.param = p.name;
    input.dataset.default = p.default;
    label.title = `${p.help} (${p.legal})`;
    label.append(input);
    $('params').append(label);
  }
  if (params.length === 0) $('params').append(make('span', 'none', {className: 'detail'}));
}

/** An option of a command, from its table of options; a list has one value per line. */
function optionField({name, help, flag, list, form, initial, legal}, ticked) {
  const label = make('label', flag ? '' : name + ' ', {title: help, className: flag ? 'tick' : list ? 'wide' : ''});
  const choices = name === 'links' ? system.links.map(m => m.name) : list ? [] : legal;
  const input = flag ? make('input', '', {type: 'checkbox', checked: ticked}) :
      list           ? make('textarea', '', {rows: 2, spellcheck: false, placeholder: form}) :
      choices.length ? make('select', '') :
                       make('input', '', {placeholder: initial});
  if (!flag && choices.length)
    input.append(
        make('option', initial || 'as it is', {value: ''}),
        ...choices.filter(c => c !== initial).map(c => make('option', c, {value: c})));
  input.id = `option-${name}`;
  input.dataset.option = name;
  label.append(input, flag ? ` ${name}` : '');
  return label;
}

/** The options of `run` or `model`. A model may be large, so verification is off by default. */
function showOptions() {
  const {kind} = chosen(), command = kind === 'model' ? 'model' : 'run';
  if ($('options').dataset.command === command) return;
  $('options').dataset.command = command;
  $('options').replaceChildren(
      ...system.options[command].map(o => optionField(o, o.name === 'verify' && command === 'run')));
}

function showWork() {
  showParams();
  showOptions();
}

function fillForm() {
  $('folder').textContent = system.folder;
  $('work').replaceChildren();
  for (const [kind, list] of Object.entries(works())) {
    if (list.length === 0) continue;
    const group = make('optgroup', '', {label: kind + 's'});
    for (const s of list)
      group.append(make('option', s.name, {value: `${kind}:${s.name}`, selected: s.name === 'gemm'}));
    $('work').append(group);
  }
  $('topology')
      .replaceChildren(...system.topologies.map(t => make('option', t, {value: t, selected: t === 'small.yaml'})));
  $('energy').append(...system.energies.map(e => make('option', e, {value: e})));
  showWork();
}

const lines = field => field.value.split('\n').map(s => s.trim()).filter(Boolean);

function request() {
  const {kind, name} = chosen();
  const r = {
    [kind]: name,
    topology: $('topology').value,
    params: {},
    options: {},
    set: lines($('set')),
    scale: lines($('scale'))
  };
  if ($('energy').value) r.energy = $('energy').value;
  if (lines($('over')).length) {
    r.over = lines($('over'));
    r.metrics = $('metrics').value.split(',').map(s => s.trim()).filter(Boolean);
  }
  for (const e of document.querySelectorAll('[data-param]'))
    if (e.value !== '' && e.value !== e.dataset.default) r.params[e.dataset.param] = e.value;
  for (const e of document.querySelectorAll('[data-option]')) {
    const value = e.type === 'checkbox' ? e.checked : e.type === 'textarea' ? lines(e) : e.value.trim();
    if (value.length !== 0 && value !== false) r.options[e.dataset.option] = value;
  }
  return r;
}

const start = telling(async event => {
  event.preventDefault();
  await ask(
      'api/runs', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(request())});
  await refresh();
});

const showSystem = telling(async () => {
  const name = $('topology').value, path = `topologies/${name}.svg`;
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.json()).fault);
  $('system-picture').src = path;
  $('system-picture').alt = `The system ${name}, drawn`;
  $('system-name').textContent = name;
  $('system').hidden = false;
});

// ---- The runs ----

const ticked = new Set();

function time(ns) {
  for (const [unit, of] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]])
    if (ns >= of) return `${(ns / of).toFixed(3)} ${unit}`;
  return `${ns.toFixed(3)} ns`;
}

const seconds = s => s < 90 ? `${Math.round(s)} s` :
    s < 5400 ? `${Math.round(s / 60)} min` :
               `${(s / 3600).toFixed(1)} h`;

/** The settings of a run's request besides work and topology. */
function settings({params = {}, options, set, scale, energy, over = [], metrics = []}) {
  return [
    ...over.map(o => `over ${o}`), ...metrics.map(m => `column ${m}`), ...(energy ? [`energy ${energy}`] : []),
    ...Object.entries(params).map(([k, v]) => `${k}=${v}`),
    ...Object.entries(options).filter(([, v]) => v !== true).map(([k, v]) => `${k} ${[v].flat().join(' ')}`), ...set,
    ...scale
  ].join(', ');
}

const workOf = ({kernel, program, model}) => kernel || program || model;

function stateOf(run) {
  const cell = make('td');
  if (run.state === 'running') {
    const bar = make('progress', '', {max: 1});
    if (run.left_s !== null) bar.value = run.elapsed_s / Math.max(run.elapsed_s + run.left_s, 1e-9);
    const left = run.left_s === null ? '' : `, about ${seconds(run.left_s)} to go`;
    cell.append(
        bar, make('div', `running for ${seconds(run.elapsed_s)}${left}`),
        make('div', run.progress, {className: 'detail'}));
  } else {
    cell.append(make('span', run.state, {className: run.state.split(' ')[0]}));
    if (run.said) cell.append(make('div', run.said[0], {className: 'detail', title: run.said.join('\n')}));
  }
  return cell;
}

function button(text, action) {
  const b = make('button', text, {type: 'button'});
  b.addEventListener('click', telling(action));
  return b;
}

function tick(run) {
  const box =
      make('input', '', {type: 'checkbox', checked: ticked.has(run.name), disabled: !(run.end && run.end.sim_ns)});
  box.setAttribute('aria-label', `compare ${run.name}`);
  box.addEventListener('change', () => {
    if (box.checked)
      ticked.add(run.name);
    else
      ticked.delete(run.name);
    showCompare();
  });
  return box;
}

const showCompare = () => {
  $('compare').disabled = ticked.size !== 2;
};

function row(run) {
  const line = make('tr'), end = run.end || {}, first = make('td'), last = make('td');
  line.dataset.run = run.name;
  first.append(tick(run));
  if (run.state === 'running' || run.state === 'waiting') {
    last.append(button('Stop', async () => {
      await ask(`api/runs/${run.name}/stop`, {method: 'POST'});
      await refresh();
    }));
  } else if (end.sim_ns || (run.request.over && run.state === 'done')) {
    last.append(button('Report', () => view([run.name])));
  }
  line.append(
      first, make('td', run.name, {title: 'kernbench ' + run.command.join(' ')}), make('td', workOf(run.request)),
      make('td', run.request.topology), make('td', settings(run.request)), stateOf(run),
      make('td', end.sim_ns ? time(end.sim_ns) : '', {className: 'number'}), make('td', (end.verdict || [])[0] || ''),
      last);
  return line;
}

let runs = [], timer = 0, shown = '';

async function refresh() {
  clearTimeout(timer);
  runs = await ask('api/runs');
  const now = JSON.stringify(runs);
  if (now !== shown) {  // a rebuilt table loses its focus
    for (const name of [...ticked])
      if (!runs.some(r => r.name === name)) ticked.delete(name);
    $('runs').tBodies[0].replaceChildren(...runs.map(row));
    $('no-runs').hidden = runs.length > 0;
    showCompare();
    shown = now;
  }
  const busy = runs.some(r => r.state === 'running' || r.state === 'waiting');
  timer = setTimeout(telling(refresh), busy ? 500 : 5000);
}

// ---- One report, or two side by side ----

function table(caption, head, rows) {
  const t = make('table'), top = make('tr');
  t.append(make('caption', caption), make('thead'), make('tbody'));
  head.forEach((h, i) => top.append(make('th', h, {className: i ? 'number' : ''})));
  t.tHead.append(top);
  for (const cells of rows) {
    const line = make('tr');
    cells.forEach((c, i) => line.append(make('td', c, {className: i ? 'number' : ''})));
    t.tBodies[0].append(line);
  }
  return t;
}

/** The requested settings by key; others are absent. */
function asked(request) {
  const {topology, params = {}, options, set, scale, energy = ''} = request;
  return new Map([
    ['work', workOf(request)], ['system', topology], ...Object.entries(params), ...Object.entries(options),
    ['set', set], ['scale', scale], ['energy', energy]
  ].map(([k, v]) => [k, [v].flat().join(', ')]));
}

function settingsThatDiffer(a, b) {
  const [one, other] = [a, b].map(name => asked(runs.find(r => r.name === name).request));
  return [...new Set([...one.keys(), ...other.keys()])]
      .map(k => [k, one.get(k) || '', other.get(k) || ''])
      .filter(([, x, y]) => x !== y);
}

const moves = changes =>
    changes.map(c => [c.name, time(c.a_ns), time(c.b_ns), (c.by_ns < 0 ? '−' : '+') + time(Math.abs(c.by_ns))]);

async function showDifference(a, b) {
  const d = await ask(`api/diff?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`),
        more = 100 * (d.b_ns / d.a_ns - 1);
  const says = Math.abs(more) < 0.005 ?
      'Both take the same time.' :
      `${b} takes ${Math.abs(more).toFixed(2)} % ${more > 0 ? 'longer' : 'less'} than ${a}.`;
  $('difference').append(make('p', says, {id: 'difference-says'}));
  const settings = settingsThatDiffer(a, b);
  if (settings.length) $('difference').append(table('Asked for', ['', a, b], settings));
  if (d.blame && d.blame.length)
    $('difference').append(table('Critical path by resource', ['', a, b, 'change'], moves(d.blame)));
}

async function view(names) {
  $('view').hidden = false;
  $('view-title').textContent = names.join(' and ');
  $('difference').replaceChildren();
  $('reports').replaceChildren(...names.map(name => {
    const figure = make('figure');
    figure.append(
        make('iframe', '', {src: `runs/${name}/report.html`, title: `Report of ${name}`}), make('figcaption', name));
    return figure;
  }));
  $('together-choice').hidden = names.length < 2;
  if (names.length === 2) await showDifference(...names);
  $('view').scrollIntoView();
}

/** The timelines of two reports show the same window. */
addEventListener('message', e => {
  const frames = [...document.querySelectorAll('#reports iframe')].map(f => f.contentWindow);
  if (!$('together').checked || !frames.includes(e.source) || !e.data || e.data.about !== 'timeline') return;
  for (const other of frames.filter(f => f !== e.source)) other.postMessage(e.data, '*');
});

$('work').addEventListener('change', showWork);
$('new').addEventListener('submit', start);
$('show-system').addEventListener('click', showSystem);
$('compare').addEventListener('click', telling(() => view([...ticked].sort())));
telling(async () => {
  system = await ask('api/system');
  fillForm();
  await refresh();
  document.documentElement.dataset.ready = '1';
})();
