import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { back } from "../address/address.ts";
import { shortTime } from "../address/range.ts";
import { withOnly } from "../language/edit.ts";
import type { Level } from "../service/logloom.ts";
import { marksOld } from "../service/hooks.ts";
import { ErrorNote } from "../shared/controls.tsx";
import { count } from "../shared/format.ts";
import { loadPart } from "../app/update.ts";
import { usePreferences } from "../shared/preferences.ts";
import { type ChartSeries, TimeChart } from "../shared/time-chart.tsx";
import { type Bucket, HistogramTable, levels } from "./histogram-table.tsx";
import { useFeatures } from "./features.ts";
import { useEditQuery } from "./query-text.ts";
import { type Run, runRange, useHistogram } from "./use-search.ts";
import { say } from "../shared/words.ts";

const ChangesDialog = lazy(() => loadPart(() => import("./changes-dialog.tsx")));

const shown = [...levels, "none"] as const;

/** The number of records over time, by level: drag for a narrower range, double-click to go back. */
export function HistogramPanel({ run }: { run: Run }) {
  const { zone } = usePreferences();
  const [point, setPoint] = useState<number | null>(null);
  const [isTable, setTable] = useState(false);
  const [asksChanges, askChanges] = useState(false);
  const features = useFeatures();
  const [place, width] = useWidth();
  const buckets = width === 0 ? 0 : Math.max(12, Math.min(120, Math.floor(width / 11)));
  const answer = useHistogram(run, buckets);
  const { data } = answer;
  const series = useMemo(() => data ? seriesOf(data.buckets) : [], [data]);
  const times = useMemo(
    () => data?.buckets.map(({ ts }) => Date.parse(ts) / 1000) ?? [],
    [data],
  );
  const range = useRangeSeconds(run, times, data?.interval_seconds ?? 0);

  const brush = (from: number, to: number) =>
    runRange({
      from: new Date(Math.floor(from) * 1000).toISOString(),
      to: new Date(Math.ceil(to) * 1000).toISOString(),
    });
  const bucket = point === null ? undefined : data?.buckets[point];
  return (
    <section
      className="histogram"
      ref={place}
      aria-label="Records over time"
      {...marksOld(answer.isPlaceholderData)}
    >
      <div className="histogram-head">
        <p role="status" className="histogram-total">
          {data && !answer.error
            ? (
              <>
                <strong>{count(data.total)}</strong> record{data.total === 1 ? "" : "s"}
              </>
            )
            : " "}
          {answer.isPlaceholderData && <span className="histogram-point">Updating…</span>}
          {bucket && (
            <span className="histogram-point">
              {shortTime(Date.parse(bucket.ts), zone)}: {count(bucket.count)}
            </span>
          )}
        </p>
        <Legend buckets={data?.buckets ?? []} at={bucket} />
        {data && data.total > 0 && features.changes && (
          <button
            type="button"
            className="button small quiet"
            onClick={() => askChanges(true)}
          >
            {say("What changed?")}
          </button>
        )}
        {data && (
          <button
            type="button"
            className="button small quiet"
            aria-pressed={isTable}
            onClick={() => setTable(!isTable)}
          >
            {isTable ? say("Chart") : say("Table")}
          </button>
        )}
      </div>
      {answer.error && !data
        ? answer.error.isAway && <ErrorNote error={answer.error} />
        : isTable
        ? <HistogramTable buckets={data?.buckets ?? []} zone={zone} />
        : data && range
        ? (
          <TimeChart
            times={times}
            series={series}
            kind="bars"
            zone={zone}
            height={92}
            range={range}
            onBrush={brush}
            onReset={() => back()}
            onPoint={setPoint}
            label={`${count(data.total)} records over time, by level`}
          />
        )
        : <div className="chart-wait" />}
      {asksChanges && (
        <Suspense>
          <ChangesDialog run={run} onClose={() => askChanges(false)} />
        </Suspense>
      )}
    </section>
  );
}

function seriesOf(buckets: Bucket[]): ChartSeries[] {
  return [...shown].reverse().map((level) => ({
    label: level,
    colour: `--level-${level}`,
    values: buckets.map((bucket) => bucket.levels[level]),
  })).filter(({ values }) => values.some((value) => value > 0));
}

function Legend({ buckets, at }: {
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
          title={level === "none" ? "Records without a level" : `Only ${level}`}
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

function useRangeSeconds(
  run: Run,
  times: number[],
  interval: number,
): [number, number] | undefined {
  const from = run.instants?.from;
  const to = run.instants?.to;
  return useMemo(() => {
    if (!from || !to || times.length === 0) return undefined;
    // Bars begin at whole buckets: the first one may begin before the range.
    const end = (times.at(-1) ?? 0) + interval;
    return [
      Math.min(times[0] ?? 0, Date.parse(from) / 1000),
      Math.max(end, Date.parse(to) / 1000),
    ];
  }, [from, to, times, interval]);
}

function useWidth(): [(element: HTMLElement | null) => void, number] {
  const [width, setWidth] = useState(0);
  const observer = useRef<ResizeObserver>(null);
  useEffect(() => () => observer.current?.disconnect(), []);
  const place = useRef((element: HTMLElement | null) => {
    observer.current?.disconnect();
    if (!element) return;
    const measure = () => setWidth(Math.round(element.clientWidth / 40) * 40);
    observer.current = new ResizeObserver(measure);
    observer.current.observe(element);
    measure();
  });
  return [place.current, width];
}
