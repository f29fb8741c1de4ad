// What all charts share: a figure with caption and legend, drawn anew when its width changes; marks
// that pointer and arrow keys find, and what is said of them.

const kPalette = 8; // classes line-0 to line-7 of the style

function swatch(series) {
  const svg = d3.create("svg").attr("class", "swatch").attr("aria-hidden", "true");
  svg.attr("width", 16).attr("height", 12);
  if (series.line) {
    svg.append("path").attr("class", series.className).attr("d", "M0,6h16");
  } else if (series.symbol) {
    const path = d3.symbol().type(series.symbol).size(60)();
    svg.append("path").attr("class", series.className).attr("transform", "translate(8,6)")
      .attr("d", path);
  } else {
    svg.append("rect").attr("class", series.className).attr("width", 16).attr("height", 12)
      .attr("fill-opacity", series.opacity === undefined ? 1 : series.opacity);
  }
  return svg.node();
}

function makeLegend(series) {
  const list = element("ul", { class: "legend" });
  for (const one of series) list.append(element("li", {}, swatch(one), one.label));
  return list;
}

// The mark that contains the point; else, when told so, the nearest one within 24 pixels.
function markAt(marks, x, y, near) {
  let best = null;
  let bestDistance = near ? 24 : 0.5;
  for (const mark of marks) {
    const dx = Math.max(mark.x - x, 0, x - mark.x - mark.width);
    const dy = Math.max(mark.y - y, 0, y - mark.y - mark.height);
    const distance = Math.hypot(dx, dy);
    if (distance <= bestDistance) {
      best = mark;
      bestDistance = distance;
    }
  }
  return best;
}

// The next mark in a direction: near in it, and nearer still across it.
function markTowards(marks, from, dx, dy) {
  let best = null;
  let bestCost = Infinity;
  for (const mark of marks) {
    const x = mark.x + mark.width / 2 - from.x - from.width / 2;
    const y = mark.y + mark.height / 2 - from.y - from.height / 2;
    const along = x * dx + y * dy;
    const cost = along + 3 * Math.abs(x * dy + y * dx);
    if (along > 0.5 && cost < bestCost) {
      best = mark;
      bestCost = cost;
    }
  }
  return best;
}

class Tip {
  constructor(holder) {
    this.box = element("div", { class: "tip", hidden: "" });
    this.said = element("div", { class: "unseen", role: "status", "aria-live": "polite" });
    this.holder = holder;
    holder.append(this.box, this.said);
  }

  show(lines, x, y, aloud) {
    this.box.replaceChildren(...lines.map((line) => element("div", {}, line)));
    this.box.hidden = false;
    const left = Math.min(x + 12, this.holder.clientWidth - this.box.offsetWidth - 4);
    this.box.style.left = `${Math.max(left, 0)}px`;
    this.box.style.top = `${y + 14}px`;
    if (aloud) this.said.textContent = lines.join("; ");
  }

  hide() {
    this.box.hidden = true;
  }
}

// `draw(svg, width)` fills an empty svg and returns its height and marks: {x, y, width, height,
// lines}; of one with `go`, {from, to, rank}, a click or Enter shows that in the timeline, of one
// with `act` it calls that. Returns the figure; figure.redraw() draws it again.
function makeFigure({ id, label, caption, legend, near, draw, before }) {
  const holder = element("div", { class: "chart" });
  const figure = element("figure", { "data-chart": id });
  if (before) figure.append(before);
  if (legend) figure.append(makeLegend(legend));
  figure.append(holder, element("figcaption", { id: `${id}-caption` }, caption));
  const tip = new Tip(holder);
  const svg = d3.create("svg").attr("role", "img").attr("tabindex", 0).attr("class", "plot");
  svg.attr("aria-label", label).attr("aria-describedby", `${id}-caption`);
  holder.prepend(svg.node());
  let marks = [];
  let chosen = null;
  let drawnWidth = 0;
  const choose = (mark, aloud) => {
    chosen = mark;
    svg.selectAll(".chosen").remove();
    if (!mark) {
      tip.hide();
      return;
    }
    svg.append("rect").attr("class", "chosen").attr("x", mark.x - 1).attr("y", mark.y - 1)
      .attr("width", mark.width + 2).attr("height", mark.height + 2);
    tip.show(mark.lines, mark.x + mark.width / 2, mark.y + mark.height, aloud);
  };
  figure.redraw = () => {
    const width = Math.max(holder.clientWidth, 320);
    drawnWidth = width;
    chosen = null;
    tip.hide();
    svg.selectAll("*").remove();
    const drawn = draw(svg, width);
    marks = drawn.marks;
    svg.attr("width", width).attr("height", drawn.height);
    svg.attr("viewBox", `0 0 ${width} ${drawn.height}`);
    figure.dataset.marks = marks.length;
  };
  svg.on("pointermove", () => {
    const [x, y] = d3.mouse(svg.node());
    choose(markAt(marks, x, y, near), false);
  });
  svg.on("pointerleave blur", () => choose(null, false));
  svg.on("click", () => {
    const mark = markAt(marks, ...d3.mouse(svg.node()), near);
    if (mark && mark.go) goTo(mark.go);
    if (mark && mark.act) mark.act();
  });
  svg.on("keydown", () => {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const way = ways[d3.event.key];
    if (d3.event.key === "Escape") choose(null, false);
    if (d3.event.key === "Enter" && chosen && chosen.go) goTo(chosen.go);
    if (d3.event.key === "Enter" && chosen && chosen.act) chosen.act();
    if (!way || marks.length === 0) return;
    d3.event.preventDefault();
    const next = chosen ? markTowards(marks, chosen, ...way) : marks[0];
    if (next) choose(next, true);
  });
  new ResizeObserver(() => {
    if (holder.clientWidth > 0 && Math.abs(holder.clientWidth - drawnWidth) > 1) figure.redraw();
  }).observe(holder);
  return figure;
}

// --- Pieces of charts. -------------------------------------------------------------------------

// Horizontal axis along `y`, with lines up the whole chart.
function drawAxisBelow(svg, scale, y, top, label, ticks, format) {
  const axis = d3.axisBottom(scale).tickSizeOuter(0);
  (Array.isArray(ticks) ? axis.tickValues(ticks) : axis.ticks(ticks || 6));
  if (format) axis.tickFormat(format);
  const group = svg.append("g").attr("class", "axis").attr("transform", `translate(0,${y})`);
  group.call(axis);
  group.selectAll(".tick").append("line").attr("class", "grid").attr("y2", top - y);
  const middle = (scale.range()[0] + scale.range()[1]) / 2;
  svg.append("text").attr("class", "label").attr("x", middle).attr("y", y + 34)
    .attr("text-anchor", "middle").text(label);
}

function drawAxisLeft(svg, scale, x, right, label, ticks, format) {
  const axis = d3.axisLeft(scale).tickSizeOuter(0);
  (Array.isArray(ticks) ? axis.tickValues(ticks) : axis.ticks(ticks || 5));
  if (format) axis.tickFormat(format);
  const group = svg.append("g").attr("class", "axis").attr("transform", `translate(${x},0)`);
  group.call(axis);
  group.selectAll(".tick").append("line").attr("class", "grid").attr("x2", right - x);
  svg.append("text").attr("class", "label").attr("x", 2).attr("y", 12).text(label);
}

// Ticks of a logarithmic scale: powers of ten, with 2 and 5 times them where there is room.
function logTicks(scale, most) {
  const all = scale.ticks(100);
  const leading = (value) => Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
  const ticks = all.filter((value) => [1, 2, 5].includes(leading(value)));
  if (ticks.length < 3) return all.slice(0, most);
  return ticks.length <= most ? ticks : all.filter((value) => leading(value) === 1);
}

// The names of rows; of many rows only every other one, every fourth and so on.
function drawRowNames(svg, names, x, yOf, rowHeight) {
  let every = 1;
  while (every * rowHeight < 12) every *= 2;
  names.forEach((name, i) => {
    if (i % every !== 0) return;
    svg.append("text").attr("class", "row-name").attr("x", x).attr("y", yOf(i) + rowHeight / 2)
      .attr("dy", "0.35em").attr("text-anchor", "end").text(name);
  });
}

function widthOfNames(names, most) {
  return Math.min(12 + 6.6 * (d3.max(names, (name) => name.length) || 0), most);
}
