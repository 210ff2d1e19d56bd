// Puts the page together and reacts to the method, the theme and the size of the window.
function definitions(pairs) {
  return pairs.map(([key, value]) => make('div', {}, make('dt', {}, key), make('dd', {}, typeof value === 'number' ? number(value) : value === null ? 'none' : String(Array.isArray(value) ? value.join(', ') : value))));
}

function drawSummary() {
  document.title = data.title;
  $('title').textContent = data.title;
  $('subtitle').textContent = data.subtitle;
  $('subtitle').hidden = !data.subtitle;
  // Of a single run the cards below the verdict say these already.
  const said = data.runs.length === 1 ? ['method', 'clusters'] : [];
  $('facts').replaceChildren(...definitions(data.facts.filter(([key]) => !said.includes(key))));
  $('notes').replaceChildren(...data.notes.map((note) => make('li', {}, ...whole(note))));
}

function drawFigures() {
  const parts = data.figures.map((figure) => make('figure', {}, make('h3', {}, figure.title),
    make('img', { src: figure.image, alt: figure.description, loading: 'lazy' }), make('figcaption', {}, figure.description)));
  $('figures').replaceChildren(...(parts.length ? [make('h2', {}, 'Figures'), ...parts] : []));
  $('figures').hidden = !parts.length;
}

function prepare(run) {
  run.of = u16(run.labels);
  run.following = u16(run.following);
  run.order = u32(run.order);
  run.sure = bytes(run.certainty);
  run.points.coordinates = u16(run.points.values);
  run.points.towns = u16(run.points.map);
  run.points.of = run.points.samples ? u32(run.points.samples) : null;
}

// What made this page, and how to make it again.
function drawFooter(run) {
  const { version, created, command } = data.made;
  $('made').textContent = `Made by masked-subspace ${version} on ${created}.`;
  const texts = [['Command', command], ['Python', run ? run.call : '']].filter(([, text]) => text);
  $('paste').replaceChildren(...texts.flatMap(([name, text]) => {
    const area = make('textarea', { readonly: '', rows: Math.min(12, text.split('\n').length), 'aria-label': `${name}, to copy`, spellcheck: 'false' });
    area.value = text;
    area.addEventListener('focus', () => area.select());
    return [make('p', { class: 'hint' }, `${name}, to paste:`), area];
  }));
  fitPaste();
}

// A narrow window wraps a long line: the boxes grow with it.
function fitPaste() {
  document.querySelectorAll('#paste textarea').forEach((area) => {
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
  });
}
drawers.push(fitPaste);

let shown = null;
async function showRun(index) {
  shown = data.runs[index];
  for (const id of ['verdict', 'affinity', 'embedding', 'clusters', 'certain', 'how', 'glossary']) $(id).hidden = false;
  drawScores(shown);
  drawVerdict(shown);
  drawPanels(shown);
  drawConvergence(shown);
  drawSizes(shown);
  drawProfiles(shown);
  drawSubspaces(shown);
  drawConfusion(shown);
  drawGallery(shown);
  $('how').hidden = !shown.parameters.length;
  $('parameters').replaceChildren(make('dl', { class: 'facts' }, ...definitions(shown.parameters)));
  drawGlossary();
  drawFooter(shown);
  $('certain-text').textContent = `Certainty: ${meaning('certainty')}`;
  mapTools.use(shown);
  sampleTable.use(shown);
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

// On paper nothing can be opened, and dark grounds waste ink.
let themeBefore = null;
function toPaper() {
  document.querySelectorAll('details.read').forEach((one) => { one.open = true; });
  themeBefore = document.documentElement.dataset.theme || '';
  document.documentElement.dataset.theme = 'light';
  redraw();
}
function fromPaper() {
  if (themeBefore) document.documentElement.dataset.theme = themeBefore;
  else delete document.documentElement.dataset.theme;
  redraw();
}

async function start() {
  drawSummary();
  drawTables();
  drawFigures();
  $('theme').addEventListener('click', switchTheme);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  // Only the width matters; what is drawn changes the height, and would call for itself without end.
  let width = $('main').clientWidth;
  new ResizeObserver(() => {
    if ($('main').clientWidth === width) return;
    width = $('main').clientWidth;
    requestAnimationFrame(redraw);
  }).observe($('main'));
  if (data.runs.length) {
    data.runs.forEach(prepare);
    await loadSprites();
    $('run').replaceChildren(...data.runs.map((run, k) => make('option', { value: k }, run.name)));
    $('run-choice').hidden = data.runs.length < 2;
    $('run').value = data.runs.length - 1;
    $('run').addEventListener('change', () => showRun(Number($('run').value)).then(drawNavigation));
    await showRun(data.runs.length - 1);
  }
  if (!data.runs.length) drawFooter(null);
  drawNavigation();
  window.addEventListener('beforeprint', toPaper);
  window.addEventListener('afterprint', fromPaper);
  document.documentElement.dataset.ready = 'true';
}
start();
