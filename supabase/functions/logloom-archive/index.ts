import { keepAlive } from "../_shared/background.ts";
import { createDatabase } from "../_shared/database.ts";
import { readDatabase } from "../_shared/env.ts";
import { createBucket } from "./bucket.ts";
import { createArchiveHandler } from "./handler.ts";

const get = (name: string) => Deno.env.get(name) || undefined;
const endpoint = get("LOGLOOM_ARCHIVE_ENDPOINT");
const accessKeyId = get("LOGLOOM_ARCHIVE_ACCESS_KEY_ID");
const secretAccessKey = get("LOGLOOM_ARCHIVE_SECRET_ACCESS_KEY");

Deno.serve(createArchiveHandler({
  secret: get("LOGLOOM_ARCHIVE_SECRET"),
  // Longer than a step in the database takes, and shorter than a gateway's timeout.
  callDatabase: createDatabase(readDatabase(get, 25_000)),
  bucketNamed: (bucket) => {
    if (!endpoint || !accessKeyId || !secretAccessKey) return undefined;
    return createBucket({
      endpoint,
      bucket,
      region: get("LOGLOOM_ARCHIVE_REGION") ?? "us-east-1",
      accessKeyId,
      secretAccessKey,
    }, { fetch, timeoutMs: 60_000, now: () => new Date() });
  },
  // A claim lasts five minutes (claim_log_archive_work).
  uploadLimitMs: 180_000,
  budgetMs: 30_000,
  // A hosted isolate gets no requests after 1 s of processor time and ends after 2 s. A file takes half a second.
  processorBudgetMs: 200,
  clock: () => performance.now(),
  keepAlive,
}));
