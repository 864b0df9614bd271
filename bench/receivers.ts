import { gzipSync } from "node:zlib";
import { parseArgs } from "node:util";
import { findRuntime, hostedVersion } from "../local/runtime.ts";
import { asProtobuf } from "../supabase/functions/ingest/protocols/otlp_requests.ts";
import { removeAllRecords } from "./support/records.ts";
import { type Event, loadEvents } from "./support/events.ts";
import { createKey, post } from "./ingest/requests.ts";
import { load } from "./support/load.ts";
import { type Figure, percentile, printFigures, ratio, thousands } from "./support/report.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";

const mib = 1024 * 1024;
const largest = 8 * mib;
const rounds = 5;

/**
 * The processor time and memory of the largest body of each protocol on the Deno of hosted functions; and OTLP protobuf
 * compared with native JSON, in turns.
 *
 * Options: --events FILE (NDJSON, .gz too; made events without it), --seconds N of each turn (default 3).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { events: { type: "string" }, seconds: { type: "string", default: "3" } },
  });
  const events = await loadEvents(values.events);
  const runtime = await findRuntime(hostedVersion, (step) => console.error(`  ${step}`));
  const bench = await startBenchStack({ runtime, processes: 1 });
  try {
    const key = await createKey(bench, "bench");
    const costs = await measureLargest(bench, key, events);
    const rates = await compareRates(bench, key, events, Number(values.seconds));
    printFigures(`Receivers, on Deno ${hostedVersion}`, [...costs, ...rates]);
  } finally {
    await bench.stop();
  }
}

interface Sending {
  readonly name: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();

/** With messages of 250 characters, so that the maximum of events makes about the largest body. */
function long(event: Event): Event {
  return { ...event, msg: `${event.msg} `.repeat(12).slice(0, 250) };
}

/** The first events that make a body of at most the largest size. */
function fill(
  events: Event[],
  most: number,
  textOf: (event: Event, n: number) => string,
  around: [string, string, string] = ["", "", ""],
): Uint8Array<ArrayBuffer> {
  const parts: string[] = [];
  let size = around[0].length + around[2].length;
  for (let n = 0; n < most; n++) {
    const text = textOf(long(events[n % events.length]), n);
    size += encoder.encode(text).length + around[1].length;
    if (size > largest) break;
    parts.push(text);
  }
  return encoder.encode(around[0] + parts.join(around[1]) + around[2]);
}

function record(event: Event) {
  const { level, msg, attrs, ...fields } = event;
  const levels: Record<string, number> = { debug: 5, info: 9, warn: 13, error: 17 };
  return {
    nanos: BigInt(Date.now()) * 1_000_000n,
    number: levels[String(level)],
    text: String(level),
    body: String(msg),
    attributes: Object.fromEntries(
      Object.entries({ ...fields, ...attrs as object }).map(([key, value]) => [
        key,
        typeof value === "number" && Number.isInteger(value) ? BigInt(value) : String(value),
      ]),
    ),
  };
}

function largestBodies(events: Event[]): Sending[] {
  const json = { "Content-Type": "application/json" };
  const now = Date.now();
  const line = (event: Event) => JSON.stringify({ ts: now, ...event });
  const otlp = events.slice(0, 10_000).map((event) => record(long(event)));
  while (otlp.length < 10_000) otlp.push(otlp[otlp.length % events.length]);
  const lines = fill(events, 20_000, line, ["", "\n", ""]);
  const otlpJson = (records: typeof otlp) =>
    JSON.stringify({
      resourceLogs: [{
        resource: { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] },
        scopeLogs: [{
          logRecords: records.map((entry) => ({
            timeUnixNano: String(entry.nanos),
            severityNumber: entry.number,
            body: { stringValue: entry.body },
            attributes: Object.entries(entry.attributes).map(([key, value]) => ({
              key,
              value: typeof value === "bigint"
                ? { intValue: String(value) }
                : { stringValue: value },
            })),
          })),
        }],
      }],
    });
  return [
    {
      name: "OTLP protobuf",
      path: "/v1/logs",
      headers: { "Content-Type": "application/x-protobuf" },
      body: asProtobuf({ records: otlp }),
    },
    {
      name: "OTLP JSON",
      path: "/v1/logs",
      headers: json,
      body: encoder.encode(otlpJson(otlp.slice(0, 9_000))),
    },
    { name: "NDJSON", path: "", headers: { "Content-Type": "application/x-ndjson" }, body: lines },
    {
      name: "NDJSON, gzip",
      path: "",
      headers: { "Content-Type": "application/x-ndjson", "Content-Encoding": "gzip" },
      body: new Uint8Array(gzipSync(lines)),
    },
    {
      name: "lines of text",
      path: "/lines",
      headers: {},
      body: fill(
        events,
        20_000,
        (event, n) => `${new Date(now + n).toISOString()} INFO ${event.msg}`,
        ["", "\n", ""],
      ),
    },
    {
      name: "Loki JSON",
      path: "/loki/api/v1/push",
      headers: json,
      body: fill(
        events,
        20_000,
        (event) => JSON.stringify([`${now}000000`, JSON.stringify(event)]),
        ['{"streams":[{"stream":{"app":"shop"},"values":[', ",", "]}]}"],
      ),
    },
    {
      name: "Elasticsearch _bulk",
      path: "/es/_bulk",
      headers: { "Content-Type": "application/x-ndjson" },
      body: fill(events, 20_000, (event) => `{"create":{"_index":"shop"}}\n${line(event)}\n`),
    },
    {
      name: "Splunk HEC",
      path: "/services/collector",
      headers: {},
      body: fill(events, 20_000, (event) => JSON.stringify({ time: now / 1000, event })),
    },
    {
      name: "Datadog",
      path: "/api/v2/logs",
      headers: json,
      body: fill(
        events,
        20_000,
        (event) => JSON.stringify({ ...event, timestamp: now, ddtags: "env:prod,team:pay" }),
        ["[", ",", "]"],
      ),
    },
    {
      name: "GELF",
      path: "/gelf",
      headers: {},
      body: fill(events, 20_000, (event) =>
        JSON.stringify({
          short_message: event.msg,
          level: 6,
          timestamp: now / 1000,
          _service: event.service,
        })),
    },
    {
      name: "Supabase drain",
      path: "/drain/supabase",
      headers: json,
      body: fill(
        events,
        20_000,
        (event) =>
          JSON.stringify({ event_message: event.msg, timestamp: now * 1000, metadata: event }),
        [
          "[",
          ",",
          "]",
        ],
      ),
    },
  ];
}

/** Each in its own process after one small request; three times, because the first compiles. */
async function measureLargest(
  bench: BenchStack,
  key: string,
  events: Event[],
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, path, headers, body } of largestBodies(events)) {
    console.error(`  ${name}: ${(body.length / mib).toFixed(1)} MiB`);
    await bench.serveAnew();
    const { pid } = bench.state.processes.ingest;
    const small = await post(`${bench.state.url}/functions/v1/ingest`, key, encoder.encode("[{}]"));
    await small.body?.cancel();
    const { now: atFirst } = await costOf(pid);
    const costs: Cost[] = [];
    for (let n = 0; n < 3; n++) {
      await Deno.writeTextFile(`/proc/${pid}/clear_refs`, "5");
      const before = await costOf(pid);
      const response = await fetch(`${bench.state.url}/functions/v1/ingest${path}`, {
        method: "POST",
        // Otherwise the second would be recognised as a repeat of the first.
        headers: { "X-API-Key": key, "Idempotency-Key": crypto.randomUUID(), ...headers },
        body,
      });
      const said = await response.text();
      if (response.status >= 300) {
        throw new Error(`${name}: ${response.status} ${said.slice(0, 200)}`);
      }
      const after = await costOf(pid);
      costs.push({
        ...after,
        seconds: after.seconds - before.seconds,
        peak: after.peak - atFirst,
      });
    }
    const seconds = percentile(costs.map((cost) => cost.seconds), 0.5);
    const [{ peak }] = costs;
    figures.push({
      name: `${name}: processor, s`,
      value: `${seconds.toFixed(2)} (first ${costs[0].seconds.toFixed(2)})`,
      limit: "≤ 2",
      holds: seconds <= 2,
    }, {
      name: `… memory beyond that of the idle process, MiB`,
      value: `${peak.toFixed(0)} (of three: ${
        Math.max(...costs.map((cost) => cost.peak)).toFixed(0)
      })`,
      limit: "≤ 100",
      holds: peak <= 100,
    });
    await removeAllRecords(bench.sql);
  }
  return figures;
}

interface Cost {
  /** Processor time, of user and system. */
  readonly seconds: number;
  /** Maximum MiB resident since the last reset, and now. */
  readonly peak: number;
  readonly now: number;
}

async function costOf(pid: number): Promise<Cost> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const kilobytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return {
    seconds: (Number(fields[11]) + Number(fields[12])) / 100,
    peak: kilobytes("VmHWM") / 1024,
    now: kilobytes("VmRSS") / 1024,
  };
}

/** Requests of 512 records, as SDKs send them, in protobuf and as native JSON. */
async function compareRates(
  bench: BenchStack,
  key: string,
  events: Event[],
  seconds: number,
): Promise<Figure[]> {
  const batch = events.slice(0, 512);
  const url = `${bench.state.url}/functions/v1/ingest`;
  const native = () => {
    const ts = new Date().toISOString();
    return encoder.encode(JSON.stringify(batch.map((event) => ({ ts, ...event }))));
  };
  const nativeBodies = Array.from({ length: 8 }, native);
  // Each body differs, like a real sender's: its times are those of its records.
  const otlpBodies = Array.from({ length: 64 }, (_, n) =>
    asProtobuf({
      records: batch.map((event, at) => ({
        ...record(event),
        nanos: BigInt(Date.now() - n) * 1_000_000n + BigInt(at) * 1000n,
      })),
    }));
  const rates = { native: [] as number[], otlp: [] as number[] };
  const send = (path: string, type: string, body: Uint8Array<ArrayBuffer>, id?: string) =>
    fetch(url + path, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": type, ...id && { "Idempotency-Key": id } },
      body,
    });
  let sent = 0;
  const turns = {
    native: (n: number) => send("", "application/json", nativeBodies[n % nativeBodies.length]),
    otlp: (n: number) =>
      send("/v1/logs", "application/x-protobuf", otlpBodies[n % otlpBodies.length], `b${sent++}`),
  };
  for (let round = 0; round <= rounds; round++) {
    for (const kind of ["native", "otlp"] as const) {
      const { answered, seconds: took } = await load({ connections: 4, seconds }, turns[kind]);
      if (round > 0) rates[kind].push((answered * batch.length) / took);
    }
    await removeAllRecords(bench.sql);
  }
  const [nativeRate, otlpRate] = [percentile(rates.native, 0.5), percentile(rates.otlp, 0.5)];
  return [
    { name: "native JSON, 512 records a request, events/s", value: thousands(nativeRate) },
    {
      name: "OTLP protobuf, 512 records a request, events/s",
      value: `${thousands(otlpRate)} = ${ratio(otlpRate, nativeRate)} of native`,
      limit: "≥ 0.60 of native",
      holds: otlpRate >= 0.6 * nativeRate,
    },
  ];
}
