// Small helpers that every part of the page uses. Text from the payload is only ever set as text, never as markup.
const data = JSON.parse(document.getElementById('payload').textContent);
const $ = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const svg = ['svg', 'path', 'line', 'circle', 'text', 'title', 'rect'].includes(tag);
  const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  for (const child of children.flat()) node.append(child);
  return node;
}

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}
const u16 = (text) => new Uint16Array(bytes(text).buffer);
const u32 = (text) => new Uint32Array(bytes(text).buffer);

function number(value, digits) {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  if (digits !== undefined && digits !== null) return value.toFixed(digits);
  if (Number.isInteger(value)) return Math.abs(value) < 1e6 ? String(value) : value.toLocaleString('en');
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2);
  return size < 1 ? value.toFixed(4).replace(/0+$/, '') : value.toPrecision(4);
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// 256 shades from the theme's four anchor colours.
function shades() {
  const anchors = ['--m0', '--m1', '--m2', '--m3'].map((name) => channels(css(name)));
  const table = new Uint8ClampedArray(256 * 3);
  for (let v = 0; v < 256; v++) {
    const place = (v / 255) * 3;
    const low = Math.min(2, Math.floor(place));
    for (let c = 0; c < 3; c++) table[3 * v + c] = anchors[low][c] + (place - low) * (anchors[low + 1][c] - anchors[low][c]);
  }
  return table;
}

const isDark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;

// A canvas whose drawing units are CSS pixels, sharp on dense screens.
function fitted(canvas) {
  const box = canvas.getBoundingClientRect();
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  const [width, height] = [Math.max(1, Math.round(box.width * ratio)), Math.max(1, Math.round(box.height * ratio))];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { pen, width: box.width, height: box.height };
}

function picture(uri) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error('a picture inside the report cannot be decoded'));
    image.src = uri;
  });
}

const classOf = data.classes ? u16(data.classes.of) : null;
let sheet = null;
let spriteOf = null;

async function loadSprites() {
  if (!data.sprites) return;
  sheet = await picture(data.sprites.image);
  if (data.sprites.samples) spriteOf = new Map(Array.from(u32(data.sprites.samples), (sample, place) => [sample, place]));
}

const spritePlace = (sample) => (sheet === null ? undefined : spriteOf === null ? sample : spriteOf.get(sample));

// Paints a thumbnail with the given longer side; the caller knows that there is one.
function drawSprite(pen, sample, x, y, side) {
  const { width, height, columns } = data.sprites;
  const place = spritePlace(sample);
  const scale = side / Math.max(width, height);
  pen.drawImage(sheet, (place % columns) * width, Math.floor(place / columns) * height, width, height, x, y, width * scale, height * scale);
}

// Draws the thumbnail of a sample into a canvas of its own; false if there is none.
function drawSample(canvas, sample) {
  const there = spritePlace(sample) !== undefined;
  canvas.hidden = !there;
  if (!there) return false;
  const { width, height } = data.sprites;
  Object.assign(canvas, { width, height });
  canvas.style.aspectRatio = `${width} / ${height}`;
  drawSprite(canvas.getContext('2d'), sample, 0, 0, Math.max(width, height));
  return true;
}

const nameOf = (sample) => (data.names ? data.names[sample] : `sample ${sample}`);
const clusterName = (run, k) => (run.clusters[k] === 'not assigned' ? 'not assigned' : `cluster ${run.clusters[k]}`);
const sureText = (run, sample) => (run.sure[sample] / 255).toFixed(2);
function describe(sample, run) {
  const parts = [nameOf(sample), clusterName(run, run.of[sample])];
  if (classOf) parts.push(`class ${data.classes.names[classOf[sample]]}`);
  return parts.join(', ');
}
function described(sample, run) {
  const next = run.following[sample] !== run.of[sample] ? `, next ${run.clusters[run.following[sample]]}` : '';
  return `${describe(sample, run)}${next}, certainty ${sureText(run, sample)}`;
}

// Everything that must be redrawn when the theme, the size or the method changes.
const drawers = [];
const redraw = () => drawers.forEach((draw) => draw());
