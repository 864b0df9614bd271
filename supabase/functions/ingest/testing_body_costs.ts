import { success } from "../_shared/errors.ts";
import { processorClock } from "../_shared/testing_processor.ts";
import type { Bytes } from "./unpacked_bytes.ts";
import { createIngestHandler } from "./handler.ts";
import { receiver } from "./protocol.ts";
import { native } from "./protocols/json_events.ts";
import { apiKey } from "./testing.ts";

/** A body that repeats one piece up to its protocol's limit. */
export interface Recipe {
  readonly name: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly before?: string;
  /** The piece that is repeated. Each `#` in it becomes another number. */
  readonly again: string;
  readonly between?: string;
  readonly after?: string;
  /** The most repetitions, if a protocol allows fewer than fit its limit. */
  readonly most?: number;
  /** Makes the body's bytes, in place of `again`. */
  readonly bytes?: (limit: number) => Bytes;
}

const encoder = new TextEncoder();

export function bodyOf(recipe: Recipe, part = 1): Bytes {
  const isNative = recipe.path === "";
  const limit = Math.floor((isNative ? native : receiver).limits.bytes * part) -
    64;
  if (recipe.bytes !== undefined) return recipe.bytes(limit);
  const { before = "", again, between = "", after = "", most = Infinity } = recipe;
  const room = limit - before.length - after.length;
  if (!again.includes("#")) {
    const piece = encoder.encode(again).length + between.length;
    const times = Math.max(Math.min(Math.floor(room / piece), Math.ceil(most * part)), 1);
    return encoder.encode(before + (again + between).repeat(times - 1) + again + after);
  }
  const pieces: string[] = [];
  let length = 0;
  for (let n = 0; n < most * part; n++) {
    // Numbers far apart, so that no two pieces are similar.
    const piece = again.replaceAll("#", String(1 + (n * 7919) % 1_000_003));
    length += encoder.encode(piece).length + between.length;
    if (length > room) break;
    pieces.push(piece);
  }
  return encoder.encode(before + pieces.join(between) + after);
}

/** One run of a body through the function, without a database. */
export interface BodyRun {
  readonly status: number;
  readonly milliseconds: number;
}

export async function runBody({ path, headers = {} }: Recipe, body: Bytes): Promise<BodyRun> {
  const handler = createIngestHandler({
    authenticate: () => Promise.resolve(success({ kind: "api_key", keyDigest: "digest" })),
    callDatabase: (_name, text) => {
      encoder.encode(text);
      const body = '{"success":true,"ingested":1,"rejected":0}';
      return Promise.resolve(success(JSON.stringify([{ status: 200, headers: {}, body }])));
    },
    wakeWriter: () => {},
  });
  const request = new Request(`http://localhost/ingest${path}`, {
    method: "POST",
    headers: { "X-API-Key": apiKey, ...headers },
    body,
  });
  const began = processorClock();
  const answer = await handler(request);
  await answer.arrayBuffer();
  return { status: answer.status, milliseconds: processorClock() - began };
}
