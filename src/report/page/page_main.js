// Puts the page together: a part for each section that the program has listed.

const kCharts = {
  partition: partitionChart,
  overlap: overlapChart,
  path: pathChart,
  waits: waitsChart,
  matrix: matrixChart,
  heat: heatChart,
  overview: overviewChart,
  timeline: timelineChart,
  steps: stepsChart,
  step_spread: stepSpreadChart,
  runs: runsChart,
  roofline: rooflineChart,
  ncu_overlay: ncuOverlayChart,
  ncu_roofline: ncuRooflineChart,
  memory_at_peak: memoryAtPeakChart,
  memory_kinds: memoryKindsChart,
  top_kernels: topKernelsChart,
  top_modules: topModulesChart,
  flame: flameChart,
  training: trainingChart,
  clocks: clocksChart,
  bandwidth: bandwidthChart,
  memory: memoryChart,
};

// --- Headline and advice. ----------------------------------------------------------------------

const kFigures = {
  compute: (at) => ({
    value: shownShare(at("share_pct")), name: "computing",
    text: "of the GPUs' time some compute kernel ran: what moves the training on",
  }),
  exposed_comm: (at) => ({
    value: shownShare(at("share_pct")), name: "exposed communication",
    text: "of the GPUs' time they communicated, and nothing was computed meanwhile",
  }),
  idle: (at) => ({
    value: shownShare(at("share_pct")), name: "idle",
    text: "of the GPUs' time nothing ran on them",
  }),
  straggler: (at) => ({
    value: `rank ${at("rank")}`, name: "worst straggler",
    text: `begins ${shownShare(at("share_pct"))} of all waits in collectives: `
      + `${shownTime(at("total_ms"))}, summed over the ranks that wait`,
  }),
  step: (at) => ({
    value: shownTime(at("total_ms")), name: "median step",
    text: `the longest took ${shownShare(at("share_pct"))} more, on rank ${at("rank")}`,
  }),
};

function headlinePart(result) {
  const list = element("ul", { class: "tiles" });
  for (const row of rowNumbers(result)) {
    const at = (name) => result.at(row, name);
    const figure = kFigures[at("figure")](at);
    list.append(element("li", { "data-figure": at("figure") },
      element("strong", {}, figure.value), element("span", { class: "name" }, figure.name),
      element("span", { class: "text" }, figure.text),
      element("code", {}, `tracedb query ${at("query")}`)));
  }
  return list;
}

// A command with a button that copies it: also where pages may not write to the clipboard
// themselves the text is selected then.
function commandLine(label, command) {
  const code = element("code", {}, command);
  const button = element("button", { type: "button", "aria-label": `Copy: ${label}` }, "Copy");
  button.addEventListener("click", () => {
    window.getSelection().selectAllChildren(code);
    button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
  });
  return element("p", { class: "command" }, element("span", {}, `${label}: `), code, " ", button);
}

// A word as a shell takes it.
const shellWord = (word) => (/^[\w=.,:/+-]+$/.test(word) ? word
  : `'${word.replaceAll("'", "'\\''")}'`);

// What the job would take with a row's change; none where the text had to be cut.
function tryCommand(result, row) {
  const changes = result.at(row, "what_if");
  if (!changes || changes.endsWith("…")) return null;
  const { params } = page.results.recommendations;
  const given = [`changes=${changes}`];
  if (params.startsWith("run=")) given.push(`run=${result.at(row, "run")}`);
  const capture = params.match(/(?:^| )(capture=\d+)$/);
  if (capture) given.push(capture[1]);
  return `tracedb query what_if ${given.map((one) => `-p ${shellWord(one)}`).join(" ")}`;
}

function commandLines(result, row) {
  const see = result.at(row, "see");
  const attempt = tryCommand(result, row);
  return [attempt ? commandLine("What if", attempt) : null,
    see && !see.endsWith("…") ? commandLine("Into Perfetto", see) : null];
}

function gainText(at) {
  // Of summaries the gain may be the least, as the evidence says.
  const limit = (at("evidence") || "").includes("that gain is the least") ? "at least" : "up to";
  const own = `To gain: ${limit} ${shownTime(at("gain_ms"))} of a step (${shownShare(at("gain_pct"))})`;
  const together = at("together_ms");
  if (together === null || at("number") === 1) return `${own}.`;
  return `${own}; with all above ${shownTime(together)}.`;
}

// What the replay says of each step, where there are few.
function gainsByStep(number) {
  const gains = (page.verdict.gains || []).filter((gain) => gain.number === number);
  if (gains.length === 0 || gains.length > 6) return null;
  return element("p", { class: "source" }, gains.map((gain) =>
    `${gain.step === null ? "all" : `step ${gain.step}`}: ${shownTime(gain.before_ms)}, without it `
    + shownTime(gain.after_ms)).join("; "));
}

function adviceGo(rank, step) {
  const bounds = stepBounds().find((one) => one.step === step);
  if (!bounds || page.gathered || !page.results["report/slices"]) return null;
  const late = results.get("report/late_ranks");
  const first = late && rowNumbers(late).find((row) =>
    late.at(row, "rank") === rank && late.at(row, "step") === step && late.at(row, "start_ms") !== null);
  const place = rank === null || first === undefined ? { ...bounds, rank }
    : { from: late.at(first, "start_ms"), to: late.at(first, "start_ms") + late.at(first, "dur_ms"), rank };
  const link = cutLink(place, "Download for Perfetto");
  return element("p", {}, goButton(place, "Show in the timeline"), ...(link ? [" · ", link] : []));
}

function advicePart(result) {
  const list = element("ol", { class: "advice" });
  for (const row of rowNumbers(result)) {
    const at = (name) => result.at(row, name);
    const where = [at("rank") === null ? "" : `rank ${at("rank")}`,
      at("step") === null ? "" : `step ${at("step")}`].filter(Boolean).join(", ");
    const gain = at("gain_ms") === null ? null : element("p", { class: "gain" }, gainText(at));
    const toDo = at("advice") ? element("p", {}, `To do: ${at("advice")}.`) : null;
    list.append(element("li", {}, element("strong", {}, at("problem") || ""),
      where ? ` (${where})` : "", element("p", {}, sentence(at("evidence") || "")), toDo, gain,
      gainsByStep(at("number")), adviceGo(at("rank"), at("step")), ...commandLines(result, row)));
  }
  return list;
}

// --- Doctor's checks. --------------------------------------------------------------------------

function checkPart(check) {
  const part = element("article", { class: `check ${check.verdict}` });
  part.append(element("h3", {}, `${check.verdict}: ${check.title}`));
  const [meaning, advice] = [check.meaning, check.advice].map(paragraphs);
  part.append(...meaning, ...advice);
  const result = resultOf(check.result);
  part.append(tableDetails(result, check.title, `doctor/${check.check}`, false));
  return part;
}

function failedCheckPart(check) {
  return element("article", { class: "check finding failed" },
    element("h3", {}, `failed: ${check.title}`), element("p", {}, check.error));
}

function checksPart() {
  const part = element("section", { id: "quality", "aria-labelledby": "quality-title" });
  part.append(element("h2", { id: "quality-title" }, "Can the data be trusted?"));
  const of = (verdict) => page.checks.filter((check) => check.verdict === verdict);
  const [findings, notes, clean, failed] = ["finding", "note", "clean", "failed"].map(of);
  const counted = (list, word) => `${list.length} ${word}${list.length === 1 ? "" : "s"}`;
  part.append(element("p", { class: "verdict" },
    `${counted(findings, "finding")}, ${counted(notes, "note")}, ${clean.length} of `
    + `${page.checks.length} checks clean`
    + `${failed.length > 0 ? `, ${failed.length} failed` : ""}.`));
  part.append(...failed.map(failedCheckPart), ...findings.map(checkPart), ...notes.map(checkPart));
  const list = element("ul");
  for (const check of clean) list.append(element("li", {}, check.title));
  part.append(element("details", {}, element("summary", {}, "Checks that found nothing"), list));
  part.append(element("p", { class: "source" }, element("code", {}, "tracedb doctor")));
  return part;
}

// --- What is missing. --------------------------------------------------------------------------

// The checks that tell why there is nothing of a GPU on the page.
const kMissing = ["gpu_activity_missing", "device_events_unknown"];

function missingParagraph(check) {
  const result = resultOf(check.result);
  const ranks = [...new Set(rowNumbers(result).map((row) => result.at(row, "rank")))];
  const more = result.found > result.rows ? " and others" : "";
  const which = `rank${ranks.length + more.length > 1 ? "s" : ""} ${ranks.join(", ")}${more}`;
  return element("p", { class: "missing", "data-check": check.check },
    element("strong", {}, `What is missing: ${which}: `), `${result.at(0, "reason")}. `,
    element("a", { href: "#quality" }, "What to do"));
}

function missingParts() {
  const found = page.checks.filter((check) => check.result && kMissing.includes(check.check));
  if (found.length > 0) return found.map(missingParagraph);
  if (!page.host_only) return [];
  return [element("p", { class: "missing" },
    "There is no GPU activity in these traces; all figures are of the host.")];
}

// --- Sections. ---------------------------------------------------------------------------------

function sourceLine(section, result) {
  const { params } = page.results[section.query];
  const given = params ? params.split(" ").map((param) => ` -p ${param}`).join("") : "";
  const line = element("p", { class: "source" },
    element("code", {}, `tracedb query ${section.query}${given}`));
  if (section.thinned) line.append(` ${section.thinned}`);
  if (result.rows < result.found) {
    line.append(` The first ${whole.format(result.rows)} of ${whole.format(result.found)} rows are `
      + "on this page.");
  }
  return line;
}

function sectionBody(section, result) {
  if (section.chart === "headline") return [headlinePart(result)];
  if (section.chart === "advice") {
    return [advicePart(result), tableDetails(result, section.title, section.query, false)];
  }
  const draw = kCharts[section.chart];
  const table = tableDetails(result, section.title, section.query, !draw && result.rows <= 20);
  if (!draw) return [table];
  // A chart function says in words why there is nothing to draw.
  const drawn = draw(section, result);
  return [typeof drawn === "string" ? element("p", { class: "nothing" }, drawn) : drawn, table];
}

function sectionPart(section) {
  const result = results.get(section.query);
  const title = element("h2", { id: `${section.id}-title` }, section.title);
  const part = element("section", { id: section.id, "aria-labelledby": `${section.id}-title` });
  part.append(title);
  if (section.about) part.append(element("p", {}, section.about));
  if (page.gathered && section.chart === "advice") {
    part.append(element("p", {}, "Late ranks, transfers and waits in communication; of launches, copies, "
      + "synchronisation and single kernels only the ranks' own databases tell."));
  }
  const { error } = page.results[section.query];
  if (error) {
    part.append(element("p", { class: "nothing failed" }, `This part failed: ${error}`));
  } else {
    part.append(...sectionBody(section, result));
  }
  if (section.chart !== "headline") {
    part.append(meaningDetails(section.query), sourceLine(section, result));
  }
  return part;
}

// --- The first screen. -------------------------------------------------------------------------

function recordedFacts() {
  const result = results.get("report/recorded");
  if (!result || result.rows === 0) return null;
  const at = (name) => result.at(0, name);
  const ranks = at("ranks") === 1 ? "1 rank" : `${at("ranks")} ranks`;
  const steps = at("steps") === 1 ? `step ${at("first_step")}`
    : `${at("steps")} steps, ${at("first_step")} to ${at("last_step")}`;
  const facts = [
    ["run", at("run")],
    ["ranks", at("world_size") > at("ranks") ? `${ranks} of ${at("world_size")}` : ranks],
    ["GPUs", at("gpus")], ["hosts", at("hosts")], ["recorded", at("start") && `${at("start")} UTC`],
    ["length", shownTime(at("length_ms"))], ["steps", at("steps") ? steps : null],
    ["parallel groups of", at("groups")], ["software", at("software")],
  ];
  const list = element("dl", { class: "facts" });
  for (const [name, value] of facts) {
    if (value === null || value === undefined || value === "") continue;
    list.append(element("div", {}, element("dt", {}, name), element("dd", {}, String(value))));
  }
  return list;
}

// What has no row takes no room, but a part that failed says so.
function isThere(section) {
  const { error, result } = page.results[section.query];
  if (page.gathered && section.chart === "overview") return false; // drawn by single events
  return error || result.rows > 0;
}

// Of a gathered database: what this page would have of single events, and where these are.
function elsewherePart() {
  const titles = page.sections.filter(({ query }) => page.results[query].elsewhere)
    .map(({ title }) => title);
  if (titles.length === 0) return [];
  const part = element("section", { id: "elsewhere", "aria-labelledby": "elsewhere-title" });
  part.append(element("h2", { id: "elsewhere-title" }, "What only the ranks' own databases have"),
    element("p", {}, "This database was gathered from summaries, which have not all single events. "
      + `The first rank's own database is ${page.gathered}.`),
    element("ul", {}, ...[...new Set(titles)].map((title) => element("li", {}, title))),
    element("p", { class: "source" }, element("code", {}, "tracedb report --db RANK.db")));
  return [part];
}

function contentsOf(parts) {
  const list = element("ul");
  for (const part of parts) {
    const title = part.querySelector("h2").textContent;
    list.append(element("li", {}, element("a", { href: `#${part.id}` }, title)));
  }
  const details = element("details", {}, element("summary", {}, "Contents"), list);
  const wide = window.matchMedia("(min-width: 1300px)");
  const fold = () => {
    details.open = wide.matches;
  };
  wide.addEventListener("change", fold);
  fold();
  document.getElementById("contents").append(details);
}

function makePage() {
  pageState.read();
  const main = document.getElementById("main");
  const facts = recordedFacts();
  document.getElementById("verdict").before(...(facts ? [facts] : []), ...missingParts());
  const parts = page.sections.filter(isThere).map(sectionPart);
  parts.push(...elsewherePart(), checksPart());
  main.replaceChildren(...parts);
  contentsOf(parts);
  for (const figure of main.querySelectorAll("figure")) figure.redraw();
  if (pageState.get("t") && document.getElementById("timeline")) {
    document.getElementById("timeline").scrollIntoView();
  }
  document.documentElement.dataset.ready = "1";
}

makePage();
