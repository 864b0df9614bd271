import { useMemo, useState } from "react";
import type { ErrorCount, ErrorGroupDetails } from "../service/logloom.ts";
import { Segments } from "../shared/form-fields.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { type ChartSeries, TimeChart } from "../shared/time-chart.tsx";
import { say } from "../shared/translate.ts";

const hour = 3600;
const day = 24 * hour;

/** The bars of all hours or days until now; those without records are 0. */
function barsOf(counts: ErrorCount[], step: number, number: number, now: number) {
  const last = Math.floor(now / step) * step;
  const times = Array.from({ length: number }, (_, i) => last - (number - 1 - i) * step);
  const records = new Map(counts.map((one) => [Date.parse(one.at) / 1000, one.records]));
  return { times, values: times.map((time) => records.get(time) ?? 0) };
}

/** The records by hour for 14 days, or by day for a year. Readers of some records have a day. */
export function GroupCourse({ details: { hours, days }, onRange }: {
  details: ErrorGroupDetails;
  onRange?: (range: { from: string; to: string }) => void;
}) {
  const { zone } = usePreferences();
  const [span, setSpan] = useState<"days" | "year">("days");
  const [step, number] = days === null ? [hour, 24] : span === "year" ? [day, 366] : [hour, 336];
  const now = Math.floor(Date.now() / 1000 / hour) * hour;
  const counts = span === "year" ? days ?? [] : hours;
  const bars = useMemo(() => barsOf(counts, step, number, now), [counts, step, number, now]);
  const series = useMemo<ChartSeries[]>(
    () => [{ label: say("Records"), colour: "--level-error", values: bars.values }],
    [bars],
  );
  const range: [number, number] = [bars.times[0] ?? 0, (bars.times.at(-1) ?? 0) + step];
  return (
    <section className="block" aria-label={say("Trend")}>
      <div className="row">
        <h2>{say("Trend")}</h2>
        {days !== null && (
          <Segments
            label={say("Show")}
            choices={[["days", say("14 days")], ["year", say("a year")]]}
            chosen={span}
            onChoose={setSpan}
          />
        )}
      </div>
      <TimeChart
        times={bars.times}
        series={series}
        kind="bars"
        zone={span === "year" ? "utc" : zone}
        height={150}
        range={range}
        isUnfinished
        onBrush={onRange && ((from, to) =>
          onRange({
            from: new Date(Math.floor(from) * 1000).toISOString(),
            to: new Date(Math.ceil(to) * 1000).toISOString(),
          }))}
        label={step === hour
          ? say("{count} records, by hour", { count: sum(bars.values) })
          : say("{count} records, by day in UTC", { count: sum(bars.values) })}
      />
    </section>
  );
}

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
