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

export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Failure(`${option} takes a whole number from ${least} to ${most}, not ${text}.`);
}

/** An environment variable; empty counts as unset. */
export function environment(name: string): string | undefined {
  return process.env[name] || undefined;
}
