import { count } from "../shared/format.ts";
import { mostLive, type TailState } from "./use-tail.ts";

/** The state of the live view: following, paused, behind, unreachable. */
export function LiveNote({ tail, isPaused, onPause }: {
  tail: TailState;
  isPaused: boolean;
  onPause: () => void;
}) {
  const words = tail.error
    ? `${tail.error.message} ${tail.error.hint ?? ""}`
    : isPaused
    ? "Paused. Nothing is lost; new records appear when you continue."
    : tail.isBehind
    ? "More arrives than the page can show; it is catching up. A narrower query helps."
    : tail.isStarted
    ? "Following new records."
    : "Starting…";
  return (
    <div
      className={tail.error ? "live-note bad" : tail.isBehind ? "live-note warn" : "live-note"}
    >
      <span
        className={isPaused || tail.error ? "pulse off" : "pulse"}
        aria-hidden="true"
      />
      <p role="status">
        {words}
        {tail.dropped > 0 && ` Shown are the last ${count(mostLive)}.`}
      </p>
      <button type="button" className="button small" onClick={onPause}>
        {isPaused ? "Go on" : "Pause"}
      </button>
    </div>
  );
}
