/// <reference lib="dom" />
import assert from "node:assert/strict";
import { inBrowser } from "../console/browser.ts";
import { withLogs } from "../console/steps.ts";
import { becomes, eventually } from "../support/eventually.ts";
import { moreFiles, open, origin, portal, sessionOf } from "./portal.ts";

// Several elements on one page, with the same getToken.

Object.assign(moreFiles, {
  "/three": `<!doctype html><html lang="en"><title>shop</title>
<link rel="stylesheet" href="/shop.css"><main>${
    `<logloom-viewer src="${portal}" range="24h"></logloom-viewer>`.repeat(3)
  }</main><script type="module" src="/three.js"></script></html>`,
  "/three.js": `globalThis.said = [];
globalThis.calls = 0;
const getToken = async () => {
  calls++;
  return nextToken();
};
for (const viewer of document.querySelectorAll("logloom-viewer")) {
  viewer.getToken = getToken;
  viewer.addEventListener("ready", () => said.push(["ready"]));
}
await import("./viewer.js");`,
});

inBrowser("three elements with one getToken share its token, and cause no 429", async () => {
  const user = await withLogs();
  const [first, second, third] = [
    await sessionOf(user, { p_expires_in: 3600 }),
    await sessionOf(user, { p_expires_in: 86_400 }),
    await sessionOf(user, { p_expires_in: 86_400 }),
  ];
  await using tab = await open([first, second, third], {
    at: `${origin}/three`,
    clock: true,
    expected: /status of 401/,
  });
  const { page } = tab;
  const frames = [0, 1, 2].map((at) =>
    page.locator("logloom-viewer").nth(at).locator("iframe").contentFrame()
  );
  const row = { hasText: "card declined" };
  const show = () =>
    Promise.all(frames.map((frame) => frame.getByRole("row").filter(row).first().waitFor()));
  const calls = () => page.evaluate(() => (globalThis as unknown as { calls: number }).calls);
  /** Runs the search in each frame until three searches have used the token. */
  const run = async (token: string) => {
    const from = tab.requests.length;
    for (const frame of frames) {
      await frame.getByRole("button", { name: "Run", exact: true }).click();
    }
    await eventually("three searches", () =>
      Promise.resolve(
        tab.requests.slice(from).filter(({ url, headers }) =>
          url.endsWith("/search_logs") && headers.authorization === `Bearer ${token}`
        ).length >= 3,
      ));
    await show();
  };
  await show();
  assert.equal(await calls(), 1);
  // Until a minute before its end.
  await page.clock.fastForward(3_000_000);
  assert.equal(await calls(), 1);
  await page.clock.fastForward(570_000);
  await becomes(2, calls);
  await run(second.token);
  // An element that comes later uses the same token.
  await tab.rests();
  await page.evaluate(() => document.querySelectorAll("logloom-viewer")[2].remove());
  await page.evaluate(() => {
    const [one] = document.querySelectorAll("logloom-viewer");
    const later = one.cloneNode() as HTMLElement;
    const { getToken } = one as unknown as { getToken: unknown };
    one.after(Object.assign(later, { getToken }));
  });
  await show();
  assert.equal(await calls(), 2);
  await user.client.call("revoke_log_portal_session", { p_session_id: second.id });
  await run(third.token);
  assert.equal(await calls(), 3);
});
