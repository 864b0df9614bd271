/// <reference lib="dom" />
import assert from "node:assert/strict";
import { kindNames, kinds } from "../../../console/src/streams/stream-kinds.ts";
import { openDatabase } from "../../support/database.ts";
import { receiveWebhooks } from "../../support/receivers.ts";
import { hurriedStreams } from "../../support/streams.ts";
import { newUser } from "../../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "../browser.ts";
import { send } from "../steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

const hash = "/settings?tab=streams";

inBrowser("a stream is created with a secret, tested, paused and deleted", async () => {
  await using receiver = receiveWebhooks();
  const user = await newUser();
  await using tab = await browser.open(user.token, { hash });
  const { page } = tab;
  await page.getByText("No streams yet").waitFor();
  await page.getByRole("button", { name: "New stream" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Kind").selectOption("splunk_hec");
  await dialog.getByLabel("Index, optional").fill("main");
  await dialog.getByLabel("Kind").selectOption("webhook");
  await dialog.getByLabel("Name", { exact: true }).fill("Warehouse");
  await dialog.getByLabel("Address").fill(receiver.url);
  await dialog.getByLabel(/^Query/).fill("level:error");
  await dialog.getByLabel("authorization").fill("Bearer of-the-warehouse");
  assert.deepEqual(await accessibilityFaults(page), []);
  await dialog.getByRole("button", { name: "Create the stream" }).click();
  const row = page.getByRole("row").filter({ hasText: "Warehouse" });
  await row.getByText("sending").waitFor();
  const [made] = await user.client.call("list_log_streams", {});
  assert.deepEqual([made.kind, made.query_dsl, made.config, made.secrets], [
    "webhook",
    "level:error",
    { url: receiver.url },
    { "header.authorization": { set: true } },
  ]);

  await row.getByRole("button", { name: "Test" }).click();
  await row.getByText("The test arrived").waitFor();
  assert.equal(receiver.received[0].headers.authorization, "Bearer of-the-warehouse");
  await send(user.token, [{ level: "error", msg: "broken" }, { level: "info", msg: "fine" }]);
  await row.locator("td[data-column=Sent]").getByText("1", { exact: true }).waitFor();
  const [record] = JSON.parse(receiver.received[1].body);
  assert.equal(record.msg, "broken");
  assert.deepEqual(await accessibilityFaults(page), []);

  await row.getByRole("button", { name: "Pause" }).click();
  await row.getByText("paused").waitFor();
  await row.getByRole("button", { name: "Warehouse" }).click();
  const secret = dialog.getByLabel("authorization");
  assert.equal(await secret.getAttribute("placeholder"), "Set; type to replace it");
  assert.equal(await secret.inputValue(), "");
  await dialog.getByRole("button", { name: "Remove authorization" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const [changed] = await user.client.call("list_log_streams", {});
  assert.deepEqual([changed.enabled, changed.secrets], [false, {}]);
  await row.getByRole("button", { name: "Resume" }).click();
  await row.getByText("sending").waitFor();

  await row.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No streams yet").waitFor();
  assert.deepEqual(await user.client.call("list_log_streams", {}), []);
});

inBrowser(
  "a failing stream shows its error and unsent records, and only admins see streams",
  async () => {
    await using sql = openDatabase();
    await using _hurried = await hurriedStreams(sql);
    let status = 200;
    await using receiver = receiveWebhooks(() => new Response("no such index", { status }));
    const user = await newUser();
    const colleague = await newUser(user.tenantId);
    await user.client.call("create_log_stream", {
      p_name: "Away",
      p_kind: "webhook",
      p_config: { url: receiver.url },
    });
    await user.client.call("add_tenant_member", { p_user_id: user.id, p_role: "owner" });
    await user.client.call("add_tenant_member", { p_user_id: colleague.id, p_role: "member" });
    // The first refusal would pause a stream that has delivered nothing.
    await send(user.token, [{ level: "info", msg: "taken" }]);
    await receiver.wait(1);
    status = 503;
    await send(user.token, [{ level: "error", msg: "broken" }]);
    await using tab = await browser.open(user.token, { hash, theme: "dark", width: 390 });
    const { page } = tab;
    const row = page.getByRole("row").filter({ hasText: "Away" });
    await row.getByText("failing").waitFor();
    await row.getByText("The receiver has an error (503).").waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    status = 400;
    await row.getByRole("button", { name: "1 refused" }).click();
    const refused = page.getByRole("dialog").getByRole("row").filter({ hasText: "the record of" });
    await refused.getByText("The receiver rejects it (400).").waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);

    await using other = await browser.open(colleague.token, { hash });
    await other.page.getByRole("tab", { name: "Archive" }).waitFor();
    await other.page.getByText("Only admins can change these.").waitFor();
    assert.equal(await other.page.getByRole("tab", { name: "Log streams" }).count(), 0);
  },
);

Deno.test("the form has the fields that the database takes for each kind", async () => {
  await using sql = openDatabase();
  for (const kind of kindNames) {
    const { settings, secrets, takesHeaders } = kinds[kind];
    const members = await sql`
      select m.name, m.is_needed as "isNeeded"
      from logloom_private.stream_config_members(${kind}) m
      order by m.name`;
    const asked = settings.map(({ name, isNeeded }) => ({ name, isNeeded }));
    assert.deepEqual(asked.sort((a, b) => a.name < b.name ? -1 : 1), [...members], kind);
    const [{ names }] = await sql`
      select logloom_private.stream_secret_names(${kind}) as names`;
    assert.deepEqual(
      [...secrets.map(({ name }) => name), ...takesHeaders ? ["header.*"] : []],
      names,
      kind,
    );
  }
});
