import { useMemo, useState } from "react";
import { go } from "../address/address.ts";
import type { Range } from "../address/range.ts";
import { clause } from "../language/edit-query.ts";
import { marksOld } from "../service/operation-hooks.ts";
import type { LogOverview, LogService } from "../service/logloom.ts";
import { Badge } from "../shared/basic-controls.tsx";
import { changeOf } from "../shared/change-words.ts";
import { ago, since } from "../shared/format-time.ts";
import { count } from "../shared/format-number.ts";
import { oneLine, plain } from "../shared/safe-text.ts";
import { SortHead, useSorted } from "../shared/sorting.tsx";
import { Sparkline } from "../shared/sparkline.tsx";
import { say } from "../shared/translate.ts";
import {
  byTrouble,
  errorsOf,
  isFlooded,
  isWorse,
  type Numbers,
  recordsOf,
} from "./service-trouble.ts";

const mostAtFirst = 100;

type Column = "service" | "records" | "errors" | "last_seen";
const valueOf = (service: LogService, column: string) => service[column as Column];

/** The services with their records, errors and last record. A click opens a service's records. */
export function ServicesTable({ overview, range, isOld, lately }: {
  overview: LogOverview;
  range: Range;
  isOld: boolean;
  /** When the last part of the range begins. */
  lately: string;
}) {
  const [limit, setLimit] = useState(mostAtFirst);
  const ordered = useMemo(() => byTrouble(overview.services), [overview.services]);
  const [services, sorting] = useSorted(ordered, valueOf);
  return (
    <>
      <div
        className="table-scroll"
        tabIndex={0}
        role="region"
        aria-label={say("Services")}
        {...marksOld(isOld)}
      >
        <table className="table list services">
          <thead>
            <tr>
              <SortHead name="service" label={say("Service")} sorting={sorting} />
              <th scope="col">{say("Trend")}</th>
              <SortHead name="records" label={say("Records")} sorting={sorting} isNumber />
              <SortHead name="errors" label={say("Errors")} sorting={sorting} isNumber />
              <SortHead name="last_seen" label={say("Last seen")} sorting={sorting} />
            </tr>
          </thead>
          <tbody>
            {services.slice(0, limit).map((service) => (
              <ServiceRow
                key={service.service ?? ""}
                service={service}
                range={range}
                lately={lately}
              />
            ))}
          </tbody>
        </table>
      </div>
      {services.length > limit && (
        <button
          type="button"
          className="button small more"
          onClick={() => setLimit(limit * 10)}
        >
          {say("{count} more", { count: services.length - limit })}
        </button>
      )}
    </>
  );
}

function ServiceRow({ service, range, lately }: {
  service: LogService;
  range: Range;
  lately: string;
}) {
  const name = service.service;
  const open = (level = "") => {
    const only = clause("service", name ?? "", name === null ? "lacks" : "in");
    go({
      screen: "search",
      parameters: {
        q: `${only}${level}`,
        from: range.from,
        to: range.to === "now" ? "" : range.to,
      },
    });
  };
  const isSilent = service.records === 0;
  return (
    <tr className={isWorse(service) ? "worse" : undefined}>
      <th scope="row" data-column={say("Service")}>
        <button type="button" className="group-value" onClick={() => open()}>
          {name === null ? say("without a service") : plain(oneLine(name, 80))}
        </button>{" "}
        {isSilent && (
          <Badge tone="warn">
            {say("not seen for {span}", { span: since(service.last_seen) })}
          </Badge>
        )}
        {service.records_before === 0 && <Badge tone="info">{say("new since yesterday")}</Badge>}
      </th>
      <td className="trend" data-column={say("Trend")}>
        <Sparkline values={service.records_over_time} errors={service.errors_over_time} />
      </td>
      <td className="number" data-column={say("Records")}>
        {count(service.records)}
        {/* A badge says that a service is new. */}
        {service.records_before === 0 ? <span className="change" /> : (
          <Change
            numbers={recordsOf(service)}
            lately={lately}
            tone={isFlooded(service) ? "warn" : undefined}
          />
        )}
      </td>
      <td className="number" data-column={say("Errors")}>
        {service.errors === 0 ? "0" : (
          <button
            type="button"
            className="group-value bad"
            onClick={() => open(" level:error")}
            aria-label={say("{count} errors of {service}", {
              count: service.errors,
              service: name ?? say("without a service"),
            })}
          >
            {count(service.errors)}
          </button>
        )}
        <Change
          numbers={errorsOf(service)}
          lately={lately}
          tone={isWorse(service) ? "bad" : undefined}
        />
      </td>
      <td data-column={say("Last seen")}>{ago(service.last_seen)}</td>
    </tr>
  );
}

/** The change against the same hours of the day before; that of the last part if only this one stands out. */
function Change({ numbers: { now, before, ...last }, lately, tone }: {
  numbers: Numbers;
  lately: string;
  tone?: "bad" | "warn";
}) {
  const whole = changeOf(now, before);
  const isLate = tone !== undefined && whole?.isMuchMore !== true;
  const change = isLate ? changeOf(last.lately, last.latelyBefore) : whole;
  const words = isLate && change
    ? say("{change} since {time}", { change: change.words, time: lately })
    : change?.words;
  const title = say("{number} the day before", { number: isLate ? last.latelyBefore : before });
  return (
    <span className="change" title={title}>
      {tone ? <Badge tone={tone}>{words}</Badge> : words}
    </span>
  );
}
