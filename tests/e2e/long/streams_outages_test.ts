import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import type { StreamKind } from "../../../packages/logloom/src/read.ts";
import {
  apiKey,
  clientOf,
  createKey,
  ingest,
  newTenant,
  type Tenant,
} from "../../support/client.ts";
import { type Database, openDatabase, recordsOf } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { killPart } from "../../support/processes.ts";
import { type S3Server, startS3 } from "../../support/s3_server.ts";
import { stack } from "../../support/stack.ts";
import { hurriedStreams, newStream, ownReceivers } from "../../support/streams.ts";

const count = 40;

/** The troubles of a stream's first attempts. Each attempt has one trouble; later attempts arrive. */
const troubles = ["outage", "too many requests", "lost answer", "slow", "killed sender"];

interface Road extends AsyncDisposable {
  readonly url: string;
  /** The number of attempts so far. */
  readonly attempts: () => number;
  /** Whether the attempt is under way during which the sender is killed. */
  readonly waitsForKill: () => boolean;
}

/** Makes a proxy to a receiver that causes each trouble once. */
function troubledRoad(receiver: string, killed: Promise<void>): Road {
  let waitsForKill = false;
  const givenUp = Promise.withResolvers<unknown>();
  let attempts = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const trouble = troubles[attempts++];
      const { pathname, search } = new URL(request.url);
      const body = new Uint8Array(await request.arrayBuffer());
      if (trouble === "outage") return new Response("gone", { status: 503 });
      if (trouble === "too many requests") {
        return new Response("wait", { status: 429, headers: { "Retry-After": "1" } });
      }
      const headers = new Headers(request.headers);
      headers.delete("content-length");
      headers.delete("host");
      const answer = await fetch(`${receiver}${pathname}${search}`, {
        method: request.method,
        headers,
        body,
      });
      const text = answer.status === 204 ? null : await answer.text();
      if (text === null) await answer.body?.cancel();
      if (trouble === "lost answer") return new Response(null, { status: 502 });
      if (trouble === "slow") {
        request.signal.addEventListener("abort", givenUp.resolve);
        await givenUp.promise;
      }
      if (trouble === "killed sender") {
        waitsForKill = true;
        await killed;
      }
      return new Response(text, { status: answer.status });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    attempts: () => attempts,
    waitsForKill: () => waitsForKill,
    [Symbol.asyncDispose]: () => {
      givenUp.resolve(undefined);
      return server.shutdown();
    },
  };
}

interface Trial {
  readonly kind: StreamKind;
  readonly source: Tenant;
  readonly streamId: string;
  readonly road: Road;
  /** Returns the number of arrived records, and how many of them are different. */
  readonly arrived: (sql: Database) => Promise<readonly [number, number]>;
}

async function trialOf(kind: keyof typeof ownReceivers, killed: Promise<void>): Promise<Trial> {
  const { path, config, secret, id } = ownReceivers[kind];
  const name = kind.replaceAll("_", "-");
  const [source, target] = [await newTenant(`from-${name}`), await newTenant(`to-${name}`)];
  const { key_value } = await createKey(target);
  const road = troubledRoad(`${stack.url}/functions/v1/ingest`, killed);
  const { stream_id } = await newStream(source, {
    p_kind: kind,
    p_config: { url: `${road.url}${path}`, ...config },
  }, secret(key_value));
  return {
    kind,
    source,
    streamId: stream_id,
    road,
    arrived: async (sql) => {
      const records = await recordsOf(sql, target.id, count);
      const ids = records.map(({ attrs }) => (attrs as Record<string, unknown>)[id]);
      return [records.length, new Set(ids).size];
    },
  };
}

async function trialOfS3(s3: S3Server, killed: Promise<void>): Promise<Trial> {
  const source = await newTenant("from-s3");
  const road = troubledRoad(s3.url, killed);
  const { stream_id } = await newStream(source, {
    p_kind: "s3",
    p_config: {
      endpoint: road.url,
      region: "us-east-1",
      bucket: "logs",
      prefix: "p",
      access_key_id: "anybody",
    },
  }, { secret_access_key: "s3cret" });
  return {
    kind: "s3",
    source,
    streamId: stream_id,
    road,
    arrived: async () => {
      const objects = await Promise.all((await s3.bucket.keys()).map(s3.bucket.get));
      const ids = objects.flatMap((bytes) =>
        gunzipSync(bytes).toString("utf8").trimEnd().split("\n").map((line) => JSON.parse(line).id)
      );
      return [ids.length, new Set(ids).size];
    },
  };
}

Deno.test("each kind delivers every record once despite an outage, a 429, a lost answer, a slow answer and a kill", async () => {
  await using sql = openDatabase();
  await using _hurried = await hurriedStreams(sql);
  await using s3 = await startS3("logs");
  const killed = Promise.withResolvers<void>();
  const kinds = Object.keys(ownReceivers) as (keyof typeof ownReceivers)[];
  const trials = [
    await trialOfS3(s3, killed.promise),
    ...await Promise.all(kinds.map((kind) => trialOf(kind, killed.promise))),
  ];
  await using roads = new AsyncDisposableStack();
  for (const { road } of trials) roads.use(road);
  roads.defer(() => killed.resolve());
  for (const { source } of trials) {
    const { key_value } = await createKey(source);
    const events = Array.from({ length: count }, (_, n) => ({ msg: `record ${n}` }));
    assert.equal((await ingest(apiKey(key_value), events)).status, 200);
  }

  await eventually(
    "each is where it is killed",
    () => Promise.resolve(trials.every(({ road }) => road.waitsForKill())),
  );
  const isBack = await killPart("logloom-stream");
  killed.resolve();
  await isBack();
  await sql`
    update logloom.log_streams set claimed_until = now()
    where stream_id = any (${trials.map(({ streamId }) => streamId)})`;
  for (const { kind, source, streamId, road, arrived } of trials) {
    await eventually(`${kind} is done`, async () => {
      const stream = await clientOf(source.token).call("get_log_stream", { p_stream_id: streamId });
      return stream.sent_records === count && stream.failing_since === null;
    });
    assert.ok(road.attempts() > troubles.length, kind);
    assert.deepEqual([kind, ...await arrived(sql)], [kind, count, count]);
  }
});
