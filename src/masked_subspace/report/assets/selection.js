// Samples chosen on the map, in its legend or by the search: counted, shown, and ready to be copied.
const selection = (() => {
  let run = null;
  let samples = null;

  function set(found, how) {
    samples = found;
    mapView.choose(found);
    $('selection').hidden = found === null;
    if (found === null) return;
    const counts = new Map();
    found.forEach((sample) => counts.set(run.of[sample], (counts.get(run.of[sample]) || 0) + 1));
    const parts = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([k, count]) => `${count} in ${clusterName(run, k)}`);
    $('selection-text').textContent = `${found.length} sample${found.length === 1 ? '' : 's'} ${how}${parts.length > 1 || !how.startsWith('of cluster') ? `${parts.length ? ': ' : ''}${parts.join(', ')}` : ''}.`;
    $('selection-strip').replaceChildren(strip(found.slice(0, 18), run));
    $('selection-rows').value = Array.from(found).join(' ');
  }

  // Words are looked for in names; "#12" is row 12, "cluster 3" and "class x" are groups.
  function search(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) { set(null); return; }
    const test = matcher(wanted, run);
    const found = [];
    for (let sample = 0; sample < run.of.length; sample++) if (test(sample)) found.push(sample);
    set(found, `found for “${text.trim()}”`);
    if (found.length === 1) mapView.find(found[0]);
  }

  $('search').addEventListener('input', () => search($('search').value));
  $('unselect').addEventListener('click', () => { $('search').value = ''; set(null); });
  return {
    set,
    where(kind, k, name) {
      const of = kind === 'class' ? classOf : run.of;
      const found = [];
      for (let sample = 0; sample < of.length; sample++) if (of[sample] === k) found.push(sample);
      set(found, `of ${kind} ${name}`);
    },
    use(next) { run = next; $('search').value = ''; set(null); },
  };
})();

function matcher(wanted, run) {
  const [, kind, rest] = /^(#|cluster |class )(.*)$/.exec(wanted) || [];
  if (kind === '#') return (sample) => String(sample) === rest;
  if (kind === 'cluster ') return (sample) => run.clusters[run.of[sample]].toLowerCase() === rest;
  if (kind === 'class ' && classOf) return (sample) => data.classes.names[classOf[sample]].toLowerCase() === rest;
  return (sample) => nameOf(sample).toLowerCase().includes(wanted);
}
