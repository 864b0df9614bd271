import assert from "node:assert/strict";
import type { StreamKind } from "../../packages/logloom/src/read.ts";
import { apiKey, createKey, ingest, newTenant, type Tenant } from "../support/client.ts";
import { type Database, openDatabase, recordsOf } from "../support/database.ts";
import { putOnPlan } from "../support/plans.ts";
import { stack } from "../support/stack.ts";
import { newStream, type OwnReceiver, ownReceivers } from "../support/streams.ts";

/** Makes ordinary events, and events that are hard to transport. */
function events(count: number): Record<string, unknown>[] {
  const shapes: Record<string, unknown>[] = [
    { level: "info", msg: "plain", service: "shop", env: "prod", host: "web-1" },
    { level: "error", msg: 'quotes " and \\ and ,"attrs":{"x":1}', service: "pay", route: "/pay" },
    { msg: "no level, two\nlines and a tab\t", service: "Zürich ✓ 🚀", env: "a,b c" },
    {
      level: "warn",
      msg: "attributes",
      req_id: "r-1",
      user_id: "u-1",
      attrs: {
        deep: { list: [1, "two", null, { three: 3.25 }], empty: {}, none: [] },
        null_value: null,
        yes: true,
        text: 'a ,"attrs": b',
        "dotted.name": "x",
        negative: -17,
      },
    },
    { level: "debug", attrs: { only: "attributes" } },
    { msg: "" },
  ];
  return Array.from({ length: count }, (_, n) => {
    const event = { ...shapes[n % shapes.length] };
    return { ...event, ts: new Date(Date.now() - n).toISOString().replace("Z", "123Z") };
  });
}

/** Numbers that a double would change, as texts of JSON. */
const exact = `{"msg":"numbers","attrs":{"big":12345678901234567890123,` +
  `"long":0.12345678901234567890123,"int64":9007199254740993,"small":0.000001}}`;

/** Counts how many records differ from their originals, are missing, or came twice. */
async function differences(
  sql: Database,
  source: Tenant,
  target: Tenant,
  { id, extras, precision = "microseconds" }: OwnReceiver,
): Promise<readonly unknown[]> {
  return await sql`
    select to_jsonb(a) as sent, to_jsonb(b) as arrived
    from (select * from logloom.logs where tenant_id = ${source.id}) a
    full join (select * from logloom.logs where tenant_id = ${target.id}) b
      on b.attrs ->> ${id} = a.id::text
    where a.id is null or b.id is null
      or (date_trunc(${precision}::text, a.ts), a.level, a.service, a.env, a.req_id, a.user_id, a.route, a.host)
        is distinct from (b.ts, b.level, b.service, b.env, b.req_id, b.user_id, b.route, b.host)
      or coalesce(a.msg, '') <> coalesce(b.msg, '')
      or coalesce(a.attrs, '{}')
        is distinct from b.attrs - ${[...extras, "logloom_hops"]}::text[]
      or b.attrs -> 'logloom_hops' is distinct from '1'
    limit 3`;
}

Deno.test("each kind delivers every record unchanged and once to our own receiver in another tenant", async () => {
  await using sql = openDatabase();
  const source = await newTenant("source");
  await putOnPlan(sql, source, { max_log_streams: 10 });
  const { key_value } = await createKey(source);
  const targets = new Map<StreamKind, Tenant>();
  const keys: string[] = [];
  for (const [kind, { path, config, secret }] of Object.entries(ownReceivers)) {
    const target = await newTenant(`target-${kind.replaceAll("_", "-")}`);
    const { key_value: key } = await createKey(target);
    targets.set(kind as StreamKind, target);
    keys.push(key);
    await newStream(source, {
      p_kind: kind as StreamKind,
      p_config: { url: `${stack.url}/functions/v1/ingest${path}`, ...config },
    }, secret(key));
  }
  const [{ stored }] = await sql`
    select string_agg(to_jsonb(s)::text, ' ') || (
      select string_agg(to_jsonb(e)::text, ' ') from logloom.audit_events e
      where e.tenant_id = ${source.id}
    ) as stored
    from logloom.log_streams s where s.tenant_id = ${source.id}`;
  for (const key of keys) assert.ok(!stored.includes(key), "no key is in the database");
  const count = 2500;
  const sent = await ingest(apiKey(key_value), events(count));
  assert.deepEqual(sent.body, { success: true, ingested: count, rejected: 0 });
  await ingest(apiKey(key_value), exact);
  for (const [kind, target] of targets) {
    const receiver = ownReceivers[kind as keyof typeof ownReceivers];
    const arrived = await recordsOf(sql, target.id, count + 1);
    assert.equal(arrived.length, count + 1, kind);
    const different = await differences(sql, source, target, receiver);
    assert.deepEqual([...different], [], kind);
  }
});
