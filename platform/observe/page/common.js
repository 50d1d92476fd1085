'use strict';
// What pages share: of a run's report (report.js) and of a sweep's (../../sweep/page/sweep.js).
const Page = (() => {
  const $ = id => document.getElementById(id);
  const number = (v, digits = 1) =>
      v.toLocaleString('en', {minimumFractionDigits: digits, maximumFractionDigits: digits});
  function element(name, attributes = {}, ...children) {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes)) {
      if (k.startsWith('on'))
        e.addEventListener(k.slice(2), v);
      else if (v !== null && v !== false)
        e.setAttribute(k, v === true ? '' : v);
    }
    e.append(...children);
    return e;
  }
  function svg(name, attributes = {}, ...children) {
    const e = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children);
    return e;
  }
  /// Rows in the order of `table.sort`, the index of a column, `table.down` or up, those without a value last; as they
  /// are where it is -1.
  function sorted(rows, columns, table) {
    if (table.sort < 0) return rows;
    const of = columns[table.sort].of, sign = table.down ? -1 : 1;
    return rows.slice().sort((a, b) => {
      const x = of(a), y = of(b);
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
  }
  /// A table's head, whose titles are buttons that sort it; `redraw` is called then.
  function sortableHead(columns, table, redraw) {
    return element(
        'tr', {},
        ...columns.map(
            (c, i) => element(
                'th', {
                  scope: 'col',
                  class: c.isNumber ? 'n' : null,
                  'aria-sort': table.sort === i ? (table.down ? 'descending' : 'ascending') : 'none'
                },
                element(
                    'button', {
                      type: 'button',
                      onclick: () => {
                        table.down = table.sort === i ? !table.down : c.isNumber;
                        table.sort = i;
                        redraw();
                      }
                    },
                    c.title))));
  }
  return {$, number, element, svg, sorted, sortableHead};
})();
