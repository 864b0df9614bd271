import { type KeyboardEvent, type ReactNode, useRef } from "react";
import { say, type Words } from "./translate.ts";

/** Tabs that also follow the arrow keys. The panel's id is `panel-NAME`. */
export function Tabs<Name extends string>({ label, tabs, chosen, onChoose, className = "tabs" }: {
  label: string;
  tabs: readonly (readonly [Name, Words])[];
  chosen: Name;
  onChoose: (name: Name) => void;
  className?: string;
}) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const at = tabs.findIndex(([name]) => name === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length]?.[0];
    if (step === 0 || next === undefined) return;
    onChoose(next);
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <div ref={list} className={className} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(([name, words]) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={name === chosen}
          aria-controls={name === chosen ? `panel-${name}` : undefined}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => onChoose(name)}
        >
          {say(words)}
        </button>
      ))}
    </div>
  );
}

/** The panel of the chosen tab. */
export function TabPanel({ tab, children }: { tab: string; children: ReactNode }) {
  return (
    <div id={`panel-${tab}`} role="tabpanel" aria-labelledby={`tab-${tab}`} className="tab-panel">
      {children}
    </div>
  );
}
