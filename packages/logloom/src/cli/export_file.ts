import { createReadStream, existsSync, truncateSync } from "node:fs";
import { open } from "node:fs/promises";
import { createGzip } from "node:zlib";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { PassThrough } from "node:stream";
import type { ExportOptions, Reader } from "../read/reader.ts";
import { Failure, sentence } from "./failure.ts";

/** The format and the compression of a file, from its name. */
export interface ExportFile {
  readonly path: string;
  readonly format: "ndjson" | "csv";
  readonly isGzipped: boolean;
}

export function exportFileOf(path: string): ExportFile {
  const [, extension, gz] = /\.(ndjson|jsonl|csv)(\.gz)?$/i.exec(path) ?? [];
  if (extension === undefined) {
    throw new Failure(
      `--export takes a file named .ndjson, .jsonl or .csv, or one of these with .gz, not ${path}.`,
    );
  }
  return {
    path,
    format: extension.toLowerCase() === "csv" ? "csv" : "ndjson",
    isGzipped: gz !== undefined,
  };
}

/**
 * Writes the records of a query into a file. With `isResumed` it appends to the file. Returns how many records it
 * wrote. After an interruption only the last line may be incomplete; resuming removes it.
 */
export async function writeExport(
  reader: Reader,
  query: string,
  { path, format, isGzipped }: ExportFile,
  options: ExportOptions,
  isResumed: boolean,
  onProgress: (records: number) => void,
): Promise<number> {
  if (!isResumed && existsSync(path)) {
    throw new Failure(`${path} is there already: --resume goes on with it, or name another file.`);
  }
  if (isResumed && isGzipped) {
    throw new Failure("--resume needs a file that is not compressed, to see where it ends.");
  }
  const after = isResumed && existsSync(path) ? await endOf(path, format) : undefined;
  const pages = reader.export(query, { ...options, format, after });
  // The file is created after the first page, so a refused query creates no file.
  const first = await pages.next();
  const text = new PassThrough();
  const handle = await open(path, isResumed ? "a" : "wx").catch((error) => {
    throw unwritable(path, error);
  });
  const file = handle.createWriteStream();
  const written = (isGzipped ? pipeline(text, createGzip(), file) : pipeline(text, file))
    .catch((error) => {
      throw unwritable(path, error);
    });
  // The error is thrown below, where the last page is awaited.
  written.catch(() => {});
  let records = 0;
  try {
    for (let page = first; !page.done; page = await pages.next()) {
      if (!text.write(page.value.text)) await Promise.race([once(text, "drain"), written]);
      records += page.value.records;
      onProgress(records);
    }
  } catch (error) {
    text.end();
    await written;
    const held = `${path} holds ${records} record${records === 1 ? "" : "s"}`;
    throw isGzipped
      ? error
      : new Failure(`${sentence(error)}\n${held}, and --resume goes on with it.`, { cause: error });
  }
  text.end();
  await written;
  return records;
}

function unwritable(path: string, { code, message }: NodeJS.ErrnoException): Failure {
  return new Failure(`${path} cannot be written: ${code ?? message}.`);
}

/**
 * Returns `<ts>,<id>` of the last complete record in a file, and removes what follows it. Undefined if there is no
 * record.
 */
async function endOf(path: string, format: ExportFile["format"]): Promise<string | undefined> {
  let start = 0;
  let end = 0;
  let offset = 0;
  let isQuoted = false;
  let isFirst = true;
  for await (const chunk of createReadStream(path) as AsyncIterable<Uint8Array>) {
    for (const byte of chunk) {
      offset++;
      if (format === "csv" && byte === 0x22) isQuoted = !isQuoted;
      if (byte !== 0x0a || isQuoted) continue;
      // The first line of a CSV is its header.
      start = format === "csv" && isFirst ? offset : end;
      end = offset;
      isFirst = false;
    }
  }
  if (start >= end) {
    if (offset > 0 && end === 0) throw new Failure(`${path} holds no record of an export.`);
    truncateSync(path, 0);
    return undefined;
  }
  const file = await open(path);
  let line: string;
  try {
    const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    line = buffer.toString();
  } finally {
    await file.close();
  }
  const place = placeOf(line, format);
  if (place === null) throw new Failure(`${path} does not end with a record of an export.`);
  truncateSync(path, end);
  return place;
}

/** Returns `<ts>,<id>` of a record's line; null if the line is not a record. */
function placeOf(line: string, format: ExportFile["format"]): string | null {
  let place = line.split(",", 2).join(",");
  if (format === "ndjson") {
    try {
      const { ts, id } = JSON.parse(line);
      place = `${ts},${id}`;
    } catch {
      return null;
    }
  }
  return /^\d{4}-[^,]+,[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(place) ? place : null;
}
