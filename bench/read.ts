import { parseArgs } from "node:util";
import { userToken } from "../local/signing_keys.ts";
import { findRuntime, hostedVersion } from "../local/deno_runtimes.ts";
import { bodyBytes, createKey, post } from "./ingest/requests.ts";
import { loadEvents, makeBodies } from "./support/events.ts";
import { load } from "./support/load.ts";
import { secondsByProcess } from "./support/processor.ts";
import { type Figure, percentile, printFigures, ratio } from "./support/report.ts";
import { type BenchStack, startBenchStack, step } from "./support/stack.ts";

/** The number of requests under way. It is less than a plan's concurrent searches. */
const inFlight = 2;

/** The limit for the processor time of a search by key, as a multiple of RPC. */
const ratioLimit = 1.3;

const tenant = "bench";
const search = { p_query_dsl: "level:error", p_ts_from: "now-1h", p_limit: 100 };

/**
 * Compares the processor time of searches by key, by assistants and by RPC, in turns, on the Deno of hosted functions.
 *
 * Options: --seconds N for each (default 20), --events FILE (NDJSON or .gz; default: generated events).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { seconds: { type: "string", default: "20" }, events: { type: "string" } },
  });
  const runtime = await findRuntime(hostedVersion, step);
  await using bench = await startBenchStack({ runtime, processes: 1 });
  await measure(bench, Number(values.seconds), values.events);
}

type Request = () => Promise<Response>;

interface Reading {
  readonly latencies: number[];
  /** Seconds of processor time by process, without the client. */
  readonly processor: Map<string, number>;
  failures: number;
}

async function measure(bench: BenchStack, seconds: number, file?: string): Promise<void> {
  const count = await sendEvents(bench, file);
  const requests = await readers(bench);
  for (const request of Object.values(requests)) {
    await load({ connections: 1, seconds: 1 }, request);
  }
  const idle = await idleSeconds(bench, 5);
  const readings = new Map<string, Reading>();
  const turn = 1;
  for (let turns = 0; turns * turn < seconds; turns++) {
    for (const [name, request] of Object.entries(requests)) {
      const reading = readings.get(name) ??
        { latencies: [], processor: new Map<string, number>(), failures: 0 };
      readings.set(name, reading);
      const before = await secondsByProcess(bench.stack);
      const done = await load({ connections: inFlight, seconds: turn }, request);
      const after = await secondsByProcess(bench.stack);
      for (const [process, value] of after) {
        // Subtracts the processor time of jobs.
        const used = value - (before.get(process) ?? 0) - (idle.get(process) ?? 0) * done.seconds;
        reading.processor.set(process, (reading.processor.get(process) ?? 0) + used);
      }
      for (const latency of done.latencies) reading.latencies.push(latency);
      for (const failed of done.failures.values()) reading.failures += failed;
    }
  }
  const perCall = ({ processor, latencies }: Reading) =>
    1000 * [...processor.values()].reduce((sum, value) => sum + value, 0) / latencies.length;
  const [rpc] = readings.values();
  const figures = [...readings].map(([name, reading]): Figure => {
    const cost = perCall(reading);
    const { latencies, failures } = reading;
    const parts = ["postgres", "postgrest", "logloom-read", "gateway"].map((process) =>
      `${process} ${(1000 * (reading.processor.get(process) ?? 0) / latencies.length).toFixed(2)}`
    );
    return {
      name,
      value: `${cost.toFixed(2)} ms of processor (${parts.join(", ")}), ` +
        `${ratio(cost, perCall(rpc))} × RPC; p50 ${percentile(latencies, 0.5).toFixed(1)}, ` +
        `p95 ${percentile(latencies, 0.95).toFixed(1)} ms; ` +
        `${latencies.length} calls, ${failures} failed`,
      ...name === "search_logs by key" &&
        { limit: `≤ ${ratioLimit} × RPC`, holds: cost <= ratioLimit * perCall(rpc) },
    };
  });
  printFigures(
    `Reading, ${count} records, ${inFlight} requests in flight, Deno ${hostedVersion}`,
    figures,
  );
}

/** Measures the processor time in each idle second, by process. */
async function idleSeconds({ stack }: BenchStack, seconds: number): Promise<Map<string, number>> {
  const before = await secondsByProcess(stack);
  await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  const after = await secondsByProcess(stack);
  return new Map([...after].map(([name, value]) => [
    name,
    (value - (before.get(name) ?? 0)) / seconds,
  ]));
}

/** Sends events, and waits until they are there. */
async function sendEvents({ state, sql, ...rest }: BenchStack, file?: string): Promise<number> {
  const bench = { state, sql, ...rest };
  const key = await createKey(bench, tenant);
  const bodies = makeBodies(await loadEvents(file), bodyBytes);
  let sent = 0;
  for (const body of bodies) {
    const response = await post(`${state.url}/functions/v1/ingest`, key, body.stamped());
    await response.body?.cancel();
    if (response.status !== 200) throw new Error(`events were refused: ${response.status}`);
    sent += body.events;
  }
  for (let tries = 0; tries < 600; tries++) {
    const [{ count }] = await sql`
      select count(*)::integer as count from logloom.logs where tenant_id = ${tenant}`;
    if (count >= sent) return count;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the records do not appear");
}

async function readers({ state }: BenchStack): Promise<Record<string, Request>> {
  const token = userToken(crypto.randomUUID(), tenant);
  const send = (path: string, headers: Record<string, string>, body: unknown) => () =>
    fetch(`${state.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const user = { authorization: `Bearer ${token}` };
  const made = await send("/rest/v1/rpc/create_api_key", user, {
    p_name: "reads",
    p_scopes: ["read"],
  })();
  const key = { "x-api-key": (await made.json()).key_value };
  const mcp = (method: string, params: unknown) =>
    send("/functions/v1/logloom-read/mcp", {
      ...key,
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
    }, { jsonrpc: "2.0", id: 1, method, params });
  const { p_query_dsl: query_dsl, p_ts_from: ts_from } = search;
  const call = (name: string, given: unknown) => mcp("tools/call", { name, arguments: given });
  const assistant = call("search_logs", { query_dsl, ts_from });
  const answer = await (await assistant()).text();
  if (!answer.includes("untrusted") || answer.includes("isError")) throw new Error(answer);
  return {
    "search_logs by RPC": send("/rest/v1/rpc/search_logs", user, search),
    "search_logs by key": send("/functions/v1/logloom-read/v1/search_logs", key, search),
    "search_logs by a user at logloom-read": send(
      "/functions/v1/logloom-read/v1/search_logs",
      user,
      search,
    ),
    "MCP: search_logs, 20 records": assistant,
    "MCP: log_stats": call("log_stats", { query_dsl: "| count() by level", ts_from }),
    "MCP: tools/list": mcp("tools/list", {}),
  };
}
