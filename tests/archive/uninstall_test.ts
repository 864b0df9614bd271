import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { localBucket } from "../../local/bucket.ts";
import {
  archiveStep as title,
  uninstall,
  uninstallSteps,
} from "../../packages/logloom/src/cli/commands/uninstall.ts";
import { openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { ownDatabase } from "../support/own_database.ts";
import { stack } from "../support/stack.ts";
import {
  addRecords,
  archiveInto,
  archivingTenant,
  daysAgo,
  isArchived,
  recordsOf,
} from "./archive.ts";
import { startBucket } from "./failing_bucket.ts";

Deno.test("uninstalling stops while the archive has files", async () => {
  const steps = await uninstallSteps(`${checkout}/supabase`);
  const step = steps.find((one) => one.title === title);
  assert.ok(step);
  assert.ok(steps.indexOf(step) < steps.findIndex((one) => one.title === "nothing new begins"));
  await using sql = await ownDatabase("uninstalled");
  await sql.unsafe(step.sql);
  await sql`
    insert into logloom_private.archive_garbage (object_key, tenant_id, reason)
    values ('k', 'acme', 'erased')`;
  await assert.rejects(
    () => sql.unsafe(step.sql),
    { code: "2BP01", message: "Logloom is not removed: its archive has 1 files" },
  );
  await sql`set logloom.archive_is_kept = 'on'`;
  await sql.unsafe(step.sql);
});

Deno.test("if the project uses Logloom, uninstalling deletes nothing of the archive", async () => {
  await using sql = await ownDatabase("used");
  await sql`update logloom.plans set archive_days = 365`;
  await sql`
    insert into logloom_private.archive_garbage (object_key, tenant_id, reason, next_attempt_at)
    values ('k', '', 'later', 'infinity')`;
  await sql`create view public.sent as select count(*) from logloom.logs`;
  const url = new URL(stack.databaseUrl);
  url.pathname = "/used";
  await assert.rejects(
    () => uninstall(url.href, `${checkout}/supabase`, () => {}, "delete"),
    /these objects of the project use it:\n {2}view public\.sent/,
  );
  const [left] = await sql`
    select (select count(*)::integer from logloom.plans where archive_days = 365) as plans,
      (select count(*)::integer from logloom_private.archive_garbage
        where next_attempt_at = 'infinity') as garbage`;
  assert.ok(left.plans > 0, "days are archived as before");
  assert.equal(left.garbage, 1, "and no object will be deleted");
});

Deno.test("files of the archive stop uninstalling, stay with --keep-archive, and are deleted by the function with --delete-archive", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  const prefix = `deleted-${crypto.randomUUID()}`;
  await using _into = await archiveInto(sql, prefix);
  const plans = await sql`select plan_id, archive_days from logloom.plans`;
  // Other tests' tenants must not archive meanwhile.
  await sql`select logloom_private.delete_archive()`;
  await eventually("other tests' objects are deleted", async () => {
    const [{ left }] = await sql`
      select count(*)::integer as left from logloom_private.archive_garbage`;
    return left === 0;
  });
  const tenant = await archivingTenant(sql);
  for (const [n, day] of [daysAgo(50), daysAgo(51)].entries()) {
    await addRecords(sql, tenant, recordsOf(day, 1050, n));
  }
  await isArchived(sql, tenant);
  const files = async () => (await bucket.keys()).filter((key) => key.endsWith(".parquet"));
  assert.equal((await files()).length, 2);
  await using source = await onlyTheCheck();
  const say = (line: string) => said.push(line);
  const said: string[] = [];
  const [{ parts }] = await sql<{ parts: number }[]>`
    select count(*)::integer as parts from logloom.archive_parts`;
  const [{ garbage }] = await sql<{ garbage: number }[]>`
    select count(*)::integer as garbage from logloom_private.archive_garbage`;
  await assert.rejects(() => uninstall(stack.databaseUrl, source.folder, say), {
    message: `Logloom is not removed: its archive has ${parts + garbage} files\n` +
      "npm run uninstall deletes them with --delete-archive, or leaves them where they are with " +
      "--keep-archive; in psql: set logloom.archive_is_kept = 'on'.",
  });
  assert.deepEqual(said.splice(0), [`  ${title} …`]);
  assert.equal(await uninstall(stack.databaseUrl, source.folder, say, "keep"), true);
  assert.deepEqual(said.splice(0), [
    `  ${parts} files of the archive stay in ${localBucket}/${prefix}/v1/`,
    `  ${title} …`,
  ]);
  assert.equal((await files()).length, 2);
  try {
    assert.equal(await uninstall(stack.databaseUrl, source.folder, say, "delete"), true);
    assert.equal(said[0], `  ${parts + garbage} files of the archive are to be deleted …`);
    assert.equal(said.at(-1), `  ${title} …`);
    assert.deepEqual(await files(), []);
    const [left] = await sql`
      select (select count(*)::integer from logloom.archive_parts) as parts,
        (select count(*)::integer from logloom_private.archive_garbage) as garbage`;
    assert.deepEqual({ ...left }, { parts: 0, garbage: 0 });
  } finally {
    for (const { plan_id, archive_days } of plans) {
      await sql`update logloom.plans set archive_days = ${archive_days} where plan_id = ${plan_id}`;
    }
  }
});

/** Makes an uninstall.sql with this check only, because the stack is still needed. */
async function onlyTheCheck(): Promise<{ folder: string } & AsyncDisposable> {
  const step = (await uninstallSteps(`${checkout}/supabase`)).find((one) => one.title === title);
  assert.ok(step);
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/uninstall.sql`, `-- step: ${title}\n${step.sql}`);
  return { folder, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}
