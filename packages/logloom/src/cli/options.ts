import { Failure } from "./failure.ts";

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };

/** `1h` means `now-1h`; times and words of the service stay unchanged. */
export function timeOf(option: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}[smhdw]$/.test(text)) return `now-${text}`;
  if (/^now/.test(text) || /^\d{4}-\d\d-\d\d/.test(text)) return text;
  const units = Object.keys(unitSeconds).join(", ");
  throw new Failure(
    `${option} takes a while such as 15m (${units}), a time such as 2026-11-21T10:00, or now-1h, ` +
      `not ${text}.`,
  );
}

/** Returns the seconds of `15m` or `now-15m`; undefined for a point in time. */
export function secondsOf(text: string): number | undefined {
  const [, count, unit] = /^(?:now-)?(\d+)([smhdw])$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * unitSeconds[unit];
}

/** Returns a duration as words that can follow "the last": `hour`, `2 hours`, `90 minutes`. */
export function whileOf(seconds: number): string {
  const [name, unit] = ([["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]] as const)
    .find(([, unit]) => seconds % unit === 0)!;
  const count = seconds / unit;
  return count === 1 ? name : `${count} ${name}s`;
}

export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Failure(`${option} takes a whole number from ${least} to ${most}, not ${text}.`);
}

/** Returns an environment variable. An empty one counts as unset. */
export function environment(name: string): string | undefined {
  return process.env[name] || undefined;
}
