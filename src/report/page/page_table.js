// Tables beside the charts: the same numbers for who does not see them, sorted by any column.

const kTableRowsShown = 300;
const kTableRowsAtOnce = 100; // longer ones are made when they are opened

function compareValues(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  return a < b ? -1 : Number(a > b);
}

function tableRow(result, row) {
  const made = element("tr");
  const place = rowPlace(result, row);
  for (const column of result.tableColumns) {
    const value = column.values[row];
    const isNumber = column.type !== "text";
    const text = shownValue(value, column);
    if (place && column.name === "start_ms") {
      const link = cutLink(place, "⇩");
      if (link) link.setAttribute("aria-label", `Download ${text} ms for Perfetto`);
      made.append(element("td", { class: "n" }, goButton(place, text), ...(link ? [" ", link] : [])));
      continue;
    }
    made.append(element("td", isNumber ? { class: "n" } : { title: text.length > 40 ? text : "" }, text));
  }
  return made;
}

// A row with a rank and a time leads to its place in the timeline.
function rowPlace(result, row) {
  const from = result.at(row, "start_ms");
  const length = ["dur_ms", "gap_ms", "max_wait_ms", "step_ms", "span_ms"]
    .map((name) => result.at(row, name)).find((value) => typeof value === "number");
  const rank = result.has("rank") ? result.at(row, "rank") : result.at(row, "culprit_rank");
  if (typeof from !== "number" || length === undefined || rank === null) return null;
  return { from, to: from + length, rank };
}

function makeTable(result, caption) {
  const body = element("tbody");
  const heads = [];
  let sorted = { column: null, down: false };
  const fill = () => {
    const order = rowNumbers(result);
    if (sorted.column) {
      const { values } = sorted.column;
      order.sort((a, b) => (sorted.down ? -1 : 1) * compareValues(values[a], values[b]) || a - b);
    }
    body.replaceChildren(...order.slice(0, kTableRowsShown).map((row) => tableRow(result, row)));
  };
  for (const column of result.tableColumns) {
    const button = element("button", { type: "button", title: `${column.about} (${column.name})` },
      columnWords(column));
    const head = element("th", { scope: "col" }, button);
    button.addEventListener("click", () => {
      const again = sorted.column === column;
      // Numbers begin with the largest.
      sorted = { column, down: again ? !sorted.down : column.type !== "text" };
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      fill();
    });
    heads.push(head);
  }
  fill();
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element(
      "table",
      {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...heads)),
      body,
    ),
  );
}

function rowsNote(result, query) {
  const shown = Math.min(result.rows, kTableRowsShown);
  if (shown === result.found) return shown === 1 ? "1 row" : `${whole.format(shown)} rows`;
  return `${whole.format(shown)} of ${whole.format(result.found)} rows; tracedb query ${query} has all`;
}

// A table that opens; `isOpen` where there is no chart beside it.
function tableDetails(result, title, query, isOpen) {
  const note = rowsNote(result, query);
  const details = element("details", { class: "table" });
  details.append(element("summary", {}, `As a table (${note})`));
  const make = () => {
    if (details.childElementCount < 2) details.append(makeTable(result, title));
  };
  if (result.rows <= kTableRowsAtOnce) make();
  details.addEventListener("toggle", make);
  if (isOpen) {
    make();
    details.open = true;
  }
  return details;
}

// What the columns mean, as the query's own documentation has it.
function meaningDetails(query) {
  const written = page.results[query];
  const details = element("details", { class: "meaning" });
  details.append(element("summary", {}, "What exactly the figures mean"));
  details.append(...paragraphs(written.meaning));
  const list = element("dl");
  for (const column of written.result.columns) {
    const unit = column.unit ? ` (${column.unit})` : "";
    list.append(element("dt", {}, column.name + unit), element("dd", {}, column.about));
  }
  details.append(list);
  return details;
}
