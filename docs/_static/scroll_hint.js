// What is wider than the screen scrolls in its own box: say so as long as something is hidden.
document.addEventListener('DOMContentLoaded', () => {
  const phone = window.matchMedia('(max-width: 600px)').matches;
  document.querySelectorAll('.bd-article td').forEach((cell) => {
    // "72.9 ± 5.8" stays in one line; sentences keep some width where a table scrolls anyway.
    if (/^[\s\d.,+−–±→%*()/-]{1,26}$/.test(cell.textContent)) cell.classList.add('number');
    else if (cell.textContent.trim().length > 24) cell.classList.add('words');
  });
  // A card has no heading above it: each cell says what it answers.
  document.querySelectorAll('.bd-article table').forEach((table) => {
    const heads = [...table.querySelectorAll('thead th')].map((head) => head.textContent.trim());
    table.querySelectorAll('tbody tr').forEach((row) => [...row.cells].forEach((cell, k) => {
      if (k && heads[k] && cell.textContent.trim()) cell.dataset.label = `${heads[k]}: `;
    }));
  });
  // Long names of tests break after a word, not within one.
  document.querySelectorAll('.bd-article table.breaks code .pre').forEach((name) => {
    const words = name.textContent.split('_');
    name.replaceChildren(...words.flatMap((word, k) => k ? ['_', document.createElement('wbr'), word] : [word]));
  });
  const boxes = '.bd-article table, .bd-article .picture, .bd-article pre, .bd-article div.math.equation';
  document.querySelectorAll(boxes).forEach((box) => {
    const hidden = () => box.scrollWidth - box.clientWidth - box.scrollLeft > 4;
    const look = () => box.classList.toggle('scrolls-right', hidden());
    box.addEventListener('scroll', look, { passive: true });
    new ResizeObserver(look).observe(box);
    box.querySelectorAll('img').forEach((image) => image.addEventListener('load', look));
    // On a phone a few columns that end in sentences become cards; more columns scroll.
    if (phone && box.tagName === 'TABLE' && hidden()) {
      const cards = box.rows[0].cells.length <= 3 && box.querySelector('td.words:last-child');
      box.classList.add(cards ? 'stacked' : 'wide');
    }
    look();
  });
});
// Paper is white: a dark page prints light, with its light pictures.
let shown = null;
window.addEventListener('beforeprint', () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = 'light';
});
window.addEventListener('afterprint', () => { document.documentElement.dataset.theme = shown; });
