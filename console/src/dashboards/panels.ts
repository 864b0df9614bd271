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

/** The panels with one moved by so many places. */
export function moved(panels: LogPanel[], at: number, by: number): LogPanel[] {
  const next = [...panels];
  const [panel] = next.splice(at, 1);
  if (panel) next.splice(at + by, 0, panel);
  return next;
}
