// The embedding as dots: any two principal axes, coloured by cluster, class or certainty.
const scatterView = (() => {
  const canvas = $('scatter');
  let run = null;
  let places = null;
  const margin = 30;

  function colours() {
    const kind = $('colour').value;
    const table = shades();
    if (kind === 'certainty') {
      return (sample) => {
        const v = 3 * Math.round(70 + run.sure[sample] * 0.72);
        return `rgb(${table[v]},${table[v + 1]},${table[v + 2]})`;
      };
    }
    return kind === 'class' ? (sample) => hue(classOf[sample]) : (sample) => run.colour(run.of[sample]);
  }

  function draw() {
    if (!run) return;
    const { pen, width, height } = fitted(canvas);
    pen.clearRect(0, 0, width, height);
    const points = run.points;
    const asMap = $('layout').value === 'map';
    const [values, axes] = asMap ? [points.towns, 2] : [points.coordinates, points.axes];
    const [ax, ay] = asMap ? [0, 1] : [Number($('axis-x').value), Number($('axis-y').value)];
    const count = values.length / axes;
    const colour = colours();
    const radius = Math.max(1.4, Math.min(4, 90 / Math.sqrt(count)));
    places = new Float32Array(2 * count);
    const piles = new Map();
    const reach = 0.9 * radius * Math.min(1, 20 / Math.sqrt(count / 10));
    pen.globalAlpha = count > 3000 ? 0.6 : 0.8;
    for (let i = 0; i < count; i++) {
      const sample = points.of ? points.of[i] : i;
      let x = margin + (values[i * axes + ax] / 65535) * (width - 2 * margin);
      let y = height - margin - (values[i * axes + ay] / 65535) * (height - 2 * margin);
      // Samples that lie on one spot are laid out as a disc around it, so that a pile shows how large it is.
      const spot = Math.round(x / 2) * 65536 + Math.round(y / 2);
      const before = piles.get(spot) || 0;
      piles.set(spot, before + 1);
      x += reach * Math.sqrt(before) * Math.cos(before * 2.39996);
      y += reach * Math.sqrt(before) * Math.sin(before * 2.39996);
      places[2 * i] = x;
      places[2 * i + 1] = y;
      pen.fillStyle = colour(sample);
      pen.beginPath();
      pen.arc(x, y, radius, 0, 6.3);
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  function nearest(event) {
    const box = canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let [best, distance] = [-1, 400];
    for (let i = 0; i < places.length / 2; i++) {
      const d = (places[2 * i] - px) ** 2 + (places[2 * i + 1] - py) ** 2;
      if (d < distance) [best, distance] = [i, d];
    }
    return best;
  }
  function point(event) {
    if (!run || !places) return;
    const found = nearest(event);
    if (found < 0) return;
    const sample = run.points.of ? run.points.of[found] : found;
    drawSample($('point'), sample);
    $('point-text').textContent = `${describe(sample, run)}, certainty ${(run.sure[sample] / 255).toFixed(2)}`;
  }
  canvas.addEventListener('pointermove', point);
  canvas.addEventListener('pointerdown', point);

  function legend() {
    const kind = $('colour').value;
    const names = kind === 'class' ? data.classes.names : run.clusters;
    const items = kind === 'certainty' ? [] : names.map((name, k) => {
      const item = make('li', {}, make('i'), name);
      item.firstChild.style.background = kind === 'class' ? hue(k) : run.colour(k);
      return item;
    });
    $('legend').replaceChildren(...items);
  }
  function explain() {
    const asMap = $('layout').value === 'map';
    $('axes').hidden = asMap;
    $('layout-text').textContent = asMap
      ? 'Near clusters stand near each other; a sample stands on the way to its next cluster as far as it is undecided.'
      : 'Two principal axes of the embedding, with their share of its variance.';
  }
  for (const id of ['colour', 'layout', 'axis-x', 'axis-y']) $(id).addEventListener('change', () => { explain(); legend(); draw(); });
  drawers.push(draw);

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
      $('point').hidden = true;
      $('point-text').textContent = 'Point at a dot to see its sample.';
      explain();
      legend();
      draw();
    },
  };
})();
