// The affinity matrix of one round: decoded bins and links, painted into any window of it.
async function decodeRound(round) {
  if (round.decoded) return round.decoded;
  const image = await picture(round.bins);
  const canvas = make('canvas', { width: round.n_bins, height: round.n_bins });
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  pen.drawImage(image, 0, 0);
  const rgba = pen.getImageData(0, 0, round.n_bins, round.n_bins).data;
  const bins = new Uint8Array(round.n_bins * round.n_bins);
  for (let i = 0; i < bins.length; i++) bins[i] = rgba[4 * i];
  round.decoded = { b: round.n_bins, bins, first: u32(round.first), second: u32(round.second), strength: bytes(round.strength) };
  round.decoded.starts = rowStarts(round.decoded.first);
  return round.decoded;
}

// Links are sorted by their first sample: where each one's links start.
function rowStarts(first) {
  const size = first.length ? first[first.length - 1] + 2 : 1;
  const starts = new Uint32Array(size);
  let link = 0;
  for (let row = 0; row < size; row++) {
    while (link < first.length && first[link] < row) link++;
    starts[row] = link;
  }
  return starts;
}

// The strongest link whose cell lies in the rectangle of sorted positions [x0, x1) × [y0, y1).
function strongestIn(round, x0, x1, y0, y1) {
  let best = null;
  const search = (r0, r1, c0, c1, flipped) => {
    for (let row = r0; row < r1 && row + 1 < round.starts.length; row++) {
      for (let link = round.starts[row]; link < round.starts[row + 1]; link++) {
        const column = round.second[link];
        if (column < c0 || column >= c1 || (best && round.strength[link] <= best.strength)) continue;
        best = { row: flipped ? column : row, column: flipped ? row : column, strength: round.strength[link] };
      }
    }
  };
  search(y0, y1, x0, x1, false);
  search(x0, x1, y0, y1, true);
  return best;
}

// View: left edge x, top edge y and span, in samples.
function paintMatrix(pen, side, round, n, view) {
  const table = shades();
  pen.fillStyle = `rgb(${table[0]},${table[1]},${table[2]})`;
  pen.fillRect(0, 0, side, side);
  const cell = side / view.span;
  if (cell * (n / round.b) < 4 || n <= round.b) paintBins(pen, side, round, n, view, table);
  else paintLinks(pen, side, round, view, table, cell);
}

function paintBins(pen, side, round, n, view, table) {
  const step = n / round.b;
  const [x0, y0] = [Math.max(0, Math.floor(view.x / step)), Math.max(0, Math.floor(view.y / step))];
  const [x1, y1] = [Math.min(round.b, Math.ceil((view.x + view.span) / step)), Math.min(round.b, Math.ceil((view.y + view.span) / step))];
  if (x1 <= x0 || y1 <= y0) return;
  const canvas = make('canvas', { width: x1 - x0, height: y1 - y0 });
  const image = new ImageData(x1 - x0, y1 - y0);
  for (let y = y0, at = 0; y < y1; y++) {
    for (let x = x0; x < x1; x++, at += 4) {
      const value = 3 * round.bins[y * round.b + x];
      image.data.set([table[value], table[value + 1], table[value + 2], 255], at);
    }
  }
  canvas.getContext('2d').putImageData(image, 0, 0);
  const scale = side / view.span;
  pen.imageSmoothingEnabled = (x1 - x0) * 1.5 > side;
  pen.drawImage(canvas, (x0 * step - view.x) * scale, (y0 * step - view.y) * scale, (x1 - x0) * step * scale, (y1 - y0) * step * scale);
}

function paintLinks(pen, side, round, view, table, cell) {
  const size = Math.max(1.5, cell);
  const put = (row, column, strength) => {
    const [x, y] = [(column - view.x) * cell, (row - view.y) * cell];
    if (x < -size || y < -size || x > side || y > side) return;
    pen.fillStyle = `rgb(${table[3 * strength]},${table[3 * strength + 1]},${table[3 * strength + 2]})`;
    pen.fillRect(x, y, size, size);
  };
  for (let link = 0; link < round.first.length; link++) {
    put(round.first[link], round.second[link], round.strength[link]);
    put(round.second[link], round.first[link], round.strength[link]);
  }
}

function paintBorders(pen, side, run, view) {
  let end = 0;
  pen.lineWidth = 1;
  pen.strokeStyle = isDark() ? 'rgba(255,255,255,.16)' : 'rgba(20,30,40,.16)';
  const scale = side / view.span;
  run.sizes.forEach((size, k) => {
    const start = end;
    end += size;
    const [from, to] = [(start - view.x) * scale, (end - view.x) * scale];
    const [top, bottom] = [(start - view.y) * scale, (end - view.y) * scale];
    pen.strokeRect(from, top, to - from, bottom - top);
    pen.fillStyle = tint(run.looks[k]);
    pen.fillRect(0, top, 5, bottom - top);
    pen.fillRect(from, 0, to - from, 5);
  });
}
