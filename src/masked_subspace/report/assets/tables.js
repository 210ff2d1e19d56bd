// Tables whose columns sort, and the confusion of clusters with known classes.
function sortableTable(table, caption) {
  const body = make('tbody');
  const isNumber = table.columns.map((_, c) => table.rows.every((row) => row[c] === null || typeof row[c] === 'number'));
  const fill = (rows) => body.replaceChildren(...rows.map((row) => make('tr', {}, ...row.map((cell, c) =>
    make(c === 0 ? 'th' : 'td', { scope: c === 0 ? 'row' : null, class: isNumber[c] ? null : 'text', title: isNumber[c] ? null : cell }, number(cell, table.decimals[c]))))));
  const heads = table.columns.map((title, c) => make('th', { scope: 'col', class: isNumber[c] ? null : 'text', 'aria-sort': 'none' },
    make('button', { type: 'button' }, title)));
  heads.forEach((head, c) => head.firstChild.addEventListener('click', () => {
    const rising = head.getAttribute('aria-sort') === 'none' ? !isNumber[c] : head.getAttribute('aria-sort') === 'descending';
    heads.forEach((other) => other.setAttribute('aria-sort', 'none'));
    head.setAttribute('aria-sort', rising ? 'ascending' : 'descending');
    fill([...table.rows].sort((a, b) => compare(a[c], b[c], rising)));
  }));
  fill(table.rows);
  const label = caption || table.title;
  return scrolling(label, make('table', { 'aria-label': label }, make('thead', {}, make('tr', {}, ...heads)), body));
}

// A box that scrolls sideways and says so as long as something is out of sight.
function scrolling(label, table) {
  const box = make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, table);
  const sign = make('span', { class: 'more', 'aria-hidden': 'true' });
  const frame = make('div', { class: 'frame' }, box, sign);
  const look = () => {
    const hidden = Math.round(box.scrollWidth - box.clientWidth - box.scrollLeft);
    frame.classList.toggle('right', hidden > 2);
    frame.classList.toggle('left', box.scrollLeft > 2);
    sign.textContent = hidden > 2 ? 'more columns →' : '';
  };
  box.addEventListener('scroll', look, { passive: true });
  new ResizeObserver(look).observe(box);
  return frame;
}

// Missing cells go last in either direction.
function compare(a, b, rising) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
  return rising ? order : -order;
}

function drawTables() {
  const parts = data.tables.flatMap((table) => [
    make('h2', {}, table.title), sortableTable(table),
    make('ul', { class: 'notes' }, ...table.notes.map((note) => make('li', {}, note))),
  ]);
  $('tables').replaceChildren(...parts);
  $('tables').hidden = !parts.length;
}

function drawConfusion(run) {
  const place = $('confusion');
  if (!run.confusion) {
    place.replaceChildren();
    return;
  }
  const { counts, match } = run.confusion;
  const classes = data.classes.names;
  const order = [...match.filter((c) => c >= 0), ...classes.map((_, c) => c).filter((c) => !match.includes(c))];
  const agreed = match.reduce((sum, c, k) => sum + (c >= 0 ? counts[k][c] : 0), 0);
  const hint = `Rows are clusters, columns known classes in the order of the best one-to-one matching, which explains ${agreed} of ${run.of.length} samples.`;
  const parts = [make('h3', {}, 'Confusion with the known classes'), make('p', { class: 'hint' }, hint)];
  parts.push(classes.length > 24 ? confusionPicture(counts, order, hint) : confusionTable(counts, match, order, run));
  place.replaceChildren(...parts);
}

function confusionTable(counts, match, order, run) {
  const top = Math.max(...counts.flat());
  const table = shades();
  const heads = order.map((c) => make('th', { scope: 'col', title: data.classes.names[c] }, data.classes.names[c]));
  const rows = counts.map((row, k) => make('tr', {}, make('th', { scope: 'row' }, clusterName(run, k)), ...order.map((c) => {
    const shade = Math.round(190 * Math.sqrt(row[c] / top));
    const cell = make('td', { class: match[k] === c ? 'match' : null }, row[c] ? String(row[c]) : '·');
    cell.style.background = `rgb(${table[3 * shade]},${table[3 * shade + 1]},${table[3 * shade + 2]})`;
    cell.style.color = row[c] ? (shade > 120 !== isDark() ? '#fff' : '#14171b') : 'var(--soft)';
    if (row[c] && isDark() && shade <= 120) cell.style.color = '#e6e8eb';
    return cell;
  })));
  return scrolling('Confusion', make('table', { class: 'confusion', 'aria-label': 'Clusters against known classes' },
    make('thead', {}, make('tr', {}, make('td', {}, ''), ...heads)), make('tbody', {}, ...rows)));
}

function confusionPicture(counts, order, hint) {
  const canvas = make('canvas', { width: order.length, height: counts.length, role: 'img', 'aria-label': hint });
  const image = new ImageData(order.length, counts.length);
  const top = Math.max(...counts.flat());
  const table = shades();
  counts.forEach((row, k) => order.forEach((c, x) => {
    const shade = 3 * Math.round(255 * Math.sqrt(row[c] / top));
    image.data.set([table[shade], table[shade + 1], table[shade + 2], 255], 4 * (k * order.length + x));
  }));
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}
