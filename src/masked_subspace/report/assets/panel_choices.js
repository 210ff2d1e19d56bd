// What was chosen without labels: the number of clusters, the view, the cut.
addPanel({
  id: 'choosing',
  nav: 'Choices',
  title: 'What was chosen without labels',
  read: 'Every candidate was scored on the samples alone; the highest score was taken. A clear peak is a safe choice. Scores that lie close together mean that the data do not decide, and the next best deserves a look. Of a number of clusters, agreement says how far different looks at the data find the same clusters, information how much these say, separation (where clusters are clouds) how far they stand apart; the score weighs them. Of a way, agreement and strength (the mean of both strengths where there are two) make the score; a low-rank way is taken by the gap of its graph. A dash: not computed, because the way could not lead.',
  draw: drawChoices,
});

function drawChoices(run) {
  const numbers = run.n_clusters_scores;
  const parts = [];
  if (numbers.length) {
    const taken = run.clusters.filter((name) => name !== 'not assigned').length;
    parts.push(make('h3', {}, 'Number of clusters'), make('div', { class: 'charts' }, ...scoreCurves(numbers, taken)),
      recordTable(numbers, 'Scores of each number of clusters'));
  }
  if (run.choices.length) parts.push(make('h3', {}, 'Ways that were judged'), recordTable(run.choices, 'Ways that were judged'));
  return parts;
}

function recordTable(records, caption) {
  const columns = [...new Set(records.flatMap(Object.keys))];
  const cell = (value) => (value === true ? 'taken' : value === false ? '' : value === undefined ? null : Array.isArray(value) ? value.map((one) => number(one)).join(', ') : value !== null && typeof value === 'object' ? JSON.stringify(value) : value);
  const rows = records.map((record) => columns.map((key) => cell(record[key])));
  return sortableTable({ columns: columns.map((key) => key.replaceAll('_', ' ')), rows, decimals: [], notes: [] }, caption);
}

// One small picture a score, the number that was taken marked by a line and by words.
function scoreCurves(records, taken) {
  const sorted = [...records].sort((a, b) => a.n_clusters - b.n_clusters);
  const keys = [...new Set(sorted.flatMap(Object.keys))].filter((key) => key !== 'n_clusters' && sorted.filter((one) => typeof one[key] === 'number').length > 1);
  return keys.map((key) => {
    const [width, height, left, bottom, top] = [320, 160, 56, 34, 12];
    const points = sorted.filter((one) => typeof one[key] === 'number').map((one) => [one.n_clusters, one[key]]);
    const [x0, x1] = [points[0][0], points[points.length - 1][0]];
    const [low, high] = [Math.min(...points.map((p) => p[1])), Math.max(...points.map((p) => p[1]))];
    const x = (k) => left + 6 + (k - x0) / Math.max(1, x1 - x0) * (width - left - 20);
    const y = (v) => height - bottom - 4 - (v - low) / Math.max(1e-12, high - low) * (height - bottom - top - 4);
    const svg = make('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${key} over the number of clusters from ${x0} to ${x1}; ${taken} was taken` },
      make('line', { class: 'axis', x1: left, y1: height - bottom, x2: width - 8, y2: height - bottom }),
      make('line', { class: 'axis', x1: left, y1: top, x2: left, y2: height - bottom }),
      make('line', { class: 'taken', x1: x(taken), y1: top, x2: x(taken), y2: height - bottom }),
      make('text', { x: left - 6, y: y(high) + 4, 'text-anchor': 'end' }, apart(high, low)),
      make('text', { x: left - 6, y: y(low) + 4, 'text-anchor': 'end' }, high === low ? '' : apart(low, high)),
      make('text', { x: x(x0), y: height - bottom + 15 }, String(x0)),
      make('text', { x: x(x1), y: height - bottom + 15, 'text-anchor': 'end' }, String(x1)),
      make('text', { class: 'strong', x: Math.min(width - 40, Math.max(left + 30, x(taken))), y: height - 4, 'text-anchor': 'middle' }, `${taken} taken`),
      make('path', { class: 'curve', d: points.map(([k, v], i) => `${i ? 'L' : 'M'}${x(k).toFixed(1)} ${y(v).toFixed(1)}`).join('') }));
    points.forEach(([k, v]) => svg.append(make('circle', { class: 'dot', cx: x(k), cy: y(v), r: k === taken ? 4.5 : 2.4 }, make('title', {}, `${k}: ${number(v)}`))));
    return make('figure', {}, make('figcaption', {}, ...explained(key.replaceAll('_', ' '))), svg);
  });
}
