import { Sentence } from "../shared/sentence.tsx";
import { useEffect, useMemo, useRef, useState } from "react";
import { back, change, useAddress } from "../address/address.ts";
import type { Range } from "../address/range.ts";
import { marksOld } from "../service/operation-hooks.ts";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { secondsOf, shifted, valuesAt } from "../shared/earlier-periods.ts";
import { PanelNote } from "../shared/panel-note.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { AwaitedChart, type ChartSeries, TimeChart } from "../shared/time-chart.tsx";
import { EarlierSelect } from "./earlier-select.tsx";
import { HistogramLegend, shown } from "./histogram-legend.tsx";
import { type Bucket, HistogramTable } from "./histogram-table.tsx";
import { ChangesButton } from "./result-tabs.tsx";
import { type Run, runRange, useHistogram } from "./search-run.ts";
import { say } from "../shared/translate.ts";

const height = 92;

/** Records over time by level. Dragging narrows the range, a double-click goes back. */
export function HistogramPanel({ run }: { run: Run }) {
  const { zone } = usePreferences();
  const [point, setPoint] = useState<number | null>(null);
  const [isTable, setTable] = useState(false);
  const [place, width] = useWidth();
  const buckets = width === 0 ? 0 : Math.max(12, Math.min(120, Math.floor(width / 11)));
  const answer = useHistogram(run, run.instants, buckets);
  const { data } = answer;
  const series = useMemo(() => data ? seriesOf(data.buckets) : [], [data]);
  const times = useMemo(() => data?.buckets.map(({ ts }) => Date.parse(ts) / 1000) ?? [], [data]);
  const earlier = useEarlier(run, buckets, times, data?.interval_seconds ?? 0);
  const range = useRangeSeconds(run, times, data?.interval_seconds ?? 0);

  const [brushed, setBrushed] = useState<Range | null>(null);
  const brush = (from: number, to: number) => {
    const range = {
      from: new Date(Math.floor(from) * 1000).toISOString(),
      to: new Date(Math.ceil(to) * 1000).toISOString(),
    };
    setBrushed(range);
    runRange(range);
    // Leaves a part of the range before the selection, so that "what changed" can compare with it.
    const { instants } = run;
    if (instants) change({ around: `${instants.from}/${instants.to}` }, { replace: true });
  };
  const isBrushed = brushed?.from === run.range.from && brushed.to === run.range.to;
  const bucket = point === null ? undefined : data?.buckets[point];
  const isUnfinished = data !== undefined && run.instants !== null &&
    endOf(times, data.interval_seconds) > Date.parse(run.instants.to) / 1000;
  return (
    <section
      className="histogram"
      ref={place}
      aria-label={say("Records over time")}
      {...marksOld(answer.isPlaceholderData && !run.isLive)}
    >
      <div className="histogram-head">
        <p role="status" className="histogram-total">
          {data && !answer.error
            ? <Sentence text="{count} records" values={{ count: data.total }} strong />
            : " "}
          {answer.isPlaceholderData && !run.isLive && (
            <span className="histogram-point">{say("Updating…")}</span>
          )}
        </p>
        {isBrushed && <ChangesButton run={run} />}
        <PanelNote answer={data} isBusy={answer.isFetching} />
        <HistogramLegend buckets={data?.buckets ?? []} at={bucket} />
        <EarlierSelect />
        {data && (
          <Button
            look="small quiet"
            aria-pressed={isTable}
            onClick={() => setTable(!isTable)}
          >
            {isTable ? say("Chart") : say("Table")}
          </Button>
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
            height={height}
            range={range}
            isUnfinished={isUnfinished}
            earlier={earlier}
            onBrush={brush}
            onReset={() => back()}
            onPoint={setPoint}
            label={say("{count} records over time, by level", { count: data.total })}
          />
        )
        : <AwaitedChart height={height} />}
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

/** The records of the chosen earlier period, in the buckets of the chart. */
function useEarlier(
  run: Run,
  buckets: number,
  times: number[],
  interval: number,
): ChartSeries[] | undefined {
  const { before } = useAddress().parameters;
  const seconds = secondsOf(before);
  const instants = seconds === null ? null : shifted(run.instants, seconds);
  const { data } = useHistogram(run, instants, buckets);
  return useMemo(() => {
    if (!data || seconds === null) return undefined;
    const points = data.buckets.map(({ ts, count }) => [ts, count] as const);
    const values = valuesAt(times, points, seconds, interval);
    return [{ label: say("before"), colour: "--text-muted", values }];
  }, [data, seconds, times, interval]);
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
    // The first bucket may begin before the range.
    const end = endOf(times, interval);
    return [Math.min(times[0] ?? 0, Date.parse(from) / 1000), Math.max(end, Date.parse(to) / 1000)];
  }, [from, to, times, interval]);
}

/** The end of the last bucket. */
const endOf = (times: number[], interval: number) => (times.at(-1) ?? 0) + interval;

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
