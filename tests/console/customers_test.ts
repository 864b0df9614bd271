/// <reference lib="dom" />
import assert from "node:assert/strict";
import { becomes } from "../support/eventually.ts";
import { newUser } from "../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "./browser.ts";
import { makeThings } from "./steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

inBrowser(
  "an admin pauses and deletes what a customer made, and revokes the customer",
  async () => {
    const user = await newUser();
    const { token } = await user.client.call("create_log_portal_session", {
      p_parts: ["streams", "alerts"],
      p_customer: "<b>42</b>",
      p_query_dsl: "@customer:42",
    });
    await makeThings(token);
    await using tab = await browser.open(user.token, { hash: "/settings?tab=customers" });
    const { page } = tab;
    const row = (name: string) => page.getByRole("row").filter({ hasText: name });
    const state = (name: string) => row(name).locator(".badge").innerText();
    await row("to a bucket").getByText("<b>42</b>").waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    for (const [name, on] of [["to a bucket", "sending"], ["any error", "enabled"]]) {
      await becomes(on, () => state(name));
      await row(name).getByRole("button", { name: "Pause" }).click();
      await becomes("stopped by an admin", () => state(name));
      await row(name).getByRole("button", { name: "Resume" }).click();
      await becomes(on, () => state(name));
    }
    await row("any error").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await row("any error").waitFor({ state: "detached" });

    // The host cannot change the customer's stream, so there is no form for it.
    await page.getByRole("tab", { name: "Log streams" }).click();
    await row("to a bucket").getByText("Customer <b>42</b>").waitFor();
    assert.equal(await page.getByRole("button", { name: "to a bucket" }).count(), 0);
    await page.getByRole("tab", { name: "Customers" }).click();

    await row("to a bucket").getByRole("button", { name: "Revoke the customer" }).click();
    const dialog = page.getByRole("dialog");
    assert.deepEqual(await accessibilityFaults(page), []);
    await dialog.getByRole("button", { name: "Revoke the customer" }).click();
    await page.getByText("Sessions ended: 1. Deleted streams: 1, rules: 0.").waitFor();
    await page.getByText("Your customers have made nothing yet").waitFor();
    const [{ status }] = await user.client.call("list_log_portal_sessions", {});
    assert.equal(status, "revoked");
  },
);
