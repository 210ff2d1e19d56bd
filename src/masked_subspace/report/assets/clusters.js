// Clusters one by one: how large, what tells them apart, and the subspaces they lie near.
function drawSizes(run) {
  const largest = Math.max(...run.sizes);
  const bars = run.sizes.flatMap((size, k) => {
    const parts = run.confusion ? run.confusion.counts[k] : [size];
    const track = make('div', { class: 'track', 'aria-hidden': 'true' });
    parts.forEach((count, c) => {
      if (!count) return;
      const piece = make('i', { title: run.confusion ? `${data.classes.names[c]}: ${count}` : null });
      piece.style.width = `${100 * count / largest}%`;
      if (!run.confusion) piece.style.background = 'var(--tint)';
      track.append(run.confusion ? fillAsClass(piece, c) : tinted(piece, run.looks[k]));
    });
    return [make('span', { class: 'who' }, swatch(run.looks[k]), clusterName(run, k)), track, make('span', { class: 'count' }, String(size))];
  });
  const key = run.confusion && data.classes.names.length <= 56 ? [classKey()] : [];
  $('sizes').replaceChildren(make('h3', {}, run.confusion ? 'Sizes, divided by known class' : 'Sizes'), ...key, make('div', { class: 'bars' }, ...bars));
}

function classKey() {
  return make('ul', { class: 'legend plain' }, ...data.classes.names.map((name, c) => {
    const patch = make('span', { class: 'patch', 'aria-hidden': 'true' });
    return make('li', { title: name }, fillAsClass(patch, c), name);
  }));
}

// A long name may break after its punctuation, before it breaks anywhere.
const breakable = (name) => name.split(/(?<=[_/.:,;-])/).flatMap((part, k) => (k ? [make('wbr'), part] : [part]));

// Means that differ by less than this many standard deviations tell nothing apart; to list them would say that they do.
const least = 0.2;
const alike = `No single feature differs from the rest by ${least} standard deviations or more: what sets it apart is how features go together.`;

function featureBar(f, widest) {
  const bar = make('span', { class: `effect ${f.effect < 0 ? 'less' : 'more'}`, 'aria-hidden': 'true' }, make('i'));
  bar.firstChild.style.width = `${50 * Math.abs(f.effect) / widest}%`;
  return make('li', { title: `${f.feature}: ${number(f.here)} here, ${number(f.rest)} elsewhere` },
    make('span', { class: 'feature' }, ...breakable(f.feature)), bar, make('span', { class: 'count' }, `${number(f.here)} / ${number(f.rest)}`));
}

function drawProfiles(run) {
  $('profiles').hidden = !run.profiles.length;
  const widest = Math.max(1, ...run.profiles.flatMap((one) => one.features.map((f) => Math.abs(f.effect))));
  const cards = run.profiles.map((profile, k) => {
    const telling = profile.features.filter((f) => Math.abs(f.effect) >= least);
    return make('div', { class: 'card' }, make('h4', {}, swatch(run.looks[k]), `${clusterName(run, k)} (${run.sizes[k]})`),
      telling.length ? make('ul', { class: 'profile' }, ...telling.map((f) => featureBar(f, widest))) : make('p', { class: 'hint' }, alike));
  });
  $('profile-cards').replaceChildren(...cards);
}

function drawSubspaces(run) {
  $('subspaces').hidden = !run.subspaces.length;
  const known = run.subspaces.some((one) => one.dim !== null);
  $('spaces').className = known ? 'cards' : 'cards narrow';
  $('subspaces-title').textContent = known ? 'Subspaces' : 'Mean pictures';
  const rows = run.subspaces.map((one) => {
    const k = run.clusters.indexOf(one.cluster);
    const facts = one.dim === null ? '' : `dimension ${one.dim}${one.features ? ` of ${one.features}` : ''}${one.explained === null ? '' : `, holds ${(100 * one.explained).toFixed(0)} %`}`;
    const image = one.strip ? [make('img', { src: one.strip, alt: `Mean of cluster ${one.cluster}${one.pictures > 1 ? ` and ${one.pictures - 1} directions of its subspace` : ''}`, class: 'pictures' })] : [];
    return make('div', { class: 'space' }, make('div', { class: 'who' }, swatch(run.looks[k]), clusterName(run, k), make('small', {}, facts)), ...image);
  });
  $('spaces').replaceChildren(...rows);
}
