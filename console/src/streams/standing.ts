import type { LogStream, LogStreamFailure } from "../service/logloom.ts";
import { say, type Words } from "../shared/words.ts";

interface Standing {
  word: Words;
  tone: "good" | "bad" | "warn" | "plain";
  /** Why, in a sentence. */
  about: string | null;
}

const reasons: Record<NonNullable<LogStream["pause_reason"]>, Words> = {
  failing: "Nothing arrived for too long.",
  refused: "The receiver refused too many records in a row.",
  maker: "Whoever made it is no admin any more.",
};

/** What a stream does now. */
export function standingOf(stream: LogStream): Standing {
  switch (stream.status) {
    case "sending":
      return { word: "sending", tone: "good", about: null };
    case "failing":
      return { word: "failing", tone: "warn", about: null };
    case "disabled":
      return { word: "paused", tone: "plain", about: null };
    case "paused":
      return {
        word: "stopped by itself",
        tone: "bad",
        about: stream.pause_reason === null ? null : say(reasons[stream.pause_reason]),
      };
  }
}

/** What the receiver, or the way to it, said last. */
export function failureWords(status: number | null, error: string | null): string | null {
  // The service's own words for an answer that says no more than its status.
  const more = error?.replace(/^HTTP \d+(: )?/, "") || null;
  if (status === null) return more;
  return `${meaningOf(status)} (${status})${more === null ? "." : `: ${more}`}`;
}

function meaningOf(status: number): string {
  if (status === 401 || status === 403) return say("The receiver refuses the credentials");
  if (status === 404) return say("The receiver has nothing at this address");
  if (status === 408 || status === 429) return say("The receiver has too much to do");
  return status >= 500 ? say("The receiver is in trouble") : say("The receiver does not take it");
}

/** A test that nobody has an outcome of yet. */
export function isTesting({ test_requested_at, test_finished_at }: LogStream): boolean {
  return test_requested_at !== null &&
    (test_finished_at === null || test_finished_at < test_requested_at);
}

/** What was not sent, of the newest failures. */
export function missedWords(failures: LogStreamFailure[]): string | null {
  const gaps = failures.filter(({ kind }) => kind === "gap").length;
  const others = failures.length - gaps;
  const parts = [
    gaps > 0 && say("{count} gaps", { count: gaps }),
    others > 0 && say("{count} refused", { count: others }),
  ].filter(Boolean);
  return parts.length === 0 ? null : parts.join(", ");
}
