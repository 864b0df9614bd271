import { useAddress } from "../address/address.ts";
import { EmptyProject } from "../search/empty-project.tsx";
import { RangePicker } from "../search/range-picker.tsx";
import { RefreshMenu } from "../search/refresh-menu.tsx";
import { useInstants } from "../search/use-instants.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { Empty, ErrorNote, ScreenHead } from "../shared/basic-controls.tsx";
import { Loaded, mostAtOnce } from "../shared/list-table.tsx";
import { PanelNote } from "../shared/panel-note.tsx";
import { say } from "../shared/translate.ts";
import { IncidentStrip } from "./incident-strip.tsx";
import { ServicesTable } from "./services-table.tsx";
import { useNewcomer } from "./use-newcomer.ts";

const standard = "now-24h";

/** The first screen: incidents, and all services compared with the day before. */
export function OverviewScreen() {
  const { parameters } = useAddress();
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
    <div className="page wide">
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
                  range={range}
                  isOld={overview.isPlaceholderData}
                />
              )}
          </>
        )}
      </Loaded>
    </div>
  );
}
