// A panel is one file panel_….js that calls addPanel once. It gets a section before "Convergence" and a link to it; both
// stay away while `draw(run)` returns no nodes.
const panels = [];
function addPanel({ id, nav, title, read, draw }) {
  const body = make('div', { id: `${id}-body` });
  const section = make('section', { id, 'data-nav': nav, 'aria-labelledby': `h-${id}`, hidden: '' }, make('h2', { id: `h-${id}` }, title),
    make('details', { class: 'read' }, make('summary', {}, 'How to read this'), make('p', {}, read)), body);
  $('convergence').before(section);
  panels.push({ section, body, draw });
}

function drawPanels(run) {
  for (const { section, body, draw } of panels) {
    const parts = draw(run);
    body.replaceChildren(...parts);
    section.hidden = !parts.length;
  }
}
