// Who waits for whom, by where the waits begin: of few ranks a grid of each two of them, of many a
// grid of all by their places in the job's parallel groups.

const kMatrixRanksMax = 24;
const kRankAxes = ["tensor", "context", "pipeline", "data"];
const kAxisWords = {
  tensor: "tensor parallel", context: "context parallel", pipeline: "stage", data: "data parallel",
  expert: "expert parallel",
};

// --- Few ranks: each two of them. --------------------------------------------------------------

function matrixRanks(result) {
  const ranks = new Set();
  for (const row of rowNumbers(result)) {
    ranks.add(result.at(row, "waiting_rank"));
    if (result.at(row, "root_rank") !== null) ranks.add(result.at(row, "root_rank"));
  }
  return [...ranks].sort((a, b) => a - b);
}

function hasNobody(result) {
  return rowNumbers(result).some((row) => result.at(row, "root_rank") === null);
}

function waitLines(result, row) {
  const root = result.at(row, "root_rank");
  return [`rank ${result.at(row, "waiting_rank")} waited ${root === null
    ? "as the pipeline's schedule has it, or for nobody that the traces tell" : `for rank ${root}`}`,
  `${shownTime(result.at(row, "wait_ms"))} in ${whole.format(result.at(row, "collectives"))} collectives`,
  `at most ${shownTime(result.at(row, "max_wait_ms"))}`];
}

function drawMatrix(svg, width, result, ranks) {
  const [left, top] = [64, 40];
  const columns = hasNobody(result) ? [...ranks, null] : ranks;
  const size = Math.max(6, Math.min(46, Math.floor((width - left - 8) / columns.length)));
  const across = new Map(columns.map((rank, i) => [rank, i]));
  const down = new Map(ranks.map((rank, i) => [rank, i]));
  const most = d3.max(rowNumbers(result), (row) => result.at(row, "wait_ms")) || 1;
  const opacity = d3.scaleSqrt().domain([0, most]).range([0.06, 1]);
  drawRowNames(svg, ranks.map(String), left - 6, (i) => top + i * size, size);
  const every = Math.max(1, Math.ceil(24 / size));
  columns.forEach((rank, i) => {
    if (i % every !== 0 && rank !== null) return;
    svg.append("text").attr("class", "row-name").attr("x", left + (i + 0.5) * size).attr("y", top - 6)
      .attr("text-anchor", "middle").text(rank === null ? "none" : String(rank));
  });
  svg.append("text").attr("class", "label").attr("x", left).attr("y", 12)
    .text("because of this rank, at which the waits begin →");
  svg.append("text").attr("class", "label").attr("text-anchor", "middle")
    .attr("transform", `translate(14,${top + (ranks.length * size) / 2}) rotate(-90)`)
    .text("← this rank waited");
  svg.append("rect").attr("class", "sheet").attr("x", left).attr("y", top)
    .attr("width", columns.length * size).attr("height", ranks.length * size);
  const marks = [];
  for (const row of rowNumbers(result)) {
    const wait = result.at(row, "wait_ms");
    const mark = {
      x: left + across.get(result.at(row, "root_rank")) * size,
      y: top + down.get(result.at(row, "waiting_rank")) * size,
      width: size, height: size, lines: waitLines(result, row),
    };
    svg.append("rect").attr("class", "heat").attr("x", mark.x + 0.5).attr("y", mark.y + 0.5)
      .attr("width", size - 1).attr("height", size - 1).attr("fill-opacity", opacity(wait));
    if (size >= 34) {
      svg.append("text").attr("class", wait > most / 4 ? "cell-dark" : "cell")
        .attr("x", mark.x + size / 2).attr("y", mark.y + size / 2).attr("dy", "0.35em")
        .attr("text-anchor", "middle").text(wait < 0.1 ? "<0.1" : d3.format(".3~r")(wait));
    }
    marks.push(mark);
  }
  return { height: top + ranks.length * size + 8, marks };
}

function matrixChart(section, result) {
  const grid = results.get("report/rank_grid");
  const ranks = matrixRanks(result);
  if (grid && grid.rows > kMatrixRanksMax) return rankGridChart(section, result, grid);
  return makeFigure({
    id: section.id,
    label: `${section.title}: a grid of ${ranks.length} by ${ranks.length} ranks`,
    caption: `Waits in milliseconds, summed over all collectives; a stronger colour is longer.${
      hasNobody(result) ? " None: as the pipeline's schedule has it, or the traces do not tell." : ""}`,
    draw: (svg, width) => drawMatrix(svg, width, result, ranks),
  });
}

// --- Many ranks: each at its place. ------------------------------------------------------------

// The axes that tell all ranks apart: null where those that are known do not, or where most places
// would be empty, as when a group of all ranks is called a data parallel one.
const kPlacesPerRankMax = 4;

function axesOf(grid) {
  const countOf = (name) => 1 + d3.max(grid.columns.find((one) => one.name === name).values);
  const isDense = (axes) => axes.reduce((product, name) => product * countOf(name), 1)
    <= kPlacesPerRankMax * grid.rows;
  const isKnown = (name) => grid.columns.find((one) => one.name === name).values
    .every((value) => value !== null);
  const known = kRankAxes.filter(isKnown);
  const choices = isKnown("expert") ? [known, [...known, "expert"]] : [known];
  return choices.find((axes) => axes.length > 0 && isDense(axes)
    && new Set(rowNumbers(grid).map((row) => axes.map((name) => grid.at(row, name)).join())).size
      === grid.rows) || null;
}

// A place of each rank: in which panel, column and line; and what these are called.
function rankPlaces(grid) {
  const axes = axesOf(grid);
  if (!axes) return squarePlaces(grid);
  const size = new Map(axes.map((name) => [name,
    1 + d3.max(grid.columns.find((one) => one.name === name).values)]));
  // Columns are the ranks nearest to each other; a panel is a stage where columns are something else.
  const inner = axes.filter((name) => name !== "pipeline" && name !== "data");
  const hasPanels = axes.includes("pipeline") && inner.length > 0;
  const across = inner.length > 0 ? inner : axes.slice(0, 1);
  const down = axes.filter((name) => !across.includes(name) && !(hasPanels && name === "pipeline"));
  const numberOf = (row, names) => names.reduce((sum, name) =>
    sum * size.get(name) + grid.at(row, name), 0);
  const sizeOf = (names) => names.reduce((product, name) => product * size.get(name), 1);
  const wordsOf = (names) => names.map((name) => kAxisWords[name]).join(", ") || "none";
  const [short, long] = sizeOf(across) <= sizeOf(down) ? [across, down] : [down, across];
  return {
    places: rowNumbers(grid).map((row) => ({
      panel: hasPanels ? grid.at(row, "pipeline") : 0, column: numberOf(row, across), line: numberOf(row, down),
    })),
    panels: hasPanels ? size.get("pipeline") : 1, columns: sizeOf(across), lines: sizeOf(down),
    panelName: (i) => (hasPanels ? `stage ${i}` : ""), lineName: String,
    isTurnable: true,
    words: `The short side: ${wordsOf(short)}; the long one: ${wordsOf(long)}${
      hasPanels ? "; a grid is a stage of the pipeline" : ""}.`,
    tell: (row) => axes.map((name) => `${kAxisWords[name]} ${grid.at(row, name)}`).join(", "),
  };
}

// By number, where the groups that the traces tell do not set all ranks apart, or fill no grid.
function squarePlaces(grid) {
  const ranks = grid.columns.find((one) => one.name === "rank").values;
  const columns = 2 ** Math.ceil(Math.log2(Math.sqrt(1 + d3.max(ranks))));
  return {
    places: ranks.map((rank) => ({ panel: 0, column: rank % columns, line: Math.floor(rank / columns) })),
    panels: 1, columns, lines: 1 + Math.floor(d3.max(ranks) / columns),
    panelName: () => "", lineName: (i) => `rank ${i * columns}`,
    words: `In the order of their numbers, ${columns} in a line: the traces do not tell places in the `
      + "job's parallel groups that set all ranks apart and fill a grid.",
    tell: () => "",
  };
}

class RankGrid {
  constructor(section, result, grid) {
    Object.assign(this, { section, result, grid, layout: rankPlaces(grid) });
    this.rowOf = new Map(rowNumbers(grid).map((row) => [grid.at(row, "rank"), row]));
    this.waits = new Map(); // by root: by rank
    for (const row of rowNumbers(result)) {
      const root = result.at(row, "root_rank");
      if (!this.waits.has(root)) this.waits.set(root, new Map());
      this.waits.get(root).set(result.at(row, "waiting_rank"), row);
    }
    this.mode = "roots";
  }

  controls() {
    const roots = [...this.waits.keys()].filter((root) => root !== null);
    this.select = element("select", { "aria-label": "What the colour is" },
      element("option", { value: "roots" }, "waits that begin at each rank"),
      element("option", { value: "waited" }, "how long each rank waited"),
      ...roots.map((root) => element("option", { value: String(root) }, `who waited for rank ${root}`)));
    this.select.addEventListener("change", () => this.show(this.select.value));
    return element("div", { class: "controls" }, element("label", {}, "Show ", this.select));
  }

  show(mode) {
    this.mode = mode;
    this.select.value = mode;
    this.figure.redraw();
  }

  valueOf(row) {
    if (this.mode === "roots") return this.grid.at(row, "rooted_wait_ms");
    if (this.mode === "waited") return this.grid.at(row, "waited_ms");
    const of = this.waits.get(Number(this.mode)).get(this.grid.at(row, "rank"));
    return of === undefined ? 0 : this.result.at(of, "wait_ms");
  }

  linesOf(row) {
    const { grid, layout } = this;
    const rank = grid.at(row, "rank");
    const lines = [`rank ${rank}${layout.tell(row) ? `: ${layout.tell(row)}` : ""}`];
    if (this.mode !== "roots" && this.mode !== "waited") {
      lines.push(`waited ${shownTime(this.valueOf(row))} for rank ${this.mode}`);
    }
    lines.push(`${shownTime(grid.at(row, "rooted_wait_ms"))} of waits begin at it, of all ranks`,
      `waited ${shownTime(grid.at(row, "waited_ms"))} itself`);
    if (this.waits.has(rank)) lines.push("click: who waited for it");
    return lines;
  }

  // The longer side lies across where there is room: pages are wide.
  turned(width) {
    const { layout } = this;
    if (!layout.isTurnable || layout.lines <= layout.columns || layout.lines * 5 + 40 > width) return layout;
    return {
      ...layout, columns: layout.lines, lines: layout.columns,
      places: layout.places.map(({ panel, column, line }) => ({ panel, column: line, line: column })),
    };
  }

  draw(svg, width) {
    const { grid } = this;
    const layout = this.turned(width);
    const names = d3.range(layout.lines).map(layout.lineName);
    const left = widthOfNames(names, 80);
    // As many grids side by side as fit with cells that are easily hit.
    const cell = Math.max(5, Math.min(26, Math.floor((width - 12 - left) / layout.columns)));
    const tall = Math.max(cell, 14);
    const panelWidth = Math.max(left + layout.columns * cell + 14, 56);
    const inLine = Math.max(1, Math.min(layout.panels, Math.floor(width / panelWidth)));
    const top = layout.panels > 1 ? 18 : 4;
    const panelHeight = top + layout.lines * tall + 10;
    const most = d3.max(rowNumbers(grid), (row) => this.valueOf(row)) || 1;
    const opacity = d3.scaleSqrt().domain([0, most]).range([0.05, 1]);
    d3.range(layout.panels).forEach((panel) => {
      const [x, y] = [(panel % inLine) * panelWidth, Math.floor(panel / inLine) * panelHeight];
      svg.append("text").attr("class", "row-name").attr("x", x + left).attr("y", y + 12)
        .text(layout.panelName(panel));
      drawRowNames(svg, names, x + left - 5, (i) => y + top + i * tall, tall);
      svg.append("rect").attr("class", "sheet").attr("x", x + left).attr("y", y + top)
        .attr("width", layout.columns * cell).attr("height", layout.lines * tall);
    });
    const marks = rowNumbers(grid).map((row) => {
      const { panel, column, line } = layout.places[row];
      const mark = {
        x: (panel % inLine) * panelWidth + left + column * cell,
        y: Math.floor(panel / inLine) * panelHeight + top + line * tall,
        width: cell, height: tall, lines: this.linesOf(row),
      };
      const rank = grid.at(row, "rank");
      if (this.waits.has(rank)) mark.act = () => this.show(String(rank));
      svg.append("rect").attr("class", "heat").attr("data-rank", rank).attr("x", mark.x + 0.5)
        .attr("y", mark.y + 0.5).attr("width", cell - 1).attr("height", tall - 1)
        .attr("fill-opacity", opacity(this.valueOf(row)));
      return mark;
    });
    const root = this.rowOf.get(Number(this.mode));
    if (root !== undefined) {
      svg.append("rect").attr("class", "late").attr("x", marks[root].x).attr("y", marks[root].y)
        .attr("width", cell).attr("height", tall);
    }
    const height = Math.ceil(layout.panels / inLine) * panelHeight + 20;
    svg.append("text").attr("class", "label").attr("x", left).attr("y", height - 6)
      .text(`the strongest colour: ${shownTime(most)}`);
    return { height, marks };
  }
}

function rankGridChart(section, result, grid) {
  const ranks = new RankGrid(section, result, grid);
  ranks.figure = makeFigure({
    id: section.id,
    label: `${section.title}: a cell for each of ${grid.rows} ranks`,
    caption: `A cell is a rank. ${ranks.layout.words} A stronger colour is a longer wait. Click a rank at `
      + "which waits begin to see who waited for it.",
    before: ranks.controls(),
    draw: (svg, width) => ranks.draw(svg, width),
  });
  return ranks.figure;
}

// --- Ranks of interest. ------------------------------------------------------------------------

// Of many ranks those that are worth a line of their own, each with why.
function ranksOfInterest() {
  const grid = results.get("report/rank_grid");
  if (!grid || grid.rows === 0) return [];
  const most = (name) => rowNumbers(grid).reduce((best, row) =>
    (grid.at(row, name) > grid.at(best, name) ? row : best), 0);
  const reasons = new Map();
  const add = (row, reason) => {
    const rank = grid.at(row, "rank");
    reasons.set(rank, reasons.has(rank) ? `${reasons.get(rank)}; ${reason}` : reason);
  };
  const latest = most("rooted_wait_ms");
  if (grid.at(latest, "rooted_wait_ms") > 0) {
    add(latest, `latest: ${shownTime(grid.at(latest, "rooted_wait_ms"))} of waits begin here`);
  }
  const busiest = most("compute_ms");
  add(busiest, `computes longest: ${shownTime(grid.at(busiest, "compute_ms"))}`);
  const waiting = most("waited_ms");
  if (grid.at(waiting, "waited_ms") > 0) {
    add(waiting, `waits longest: ${shownTime(grid.at(waiting, "waited_ms"))}`);
    const sorted = rowNumbers(grid).sort((a, b) => grid.at(a, "waited_ms") - grid.at(b, "waited_ms"));
    const middle = sorted[Math.floor(sorted.length / 2)];
    add(middle, `median: waits ${shownTime(grid.at(middle, "waited_ms"))}`);
  }
  return [...reasons].map(([rank, reason]) => ({ rank, reason }));
}
