// Curves over rounds and iterations as SVG.
function curve(title, values, unit) {
  const [width, height, left, bottom, top] = [320, 150, 56, 22, 8];
  const finite = values.filter((v) => v !== null);
  let [low, high] = [Math.min(...finite), Math.max(...finite)];
  const logarithmic = low > 0 && high / low > 50;
  const scale = logarithmic ? Math.log10 : (v) => v;
  if (high === low) [low, high] = [low - Math.abs(low || 1) * 0.1, high + Math.abs(high || 1) * 0.1];
  const x = (i) => left + (values.length < 2 ? 0.5 : i / (values.length - 1)) * (width - left - 10);
  const y = (v) => height - bottom - (scale(v) - scale(low)) / (scale(high) - scale(low)) * (height - bottom - top);
  const path = values.map((v, i) => (v === null ? '' : `${i && values[i - 1] !== null ? 'L' : 'M'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`)).join('');
  const summary = `${title}: from ${number(values[0])} to ${number(values[values.length - 1])} over ${values.length} ${unit}`;
  const svg = make('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': summary },
    make('line', { class: 'axis', x1: left, y1: height - bottom, x2: width - 8, y2: height - bottom }),
    make('line', { class: 'axis', x1: left, y1: top, x2: left, y2: height - bottom }),
    make('text', { x: left - 6, y: top + 8, 'text-anchor': 'end' }, apart(high, low)),
    make('text', { x: left - 6, y: height - bottom, 'text-anchor': 'end' }, apart(low, high)),
    make('text', { x: left, y: height - 6 }, '1'),
    make('text', { x: width - 8, y: height - 6, 'text-anchor': 'end' }, `${values.length} ${unit}`),
    make('path', { class: 'curve', d: path }));
  if (values.length <= 30) values.forEach((v, i) => v !== null && svg.append(make('circle', { class: 'dot', cx: x(i), cy: y(v), r: 2.6 })));
  return make('figure', {}, make('figcaption', {}, title + (logarithmic ? ' (log scale)' : '')), svg);
}

// A number with enough digits to be told from another.
function apart(value, other) {
  if (number(value) !== number(other)) return number(value);
  const digits = 2 - Math.floor(Math.log10(Math.abs(value - other)));
  return digits < 8 ? value.toFixed(Math.max(0, digits)) : value.toExponential(3);
}

const told = ['objective', 'mask_change', 'member_agreement', 'sparsity', 'n_iter', 'seconds'];

// What only iterations have; a graph in closed form stores zeros there.
const iterated = ['objective', 'n_iter', 'converged', 'stopping_value', 'mask_residual', 'sparsity_residual', 'sparsity'];

function drawConvergence(run) {
  const history = run.history;
  const keys = [...new Set(history.flatMap((record) => Object.keys(record)))];
  const words = (key) => key.replaceAll('_', ' ');
  const figures = [];
  const last = history[history.length - 1] || {};
  for (const key of keys) {
    const values = history.map((record) => record[key]);
    if (key.endsWith('_trace') && Array.isArray(last[key]) && last[key].length > 1) {
      const name = words(key.replace(/_trace$/, ''));
      // The penalty grows from one iteration to the next, so this curve mixes two changes and may rise: say so in its name.
      figures.push(curve(`${name} under a growing penalty, last round`, last[key], 'iterations'));
    } else if (told.includes(key) && values.length > 2 && values.every((v) => typeof v === 'number') && new Set(values).size > 1) {
      figures.push(curve(words(key), values, 'rounds'));
    }
  }
  $('curves').replaceChildren(...figures);
  // Links by distance and low rank have closed forms: their records say one step and an objective of 0.
  const direct = last.n_iter === 1 && last.objective === 0;
  const flat = (value) => value === null || value === undefined || typeof value !== 'object';
  const columns = keys.filter((key) => key !== 'round' && !(direct && iterated.includes(key)) && history.every((record) => flat(record[key])) && history.some((record) => record[key] !== null));
  const rows = history.map((record, k) => [k + 1, ...columns.map((key) => (record[key] === undefined ? null : record[key]))]);
  const ended = direct ? 'The graph was computed directly, without iterations.' : last.converged === true ? `The last round met its tolerance after ${last.n_iter} iterations.` : last.converged === false ? 'The last round stopped before its tolerance was met: raise max_iter.' : '';
  const rises = !direct && keys.some((key) => key === 'objective_trace') ? ' The objective may rise on the way and is not a sign of failure: the penalty grows at every iteration (a continuation), so each value belongs to another problem.' : '';
  $('convergence-text').textContent = ended + rises;
  const parts = [];
  if (rows.length) parts.push(sortableTable({ title: '', columns: ['round', ...columns.map(words)], rows, decimals: [], notes: [] }, 'Each round'));
  parts.push(...choices(last, words));
  $('history').replaceChildren(...parts);
  $('convergence').hidden = !history.length;
}

// What was chosen without labels: scores by name (a dictionary) and settings of members (a list of dictionaries).
function choices(record, words) {
  return Object.entries(record).flatMap(([key, value]) => {
    if (Array.isArray(value) && value.length && value.every((one) => one && typeof one === 'object' && !Array.isArray(one))) {
      const columns = [...new Set(value.flatMap(Object.keys))];
      const rows = value.map((one, k) => [k + 1, ...columns.map((name) => (one[name] === undefined ? null : one[name]))]);
      return [make('h3', {}, `${words(key)[0].toUpperCase()}${words(key).slice(1)} of the last round`), sortableTable({ title: '', columns: ['number', ...columns.map(words)], rows, decimals: [], notes: [] }, words(key))];
    }
    if (value && typeof value === 'object' && !Array.isArray(value)) {
      const rows = Object.entries(value).map(([name, score]) => [name, score]);
      return [make('h3', {}, words(key)[0].toUpperCase() + words(key).slice(1)), sortableTable({ title: '', columns: ['choice', 'score'], rows, decimals: [], notes: [] }, words(key))];
    }
    return [];
  });
}
