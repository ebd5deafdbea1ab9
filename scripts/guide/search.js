// Finds sections that have every typed word. The index is a script, so that it also loads from a folder.
const input = document.getElementById("search");
const found = document.getElementById("found");
const AT_MOST = 12;

function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.replaceChildren();
  if (words.length === 0) return;
  const hits = window.PASSRAIL_GUIDE.map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, AT_MOST);
  if (hits.length === 0) found.append("Nothing found.");
  for (const { section } of hits) {
    const link = document.createElement("a");
    link.href = `${section.page}#${section.anchor}`;
    const where = document.createElement("small");
    where.textContent = section.title;
    link.append(section.heading, where);
    found.append(link);
  }
}

/** 0 unless every word occurs; a word in the heading counts more. */
function scoreOf({ heading, title, text }, words) {
  let score = 0;
  for (const word of words) {
    const own = heading.toLowerCase().includes(word) ? 10 : 0;
    const page = title.toLowerCase().includes(word) ? 4 : 0;
    const inText = text.toLowerCase().includes(word) ? 1 : 0;
    if (own + page + inText === 0) return 0;
    score += own + page + inText;
  }
  return score;
}

input.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  input.focus();
});
