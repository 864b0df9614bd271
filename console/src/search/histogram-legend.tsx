import { say } from "../shared/words.ts";
import { withOnly } from "../language/edit.ts";
import type { Level } from "../service/logloom.ts";
import { count } from "../shared/numbers.ts";
import { type Bucket, levels } from "./histogram-table.tsx";
import { useEditQuery } from "./query-text.ts";

export const shown = [...levels, "none"] as const;

/** The levels with their numbers, of all buckets or of the one under the pointer; a click shows one alone. */
export function HistogramLegend({ buckets, at }: {
  buckets: Bucket[];
  at: Bucket | undefined;
}) {
  const edit = useEditQuery();
  const total = (level: Level | "none") =>
    buckets.reduce((sum, bucket) => sum + bucket.levels[level], 0);
  return (
    <div className="legend">
      {[...shown].reverse().filter((level) => total(level) > 0).map((level) => (
        <button
          key={level}
          type="button"
          className="legend-item"
          disabled={level === "none"}
          title={level === "none" ? say("Records without a level") : say("Only {level}", { level })}
          onClick={() => edit((query) => withOnly(query, "level", level))}
        >
          <span className={`swatch ${level}`} />
          {level}{" "}
          <span className="legend-count">{count(at ? at.levels[level] : total(level))}</span>
        </button>
      ))}
    </div>
  );
}
