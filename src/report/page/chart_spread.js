// How step times are spread and drift, several runs side by side, and what memory is held for.

const kDotsMax = 2000;

// --- Step times. -------------------------------------------------------------------------------

// The single steps behind the boxes, by class; none where there are many, or boxes of many ranks.
function spreadDots(result) {
  const steps = results.get("step_times");
  if (!steps || steps.rows > kDotsMax || steps.rows < steps.found) return new Map();
  const captureOf = (query) => (page.results[query].params.match(/capture=\d+/) || [""])[0];
  if (captureOf("step_times") !== captureOf("report/step_spread")) return new Map();
  const isOfRanks = rowNumbers(result).every((row) => result.at(row, "class").startsWith("rank "));
  if (!isOfRanks) return new Map();
  const dots = new Map();
  for (const row of rowNumbers(steps)) {
    const name = `rank ${steps.at(row, "rank")}`;
    if (!dots.has(name)) dots.set(name, []);
    dots.get(name).push({ step: steps.at(row, "step"), ms: steps.at(row, "step_ms") });
  }
  return dots;
}

function drawBox(svg, at, x, y, tall) {
  const middle = y + tall / 2;
  const line = (className, x1, x2, y1, y2) => svg.append("line").attr("class", className)
    .attr("x1", x1).attr("x2", x2).attr("y1", y1).attr("y2", y2);
  line("whisker", x(at("min_ms")), x(at("max_ms")), middle, middle);
  svg.append("rect").attr("class", "box").attr("x", x(at("q1_ms"))).attr("y", y)
    .attr("width", Math.max(x(at("q3_ms")) - x(at("q1_ms")), 1)).attr("height", tall);
  line("box-middle", x(at("median_ms")), x(at("median_ms")), y - 1, y + tall + 1);
}

function drawSpread(svg, width, result, dots) {
  const names = rowNumbers(result).map((row) => result.at(row, "class"));
  const hasDrift = rowNumbers(result).some((row) => result.at(row, "drift_pct") !== null);
  const [left, right] = [widthOfNames(names, 110), width - (hasDrift ? 70 : 14)];
  const each = names.length > 16 ? 18 : 26;
  const height = 18 + names.length * each;
  const least = d3.min(rowNumbers(result), (row) => result.at(row, "min_ms"));
  const most = d3.max(rowNumbers(result), (row) => result.at(row, "max_ms"));
  const room = Math.max((most - least) * 0.04, most * 0.002);
  const x = d3.scaleLinear().domain([Math.max(least - room, 0), most + room]).range([left, right]).nice();
  drawAxisBelow(svg, x, height, 18, "ms of a step, on the host", Math.max(3, Math.round((right - left) / 110)));
  const yOf = (i) => 18 + i * each;
  drawRowNames(svg, names, left - 6, yOf, each);
  if (hasDrift) {
    svg.append("text").attr("class", "label").attr("x", right + 6).attr("y", 11).text("drift");
  }
  const marks = rowNumbers(result).map((row) => {
    const at = (name) => result.at(row, name);
    const [y, tall] = [yOf(row) + each * 0.22, each * 0.56];
    drawBox(svg, at, x, y, tall);
    // Side by side by the step's number, so that equal ones do not hide each other.
    for (const { step, ms } of dots.get(at("class")) || []) {
      svg.append("circle").attr("class", "spread-dot").attr("r", 1.8).attr("cx", x(ms))
        .attr("cy", y + tall * (0.15 + 0.7 * ((step * 0.618) % 1)));
    }
    const drift = at("drift_pct");
    if (drift !== null) {
      svg.append("text").attr("class", "row-name").attr("x", right + 6).attr("y", yOf(row) + each / 2)
        .attr("dy", "0.35em").text(`${drift > 0 ? "+" : ""}${inOne.format(drift)} %`);
    }
    return {
      x: x(at("min_ms")), y: yOf(row), width: Math.max(x(at("max_ms")) - x(at("min_ms")), 4), height: each,
      lines: [`${at("class")}: ${whole.format(at("steps"))} steps${at("ranks") > 1
        ? ` of ${whole.format(at("ranks"))} ranks` : ""}`,
      `median ${shownTime(at("median_ms"))}, half of them ${shownTime(at("q1_ms"))} to ${shownTime(at("q3_ms"))}`,
      `${shownTime(at("min_ms"))} to ${shownTime(at("max_ms"))} (rank ${at("max_rank")}, step ${at("max_step")})`,
      ...(drift === null ? [] : [`median of the first third ${shownTime(at("first_ms"))}, of the last ${
        shownTime(at("last_ms"))}`])],
    };
  });
  return { height: height + 44, marks };
}

function stepSpreadChart(section, result) {
  const dots = spreadDots(result);
  const hasDrift = rowNumbers(result).some((row) => result.at(row, "drift_pct") !== null);
  return makeFigure({
    id: section.id,
    label: `${section.title}: a box for each of ${result.rows} classes of ranks`,
    caption: `The box is the middle half of the steps, its line the median, the thin line goes from the `
      + `shortest to the longest${dots.size > 0 ? "; a dot is a step" : ""}.${hasDrift ? " Drift: the median of "
        + "the last third of the steps against that of the first." : ""}`,
    draw: (svg, width) => drawSpread(svg, width, result, dots),
  });
}

// --- Several runs. -----------------------------------------------------------------------------

// As a shell takes what names the database and two of its runs.
function compareCommand(result) {
  const one = (row) => shellWord(`${page.database}#${result.at(row, "run")}`);
  // The last to begin is the new one.
  return `tracedb compare ${one(1)} ${one(0)}`;
}

function runsChart(section, result) {
  const series = kPartitionSeries.filter((one) => result.has(one.key)
    && rowNumbers(result).some((row) => result.at(row, one.key) > 0));
  const bars = rowNumbers(result).filter((row) => result.at(row, "span_ms") !== null).map((row) => ({
    name: result.at(row, "run"),
    endText: shownTime(result.at(row, "span_ms")),
    parts: series.map((one) => ({
      series: one,
      value: result.at(row, one.key),
      lines: [result.at(row, "run"), `${one.label}: ${shownTime(result.at(row, one.key))} of a step`,
        shownShare((100 * result.at(row, one.key)) / result.at(row, "span_ms"))],
    })),
  }));
  const command = result.rows > 1
    ? commandLine("Is a difference more than noise", compareCommand(result)) : "";
  if (bars.length === 0) return command;
  const figure = makeFigure({
    id: section.id,
    label: `${section.title}: a stacked bar for each of ${bars.length} runs`,
    caption: "Milliseconds of a step of a GPU, the mean of all its steps and GPUs, shared out. What differs "
      + "may be noise: the command below tells.",
    legend: series,
    draw: (svg, width) => drawBars(svg, width, bars, { isStacked: true, axisLabel: "ms of a step" }),
  });
  figure.append(command);
  return figure;
}

// --- What memory is held for. ------------------------------------------------------------------

function memoryBars(section, result, nameOf, linesOf, className) {
  const series = { label: "", className };
  const bars = rowNumbers(result).map((row) => ({
    name: nameOf(row),
    endText: shownShare(result.at(row, "share_pct")),
    parts: [{ series, value: result.at(row, "bytes"), lines: [nameOf(row), ...linesOf(row)] }],
  }));
  return (svg, width) => drawBars(svg, width, bars, {
    isStacked: true, axisLabel: "bytes held", tickFormat: (bytes) => shownBytes(bytes).replace(".0 ", " "),
  });
}

function memoryAtPeakChart(section, result) {
  const nameOf = (row) => {
    if (result.at(row, "origin") === "before") return "allocated before the recording";
    const op = result.at(row, "op") || "in no operator";
    return result.at(row, "module") ? `${result.at(row, "module")}: ${op}` : op;
  };
  const linesOf = (row) => [shownBytes(result.at(row, "bytes")), ...(result.at(row, "blocks") === null ? []
    : [`${whole.format(result.at(row, "blocks"))} allocations`])];
  const device = `${kDeviceTypes.get(result.at(0, "device_type")) || "device"}${
    result.at(0, "device_type") === 0 ? "" : ` ${result.at(0, "device_id")}`} of rank ${result.at(0, "rank")}`;
  return makeFigure({
    id: section.id,
    label: `${section.title}: a bar for each of ${result.rows} origins`,
    caption: `${shownBytes(result.at(0, "peak_bytes"))} were allocated on ${device} at ${
      inThree.format(result.at(0, "peak_ms"))} ms, the most of all devices: by the operator that asked for it.`,
    draw: memoryBars(section, result, nameOf, linesOf, "fill-memory"),
  });
}

function memoryKindsChart(section, result) {
  return makeFigure({
    id: section.id,
    label: `${section.title}: a bar for each of ${result.rows} kinds`,
    caption: "By the memory timeline that PyTorch's profiler exported, when most was held.",
    draw: memoryBars(section, result, (row) => result.at(row, "category"),
      (row) => [shownBytes(result.at(row, "bytes"))], "fill-memory"),
  });
}
