// Lines and points: step times, bandwidth against size, memory over time.

const kLinesApart = 8; // more lines than that are not told apart by colour

// Ranks with the rows of each, in their order.
function rowsByRank(result) {
  const ranks = new Map();
  for (const row of rowNumbers(result)) {
    const rank = result.at(row, "rank");
    if (!ranks.has(rank)) ranks.set(rank, []);
    ranks.get(rank).push(row);
  }
  return [...ranks].sort((a, b) => a[0] - b[0]);
}

function drawSteps(svg, width, result, ranks, classOf) {
  const [left, right, top, bottom] = [64, width - 16, 24, 250];
  const steps = [...new Set(result.columns.find((c) => c.name === "step").values)];
  steps.sort((a, b) => a - b);
  const x = d3.scalePoint().domain(steps).range([left + 16, right - 16]);
  const rows = rowNumbers(result);
  const y = d3.scaleLinear().domain([0, d3.max(rows, (row) => result.at(row, "step_ms")) || 1])
    .range([bottom, top]).nice();
  drawAxisLeft(svg, y, left, right, "ms");
  const every = Math.max(1, Math.ceil(steps.length / Math.max(2, (right - left) / 60)));
  const named = steps.filter((_, i) => i % every === 0);
  const axis = d3.axisBottom(x).tickValues(named).tickSizeOuter(0);
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`).call(axis);
  svg.append("text").attr("class", "label").attr("x", (left + right) / 2).attr("y", bottom + 34)
    .attr("text-anchor", "middle").text("step");
  const marks = [];
  for (const [rank, ofRank] of ranks) {
    const points = ofRank.map((row) => [x(result.at(row, "step")), y(result.at(row, "step_ms"))]);
    const className = classOf(rank);
    svg.append("path").attr("class", className).attr("d", d3.line()(points));
    ofRank.forEach((row, i) => {
      const [px, py] = points[i];
      svg.append("circle").attr("class", `${className} point`).attr("cx", px).attr("cy", py)
        .attr("r", 3);
      marks.push({
        x: px - 4, y: py - 4, width: 8, height: 8,
        lines: [`rank ${rank}, step ${result.at(row, "step")}`,
          shownTime(result.at(row, "step_ms")),
          `${shownShare(result.at(row, "over_median_pct"))} over the rank's median`],
      });
    });
  }
  return { height: bottom + 44, marks };
}

function stepsChart(section, result) {
  const ranks = rowsByRank(result);
  const few = ranks.length <= kLinesApart;
  // Of many ranks only the one with the longest step has a colour of its own.
  const rows = rowNumbers(result);
  const slowest = rows.reduce((best, row) =>
    (result.at(row, "step_ms") > result.at(best, "step_ms") ? row : best), 0);
  const slowestRank = result.at(slowest, "rank");
  const place = new Map(ranks.map(([rank], i) => [rank, i]));
  const classOf = (rank) => {
    if (few) return `line line-${place.get(rank)}`;
    return rank === slowestRank ? "line line-1" : "line line-many";
  };
  const legend = few
    ? ranks.map(([rank]) => ({ label: `rank ${rank}`, className: classOf(rank), line: true }))
    : [{ label: `rank ${slowestRank}, with the longest step`, className: "line line-1", line: true },
      { label: "the other ranks", className: "line line-many", line: true }];
  return makeFigure({
    id: section.id,
    label: `${section.title}: a line for each of ${ranks.length} ranks`,
    caption: "Milliseconds from a step's start to its end, on the host.",
    legend,
    near: true,
    draw: (svg, width) => drawSteps(svg, width, result, ranks, classOf),
  });
}

// --- Bandwidth. --------------------------------------------------------------------------------

const kSymbols = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond,
  d3.symbolCross, d3.symbolStar, d3.symbolWye];

function bandwidthPoints(result) {
  return rowNumbers(result).map((row) => {
    const bus = result.at(row, "median_busbw_gbps");
    return {
      row,
      collective: result.at(row, "collective") || "(no name)",
      bytes: result.at(row, "bytes"),
      speed: bus === null ? result.at(row, "median_algbw_gbps") : bus,
    };
  }).filter((point) => point.bytes > 0 && point.speed > 0);
}

// What one GPU can send to others of its host, where its links are known.
function linkSpeeds() {
  const result = results.get("report/link_speed");
  return result ? rowNumbers(result).map((row) => ({
    link: result.at(row, "link"), gpu: result.at(row, "gpu"), speed: result.at(row, "gbps"),
  })) : [];
}

function drawLinks(svg, links, x, y) {
  const [left, right] = x.range();
  for (const { link, speed } of links) {
    svg.append("line").attr("class", "roof").attr("x1", left).attr("x2", right).attr("y1", y(speed))
      .attr("y2", y(speed));
    svg.append("text").attr("class", "row-name").attr("x", left + 4).attr("y", y(speed) - 4)
      .text(`${link}: ${speed} GB/s a GPU, in one direction`);
  }
  return links.map(({ link, gpu, speed }) => ({
    x: left, y: y(speed) - 2, width: right - left, height: 4,
    lines: [`${gpu}: ${link}`, `${speed} GB/s in one direction, by its data sheet`],
  }));
}

function drawBandwidth(svg, width, result, points, seriesOf) {
  const [left, right, top, bottom] = [64, width - 16, 24, 300];
  const around = ([least, most]) => [least / 1.6, most * 1.6];
  const links = linkSpeeds();
  const x = d3.scaleLog().domain(around(d3.extent(points, (p) => p.bytes))).range([left, right]);
  const y = d3.scaleLog().domain(around(d3.extent([...points, ...links], (p) => p.speed)))
    .range([bottom, top]);
  const bytesTick = (bytes) => shownBytes(bytes).replace(".0 ", " ");
  drawAxisLeft(svg, y, left, right, "GB/s", logTicks(y, 12), d3.format("~g"));
  drawAxisBelow(svg, x, bottom, top, "bytes of a collective",
    logTicks(x, (right - left) / 70), bytesTick);
  const lines = drawLinks(svg, links, x, y);
  const marks = points.map((point) => {
    const [px, py] = [x(point.bytes), y(point.speed)];
    const series = seriesOf.get(point.collective);
    svg.append("path").attr("class", `${series.className} dot`)
      .attr("transform", `translate(${px},${py})`).attr("d", d3.symbol().type(series.symbol).size(50)());
    const gbps = (name) => `${result.shown(point.row, name)} GB/s`;
    const estimate = result.at(point.row, "is_estimate") ? ", estimated from one rank" : "";
    return {
      x: px - 5, y: py - 5, width: 10, height: 10,
      lines: [`${point.collective}, ${shownBytes(point.bytes)}${estimate}`,
        `group ${result.at(point.row, "group_description") || ""} of `
          + `${result.at(point.row, "group_size")}`,
        `bus ${gbps("median_busbw_gbps")}, algorithm ${gbps("median_algbw_gbps")}`,
        `${whole.format(result.at(point.row, "collectives"))} collectives`],
    };
  });
  return { height: bottom + 44, marks: [...marks, ...lines] };
}

function bandwidthChart(section, result) {
  const points = bandwidthPoints(result);
  if (points.length === 0) return "No collective has a size and a duration.";
  const kinds = [...new Set(points.map((point) => point.collective))].sort();
  const seriesOf = new Map(kinds.map((kind, i) => [kind, {
    label: shortened(kind, 40), className: `fill-${i % kPalette}`,
    symbol: kSymbols[i % kSymbols.length],
  }]));
  return makeFigure({
    id: section.id,
    label: `${section.title}: ${points.length} points`,
    caption: "Median bus bandwidth (as in nccl-tests; the algorithm's where it has no factor) against "
      + `size; both axes are logarithmic.${linkSpeeds().length > 0 ? " The line is what the links between "
        + "GPUs of one host can do; between hosts the network is slower." : ""}`,
    legend: [...seriesOf.values()].slice(0, 20),
    near: true,
    draw: (svg, width) => drawBandwidth(svg, width, result, points, seriesOf),
  });
}

// --- Memory. -----------------------------------------------------------------------------------

const kDeviceTypes = new Map([[0, "host"], [1, "GPU"]]);

function memoryDevices(result) {
  const devices = new Map();
  for (const row of rowNumbers(result)) {
    const type = result.at(row, "device_type");
    const kind = kDeviceTypes.get(type) || `device type ${type}`;
    const number = type === 0 ? "" : ` ${result.at(row, "device_id")}`;
    const name = `rank ${result.at(row, "rank")}, ${kind}${number}`;
    if (!devices.has(name)) devices.set(name, { name, rows: [], most: 0 });
    const device = devices.get(name);
    device.rows.push(row);
    device.most = Math.max(device.most, result.at(row, "max_allocated_bytes") || 0);
  }
  return [...devices.values()];
}

function drawMemory(svg, width, result, device) {
  const [left, right, top, bottom] = [72, width - 16, 24, 260];
  const at = (name) => (row) => result.at(row, name);
  const { rows } = device;
  const x = d3.scaleLinear().domain(d3.extent(rows, at("start_ms"))).range([left, right]);
  const most = d3.max(rows, (row) => Math.max(at("max_allocated_bytes")(row),
    at("max_reserved_bytes")(row) || 0)) || 1;
  const y = d3.scaleLinear().domain([0, most]).range([bottom, top]).nice();
  drawAxisLeft(svg, y, left, right, "", 5, shownBytes);
  drawAxisBelow(svg, x, bottom, top, "ms since the first event", 8);
  const px = (row) => x(at("start_ms")(row));
  const area = d3.area().x(px).y0(bottom).y1((row) => y(at("max_allocated_bytes")(row)))
    .curve(d3.curveStepAfter);
  svg.append("path").attr("class", "fill-compute soft-fill").attr("d", area(rows));
  const lines = [["max_allocated_bytes", "line line-0"], ["min_allocated_bytes", "line line-least"],
    ["max_reserved_bytes", "line line-reserved"]];
  for (const [name, className] of lines) {
    const line = d3.line().x(px).y((row) => y(at(name)(row))).curve(d3.curveStepAfter)
      .defined((row) => at(name)(row) !== null);
    svg.append("path").attr("class", className).attr("d", line(rows));
  }
  const marks = rows.map((row, i) => ({
    x: px(row), y: top, height: bottom - top,
    width: Math.max((i + 1 < rows.length ? px(rows[i + 1]) : right) - px(row), 1),
    lines: [`from ${inThree.format(at("start_ms")(row))} ms`,
      `allocated ${shownBytes(at("min_allocated_bytes")(row))} to `
        + shownBytes(at("max_allocated_bytes")(row)),
      `reserved ${shownBytes(at("max_reserved_bytes")(row))}`],
  }));
  return { height: bottom + 44, marks };
}

function memoryChart(section, result) {
  const devices = memoryDevices(result);
  let shown = devices.reduce((best, device) => (device.most > best.most ? device : best));
  const select = element("select");
  devices.forEach((device, i) => {
    const option = element("option", { value: i }, device.name);
    option.selected = device === shown;
    select.append(option);
  });
  const figure = makeFigure({
    id: section.id,
    label: `${section.title}: lines of one device, chosen above`,
    caption: "Bytes allocated (most and least) and reserved; shown first is the device that "
      + "allocated most.",
    legend: [{ label: "allocated, most", className: "line line-0", line: true },
      { label: "allocated, least", className: "line line-least", line: true },
      { label: "reserved", className: "line line-reserved", line: true }],
    before: element("div", { class: "controls" }, element("label", {}, "Device ", select)),
    draw: (svg, width) => drawMemory(svg, width, result, shown),
  });
  select.addEventListener("change", () => {
    shown = devices[select.value];
    figure.redraw();
  });
  return figure;
}
