/// <reference lib="dom" />
import assert from "node:assert/strict";
import { inBrowser } from "../console/browser.ts";
import { store } from "../console/steps.ts";
import { eventually } from "../support/eventually.ts";
import { newUser } from "../support/users.ts";
import { moreFiles, open, origin, picture, portal, sessionOf } from "./portal.ts";

moreFiles["/dashboards"] = `<!doctype html><html lang="en"><title>shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/shop.css">
<main><h1>Shop</h1>
<logloom-viewer src="${portal}" part="dashboards" range="3h"></logloom-viewer></main>
<script type="module" src="/shop.js"></script></html>`;

const panels = [
  {
    title: "Over time",
    query_dsl: "@shop:$shop env:$env | count() by service",
    kind: "lines",
    width: 12,
  },
  { title: "By service", query_dsl: "@shop:$shop | count() by service", kind: "bars", width: 6 },
  { title: "All", query_dsl: "* | count()", kind: "number", width: 6 },
];

inBrowser("a customer reads the marked dashboards, all panels over one range", async () => {
  const user = await newUser();
  await store(user, [
    { level: "info", msg: "of ann", service: "ann-web", shop: 1, customer: 42 },
    { level: "info", msg: "of ann", service: "ann-api", shop: 2, customer: 42 },
    { level: "info", msg: "of bob", service: "bob-web", shop: 1, customer: 43 },
  ]);
  for (const [name, p_in_portal] of [["Shops", true], ["Of the staff", false]] as const) {
    await user.client.call("create_log_dashboard", {
      p_name: name,
      p_is_shared: true,
      p_in_portal,
      p_panels: panels,
    });
  }
  const { token } = await sessionOf(user, {
    p_parts: ["dashboards"],
    p_customer: "42",
    p_query_dsl: "@customer:42",
    p_variables: { shop: "1" },
  });
  await using tab = await open(token, { at: `${origin}/dashboards`, width: 768, dark: true });
  const { frame } = tab;
  await frame.getByRole("button", { name: "Shops" }).press("Enter");
  await frame.locator(".panel-number").getByText("2", { exact: true }).waitFor();
  await frame.locator(".panel-groups").getByText("ann-web").waitFor();
  assert.equal(await frame.getByRole("combobox", { name: "$env" }).count(), 1);
  assert.equal(await frame.getByRole("combobox", { name: "$shop" }).count(), 0, "it is pinned");
  for (const name of [/^Search/, "Name and sharing", "New panel", "Copy link"]) {
    assert.equal(await frame.getByRole("button", { name }).count(), 0, String(name));
  }
  await tab.rests();
  assert.deepEqual(await tab.faultsWithin(), [], "axe");
  await picture(tab.page, "dashboards");

  // One refresh reads all panels again, over the same range.
  const rangesSince = (first: number) =>
    tab.requests.slice(first)
      .filter(({ url }) => /log_stats|log_series/.test(url))
      .map(({ body }) => {
        const { p_ts_from, p_ts_to } = JSON.parse(body ?? "{}");
        return `${p_ts_from} ${Date.parse(p_ts_to) - Date.parse(p_ts_from)}`;
      });
  const [before] = rangesSince(0);
  assert.match(before ?? "", / 10800000$/, "the range of the element");
  const first = tab.requests.length;
  await frame.getByRole("button", { name: "Run again (r)" }).click();
  await eventually("four requests", () => Promise.resolve(rangesSince(first).length >= 4));
  await tab.rests();
  const after = new Set(rangesSince(first));
  assert.equal(after.size, 1);
  assert.ok(!after.has(before ?? ""));

  await frame.getByRole("button", { name: "All dashboards" }).press("Enter");
  await frame.getByRole("button", { name: "Shops" }).waitFor();
  assert.equal(await frame.getByText("Of the staff").count(), 0);
  const answers = (await Promise.all(tab.answers)).join("\n");
  assert.doesNotMatch(answers, /bob-web|Of the staff/);
});
