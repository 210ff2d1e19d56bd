// The first words of the page. They are written by the program that made the report, from its numbers.
function drawVerdict(run) {
  const { headline, tone, points, next } = run.verdict;
  const signs = { good: '✓', fair: '!', poor: '✕', info: '' };
  const told = { good: 'good', fair: 'with reservations', poor: 'poor' };
  $('verdict').className = `verdict ${tone}`;
  $('verdict').replaceChildren(
    make('p', { class: 'headline' }, make('span', { class: `sign ${tone}`, role: 'img', 'aria-label': told[tone] || 'note' }, signs[tone]), headline),
    make('dl', { class: 'points' }, ...points.map((point) => make('div', { class: point.tone },
      make('dt', {}, point.title), make('dd', {}, ...sentences(point))))),
    make('p', { class: 'next-title' }, 'What to try next'),
    make('ul', { class: 'next' }, ...next.map((text) => make('li', {}, ...explained(text)))));
}

// Several sentences about several clusters stand one below the other.
const sentences = (point) => (point.items && point.items.length > 1
  ? [make('ul', {}, ...point.items.map((item) => make('li', {}, ...explained(item))))] : explained(point.text));

function drawScores(run) {
  const pairs = [['method', run.name], ['clusters', run.clusters.filter((name) => name !== 'not assigned').length]];
  const leftOut = run.clusters.indexOf('not assigned');
  if (leftOut >= 0) pairs.push(['in no cluster', `${run.sizes[leftOut]} of ${run.of.length}`]);
  if (run.structure !== null) pairs.push(['structure', run.structure.toFixed(2)]);
  pairs.push(...Object.entries(run.scores).map(([key, value]) => [key, value === null ? null : value.toFixed(3)]));
  if (run.seconds !== null) pairs.push(['seconds', run.seconds < 10 ? run.seconds.toFixed(2) : run.seconds.toFixed(0)]);
  $('scores').replaceChildren(...pairs.map(([key, value]) => make('div', {}, make('dt', {}, ...explained(key)), make('dd', {}, value === null ? '–' : String(value)))));
}
