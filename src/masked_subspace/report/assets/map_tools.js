// Hands on the map: pointers, lasso, wheel, keys, buttons, and the choice of what is drawn.
const mapTools = (() => {
  const { canvas } = mapView;
  const pointers = new Map();
  let lasso = null;
  let run = null;

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  function drawLasso() {
    mapView.draw();
    requestAnimationFrame(() => {
      if (!lasso) return;
      const pen = canvas.getContext('2d');
      pen.strokeStyle = css('--accent');
      pen.lineWidth = 2;
      pen.setLineDash([5, 4]);
      pen.beginPath();
      lasso.forEach(([x, y]) => pen.lineTo(x, y));
      pen.closePath();
      pen.stroke();
      pen.setLineDash([]);
    });
  }

  canvas.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, event);
    canvas.setPointerCapture(event.pointerId);
    if (canvas.dataset.mode === 'lasso' || event.shiftKey) lasso = [at(event)];
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    if (lasso && before) {
      lasso.push(at(event));
      drawLasso();
    } else if (!before) mapView.focusMark(mapView.nearest(...at(event)));
    else {
      const other = [...pointers.values()].find((one) => one.pointerId !== event.pointerId);
      const far = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      if (other && far(before) > 0) mapView.zoom(far(event) / far(before), ...at(event));
      else if (!other) mapView.move(event.clientX - before.clientX, event.clientY - before.clientY);
      pointers.set(event.pointerId, event);
    }
  });
  canvas.addEventListener('pointerup', (event) => {
    pointers.delete(event.pointerId);
    if (!lasso) {
      mapView.focusMark(mapView.nearest(...at(event)));
      return;
    }
    const found = lasso.length > 2 ? mapView.inside(lasso) : [];
    lasso = null;
    selection.set(found, 'inside the line');
  });
  canvas.addEventListener('pointercancel', (event) => { pointers.delete(event.pointerId); lasso = null; });
  canvas.addEventListener('dblclick', (event) => mapView.zoom(event.shiftKey ? 0.5 : 2, ...at(event)));
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
    event.preventDefault();
    mapView.zoom(Math.exp(-event.deltaY / 400), ...at(event));
  }, { passive: false });
  const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  canvas.addEventListener('keydown', (event) => {
    if (event.key === '+' || event.key === '=') mapView.zoom(1.6);
    else if (event.key === '-') mapView.zoom(1 / 1.6);
    else if (event.key === '0' || event.key === 'Escape') mapView.all();
    else if (steps[event.key]) {
      mapView.move(...steps[event.key]);
      mapView.focusMark(mapView.nearest(canvas.clientWidth / 2, canvas.clientHeight / 2));
    } else return;
    event.preventDefault();
  });
  $('map-in').addEventListener('click', () => mapView.zoom(2));
  $('map-out').addEventListener('click', () => mapView.zoom(0.5));
  $('map-all').addEventListener('click', mapView.all);
  $('lasso').addEventListener('click', () => {
    canvas.dataset.mode = canvas.dataset.mode === 'lasso' ? 'move' : 'lasso';
    $('lasso').setAttribute('aria-pressed', String(canvas.dataset.mode === 'lasso'));
    mapView.draw();
  });
  for (const id of ['pictures', 'labels']) $(id).addEventListener('change', mapView.draw);

  function legend() {
    const kind = $('colour').value;
    const names = kind === 'class' ? data.classes.names : run.clusters;
    const items = kind === 'certainty' ? [] : names.map((name, k) => {
      const button = make('button', { type: 'button', 'aria-label': `Select ${kind} ${name}` }, swatch(kind === 'class' ? classLook(k) : run.looks[k]), name);
      button.addEventListener('click', () => selection.where(kind, k, name));
      return make('li', {}, button);
    });
    $('legend').replaceChildren(...items);
    $('legend').hidden = !items.length;
    const rounds = kind === 'certainty' ? 'Dark marks are certain in the light theme, bright ones in the dark theme.' : '';
    $('legend-text').textContent = rounds || `${kind === 'class' ? 'Known classes' : 'Clusters'}, by colour and shape; press one to select it:`;
  }
  function explain() {
    $('axes').hidden = $('layout').value === 'map';
    const graph = run.graph_kind === 'own' ? 'the graph' : 'the graph of nearest neighbors (this method has none of its own)';
    $('layout-text').textContent = $('layout').value === 'map'
      ? `Laid out by ${graph}: linked samples stand together, near clusters near each other.`
      : 'Two principal axes of the embedding, with their share of its variance.';
  }
  for (const id of ['layout', 'axis-x', 'axis-y']) $(id).addEventListener('change', () => { explain(); mapView.relayout(); });
  $('colour').addEventListener('change', () => { legend(); mapView.draw(); });

  return {
    use(next) {
      run = next;
      const axes = Array.from({ length: run.points.axes }, (_, k) => make('option', { value: k }, `axis ${k + 1} (${(100 * run.points.share[k]).toFixed(0)} %)`));
      $('axis-x').replaceChildren(...axes.map((option) => option.cloneNode(true)));
      $('axis-y').replaceChildren(...axes);
      $('axis-y').value = Math.min(1, run.points.axes - 1);
      const kinds = [['cluster', 'cluster'], ...(classOf ? [['class', 'known class']] : []), ['certainty', 'certainty']];
      const before = $('colour').value;
      $('colour').replaceChildren(...kinds.map(([value, text]) => make('option', { value }, text)));
      if (kinds.some(([value]) => value === before)) $('colour').value = before;
      $('pictures').parentElement.hidden = sheet === null;
      $('point').hidden = true;
      $('point-text').textContent = 'Point at a mark to see its sample.';
      explain();
      legend();
      selection.use(run);
      mapView.use(run);
    },
  };
})();
