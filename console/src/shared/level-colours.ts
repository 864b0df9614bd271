import type { Group } from "../service/logloom.ts";

const levels = ["debug", "info", "warn", "error"];

/** The level that all screens show in one colour, if this is a group by level alone. */
export function levelOf(group: Group | null, keys: string[]): string | null {
  if (group === null || keys.length !== 1 || keys[0] !== "level") return null;
  return levels.find((one) => one === group.level) ?? "none";
}
