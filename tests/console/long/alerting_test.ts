/// <reference lib="dom" />
import assert from "node:assert/strict";
import { createRule } from "../../support/alert_rules.ts";
import { eventually } from "../../support/eventually.ts";
import { receiveWebhooks } from "../../support/receivers.ts";
import { stack } from "../../support/stack.ts";
import { newUser, type User } from "../../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "../browser.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

async function makeRule(user: User, parameters: Record<string, unknown>): Promise<string> {
  return (await createRule(user, { p_threshold: 0, ...parameters })).rule_id;
}

inBrowser("an alert is opened and acknowledged, and a colleague sees that", async () => {
  const user = await newUser();
  const colleague = await newUser(user.tenantId);
  await makeRule(user, { p_window_minutes: 60 });
  const response = await fetch(`${stack.url}/functions/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json" },
    body: '[{"level":"error","msg":"it broke"}]',
  });
  assert.equal(response.status, 200, await response.text());
  await eventually("the rule fires", async () => {
    const body = await user.client.call("list_alert_history", {});
    return body.length === 1;
  });

  await using tab = await browser.open(user.token, { hash: "/history" });
  const { page } = tab;
  const row = page.getByRole("row").filter({ hasText: "Errors" });
  await row.getByText("not acknowledged", { exact: true }).waitFor();
  await page.getByRole("link", { name: /Alerts\s*1/ }).waitFor();
  await row.getByRole("button", { name: "Records" }).click();
  await page.getByRole("row").filter({ hasText: "it broke" }).first().waitFor();
  await page.goBack();
  await row.getByRole("button", { name: "Acknowledge" }).click();
  await row.getByText("acknowledged", { exact: true }).waitFor();
  await page.getByLabel("Only unacknowledged").check();
  await page.getByText("Everything is acknowledged").waitFor();
  const body = await user.client.call("list_alert_history", { p_acknowledged: true });
  assert.deepEqual(body.map(({ acknowledged_by }) => acknowledged_by), [user.id]);

  await using other = await browser.open(colleague.token, { hash: "/history" });
  await other.page.getByText("acknowledged", { exact: true }).waitFor();
  assert.equal(await other.page.getByRole("button", { name: "Acknowledge" }).count(), 0);
});

inBrowser(
  "an incident shows its times, chart and records, and several are acknowledged at once",
  async () => {
    const user = await newUser();
    for (const name of ["Errors", "Failures"]) {
      await makeRule(user, {
        p_name: name,
        p_query_dsl: "level:error | count() by service",
        // Longer than this test, so that they do not recover.
        p_window_minutes: 60,
        p_cooldown_minutes: 0,
      });
    }
    const response = await fetch(`${stack.url}/functions/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json" },
      body: '[{"level":"error","service":"shop","msg":"it broke"}]',
    });
    assert.equal(response.status, 200, await response.text());
    await eventually("both rules fire", async () => {
      const body = await user.client.call("list_alert_incidents", { p_state: "open" });
      return body.length === 2;
    });
    await using tab = await browser.open(user.token, { hash: "/overview" });
    const { page } = tab;
    const strip = page.getByRole("region", { name: "Incidents" }).getByRole("listitem");
    assert.match(
      await strip.filter({ hasText: "Errors" }).innerText(),
      /^open\s+Errors\s+service: shop\s+for 1 minute\s+1 > 0\s+not assigned$/,
    );
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.getByRole("link", { name: /Alerts\s*2/ }).click();
    const row = page.getByRole("row").filter({ hasText: "Errors" });
    assert.match(await row.innerText(), /Errors\s+service: shop\s+open/);
    await row.getByRole("button", { name: "Errors" }).click();
    await page.getByRole("heading", { name: "Errors" }).waitFor();
    await page.getByText("by nobody yet").waitFor();
    await page.locator("section[aria-label=Trend] .u-over").waitFor();
    await page.getByRole("region", { name: "Patterns of the incident" }).getByText("it broke")
      .first().waitFor();
    await page.getByRole("list", { name: "Newest records" }).getByText("it broke").waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);

    // The incident is acknowledged, which can be taken back.
    await page.getByRole("button", { name: "Acknowledge" }).click();
    await page.getByText(/ by you$/).waitFor();
    await page.getByRole("button", { name: "Take back" }).click();
    await page.getByText("by nobody yet").waitFor();
    await page.getByLabel("Assigned to").selectOption("you");
    await page.getByLabel("Note").fill("the disk is full");
    await page.getByRole("button", { name: "Save the note" }).click();
    await eventually("it is kept", async () => {
      const incidents = await user.client.call("list_alert_incidents", { p_state: "open" });
      return incidents.some(({ assigned_to, note }) =>
        assigned_to === user.id && note === "the disk is full"
      );
    });
    await page.evaluate(() => {
      location.hash = "/settings?tab=audit";
    });
    await page.getByRole("row").filter({ hasText: "alert incident changed Errors" })
      .getByText(/^noted_at: none → /).first().waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Records" }).click();
    await page.waitForFunction(() => location.hash.includes("level:error+service:shop"));
    await page.getByRole("row").filter({ hasText: "it broke" }).first().waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "All incidents" }).click();

    await page.getByLabel("Choose all").check();
    await page.getByRole("button", { name: "Acknowledge 2" }).click();
    await page.getByLabel("open", { exact: true }).check();
    await page.getByText("No open incidents").waitFor();
    await page.getByText("2 rules are watching.").waitFor();
    const body = await user.client.call("list_alert_incidents", {});
    assert.deepEqual(body.map(({ state, acknowledged_by }) => [state, acknowledged_by]), [
      ["acknowledged", user.id],
      ["acknowledged", user.id],
    ]);
    await page.getByLabel("acknowledged", { exact: true }).check();
    await row.waitFor();
  },
);

inBrowser("a search becomes an alert rule", async () => {
  const user = await newUser();
  await using tab = await browser.open(user.token, { hash: "q=level:error+service:shop" });
  const { page } = tab;
  await page.getByRole("button", { name: "Alert on this" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Query" }).getByText("level:error service:shop")
    .waitFor();
  await dialog.getByText(/would (not )?have fired/).waitFor();
  await dialog.getByLabel("Name", { exact: true }).fill("Shop fails");
  await dialog.getByLabel("Compare with what was usual").check();
  await dialog.getByText("There are fewer than three days of records").waitFor();
  await dialog.getByRole("option", { name: "> above usual by" }).waitFor({ state: "attached" });
  assert.equal(await dialog.getByLabel("Deviations").inputValue(), "4");
  assert.deepEqual(await accessibilityFaults(page), []);
  await dialog.getByRole("button", { name: "Create the rule" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("The rule Shop fails was created.").waitFor();
  const rules = await user.client.call("list_alert_rules", {});
  assert.deepEqual(rules.map(({ name, query_dsl, baseline }) => [name, query_dsl, baseline]), [
    ["Shop fails", "level:error service:shop", { days: 7, deviations: 4, known_days: 0 }],
  ]);
  await page.evaluate(() => {
    location.hash = "/alerts?tab=rules";
  });
  await page.getByRole("row").filter({ hasText: "> 4 deviations from usual" }).waitFor();
});

inBrowser("a failed test delivery is shown and can be sent again", async () => {
  const user = await newUser();
  await using receiver = receiveWebhooks((before) =>
    new Response(null, { status: before === 0 ? 410 : 204 })
  );
  await makeRule(user, {
    p_notification_destinations: ["webhook"],
    p_notification_config: { webhook_url: `${receiver.url}/hook` },
  });
  await using tab = await browser.open(user.token, { hash: "/alerts?tab=rules" });
  const { page } = tab;
  await page.getByRole("button", { name: "Errors", exact: true }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("On its way to 1 destination").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("button", { name: "Deliveries" }).click();
  const delivery = page.getByRole("dialog").getByRole("row").filter({ hasText: "webhook" });
  await delivery.getByText("HTTP 410: the receiver is gone").waitFor();
  await delivery.getByText("failed", { exact: true }).waitFor();
  await delivery.getByRole("button", { name: "Try again" }).click();
  await delivery.getByText("delivered", { exact: true }).waitFor();
  assert.equal(await delivery.getByRole("button", { name: "Try again" }).count(), 0);
  const bodies = receiver.received.map(({ body }) => JSON.parse(body).type);
  assert.deepEqual(bodies, ["alert.test", "alert.test"]);
});

inBrowser("a delivery that is being retried shows why and when", async () => {
  const user = await newUser();
  let isBack = false;
  await using receiver = receiveWebhooks(() => new Response(null, { status: isBack ? 204 : 503 }));
  const ruleId = await makeRule(user, {
    p_notification_destinations: ["webhook"],
    p_notification_config: { webhook_url: `${receiver.url}/hook` },
  });
  await using tab = await browser.open(user.token, { hash: "/alerts?tab=rules" });
  const { page } = tab;
  await page.getByRole("button", { name: "Deliveries" }).click();
  await page.getByText("No deliveries yet").waitFor();
  await user.client.call("test_alert_rule", { p_rule_id: ruleId });
  const delivery = page.getByRole("dialog").getByRole("row").filter({ hasText: "webhook" });
  await delivery.getByText("retrying", { exact: true }).waitFor();
  await delivery.getByText(/^next attempt .*, until /).waitFor();
  await delivery.getByText("HTTP 503").waitFor();
  isBack = true;
  await delivery.getByText("delivered", { exact: true }).waitFor();
  assert.ok(receiver.received.length > 1, `${receiver.received.length} attempts`);
});

inBrowser("the history shows retries and deliveries", async () => {
  const user = await newUser();
  let isBack = false;
  await using receiver = receiveWebhooks(() => new Response(null, { status: isBack ? 204 : 503 }));
  await makeRule(user, {
    p_notification_destinations: ["webhook"],
    p_notification_config: { webhook_url: `${receiver.url}/hook` },
  });
  const response = await fetch(`${stack.url}/functions/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json" },
    body: '[{"level":"error","msg":"it broke"}]',
  });
  assert.equal(response.status, 200, await response.text());
  await receiver.wait(1);

  await using tab = await browser.open(user.token, { hash: "/history" });
  const row = tab.page.getByRole("row").filter({ hasText: "Errors" });
  await row.getByText("retrying", { exact: true }).waitFor();
  await row.getByText(/^next attempt .*, until /).waitFor();
  assert.equal(await row.getByText("nobody").count(), 0);
  isBack = true;
  await row.getByText("retrying", { exact: true }).waitFor({ state: "detached" });
  assert.match(await row.innerText(), /webhook/);
  assert.equal(await row.getByText("nobody").count(), 0);
});

inBrowser("no code is requested if none could be emailed", async () => {
  const user = await newUser();
  const email = `${user.tenantId}@example.com`;
  // The stack's mail server does not exist.
  await makeRule(user, {
    p_notification_destinations: ["email"],
    p_notification_config: { email },
  });
  await using tab = await browser.open(user.token, { hash: "/alerts?tab=rules" });
  const { page } = tab;
  await page.getByText(/^The code could not be emailed: /).waitFor();
  assert.equal(await page.getByLabel(`Code mailed to ${email}`).count(), 0);
  await page.getByRole("button", { name: "Email a code" }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
});

inBrowser("the preview of a rule with `by` shows each group", async () => {
  const user = await newUser();
  // A preview ends at the last whole minute.
  const ts = new Date(Date.now() - 120_000).toISOString();
  const events = ["web-1", "web-1", "web-2"].map((host) => ({ ts, level: "error", host }));
  const response = await fetch(`${stack.url}/functions/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json" },
    body: JSON.stringify(events),
  });
  assert.equal(response.status, 200, await response.text());
  await eventually("the records are there", async () => {
    const body = await user.client.call("search_logs", {});
    return body.logs.length === 3;
  });
  await makeRule(user, { p_query_dsl: "level:error | count() by host", p_threshold: 1 });
  await using tab = await browser.open(user.token, { hash: "/alerts?tab=rules" });
  const { page } = tab;
  await page.getByRole("button", { name: "Errors", exact: true }).click();
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText(/it would have fired once, last with 2 at .*, for web-1$/).waitFor();
  await preview.getByText("web-1 once", { exact: true }).waitFor();
  await preview.getByText("web-2 never", { exact: true }).waitFor();
});
