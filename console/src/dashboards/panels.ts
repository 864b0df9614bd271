import { type Words } from "../shared/words.ts";
import type { LogPanel } from "../service/logloom.ts";

/** The most panels of a dashboard. */
export const mostPanels = 20;

export const kinds: Record<LogPanel["kind"], Words> = {
  lines: "Over time",
  bars: "By group",
  number: "A number",
};

/** Widths that people choose from, of twelve columns. */
export const widths: [number, Words][] = [
  [3, "A quarter"],
  [4, "A third"],
  [6, "Half"],
  [8, "Two thirds"],
  [12, "The whole width"],
];

/** A panel where it was shown. Another tab may have changed the panels since. */
export interface Shown {
  panel: LogPanel;
  at: number;
}

/** What a dialog is open for: a panel, or a new one. */
export type Edited = Shown | { panel?: undefined };

/** Where it is now; -1 if it is gone. */
function placeOf({ panel, at }: Shown, panels: LogPanel[]): number {
  const isIt = (one: LogPanel | undefined) => JSON.stringify(one) === JSON.stringify(panel);
  return isIt(panels[at]) ? at : panels.findIndex(isIt);
}

export function without(panels: LogPanel[], shown: Shown): LogPanel[] {
  const place = placeOf(shown, panels);
  return panels.filter((_, i) => i !== place);
}

/** The panels with one moved by so many places. */
export function moved(panels: LogPanel[], shown: Shown, by: number): LogPanel[] {
  const place = placeOf(shown, panels);
  const next = without(panels, shown);
  if (place >= 0) next.splice(Math.max(0, place + by), 0, shown.panel);
  return next;
}

/** The panels with another one in its place, or at the end where it is gone, or new. */
export function replaced(panels: LogPanel[], edited: Edited, panel: LogPanel): LogPanel[] {
  const place = edited.panel ? placeOf(edited, panels) : -1;
  return place < 0 ? [...panels, panel] : panels.map((one, i) => i === place ? panel : one);
}
