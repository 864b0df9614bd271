import type { LogRecord } from "../service/logloom.ts";

export interface Lane {
  service: string | null;
  /** Its records, with their places on the time line from 0 to 1. */
  marks: { record: LogRecord; place: number }[];
}

export interface Gap {
  from: number;
  to: number;
  ms: number;
}

/** The least part of the whole time that counts as a gap. */
export const leastGap = 0.1;

/** Records in the order of time, in a lane for each service, and the gaps in which none of them logged. */
export function lanesOf(records: LogRecord[]): { lanes: Lane[]; gaps: Gap[]; ms: number } {
  const times = records.map(({ ts }) => Date.parse(ts));
  const start = times[0] ?? 0;
  const ms = (times.at(-1) ?? start) - start;
  const placeOf = (time: number) => ms === 0 ? 0 : (time - start) / ms;
  const lanes = new Map<string | null, Lane>();
  for (const [i, record] of records.entries()) {
    const lane = lanes.get(record.service) ?? { service: record.service, marks: [] };
    lane.marks.push({ record, place: placeOf(times[i] ?? start) });
    lanes.set(record.service, lane);
  }
  const gaps = times.slice(1).flatMap((time, i) => {
    const before = times[i] ?? time;
    const isGap = ms > 0 && (time - before) / ms >= leastGap;
    return isGap ? [{ from: placeOf(before), to: placeOf(time), ms: time - before }] : [];
  });
  return { lanes: [...lanes.values()], gaps, ms };
}
