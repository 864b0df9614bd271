import { say } from "../shared/translate.ts";
import { mostLive, type TailState } from "./use-tail.ts";

/** The state of the live view: following, paused, behind, unreachable. */
export function LiveNote({ tail, isPaused }: { tail: TailState; isPaused: boolean }) {
  const words = tail.error
    ? `${tail.error.message} ${tail.error.hint ?? ""}`
    : isPaused
    ? say("Paused while you read. Nothing is lost: resume above, or scroll to the top.")
    : tail.isBehind
    ? say("Records arrive faster than the page can show them. Narrow the query.")
    : tail.isStarted
    ? say("Following new records.")
    : say("Starting…");
  return (
    <div className={tail.error ? "live-note bad" : tail.isBehind ? "live-note warn" : "live-note"}>
      <span className={isPaused || tail.error ? "pulse off" : "pulse"} aria-hidden="true" />
      <p role="status">
        {words}
        {tail.dropped > 0 && ` ${say("Only the last {number} are shown.", { number: mostLive })}`}
      </p>
    </div>
  );
}
