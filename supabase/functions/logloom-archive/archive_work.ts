import { createHash } from "node:crypto";
import type { CallDatabase } from "../_shared/database.ts";
import { describeError, logFailure } from "../_shared/errors.ts";
import { type Bucket, BucketError } from "./bucket.ts";
import { at, type Columns, difference, instant, recordsJson, sorted } from "./columns.ts";
import { decodeFile, encodeFile, type FileLabel } from "./parquet.ts";

/** A piece of work, as `claim_log_archive_work` returns it. */
export type Work =
  & { readonly claim_id: string }
  & (
    | { readonly kind: "check"; readonly installation_id: string }
    | { readonly kind: "compare"; readonly after: string | null }
    | { readonly kind: "delete"; readonly keys: readonly string[] }
    | { readonly kind: "note"; readonly key: string; readonly note: Note }
    | { readonly kind: "recall"; readonly key: string }
    | { readonly kind: "write" } & FileLabel & { readonly key: string; readonly columns: Columns }
    | { readonly kind: "adopt" } & Part
    | { readonly kind: "restore" } & Part
    | { readonly kind: "erase" } & Part & { readonly new_key: string }
  );

/** The note about an erasure in the bucket. Only the database reads its content. */
type Note = Readonly<Record<string, unknown>>;

/** A file to read. */
type Part = FileLabel & { readonly key: string; readonly records: number; readonly sha256: string };

export interface WorkDependencies {
  readonly bucket: Bucket;
  readonly prefix: string;
  readonly callDatabase: CallDatabase;
  /** Whether an upload may still begin. A later one could collide with the next run's. */
  readonly mayWrite: () => boolean;
}

/** The result of a piece of work, for `settle_log_archive_work`. */
export interface Outcome {
  readonly details: Readonly<Record<string, unknown>>;
  /** Restored records, as JSON text. */
  readonly records?: string;
}

/** Does a piece of work. Throws a BucketError, whose message may be shown, for all expected faults. */
export async function doWork(work: Work, dependencies: WorkDependencies): Promise<Outcome> {
  switch (work.kind) {
    case "check":
      return { details: { problem: await problemOf(work.installation_id, dependencies) ?? null } };
    case "compare":
      return { details: await page(work.after ?? "", dependencies) };
    case "delete":
      return { details: await deleteAll(work.keys, dependencies) };
    case "note":
      await writeNote(work.key, work.note, dependencies);
      return { details: {} };
    case "recall":
      return { details: await readNote(work.key, dependencies) };
    case "write":
      return { details: await writeFile(sorted(work.columns), work, work.key, dependencies) };
    case "adopt":
      return { details: await adopt(work.key, dependencies) };
    case "restore": {
      const columns = await readPart(work, dependencies);
      return columns === undefined
        ? { details: { missing: true } }
        : { details: {}, records: recordsJson(columns) };
    }
    case "erase":
      return { details: await erase(work, dependencies) };
  }
}

/** Returns why the bucket cannot be used: for example, it keeps deleted objects or belongs to another installation. */
async function problemOf(
  installationId: string,
  { bucket, prefix }: WorkDependencies,
): Promise<string | undefined> {
  const versions = await bucket.keepsVersions();
  if (versions !== undefined) return versions;
  const ownerKey = `${prefix}/logloom.json`;
  const owner = await bucket.get(ownerKey);
  if (owner !== undefined && ownerOf(owner) !== installationId) {
    return "The prefix belongs to another installation: set another archive_prefix";
  }
  const probe = new TextEncoder().encode(JSON.stringify({ installation_id: installationId }));
  // The probe's key has all characters that a tenant's name can have in keys.
  const probeKey = `${prefix}/probe=!.@_-${installationId}`;
  await bucket.put(probeKey, probe);
  const found = await bucket.get(probeKey);
  if (found === undefined || digest(found) !== digest(probe)) {
    return "The bucket returned other data than was stored";
  }
  const { objects } = await bucket.list(probeKey, "");
  if (!objects.some(({ key }) => key === probeKey)) return "The bucket does not list its objects";
  await bucket.delete(probeKey);
  if (owner === undefined) await bucket.put(ownerKey, probe);
}

function ownerOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)).installation_id;
  } catch {
    return undefined;
  }
}

async function page(after: string, { bucket, prefix }: WorkDependencies) {
  const { objects, isEnd } = await bucket.list(`${prefix}/`, after);
  return { keys: objects, through: isEnd ? null : objects.at(-1)?.key ?? null };
}

async function deleteAll(keys: readonly string[], { bucket }: WorkDependencies) {
  const deleted: string[] = [];
  const left: string[] = [];
  let failure: unknown;
  for (const key of keys) {
    try {
      await bucket.delete(key);
      deleted.push(key);
    } catch (error) {
      failure = error;
      left.push(key);
    }
  }
  if (deleted.length === 0) throw failure;
  return { deleted, left };
}

async function writeNote(
  key: string,
  note: Note,
  { bucket, mayWrite }: WorkDependencies,
): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(note));
  if (!mayWrite()) throw new BucketError("The note was not written in time");
  await bucket.put(key, bytes);
  const stored = await bucket.get(key);
  if (stored === undefined || digest(stored) !== digest(bytes)) {
    throw new BucketError("The bucket returned other data than was stored");
  }
}

async function readNote(
  key: string,
  { bucket }: WorkDependencies,
): Promise<Record<string, unknown>> {
  const bytes = await bucket.get(key);
  if (bytes === undefined) return { missing: true };
  try {
    return { note: JSON.parse(new TextDecoder().decode(bytes)) };
  } catch {
    // The database treats an unreadable note like one that it has not signed.
    return { note: null };
  }
}

/** Writes a file, reads it back, and compares it with what the database gave. */
async function writeFile(
  columns: Columns,
  { tenant_id, part_id, first_day, last_day, generation }: FileLabel,
  key: string,
  { bucket, mayWrite }: WorkDependencies,
) {
  const bytes = encodeFile(columns, { tenant_id, part_id, first_day, last_day, generation });
  const sha256 = digest(bytes);
  if (!mayWrite()) throw new BucketError("The file was not written in time");
  await bucket.put(key, bytes);
  const stored = await bucket.get(key);
  if (stored === undefined) throw new BucketError("The bucket lost the file at once");
  if (digest(stored) !== sha256) {
    throw new BucketError("The bucket returned the file with other content");
  }
  const differs = difference(columns, await decodeFile(stored));
  if (differs !== undefined) {
    throw new BucketError("The file's records differ from the database's");
  }
  return { records: columns.id.length, bytes: bytes.length, sha256 };
}

/** Returns the facts about a file that the database does not know. */
async function adopt(key: string, { bucket }: WorkDependencies): Promise<Record<string, unknown>> {
  const bytes = await bucket.get(key);
  if (bytes === undefined) return { missing: true };
  const { ts } = await decodeFile(bytes);
  const [first, last] = ts.reduce(
    ([least, greatest], value) => [Math.min(least, value), Math.max(greatest, value)],
    [Infinity, -Infinity],
  );
  return {
    records: ts.length,
    bytes: bytes.length,
    sha256: digest(bytes),
    first_ts: instant(first),
    last_ts: instant(last),
  };
}

/** The records of a file; undefined if the file is missing. */
async function readPart(part: Part, { bucket }: WorkDependencies): Promise<Columns | undefined> {
  const bytes = await bucket.get(part.key);
  if (bytes === undefined) return undefined;
  if (digest(bytes) !== part.sha256) {
    throw new BucketError("The file was changed after it was written");
  }
  const columns = await decodeFile(bytes);
  if (columns.id.length !== part.records) {
    throw new BucketError("The file has a wrong number of records");
  }
  return columns;
}

async function erase(
  work: Extract<Work, { kind: "erase" }>,
  dependencies: WorkDependencies,
): Promise<Record<string, unknown>> {
  const columns = await readPart(work, dependencies);
  if (columns === undefined) return { missing: true };
  const answer = await dependencies.callDatabase(
    "match_log_archive",
    `{"p_claim_id":${JSON.stringify(work.claim_id)},"p_records":${recordsJson(columns)}}`,
  );
  if (!answer.ok) throw new BucketError("The database did not list the records to erase");
  const erased = new Set(JSON.parse(answer.value) as number[]);
  if (erased.size === 0) return { records: columns.id.length };
  if (erased.size === columns.id.length) return { records: 0 };
  const left = columns.id.map((_, place) => place).filter((place) => !erased.has(place));
  return await writeFile(at(columns, left), work, work.new_key, dependencies);
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Returns the text about an error that may be shown. */
export function messageOf(error: unknown): string {
  if (error instanceof BucketError) return error.message;
  logFailure("work at the archive failed", { reason: describeError(error) });
  return "The function failed unexpectedly: its log says why";
}
