// What Nsight Compute measured: memory traffic of kernels over the GPU time of them all, with where
// the backward pass begins and how large the L2 cache is; and kernels under the roof.

function overlayPoints(result) {
  return rowNumbers(result)
    .filter((row) => result.at(row, "mbyte") > 0) // of a logarithmic axis
    .map((row) => ({
      row, x: result.at(row, "gpu_time_ms"), y: result.at(row, "mbyte"),
      series: [result.at(row, "metric"), result.at(row, "rank")].filter((part) => part !== null)
        .join(", rank "),
    }));
}

function overlayLines(result, { row, x, y, series }) {
  const at = (name) => result.at(row, name);
  return [`kernel ${at("kernel")}: ${shortened(at("name") || "", 80)}`,
    `${series}: ${inThree.format(y)} Mbyte`,
    `${inThree.format(x)} ms of GPU time up to its end${
      at("is_backward") === 1 ? ", of the backward pass" : ""}`];
}

function drawOverlay(svg, width, result, points, classOf) {
  const [left, right, top, bottom] = [64, width - 16, 24, 300];
  const { row } = points[0];
  const [border, l2] = ["border_ms", "l2_mbyte"].map((name) => result.at(row, name));
  const x = d3.scaleLinear().domain([0, d3.max(points, (p) => p.x) || 1]).range([left, right]);
  const [least, most] = d3.extent([...points.map((p) => p.y), ...(l2 > 0 ? [l2] : [])]);
  const y = d3.scaleLog().base(2).domain([least / 1.3, most * 1.3]).range([bottom, top]);
  const powers = d3.range(Math.ceil(Math.log2(least / 1.3)), Math.floor(Math.log2(most * 1.3)) + 1);
  const every = Math.max(1, Math.ceil(powers.length / 12));
  const ticks = powers.filter((power) => power % every === 0).map((power) => 2 ** power);
  drawAxisLeft(svg, y, left, right, "Mbyte", ticks, d3.format("~g"));
  drawAxisBelow(svg, x, bottom, top, "ms of GPU time", 8);
  const rule = (x1, x2, y1, y2, text, at) => {
    svg.append("line").attr("class", "roof").attr("x1", x1).attr("x2", x2).attr("y1", y1)
      .attr("y2", y2);
    svg.append("text").attr("class", "row-name").attr("x", at[0]).attr("y", at[1]).text(text);
  };
  if (border !== null) {
    rule(x(border), x(border), top, bottom, "backward pass", [x(border) + 4, top + 10]);
  }
  if (l2 > 0) rule(left, right, y(l2), y(l2), `L2: ${inOne.format(l2)} Mbyte`, [left + 4, y(l2) - 4]);
  const marks = points.map((point) => {
    const [px, py] = [x(point.x), y(point.y)];
    svg.append("circle").attr("class", `${classOf.get(point.series)} dot`).attr("cx", px)
      .attr("cy", py).attr("r", 3);
    return { x: px - 4, y: py - 4, width: 8, height: 8, lines: overlayLines(result, point) };
  });
  return { height: bottom + 44, marks };
}

function ncuOverlayChart(section, result) {
  const points = overlayPoints(result);
  if (points.length === 0) return "No kernel moved anything by these metrics.";
  const totals = new Map(points.map(({ row, series }) => [series, result.at(row, "total_mbyte")]));
  const classOf = new Map([...totals.keys()].map((series, i) => [series, `fill-${i % kPalette}`]));
  return makeFigure({
    id: section.id, near: true,
    label: `${section.title}: ${points.length} kernels and metrics`,
    caption: "A point is a kernel; kernels were replayed one after the other.",
    legend: [...totals].map(([series, total]) => ({
      label: `${series}: ${inOne.format(total)} Mbyte in all`, className: classOf.get(series),
    })),
    draw: (svg, width) => drawOverlay(svg, width, result, points, classOf),
  });
}

function drawNcuRoofline(svg, width, result, points) {
  const [left, right, top, bottom] = [64, width - 16, 24, 360];
  const peaks = rooflinePeaks(result, points);
  const around = ([least, most]) => [least / 1.8, most * 1.8];
  const x = d3.scaleLog().domain(around(d3.extent(points, (p) => p.x))).range([left, right]);
  const y = d3.scaleLog().domain(around(d3.extent([...points.map((p) => p.y),
    ...peaks.map((p) => p.tflops)]))).range([bottom, top]);
  drawAxisLeft(svg, y, left, right, "TFLOP/s", logTicks(y, 12), d3.format("~g"));
  drawAxisBelow(svg, x, bottom, top, "operations a byte", logTicks(x, (right - left) / 70), d3.format("~g"));
  drawRoofs(svg, peaks.slice(0, 1), x, y); // clocks differ from kernel to kernel
  const marks = points.map(({ row, x: intensity, y: tflops }) => {
    const at = (name) => result.at(row, name);
    const [px, py] = [x(intensity), y(tflops)];
    svg.append("circle").attr("class", "fill-0 dot").attr("cx", px).attr("cy", py).attr("r", 4);
    return {
      x: px - 5, y: py - 5, width: 10, height: 10,
      lines: [`kernel ${at("kernel")}: ${shortened(at("base_name") || "", 80)}`,
        `${inTwo.format(tflops)} TFLOP/s, ${inOne.format(at("dur_us"))} µs`,
        at("roof_pct") === null ? "" : `${shownShare(at("roof_pct"))} of its roof, bound by ${at("bound")}`],
    };
  });
  return { height: bottom + 44, marks };
}

function ncuRooflineChart(section, result) {
  const points = rowNumbers(result)
    .filter((row) => result.at(row, "intensity") > 0 && result.at(row, "tflops") > 0)
    .map((row) => ({ row, x: result.at(row, "intensity"), y: result.at(row, "tflops") }));
  if (points.length === 0) return "No kernel has operations among its metrics.";
  return makeFigure({
    id: section.id,
    label: `${section.title}: ${points.length} kernels`,
    caption: "A point is a kernel. The line is the highest peak that Nsight Compute gives for one.",
    draw: (svg, width) => drawNcuRoofline(svg, width, result, points),
  });
}
