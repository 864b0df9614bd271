/// <reference lib="dom" />
import assert from "node:assert/strict";
import { inBrowser } from "../console/browser.ts";
import { store } from "../console/steps.ts";
import { callAsOwner, openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { newUser } from "../support/users.ts";
import { moreFiles, open, origin, portal, sessionOf } from "./portal.ts";

// Two customers on one page, who make log streams and alert rules.

for (const part of ["streams", "alerts"]) {
  moreFiles[`/two-${part}`] = `<!doctype html><html lang="en"><title>shop</title>
<link rel="stylesheet" href="/shop.css">
<main>${`<logloom-viewer src="${portal}" part="${part}"></logloom-viewer>`.repeat(2)}</main>
<script type="module" src="/two.js"></script></html>`;
}
moreFiles["/two.js"] = `globalThis.said = [];
for (const viewer of document.querySelectorAll("logloom-viewer")) {
  const token = nextToken();
  viewer.getToken = () => token;
  for (const name of ["ready", "error"]) {
    viewer.addEventListener(name, ({ detail }) => said.push([name, detail]));
  }
}
await import("./viewer.js");`;

/** A tenant with two customers, both on one page with this part. */
async function openBoth(part: string) {
  const user = await newUser();
  await store(user, [
    { level: "error", msg: "of ann", customer: 42 },
    { level: "error", msg: "of bob", customer: 43 },
  ]);
  const [ann, bob] = await Promise.all([42, 43].map((customer) =>
    sessionOf(user, {
      p_parts: [part],
      p_customer: `${customer}`,
      p_query_dsl: `@customer:${customer}`,
    })
  ));
  const tab = await open([ann, bob], { at: `${origin}/two-${part}` });
  const [annView, bobView] = [0, 1].map((at) =>
    tab.page.locator("logloom-viewer").nth(at).locator("iframe").contentFrame()
  );
  const sent = (operation: string) =>
    tab.requests.filter(({ url }) => url.endsWith(`/${operation}`)).map(({ body }) => body);
  return { user, tab, page: tab.page, annView, bobView, sent };
}

inBrowser("streams: a customer makes one by keyboard, and no other customer sees it", async () => {
  const { user, tab, page, annView, bobView, sent } = await openBoth("streams");
  await using _tab = tab;
  await bobView.getByText("No streams yet").waitFor();
  await annView.getByRole("button", { name: "New stream" }).press("Enter");
  const form = annView.getByRole("dialog");
  assert.equal(await form.getByLabel("Sends").count(), 0, "no audit trail");
  assert.equal(await form.getByLabel("View").count(), 0);
  await form.getByLabel("Name", { exact: true }).fill("to my bucket");
  await form.getByLabel("Query").fill("level:error");
  await form.getByLabel("Address").fill("https://receiver.example/logs");
  await form.getByLabel("Signing secret").fill("whsec_bXlzZWNyZXRteXNlY3JldG15c2VjcmV0");
  await form.getByLabel("Start immediately").press("Space");
  await page.keyboard.press("Tab");
  await form.getByRole("button", { name: "Create the stream" }).press("Enter");
  await annView.getByRole("button", { name: "to my bucket" }).waitFor();
  assert.ok(!sent("create_log_stream").join().includes("bXlzZWNyZXQ"), "it is sealed");
  assert.equal(sent("seal").length, 1);

  const things = () => user.client.call("list_portal_things", {});
  assert.deepEqual(
    (await things()).map(({ customer, kind, name, state }) => [customer, kind, name, state]),
    [["42", "stream", "to my bucket", "disabled"]],
  );
  const p_stream_id = (await things())[0].thing_id;
  await user.client.call("update_log_stream", { p_stream_id, p_enabled: false });
  await page.reload();
  await annView.getByText("stopped by an admin").waitFor();
  for (const name of ["Resume", "Delete"]) {
    assert.equal(await annView.getByRole("button", { name }).count(), 0, name);
  }
  await user.client.call("update_log_stream", { p_stream_id, p_enabled: true });
  await page.reload();
  await bobView.getByText("No streams yet").waitFor();
  await annView.getByRole("button", { name: "Delete" }).press("Enter");
  await annView.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
  await annView.getByText("No streams yet").waitFor();
  assert.deepEqual(await things(), []);
});

inBrowser("alerts: a customer makes a rule and acknowledges its incident alone", async () => {
  const { user, tab, annView, bobView, sent } = await openBoth("alerts");
  await using _tab = tab;
  const tabs = annView.getByRole("tab");
  await annView.getByText("Nothing is watched").waitFor();
  assert.deepEqual(await tabs.allInnerTexts(), ["Incidents", "Rules", "History"]);
  await annView.getByRole("button", { name: "New rule" }).press("Enter");
  const form = annView.getByRole("dialog");
  await form.getByLabel("Name", { exact: true }).fill("any error");
  await form.getByRole("textbox", { name: "Threshold" }).fill("0");
  await form.getByLabel("Slack", { exact: true }).press("Space");
  await form.getByLabel("Address for slack").fill("https://hooks.slack.com/services/T0/B0/secret");
  await form.locator(".preview canvas").first().waitFor();
  assert.equal(await form.getByText("new and returning errors").count(), 0);
  await form.getByRole("button", { name: "Create the rule" }).press("Enter");
  await annView.getByRole("button", { name: "any error" }).waitFor();
  assert.ok(!sent("create_alert_rule").join().includes("/B0/secret"), "it is sealed");
  assert.equal(await annView.getByRole("button", { name: "Deliveries" }).count(), 0);

  await using db = openDatabase();
  await eventually("an incident", async () => {
    await callAsOwner(db, "call logloom_private.run_job('evaluate_alerts')");
    return (await user.client.call("list_alert_incidents", {})).length === 1;
  });
  await annView.getByRole("tab", { name: "Incidents" }).press("Enter");
  await annView.getByRole("button", { name: "any error" }).press("Enter");
  await annView.getByRole("heading", { name: "Each time it fired" }).waitFor();
  for (const name of ["Records", "Save the note"]) {
    assert.equal(await annView.getByRole("button", { name }).count(), 0, name);
  }
  await annView.getByRole("button", { name: "Acknowledge" }).press("Enter");
  await annView.getByRole("button", { name: "Take back" }).waitFor();
  await annView.getByRole("button", { name: "All incidents" }).press("Enter");
  await annView.getByRole("tab", { name: "History" }).press("Enter");
  await annView.getByRole("rowheader", { name: "any error" }).waitFor();
  await bobView.getByText("Nothing is watched").waitFor();

  const revoked = await user.client.call("revoke_portal_customer", { p_customer: "42" });
  assert.deepEqual(revoked, { sessions: 1, streams: 0, rules: 1 });
});
