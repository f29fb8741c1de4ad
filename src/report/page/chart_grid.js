// Grids of cells, darker the larger: who waits for whom, and how busy each stream is over time.

const kMatrixRanksMax = 96;

// Ranks of the matrix in their order; of very many those with the longest waits.
function matrixRanks(result) {
  const sums = new Map();
  for (const row of rowNumbers(result)) {
    for (const name of ["waiting_rank", "last_rank"]) {
      const rank = result.at(row, name);
      sums.set(rank, (sums.get(rank) || 0) + result.at(row, "wait_ms"));
    }
  }
  const ranks = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a) || a - b);
  return { ranks: ranks.slice(0, kMatrixRanksMax).sort((a, b) => a - b), all: ranks.length };
}

function drawMatrix(svg, width, result, ranks) {
  const left = 64;
  const top = 40;
  const size = Math.max(6, Math.min(46, Math.floor((width - left - 8) / ranks.length)));
  const places = new Map(ranks.map((rank, i) => [rank, i]));
  const most = d3.max(rowNumbers(result), (row) => result.at(row, "wait_ms")) || 1;
  const opacity = d3.scaleSqrt().domain([0, most]).range([0.06, 1]);
  const names = ranks.map(String);
  drawRowNames(svg, names, left - 6, (i) => top + i * size, size);
  const every = Math.max(1, Math.ceil(24 / size));
  names.forEach((name, i) => {
    if (i % every !== 0) return;
    svg.append("text").attr("class", "row-name").attr("x", left + (i + 0.5) * size)
      .attr("y", top - 6).attr("text-anchor", "middle").text(name);
  });
  svg.append("text").attr("class", "label").attr("x", left).attr("y", 12)
    .text("for this rank, the last to start →");
  svg.append("text").attr("class", "label").attr("text-anchor", "middle")
    .attr("transform", `translate(14,${top + (ranks.length * size) / 2}) rotate(-90)`)
    .text("← this rank waited");
  svg.append("rect").attr("class", "sheet").attr("x", left).attr("y", top)
    .attr("width", ranks.length * size).attr("height", ranks.length * size);
  const marks = [];
  for (const row of rowNumbers(result)) {
    const across = places.get(result.at(row, "last_rank"));
    const down = places.get(result.at(row, "waiting_rank"));
    if (across === undefined || down === undefined) continue;
    const wait = result.at(row, "wait_ms");
    const mark = {
      x: left + across * size, y: top + down * size, width: size, height: size,
      lines: [
        `rank ${result.at(row, "waiting_rank")} waited for rank ${result.at(row, "last_rank")}`,
        `${shownTime(wait)} in ${whole.format(result.at(row, "collectives"))} collectives`,
        `at most ${shownTime(result.at(row, "max_wait_ms"))}`,
      ],
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
  const { ranks, all } = matrixRanks(result);
  const some = all > ranks.length ? ` Of ${all} ranks, the ${ranks.length} with most waits.` : "";
  return makeFigure({
    id: section.id,
    label: `${section.title}: a grid of ${ranks.length} by ${ranks.length} ranks`,
    caption: `Waits in milliseconds, summed over all collectives; a stronger colour is longer.${some}`,
    draw: (svg, width) => drawMatrix(svg, width, result, ranks),
  });
}

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
