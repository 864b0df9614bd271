import { useEffect, useState } from "react";
import { change, useAddress } from "../address/address.ts";
import { standardRange } from "../address/range.ts";
import { RangePicker } from "../search/range-picker.tsx";
import { EarlierSelect } from "../search/earlier-select.tsx";
import { RefreshMenu } from "../search/refresh-menu.tsx";
import { useInstants } from "../search/use-instants.ts";
import { useOperation } from "../service/operation-hooks.ts";
import type { LogDashboard } from "../service/logloom.ts";
import { useIsCustomer, useMay } from "../service/roles.ts";
import { useUserId } from "../service/session.ts";
import { Button, Empty, ErrorNote, ScreenHead } from "../shared/basic-controls.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import { Loaded } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { DashboardVariables, useFilledPanels } from "./dashboard-variables.tsx";
import { DashboardDialog } from "./dashboard-dialog.tsx";
import { Panel } from "./dashboard-panel.tsx";
import { PanelDialog } from "./panel-dialog.tsx";
import {
  type Edited,
  mostPanels,
  moved,
  replaced,
  restored,
  type Shown,
  without,
} from "./edit-panels.ts";
import { PanelTools } from "./panel-tools.tsx";
import { type PanelsChange, usePanelsChange } from "./use-panels-change.ts";

/** A dashboard: panels on a grid of twelve columns, all over the range in the address. */
export function DashboardView({ id }: { id: string }) {
  const answer = useOperation("get_log_dashboard", { p_dashboard_id: id });
  return (
    <div className="page">
      <Loaded
        answer={answer}
        missing={
          <Empty title={say("This dashboard does not exist, or is not shared with you")}>
            {allDashboards()}
          </Empty>
        }
      >
        {(dashboard) => <DashboardPage dashboard={dashboard} />}
      </Loaded>
    </div>
  );
}

const allDashboards = () => (
  <Button onClick={() => change({ id: "" })}>{say("All dashboards")}</Button>
);

function DashboardPage({ dashboard }: { dashboard: LogDashboard }) {
  const { parameters } = useAddress();
  const mayChange = useMay("member");
  const isMine = useUserId() === dashboard.created_by && mayChange === true;
  const isCustomer = useIsCustomer();
  const range = {
    from: parameters.from || standardRange.from,
    to: parameters.to || standardRange.to,
  };
  const { instants, again } = useInstants(range);
  const [isNaming, setNaming] = useState(false);
  const [edited, setEdited] = useState<Edited | null>(null);
  const [dragged, setDragged] = useState<Shown | null>(null);
  const [removed, setRemoved] = useState<Shown | null>(null);
  const save = usePanelsChange();
  const { panels } = dashboard;
  const filled = useFilledPanels(dashboard);
  const put = (change: PanelsChange["change"]) => save.mutate({ dashboard, change });
  const isOwn = edited !== null && save.variables?.edited === edited;
  const edit = (what: Edited) => {
    // Clears the error of an earlier change.
    if (!save.isPending) save.reset();
    setEdited(what);
  };
  useEffect(() => {
    document.title = `${plain(dashboard.name)} · Logloom`;
  }, [dashboard.name, parameters]);
  return (
    <>
      <ScreenHead title={plain(dashboard.name)}>
        {isCustomer && allDashboards()}
        <DashboardVariables dashboard={dashboard} instants={instants} />
        <RangePicker range={range} isLive={false} />
        <EarlierSelect />
        <RefreshMenu again={again} />
        {!isCustomer && <CopyButton text={() => location.href} label={say("Copy link")} look="" />}
        {isMine && (
          <>
            <Button onClick={() => setNaming(true)}>{say("Name and sharing")}</Button>
            <Button look="primary" disabled={panels.length >= mostPanels} onClick={() => edit({})}>
              {say("New panel")}
            </Button>
          </>
        )}
      </ScreenHead>
      {!isOwn && <ErrorNote error={save.error} />}
      {removed && (
        <p className="note" role="status">
          <span>{say("{title} was removed.", { title: plain(removed.panel.title) })}</span>
          <Button
            look="small"
            disabled={save.isPending}
            onClick={() => {
              put((now) => restored(now, removed));
              setRemoved(null);
            }}
          >
            {say("Undo")}
          </Button>
        </p>
      )}
      {panels.length === 0 && <Empty title={say("No panels yet")} />}
      <div className="panels">
        {panels.map((panel, at) => (
          <Panel
            key={`${at} ${panel.title}`}
            panel={filled[at] ?? panel}
            range={range}
            instants={instants}
            onDrop={dragged && (() => {
              setDragged(null);
              if (dragged.at !== at) put((now) => moved(now, dragged, at));
            })}
            tools={isMine && (
              <PanelTools
                shown={{ panel, at }}
                isBusy={save.isPending}
                onDrag={setDragged}
                onMove={(to) => put((now) => moved(now, { panel, at }, to))}
                onEdit={() => edit({ panel, at })}
                onRemove={() => {
                  put((now) => without(now, { panel, at }));
                  setRemoved({ panel, at });
                }}
              />
            )}
          />
        ))}
      </div>
      {isNaming && <DashboardDialog initial={dashboard} onClose={() => setNaming(false)} />}
      {edited !== null && (
        <PanelDialog
          initial={edited.panel}
          isBusy={save.isPending}
          error={isOwn ? save.error : null}
          onClose={() => setEdited(null)}
          onSave={(panel) =>
            save.mutate({ dashboard, change: (now) => replaced(now, edited, panel), edited }, {
              // Another dialog may be open by now.
              onSuccess: () => setEdited((now) => now === edited ? null : now),
            })}
        />
      )}
    </>
  );
}
