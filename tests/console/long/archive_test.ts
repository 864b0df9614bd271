/// <reference lib="dom" />
import assert from "node:assert/strict";
import { installBucket } from "../../../local/processes/bucket.ts";
import {
  addRecords,
  archiveInto,
  archivingTenant,
  daysAgo,
  forgetArchive,
  hurry,
  isArchived,
  recordsOf,
  runRetention,
  storedRecords,
} from "../../archive/archive.ts";
import { startBucket } from "../../archive/failing_bucket.ts";
import { openDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { asUser } from "../../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser, type Page } from "../browser.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

const tileOf = (page: Page) => (name: string) =>
  page.locator(".tile").filter({ has: page.getByRole("heading", { name, exact: true }) });

inBrowser("archived days are listed, and one is restored after an estimate", async () => {
  await installBucket(console.log);
  await using sql = openDatabase();
  await using _bucket = await startBucket();
  await using _into = await archiveInto(sql, `console-${crypto.randomUUID()}`);
  const tenant = await archivingTenant(sql);
  const [day, before] = [daysAgo(45), daysAgo(46)];
  await addRecords(sql, tenant, recordsOf(day, 1100, 1));
  await addRecords(sql, tenant, recordsOf(before, 1200, 2));
  await isArchived(sql, tenant);
  await runRetention(sql);
  assert.deepEqual(await storedRecords(sql, tenant), []);

  const { client, token } = asUser(tenant);
  await using tab = await browser.open(token, { hash: "/settings?tab=archive" });
  const { page } = tab;
  const tile = tileOf(page);
  await tile("Records").getByText("2,300").waitFor();
  await tile("Days").getByText("2", { exact: true }).waitFor();
  await page.getByRole("row").filter({ hasText: before }).getByText("verified").waitFor();
  const status = page.getByRole("status").filter({ hasText: "This reads" });
  await status.getByText(
    /^This reads 1 file with 1,100 records \(.*\) and counts as 1 day of your plan\.$/,
  )
    .waitFor();
  await page.getByLabel("From", { exact: true }).fill(before);
  await status.getByText(
    /^This reads 2 files with 2,300 records \(.*\) and counts as 2 days of your plan\.$/,
  ).waitFor();
  await page.getByLabel("From", { exact: true }).fill(day);
  await page.getByLabel("Keep them for (days)").fill("3");
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole("button", { name: "Restore" }).click();

  await eventually("the day is back", async () => {
    await hurry(sql, tenant);
    const [restore] = await client.call("list_log_archive_restores", {});
    return restore?.status === "done";
  }, { every: 500 });
  const restored = page.getByRole("region", { name: "Restored days" }).getByRole("row").filter(
    { hasText: "in 3 days" },
  );
  await restored.getByText("done").waitFor();
  await restored.getByText("1,100").waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await restored.getByRole("link", { name: "Show the records" }).click();
  await page.getByText("1,100 records").first().waitFor();
});

inBrowser("an archive larger than one page is counted and estimated completely", async () => {
  await using sql = openDatabase();
  const tenant = await archivingTenant(sql);
  await using _files = { [Symbol.asyncDispose]: () => forgetArchive(sql) };
  await sql`
    insert into logloom.archive_parts (
      tenant_id, first_day, last_day, write_seq, object_key, status, first_ts, last_ts, records,
      bytes, sha256, verified_at
    )
    select ${tenant.id}, d, d, 1, ${tenant.id} || '/' || d, 'verified', d + time '01:00',
      d + time '02:00', 10, 100, repeat('0', 64), now()
    from (select '2020-01-01'::date + n as d from generate_series(0, 1199) n) days`;
  const { token } = asUser(tenant);
  await using tab = await browser.open(token, { hash: "/settings?tab=archive" });
  const { page } = tab;
  const tile = tileOf(page);
  await tile("Files").getByText("1,200", { exact: true }).waitFor();
  await page.getByLabel("From", { exact: true }).fill("2020-01-01");
  await page.getByLabel("To (including this day)").fill("2020-01-02");
  await page.getByText(
    /^This reads 2 files with 20 records \(.*\) and counts as 2 days of your plan\.$/,
  ).waitFor();
});
