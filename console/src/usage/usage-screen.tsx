import { useOperation } from "../service/operation-hooks.ts";
import { useIsCustomer } from "../service/roles.ts";
import { Empty, ScreenHead } from "../shared/basic-controls.tsx";
import { bytes, percent, short } from "../shared/format-number.ts";
import { Loaded } from "../shared/list-table.tsx";
import { say } from "../shared/translate.ts";
import { Days } from "./days.tsx";

export default function UsageScreen() {
  const usage = useOperation("get_tenant_usage", { p_months: 2, p_services: 20 }, {
    every: 60_000,
  });
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
            <Days days={data.days} services={data.services} />
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
          : projected > limit && !isCustomer
          ? say("At this pace {amount} by the end of the month: more than the plan allows.", {
            amount: format(projected),
          })
          : say("At this pace {amount} by the end of the month.", { amount: format(projected) })}
      </p>
    </section>
  );
}
