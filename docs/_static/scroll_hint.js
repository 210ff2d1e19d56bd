// Tables and pictures that are wider than the screen scroll in their own box: say so as long as something is hidden.
document.addEventListener('DOMContentLoaded', () => {
  document.querySelectorAll('.bd-article table, .bd-article .picture').forEach((box) => {
    const look = () => box.classList.toggle('scrolls-right', box.scrollWidth - box.clientWidth - box.scrollLeft > 4);
    box.addEventListener('scroll', look, { passive: true });
    new ResizeObserver(look).observe(box);
    box.querySelectorAll('img').forEach((image) => image.addEventListener('load', look));
    look();
  });
});
