import { shortTime } from "../shared/format.ts";
import { say } from "../shared/words.ts";
import { Said } from "../shared/said.tsx";
import { type Zone } from "../address/range.ts";
import type { AlertPreview } from "../service/logloom.ts";
import { measure } from "../shared/numbers.ts";
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
      <Said
        words="In the last 24 hours it would have fired {times}"
        of={{ times: times(total) }}
        strong
      />
      {last && (
        <span className="about">
          {", "}
          {say("last with {value} at {time}", {
            value: measure(last.value),
            time: shortTime(Date.parse(last.window_end), zone),
          })}
          {last.group && (
            <>
              {", "}
              <Said
                words="for {group}"
                of={{ group: <bdi>{groupLabel(last.group, keys)}</bdi> }}
              />
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
      {more > 0 && <span className="about">{say("and {number} more", { number: more })}</span>}
    </p>
  );
}

function times(number: number): string {
  return number === 0 ? say("never") : say("{count} times", { count: number });
}

function crowdedWords(windows: number): string {
  return say(
    "In {count} windows groups are too many or too long; the rule fires for none there",
    { count: windows },
  );
}
