// Filters the table of the atlas; the fragment of the address may choose, as in #family=trig.
(() => {
  const form = document.querySelector("form.filters");
  if (!form) return;
  const columns = ["family", "status", "complex", "batching"];
  const plain = (text) => text.toLowerCase().replace(/[\W_]/g, "");
  const rows = [...document.querySelectorAll("table.ops tbody tr")].map((row) => {
    const cells = [...row.cells].map((cell) => cell.textContent);
    const facts = Object.fromEntries(columns.map((c, i) => [c, cells[i + 1].split(", ")]));
    return { row, facts, words: [plain(cells[0]), ...(row.dataset.find || "").split(" ")] };
  });
  const count = document.getElementById("count");
  const show = () => {
    const typed = form.elements.name.value.trim();
    const wanted = plain(typed.replace(/^(torch|gradspec|gs|np|numpy|jnp|jax|F)\.|nn\.functional\./gi, ""));
    const chosen = columns.filter((c) => form.elements[c].value);
    let shown = 0;
    for (const { row, facts, words } of rows) {
      const fits =
        words.some((word) => word.includes(wanted)) &&
        chosen.every((c) => facts[c].includes(form.elements[c].value)) &&
        (!form.elements.kinks.checked || "kinks" in row.dataset);
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown === 1 ? "1 op" : `${shown} ops`;
  };
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (form.elements[key]) form.elements[key].value = value;
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
})();

// Searches again for words of which no page has all: with one letter wrong, and then with two.
(() => {
  const results = document.querySelector(".md-search-result");
  const field = document.querySelector("input.md-search__input");
  if (!results || !field) return;
  const QUERY = 2;
  const post = Worker.prototype.postMessage;
  let worker, typed, wrong;
  Worker.prototype.postMessage = function (message, ...rest) {
    if (message?.type === QUERY) [worker, typed, wrong] = [this, field.value, 0];
    return post.call(this, message, ...rest);
  };
  new MutationObserver(() => {
    const first = results.querySelector(".md-search-result__item");
    const words = (typed ?? "").trim().split(/[\s_.]+/);
    // Of several words some are found nearly always; what is missing stands below a result.
    const isPoor = wrong === 0 && words.length > 1 && first?.querySelector(".md-search-result__terms");
    if (!worker || wrong === 2 || (first && !isPoor)) return;
    if (!words.every((word) => /^[a-z0-9]+$/i.test(word))) return;
    wrong += 1;
    const letters = (word) => Math.min(wrong, word.length < 4 ? 0 : word.length < 6 ? 1 : 2);
    const data = words.map((word) => (letters(word) ? `${word}~${letters(word)}` : word)).join(" ");
    post.call(worker, { type: QUERY, data });
  }).observe(results.querySelector(".md-search-result__meta"), { childList: true, characterData: true, subtree: true });
})();
