import { parseArgs } from "node:util";
import { measureDelays } from "./ingest/measure_delays.ts";
import { PlainClient } from "./ingest/plain_client.ts";
import { bodyBytes, createKey, post, type Send } from "./ingest/requests.ts";
import { measureRates, type Rates } from "./ingest/measure_rates.ts";
import { eventsPerBody, sustain, type Sustained } from "./ingest/sustained.ts";
import { drain, resumeWriter } from "./ingest/writer.ts";
import { type Body, type Event, loadEvents, makeBodies } from "./support/events.ts";
import { type Load, load } from "./support/load.ts";
import { memory } from "./support/memory.ts";
import { secondsWithClient, used } from "./support/processor.ts";
import { removeAllRecords } from "./support/add_records.ts";
import {
  atMost,
  type Figure,
  percentile,
  printFigures,
  ratio,
  thousands,
} from "./support/report.ts";
import { type BenchStack, startBenchStack, step } from "./support/stack.ts";

/**
 * Measures speed, delay and size of ingest, compared with R: the rows a second of one COPY of the same events into the
 * same partition with the same indexes.
 *
 * Options: --events FILE (NDJSON or .gz; default: generated events), --seconds N of each phase (default 15), --sustained
 * N (seconds, default 60), --pace P (the sustained rate, as a share of R; default 0.52).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: "string" },
      seconds: { type: "string", default: "15" },
      sustained: { type: "string", default: "60" },
      pace: { type: "string", default: "0.52" },
    },
  });
  const events = await loadEvents(values.events);
  await using bench = await startBenchStack();
  await measure(bench, events, {
    seconds: Number(values.seconds),
    sustainedSeconds: Number(values.sustained),
    pace: Number(values.pace),
  });
}

interface Singles extends Load {
  /** The processor time of each event in microseconds, by process. */
  costs: Map<string, number>;
}

async function measure(
  bench: BenchStack,
  events: Event[],
  { seconds, sustainedSeconds, pace }: { seconds: number; sustainedSeconds: number; pace: number },
): Promise<void> {
  const bodies = makeBodies(events, bodyBytes);
  const key = await createKey(bench, "bench");
  const send: Send = (body) => post(`${bench.state.url}/functions/v1/ingest`, key, body);

  step("Warming up");
  await warmUp(bench, send, bodies);
  const memoryBefore = await memory(bench.state);
  const rates = await measureRates(bench, send, bodies, events, seconds, step);

  step("One-event requests");
  await resumeWriter(bench);
  const singles = await sendSingles(bench, key, events[0], seconds);
  await drain(bench);
  await removeAllRecords(bench.sql);

  step(`Sustained for ${sustainedSeconds} s`);
  const sustained = await sustain(bench, send, bodies, {
    seconds: sustainedSeconds,
    eventsPerSecond: pace * rates.copy,
  });

  step("Acknowledged to visible, at half the sustained rate");
  const requestsPerSecond = sustained.visibleRate / 2 / eventsPerBody(bodies);
  const delays = await measureDelays(bench, key, bodies, requestsPerSecond, seconds);

  printFigures("Ingest", figures(rates, singles, sustained, delays));
  printFigures(
    "Processor time, µs an event",
    [
      ...rates.costs,
      ["one-event requests", singles.costs] as const,
      ["sustained", sustained.costs] as const,
    ]
      .map(([name, costs]) => ({ name, value: costText(costs) })),
  );
  printFigures(
    "Memory, MiB: at the start, early and late in the sustained run",
    [...sustained.memoryLate].map(([name, late]) => ({
      name,
      value: [memoryBefore.get(name), sustained.memoryEarly?.get(name), late]
        .map((size) => size === undefined ? "-" : size.toFixed(0)).join(", "),
    })),
  );
}

/** Measures requests with one event each. */
async function sendSingles(
  bench: BenchStack,
  key: string,
  event: Event,
  seconds: number,
): Promise<Singles> {
  const client = new PlainClient(
    `${bench.state.url}/functions/v1/ingest`,
    { "x-api-key": key, "content-type": "application/json" },
    new TextEncoder().encode(JSON.stringify(event)),
  );
  const before = await secondsWithClient(bench.stack);
  const done = await load({ connections: 16, seconds }, () => client.send());
  const spent = used(before, await secondsWithClient(bench.stack));
  client.close();
  const costs = [...spent].map(([name, value]) => [name, value * 1e6 / done.answered] as const);
  return { ...done, costs: new Map(costs) };
}

/** Lists the processes that took part, by name. */
function costText(costs: Map<string, number>): string {
  const shown = [...costs].filter(([, value]) => value >= 0.05);
  const sum = shown.reduce((total, [, value]) => total + value, 0);
  return [...shown, ["all", sum] as const]
    .map(([name, value]) => `${name} ${value.toFixed(2)}`).join(", ");
}

async function warmUp(bench: BenchStack, send: Send, bodies: Body[]): Promise<void> {
  await load({ connections: 4, seconds: 3 }, (n) => send(bodies[n % bodies.length].stamped()));
  await drain(bench);
  await removeAllRecords(bench.sql);
}

function figures(rates: Rates, singles: Load, sustained: Sustained, delays: number[]): Figure[] {
  const failures = [...rates.failures, ...singles.failures, ...sustained.load.failures];
  const { visibleRate, depths } = sustained;
  return [
    { name: "R: COPY, rows/s", value: thousands(rates.copy) },
    atLeast("acknowledged events/s, 4 connections", rates.acknowledged, rates.copy, "R", 0.85),
    atLeast(
      "… against a PostgREST bulk insert",
      rates.acknowledged,
      rates.bulk,
      "bulk insert",
      0.75,
    ),
    atLeast("writer events/s, queue to partitions", rates.writer, rates.copy, "R", 0.7),
    atLeast("sustained and visible events/s", visibleRate, rates.copy, "R", 0.5),
    {
      name: "… stored in the end, of those acknowledged",
      value: `${thousands(sustained.stored)} of ${thousands(sustained.acknowledged)}`,
      limit: "all",
      holds: sustained.stored === sustained.acknowledged,
    },
    {
      name: "… queue depth by quarters of the time, events",
      value: depths.map(thousands).join("; "),
      limit: "not growing",
      // A run of the writer moves the events of a second, so the depth varies by this number.
      holds: depths[3] - depths[0] <= visibleRate / 4,
    },
    atMost("acknowledged to visible, p50 ms", percentile(delays, 0.5), 200),
    atMost("… p95 ms", percentile(delays, 0.95), 400),
    atMost("one-event requests, 16 connections, p99 ms", percentile(singles.latencies, 0.99), 50),
    {
      name: "… requests/s",
      value: thousands(singles.answered / singles.seconds),
      limit: "≥ 3,000",
      holds: singles.answered / singles.seconds >= 3000,
    },
    {
      name: "partition bytes per byte of JSON",
      value: rates.bytesRatio.toFixed(2),
      limit: "≤ 1.3",
      holds: rates.bytesRatio <= 1.3,
    },
    {
      name: "answers other than 200",
      value: failures.map(([status, count]) => `${count} × ${status}`).join(", ") || "none",
      limit: "none",
      holds: failures.length === 0,
    },
  ];
}

function atLeast(
  name: string,
  rate: number,
  base: number,
  baseName: string,
  least: number,
): Figure {
  return {
    name,
    value: `${thousands(rate)} = ${ratio(rate, base)} ${baseName}`,
    limit: `≥ ${least} ${baseName}`,
    holds: rate / base >= least,
  };
}
