/// <reference lib="dom" />
import assert from "node:assert/strict";
import { stack } from "../../support/stack.ts";
import { newUser } from "../../support/users.ts";
import { inBrowser, openBrowser, type Page } from "../browser.ts";
import { isSeen, store } from "../steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

/** Runs `meanwhile` after a page's first search and before its second. */
function afterFirstSearch(meanwhile: () => Promise<void>) {
  let searches = 0;
  return (page: Page) =>
    page.route("**/rest/v1/rpc/search_logs", async (route) => {
      if (!route.request().postData()?.includes("@kind:marker")) searches += 1;
      if (searches === 2) await meanwhile();
      await route.continue();
    });
}

inBrowser(
  "a first event that arrives between two requests of the page appears by itself",
  async () => {
    const user = await newUser();
    await using tab = await browser.open(user.token, {
      prepare: afterFirstSearch(() => store(user, [{ msg: "in between" }])),
    });
    await isSeen(tab.page, "in between");
  },
);

inBrowser("a first event appears even if the range or the query would hide it", async () => {
  const user = await newUser();
  await using tab = await browser.open(user.token, { hash: "q=level:error&from=now-5m" });
  const { page } = tab;
  await page.getByText("Waiting for the first event…").waitFor();
  const yesterday = new Date(Date.now() - 86_400_000).toISOString();
  await store(user, [{ ts: yesterday, level: "info", msg: "from an old file" }]);
  await isSeen(page, "from an old file");

  // From now on the query and range apply.
  await page.evaluate(() => {
    location.hash = "q=level:error&from=now-5m";
  });
  await page.getByText("Nothing found in this range").waitFor();
});

inBrowser("a page that is older than the deployment reloads itself once and says so", async () => {
  const user = await newUser();
  let isOutdated = false;
  await using tab = await browser.open(user.token, {
    expected: /404|Failed to fetch dynamically imported module/,
    prepare: async (page) => {
      // Files of an older deployment are gone when there is a newer one.
      await page.route(/keys-screen.*\.js/, (route) => route.fulfill({ status: 404, body: "" }));
      // The open page fetches this to find out that it is outdated.
      await page.route(`${stack.url}/`, async (route) => {
        if (!isOutdated || route.request().resourceType() !== "fetch") return route.continue();
        isOutdated = false;
        const text = await (await route.fetch()).text();
        await route.fulfill({ body: text.replace(/src="[^"]+\.js"/, 'src="./assets/newer.js"') });
      });
    },
  });
  const { page } = tab;
  const keys = page.getByRole("link", { name: "Keys" });
  // There is no newer version, so the page does not reload.
  await keys.click();
  await page.getByText("This screen could not be loaded").waitFor();
  await page.getByRole("link", { name: "Search" }).click();
  await page.getByText("Send the first event").waitFor();

  await page.reload();
  isOutdated = true;
  await keys.click();
  await page.getByText("The console was updated and reloaded.").waitFor();
  // A file that is missing from the newest version must not cause endless reloads.
  await page.getByText("This screen could not be loaded").waitFor();
  assert.match(page.url(), /#\/keys$/);
  await page.unroute(/keys-screen.*\.js/);
  await page.getByRole("button", { name: "Load the page again" }).click();
  await page.getByText("No keys yet").waitFor();
  assert.equal(await page.getByText("The console was updated").count(), 0);
});
