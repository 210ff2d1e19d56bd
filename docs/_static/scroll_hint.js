// Tables and pictures that are wider than the screen scroll in their own box: say so as long as something is hidden.
document.addEventListener('DOMContentLoaded', () => {
  // "72.9 ± 5.8" stays in one line.
  document.querySelectorAll('.bd-article td').forEach((cell) => {
    if (/^[\s\d.,+−–±%*()/-]{1,26}$/.test(cell.textContent)) cell.classList.add('number');
  });
  document.querySelectorAll('.bd-article table, .bd-article .picture').forEach((box) => {
    const look = () => box.classList.toggle('scrolls-right', box.scrollWidth - box.clientWidth - box.scrollLeft > 4);
    box.addEventListener('scroll', look, { passive: true });
    new ResizeObserver(look).observe(box);
    box.querySelectorAll('img').forEach((image) => image.addEventListener('load', look));
    look();
  });
});
