import { percentile, printFigures } from "./support/report.ts";
import { startBenchStack } from "./support/stack.ts";

const tenants = 20;
const rulesPerTenant = 10;

/** From the moment that a rule fires to its message at a receiver, with the link and the newest records. */
export async function run(): Promise<void> {
  Deno.env.set("LOGLOOM_ALLOW_LOCAL_WEBHOOKS", "1");
  const arrived = new Map<string, number>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { data } = await request.json();
      arrived.set(data.alert_id, performance.now());
      return new Response(null, { status: 204 });
    },
  );
  const stack = await startBenchStack();
  const { sql } = stack;
  try {
    await sql`
      insert into logloom.tenants (tenant_id, plan_id)
      select 'tenant-' || n, 'enterprise' from generate_series(1, ${tenants}::integer) n`;
    await sql`
      insert into logloom.logs as l (id, tenant_id, ts, received_at, write_seq, level, msg, service)
      select gen_random_uuid(), 'tenant-' || 1 + i % ${tenants}::integer,
        now() - i * interval '10 milliseconds', now(), 1, 'error', 'out of stock ' || i, 'shop'
      from generate_series(1, 20000) i`;
    const rules = await sql`
      insert into logloom.alert_rules (
        tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes,
        enabled, notification_destinations, notification_config
      )
      select 'tenant-' || 1 + n % ${tenants}::integer, 'rule ' || n, 'level:error', 1e9, 'gt', 5, 0,
        true, '{webhook}', jsonb_build_object(
          'webhook_url', ${`http://127.0.0.1:${server.addr.port}/`}::text
        )
      from generate_series(0, ${tenants * rulesPerTenant - 1}::integer) n
      returning rule_id, tenant_id`;
    const fired = new Map<string, number>();
    for (const { rule_id, tenant_id } of rules) {
      const [{ alert_id }] = await sql`
        insert into logloom.alert_history (
          tenant_id, rule_id, value, threshold, window_start, window_end
        )
        values (${tenant_id}, ${rule_id}, 2, 1, now() - interval '5 minutes', now())
        returning alert_id`;
      fired.set(alert_id, performance.now());
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    for (let waited = 0; arrived.size < fired.size && waited < 60_000; waited += 100) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const took = [...fired].flatMap(([id, at]) => {
      const then = arrived.get(id);
      return then === undefined ? [] : [then - at];
    });
    const seconds = (share: number) => (percentile(took, share) / 1000).toFixed(2);
    printFigures(`${fired.size} alerts of ${tenants} tenants, 20 a second, to a receiver`, [
      {
        name: "arrived",
        value: `${took.length}`,
        limit: `${fired.size}`,
        holds: took.length === fired.size,
      },
      { name: "alert to message, p50 (s)", value: seconds(0.5) },
      {
        name: "alert to message, p95 (s)",
        value: seconds(0.95),
        limit: "≤ 5",
        holds: percentile(took, 0.95) <= 5000,
      },
    ]);
  } finally {
    await stack.stop();
    await server.shutdown();
  }
}
