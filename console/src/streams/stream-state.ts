import type { LogStream, LogStreamFailure } from "../service/logloom.ts";
import { say, type Words } from "../shared/translate.ts";

interface StreamState {
  word: Words;
  tone: "good" | "bad" | "warn" | "plain";
  /** The reason, as a sentence. */
  about: string | null;
}

const reasons: Record<NonNullable<LogStream["pause_reason"]>, Words> = {
  failing: "Nothing arrived for too long.",
  refused: "The receiver refused too many records in a row.",
  maker: "Its creator is no longer an admin.",
};

/** Whether a customer cannot resume their stream. */
export const isHeld = ({ held_at, pause_reason }: LogStream): boolean =>
  held_at !== null || pause_reason === "maker";

/** The state of a stream. */
export function streamState(stream: LogStream, isCustomer: boolean): StreamState {
  if (stream.held_at !== null || isCustomer && isHeld(stream)) {
    return {
      word: "stopped by an admin",
      tone: "warn",
      about: say("Only an admin can resume it."),
    };
  }
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

/** The receiver's answer, or the error on the way to it, in words. */
export function failureWords(status: number | null, error: string | null): string | null {
  // The service repeats the status in its error.
  const more = error?.replace(/^HTTP \d+(: )?/, "") || null;
  if (status === null) return more;
  return `${meaningOf(status)} (${status})${more === null ? "." : `: ${more}`}`;
}

function meaningOf(status: number): string {
  if (status === 401 || status === 403) return say("The receiver refuses the credentials");
  if (status === 404) return say("The receiver has nothing at this address");
  if (status === 408 || status === 429) return say("The receiver is overloaded");
  return status >= 500 ? say("The receiver has an error") : say("The receiver rejects it");
}

/** Whether a test is still running. */
export function isTesting({ test_requested_at, test_finished_at }: LogStream): boolean {
  return test_requested_at !== null &&
    (test_finished_at === null || test_finished_at < test_requested_at);
}

/** The number of records that were not sent, in words. Null if there are none. */
export function missedWords(failures: LogStreamFailure[]): string | null {
  const gaps = failures.filter(({ kind }) => kind === "gap").length;
  const others = failures.length - gaps;
  const parts = [
    gaps > 0 && say("{count} gaps", { count: gaps }),
    others > 0 && say("{count} refused", { count: others }),
  ].filter(Boolean);
  return parts.length === 0 ? null : parts.join(", ");
}
