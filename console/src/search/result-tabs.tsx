import { type KeyboardEvent, useRef } from "react";
import { change, useAddress } from "../address/address.ts";
import { say } from "../shared/words.ts";
import { useFeatures } from "./features.ts";
import type { Run } from "./use-search.ts";

const tabs = ["records", "patterns", "changes"] as const;
export type Tab = (typeof tabs)[number];

const words: Record<Tab, string> = {
  records: "Records",
  patterns: "Patterns",
  changes: "What changed?",
};

/** The tab of the address; an aggregate and a live view have the records alone. */
export function useTab(run: Run): Tab {
  const wanted = useAddress().parameters.tab;
  const features = useFeatures();
  if (run.isAggregate || run.isLive) return "records";
  return tabs.find((tab) => tab === wanted && (tab === "records" || features[tab])) ?? "records";
}

/** What is shown of the records that were found: themselves, their shapes, or what is different. */
export function ResultTabs({ tab }: { tab: Tab }) {
  const features = useFeatures();
  const list = useRef<HTMLDivElement>(null);
  const shown = tabs.filter((one) => one === "records" || features[one]);
  const choose = (wanted: Tab) => change({ tab: wanted === "records" ? "" : wanted });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = shown[(shown.indexOf(tab) + step + shown.length) % shown.length];
    if (step === 0 || !next) return;
    choose(next);
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <div
      ref={list}
      className="tabs result-tabs"
      role="tablist"
      aria-label={say("Results")}
      onKeyDown={onKeyDown}
    >
      {shown.map((one) => (
        <button
          key={one}
          type="button"
          role="tab"
          id={`tab-${one}`}
          aria-selected={one === tab}
          aria-controls={one === tab ? "result-panel" : undefined}
          tabIndex={one === tab ? 0 : -1}
          onClick={() => choose(one)}
        >
          {say(words[one])}
        </button>
      ))}
    </div>
  );
}
