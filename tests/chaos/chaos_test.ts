import assert from "node:assert/strict";
import { createRule } from "../support/alert_rules.ts";
import { bearer, clientOf, health, newTenant, rpc } from "../support/client.ts";
import { shiftClock } from "../support/shift_clock.ts";
import { type Database, openDatabase } from "../support/database.ts";
import { eventually, pause } from "../support/eventually.ts";
import { isBack, killProcess, type ProcessName, signalIfThere } from "../support/processes.ts";
import { complete, outcomeOf, Sender } from "../support/sender.ts";
import { randomOf } from "../support/random.ts";
import { stack } from "../support/stack.ts";
import { tell } from "../support/trial_counts.ts";

const kills = Number(Deno.env.get("LOGLOOM_CHAOS_KILLS") ?? "20");

/** How many steps set the clock, on average. After each of them health needs a minute to be healthy. */
const clockSteps = Number(Deno.env.get("LOGLOOM_CHAOS_CLOCK_STEPS") ?? Math.ceil(kills / 5));

/** A seed repeats the random choices, but not their moments. */
const seed = Number(Deno.env.get("LOGLOOM_CHAOS_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const random = randomOf(seed);

/** Runs a step of the chaos. Its promise is awaited before the next step. */
type Step = (sql: Database) => Promise<void>;

const kill = (name: ProcessName): Step => async () => await isBack(name, await killProcess(name));

const steps: Record<string, Step> = {
  "PostgreSQL": kill("postgres"),
  "PostgREST": kill("postgrest"),
  "the function ingest": kill("ingest"),
  "the gateway": kill("gateway"),
  "the function health": kill("health"),
  "a backend at work": async (sql) => {
    const [backend] = await sql`
      select pid from pg_stat_activity
      where backend_type in ('client backend', 'pg_cron') and datname = 'postgres'
        and pid <> pg_backend_pid() order by random() limit 1`;
    if (backend) signalIfThere(backend.pid, "SIGKILL");
  },
  "connections in mid-request": async () => {
    const { hostname, port } = new URL(stack.url);
    for (let n = 0; n < 20; n++) {
      const connection = await Deno.connect({ hostname, port: Number(port) });
      await connection.write(new TextEncoder().encode(
        `POST /functions/v1/ingest HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 1000\r\n\r\n[{`,
      ));
      connection.close();
    }
  },
  // Simulates that the clock was an hour ahead and was set back, then that it was an hour late and was set ahead.
  "the clock, set back": (sql) => shiftClock(sql, "1 hour"),
  "the clock, set ahead": (sql) => shiftClock(sql, "-1 hour"),
};

/** The steps that kill no process. */
const harmless = /^(connections|the clock)/;

Deno.test(`${kills} kills and cuts at random: every event and every alert once, and health tells the truth`, async () => {
  const tenants = await Promise.all([newTenant("one"), newTenant("two")]);
  const senders = tenants.map((tenant) => new Sender(tenant));
  {
    await using db = openDatabase();
    for (const { id } of tenants) {
      await db`insert into logloom.tenants (tenant_id, plan_id) values (${id}, 'enterprise')`;
    }
  }
  for (const tenant of tenants) {
    await createRule(tenant, {
      p_query_dsl: "ts:*",
      p_comparison: "gte",
      p_window_minutes: 1,
      p_cooldown_minutes: 0,
    });
  }
  let isOver = false;
  const searches = tenants.map(async ({ token }) => {
    const wrong: string[] = [];
    const operations = ["search_logs", "log_stats", "log_histogram"];
    let searched = 0;
    while (!isOver) {
      const operation = operations[searched++ % operations.length];
      const { status, body } = await rpc(token, operation)
        .catch(() => ({ status: 503, body: {} as Record<string, unknown> }));
      // A search may be refused or unavailable for a moment, but never wrong.
      // PostgREST gives this answer only if a backend was killed during the request.
      const isCrash = status === 400 && body.code === "" && body.message === "";
      if (!isCrash && ![200, 401, 408, 429, 500, 503].includes(status)) {
        wrong.push(`${operation}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
      }
      await pause(200);
    }
    return wrong;
  });
  for (const sender of senders) sender.start();
  console.log(
    `LOGLOOM_CHAOS_SEED=${seed} LOGLOOM_CHAOS_KILLS=${kills} LOGLOOM_CHAOS_CLOCK_STEPS=${clockSteps}`,
  );
  const done: string[] = [];
  for (let n = 0; n < kills; n++) {
    const isClock = random(kills) < clockSteps;
    const names = Object.keys(steps).filter((name) => name.startsWith("the clock") === isClock);
    const name = names[random(names.length)];
    done.push(name);
    console.log(`${n + 1} of ${kills}: ${name}`);
    {
      // This is a separate pool, because a kill ends all connections.
      await using db = openDatabase(undefined, 2, { isCut: true });
      await steps[name](db).catch((error) => console.log(`${name}: ${error.message}`));
    }
    await eventually(`after ${name} health says that all is well`, async () => {
      const { status, body } = await health("/ready").catch(() => ({ status: 0, body: {} }));
      return status === 200 && (body as { status?: string }).status === "healthy";
    });
  }
  for (const sender of senders) await sender.stop();
  isOver = true;
  assert.deepEqual((await Promise.all(searches)).flat(), []);

  await using db = openDatabase(undefined, 2, { isCut: true });
  for (const [n, tenant] of tenants.entries()) {
    assert.ok(senders[n].acknowledged > 0);
    assert.deepEqual(await outcomeOf(db, tenant), complete(senders[n]));
    const [{ alerts, windows }] = await db`
      select count(*)::integer as alerts, count(distinct window_end)::integer as windows
      from logloom.alert_history where tenant_id = ${tenant.id}`;
    assert.equal(alerts, windows, "an alert once for a window");
    assert.ok(
      (await fetch(`${stack.url}/functions/v1/health`, { headers: bearer(tenant.token) })).ok,
    );
    await clientOf(tenant.token).call("delete_tenant", { p_tenant_id: tenant.id });
  }
  tell({ kills: done.filter((name) => !harmless.test(name)).length });
});
