import { parseArgs } from "node:util";
import { serviceRoleKey } from "../local/keys.ts";
import { type Event, loadEvents, makeBodies } from "./support/events.ts";
import { type Load, load, pace } from "./support/load.ts";
import { noiseFigures } from "./support/noise.ts";
import { type Figure, percentile, printFigures, thousands } from "./support/report.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";

/** Events a second that the noisy tenant's plan allows; it sends ten times as many. */
const rate = 2000;
const noise = 10;
const rounds = 6;

/**
 * How much one tenant's answers slow down while another sends ten times its rate, or has 20 requests in flight of any
 * kind that reads or compiles.
 *
 * Options: --seconds N of each phase (default 36), --events FILE, --kind NAME (only this kind, such as "tails"; may be
 * repeated).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: "string", default: "36" },
      events: { type: "string" },
      kind: { type: "string", multiple: true },
    },
  });
  const events = await loadEvents(values.events);
  const bench = await startBenchStack();
  try {
    await measure(bench, events, Number(values.seconds), values.kind);
  } finally {
    await bench.stop();
  }
}

async function measure(
  bench: BenchStack,
  events: Event[],
  seconds: number,
  kinds: string[] | undefined,
): Promise<void> {
  const { sql } = bench;
  await sql`
    insert into logloom.plans
    select (jsonb_populate_record(p, ${
    JSON.stringify({
      plan_id: "metered",
      events_per_second: rate,
      events_burst: rate,
      requests_per_second: 20,
      requests_burst: 20,
      // As on the free plan, where hostile tenants are.
      concurrent_searches: 4,
      concurrent_scans: 1,
    })
  }::text::jsonb)).*
    from logloom.plans p where p.plan_id = 'enterprise'`;
  const quiet = await makeTenant(bench, "quiet", "enterprise");
  const noisy = await makeTenant(bench, "noisy", "metered");
  const [body] = makeBodies(events.slice(0, 500), 490_000);
  const small = new TextEncoder().encode(JSON.stringify(events.slice(0, 20)));
  const url = `${bench.state.url}/functions/v1/ingest`;
  const send = (key: string, content: Uint8Array) =>
    fetch(url, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: content as BodyInit,
    });
  const quietly = () =>
    load(
      { connections: 2, seconds: seconds / rounds, pause: pace(40) },
      () => send(quiet, small),
    );
  const noisily = (times: number) =>
    load(
      { connections: 8, seconds: seconds / rounds, pause: pace(times * rate / body.events) },
      () => send(noisy, body.stamped()),
    );

  const measureRates = async () => {
    // In turns, so that other work on the machine affects both alike.
    const [beside, disturbed, loud]: Load[][] = [[], [], []];
    for (let round = 1; round <= rounds; round++) {
      console.error(`  Round ${round} of ${rounds}`);
      beside.push((await Promise.all([quietly(), noisily(1)]))[0]);
      const [one, other] = await Promise.all([quietly(), noisily(noise)]);
      disturbed.push(one);
      loud.push(other);
    }

    const sum = (loads: Load[], part: (one: Load) => number) =>
      loads.reduce((total, one) => total + part(one), 0);
    const [calmP95, loudP95] = [beside, disturbed].map((loads) =>
      percentile(loads.flatMap(({ latencies }) => latencies), 0.95)
    );
    const refused = sum(loud, ({ failures }) => failures.get(429) ?? 0);
    const accepted = sum(loud, ({ answered }) => answered) * body.events /
      sum(loud, ({ seconds }) => seconds);
    const failures = sum([...beside, ...disturbed], ({ failures }) => failures.size);
    const figures: Figure[] = [
      { name: "requests a second of the quiet tenant", value: "40, of 20 events" },
      {
        name: "p95, ms, beside a tenant at its rate",
        value: calmP95.toFixed(1),
      },
      {
        name: `p95, ms, beside a tenant at ${noise} × its rate`,
        value: loudP95.toFixed(1),
        limit: "≤ 1.5 ×",
        holds: loudP95 <= 1.5 * calmP95,
      },
      {
        name: "events/s accepted of the noisy one",
        value: `${thousands(accepted)} of ${thousands(noise * rate)}`,
        limit: `≤ ${thousands(rate * 1.5)}`,
        holds: accepted <= rate * 1.5,
      },
      { name: "its requests that were refused (429)", value: thousands(refused) },
      {
        name: "answers other than 200 to the quiet one",
        value: `${failures}`,
        limit: "0",
        holds: failures === 0,
      },
    ];
    printFigures("Noisy neighbour", figures);
  };

  console.error("  Warming up");
  await load({ connections: 4, seconds: 5 }, () => send(quiet, small));
  if (!kinds) await measureRates();

  // Records to search: every kind of noise but ingest reads them.
  for (const tenant of [quiet, noisy]) {
    await load({ connections: 2, seconds: 3 }, () => send(tenant, body.stamped()))
      .catch(() => console.error("  The noisy tenant is still over its rate"));
  }
  // The writer's work belongs to no kind.
  for (;;) {
    const [{ depth }] = await sql`select (logloom_private.queue_state()).depth::integer as depth`;
    if (depth === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await sql`vacuum analyze logloom.logs`;
  await sql`checkpoint`;
  printFigures(
    "Noisy neighbour: 20 requests in flight of a kind",
    await noiseFigures(bench, quiet, small, seconds / rounds, kinds),
  );
}

async function makeTenant({ sql, state }: BenchStack, id: string, plan: string): Promise<string> {
  await sql`insert into logloom.tenants (tenant_id, plan_id) values (${id}, ${plan})`;
  const response = await fetch(`${state.url}/rest/v1/rpc/create_api_key`, {
    method: "POST",
    headers: { authorization: `Bearer ${serviceRoleKey}`, "content-type": "application/json" },
    body: JSON.stringify({ p_tenant_id: id, p_name: "bench" }),
  });
  return (await response.json()).key_value;
}
