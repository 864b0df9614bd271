import type { JsonObject } from "./json_reader.ts";
import { said } from "./supabase_events.ts";

/** A sender whose events may be Supabase's logs of Logloom itself. */
export interface DrainSender {
  /** Whether Logloom's own work caused this event of a drain. Storing the event would cause another one. */
  readonly isOwn: (event: JsonObject, message: unknown) => boolean;
  /** The time until which the key counts as known to the database. */
  knownUntil: number;
}

/** Paths of our functions. `health` is missing: no delivery calls it, and a project may have its own `health`. */
const functionPath =
  /^(\/functions\/v1)?\/(ingest|logloom-archive|logloom-notify|logloom-platform|logloom-read|logloom-stream)(?=[/?]|$)/;

const operationPath = /^\/rest\/v1\/rpc\/(\w+)(?=\?|$)/;

/** The operations that our functions call as service_role. */
const operations: ReadonlySet<string> = new Set(
  `
    claim_alert_notifications claim_log_archive_work claim_log_streams
    complete_alert_notification exchange_platform_logs get_log_secret_scope health_report
    ingest_signer ingest_text
    list_unsealed_alert_secrets match_log_archive read_log_stream_batch read_logs run_writer
    seal_alert_secret settle_alert_notification settle_log_archive_work
    settle_log_stream_batch
  `.trim().split(/\s+/),
);

/** The log line of self-hosted functions for each request. */
const servedLine = /^serving the request with \/[^ ]{0,200}\/([\w-]{1,60})\s{0,9}$/;

/**
 * PostgreSQL's line about a call by PostgREST, if the project logs statements or slow ones. The line's detail has the
 * delivered events. If it were stored, the line about its own delivery would contain it, and so on without end.
 */
const statementLine =
  /^(?:duration: [\d.]{1,20} ms +)?execute [^:]{1,60}: [^]{0,2000}?"public"\."(\w+)"/;

const launcher = "pg_cron launcher";
const jobStart = /\bcron job \d{1,19} starting: /;

const maxSenders = 1000;

/**
 * Remembers senders. On a hosted project, `deploymentId` is `project_function_version`. It shows which logs are another
 * project's, and which lines are from `ingest`. Lines have only a function's id, so the ids of our other functions are
 * learnt from the requests in the drain. Each sender has its own ids; otherwise one could hide another's events.
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
        // On hosted projects any program could write such a line, so only requests count.
        const served = project === undefined ? servedLine.exec(text)?.[1] : undefined;
        const path = said(event, "path") ?? (served && `/functions/v1/${served}`);
        if (path === undefined) {
          if (id !== undefined) return [...ids.values()].includes(id);
          if (operations.has(statementLine.exec(text)?.[1] ?? "")) return true;
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
    // Each use moves an entry to the end of the Map, so the first one was unused for longest.
    if (senders.size > maxSenders) senders.delete(senders.keys().next().value!);
    return sender;
  };
}
