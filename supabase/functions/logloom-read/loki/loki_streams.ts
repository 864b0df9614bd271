import { Buffer } from "node:buffer";
import type { Ask } from "./call_operation.ts";
import type { LogQuery } from "./logql_query.ts";
import { nameOfField, streamFields, textOf } from "./label_names.ts";
import { membersIn } from "./line_parsers.ts";
import { refuse } from "./loki_error.ts";
import type { Entry } from "./pipeline_stages.ts";
import {
  nanosecondsOfTs,
  numberOf,
  parametersOfRange,
  type TimeRange,
} from "./times_and_durations.ts";

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

export const recordsOfPage = 1000;
/** Loki's own limit. */
const maxRecords = 5000;
/** Half of the 10 MiB that an answer may have, because nested attributes take twice their size in it. */
const maxBytes = 5_000_000;
/** How long pages are read. A rare text needs many pages. After this time the answer has the records found so far. */
const maxMs = 15_000;

export async function recordsOf(
  logs: LogQuery,
  range: TimeRange,
  { limit, direction }: { limit: number; direction: string },
  ask: Ask,
): Promise<{ found: Found[]; isCut: boolean }> {
  if (limit > maxRecords) {
    refuse(`max entries limit per query exceeded, limit > max_entries_limit (${limit} > 5000)`);
  }
  const order = { forward: "asc", backward: "desc" }[direction] ??
    refuse(`invalid direction ${JSON.stringify(direction)}: forward or backward`);
  const all: Found[] = [];
  let bytes = 0;
  for await (const { logs: records, isLast } of pagesOf(logs, range, { limit, order }, ask)) {
    for (const found of passed(records, logs)) {
      bytes += sizeOf(found);
      if (bytes > maxBytes && all.length > 0) return { found: all, isCut: true };
      all.push(found);
      if (all.length === limit) return { found: all, isCut: false };
    }
    if (isLast) return { found: all, isCut: false };
  }
  return { found: all, isCut: true };
}

/** The characters that an entry adds to the answer. */
function sizeOf({ entry: { line, labels, metadata, parsed } }: Found): number {
  const texts = [labels, metadata, parsed].map((map) => JSON.stringify([...map]));
  return Buffer.byteLength(JSON.stringify(line)) +
    texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Pages of records until the time is up. A short or empty page may still have a next one. */
export async function* pagesOf(
  logs: Pick<LogQuery, "dsl" | "isDecidedByRecord">,
  range: TimeRange,
  { limit, order }: { limit: number; order: string },
  ask: Ask,
): AsyncGenerator<{ logs: readonly LogRecord[]; isLast: boolean }> {
  let cursor: string | null = null;
  let left = limit;
  const began = performance.now();
  do {
    const page: Page = await ask<Page>("search_logs", {
      p_query_dsl: logs.dsl,
      ...parametersOfRange(range),
      p_order: order,
      // If stages filter, more records than the limit may be needed.
      p_limit: logs.isDecidedByRecord ? recordsOfPage : Math.min(recordsOfPage, left),
      p_cursor: cursor,
    });
    left = Math.max(1, left - page.logs.length);
    cursor = page.next_cursor;
    yield { logs: page.logs, isLast: cursor === null };
  } while (cursor !== null && performance.now() - began < maxMs);
}

type Labels = Record<string, string>;

export interface Found {
  readonly ts: string;
  readonly entry: Entry;
}

/** Runs the stages of the query on records. Returns the records that no stage leaves out. */
export function passed(records: readonly LogRecord[], logs: LogQuery): Found[] {
  return records.flatMap((record) => {
    const entry: Entry = {
      line: record.msg ?? "",
      labels: new Map(Object.entries(labelsOf(record))),
      metadata: metadataOf(record, logs),
      parsed: new Map(),
    };
    return logs.pass(entry) ? [{ ts: record.ts, entry }] : [];
  });
}

/** Streams in Loki's form. If categorized, each entry lists structured metadata and parsed labels apart. */
export function streamsOf(found: readonly Found[], isCategorized: boolean) {
  const streams = new Map<string, { stream: Labels; values: unknown[] }>();
  for (const { ts, entry } of found) {
    const [labels, metadata, parsed] = [entry.labels, entry.metadata, entry.parsed]
      .map((map): Labels => Object.fromEntries([...map].filter(([, text]) => text !== "")));
    const stream = isCategorized ? labels : { ...metadata, ...labels, ...parsed };
    const key = JSON.stringify(stream);
    const entries = streams.get(key) ?? { stream, values: [] };
    streams.set(key, entries);
    const more = {
      ...Object.keys(metadata).length > 0 && { structuredMetadata: metadata },
      ...Object.keys(parsed).length > 0 && { parsed },
    };
    entries.values.push([String(nanosecondsOfTs(ts)), entry.line, ...isCategorized ? [more] : []]);
  }
  return [...streams.values()];
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

/** Structured metadata. A Map, because an attribute may be named `constructor`. */
function metadataOf(record: LogRecord, logs: LogQuery): Map<string, string> {
  const level = typeof record.level === "string" ? record.level : undefined;
  const metadata = new Map([["detected_level", textOf("detected_level", level)]]);
  for (const field of ["req_id", "user_id"]) {
    const value = record[field];
    if (typeof value === "string" && value !== "") metadata.set(field, value);
  }
  const ofLine = new Set(
    logs.parsersInDatabase.flatMap(({ membersOf }) => membersOf(record.msg ?? "").map(keyOfMember)),
  );
  for (const [field, value] of membersIn(record.attrs ?? {})) {
    const name = nameOfField(field);
    if (!metadata.has(name) && !ofLine.has(keyOfMember([field, value]))) {
      metadata.set(name, textOfValue(value));
    }
  }
  return metadata;
}

/** Equal for equal members: the database may write a number in another way than the line. */
function keyOfMember([field, value]: [string, unknown]): string {
  const text = textOfValue(value);
  return JSON.stringify([field, numberOf(text) ?? text]);
}

function textOfValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
