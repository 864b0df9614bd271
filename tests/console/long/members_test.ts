/// <reference lib="dom" />
import assert from "node:assert/strict";
import { rpc } from "../../support/client.ts";
import { openDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { newUser } from "../../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "../browser.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

inBrowser(
  "roles apply from the first member on, are explained, and end with removal",
  async () => {
    const [user, colleague] = [await newUser(), await newUser()];
    const mate = await newUser(user.tenantId);
    await user.client.call("create_api_key", { p_name: "makes the tenant" });
    await using db = openDatabase();
    await using tab = await browser.open(user.token, {
      hash: "/members",
      expected: /status (of )?40\d/,
    });
    const { page } = tab;
    const add = async (id: string, role: string) => {
      await page.getByRole("button", { name: "Add a member" }).click();
      await page.getByLabel("Email address or user id").fill(id);
      await page.getByRole("dialog").getByLabel("Role").selectOption(role);
      await page.getByRole("button", { name: "Add", exact: true }).click();
    };
    await page.getByText("This tenant does not use roles").waitFor();
    await add(user.id, "owner");
    await page.getByRole("row").filter({ hasText: user.id }).getByText("you").waitFor();
    await add("nobody@example.com", "member");
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await add(mate.id, "member");
    await page.getByRole("row").filter({ hasText: mate.id }).waitFor();

    // A member sees no action that needs an admin or owner.
    await using other = await browser.open(mate.token, {
      hash: "/keys",
      expected: /status (of )?401/,
    });
    const offered = async (screen: string, seen: string) => {
      await other.page.evaluate((to) => {
        location.hash = to;
      }, screen);
      await other.page.getByText(seen).first().waitFor();
      return await other.page.locator("main").getByRole("button").allInnerTexts();
    };
    await other.page.getByText("Only admins can create, rotate and revoke them.").waitFor();
    assert.deepEqual(await offered("/keys", "makes the tenant"), []);
    assert.deepEqual(await offered("/settings", "Only admins can change these."), []);
    assert.equal(await other.page.getByLabel("Keep records for (days)").isDisabled(), true);
    assert.deepEqual(await offered("/members", "Only owners can change this."), []);
    assert.equal(await other.page.getByRole("combobox").count(), 0);
    await other.page.evaluate(() => {
      location.hash = "";
    });
    await other.page.getByText("Ask an admin of this tenant for a key.").waitFor();
    assert.deepEqual(await accessibilityFaults(other.page), []);

    // The last owner cannot be demoted or removed.
    const own = page.getByRole("row").filter({ hasText: user.id });
    assert.equal(await own.getByRole("combobox").count(), 0);
    assert.equal(await own.getByRole("button").count(), 0);

    const row = page.getByRole("row").filter({ hasText: mate.id });
    await row.getByRole("combobox").selectOption("admin");
    await eventually("the role is kept", async () => {
      const [kept] = await db`
        select role from logloom.tenant_members
        where tenant_id = ${user.tenantId} and user_id = ${mate.id}`;
      return kept?.role === "admin";
    });
    await other.page.evaluate(() => {
      location.hash = "/keys";
    });
    await other.page.reload();
    await other.page.getByRole("button", { name: "New key" }).click();
    await other.page.getByLabel(/^Name/).fill("mine");
    await other.page.getByRole("button", { name: "Create the key" }).click();
    await other.page.getByTestId("key-value").waitFor();

    await row.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "detached" });
    const { status } = await rpc(mate.token, "list_api_keys", {});
    assert.equal(status, 401);
    assert.equal((await rpc(colleague.token, "list_tenant_members", {})).status, 200);
  },
);
