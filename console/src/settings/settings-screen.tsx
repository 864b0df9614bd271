import { change, useAddress } from "../address/address.ts";
import { ArchiveTab } from "../archive/archive-tab.tsx";
import { IngestRulesTab } from "../ingest-rules/ingest-rules-tab.tsx";
import { useMay, useTenants } from "../service/roles.ts";
import { ScreenHead } from "../shared/basic-controls.tsx";
import { Loaded } from "../shared/list-table.tsx";
import { TabPanel, Tabs } from "../shared/tabs.tsx";
import { say, type Words } from "../shared/translate.ts";
import { StreamsTab } from "../streams/streams-tab.tsx";
import { AuditTab } from "./audit-tab.tsx";
import { CustomersTab } from "./customers-tab.tsx";
import { TenantTab } from "./tenant-tab.tsx";

const tabs = [
  ["tenant", "Tenant"],
  ["rules", "Ingest rules"],
  ["streams", "Log streams"],
  ["customers", "Customers"],
  ["archive", "Archive"],
  ["audit", "Audit"],
] as const satisfies [string, Words][];
type Tab = (typeof tabs)[number][0];

/** The tenant's settings, ingest rules, log streams, archive and audit, and what customers made. */
export default function SettingsScreen() {
  const mayChange = useMay("admin");
  const tenants = useTenants();
  const { parameters } = useAddress();
  const isMember = useMay("member") !== false;
  // Only admins may see streams, whose addresses may be secrets. Viewers have no archive and no rules.
  const offered = tabs.filter(([name]) =>
    name === "streams" || name === "customers"
      ? mayChange !== false
      : name === "archive" || name === "rules"
      ? isMember
      : true
  );
  const tab: Tab = offered.find(([name]) => name === parameters.tab)?.[0] ?? "tenant";
  return (
    <div className="page">
      <ScreenHead
        title={say("Settings")}
        about={mayChange === false ? say("Only admins can change these.") : undefined}
      />
      <Tabs
        label={say("Settings")}
        tabs={offered}
        chosen={tab}
        onChoose={(wanted) => change({ tab: wanted === "tenant" ? "" : wanted })}
      />
      <TabPanel tab={tab}>
        {tab === "streams" || tab === "customers"
          ? !mayChange
            ? <Loaded answer={tenants}>{() => null}</Loaded>
            : tab === "streams"
            ? <StreamsTab />
            : <CustomersTab />
          : tab === "rules"
          ? <IngestRulesTab />
          : tab === "archive"
          ? <ArchiveTab />
          : tab === "audit"
          ? <AuditTab />
          : <TenantTab mayChange={mayChange} />}
      </TabPanel>
    </div>
  );
}
