import { shortTime } from "../shared/format-time.ts";
import { say } from "../shared/translate.ts";
import { Sentence } from "../shared/sentence.tsx";
import { type Zone } from "../address/range.ts";
import type { AlertPreview } from "../service/logloom.ts";
import { measure } from "../shared/format-number.ts";
import { groupLabel } from "../shared/group-label.ts";
import type { ChartSeries } from "../shared/time-chart.tsx";

/** How often the rule would have fired, and when last. */
export function PreviewWords({ preview, keys, zone }: {
  preview: AlertPreview;
  keys: string[];
  zone: Zone;
}) {
  const { alerts, total_alerts: total, crowded_windows: crowded } = preview;
  const last = alerts.at(-1);
  return (
    <>
      <Sentence
        text="In the last 24 hours it would have fired {times}"
        values={{ times: times(total) }}
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
              <Sentence
                text="for {group}"
                values={{ group: <bdi>{groupLabel(last.group, keys)}</bdi> }}
              />
            </>
          )}
        </span>
      )}
      {crowded ? <span className="field-error">. {crowdedWords(crowded)}</span> : null}
    </>
  );
}

/** The group of each line, and how often the rule would have fired for it. */
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

/** The lines of what was usual, or why there are none. */
export function PreviewBand({ lines }: { lines: ChartSeries[] }) {
  if (lines.every(({ values }) => values.every((value) => value === null))) {
    return (
      <p className="about">
        {say("There are fewer than three days of records: the rule waits until it knows three.")}
      </p>
    );
  }
  return (
    <p className="series-legend">
      {lines.map(({ label, colour }) => (
        <span key={label}>
          <i className="swatch" style={{ background: `var(${colour})` }} />
          {label}
        </span>
      ))}
    </p>
  );
}

function times(number: number): string {
  return number === 0 ? say("never") : say("{count} times", { count: number });
}

function crowdedWords(windows: number): string {
  return say(
    "In {count} windows there are too many groups, or their names are too long: the rule does not fire there",
    { count: windows },
  );
}
