import { shortTime, type Zone } from "../address/range.ts";
import type { AlertPreview } from "../service/logloom.ts";
import { count, measure } from "../shared/format.ts";
import { groupLabel } from "../shared/groups.ts";
import type { ChartSeries } from "../shared/time-chart.tsx";

/** How often the rule would have fired, and the last time. */
export function PreviewWords({ preview, keys, zone }: {
  preview: AlertPreview;
  keys: string[];
  zone: Zone;
}) {
  const { alerts, total_alerts: total, crowded_windows: crowded } = preview;
  const last = alerts.at(-1);
  return (
    <>
      In the last 24 hours it would have fired <strong>{times(total)}</strong>
      {last && (
        <span className="about">
          , last with {measure(last.value)} at {shortTime(Date.parse(last.window_end), zone)}
          {last.group && (
            <>
              , for <bdi>{groupLabel(last.group, keys)}</bdi>
            </>
          )}
        </span>
      )}
      {crowded ? <span className="field-error">. {crowdedWords(crowded)}</span> : null}
    </>
  );
}

/** The groups of the lines, and how often each would have fired. */
export function PreviewGroups({ preview, lines }: { preview: AlertPreview; lines: ChartSeries[] }) {
  const more = (preview.total_groups ?? 0) - lines.length;
  return (
    <p className="series-legend">
      {lines.map(({ label }, i) => (
        <span key={i}>
          <i className={`swatch series-${i + 1}`} />
          <bdi>{label}</bdi>{" "}
          <span className="about">{times(preview.groups?.[i]?.alerts ?? 0)}</span>
        </span>
      ))}
      {more > 0 && <span className="about">and {count(more)} more</span>}
    </p>
  );
}

function times(number: number): string {
  if (number === 0) return "never";
  return number === 1 ? "once" : `${count(number)} times`;
}

function crowdedWords(windows: number): string {
  const where = windows === 1 ? "one window" : `${count(windows)} windows`;
  return `In ${where} there were more groups than a rule may have; it fires for none there`;
}
