// Clusters and classes are told apart by colour and shape together; the payload brings both.
function mark(pen, shape, x, y, r) {
  if (shape === 'square') { pen.fillRect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8); return; }
  pen.beginPath();
  if (shape === 'circle') pen.arc(x, y, r, 0, 6.3);
  else corners(shape).forEach(([dx, dy]) => pen.lineTo(x + dx * r * 1.2, y + dy * r * 1.2));
  pen.fill();
}

const third = 0.36;
const outlines = {
  triangle: [[0, -1], [0.95, 0.75], [-0.95, 0.75]],
  down: [[0, 1], [0.95, -0.75], [-0.95, -0.75]],
  diamond: [[0, -1.1], [0.9, 0], [0, 1.1], [-0.9, 0]],
  square: [[-0.75, -0.75], [0.75, -0.75], [0.75, 0.75], [-0.75, 0.75]],
  plus: [[-third, -1], [third, -1], [third, -third], [1, -third], [1, third], [third, third], [third, 1], [-third, 1], [-third, third], [-1, third], [-1, -third], [-third, -third]],
};
outlines.cross = outlines.plus.map(([x, y]) => [(x - y) * 0.75, (x + y) * 0.75]);
const corners = (shape) => outlines[shape];

// A look is [colour, shape, colour in the dark theme]. What is drawn is drawn anew when the theme changes; what is part of
// the page gets both colours, and the style sheet takes one.
const tint = ([light, , dark]) => (isDark() ? dark : light);
function tinted(node, [light, , dark]) {
  node.classList.add('tinted');
  node.style.setProperty('--light', light);
  node.style.setProperty('--dark', dark);
  return node;
}

// The same mark as a small picture beside a name.
function swatch(look) {
  const [, shape] = look;
  const svg = make('svg', { class: 'swatch', viewBox: '-1.3 -1.3 2.6 2.6', 'aria-hidden': 'true', focusable: 'false' });
  svg.append(shape === 'circle' ? make('circle', { r: 1 }) : make('path', { d: `M${corners(shape).map((at) => at.join(' ')).join('L')}Z` }));
  return tinted(svg, look);
}

const classLook = (c) => data.classes.looks[c];

// Bars have no shape, so classes that share a colour differ by stripes.
const stripe = (angle) => `repeating-linear-gradient(${angle}deg, var(--stripe) 0 1.5px, transparent 0 5px)`;
const stripes = { square: stripe(45), triangle: stripe(-45), diamond: stripe(0), cross: `${stripe(45)}, ${stripe(-45)}`, down: stripe(90), plus: `${stripe(0)}, ${stripe(90)}` };
function fillAsClass(node, c) {
  const [, shape] = classLook(c);
  node.style.background = shape === 'circle' ? 'var(--tint)' : `${stripes[shape]}, var(--tint)`;
  return tinted(node, classLook(c));
}
