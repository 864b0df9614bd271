import { shortTime } from "../shared/format-time.ts";
import { type Zone } from "../address/range.ts";
import type { Histogram, Level } from "../service/logloom.ts";
import { count } from "../shared/format-number.ts";
import { say } from "../shared/translate.ts";

export type Bucket = Histogram["buckets"][number];
export const levels: Level[] = ["debug", "info", "warn", "error"];

/** The chart as a table, for screen readers. */
export function HistogramTable({ buckets, zone }: { buckets: Bucket[]; zone: Zone }) {
  const filled = buckets.filter((bucket) => bucket.count > 0);
  return (
    <div
      className="table-scroll histogram-table"
      tabIndex={0}
      role="region"
      aria-label={say("Buckets")}
    >
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{say("From")}</th>
            {levels.map((level) => <th key={level} scope="col" className="number">{level}</th>)}
            <th scope="col" className="number">{say("none")}</th>
            <th scope="col" className="number">{say("all")}</th>
          </tr>
        </thead>
        <tbody>
          {filled.map((bucket) => (
            <tr key={bucket.ts}>
              <th scope="row">{shortTime(Date.parse(bucket.ts), zone)}</th>
              {levels.map((level) => (
                <td key={level} className="number">
                  {count(bucket.levels[level])}
                </td>
              ))}
              <td className="number">{count(bucket.levels.none)}</td>
              <td className="number">{count(bucket.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {filled.length === 0 && <p className="about">{say("No records in this range.")}</p>}
    </div>
  );
}
