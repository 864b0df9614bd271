import { change, useAddress } from "../address/address.ts";
import { Tabs } from "../shared/tabs.tsx";
import { say, type Words } from "../shared/translate.ts";
import { useFeatures } from "./reader-features.ts";
import type { Run } from "./search-run.ts";
import { Button } from "../shared/basic-controls.tsx";

const tabs = [
  ["records", "Records"],
  ["patterns", "Patterns"],
  ["changes", "What changed?"],
] as const satisfies [string, Words][];
export type Tab = (typeof tabs)[number][0];

/** The tab in the address. An aggregate and a live view have no tabs. */
export function useTab(run: Run): Tab {
  const wanted = useAddress().parameters.tab;
  const features = useFeatures();
  if (run.isAggregate || run.isLive) return "records";
  return tabs.find(([tab]) => tab === wanted && (tab === "records" || features[tab]))?.[0] ??
    "records";
}

/** The attributes of a tab's panel, or, shown elsewhere, of a section with a label. */
export function panelOf(tab: Tab, label?: string) {
  return label === undefined
    ? { id: `panel-${tab}`, role: "tabpanel", "aria-labelledby": `tab-${tab}` }
    : { "aria-label": label };
}

/** The tabs of a result: records, patterns, changes. */
export function ResultTabs({ tab }: { tab: Tab }) {
  const features = useFeatures();
  return (
    <Tabs
      className="tabs result-tabs"
      label={say("Results")}
      tabs={tabs.filter(([one]) => one === "records" || features[one])}
      chosen={tab}
      onChoose={(wanted) => change({ tab: wanted === "records" ? "" : wanted })}
    />
  );
}

/** A button to the changes of a range, while another tab is open. */
export function ChangesButton({ run }: { run: Run }) {
  const tab = useTab(run);
  const { changes } = useFeatures();
  if (!changes || run.isAggregate || run.isLive || tab === "changes") return null;
  return (
    <Button
      look="small"
      onClick={() => {
        change({ tab: "changes" });
        // The button disappears, so the keyboard focus moves to the tab.
        document.querySelector<HTMLElement>("#tab-changes")?.focus();
      }}
    >
      {say("What changed here?")}
    </Button>
  );
}
