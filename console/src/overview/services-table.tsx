import { go } from "../address/address.ts";
import type { Range } from "../address/range.ts";
import { clause } from "../language/edit-query.ts";
import { marksOld } from "../service/operation-hooks.ts";
import type { LogOverview, LogService, Series } from "../service/logloom.ts";
import { Badge } from "../shared/basic-controls.tsx";
import { ago, since } from "../shared/format-time.ts";
import { change, count } from "../shared/format-number.ts";
import { oneLine, plain } from "../shared/safe-text.ts";
import { SortHead, useSorted } from "../shared/sorting.tsx";
import { Sparkline } from "../shared/sparkline.tsx";
import { say } from "../shared/translate.ts";

const valueOf = (service: LogService, column: string) =>
  service[column as keyof LogService] ?? null;

/** The services with their records, errors and last record. A click opens a service's records. */
export function ServicesTable({ overview, courses, range, isOld }: {
  overview: LogOverview;
  courses: Series | undefined;
  range: Range;
  isOld: boolean;
}) {
  const [services, sorting] = useSorted(overview.services, valueOf);
  const courseOf = (service: string | null) =>
    courses?.series.find(({ group }) => group !== null && group.service === service)
      ?.points.map(([, value]) => value ?? 0);
  return (
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
          {services.map((service) => (
            <ServiceRow
              key={service.service ?? ""}
              service={service}
              course={courseOf(service.service)}
              range={range}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ServiceRow({ service, course, range }: {
  service: LogService;
  course: number[] | undefined;
  range: Range;
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
    <tr>
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
      <td className="course" data-column={say("Trend")}>
        {course && <Sparkline values={course} />}
      </td>
      <td className="number" data-column={say("Records")}>
        {count(service.records)}
        <Change now={service.records} before={service.records_before} />
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
        <Change now={service.errors} before={service.errors_before} isBad />
      </td>
      <td data-column={say("Last seen")}>{ago(service.last_seen)}</td>
    </tr>
  );
}

/** The change against the same hours of the day before. */
function Change({ now, before, isBad = false }: { now: number; before: number; isBad?: boolean }) {
  const words = change(now, before);
  if (words === null || now === before) return <span className="change" />;
  const tone = isBad ? now > before ? " bad" : " good" : "";
  return (
    <span className={`change${tone}`} title={say("{number} the day before", { number: before })}>
      {words}
    </span>
  );
}
