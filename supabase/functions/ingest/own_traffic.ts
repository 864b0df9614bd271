import type { JsonObject } from "./json.ts";
import { said } from "./supabase_events.ts";

/** A sender whose events may be Supabase's logs of Logloom itself. */
export interface DrainSender {
  /** Whether Logloom's work caused this event of a drain: stored, it would cause the next one. */
  readonly isOwn: (event: JsonObject, message: unknown) => boolean;
  /** Until then the database knows the key. */
  knownUntil: number;
}

/** `health` is missing: no delivery calls it, and a project may have another function of that name. */
const functionPath =
  /^(\/functions\/v1)?\/(ingest|logloom-archive|logloom-notify|logloom-read|logloom-stream)(?=[/?]|$)/;

const operationPath = /^\/rest\/v1\/rpc\/(\w+)(?=\?|$)/;

/** What our functions call as service_role. */
const operations: ReadonlySet<string> = new Set(
  `
    claim_alert_notifications claim_log_archive_work claim_log_streams
    complete_alert_notification get_log_secret_scope health_report ingest_text
    list_unsealed_alert_secrets match_log_archive read_log_stream_batch read_logs run_writer
    seal_alert_secret settle_alert_notification settle_log_archive_work
    settle_log_stream_batch
  `.trim().split(/\s+/),
);

/** What self-hosted functions log of each request. */
const servedLine = /^serving the request with \/[^ ]{0,200}\/([\w-]{1,60})\s{0,9}$/;

const launcher = "pg_cron launcher";
const jobStart = /\bcron job \d{1,19} starting: /;

const maxSenders = 1000;

/**
 * Remembers senders. `deploymentId` is the function's own on a hosted project, `project_function_version`: what another
 * project logs is not ours, and the lines of `ingest` itself are known from the first on. A function's lines have its id
 * only, so the other ids are learnt from requests. A sender learns for itself alone, or it could hide what others send.
 */
export function createOwnTraffic(deploymentId = ""): (key: string) => DrainSender {
  const [, project, ownId = ""] = /^(\w+)_([\da-f-]{36})_\d+$/.exec(deploymentId) ?? [];
  const senders = new Map<string, DrainSender>();

  function newSender(): DrainSender {
    const ids = new Map([["ingest", ownId]]);
    return {
      knownUntil: 0,
      isOwn(event, message) {
        if (project !== undefined && (said(event, "project") ?? project) !== project) return false;
        const id = said(event, "functionId");
        const text = typeof message === "string" ? message : "";
        // What a hosted function writes may look like anything.
        const served = project === undefined ? servedLine.exec(text)?.[1] : undefined;
        const path = said(event, "path") ?? (served && `/functions/v1/${served}`);
        if (path === undefined) {
          if (id !== undefined) return [...ids.values()].includes(id);
          return text.includes("logloom_private.") && jobStart.test(text) &&
            (said(event, "backend") ?? launcher) === launcher;
        }
        const [, prefix, name] = functionPath.exec(path) ?? [];
        if (name !== undefined && (prefix ?? id) !== undefined) {
          if (id !== undefined) ids.set(name, id);
          return true;
        }
        return operations.has(operationPath.exec(path)?.[1] ?? "") &&
          said(event, "agent")?.startsWith("logloom/") === true;
      },
    };
  }

  return (key) => {
    const sender = senders.get(key) ?? newSender();
    senders.delete(key);
    senders.set(key, sender);
    // The first in a Map was not heard of for longest.
    if (senders.size > maxSenders) senders.delete(senders.keys().next().value!);
    return sender;
  };
}
