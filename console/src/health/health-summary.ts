import type { HealthReport } from "../service/logloom.ts";
import { seconds } from "../shared/format-number.ts";
import { plain } from "../shared/safe-text.ts";
import { say, type Words } from "../shared/translate.ts";

interface Concern {
  title: Words;
  words: string;
  tone: "good" | "warn" | "bad";
}

type Check = Record<string, unknown>;

const isWell = (check: Check | undefined) =>
  check?.status === undefined || check.status === "healthy";

/** The service's health as it concerns a tenant. */
export function concerns({ checks }: HealthReport): Concern[] {
  const queue = checks.queue as Check | undefined;
  const writer = checks.writer as Check | undefined;
  // Any of these can make ingest refuse events.
  const kept = [checks.database, checks.storage, queue] as (Check | undefined)[];
  const taken = kept.find((check) => check?.status === "unhealthy") ??
    kept.find((check) => !isWell(check));
  const jobs = (checks.jobs ?? {}) as Record<string, Check>;
  const waiting = Number(queue?.oldest_item_age_seconds ?? 0);
  const reason = (check: Check | undefined) => plain(String(check?.reason ?? ""));
  const ofJob = (title: Words, name: string, well: Words): Concern[] => {
    const job = jobs[name];
    if (!job) return [];
    return [{
      title,
      words: isWell(job) ? say(well) : reason(job),
      tone: isWell(job) ? "good" : "warn",
    }];
  };
  return [
    {
      title: "Sending events",
      words: isWell(taken) ? say("Events are accepted and stored.") : reason(taken),
      tone: isWell(taken) ? "good" : taken?.status === "unhealthy" ? "bad" : "warn",
    },
    {
      title: "Time until searchable",
      words: isWell(writer)
        ? waiting < 5
          ? say("A few seconds.")
          : say("The oldest event in the queue has waited {span}.", { span: seconds(waiting) })
        : reason(writer),
      tone: isWell(writer) ? "good" : "bad",
    },
    ...ofJob("Alert rules", "evaluate_alerts", "Evaluated every minute."),
    ...ofJob("Email and webhooks", "send_notifications", "Notifications are sent."),
    ...ofJob("Deletion by age", "run_retention", "Old records are deleted."),
  ];
}
