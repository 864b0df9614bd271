import { shortTime } from "./format-time.ts";
import { useEffect, useRef, useState } from "react";
import "uplot/dist/uPlot.min.css";
import { bucketUnder, type ChartSeries, drawChart, type Drawing } from "./chart-plot.ts";
import { measure } from "./format-number.ts";
import { ChartMarkers } from "./markers.tsx";
import { usePreferences } from "./preferences.ts";
import { say } from "./translate.ts";

export type { ChartSeries };

interface Props extends Drawing {
  onBrush?: (from: number, to: number) => void;
  onReset?: () => void;
  /** The bucket under the pointer, or null. */
  onPoint?: (index: number | null) => void;
  label: string;
}

interface Tip {
  index: number;
  left: number;
  /** Whether the tip is to the right of the pointer. */
  isRight: boolean;
}

/** A chart over time. Dragging chooses a range; pointing at a bucket shows its values. */
export function TimeChart(props: Props) {
  const { times, series, kind, zone, height, range, label, hooks, least, most, isUnfinished } =
    props;
  const { earlier } = props;
  const place = useRef<HTMLDivElement>(null);
  const handlers = useRef(props);
  handlers.current = props;
  const [tip, setTip] = useState<Tip | null>(null);
  const { theme } = usePreferences();

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const plot = drawChart(element, {
      times,
      series,
      kind,
      zone,
      height,
      range,
      hooks,
      least,
      most,
      isUnfinished,
      earlier,
    }, {
      onBrush: props.onBrush && ((from, to) => handlers.current.onBrush?.(from, to)),
      onReset: () => handlers.current.onReset?.(),
      onCursor: (plot) => {
        const index = bucketUnder(plot);
        const { left = 0, event } = plot.cursor;
        handlers.current.onPoint?.(index);
        // Every chart shows the crosshair, only the one under the pointer shows values.
        setTip(
          index === null || !event ? null : {
            index,
            left: left + plot.over.offsetLeft,
            isRight: left < plot.over.clientWidth / 2,
          },
        );
      },
    });
    const resized = new ResizeObserver(() => {
      const width = Math.max(element.clientWidth, 40);
      if (width !== plot.width) plot.setSize({ width, height });
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
      setTip(null);
    };
  }, [
    times,
    series,
    kind,
    zone,
    height,
    range[0],
    range[1],
    hooks,
    least,
    most,
    isUnfinished,
    earlier,
    theme,
  ]);

  return (
    <div className="chart-place">
      <div
        ref={place}
        className="chart"
        role="img"
        aria-label={isUnfinished
          ? say("{chart}; the last bucket is not over yet", { chart: label })
          : label}
        data-unfinished={isUnfinished || undefined}
      />
      <ChartMarkers range={range} zone={zone} />
      {tip && tip.index < times.length && <ChartTip {...props} tip={tip} />}
    </div>
  );
}

/** Keeps the space of a chart while it loads, so that nothing below it moves. */
export const AwaitedChart = ({ height }: { height: number }) => <div style={{ height }} />;

function ChartTip({ times, series, earlier = [], zone, tip, isUnfinished }: Props & { tip: Tip }) {
  const rows = [...series, ...earlier].flatMap(({ label, colour, values }) => {
    const value = values[tip.index];
    return value === null || value === undefined ? [] : [{ label, colour, value }];
  }).sort((a, b) => b.value - a.value);
  return (
    <div
      className={tip.isRight ? "chart-tip" : "chart-tip left"}
      style={{ left: tip.left }}
      aria-hidden="true"
    >
      <p>
        {shortTime((times[tip.index] ?? 0) * 1000, zone)}
        {isUnfinished && tip.index === times.length - 1 && ` ${say("not over yet")}`}
      </p>
      <dl>
        {rows.map(({ label, colour, value }) => (
          <div key={label}>
            <dt>
              <i className="swatch" style={{ background: `var(${colour})` }} />
              <bdi>{label}</bdi>
            </dt>
            <dd>{measure(value)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
