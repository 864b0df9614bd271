import type { LogService } from "../service/logloom.ts";
import { changeOf, isSudden } from "../shared/change-words.ts";

/** The errors or records of a service in the range, and in its last part: lately. */
export interface Numbers {
  now: number;
  before: number;
  lately: number;
  latelyBefore: number;
}

export const errorsOf = (service: LogService): Numbers => ({
  now: service.errors,
  before: service.errors_before,
  lately: service.errors_over_time.at(-1) ?? 0,
  latelyBefore: service.errors_before_lately,
});
export const recordsOf = (service: LogService): Numbers => ({
  now: service.records,
  before: service.records_before,
  lately: service.records_over_time.at(-1) ?? 0,
  latelyBefore: service.records_before_lately,
});

const isMuchMore = ({ now, before, lately, latelyBefore }: Numbers) =>
  changeOf(now, before)?.isMuchMore === true || isSudden(lately, latelyBefore);
export const isFlooded = (service: LogService) =>
  service.records_before > 0 && isMuchMore(recordsOf(service));
export const isWorse = (service: LogService) => isMuchMore(errorsOf(service));

/** Services in trouble come first: many more errors, silent, many more records. Then by new errors and by size. */
export function byTrouble(services: LogService[]): LogService[] {
  const trouble = (service: LogService) =>
    [isFlooded(service), service.records === 0, isWorse(service)].lastIndexOf(true);
  const newErrors = ({ errors, errors_before }: LogService) => Math.max(0, errors - errors_before);
  return services.toSorted((a, b) =>
    trouble(b) - trouble(a) || newErrors(b) - newErrors(a) || b.records - a.records
  );
}
