import assert from "node:assert/strict";
import { createRule } from "../support/alert_rules.ts";
import { newUser } from "../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "./browser.ts";
import { isSeen, store } from "./steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

inBrowser("numbers and times follow the reader's locale", async () => {
  const user = await newUser();
  const two = (part: number) => String(part).padStart(2, "0");
  const at = (day: string, minute: number, second = 0) =>
    `${day}T17:${two(minute)}:${two(second)}Z`;
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  await store(
    user,
    Array.from({ length: 1200 }, (_, i) => ({
      ts: at(day, i % 60, Math.floor(i / 60)),
      level: "info",
      msg: `m${i}`,
    })),
  );
  const hash = `q=&from=${at(day, 0)}&to=${day}T18:00:00Z`;
  const date = (language: string) =>
    new Date(day).toLocaleDateString(language, { month: "short", day: "numeric", timeZone: "UTC" });
  for (
    const [language, number, range] of [
      ["de-DE", "1.200 records", `${date("de")}, 17:00–18:00 Uhr`],
      ["en-US", "1,200 records", `${date("en")}, 17:00 – 18:00`],
    ] as const
  ) {
    await using tab = await browser.open(user.token, { hash, locale: language });
    const { page } = tab;
    await isSeen(page, "m1199");
    await page.locator(".histogram-total", { hasText: number }).waitFor();
    // Browsers differ in white space.
    const label = await page.locator(".range-label").innerText();
    assert.equal(label.replace(/\s/g, " "), range);
    // A row's time is the same in every locale.
    await page.getByRole("row").filter({ hasText: "17:59:19.000" }).first().waitFor();
  }
});

inBrowser("a threshold follows the reader's locale", async () => {
  const user = await newUser();
  await createRule(user, {
    p_name: "rate",
    p_query_dsl: "level:error | rate()",
    p_threshold: 2.5,
    p_enabled: false,
  });
  await using tab = await browser.open(user.token, { hash: "/alerts?tab=rules", locale: "de-DE" });
  const { page } = tab;
  let sent = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/update_alert_rule")) sent += 1;
  });
  const field = page.getByRole("textbox", { name: "Threshold" });
  const save = page.getByRole("button", { name: "Save", exact: true });
  await page.getByRole("button", { name: "rate", exact: true }).click();
  await field.waitFor();
  assert.equal(await field.inputValue(), "2,5");
  // A point could be a thousands separator.
  await field.fill("1.500");
  await save.click();
  await page.getByText("Write a number such as 1,5").waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.deepEqual(await accessibilityFaults(page), []);
  await field.fill("1,5");
  await save.click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(sent, 1);
  const [changed] = await user.client.call("list_alert_rules", {});
  assert.equal(changed?.threshold, 1.5);
});
