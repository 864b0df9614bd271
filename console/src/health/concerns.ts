import type { HealthReport } from "../service/logloom.ts";
import { seconds } from "../shared/numbers.ts";
import { plain } from "../shared/plain.ts";
import { say, type Words } from "../shared/words.ts";

interface Concern {
  title: Words;
  words: string;
  tone: "good" | "warn" | "bad";
}

type Check = Record<string, unknown>;

const isWell = (check: Check | undefined) =>
  check?.status === undefined || check.status === "healthy";

/** What a tenant has of the service, in the words of a tenant. */
export function concerns({ checks, status }: HealthReport): Concern[] {
  const queue = checks.queue as Check | undefined;
  const writer = checks.writer as Check | undefined;
  const storage = checks.storage as Check | undefined;
  // Ingest is refused when either is full.
  const taken = storage?.status === "unhealthy" ? storage : queue;
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
      title: "What you send",
      words: isWell(taken) ? say("It is accepted and kept.") : reason(taken),
      tone: isWell(taken) ? "good" : status === "unhealthy" ? "bad" : "warn",
    },
    {
      title: "Until it can be found",
      words: isWell(writer)
        ? waiting < 5
          ? say("A few seconds.")
          : say("The oldest that waits was sent before {span}.", { span: seconds(waiting) })
        : reason(writer),
      tone: isWell(writer) ? "good" : "bad",
    },
    ...ofJob("Alert rules", "evaluate_alerts", "They are evaluated every minute."),
    ...ofJob("Mails and webhooks", "send_notifications", "They go out."),
    ...ofJob("Deletion by age", "run_retention", "What is too old is deleted."),
  ];
}
