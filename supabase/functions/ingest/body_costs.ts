import { success } from "../_shared/errors.ts";
import { processorClock, processorMs } from "../_shared/testing_processor.ts";
import type { Bytes } from "./bytes.ts";
import { createIngestHandler } from "./handler.ts";
import { receiver } from "./protocol.ts";
import { native } from "./protocols/native.ts";
import { apiKey, parametersOf } from "./testing.ts";

/** A body, told by what it repeats up to its protocol's limit. */
export interface Recipe {
  readonly name: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly before?: string;
  /** `#` is a number that differs each time. */
  readonly again: string;
  readonly between?: string;
  readonly after?: string;
  /** As often as it may be repeated. */
  readonly most?: number;
  /** Instead of text: what is made of so many bytes. */
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
    // Far apart, so that no name or number follows from the last one.
    const piece = again.replaceAll("#", String(1 + (n * 7919) % 1_000_003));
    length += encoder.encode(piece).length + between.length;
    if (length > room) break;
    pieces.push(piece);
  }
  return encoder.encode(before + pieces.join(between) + after);
}

export interface BodyCost {
  readonly status: number;
  readonly milliseconds: number;
  /** Times what JSON.parse takes for the same bytes. */
  readonly ratio: number;
}

/** One run of a body through the function, its database aside. */
export interface BodyRun {
  readonly status: number;
  readonly milliseconds: number;
  /** What went to the database. */
  readonly sent: readonly string[];
}

export async function runBody({ path, headers = {} }: Recipe, body: Bytes): Promise<BodyRun> {
  const sent: string[] = [];
  const handler = createIngestHandler({
    authenticate: () => Promise.resolve(success({ kind: "api_key", keyDigest: "digest" })),
    callDatabase: (_name, text) => {
      encoder.encode(text);
      sent.push(text);
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
  return { status: answer.status, milliseconds: processorClock() - began, sent };
}

/** What the function costs for a body: the best of some runs. */
export async function costOfBody(recipe: Recipe, body: Bytes, runs = 5): Promise<BodyCost> {
  let status = 0;
  let milliseconds = Infinity;
  let reference = Infinity;
  for (let run = 0; run < runs; run++) {
    const { sent, ...one } = await runBody(recipe, body);
    status = one.status;
    milliseconds = Math.min(milliseconds, one.milliseconds);
    const parameters = sent.map((text) => JSON.stringify(parametersOf(text)));
    reference = Math.min(reference, parsingMs(body, parameters));
  }
  return { status, milliseconds, ratio: milliseconds / reference };
}

/**
 * What JSON.parse takes for the bytes of a body; where they stand for more, for what is made of
 * them; where they are no JSON, for as many bytes of usual events.
 */
function parsingMs(body: Bytes, sent: readonly string[]): number {
  const text = new TextDecoder().decode(body);
  let isOwn = false;
  let own = processorMs(() => isOwn = isJson([text]));
  if (!isOwn) own = processorMs(() => isOwn = isJson(text.split("\n")));
  if (!isOwn) {
    const usual = usualText(body.length);
    // A line that is none makes JSON.parse throw, which takes longer than what is one.
    const lines = text.split("\n", receiver.maxEvents).filter((line) => line.startsWith("{"));
    own = processorMs(() => lines.every((line) => isJson([line]) || true)) +
      processorMs(() => isJson([usual]));
  }
  // A smaller body may cost as much as the smallest limit: an answer is never free.
  const least = usualText(Math.max(native.limits.bytes - body.length, 2));
  return Math.max(
    own + processorMs(() => isJson([least])),
    processorMs(() => isJson(sent)),
  );
}

function isJson(texts: readonly string[]): boolean {
  try {
    for (const text of texts) if (text !== "") JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

let lastUsual = "";

function usualText(length: number): string {
  if (lastUsual.length === length) return lastUsual;
  const events: string[] = [];
  for (let n = 0, size = 2; size < length - 200; n++) {
    const msg = `request ${n} was served in ${n % 97} ms`;
    const event = {
      ts: 1795264496123 + n,
      level: "info",
      msg,
      attrs: { status: 200, user: n },
    };
    events.push(JSON.stringify(event));
    size += events[n].length + 1;
  }
  return lastUsual = `[${events.join()}]`.padEnd(length);
}
