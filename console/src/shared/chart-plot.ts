import { tickTime } from "./format-time.ts";
import uPlot from "uplot";
import { clock, dayOf, type Zone } from "../address/range.ts";
import { short } from "./format-number.ts";

export interface ChartSeries {
  label: string;
  /** The custom property of its colour: `--level-error`. */
  colour: string;
  values: (number | null)[];
}

export interface Drawing {
  /** The start of each bucket, in seconds since 1970. */
  times: number[];
  series: ChartSeries[];
  kind: "bars" | "lines";
  zone: Zone;
  height: number;
  /** The range of the x axis, in seconds since 1970. */
  range: [number, number];
  /** Pale lines behind the values: an earlier period. */
  earlier?: ChartSeries[];
  /** The last bucket is not over yet. */
  isUnfinished?: boolean;
  /** Draws over the chart, for example a threshold. */
  hooks?: uPlot.Hooks.Arrays;
  least?: number;
  most?: number;
}

interface Handlers {
  onBrush?: (from: number, to: number) => void;
  onReset: () => void;
  onCursor: (plot: uPlot) => void;
}

/** The height of the times below the chart. */
export const labelsHeight = 23;

/** The steps between labels of an axis. They are so close together that an axis never shows only its zero. */
const wholeSteps = Array.from({ length: 13 }, (_, at) => [1, 2, 3, 5].map((n) => n * 10 ** at))
  .flat();
const font = "11px system-ui, sans-serif";

/** Draws a chart in an element. All charts of the page share one crosshair. */
export function drawChart(element: HTMLElement, drawing: Drawing, handlers: Handlers): uPlot {
  const { times, series, kind, zone, height, range, hooks, least, most, earlier = [] } = drawing;
  const axis = {
    stroke: colourOf(element, "--text-muted"),
    grid: { stroke: colourOf(element, "--line-soft"), width: 1 },
    ticks: { show: false },
    font,
  };
  const bars = uPlot.paths.bars?.({ size: [0.86, 24], align: 1 });
  // Stacked bars: the highest sum is drawn first, each lower sum over it.
  const stacked = kind === "bars" ? stack(series) : series;
  return new uPlot(
    {
      width: Math.max(element.clientWidth, 40),
      height,
      tzDate: (seconds) =>
        zone === "utc" ? uPlot.tzDate(new Date(seconds * 1000), "UTC") : new Date(seconds * 1000),
      // Space on the right for half of the last time label.
      padding: [6, 28, 0, 2],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        sync: { key: "logloom", scales: ["x", null], setSeries: false },
        drag: { x: handlers.onBrush !== undefined, y: false, setScale: false, dist: 4 },
        bind: {
          dblclick: () => () => {
            handlers.onReset();
            return null;
          },
        },
      },
      scales: {
        x: { time: true, range: () => range },
        y: { range: (_plot, _min, max) => [least ?? 0, Math.max(most ?? 0, max || 1) * 1.06] },
      },
      axes: [
        {
          ...axis,
          size: labelsHeight,
          gap: 6,
          space: 74,
          values: (_plot, splits) => labelsOf(splits, zone),
        },
        {
          ...axis,
          size: 44,
          // Records are whole numbers.
          ...(kind === "bars" ? { incrs: wholeSteps } : {}),
          gap: 4,
          space: 26,
          values: (_plot, splits) => splits.map((value) => value === null ? "" : short(value)),
        },
      ],
      series: [
        {},
        ...stacked.map(({ colour, label }) =>
          kind === "bars"
            ? {
              label,
              width: 0,
              fill: colourOf(element, colour),
              paths: bars,
              points: { show: false },
            }
            : {
              label,
              width: 1.6,
              stroke: colourOf(element, colour),
              points: { size: 4, filter: (plot: uPlot, i: number) => alone(plot.data[i] ?? []) },
              spanGaps: false,
            }
        ),
        ...earlier.map(({ colour, label }) => ({
          label,
          width: 1.4,
          dash: [3, 3],
          alpha: 0.6,
          stroke: colourOf(element, colour),
          points: { show: false },
        })),
      ],
      hooks: {
        ...hooks,
        setSelect: [(plot) => {
          if (plot.select.width < 3) return;
          const from = plot.posToVal(plot.select.left, "x");
          const to = plot.posToVal(plot.select.left + plot.select.width, "x");
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          handlers.onBrush?.(from, to);
        }],
        setCursor: [handlers.onCursor],
        draw: [
          ...(hooks?.draw ?? []),
          ...(drawing.isUnfinished ? [(plot: uPlot) => veil(plot, startOfEnd(drawing))] : []),
        ],
      },
    },
    [times, ...[...stacked, ...earlier].map(({ values }) => values)] as uPlot.AlignedData,
    element,
  );
}

/** The bucket under the pointer, or null. */
export function bucketUnder(plot: uPlot): number | null {
  const { left } = plot.cursor;
  if (left === undefined || left < 0) return null;
  const at = plot.posToVal(left, "x");
  const times = plot.data[0];
  let found = -1;
  for (let i = 0; i < times.length && (times[i] ?? 0) <= at; i++) found = i;
  return found < 0 ? null : found;
}

/** The value of a custom property, which a canvas cannot use directly. */
function colourOf(element: Element, name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Where the unfinished part begins: at the last bar, or at the second-last point of a line. */
function startOfEnd({ times, kind }: Drawing): number {
  return times.at(kind === "lines" ? -2 : -1) ?? times.at(-1) ?? 0;
}

/** Hatches the last bucket, which will still grow. */
function veil(plot: uPlot, from: number): void {
  const { ctx, bbox } = plot;
  const left = Math.max(bbox.left, plot.valToPos(from, "x", true));
  const width = bbox.left + bbox.width - left;
  if (width <= 0) return;
  const step = 6 * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, width, bbox.height);
  ctx.clip();
  ctx.fillStyle = colourOf(plot.root, "--bg");
  ctx.globalAlpha = 0.45;
  ctx.fillRect(left, bbox.top, width, bbox.height);
  ctx.strokeStyle = colourOf(plot.root, "--bg");
  ctx.globalAlpha = 0.9;
  ctx.lineWidth = 2 * devicePixelRatio;
  for (let x = left - bbox.height; x < left + width; x += step) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.restore();
}

/** The indexes of points without a neighbour, which a line would not show. */
function alone(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (i: number) => values[i] !== null && values[i] !== undefined;
  return Array.from(values, (_, i) => i)
    .filter((i) => isThere(i) && !isThere(i - 1) && !isThere(i + 1));
}

function stack(series: ChartSeries[]): ChartSeries[] {
  const sums: number[] = [];
  return series.map((one) => ({
    ...one,
    values: one.values.map((value, i) => sums[i] = (sums[i] ?? 0) + (value ?? 0)),
  })).reverse();
}

/** Labels of the x axis: the date where a day begins, otherwise the time. */
function labelsOf(splits: number[], zone: Zone): string[] {
  let day = "";
  return splits.map((seconds) => {
    const now = dayOf(seconds * 1000, zone);
    const time = clock(seconds * 1000, zone);
    const isNew = now !== day && (day !== "" || time === "00:00:00");
    day = now;
    return tickTime(seconds * 1000, zone, isNew);
  });
}
