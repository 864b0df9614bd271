import { useState } from "react";
import { change, useAddress } from "../address/address.ts";
import { IncidentView } from "./incident-view.tsx";
import { IncidentsTab } from "./incidents-tab.tsx";
import type { AlertRule } from "../service/logloom.ts";
import { useIsCustomer } from "../service/roles.ts";
import { Button, ScreenHead } from "../shared/basic-controls.tsx";
import { TabPanel, Tabs } from "../shared/tabs.tsx";
import { say, type Words } from "../shared/translate.ts";
import { ChannelsTab } from "./channels-tab.tsx";
import { HistoryTab } from "./history-tab.tsx";
import { RuleDialog } from "./rule-dialog.tsx";
import { RulesTab } from "./rules-tab.tsx";
import { SilencesTab } from "./silences-tab.tsx";

const tabs = [
  ["incidents", "Incidents"],
  ["rules", "Rules"],
  ["history", "History"],
  ["channels", "Channels"],
  ["silences", "Silences"],
] as const satisfies [string, Words][];
type Tab = (typeof tabs)[number][0];
/** Channels and silences are of the whole tenant. */
const ofCustomer = tabs.slice(0, 3);

/** Incidents, rules, the history of alerts, channels and silences. */
export default function AlertsScreen() {
  const { parameters } = useAddress();
  const [edited, setEdited] = useState<Partial<AlertRule> | null>(null);
  const offered = useIsCustomer() ? ofCustomer : tabs;
  const tab: Tab = offered.find(([name]) => name === parameters.tab)?.[0] ?? "incidents";
  if (parameters.incident) {
    return <IncidentView key={parameters.incident} id={parameters.incident} />;
  }
  return (
    <div className="page">
      <ScreenHead title={say("Alerts")}>
        <Button look="primary" onClick={() => setEdited({})}>{say("New rule")}</Button>
      </ScreenHead>
      <Tabs
        label={say("Alerts")}
        tabs={offered}
        chosen={tab}
        onChoose={(wanted) => change({ tab: wanted === "incidents" ? "" : wanted })}
      />
      <TabPanel tab={tab}>
        {tab === "incidents"
          ? <IncidentsTab />
          : tab === "rules"
          ? <RulesTab onEdit={setEdited} />
          : tab === "channels"
          ? <ChannelsTab onEdit={setEdited} />
          : tab === "silences"
          ? <SilencesTab />
          : <HistoryTab />}
      </TabPanel>
      {edited && (
        <RuleDialog
          initial={edited}
          onClose={() => setEdited(null)}
          onSaved={({ rule_id }) =>
            tab !== "channels" &&
            change({ tab: "rules", rule: edited.rule_id ? "" : rule_id })}
        />
      )}
    </div>
  );
}
