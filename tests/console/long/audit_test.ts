import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { newUser } from "../../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "../browser.ts";
import { isGone, isSeen } from "../steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

inBrowser("admins filter, verify and save the audit trail", async () => {
  const user = await newUser();
  await user.client.call("add_tenant_member", { p_user_id: user.id, p_role: "owner" });
  const p_context = { old: { name: "a" }, new: { name: "b", word: "b".repeat(190) } };
  for (const p_action of ["invoice.update", "report.export"]) {
    const p_targets = [{ type: "invoice", id: "=42" }];
    await user.client.call("record_audit_event", { p_action, p_targets, p_context });
  }
  const day = await eventually("the events are linked", async () => {
    const { events, day_to } = await user.client.call("verify_audit_trail", {});
    return events === 2 && day_to;
  });
  await using tab = await browser.open(user.token, { hash: "/settings?tab=audit" });
  const { page } = tab;
  const row = page.getByRole("row").filter({ hasText: "invoice.update invoice =42" });
  await row.getByText("name: a → b").waitFor();
  await isSeen(page, "member added");
  const hidden = await page.locator(".table-scroll").evaluate((one) =>
    one.scrollWidth - one.clientWidth
  );
  assert.equal(hidden, 0, "a long word wraps");
  await page.getByLabel("Action, such as invoices.*").fill("report.*");
  await isGone(page, "invoice.update");
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText(`The chain is whole from ${day} to ${day}. Events: 2, erased: 0.`).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as CSV" }).click();
  const [head, line, ...rest] = (await Deno.readTextFile(await (await saved).path())).split("\r\n");
  assert.match(head, /^event_id,occurred_at,source,actor,action,targets,/);
  assert.match(line, /,app,[^,]+,report\.export,"\[\{""id"":""=42"",""type"":""invoice""\}\]",/);
  assert.deepEqual(rest, [""]);
});
