import { Buffer } from "node:buffer";
import type { Ask } from "./ask.ts";
import type { LogQuery } from "./logs.ts";
import { nameOfField, streamFields, textOf } from "./names.ts";
import { refuse } from "./refusal.ts";
import { nanosecondsOfTs, parametersOfRange, type TimeRange } from "./times.ts";

export interface LogRecord {
  readonly ts: string;
  readonly msg: string | null;
  readonly attrs: Record<string, unknown> | null;
  readonly [field: string]: unknown;
}

interface Page {
  readonly logs: readonly LogRecord[];
  readonly next_cursor: string | null;
}

const recordsOfPage = 1000;
/** As many as Loki gives in one answer. */
const maxRecords = 5000;
/** An answer has at most 10 MiB, and attributes within attributes take twice as much there. */
const maxBytes = 5_000_000;
/** Pages of a rare text are long in coming: afterwards what was found is answered. */
const maxMs = 15_000;

export async function recordsOf(
  logs: LogQuery,
  range: TimeRange,
  { limit, direction }: { limit: number; direction: string },
  ask: Ask,
): Promise<{ records: LogRecord[]; isCut: boolean }> {
  if (limit > maxRecords) {
    refuse(`max entries limit per query exceeded, limit > max_entries_limit (${limit} > 5000)`);
  }
  const order = { forward: "asc", backward: "desc" }[direction] ??
    refuse(`invalid direction ${JSON.stringify(direction)}: forward or backward`);
  const records: LogRecord[] = [];
  let cursor: string | null = null;
  let bytes = 0;
  const began = performance.now();
  // A page may be shorter than asked for, or empty, and still not be the last.
  do {
    const page: Page = await ask<Page>("search_logs", {
      p_query_dsl: logs.dsl,
      ...parametersOfRange(range),
      p_order: order,
      p_limit: Math.min(recordsOfPage, limit - records.length),
      p_cursor: cursor,
    });
    for (const record of page.logs) {
      bytes += Buffer.byteLength(JSON.stringify(record));
      if (bytes > maxBytes && records.length > 0) return { records, isCut: true };
      records.push(record);
    }
    cursor = page.next_cursor;
  } while (cursor !== null && records.length < limit && performance.now() - began < maxMs);
  return { records, isCut: cursor !== null && records.length < limit };
}

type Labels = Record<string, string>;

/** Streams of records in Loki's form; with the flag each entry tells its structured metadata apart. */
export function streamsOf(records: readonly LogRecord[], logs: LogQuery, isCategorized: boolean) {
  const streams = new Map<string, { stream: Labels; values: unknown[] }>();
  for (const record of records) {
    const metadata = shown(metadataOf(record), logs);
    const labels = shown(Object.entries(labelsOf(record)), logs);
    const stream = isCategorized ? labels : { ...metadata, ...labels };
    const key = JSON.stringify(stream);
    const entries = streams.get(key) ?? { stream, values: [] };
    streams.set(key, entries);
    const ts = String(nanosecondsOfTs(record.ts));
    const hasMore = isCategorized && Object.keys(metadata).length > 0;
    entries.values.push([
      ts,
      record.msg ?? "",
      ...isCategorized ? [hasMore ? { structuredMetadata: metadata } : {}] : [],
    ]);
  }
  return [...streams.values()];
}

function shown(labels: Iterable<[string, string]>, logs: LogQuery): Labels {
  return Object.fromEntries([...labels].filter(([name]) => logs.shows(name)));
}

export function labelsOf(fields: Readonly<Record<string, unknown>>): Labels {
  const labels: Labels = {};
  for (const field of streamFields) {
    const value = fields[field];
    if (typeof value === "string" && value !== "") labels[field] = value;
  }
  if (labels.service !== undefined) labels.service_name = labels.service;
  return labels;
}

/** A Map, since an attribute may be named like what every object has: constructor. */
function metadataOf(record: LogRecord): Map<string, string> {
  const level = typeof record.level === "string" ? record.level : undefined;
  const metadata = new Map([["detected_level", textOf("detected_level", level)]]);
  for (const field of ["req_id", "user_id"]) {
    const value = record[field];
    if (typeof value === "string" && value !== "") metadata.set(field, value);
  }
  addMembers(metadata, "attrs", record.attrs ?? {}, 5);
  return metadata;
}

/** Objects member by member, so that a name is one that a query can have. */
function addMembers(
  metadata: Map<string, string>,
  path: string,
  members: object,
  depth: number,
): void {
  for (const [key, value] of Object.entries(members)) {
    const field = `${path}.${key}`;
    if (value === null) continue;
    if (typeof value === "object" && !Array.isArray(value) && depth > 1) {
      addMembers(metadata, field, value, depth - 1);
      continue;
    }
    const name = nameOfField(field);
    if (!metadata.has(name)) {
      metadata.set(name, typeof value === "string" ? value : JSON.stringify(value));
    }
  }
}
