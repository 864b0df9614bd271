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
export function concerns({ checks }: HealthReport): Concern[] {
  const queue = checks.queue as Check | undefined;
  const writer = checks.writer as Check | undefined;
  // Each of these can refuse what is sent.
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
      title: "What you send",
      words: isWell(taken) ? say("It is accepted and kept.") : reason(taken),
      tone: isWell(taken) ? "good" : taken?.status === "unhealthy" ? "bad" : "warn",
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
