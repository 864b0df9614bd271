import { type Words } from "../shared/translate.ts";
import type { LogPanel } from "../service/logloom.ts";

export const mostPanels = 20;

export const kinds: Record<LogPanel["kind"], Words> = {
  lines: "Over time",
  bars: "By group",
  number: "Number",
};

/** The widths to choose from, in twelfths of the page. */
export const widths: [number, Words][] = [
  [3, "A quarter"],
  [4, "A third"],
  [6, "Half"],
  [8, "Two thirds"],
  [12, "The whole width"],
];

/** A panel and its shown position. Another tab may have changed the panels since. */
export interface Shown {
  panel: LogPanel;
  at: number;
}

/** The panel that a dialog edits, or a new panel. */
export type Edited = Shown | { panel?: undefined };

/** The panel's current position, or -1 if it was removed. */
function placeOf({ panel, at }: Shown, panels: LogPanel[]): number {
  const isIt = (one: LogPanel | undefined) => JSON.stringify(one) === JSON.stringify(panel);
  return isIt(panels[at]) ? at : panels.findIndex(isIt);
}

export function without(panels: LogPanel[], shown: Shown): LogPanel[] {
  const place = placeOf(shown, panels);
  return panels.filter((_, i) => i !== place);
}

/** The panels with one panel moved to a position. */
export function moved(panels: LogPanel[], shown: Shown, to: number): LogPanel[] {
  const next = without(panels, shown);
  if (placeOf(shown, panels) >= 0) next.splice(Math.max(0, to), 0, shown.panel);
  return next;
}

/** The panels, with a removed panel restored to its position. */
export function restored(panels: LogPanel[], { panel, at }: Shown): LogPanel[] {
  return panels.toSpliced(at, 0, panel);
}

/** The panels with the edited one replaced. A new or removed panel is added at the end. */
export function replaced(panels: LogPanel[], edited: Edited, panel: LogPanel): LogPanel[] {
  const place = edited.panel ? placeOf(edited, panels) : -1;
  return place < 0 ? [...panels, panel] : panels.map((one, i) => i === place ? panel : one);
}
