// A person with a browser: opens the page, fills a form, reads the table, downloads the CSV. Prints
// what was seen as JSON.
//
//     node browser_client.cjs FOLDER-OF-NODE_MODULES BROWSER URL
const fs = require("fs");
const path = require("path");

const [tools, browserPath, url] = process.argv.slice(2);
const { chromium } = require(path.join(tools, "node_modules", "playwright-core"));

async function cells(section) {
  return section.locator("table tr").evaluateAll((rows) =>
    rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
}

async function main() {
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ acceptDownloads: true });
  const told = { alerts: 0, errors: [], foreign: [] };
  page.on("dialog", (dialog) => { told.alerts += 1; return dialog.dismiss(); });
  page.on("pageerror", (error) => told.errors.push(String(error)));
  page.on("console", (line) => { if (line.type() === "error") told.errors.push(line.text()); });
  page.on("request", (request) => {
    const isOurs = request.url().startsWith(url) || request.url().startsWith("data:");
    if (!isOurs) told.foreign.push(request.url());
  });
  await page.goto(url);
  const section = page.locator("#stream_utilization");
  await page.locator("details.query:has(#stream_utilization) > summary").click();
  await section.locator("input[name=rank]").fill("0");
  await section.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/rank=0/);
  told.address = page.url();
  told.rows = await cells(section);
  const downloading = page.waitForEvent("download");
  await section.locator("a.csv").click();
  told.csv = fs.readFileSync(await (await downloading).path(), "utf8");
  await page.goto(url);
  await page.locator("textarea").fill("SELECT 6 * 7 AS answer");
  await page.getByRole("button", { name: "Show" }).first().click();
  await page.waitForURL(/sql=/);
  told.answer = await cells(page.locator("#sql + section"));
  told.sizes = [];
  for (const width of [1400, 400]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(url);
    told.sizes.push(await page.evaluate(() => {
      const root = document.documentElement;
      return [root.scrollWidth, root.scrollHeight];
    }));
  }
  await page.goto(url + "?show=tables/kernels&order=ts_ns&limit=13");
  told.names = await page.locator("section table td").allTextContents();
  await browser.close();
  console.log(JSON.stringify(told));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
