// How a person moves over the matrix: pointer, wheel, keys, buttons, and the slider of rounds.
const matrixView = (() => {
  const canvas = $('matrix');
  let run = null;
  let roundAt = 0;
  let view = { x: 0, y: 0, span: 1 };
  let cursor = null;
  let timer = null;
  const n = () => run.order.length;
  const smallest = () => Math.min(n(), 8);

  function clamp() {
    view.span = Math.min(n(), Math.max(smallest(), view.span));
    view.x = Math.min(n() - view.span, Math.max(0, view.x));
    view.y = Math.min(n() - view.span, Math.max(0, view.y));
  }

  function draw() {
    if (!run) return;
    const { pen, width } = fitted(canvas);
    const round = run.rounds[roundAt].decoded;
    if (!round) return;
    paintMatrix(pen, width, round, n(), view);
    paintBorders(pen, width, run, view);
    if (cursor) {
      const scale = width / view.span;
      pen.strokeStyle = css('--bad');
      pen.lineWidth = 2;
      pen.strokeRect((cursor.column - view.x) * scale - 1, (cursor.row - view.y) * scale - 1, Math.max(4, scale) + 2, Math.max(4, scale) + 2);
    }
    const zoomed = view.span < n() - 1e-9;
    canvas.classList.toggle('zoomed', zoomed);
    $('zoom-state').textContent = zoomed ? `${(n() / view.span).toFixed(1)}×, ${Math.round(view.span)} of ${n()} samples` : `all ${n()} samples`;
    drawScale();
  }

  function drawScale() {
    const { pen, width, height } = fitted($('scale'));
    const table = shades();
    for (let x = 0; x < width; x++) {
      const v = 3 * Math.round(255 * Math.sqrt(x / width));
      pen.fillStyle = `rgb(${table[v]},${table[v + 1]},${table[v + 2]})`;
      pen.fillRect(x, 0, 1.5, height);
    }
    $('scale-top').textContent = `≥ ${number(run.rounds[roundAt].scale)}`;
  }

  function zoom(factor, atX = 0.5, atY = 0.5) {
    const span = Math.min(n(), Math.max(smallest(), view.span * factor));
    view.x += (view.span - span) * atX;
    view.y += (view.span - span) * atY;
    view.span = span;
    clamp();
    draw();
  }

  function show(row, column, width) {
    const round = run.rounds[roundAt].decoded;
    let strength = null;
    const reach = n() / round.b;
    if (view.span / width > 1 || reach > 1) {
      const near = Math.max(1, Math.round(view.span / width * 4));
      const found = strongestIn(round, Math.max(0, column - near), column + near + 1, Math.max(0, row - near), row + near + 1);
      if (found) ({ row, column, strength } = found);
    } else strength = round.bins[row * round.b + column];
    cursor = { row, column };
    const [a, b] = [run.order[row], run.order[column]];
    for (const [sample, side] of [[a, 'a'], [b, 'b']]) {
      drawSample($(`pair-${side}`), sample);
      $(`pair-${side}-text`).textContent = describe(sample, run);
    }
    const top = run.rounds[roundAt].scale;
    const value = strength ? `${strength === 255 ? 'at least ' : 'about '}${number(top * (strength / 255) ** 2)}` : 'none';
    $('pair-text').textContent = a === b ? 'A sample is not linked to itself.' : `Affinity: ${value}.`;
    draw();
  }

  function at(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    const inside = (v) => Math.max(0, Math.min(n() - 1, Math.floor(v)));
    return { x, y, column: inside(view.x + x * view.span), row: inside(view.y + y * view.span), width: box.width };
  }

  const pointers = new Map();
  canvas.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!run) return;
    const before = pointers.get(event.pointerId);
    if (!before) {
      const place = at(event);
      show(place.row, place.column, place.width);
      return;
    }
    const width = canvas.getBoundingClientRect().width;
    const others = [...pointers.values()].filter((other) => other.pointerId !== event.pointerId);
    if (others.length) {
      const far = (p) => Math.hypot(p.clientX - others[0].clientX, p.clientY - others[0].clientY);
      if (far(event) > 0) zoom(far(before) / far(event), at(event).x, at(event).y);
    } else {
      view.x -= (event.clientX - before.clientX) / width * view.span;
      view.y -= (event.clientY - before.clientY) / width * view.span;
      clamp();
      draw();
    }
    pointers.set(event.pointerId, event);
  });
  for (const kind of ['pointerup', 'pointercancel']) {
    canvas.addEventListener(kind, (event) => {
      const before = pointers.get(event.pointerId);
      pointers.delete(event.pointerId);
      if (before && run && event.pointerType === 'touch' && kind === 'pointerup') {
        const place = at(event);
        show(place.row, place.column, place.width);
      }
    });
  }
  canvas.addEventListener('dblclick', (event) => {
    const place = at(event);
    zoom(event.shiftKey ? 2 : 0.5, place.x, place.y);
  });
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
    event.preventDefault();
    const place = at(event);
    zoom(Math.exp(event.deltaY / 400), place.x, place.y);
  }, { passive: false });

  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  canvas.addEventListener('keydown', (event) => {
    const width = canvas.getBoundingClientRect().width;
    if (event.key === '+' || event.key === '=') zoom(0.5);
    else if (event.key === '-') zoom(2);
    else if (event.key === '0' || event.key === 'Escape') showAll();
    else if (steps[event.key]) {
      const stride = Math.max(1, Math.round(view.span / width * 5)) * (event.shiftKey ? 10 : 1);
      const from = cursor || { row: Math.floor(view.y + view.span / 2), column: Math.floor(view.x + view.span / 2) };
      const move = (value, by) => Math.max(0, Math.min(n() - 1, value + by * stride));
      const to = { row: move(from.row, steps[event.key][0]), column: move(from.column, steps[event.key][1]) };
      view.x = Math.min(to.column, Math.max(view.x, to.column + 1 - view.span));
      view.y = Math.min(to.row, Math.max(view.y, to.row + 1 - view.span));
      clamp();
      show(to.row, to.column, width);
    } else return;
    event.preventDefault();
  });
  $('zoom-in').addEventListener('click', () => zoom(0.5));
  $('zoom-out').addEventListener('click', () => zoom(2));
  $('zoom-all').addEventListener('click', showAll);

  function showAll() {
    view = { x: 0, y: 0, span: n() };
    draw();
  }

  async function toRound(index) {
    roundAt = index;
    const round = run.rounds[index];
    await decodeRound(round);
    $('round').value = index;
    $('round-title').textContent = `${round.title.replace(/^round /, '')} of ${run.rounds.length}`;
    $('round').setAttribute('aria-valuetext', round.title);
    const left = round.left_out ? ` The ${round.left_out} weakest links are in the picture but not in the zoomed view.` : '';
    $('matrix-note').textContent = `${run.n_links} links join ${n()} samples in the end.${left}`;
    $('round-facts').textContent = roundFacts(run, round.title);
    draw();
  }
  $('round').addEventListener('input', () => { stop(); toRound(Number($('round').value)); });
  $('play').addEventListener('click', () => {
    if (timer) { stop(); return; }
    $('play').textContent = '❚❚';
    timer = setInterval(() => toRound((roundAt + 1) % run.rounds.length), 900);
  });
  function stop() {
    clearInterval(timer);
    timer = null;
    $('play').textContent = '▶';
  }

  drawers.push(draw);
  return {
    async use(next) {
      stop();
      run = next;
      cursor = null;
      view = { x: 0, y: 0, span: n() };
      for (const side of ['a', 'b']) {
        $(`pair-${side}`).hidden = true;
        $(`pair-${side}-text`).textContent = '';
      }
      $('pair-text').textContent = 'Point at a cell to see its two samples.';
      $('rounds').hidden = run.rounds.length < 2;
      $('round').max = run.rounds.length - 1;
      await toRound(run.rounds.length - 1);
    },
  };
})();

function roundFacts(run, title) {
  const record = run.history[Number(title.replace(/\D+/g, '')) - 1];
  if (!record) return '';
  const shown = Object.entries(record).filter(([key, value]) => told.includes(key) && typeof value === 'number');
  return shown.map(([key, value]) => `${key.replaceAll('_', ' ')} ${number(value)}`).join(' · ');
}
