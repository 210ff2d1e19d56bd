// The map: samples as marks, laid out by the graph or along two principal axes; a camera that zooms and pans.
const mapView = (() => {
  const canvas = $('scatter');
  const margin = 26;
  let run = null;
  let camera = { x: 0.5, y: 0.5, zoom: 1 };
  let frame = null; // how units become pixels at zoom 1
  let places = null;
  let focused = -1;
  let chosen = null; // selected samples, or null for everybody
  let waiting = false;

  const asMap = () => $('layout').value === 'map';
  const sampleAt = (i) => (run.points.of ? run.points.of[i] : i);

  // Unit coordinates of all marks, and the part of the unit square that they fill.
  function units() {
    const points = run.points;
    const [values, axes] = asMap() ? [points.towns, 2] : [points.coordinates, points.axes];
    const [ax, ay] = asMap() ? [0, 1] : [Number($('axis-x').value), Number($('axis-y').value)];
    const count = values.length / axes;
    const out = new Float32Array(2 * count);
    const low = [1, 1];
    const high = [0, 0];
    for (let i = 0; i < count; i++) {
      for (const [c, axis] of [[0, ax], [1, ay]]) {
        const value = values[i * axes + Math.min(axis, axes - 1)] / 65535;
        out[2 * i + c] = value;
        low[c] = Math.min(low[c], value);
        high[c] = Math.max(high[c], value);
      }
    }
    return { out, low, high };
  }

  function reset() {
    const { out, low, high } = units();
    const middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    frame = { out, middle, span: [Math.max(1e-6, high[0] - low[0]), Math.max(1e-6, high[1] - low[1])] };
    camera = { x: middle[0], y: middle[1], zoom: 1 };
  }

  function scales(width, height) {
    const [sx, sy] = [(width - 2 * margin) / frame.span[0], (height - 2 * margin) / frame.span[1]];
    return asMap() ? [Math.min(sx, sy) * camera.zoom, Math.min(sx, sy) * camera.zoom] : [sx * camera.zoom, sy * camera.zoom];
  }

  function looks() {
    const kind = $('colour').value;
    const table = shades();
    if (kind === 'certainty') {
      return (sample) => {
        const v = 3 * Math.round(70 + run.sure[sample] * 0.72);
        const shade = `rgb(${table[v]},${table[v + 1]},${table[v + 2]})`;
        return [shade, 'circle'];
      };
    }
    const marks = (kind === 'class' ? data.classes.looks : run.looks).map((look) => [tint(look), look[1]]);
    return kind === 'class' ? (sample) => marks[classOf[sample]] : (sample) => marks[run.of[sample]];
  }

  function draw() {
    waiting = false;
    if (!run) return;
    const { pen, width, height } = fitted(canvas);
    pen.clearRect(0, 0, width, height);
    const [sx, sy] = scales(width, height);
    const count = frame.out.length / 2;
    places = new Float32Array(2 * count);
    const visible = [];
    for (let i = 0; i < count; i++) {
      const x = width / 2 + (frame.out[2 * i] - camera.x) * sx;
      const y = height / 2 - (frame.out[2 * i + 1] - camera.y) * sy;
      places[2 * i] = x;
      places[2 * i + 1] = y;
      if (x > -30 && y > -30 && x < width + 30 && y < height + 30) visible.push(i);
    }
    const radius = Math.min(7, Math.max(1.2, Math.min(4, 90 / Math.sqrt(count)) * camera.zoom ** 0.35));
    drawMarks(pen, visible, radius);
    if (asMap() && $('labels').checked) drawLabels(pen, width, height);
    if (focused >= 0) ring(pen, focused, radius);
    $('map-state').textContent = `${camera.zoom.toFixed(1)}×, ${visible.length} of ${count} samples in sight`;
    canvas.dataset.zoom = camera.zoom.toFixed(3);
    canvas.classList.toggle('zoomed', camera.zoom > 1 || canvas.dataset.mode === 'lasso');
  }

  function drawMarks(pen, visible, radius) {
    const look = looks();
    const pictures = $('pictures').checked && sheet !== null && visible.length <= 600;
    canvas.dataset.pictures = pictures;
    const side = Math.max(14, Math.min(44, 500 / Math.sqrt(visible.length + 1)));
    const taken = new Set(); // a picture that would cover another is drawn as a mark
    const free = (x, y) => {
      const cell = `${Math.round(x / side)} ${Math.round(y / side)}`;
      return !taken.has(cell) && taken.add(cell);
    };
    const framed = [];
    const full = visible.length > 3000 ? 0.7 : 0.85;
    for (const pass of chosen ? [false, true] : [true]) {
      taken.clear();
      for (const i of visible) {
        const sample = sampleAt(i);
        if (chosen && chosen.has(sample) !== pass) continue;
        const [colour, shape] = look(sample);
        pen.globalAlpha = pass ? full : 0.12;
        pen.fillStyle = colour;
        const [x, y] = [places[2 * i], places[2 * i + 1]];
        if (pictures && spritePlace(sample) !== undefined && free(x, y)) {
          framed.push([sample, colour, x - side / 2, y - side / 2]);
        } else mark(pen, shape, x, y, radius);
      }
      for (const [sample, colour, x, y] of framed.splice(0)) {
        pen.fillStyle = colour;
        pen.fillRect(x - 2, y - 2, side + 4, side + 4);
        drawSprite(pen, sample, x, y, side);
      }
    }
    pen.globalAlpha = 1;
  }

  // The cluster's name at its median sample, kept inside the picture.
  function drawLabels(pen, width, height) {
    if (run.clusters.length > 80) return;
    run.medians ||= medians();
    pen.font = '600 12px system-ui, sans-serif';
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.lineWidth = 3.5;
    pen.lineJoin = 'round';
    run.medians.forEach((i, k) => {
      if (i < 0 || run.clusters[k] === 'not assigned') return; // who is in no cluster has no one place
      const [x, y] = [places[2 * i], places[2 * i + 1]];
      if (x < 0 || y < 0 || x > width || y > height) return;
      pen.strokeStyle = css('--card');
      pen.fillStyle = css('--ink');
      pen.strokeText(run.clusters[k], x, y);
      pen.fillText(run.clusters[k], x, y);
    });
  }
  function medians() {
    const groups = run.clusters.map(() => []);
    for (let i = 0; i < run.points.towns.length / 2; i++) groups[run.of[sampleAt(i)]].push(i);
    return groups.map((group) => {
      if (!group.length) return -1;
      const at = (c) => group.map((i) => run.points.towns[2 * i + c]).sort((a, b) => a - b)[group.length >> 1];
      const [x, y] = [at(0), at(1)];
      const far = (i) => (run.points.towns[2 * i] - x) ** 2 + (run.points.towns[2 * i + 1] - y) ** 2;
      return group.reduce((best, i) => (far(i) < far(best) ? i : best), group[0]);
    });
  }

  function ring(pen, i, radius) {
    pen.strokeStyle = css('--ink');
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(places[2 * i], places[2 * i + 1], radius + 4, 0, 6.3);
    pen.stroke();
  }

  function soon() {
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  }
  function move(dx, dy) {
    const [sx, sy] = scales(canvas.clientWidth, canvas.clientHeight);
    const inside = (value, c) => Math.min(frame.middle[c] + frame.span[c] / 2, Math.max(frame.middle[c] - frame.span[c] / 2, value));
    camera.x = inside(camera.x - dx / sx, 0);
    camera.y = inside(camera.y + dy / sy, 1);
    soon();
  }
  function zoom(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
    const target = Math.min(200, Math.max(1, camera.zoom * factor));
    if (target === 1) {
      [camera.x, camera.y, camera.zoom] = [...frame.middle, 1];
      soon();
      return;
    }
    const before = scales(canvas.clientWidth, canvas.clientHeight);
    camera.zoom = target;
    const after = scales(canvas.clientWidth, canvas.clientHeight);
    camera.x += (px - canvas.clientWidth / 2) * (1 / before[0] - 1 / after[0]);
    camera.y -= (py - canvas.clientHeight / 2) * (1 / before[1] - 1 / after[1]);
    soon();
  }

  function nearest(px, py) {
    let [best, distance] = [-1, 500];
    for (let i = 0; places && i < places.length / 2; i++) {
      const d = (places[2 * i] - px) ** 2 + (places[2 * i + 1] - py) ** 2;
      if (d < distance) [best, distance] = [i, d];
    }
    return best;
  }
  function focusMark(i) {
    if (i === focused) return;
    focused = i;
    if (i >= 0) {
      const sample = sampleAt(i);
      drawSample($('point'), sample);
      $('point-text').textContent = described(sample, run);
    }
    soon();
  }

  drawers.push(() => run && draw());
  return {
    canvas, move, zoom, nearest, focusMark, draw: soon,
    all() { reset(); soon(); },
    // Samples whose marks lie inside a polygon of pixels.
    inside(polygon) {
      const found = [];
      for (let i = 0; i < places.length / 2; i++) if (holds(polygon, places[2 * i], places[2 * i + 1])) found.push(sampleAt(i));
      return found;
    },
    choose(samples) { chosen = samples && new Set(samples); soon(); },
    // Brings one sample into the middle, large enough to be seen among its neighbours.
    find(sample) {
      const i = run.points.of ? run.points.of.indexOf(sample) : sample;
      if (i < 0) return;
      Object.assign(camera, { x: frame.out[2 * i], y: frame.out[2 * i + 1], zoom: Math.max(6, camera.zoom) });
      focused = -1;
      focusMark(i);
    },
    use(next) {
      run = next;
      [focused, chosen] = [-1, null];
      reset();
      draw();
    },
    relayout() { reset(); draw(); },
  };
})();

function holds(polygon, x, y) {
  let inside = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [[xi, yi], [xj, yj]] = [polygon[i], polygon[j]];
    if ((yi > y) !== (yj > y) && x < (xj - xi) * (y - yi) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}
