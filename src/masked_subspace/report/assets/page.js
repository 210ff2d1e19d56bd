// Puts the page together and reacts to the method, the theme and the size of the window.
function definitions(pairs) {
  return pairs.map(([key, value]) => make('div', {}, make('dt', {}, key), make('dd', {}, typeof value === 'number' ? number(value) : value === null ? 'none' : String(Array.isArray(value) ? value.join(', ') : value))));
}

function drawSummary() {
  document.title = data.title;
  $('title').textContent = data.title;
  $('subtitle').textContent = data.subtitle;
  $('subtitle').hidden = !data.subtitle;
  $('facts').replaceChildren(...definitions(data.facts));
  $('notes').replaceChildren(...data.notes.map((note) => make('li', {}, note)));
}

function drawScores(run) {
  const pairs = Object.entries(run.scores).map(([key, value]) => [key, value === null ? null : value.toFixed(3)]);
  pairs.push(['clusters', run.clusters.length]);
  if (run.seconds !== null) pairs.push(['seconds', run.seconds < 10 ? run.seconds.toFixed(2) : run.seconds.toFixed(0)]);
  $('scores').replaceChildren(...definitions([['method', run.name], ...pairs]));
}

function drawFigures() {
  const parts = data.figures.map((figure) => make('figure', {}, make('h3', {}, figure.title),
    make('img', { src: figure.image, alt: figure.description, loading: 'lazy' }), make('figcaption', {}, figure.description)));
  $('figures').replaceChildren(...(parts.length ? [make('h2', {}, 'Figures'), ...parts] : []));
  $('figures').hidden = !parts.length;
}

function prepare(run) {
  run.of = u16(run.labels);
  // A cluster takes the colour of the class it is matched with, so that both views can be compared.
  const match = run.confusion ? run.confusion.match : run.clusters.map((_, k) => k);
  let spare = data.classes ? data.classes.names.length : 0;
  const colours = match.map((c) => hue(c >= 0 ? c : spare++));
  run.colour = (k) => colours[k];
  run.order = u32(run.order);
  run.sure = bytes(run.certainty);
  run.points.coordinates = u16(run.points.values);
  run.points.towns = u16(run.points.map);
  run.points.of = run.points.samples ? u32(run.points.samples) : null;
}

let shown = null;
async function showRun(index) {
  shown = data.runs[index];
  for (const id of ['affinity', 'embedding', 'clusters', 'certain', 'how']) $(id).hidden = false;
  drawScores(shown);
  drawConvergence(shown);
  drawSizes(shown);
  drawConfusion(shown);
  drawGallery(shown);
  $('parameters').replaceChildren(make('dl', { class: 'facts' }, ...definitions(shown.parameters)));
  scatterView.use(shown);
  await matrixView.use(shown);
}
drawers.push(() => shown && drawConfusion(shown));

function drawNavigation() {
  const links = [...document.querySelectorAll('section[data-nav]')].filter((section) => !section.hidden)
    .map((section) => make('a', { href: `#${section.id}` }, section.dataset.nav));
  $('nav').replaceChildren(...links);
}

function switchTheme() {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  $('theme').setAttribute('aria-pressed', String(isDark()));
  redraw();
}

async function start() {
  drawSummary();
  drawTables();
  drawFigures();
  $('theme').addEventListener('click', switchTheme);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  new ResizeObserver(() => requestAnimationFrame(redraw)).observe($('main'));
  if (data.runs.length) {
    data.runs.forEach(prepare);
    await loadSprites();
    $('run').replaceChildren(...data.runs.map((run, k) => make('option', { value: k }, run.name)));
    $('run-choice').hidden = data.runs.length < 2;
    $('run').value = data.runs.length - 1;
    $('run').addEventListener('change', () => showRun(Number($('run').value)).then(drawNavigation));
    await showRun(data.runs.length - 1);
  }
  drawNavigation();
  document.documentElement.dataset.ready = 'true';
}
start();
