import { dayInWords } from "../shared/format-time.ts";
import { useMemo } from "react";
import { useOperation } from "../service/operation-hooks.ts";
import type { Usage } from "../service/logloom.ts";
import { useIsCustomer } from "../service/roles.ts";
import { Empty, ScreenHead } from "../shared/basic-controls.tsx";
import { bytes, count, percent, short } from "../shared/format-number.ts";
import { Loaded, Table } from "../shared/list-table.tsx";
import { type ChartSeries, TimeChart } from "../shared/time-chart.tsx";
import { say } from "../shared/translate.ts";

export default function UsageScreen() {
  const usage = useOperation("get_tenant_usage", { p_months: 2 }, { every: 60_000 });
  const isCustomer = useIsCustomer();
  const tenant = useOperation("get_current_tenant", {}, { enabled: !isCustomer });
  return (
    <div className="page">
      <ScreenHead
        title={say("Usage")}
        about={isCustomer ? say("A month is a calendar month in UTC.") : tenant.data &&
          say("Plan {plan}. A month is a calendar month in UTC.", { plan: tenant.data.plan_name })}
      />
      <Loaded
        answer={usage}
        missing={
          <Empty title={say("No usage yet")}>
            <p>{say("The first event, key or rule creates the tenant.")}</p>
          </Empty>
        }
      >
        {(data) => (
          <>
            <div className="tiles">
              <Meter
                title={say("Events this month")}
                used={data.events}
                limit={data.monthly_events_limit}
                projected={data.projected_events}
                format={short}
              />
              <Meter
                title={say("Bytes this month")}
                used={data.bytes}
                limit={data.monthly_bytes_limit}
                projected={data.projected_bytes}
                format={bytes}
              />
            </div>
            {!isCustomer && (
              <p className="about">
                {say(
                  "Stored: {compressed} compressed, {rows} not compressed yet.",
                  {
                    compressed: bytes(data.stored.sealed_bytes),
                    rows: bytes(data.stored.hot_bytes),
                  },
                )}
              </p>
            )}
            <Days days={data.days} />
          </>
        )}
      </Loaded>
    </div>
  );
}

function Meter({ title, used, limit, projected, format }: {
  title: string;
  used: number;
  /** Null: the host of the portal shows no limit. */
  limit: number | null;
  projected: number;
  format: (value: number) => string;
}) {
  const isCustomer = useIsCustomer();
  if (limit === null) {
    return (
      <section className="tile">
        <h2>{title}</h2>
        <p className="tile-number">{format(used)}</p>
      </section>
    );
  }
  const share = limit === 0 ? 0 : Math.min(100, (100 * used) / limit);
  const ahead = limit === 0 ? 0 : Math.min(100, (100 * projected) / limit);
  const tone = used >= limit ? "bad" : projected > limit ? "warn" : "good";
  return (
    <section className="tile">
      <h2>{title}</h2>
      <p className="tile-number">
        {format(used)} <span className="about">{say("of {limit}", { limit: format(limit) })}</span>
      </p>
      <svg
        className={`meter ${tone}`}
        viewBox="0 0 100 4"
        preserveAspectRatio="none"
        role="img"
        aria-label={say("{share} used", { share: percent(share / 100) })}
      >
        <rect className="meter-ahead" width={ahead} height="4" />
        <rect className="meter-used" width={Math.max(share, 0.4)} height="4" />
      </svg>
      <p className="about">
        {used >= limit
          // The limits in a portal are the host's: Logloom does not enforce them.
          ? isCustomer
            ? say("The limit is reached.")
            : say("The limit is reached: further events are refused until the month ends.")
          : projected > limit
          ? say("At this pace {amount} by the end of the month: more than the plan allows.", {
            amount: format(projected),
          })
          : say("At this pace {amount} by the end of the month.", { amount: format(projected) })}
      </p>
    </section>
  );
}

function Days({ days }: { days: Usage["days"] }) {
  const sorted = useMemo(() => [...days].sort((a, b) => a.day < b.day ? -1 : 1), [days]);
  const times = useMemo(() => sorted.map(({ day }) => Date.parse(day) / 1000), [sorted]);
  const series = useMemo<ChartSeries[]>(() => [
    { label: say("events"), colour: "--series-1", values: sorted.map(({ events }) => events) },
  ], [sorted]);
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
      <Table
        label={say("Days")}
        columns={[say("Day (UTC)"), { name: say("Events"), is: "number" }, {
          name: say("Bytes"),
          is: "number",
        }]}
      >
        {sorted.toReversed().map((day) => (
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
