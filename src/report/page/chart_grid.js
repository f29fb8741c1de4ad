// Grids of cells, darker the larger: how busy each stream is over time.

// A lane of the heat map: neighbours of one level are one rectangle, all of a level one path.
const kHeatLevels = 10;

// Even little is seen.
const heatOpacity = (level) => 0.15 + (0.85 * level) / kHeatLevels;

function heatPaths(lanes, x, yOf, height) {
  const paths = d3.range(kHeatLevels + 1).map(() => []);
  lanes.forEach((lane, i) => {
    let from = 0;
    while (from < lane.shares.length) {
      const level = Math.ceil((lane.shares[from] * kHeatLevels) / 100);
      let to = from + 1;
      while (to < lane.shares.length
        && Math.ceil((lane.shares[to] * kHeatLevels) / 100) === level) to += 1;
      if (level > 0) paths[level].push(`M${x(from)},${yOf(i)}H${x(to)}v${height}H${x(from)}z`);
      from = to;
    }
  });
  return paths;
}

function heatLanes(result) {
  const nameOf = deviceNamer(result);
  return rowNumbers(result).map((row) => ({
    name: `${nameOf(row)}, stream ${result.at(row, "stream")}`,
    shares: JSON.parse(result.at(row, "busy_pct")),
    start: result.at(row, "start_ms"),
    bin: result.at(row, "bin_ms"),
  }));
}

function drawHeat(svg, width, lanes) {
  const names = lanes.map((lane) => lane.name);
  const left = widthOfNames(names, 200);
  const right = width - 12;
  const rowHeight = lanes.length > 100 ? 7 : lanes.length > 40 ? 11 : 18;
  const height = lanes.length * rowHeight;
  const { start, bin, shares } = lanes[0];
  const bins = shares.length;
  const x = (at) => left + ((right - left) * at) / bins;
  svg.append("rect").attr("class", "sheet").attr("x", left).attr("y", 0)
    .attr("width", right - left).attr("height", height);
  const gap = rowHeight > 8 ? 1 : 0;
  const time = d3.scaleLinear().domain([start, start + bins * bin]).range([left, right]);
  drawAxisBelow(svg, time, height, 0, "ms since the first event", 8);
  heatPaths(lanes, x, (i) => i * rowHeight, rowHeight - gap).forEach((pieces, level) => {
    if (pieces.length === 0) return;
    svg.append("path").attr("class", "heat").attr("d", pieces.join(""))
      .attr("fill-opacity", heatOpacity(level));
  });
  drawRowNames(svg, names, left - 6, (i) => i * rowHeight, rowHeight);
  // One mark for eight pieces: as many as arrow keys can be asked to go through.
  const each = Math.max(1, Math.round(bins / 20));
  const marks = lanes.flatMap((lane, i) =>
    d3.range(0, bins, each).map((from) => {
      const to = Math.min(from + each, bins);
      const share = d3.mean(lane.shares.slice(from, to));
      return {
        x: x(from), y: i * rowHeight, width: x(to) - x(from), height: rowHeight - gap,
        lines: [lane.name, `${shownTime(start + from * bin)} to ${shownTime(start + to * bin)}`,
          `busy ${shownShare(share)}`],
      };
    }));
  return { height: height + 44, marks };
}

function heatChart(section, result) {
  const lanes = heatLanes(result);
  const legend = [1, 5, 10].map((level) => ({
    label: level === 10 ? "100 % busy" : `${level * 10} %`, className: "heat",
    opacity: heatOpacity(level),
  }));
  return makeFigure({
    id: section.id,
    label: `${section.title}: a line for each of ${lanes.length} streams`,
    caption: "How much of each piece of time something ran in.",
    legend,
    draw: (svg, width) => drawHeat(svg, width, lanes),
  });
}
