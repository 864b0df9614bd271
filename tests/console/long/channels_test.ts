/// <reference lib="dom" />
import assert from "node:assert/strict";
import { createRule } from "../../support/alert_rules.ts";
import { eventually } from "../../support/eventually.ts";
import { receiveWebhooks } from "../../support/receivers.ts";
import { newUser } from "../../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "../browser.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

inBrowser("a rule gets channels, with a preview and a test of its message", async () => {
  await using receiver = receiveWebhooks();
  const user = await newUser();
  await using tab = await browser.open(user.token, { hash: "/alerts?tab=channels" });
  const { page } = tab;
  await page.getByText("No channels yet").waitFor();
  await page.getByRole("button", { name: "New rule" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Too many errors");
  await dialog.getByLabel("Webhook", { exact: true }).check();
  await dialog.getByLabel("Address for webhook").fill(`${receiver.url}/own`);
  await dialog.getByText("A template for the webhook").click();
  await dialog.getByLabel(/^Mustache/).fill('{"text": "{{rule.name}}: {{state}}"}');
  await dialog.getByLabel("Slack", { exact: true }).check();
  await dialog.getByLabel("Address for slack").fill(`${receiver.url}/slack`);
  await dialog.getByLabel("Also notify when the incident is over").check();
  await dialog.getByText(/^Messages have no link to the console/).waitFor();
  await dialog.getByText("The message", { exact: true }).click();
  await dialog.getByText(
    'The alert rule "Too many errors" fired: its value was 11, above 10.',
  ).waitFor();
  await dialog.getByText('{"text": "Too many errors: triggered"}', { exact: true }).waitFor();
  const template = dialog.getByLabel(/^Mustache/);
  await template.fill("{{rule.name");
  await dialog.getByText(/^The template is invalid: Unclosed tag/).waitFor();
  await template.fill("{{#logs}}{{msg}}{{/logs}}");
  await dialog.getByText("The template does not make JSON").waitFor();
  await template.fill('{"text": "{{rule.name}}: {{state}}"}');
  assert.deepEqual(await accessibilityFaults(page), []);
  await dialog.getByRole("button", { name: "Create the rule" }).click();
  await dialog.waitFor({ state: "detached" });

  const slack = page.getByRole("row").filter({ hasText: "Slack" });
  await slack.getByText("set", { exact: true }).waitFor();
  await page.getByRole("row").filter({ hasText: "with a template" }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  const [rule] = await user.client.call("list_alert_rules", {});
  assert.deepEqual(
    [rule.notification_destinations, rule.notification_secrets, rule.notify_on_recovery],
    [["webhook", "slack"], { slack_url: { set: true } }, true],
  );

  await slack.getByRole("button", { name: "Test" }).click();
  await dialog.getByText("delivered").nth(1).waitFor();
  const received = await receiver.wait(2);
  const bodyTo = (path: string) => received.find((one) => one.path === path)?.body ?? "";
  assert.equal(bodyTo("/own"), '{"text": "Too many errors: test"}');
  assert.equal(JSON.parse(bodyTo("/slack")).text, "🔔 Test of Too many errors");
  await dialog.getByRole("button", { name: "Close" }).click();

  await slack.getByRole("button", { name: "Remove" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await slack.waitFor({ state: "detached" });
  const [changed] = await user.client.call("list_alert_rules", {});
  assert.deepEqual(changed.notification_destinations, ["webhook"]);
});

inBrowser("a silence is created for a group of a rule and ended early", async () => {
  const user = await newUser();
  const rule = await createRule(user, {
    p_name: "Too many errors",
    p_query_dsl: "level:error | count() by service",
    p_threshold: 10,
  });
  await using tab = await browser.open(user.token, {
    hash: "/alerts?tab=silences",
    theme: "dark",
    width: 390,
  });
  const { page } = tab;
  await page.getByText("No silences").waitFor();
  await page.getByRole("button", { name: "New silence" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Rule").selectOption("Too many errors");
  await dialog.getByLabel("Only groups whose").fill("service");
  await dialog.getByLabel("is", { exact: true }).fill("shop");
  await dialog.getByLabel("How long").selectOption("Four hours");
  await dialog.getByLabel("Comment").fill("We deploy");
  assert.deepEqual(await accessibilityFaults(page), []);
  await dialog.getByRole("button", { name: "Silence", exact: true }).click();
  const row = page.getByRole("row").filter({ hasText: "We deploy" });
  await row.getByText("active").waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  const [made] = await user.client.call("list_alert_silences", {});
  assert.deepEqual(made.matcher, { rule_id: rule.rule_id, group: { service: "shop" } });
  const hours = (Date.parse(`${made.ends_at}`) - Date.parse(made.starts_at)) / 3_600_000;
  assert.equal(Math.round(hours), 4);

  await row.getByRole("button", { name: "End now" }).click();
  await row.getByText("expired").waitFor();
  await eventually("the silence is over", async () => {
    const [ended] = await user.client.call("list_alert_silences", {});
    return ended.state === "expired";
  });

  await page.getByRole("button", { name: "New silence" }).click();
  await dialog.getByLabel("How long").selectOption("Every week, until it is ended");
  for (const day of ["Tue", "Wed", "Thu", "Fri", "Sat"]) await dialog.getByLabel(day).uncheck();
  await dialog.getByLabel("Begins at").fill("22:30");
  await dialog.getByLabel("Minutes").fill("90");
  await dialog.getByLabel("Time zone").fill("Europe/Berlin");
  assert.deepEqual(await accessibilityFaults(page), []);
  await dialog.getByRole("button", { name: "Silence", exact: true }).click();
  await page.getByText("Mon, Sun 22:30, 90 min, Europe/Berlin").waitFor();
});
