import assert from "node:assert/strict";
import { ingest, newTenant } from "../support/client.ts";
import { type Database, openDatabase, queueIsEmpty, recordsOf } from "../support/database.ts";

/** Puts a batch into the queue that ingest would refuse. */
async function enqueue(
  sql: Database,
  tenantId: string,
  columns: { msg: string[]; level?: string[]; attrs?: string[] },
): Promise<void> {
  const { msg, level = msg.map(() => "info"), attrs = msg.map(() => "{}") } = columns;
  await sql`insert into logloom.tenants (tenant_id, plan_id) values (${tenantId}, 'free')
    on conflict do nothing`;
  await sql`
    select logloom_private.enqueue(
      logloom_private.ingest_state(${tenantId}, null, null, 1),
      jsonb_populate_record(null::logloom_private.ingest_request, jsonb_build_object(
        'p_bytes', 100,
        'p_ts', array_fill(null::timestamptz, array[${msg.length}::integer]),
        'p_level', ${level}::text[],
        'p_msg', ${msg}::text[],
        'p_attrs', ${attrs}::text[]::jsonb[]
      ))
    )`;
}

async function deadLetters(sql: Database, tenantId: string) {
  const rows = await sql`
    select msg, error_code, error_message, attempts from logloom_private.dead_letters
    where tenant_id = ${tenantId} order by msg`;
  return rows.map((row) => ({ ...row }));
}

Deno.test("events that cannot be written are set aside, and delay neither their batch nor others", async () => {
  const [poisoned, other] = await Promise.all([newTenant("poisoned"), newTenant("other")]);
  await using db = openDatabase();
  await db.begin(async (transaction) => {
    // Queues all batches in one transaction, so that one step of the writer gets all of them.
    const sql = transaction as unknown as Database;
    await enqueue(sql, other.id, { msg: ["before"] });
    await enqueue(sql, poisoned.id, {
      msg: ["a good", "b bad level", "c good", "d bad attrs", "e good"],
      level: ["info", "loud", "warn", "info", "error"],
      attrs: ["{}", "{}", "{}", "[]", "{}"],
    });
    await enqueue(sql, poisoned.id, { msg: ["f bad alone"], level: ["quiet"] });
    await enqueue(sql, other.id, { msg: ["between"] });
  });
  assert.equal((await ingest(other.headers, [{ msg: "after" }])).status, 200);

  await queueIsEmpty(db);
  const records = await recordsOf(db, poisoned.id, 3);
  assert.deepEqual(records.map(({ msg }) => msg), ["a good", "c good", "e good"]);
  const others = await recordsOf(db, other.id, 3);
  assert.deepEqual(others.map(({ msg }) => msg).sort(), ["after", "before", "between"]);

  const refused = await deadLetters(db, poisoned.id);
  assert.deepEqual(
    refused.map(({ msg, error_code, attempts }) => ({ msg, error_code, attempts })),
    ["b bad level", "d bad attrs", "f bad alone"].map((msg) => ({
      msg,
      error_code: "23514",
      attempts: 1,
    })),
  );
  assert.match(refused[0].error_message, /log_level_is_known/);
  assert.match(refused[1].error_message, /log_attrs_is_object/);

  // After a replay, unchanged dead letters stay, and corrected ones become records.
  await db`select logloom_private.replay_dead_letters()`;
  assert.equal((await deadLetters(db, poisoned.id))[0].attempts, 2);
  await db`
    update logloom_private.dead_letters set level = 'info', attrs = null
    where tenant_id = ${poisoned.id}`;
  const [{ replayed }] = await db`select * from logloom_private.replay_dead_letters()`;
  assert.equal(replayed, 3);
  assert.equal((await recordsOf(db, poisoned.id, 6)).length, 6);
  assert.deepEqual(await deadLetters(db, poisoned.id), []);
});
