import assert from "node:assert/strict";
import { health } from "../support/client.ts";
import {
  callAsOwner,
  changeSettings,
  type Database,
  openDatabase,
  queueIsEmpty,
  removeRecords,
  stopJob,
} from "../support/database.ts";
import { pause } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";

interface Round {
  acknowledged: boolean;
  searched: boolean;
  tailed: boolean;
  missing: string | null;
  doubled: string | null;
  error: string | null;
}

async function round(sql: Database): Promise<Round> {
  await callAsOwner(sql, "call logloom_private.run_job('run_canary')");
  const [row] = await sql<Round[]>`
    select
      r.acknowledged_at is not null as acknowledged, r.searched_at is not null as searched,
      r.tailed_at is not null as tailed, r.missing, r.doubled, r.error
    from logloom_private.canary_rounds r
    order by r.sent_at desc
    limit 1`;
  return row;
}

async function canary(): Promise<Record<string, unknown>> {
  const { body } = await health("/detailed");
  return (body as { checks: { canary: Record<string, unknown> } }).checks.canary;
}

Deno.test("a canary's record goes from ingest to search and tail, and health shows the result", async () => {
  await using sql = openDatabase();
  await using _job = await stopJob(sql, "run_canary");
  // An earlier run on this stack may have left events.
  await queueIsEmpty(sql);
  await removeRecords(sql, "l.tenant_id = 'logloom-canary'");
  await sql`delete from logloom_private.canary_rounds`;
  const found = { acknowledged: true, searched: true, tailed: true, doubled: "0", error: null };
  assert.deepEqual(await canary(), { status: "healthy", state: "off" });
  await using _settings = await changeSettings(sql, { canary_url: stack.url });
  assert.deepEqual(await round(sql), { ...found, missing: "0" });
  assert.deepEqual(await round(sql), { ...found, missing: "0" });
  const well = await canary();
  assert.equal(well.status, "healthy");
  for (const member of ["acknowledged_ms", "search_ms", "tail_ms"]) {
    assert.ok(Number(well[member]) > 0, `${member}: ${well[member]}`);
  }
  const [{ count }] = await sql`
    select count(*)::integer from logloom.api_keys where tenant_id = 'logloom-canary'`;
  assert.equal(count, 0, "no key is left");

  await removeRecords(sql, "l.tenant_id = 'logloom-canary'");
  assert.deepEqual(await round(sql), { ...found, missing: "2" });
  const { status, missing } = await canary();
  assert.deepEqual({ status, missing }, { status: "degraded", missing: 2 });

  await sql`delete from logloom_private.canary_rounds`;
  await using writer = openDatabase();
  await writer`select pg_advisory_lock(logloom_private.lock_key('writer'))`;
  await using _budget = await changeSettings(sql, { queue_degraded_age: "3 seconds" });
  const late = { acknowledged: true, searched: false, tailed: false, doubled: "0", error: null };
  assert.deepEqual(await round(sql), { ...late, missing: "0" });
  assert.deepEqual(await round(sql), { ...late, missing: "0" });
  await writer`select pg_advisory_unlock(logloom_private.lock_key('writer'))`;
  assert.equal((await canary()).missing, 0, "a late record is not missing");

  await sql`update logloom_private.settings set canary_url = 'http://127.0.0.1:9'`;
  for (let n = 0; n < 2; n++) {
    const { acknowledged, error } = await round(sql);
    assert.equal(acknowledged, false);
    assert.match(error ?? "", /^send: /);
  }
  assert.match(
    String((await canary()).reason),
    /The last two records of the canary were not found/,
  );

  {
    // Stores the record, but answers late the first time.
    let calls = 0;
    await using slow = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (
      request,
    ) => {
      const { pathname } = new URL(request.url);
      const answer = await fetch(`${stack.url}${pathname}`, {
        method: "POST",
        headers: request.headers,
        body: await request.text(),
      });
      if (++calls === 1) await pause(1_500);
      return answer;
    });
    await queueIsEmpty(sql);
    await removeRecords(sql, "l.tenant_id = 'logloom-canary'");
    await sql`delete from logloom_private.canary_rounds`;
    await sql`update logloom_private.settings
      set canary_url = ${`http://127.0.0.1:${slow.addr.port}`}, queue_degraded_age = default`;
    assert.deepEqual(await round(sql), { ...found, missing: "0" });
  }

  await sql`insert into logloom.tenant_members (tenant_id, user_id, role)
    values ('logloom-canary', 'somebody', 'owner')`;
  await round(sql);
  const [{ last_error }] = await sql`
    select last_error from logloom_private.jobs where name = 'run_canary'`;
  assert.match(last_error, /The tenant logloom-canary is reserved for the canary/);
  await sql`delete from logloom_private.canary_rounds`;
  await sql`delete from logloom.tenants where tenant_id = 'logloom-canary'`;
});
