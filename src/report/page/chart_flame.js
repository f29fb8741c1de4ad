// A call tree as boxes, the outermost on top (an icicle), and lines of what a log or a sampler says.

const kFlameRow = 18;
const kFlameDepthMax = 40;
const kFlameColours = { operator: "fill-2", annotation: "fill-4", module: "fill-3", function: "fill-7",
  kernel: "fill-compute" };

// Pieces of one name in one place are one box.
function flameTree(result) {
  const root = { name: "all kernels", kind: "", children: new Map(), value: 0, activities: 0 };
  const rows = new Map();
  for (const row of rowNumbers(result)) {
    if (result.at(row, "node") !== null) rows.set(result.at(row, "node"), row);
  }
  const made = new Map();
  const child = (parent, kind, name) => {
    const key = `${kind} ${name}`;
    if (!parent.children.has(key)) {
      parent.children.set(key, { name, kind, children: new Map(), value: 0, activities: 0 });
    }
    return parent.children.get(key);
  };
  const nodeOf = (id) => {
    const way = [];
    let at = id;
    while (at !== null && !made.has(at) && rows.has(at) && way.length < 256) {
      way.push(at);
      at = result.at(rows.get(at), "parent");
    }
    let node = made.get(at) || root;
    for (const piece of way.reverse()) {
      const row = rows.get(piece);
      node = child(node, result.at(row, "kind"), result.at(row, "name"));
      made.set(piece, node);
    }
    return node;
  };
  for (const row of rowNumbers(result)) {
    if (result.at(row, "node") !== null) continue;
    const leaf = child(nodeOf(result.at(row, "parent")), "kernel", result.at(row, "name"));
    leaf.value += result.at(row, "gpu_ms");
    leaf.activities += result.at(row, "activities");
  }
  return d3.hierarchy(root, (node) => [...node.children.values()]).sum((node) => node.value)
    .sort((a, b) => b.value - a.value);
}

function drawFlame(svg, width, chart) {
  const { root } = chart;
  const shown = chart.shown || root;
  const depth = Math.min(shown.height + 1, kFlameDepthMax);
  d3.partition().size([1, 1])(root);
  const x = d3.scaleLinear().domain([shown.x0, shown.x1]).range([0, width]);
  const marks = [];
  shown.each((node) => {
    const row = node.depth - shown.depth;
    const wide = x(node.x1) - x(node.x0);
    if (wide < 0.7 || row >= depth) return;
    const mark = {
      x: x(node.x0), y: row * kFlameRow, width: wide, height: kFlameRow - 1, node,
      lines: [shortened(node.data.name, 160), `${node.data.kind ? `${node.data.kind}, ` : ""}`
        + `${shownTime(node.value)} of the GPU, ${shownShare((100 * node.value) / root.value)}`],
    };
    if (node.data.kind === "kernel") mark.lines.push(`${whole.format(node.data.activities)} times`);
    svg.append("rect").attr("class", kFlameColours[node.data.kind] || "fill-idle-2").attr("x", mark.x)
      .attr("y", mark.y).attr("width", wide).attr("height", mark.height);
    const fit = Math.floor((wide - 6) / 6);
    if (fit >= 4) {
      svg.append("text").attr("class", "cell-dark").attr("x", mark.x + 3).attr("y", mark.y + kFlameRow / 2)
        .attr("dy", "0.32em").text(shortenedInside(node.data.name, fit));
    }
    mark.act = () => {
      chart.shown = node === shown ? node.parent : node;
      chart.figure.redraw();
    };
    marks.push(mark);
  });
  return { height: depth * kFlameRow + 4, marks };
}

function flameChart(section, result) {
  const chart = { root: flameTree(result), shown: null };
  const kinds = [...new Set(rowNumbers(result).map((row) => result.at(row, "kind")))];
  chart.figure = makeFigure({
    id: section.id,
    label: `${section.title}: boxes within boxes, from the outermost to kernels`,
    caption: "Click a box, or choose it and press Enter, to see it alone; once more to see what it is in.",
    legend: kinds.map((kind) => ({ label: kind, className: kFlameColours[kind] || "fill-idle-2" })),
    draw: (svg, width) => drawFlame(svg, width, chart),
  });
  return chart.figure;
}

// --- Logs and samplers. ------------------------------------------------------------------------

// One line a group; a choice above of what is shown.
function linesChart(section, choices, axis, caption) {
  let shown = choices[0];
  const select = element("select");
  choices.forEach(({ name }, i) => select.append(element("option", { value: i }, name)));
  const draw = (svg, width) => {
    const [left, right, top, bottom] = [64, width - 16, 24, 230];
    const points = shown.lines.flatMap((line) => line.points);
    const x = d3.scaleLinear().domain(d3.extent(points, (p) => p.x)).range([left, right]);
    const y = d3.scaleLinear().domain(d3.extent(points, (p) => p.y)).range([bottom, top]).nice();
    drawAxisLeft(svg, y, left, right, shown.unit);
    drawAxisBelow(svg, x, bottom, top, axis, 8);
    const marks = [];
    shown.lines.forEach((line, i) => {
      const path = d3.line().x((p) => x(p.x)).y((p) => y(p.y))(line.points);
      svg.append("path").attr("class", `line line-${i % kPalette}`).attr("d", path);
      for (const point of line.points) {
        marks.push({
          x: x(point.x) - 3, y: y(point.y) - 3, width: 6, height: 6,
          lines: [line.name, `${axis} ${whole.format(point.x)}: ${inThree.format(point.y)} ${shown.unit}`],
        });
      }
    });
    return { height: bottom + 44, marks };
  };
  const figure = makeFigure({
    id: section.id, label: `${section.title}: lines, chosen above`, caption, near: true,
    before: element("div", { class: "controls" }, element("label", {}, "Shown ", select)), draw,
  });
  select.addEventListener("change", () => {
    shown = choices[select.value];
    figure.redraw();
  });
  return figure;
}

function trainingChart(section, result) {
  const words = [["loss", "loss", ""], ["elapsed_ms", "time of an iteration", "ms"],
    ["grad_norm", "norm of the gradients", ""], ["tflops", "TFLOP/s of a GPU", "TFLOP/s"]];
  const choices = words.map(([column, name, unit]) => ({
    name, unit,
    lines: [{ name, points: rowNumbers(result).filter((row) => result.at(row, column) !== null)
      .map((row) => ({ x: result.at(row, "iteration"), y: result.at(row, column) })) }],
  })).filter(({ lines }) => lines[0].points.length > 0);
  if (choices.length === 0) return "The log has no numbers of iterations.";
  return linesChart(section, choices, "iteration", "As the log has it, iteration by iteration.");
}

function clocksChart(section, result) {
  const choices = new Map();
  for (const row of rowNumbers(result)) {
    const at = (name) => result.at(row, name);
    const name = at("quantity").replaceAll("_", " ");
    if (!choices.has(name)) choices.set(name, { name, unit: at("unit") || "", byGpu: new Map() });
    const { byGpu } = choices.get(name);
    const gpu = `${at("host") ? `${at("host")}, ` : ""}GPU ${at("gpu")}`;
    if (!byGpu.has(gpu)) byGpu.set(gpu, { name: gpu, points: [] });
    byGpu.get(gpu).points.push({ x: at("at_ms") / 1000, y: at("value") });
  }
  for (const choice of choices.values()) choice.lines = [...choice.byGpu.values()];
  return linesChart(section, [...choices.values()], "second", "A line is a GPU, from sample to sample.");
}
