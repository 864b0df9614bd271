/// <reference lib="dom" />
import assert from "node:assert/strict";
import { createReader } from "../../../packages/logloom/src/read.ts";
import { createRule } from "../../support/alert_rules.ts";
import { receiveEmails } from "../../support/receivers.ts";
import { stack } from "../../support/stack.ts";
import { userToken } from "../../support/tokens.ts";
import { newUser } from "../../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser, type Page } from "../browser.ts";
import { boxOf, isSeen, store } from "../steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

/** Controls beyond the page's edge that cannot be scrolled to. */
const outOfReach = (page: Page) =>
  page.evaluate(() => {
    const scrolls = (element: Element | null): boolean =>
      element !== null && element.tagName !== "MAIN" &&
      (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    return [...document.querySelectorAll("main :is(button, a, input, select)")]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one))
      .map((one) => (one as HTMLElement).innerText || one.outerHTML);
  });

inBrowser("axe finds nothing on any screen, in both themes, on desktop and phone", async () => {
  const user = await newUser();
  await store(user, [{ level: "error", service: "api", msg: "x", attrs: { a: { b: 1 } } }]);
  await user.client.call("create_api_key", { p_name: "web" });
  await user.client.call("create_log_dashboard", {
    p_name: "Shop",
    p_panels: [
      { title: "All", query_dsl: "| count()", kind: "number" },
      { title: "Services", query_dsl: "| count() by service", kind: "bars" },
      { title: "Course", query_dsl: "| count() by service", kind: "lines", width: 12 },
    ],
  });
  const [dashboard] = await user.client.call("list_log_dashboards", {});
  const screens = ["/overview", "/search", "tab=patterns", "tab=changes"]
    .concat(["q=%7C+count()+by+level", "/dashboards", `/dashboards?id=${dashboard.dashboard_id}`])
    .concat(["/errors", "/alerts", "/alerts?tab=rules", "/history", "/saved", "/keys"])
    .concat(["/alerts?tab=channels", "/alerts?tab=silences"])
    .concat(["/usage", "/health", "/settings", "/settings?tab=streams", "/settings?tab=archive"])
    .concat(["/settings?tab=audit", "/settings?tab=customers"])
    .concat(["/members", "/nosuch"]);
  const looks = [["light", 1280], ["dark", 1280], ["light", 390], ["dark", 390]] as const;
  for (const [theme, width] of looks) {
    await using tab = await browser.open(user.token, {
      theme,
      width,
      // On a busy machine the service may report itself as degraded.
      expected: /health\/detailed|status of 503/,
    });
    await isSeen(tab.page, "x");
    for (const hash of screens) {
      await tab.page.evaluate((to) => {
        location.hash = to;
      }, hash);
      await tab.page.locator("main h1").waitFor();
      await tab.page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => {});
      if (hash === "/search") await tab.page.locator("[data-row]").first().click();
      assert.deepEqual(await accessibilityFaults(tab.page), [], `${theme} ${width} ${hash}`);
      assert.deepEqual(await outOfReach(tab.page), [], `${theme} ${width} ${hash}`);
      const first = await boxOf(tab.page.locator("main h1:not(.hidden), .query-line").first());
      assert.equal(first.x, width === 390 ? 8 : 14, `the margin of ${hash}`);
    }
  }
});

inBrowser("an alert rule is created with a preview", async () => {
  const user = await newUser();
  await store(user, [{ level: "error", msg: "broken" }]);
  await using tab = await browser.open(user.token, { hash: "/alerts?tab=rules" });
  const { page } = tab;
  await page.getByRole("button", { name: "New rule" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Any error");
  await page.getByText(/it would have fired/).waitFor();
  const threshold = page.getByRole("slider", { name: "Threshold" });
  const before = Number(await threshold.getAttribute("aria-valuenow"));
  await threshold.press("ArrowDown");
  assert.ok(Number(await threshold.getAttribute("aria-valuenow")) < before);
  await page.getByLabel("Threshold", { exact: true }).first().fill("0");
  const isCut = page.locator("dialog[data-more]");
  await page.setViewportSize({ width: 390, height: 844 });
  await isCut.evaluate((dialog) => dialog.scrollTo(0, dialog.scrollHeight));
  await isCut.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Create the rule" }).click();
  await page.getByRole("button", { name: "Any error" }).waitFor();
  const body = await user.client.call("list_alert_rules", {});
  assert.deepEqual(body.map(({ threshold }) => threshold), [0]);
});

inBrowser("an unconfirmed address is shown and confirmed with the emailed code", async () => {
  const user = await newUser();
  await using mailbox = await receiveEmails();
  const email = `${user.tenantId}@example.com`;
  await createRule(user, {
    p_name: "Any error",
    p_notification_destinations: ["email"],
    p_notification_config: { email },
  });
  await using tab = await browser.open(user.token, {
    hash: "/alerts?tab=rules",
    expected: /status (of )?400/,
  });
  const { page } = tab;
  const field = page.getByLabel(`Code mailed to ${email}`);
  await field.waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  const code = await mailbox.waitForCode(email);
  await field.fill(`${(Number(code) + 1) % 1_000_000}`.padStart(6, "0"));
  await page.getByRole("button", { name: "Confirm", exact: true }).click();
  await page.getByText("The code is wrong").waitFor();
  await field.fill(code);
  await page.getByRole("button", { name: "Confirm", exact: true }).click();
  await field.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Any error" }).waitFor();
});

inBrowser("a key is created, used, rotated and revoked", async () => {
  const user = await newUser();
  await using tab = await browser.open(user.token, { hash: "/keys" });
  const { page } = tab;
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel(/^Name/).fill("web server");
  await page.getByRole("button", { name: "Create the key" }).click();
  const key = await page.getByTestId("key-value").innerText();
  const ingest = async () => {
    const response = await fetch(`${stack.url}/functions/v1/ingest`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: "[{}]",
    });
    await response.body?.cancel();
    return response.status;
  };
  assert.equal(await ingest(), 200);
  await page.getByRole("button", { name: "I have it" }).click();
  await page.getByRole("button", { name: "Rotate", exact: true }).click();
  await page.getByRole("button", { name: "Rotate", exact: true }).last().click();
  await page.getByRole("button", { name: "I have it" }).click();
  await page.getByRole("button", { name: "Revoke" }).last().click();
  await page.getByRole("button", { name: "Revoke", exact: true }).last().click();
  await page.getByText("revoked").waitFor();
  assert.equal(await ingest(), 401);

  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel(/^Name/).fill("script");
  const warning = page.getByText("should not have a key that reads");
  await page.getByLabel("Allowed to").selectOption("send and read");
  await warning.waitFor();
  await page.getByLabel("Allowed to").selectOption("read all records");
  await warning.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Create the key" }).click();
  const reader = createReader({
    url: stack.url,
    key: await page.getByTestId("key-value").innerText(),
  });
  assert.deepEqual((await reader.search("msg:none")).logs, []);
  await page.getByRole("button", { name: "I have it" }).click();
  await page.getByRole("cell", { name: "read", exact: true }).waitFor();
});

inBrowser(
  "hostile logs are shown as text: HTML, ANSI codes, reversed text, a long line, many fields",
  async () => {
    const user = await newUser();
    const attrs = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`f${i}`, i]));
    await store(user, [
      { msg: "<script>globalThis.hacked = 1</script>", attrs: { "<b>k</b>": "<i>v</i>" } },
      { msg: "\u001b[31mred\u001b[0m \u202eevil\u0000" },
      { msg: `long ${"x".repeat(200_000)}` },
      { msg: `ראשון ${"מילה ".repeat(200)}` },
      { msg: "many", attrs },
    ]);
    await using tab = await browser.open(user.token);
    const { page } = tab;
    await isSeen(page, "<script>globalThis.hacked = 1</script>");
    await isSeen(page, "red ⟨202e⟩evil�");
    await isSeen(page, "long xxx");
    assert.equal(await page.locator(".ansi-1").innerText(), "red");
    // A text from right to left is cut at its end, too.
    const hebrew = page.getByRole("row").filter({ hasText: "ראשון" }).locator(".cell-msg").first();
    const isBeginningSeen = await hebrew.evaluate((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode() as Text;
      range.setStart(text, 0);
      range.setEnd(text, 5);
      const [word, box] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
      return word.left >= box.left && word.right <= box.right + 1;
    });
    assert.ok(isBeginningSeen);
    await page.getByRole("row").filter({ hasText: "many" }).first().click();
    await page.getByRole("button", { name: /more$/ }).last().waitFor();
    assert.equal(await page.evaluate(() => "hacked" in globalThis), false);
  },
);

inBrowser("after an expired token the user signs in and is back at the same search", async () => {
  const user = await newUser();
  await store(user, [{ level: "error", msg: "still here" }]);
  await using tab = await browser.open(user.token, { expected: /status (of )?401/ });
  const { page } = tab;
  // Showing a tenant's first record drops the query, so wait for it first.
  await isSeen(page, "still here");
  await page.evaluate(() => {
    location.hash = "q=level:error";
  });
  // The record was visible before, so wait for the query in the box. The placeholder contains these words, too.
  await page.getByRole("textbox", { name: "Query" }).getByText("level:error", { exact: true })
    .waitFor();
  await isSeen(page, "still here");
  // From here on the service gets an expired token.
  const old = await userToken({
    tenant_id: user.tenantId,
    exp: Math.floor(Date.now() / 1000) - 90,
  });
  await page.route(
    "**/rest/v1/rpc/**",
    (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${old}` } }),
  );
  // A late request of the first search may already have ended the session.
  await page.getByRole("button", { name: "Run", exact: true })
    .evaluateAll((buttons) => buttons.forEach((button) => (button as HTMLElement).click()));
  await page.getByText("Your session has ended.").waitFor();
  await page.getByText("JWT expired").waitFor();
  await page.unroute("**/rest/v1/rpc/**");
  await page.getByLabel("Link or token").fill(user.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await isSeen(page, "still here");
  assert.match(page.url(), /q=level:error/);
});

inBrowser(
  "a slow search offers a shorter range, and the page waits for an unreachable service",
  async () => {
    const user = await newUser();
    await store(user, [{ msg: "back again" }]);
    let mode: "slow" | "away" = "slow";
    const refused = new Set<string>();
    const back = Promise.withResolvers<void>();
    await using tab = await browser.open(user.token, {
      expected: /status (of )?(408|503)/,
      prepare: (page) =>
        page.route("**/{rest,functions}/v1/**", async (route) => {
          const url = route.request().url();
          if (mode === "away") {
            if (!refused.has(url)) {
              refused.add(url);
              return await route.fulfill({ status: 503, json: { error: "Service unavailable" } });
            }
            // The page retries for only a few seconds, so answers wait until the test has seen the note.
            await back.promise;
          } else if (url.endsWith("search_logs")) {
            return route.fulfill({
              status: 408,
              json: {
                code: "PT408",
                message: "The search took too long",
                details: null,
                hint:
                  "Narrow it: a shorter range of time, or a filter by level, service or req_id.",
              },
            });
          }
          return route.continue();
        }),
    });
    const { page } = tab;
    await page.getByText("The search took too long").waitFor();
    await page.getByRole("button", { name: "Show only: Last 15 minutes" }).waitFor();
    mode = "away";
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("The service cannot be reached. Trying again…").waitFor();
    back.resolve();
    await isSeen(page, "back again");
  },
);
