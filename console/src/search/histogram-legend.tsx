import { say } from "../shared/translate.ts";
import { withOnly } from "../language/edit-query.ts";
import type { Level } from "../service/logloom.ts";
import { count, short } from "../shared/format-number.ts";
import { useIsNarrow } from "../shared/use-is-narrow.ts";
import { type Bucket, levels } from "./histogram-table.tsx";
import { useEditQuery } from "./edit-query-context.ts";

export const shown = [...levels, "none"] as const;

/** The count of each level, in all buckets or in the one under the pointer. A click filters by the level. */
export function HistogramLegend({ buckets, at }: { buckets: Bucket[]; at: Bucket | undefined }) {
  const edit = useEditQuery();
  // Numbers with all digits do not fit on a phone, and a clipped number would be wrong.
  const written = useIsNarrow() ? short : count;
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
          <span className="legend-count">{written(at ? at.levels[level] : total(level))}</span>
        </button>
      ))}
    </div>
  );
}
