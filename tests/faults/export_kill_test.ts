import assert from "node:assert/strict";
import { apiKey, createKey, ingest, newTenant } from "../support/client.ts";
import { openDatabase, runWriter } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { killPart, type ProcessName } from "../support/processes.ts";
import { stack } from "../support/stack.ts";

interface Line {
  readonly ts: string;
  readonly id: string;
  readonly n?: number;
  readonly complete?: true;
  readonly next_cursor?: string;
}

const count = 12_000;

async function withRecords() {
  const tenant = await newTenant("export-kill");
  const from = Date.now() - 1_800_000;
  for (let first = 0; first < count; first += 3000) {
    const events = Array.from({ length: 3000 }, (_, n) => ({
      ts: new Date(from + (first + n >> 2)).toISOString(),
      msg: `event ${first + n} ${"x".repeat(60)}`,
    }));
    assert.equal((await ingest(tenant.headers, events)).status, 200);
  }
  await using db = openDatabase();
  await runWriter(db);
  await eventually("the records are there", async () => {
    const [{ records }] = await db`
      select count(*)::integer as records from logloom.logs where tenant_id = ${tenant.id}`;
    return records === count;
  });
  // Makes the records' time of receipt earlier, so that the export need not wait for the watermark.
  await db`
    update logloom.logs set received_at = received_at - interval '5 minutes'
    where tenant_id = ${tenant.id}`;
  const ids = await db`
    select l.id from logloom.logs l where l.tenant_id = ${tenant.id} order by l.ts, l.id`;
  const { key_value } = await createKey(tenant, { p_scopes: ["read"] });
  return { headers: apiKey(key_value), ids: ids.map(({ id }) => id as string) };
}

/**
 * Returns the complete lines of an answer until it ends or is cut off, and its cursor. Waits for `middle` after the
 * first lines, before it reads on.
 */
async function linesOf(
  headers: Record<string, string>,
  parameters: Record<string, string>,
  middle: () => Promise<void>,
): Promise<{ lines: Line[]; cursor: string }> {
  const query = new URLSearchParams(parameters);
  const lines: Line[] = [];
  let cursor = parameters.cursor ?? "";
  try {
    const answer = await fetch(`${stack.url}/functions/v1/logloom-read/v1/export?${query}`, {
      headers: { "accept-encoding": "identity", ...headers },
    });
    if (answer.status !== 200 || answer.body === null) {
      await answer.body?.cancel();
      return { lines, cursor };
    }
    cursor = answer.headers.get("x-logloom-cursor") ?? "";
    let rest = "";
    let isFirst = true;
    for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
      const whole = (rest + text).split("\n");
      rest = whole.pop() ?? "";
      for (const line of whole) lines.push(JSON.parse(line));
      if (isFirst) await middle();
      isFirst = false;
    }
  } catch {
    // Cut off.
  }
  return { lines, cursor };
}

async function exportedThrough(name: ProcessName): Promise<void> {
  const { headers, ids } = await withRecords();
  let had: string[] = [];
  let place: Record<string, string> = {};
  let kills = 0;
  await eventually(`an export through kills of ${name}`, async () => {
    const { lines, cursor } = await linesOf(headers, { from: "now-1h", ...place }, async () => {
      if (kills === 3) return;
      kills++;
      const isBack = await killPart(name);
      await isBack();
    });
    for (const line of lines) {
      if (line.complete) {
        assert.deepEqual(had, ids);
        if (kills === 3) return true;
        // On a busy machine the kill came too late, so the export begins again.
        had = [];
        place = {};
        return false;
      }
      if (line.id === undefined) continue;
      had.push(line.id);
      place = { cursor, after: `${line.ts},${line.id}` };
    }
    if (cursor !== "" && place.cursor === undefined) place = { cursor };
    return false;
  });
}

for (const name of ["logloom-read", "postgrest", "postgres"] as const) {
  Deno.test(`an export through kills of ${name} has no gap and no double`, () =>
    exportedThrough(name));
}
