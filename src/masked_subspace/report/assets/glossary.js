// Words of the trade, explained where they stand (hover, focus or tap) and once more at the end of the page.
const certaintyMeans = {
  margin: 'How much nearer a sample is to the centre of its own cluster than to the next one, in the embedding: 1 − (distance to its own) / (distance to the next). 1 is no doubt, 0 is half way.',
  agreement: 'How far the members of the ensemble, which look at the data under different settings, put a sample into the same company. 1: all agree.',
};
const words = {
  accuracy: 'Share of samples whose cluster stands for their class, after the best one-to-one matching of clusters and classes. Who is in no cluster counts as wrong.',
  NMI: 'Normalized mutual information: how much knowing the cluster tells about the class. 0 nothing, 1 everything. Over the samples in clusters.',
  BCA: 'Binary clustering accuracy: share of pairs of samples that are rightly together or rightly apart. It is high by chance where clusters are many. Over the samples in clusters.',
  ARI: 'Adjusted Rand index: how far two partitions agree on pairs of samples. 1 the same, 0 what chance gives. Over the samples that both have in clusters.',
  modularity: 'Share of the link weight inside clusters, less what a random graph with the same degrees would have there, among the samples in clusters. Above 0.6: well apart.',
  structure: 'How far the clusters are real, 0 to 1: agreement of independent looks at the data times how well half of the samples predicts the labels of the other half; up to 20 features, also times how well separated the clusters are.',
  agreement: 'How far different looks at the data (settings, views, halves of the links) find the same clusters, beyond chance. 1: all find the same.',
  information: 'How much the clusters that different looks share say about a sample. More clusters say more, as long as they are found again.',
  separation: 'How much more of the links between neighbours stay inside clusters than inside as many pieces of one single cloud. 0: no more, 1: clusters do not touch.',
  gap: 'How far the spectrum of the graph drops after as many values as there are clusters. Large: the graph falls into that many parts.',
  strength: 'Prediction strength: clusters learned on some samples (half, or three quarters where clusters are small) predict the labels of the others. 1: perfectly.',
  'evened strength': 'The same with all directions of the samples evened out, where what moves all clusters alike, such as light, counts for less.',
  certainty: '',
  affinity: 'The graph: how strongly two samples are linked, that is, how much one helps to rebuild the other.',
  embedding: 'Leading eigenvectors of the graph: samples that are linked lie near each other.',
  view: 'How rows are prepared before anything else (centred, square root, whitened, lifted …).',
  cut: 'How the graph becomes clusters: spectral (eigenvectors and k-means) or modularity.',
  mask: 'What the labels of one round tell the next: links inside a cluster become cheap, links between clusters dear.',
  subspace: 'A flat piece of space (a line, a plane …) near which the samples of a cluster lie; its dimension is how many directions it has.',
};
const termPattern = new RegExp(`\\b(${Object.keys(words).join('|')})\\b`, 'i');
const meaning = (key) => (key === 'certainty' ? certaintyMeans[shown ? shown.certainty_kind : 'margin'] || certaintyMeans.margin : words[key]);

function term(text) {
  const key = Object.keys(words).find((one) => one.toLowerCase() === text.toLowerCase());
  const button = make('button', { type: 'button', class: 'term' }, text);
  const open = () => showTip(button, meaning(key));
  for (const kind of ['mouseenter', 'focus', 'click']) button.addEventListener(kind, open);
  for (const kind of ['mouseleave', 'blur']) button.addEventListener(kind, hideTip);
  return button;
}

// A text whose first word of the trade can be asked about.
function explained(text) {
  const found = termPattern.exec(text);
  if (!found) return whole(text);
  return [...whole(text.slice(0, found.index)), term(found[0]), ...whole(text.slice(found.index + found[0].length))];
}

// Options of the command stay on one line: a browser would break them after their hyphens.
const whole = (text) => text.split(/(--[a-z][a-z-]*)/).map((part, k) => (k % 2 ? make('span', { class: 'option' }, part) : part));

let asked = null;
function showTip(from, text) {
  asked = from;
  const tip = $('tip');
  tip.textContent = text;
  tip.hidden = false;
  from.setAttribute('aria-describedby', 'tip');
  const [box, width] = [from.getBoundingClientRect(), Math.min(340, window.innerWidth - 24)];
  tip.style.width = `${width}px`;
  tip.style.left = `${Math.max(12, Math.min(window.innerWidth - width - 12, box.left))}px`;
  const below = box.bottom + 8 + tip.offsetHeight < window.innerHeight;
  tip.style.top = `${below ? box.bottom + 8 : Math.max(8, box.top - tip.offsetHeight - 8)}px`;
}
function hideTip(event) {
  $('tip').hidden = true;
  if (event) event.currentTarget.removeAttribute('aria-describedby');
}
document.addEventListener('keydown', (event) => { if (event.key === 'Escape') $('tip').hidden = true; });
// Focus may scroll the page: the explanation stays with its word.
window.addEventListener('scroll', () => { if (!$('tip').hidden) showTip(asked, $('tip').textContent); }, { passive: true });

function drawGlossary() {
  $('words').replaceChildren(...Object.keys(words).map((key) => make('div', {}, make('dt', {}, key), make('dd', {}, meaning(key)))));
}
