import { useAddress } from "../address/address.ts";
import { EmptyProject } from "../search/empty-project.tsx";
import { RangePicker } from "../search/range-picker.tsx";
import { RefreshMenu } from "../search/refresh-menu.tsx";
import { useInstants } from "../search/use-instants.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { Empty, ErrorNote, ScreenHead } from "../shared/basic-controls.tsx";
import { Loaded, mostAtOnce } from "../shared/list-table.tsx";
import { PanelNote } from "../shared/panel-note.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { shortTime, tickTime, type Zone } from "../shared/format-time.ts";
import type { LogOverview } from "../service/logloom.ts";
import { say } from "../shared/translate.ts";
import { IncidentStrip } from "./incident-strip.tsx";
import { RequestsTable } from "./requests-table.tsx";
import { SilentHosts } from "./silent-hosts.tsx";
import { ServicesTable } from "./services-table.tsx";
import { useNewcomer } from "./use-newcomer.ts";

const standard = "now-24h";
const day = 86_400_000;

/** The last of the range's 24 parts, and when it begins in words. */
function lastPart({ ts_from, ts_to }: LogOverview, zone: Zone) {
  const length = Date.parse(ts_to) - Date.parse(ts_from);
  const start = Date.parse(ts_to) - length / 24;
  const minute = Math.floor(start / 60_000) * 60_000;
  return {
    part: { from: new Date(start).toISOString(), to: ts_to },
    lately: length > day ? shortTime(minute, zone) : tickTime(minute, zone, false),
  };
}

/** The first screen: incidents, and all services compared with the day before. */
export function OverviewScreen() {
  const { parameters } = useAddress();
  const { zone } = usePreferences();
  const range = { from: parameters.from || standard, to: parameters.to || "now" };
  const { instants, again } = useInstants(range);
  const isWhole = instants !== null;
  const overview = useOperation("log_overview", {
    p_query_dsl: "",
    p_ts_from: instants?.from,
    p_ts_to: instants?.to,
    p_limit: mostAtOnce,
  }, { enabled: isWhole, keep: true });
  const isNewcomer = useNewcomer(overview.data?.services.length === 0);
  if (isNewcomer) {
    return (
      <>
        <h1 className="hidden">{say("Overview")}</h1>
        <EmptyProject />
      </>
    );
  }
  const services = overview.data?.services ?? [];
  const total = overview.data?.total_services ?? 0;
  return (
    <div className="page">
      <ScreenHead
        title={say("Overview")}
        about={
          <>
            {overview.data &&
              `${
                total > services.length
                  ? say("{part} of {count} services", { part: services.length, count: total })
                  : say("{count} services", { count: total })
              } · `}
            <PanelNote answer={overview.data} isBusy={overview.isFetching} />
          </>
        }
      >
        <RangePicker range={range} isLive={false} />
        <RefreshMenu again={again} />
      </ScreenHead>
      <IncidentStrip />
      {!isWhole && (
        <ErrorNote error={new Error(say("This range is invalid, or ends before it begins."))} />
      )}
      <Loaded answer={overview} lines={8}>
        {(data) => (
          <>
            <SilentHosts hosts={data.silent_hosts} range={range} {...lastPart(data, zone)} />
            {data.warnings.map(({ message }) => (
              <p key={message} className="about">{say("Note: {what}.", { what: message })}</p>
            ))}
            {data.services.length === 0
              ? (
                <Empty title={say("No records in this range or the day before")}>
                  <p>{say("Choose a longer range.")}</p>
                </Empty>
              )
              : (
                <ServicesTable
                  overview={data}
                  lately={lastPart(data, zone).lately}
                  range={range}
                  isOld={overview.isPlaceholderData}
                />
              )}
          </>
        )}
      </Loaded>
      {instants && services.length > 0 && <RequestsTable range={range} instants={instants} />}
    </div>
  );
}
