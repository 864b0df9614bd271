import { change, useAddress } from "../address/address.ts";
import { Tabs } from "../shared/tabs.tsx";
import { say, type Words } from "../shared/words.ts";
import { useFeatures } from "./features.ts";
import type { Run } from "./use-search.ts";

const tabs = [
  ["records", "Records"],
  ["patterns", "Patterns"],
  ["changes", "What changed?"],
] as const satisfies [string, Words][];
export type Tab = (typeof tabs)[number][0];

/** The tab of the address; an aggregate and a live view have the records alone. */
export function useTab(run: Run): Tab {
  const wanted = useAddress().parameters.tab;
  const features = useFeatures();
  if (run.isAggregate || run.isLive) return "records";
  return tabs.find(([tab]) => tab === wanted && (tab === "records" || features[tab]))?.[0] ??
    "records";
}

/** What is shown of the records that were found: themselves, their shapes, or what is different. */
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

/** The way from a range to what changed in it, while the tabs show something else. */
export function ChangesButton({ run }: { run: Run }) {
  const tab = useTab(run);
  const { changes } = useFeatures();
  if (!changes || run.isAggregate || run.isLive || tab === "changes") return null;
  return (
    <button
      type="button"
      className="button small"
      onClick={() => {
        change({ tab: "changes" });
        // The button goes: who came by keyboard stands on the tab.
        document.querySelector<HTMLElement>("#tab-changes")?.focus();
      }}
    >
      {say("What changed here?")}
    </button>
  );
}
