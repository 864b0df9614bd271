/// <reference lib="dom" />
import assert from "node:assert/strict";
import { userToken } from "../support/tokens.ts";
import { inBrowser, openBrowser } from "./browser.ts";
import { isGone, isSeen, withLogs } from "./steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

inBrowser("a viewer reads within the view: overview, search and shared dashboards", async () => {
  const owner = await withLogs();
  await owner.client.call("add_tenant_member", { p_user_id: owner.id, p_role: "owner" });
  const { view_id } = await owner.client.call("create_log_view", {
    p_name: "api alone",
    p_query_dsl: "service:api",
    p_hidden_fields: ["attrs.status"],
  });
  const id = crypto.randomUUID();
  await owner.client.call("add_tenant_member", {
    p_user_id: id,
    p_role: "viewer",
    p_view_id: view_id,
  });
  const panel = (title: string, query_dsl: string, kind: string) => ({ title, query_dsl, kind });
  await owner.client.call("create_log_dashboard", {
    p_name: "The shop",
    p_is_shared: true,
    p_panels: [
      panel("Records", "| count()", "number"),
      panel("By status", "| count() by attrs.status", "bars"),
    ],
  });
  await owner.client.call("create_log_dashboard", { p_name: "Of my own" });

  await using tab = await browser.open(await userToken({ tenant_id: owner.tenantId, sub: id }), {
    hash: "/overview",
    // The panel that asks for what is hidden.
    expected: /status (of )?400/,
  });
  const { page } = tab;
  await page.getByRole("row", { name: /^api/ }).waitFor();
  assert.equal(await page.getByRole("row", { name: /^shop/ }).count(), 0);
  const nav = page.getByRole("navigation", { name: "Screens" });
  await nav.getByRole("link", { name: "Alerts" }).waitFor({ state: "detached" });
  assert.deepEqual(await nav.getByRole("link").allInnerTexts(), [
    "Overview",
    "Search",
    "Dashboards",
  ]);

  await nav.getByRole("link", { name: "Search" }).click();
  await isSeen(page, "slow query");
  await isGone(page, "card declined");
  assert.equal(await page.getByRole("button", { name: "Save this search" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Alert on this" }).count(), 0);
  await page.getByRole("tab", { name: "Patterns" }).click();
  await page.locator(".patterns").getByText("slow query").waitFor();
  await page.getByRole("tab", { name: "What changed?" }).click();
  await page.getByText(/^3 records, after 0 from/).waitFor();

  await nav.getByRole("link", { name: "Dashboards" }).click();
  await page.getByRole("button", { name: "The shop" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Of my own" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "New dashboard" }).count(), 0);
  await page.getByRole("button", { name: "The shop" }).click();
  const records = page.getByRole("region", { name: "Records" });
  await records.getByText("3", { exact: true }).waitFor();
  const byStatus = page.getByRole("region", { name: "By status" });
  await byStatus.getByText('The field "attrs.status" is hidden from you').waitFor();
  assert.equal(await page.getByRole("button", { name: "New panel" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Remove: Records" }).count(), 0);
});
