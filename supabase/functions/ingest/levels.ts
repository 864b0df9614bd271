import { markedNumber, numberText } from "../_shared/numbers.ts";
import { isObject, scalarText } from "./json_reader.ts";
import { levelWords } from "../_shared/record_fields.ts";

export type Level = keyof typeof levelWords;

const levels: ReadonlyMap<string, Level> = new Map(
  (Object.entries(levelWords) as [Level, readonly string[]][]).flatMap(([level, words]) =>
    words.map((word): [string, Level] => [word, level])
  ),
);

/** The level of a lower-case word, of pino's number (35 is info, 70 is error), or of Python's `Level 25`. */
export function levelOf(lower: string): Level | null {
  const named = levels.get(lower);
  if (named !== undefined) return named;
  if (/^[1-9]\d(?:\.\d+)?$/.test(lower)) return byBands(Number(lower), 30, 40, 50);
  // OpenTelemetry's short names of severity numbers, such as warn3.
  const numbered = /^(trace|info|warn|error|fatal)[2-4]$/.exec(lower)?.[1];
  if (numbered !== undefined) return levelOf(numbered);
  // Go's slog writes levels between its four as a distance: info+2.
  const [, near, distance] = /^(debug|info|warn|error)([+-]\d{1,4})$/.exec(lower) ?? [];
  if (near !== undefined) return byBands(slogLevels[near] + Number(distance), 0, 4, 8);
  // Python's name for an unnamed level.
  const python = /^level (\d{1,3})$/.exec(lower)?.[1];
  return python === undefined ? null : byBands(Number(python), 20, 30, 40);
}

const slogLevels: Readonly<Record<string, number>> = { debug: -4, info: 0, warn: 4, error: 8 };

/** The level of a letter, as glog, MongoDB and semantic_logger write it; MongoDB's debug levels are D1 to D5. */
export function levelOfLetter(letter: string): Level | null {
  return letterLevels[letter.replace(/^D[1-5]$/, "D")] ?? null;
}

const letterLevels: Readonly<Record<string, Level>> = {
  D: "debug",
  I: "info",
  W: "warn",
  E: "error",
  F: "error",
};

/** A severity of syslog: 0 emergency to 7 debug. */
export function syslogLevelOf(text: string): Level | null {
  if (!/^[0-7]$/.test(text)) return null;
  const severity = Number(text);
  if (severity <= 3) return "error";
  return severity === 4 ? "warn" : severity === 7 ? "debug" : "info";
}

/** OpenTelemetry's severity number; null for 0 and other values. */
export function otlpLevelOf(severity: number): Level | null {
  if (!(severity >= 1 && severity <= 24)) return null;
  return byBands(severity, 9, 13, 17);
}

function byBands(number: number, info: number, warn: number, error: number): Level {
  if (number < info) return "debug";
  if (number < warn) return "info";
  return number < error ? "warn" : "error";
}

/** The level of an HTTP status, or undefined. */
export function levelOfStatus(status: string | undefined): Level | undefined {
  const code = Number(status ?? NaN);
  if (!(code >= 100 && code <= 599)) return undefined;
  if (code >= 500) return "error";
  return code >= 400 ? "warn" : "info";
}

/** The text of a possible level, which log4js and others put into an object; undefined if there is none. */
export function levelText(value: unknown): string | undefined {
  if (typeof value === "string") return (markedNumber(value) ?? value).trim();
  if (isObject(value)) return scalarText(value.name ?? value.levelStr)?.trim();
  return typeof value === "number" ? numberText(value) : undefined;
}
