/// <reference lib="dom" />
import assert from "node:assert/strict";
import { stack } from "../../support/stack.ts";
import { newUser } from "../../support/users.ts";
import { inBrowser, openBrowser, type Page } from "../browser.ts";
import { isSeen, store } from "../steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

/** The first search of a page is answered, and then `meanwhile` happens before the page asks anything more. */
function afterFirstSearch(meanwhile: () => Promise<void>) {
  let searches = 0;
  return (page: Page) =>
    page.route("**/rest/v1/rpc/search_logs", async (route) => {
      searches += 1;
      if (searches === 2) await meanwhile();
      await route.continue();
    });
}

inBrowser(
  "a first event that comes between two questions of the page appears by itself",
  async () => {
    const user = await newUser();
    await using tab = await browser.open(user.token, {
      prepare: afterFirstSearch(() => store(user, [{ msg: "in between" }])),
    });
    await isSeen(tab.page, "in between");
  },
);

inBrowser("a first event appears where the range or the query leave it out", async () => {
  const user = await newUser();
  await using tab = await browser.open(user.token, { hash: "q=level:error&from=now-5m" });
  const { page } = tab;
  await page.getByText("Waiting for the first event…").waitFor();
  const yesterday = new Date(Date.now() - 86_400_000).toISOString();
  await store(user, [{ ts: yesterday, level: "info", msg: "from an old file" }]);
  await isSeen(page, "from an old file");

  // From now on nothing is shown that a search did not find.
  await page.evaluate(() => {
    location.hash = "q=level:error&from=now-5m";
  });
  await page.getByText("Nothing found in this range").waitFor();
});

inBrowser(
  "a page that stayed open while a newer one was deployed loads itself anew, once, and says so",
  async () => {
    const user = await newUser();
    let isOutdated = false;
    await using tab = await browser.open(user.token, {
      expected: /404|Failed to fetch dynamically imported module/,
      prepare: async (page) => {
        // Files of an older deployment are gone when there is a newer one.
        await page.route(/keys-screen.*\.js/, (route) => route.fulfill({ status: 404, body: "" }));
        // What an open page reads to learn of it; what is loaded after that is the newest.
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
    // The same page as before: nothing would be gained by loading it anew.
    await keys.click();
    await page.getByText("This screen could not be loaded").waitFor();
    await page.getByRole("link", { name: "Search" }).click();
    await page.getByText("Send the first event").waitFor();

    await page.reload();
    isOutdated = true;
    await keys.click();
    await page.getByText("The console was updated and reloaded.").waitFor();
    // What is missing in the newest page, too, is told instead of loading for ever.
    await page.getByText("This screen could not be loaded").waitFor();
    assert.match(page.url(), /#\/keys$/);
    await page.unroute(/keys-screen.*\.js/);
    await page.getByRole("button", { name: "Load the page again" }).click();
    await page.getByText("No keys yet").waitFor();
    assert.equal(await page.getByText("The console was updated").count(), 0);
  },
);
