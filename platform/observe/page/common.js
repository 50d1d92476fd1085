'use strict';
// Functions that pages share: a run's report (report.js) and a sweep's page (../../sweep/page/sweep.js).
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
  /// Rows sorted by column `table.sort`, descending if `table.down`; rows without a value come last. -1: unsorted.
  function sorted(rows, columns, table) {
    if (table.sort < 0) return rows;
    const of = columns[table.sort].of, sign = table.down ? -1 : 1;
    return rows.slice().sort((a, b) => {
      const x = of(a), y = of(b);
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
  }
  /// A table's head. Its titles are buttons that sort it and then call `redraw`.
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
