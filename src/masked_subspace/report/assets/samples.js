// Samples one by one: strips of the most and least certain, and a table of all that can be searched and sorted.
function strip(samples, run) {
  return make('ul', { class: 'strip' }, ...Array.from(samples, (sample) => {
    const text = described(sample, run);
    const canvas = make('canvas', { role: 'img', 'aria-label': text, title: text });
    if (drawSample(canvas, sample)) return make('li', {}, canvas, sureText(run, sample));
    return make('li', {}, make('span', { class: 'name', title: text }, nameOf(sample)));
  }));
}

function drawGallery(run) {
  const heading = (kind, k) => {
    const ties = run.certain[`tied_${kind}`][k];
    const count = run.certain[kind][k].length;
    if (!count) return `${kind} certain: too few samples`;
    const value = sureText(run, run.certain[kind][k][0]);
    return ties > count ? `${kind} certain: ${count} of ${ties} tied at ${value}` : `${kind} certain`;
  };
  const groups = run.clusters.map((name, k) => {
    const sort = run.confusion && run.confusion.match[k] >= 0 ? `mostly ${majority(run, k)}` : `${run.sizes[k]} samples`;
    const who = make('div', { class: 'who' }, swatch(run.looks[k]), clusterName(run, k), make('small', { title: sort }, sort));
    if (name === 'not assigned') { // there is no cluster to be certain of
      const some = run.certain.most[k];
      return make('div', { class: 'group' }, who, make('div', {}, make('h4', {}, `${some.length} of ${run.sizes[k]} in no cluster`), strip(some, run)));
    }
    return make('div', { class: 'group' }, who,
      ...['most', 'least'].map((kind) => make('div', {}, make('h4', {}, heading(kind, k)), strip(run.certain[kind][k], run))));
  });
  $('gallery').replaceChildren(...groups);
}

function majority(run, k) {
  const counts = run.confusion.counts[k];
  const top = counts.indexOf(Math.max(...counts));
  return `${data.classes.names[top]} (${counts[top]} of ${run.sizes[k]})`;
}

const sampleTable = (() => {
  const page = 25;
  let run = null;
  let rows = [];
  let at = 0;
  const columns = () => [
    ['row', (s) => s], ['sample', nameOf], ['cluster', (s) => run.clusters[run.of[s]]],
    ['next', (s) => (run.following[s] !== run.of[s] ? run.clusters[run.following[s]] : null)], ['certainty', (s) => run.sure[s] / 255],
    ...(classOf ? [['class', (s) => data.classes.names[classOf[s]]]] : []),
  ];
  let sorted = ['certainty', true];

  function refresh() {
    const wanted = $('sample-search').value.trim().toLowerCase();
    const test = wanted ? matcher(wanted, run) : () => true;
    rows = [];
    for (let s = 0; s < run.of.length; s++) if (test(s)) rows.push(s);
    const [name, rising] = sorted;
    const value = columns().find(([key]) => key === name)[1];
    const keys = new Map(rows.map((s) => [s, value(s)]));
    rows.sort((a, b) => compare(keys.get(a), keys.get(b), rising) || a - b);
    at = 0;
    show();
  }
  function show() {
    const heads = columns().map(([name]) => {
      const order = sorted[0] === name ? (sorted[1] ? 'ascending' : 'descending') : 'none';
      const button = make('button', { type: 'button' }, name);
      button.addEventListener('click', () => {
        sorted = [name, sorted[0] === name ? !sorted[1] : true];
        refresh();
        $('samples').querySelectorAll('thead button')[columns().findIndex(([key]) => key === name)].focus();
      });
      return make('th', { scope: 'col', 'aria-sort': order, class: ['row', 'certainty'].includes(name) ? null : 'text' }, button);
    });
    const body = rows.slice(at, at + page).map((s) => {
      const button = make('button', { type: 'button', class: 'small', 'aria-label': `Show ${nameOf(s)} on the map` }, 'map');
      button.addEventListener('click', () => { mapView.find(s); $('embedding').scrollIntoView(); $('scatter').focus({ preventScroll: true }); });
      return make('tr', {}, ...columns().map(([name, value]) => {
        const cell = value(s);
        if (name === 'certainty') return make('td', {}, meter(cell), cell.toFixed(2));
        return make(name === 'sample' ? 'th' : 'td', { scope: name === 'sample' ? 'row' : null, class: name === 'row' ? null : 'text', title: ['sample', 'class'].includes(name) ? cell : null }, cell === null ? '–' : String(cell));
      }), make('td', {}, button));
    });
    $('samples').replaceChildren(scrolling('All samples', make('table', { 'aria-label': 'All samples' },
      make('thead', {}, make('tr', {}, ...heads, make('td', {}, ''))), make('tbody', {}, ...body))));
    $('sample-state').textContent = rows.length ? `${at + 1}–${Math.min(at + page, rows.length)} of ${rows.length}` : 'nobody found';
    $('sample-back').disabled = at === 0;
    $('sample-on').disabled = at + page >= rows.length;
  }
  function meter(value) {
    const bar = make('span', { class: 'meter', 'aria-hidden': 'true' }, make('i'));
    bar.firstChild.style.width = `${100 * value}%`;
    return bar;
  }
  $('sample-search').addEventListener('input', refresh);
  $('sample-back').addEventListener('click', () => { at -= page; show(); });
  $('sample-on').addEventListener('click', () => { at += page; show(); });
  return { use(next) { run = next; $('sample-search').value = ''; refresh(); } };
})();
