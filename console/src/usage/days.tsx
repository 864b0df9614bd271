import { useMemo, useState } from "react";
import type { Usage } from "../service/logloom.ts";
import { Empty } from "../shared/basic-controls.tsx";
import { bytes, count } from "../shared/format-number.ts";
import { dayInWords } from "../shared/format-time.ts";
import { Table } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { type ChartSeries, TimeChart } from "../shared/time-chart.tsx";
import { say } from "../shared/translate.ts";

const colours = [1, 2, 3, 4, 5, 7, 8].map((n) => `--series-${n}`);

type Day = Usage["days"][number];

interface Part {
  label: string;
  colour: string;
  days: Day[];
}

/** Events a day, stacked by service. A click on a service shows only its days. */
export function Days({ days, services }: Pick<Usage, "days" | "services">) {
  const sorted = useMemo(() => [...days].sort((a, b) => a.day < b.day ? -1 : 1), [days]);
  const times = useMemo(() => sorted.map(({ day }) => Date.parse(day) / 1000), [sorted]);
  const parts = useMemo(() => partsOf(sorted, services), [sorted, services]);
  const [chosen, setChosen] = useState<string | null>(null);
  const alone = parts.find(({ label }) => label === chosen);
  const series = useMemo<ChartSeries[]>(
    () =>
      (alone ? [alone] : parts).map(({ label, colour, days }) => ({
        label,
        colour,
        values: days.map(({ events }) => events),
      })),
    [parts, alone],
  );
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined) {
    return (
      <Empty title={say("No events in these months")}>
        <p>{say("Days with events appear here.")}</p>
      </Empty>
    );
  }
  return (
    <section className="block">
      <h2>{say("Events a day")}</h2>
      <TimeChart
        times={times}
        series={series}
        kind="bars"
        zone="utc"
        height={150}
        range={[Math.min(first, last - 27 * 86_400), last + 86_400]}
        label={say("Events a day")}
      />
      {parts.length > 1 && (
        <div className="series-legend" role="group" aria-label={say("Services")}>
          {parts.map(({ label, colour, days }) => (
            <button
              key={label}
              type="button"
              className="legend-item"
              aria-pressed={label === chosen}
              title={say("Only this service")}
              onClick={() => setChosen(label === chosen ? null : label)}
            >
              <i className="swatch" style={{ background: `var(${colour})` }} />
              <bdi>{label}</bdi>
              <span className="legend-count">
                {count(days.reduce((sum, { events }) => sum + events, 0))}
              </span>
            </button>
          ))}
        </div>
      )}
      <Table
        label={say("Days")}
        columns={[say("Day (UTC)"), { name: say("Events"), is: "number" }, {
          name: alone ? say("Bytes of records") : say("Bytes"),
          is: "number",
        }]}
      >
        {(alone?.days ?? sorted).toReversed().map((day) => (
          <tr key={day.day}>
            <th scope="row">{dayInWords(day.day)}</th>
            <td className="number">{count(day.events)}</td>
            <td className="number">{bytes(day.bytes)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** The services with the most events, and then all other events of each day. */
function partsOf(days: Usage["days"], services: Usage["services"]): Part[] {
  const names = new Set(services.flatMap(({ service }) => service ?? []));
  const parts = [...names]
    .map((name) => services.filter(({ service }) => service === name))
    .sort((a, b) => sumOf(b).events - sumOf(a).events)
    .slice(0, colours.length)
    .map((ofService, i): Part => ({
      label: plain(ofService[0]?.service ?? ""),
      colour: colours[i] ?? "",
      days: days.map(({ day }) => sumOf(ofService, day)),
    }));
  const others = days.map(({ day, events }, i): Day =>
    parts.reduce((rest, { days: named }) => ({
      day,
      events: rest.events - (named[i]?.events ?? 0),
      bytes: rest.bytes - (named[i]?.bytes ?? 0),
    }), { day, events, bytes: sumOf(services, day).bytes })
  );
  if (parts.length === 0) return [{ label: say("events"), colour: "--series-1", days: others }];
  if (others.every(({ events }) => events === 0)) return parts;
  return [...parts, { label: say("no service, or others"), colour: "--series-6", days: others }];
}

function sumOf(services: Usage["services"], day = ""): Day {
  return services.filter((service) => day === "" || service.day === day).reduce((sum, service) => ({
    day,
    events: sum.events + service.events,
    bytes: sum.bytes + service.record_bytes,
  }), { day, events: 0, bytes: 0 });
}
