import { useEffect, useMemo, useState } from "react";
import type uPlot from "uplot";
import { groupKeys } from "../language/edit-query.ts";
import { marksOld, useOperation } from "../service/operation-hooks.ts";
import type { AlertPreview } from "../service/logloom.ts";
import { ErrorNote } from "../shared/basic-controls.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { labelsHeight } from "../shared/chart-plot.ts";
import { writtenNumber } from "../shared/format-number.ts";
import { AwaitedChart, TimeChart } from "../shared/time-chart.tsx";
import { say } from "../shared/translate.ts";
import { bandOf, linesOf, timesOf } from "./preview-lines.ts";
import { PreviewBand, PreviewGroups, PreviewWords } from "./preview-words.tsx";
import { useLater } from "../shared/use-debounced.ts";
import { conditionOf, type Draft } from "./rule-draft.ts";
import { signs } from "../shared/comparison-signs.ts";
import { Threshold } from "./threshold-slider.tsx";

const height = 190;
/** The chart's space above and below its lines. */
const edges = { top: 6, bottom: labelsHeight };

/** The query's value over the last day, with a threshold to drag and a mark each time the rule would have fired. */
export function PreviewChart({ draft, onThreshold }: {
  draft: Draft;
  onThreshold: (threshold: string) => void;
}) {
  const { zone } = usePreferences();
  const condition = conditionOf(draft);
  const asked = useLater(condition);
  const isWhole = Object.values(asked).every((value) => value !== null && value !== "");
  const answer = useOperation("preview_alert_rule", asked, { enabled: isWhole, keep: true });
  const { data } = answer;
  // While you type, the chart still shows the previous condition.
  const isOld = data !== undefined &&
    (answer.isPlaceholderData ||
      JSON.stringify(asked) !== JSON.stringify(condition));
  const keys = useMemo(() => groupKeys(asked.p_query_dsl), [asked]);
  const threshold = condition.p_threshold;
  const times = useMemo(() => timesOf(data), [data]);
  const series = useMemo(() => linesOf(data, keys), [data, keys]);
  const band = useMemo(() => bandOf(data), [data]);
  const [top, setTop] = useState(1);
  const isUsual = draft.baselineDays !== "";
  const highest = Math.max(
    0,
    ...[...series, ...band].flatMap(({ values }) => values.map((value) => value ?? 0)),
  );
  useEffect(() => {
    if (isUsual) setTop(Math.max(highest, 1e-9) * 1.15);
    else if (Number.isFinite(threshold)) setTop(Math.max(highest, threshold, 1e-9) * 1.15);
  }, [highest, data]);
  const hooks = useMemo<uPlot.Hooks.Arrays>(() => ({
    drawClear: [(plot) => shade(plot, data?.alerts ?? [])],
  }), [data]);
  const range = useMemo<[number, number] | null>(
    () => data ? [Date.parse(data.ts_from) / 1000, Date.parse(data.ts_to) / 1000] : null,
    [data],
  );
  return (
    <section className="preview" aria-label={say("Preview")} {...marksOld(isOld)}>
      <p role="status" className="preview-words">
        {answer.error
          ? " "
          : data
          ? <PreviewWords preview={data} keys={keys} zone={zone} />
          : say("Evaluating the last 24 hours…")}
      </p>
      {answer.error && answer.error.position === null && <ErrorNote error={answer.error} />}
      <div className="preview-chart">
        {range
          ? (
            <>
              <TimeChart
                times={times}
                series={series}
                earlier={band}
                kind="lines"
                zone={zone}
                height={height}
                range={range}
                hooks={hooks}
                most={top / 1.06}
                label={isUsual
                  ? say("Value of the query over the last 24 hours, with what was usual")
                  : say(
                    "Value of the query over the last 24 hours; the threshold is {threshold}",
                    { threshold: `${signs[draft.comparison]} ${draft.threshold}` },
                  )}
              />
              {!isUsual && Number.isFinite(threshold) && (
                <Threshold
                  value={threshold}
                  top={top}
                  height={height}
                  edges={edges}
                  onChange={(value) => onThreshold(writtenNumber(value))}
                />
              )}
            </>
          )
          : <AwaitedChart height={height} />}
      </div>
      {data?.groups && <PreviewGroups preview={data} lines={series} />}
      {band.length > 0 && <PreviewBand lines={band} />}
    </section>
  );
}

/** Marks each time that the rule would have fired: at the end of its window, where the line is too high or low. */
function shade(plot: uPlot, alerts: AlertPreview["alerts"]): void {
  const { ctx, bbox } = plot;
  const probe = getComputedStyle(plot.root);
  ctx.save();
  ctx.fillStyle = probe.getPropertyValue("caret-color") || "#dc4a41";
  ctx.globalAlpha = 0.35;
  const width = 3 * devicePixelRatio;
  for (const { window_end } of alerts) {
    const at = plot.valToPos(Date.parse(window_end) / 1000, "x", true);
    ctx.fillRect(at - width / 2, bbox.top, width, bbox.height);
  }
  ctx.restore();
}
