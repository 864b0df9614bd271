import type { Event } from "../query/event.ts";
import { readQuery } from "../query/evaluator.ts";

// Models the service in memory by lists of records and the tests' simple evaluator of queries.

export const day = 86_400_000;

/** The time of an event: an hour of a past day, or some hours from now. */
export type When = { daysAgo: number; hour: number } | { hoursAhead: number };

/** An event drawn for a command. */
export interface Draft {
  when: When;
  level: "debug" | "info" | "warn" | "error";
  service: string;
  word: string;
  size: number;
}

/** A record that searches must find. n is unique in a run. */
export interface Kept {
  ts: number;
  level: Draft["level"];
  service: string;
  msg: string;
  attrs: { n: number; size: number };
}

export interface Range {
  from: number;
  to: number;
}

/** An acknowledged request, to be repeated unchanged. */
export interface Request {
  idempotencyKey: string;
  body: string;
  answer: unknown;
}

export interface Key {
  id: string;
  value: string;
  works: boolean;
}

/** The role of a member; null if the member was removed. */
export type Role = "viewer" | "member" | "admin" | "owner" | null;

/** The query of the viewers' view. */
export const viewQuery = "service:api";

export const retentionAtFirst = 30;

export class TenantModel {
  records: Kept[] = [];
  /** Records past the retention. A block of several days may keep them for a while. */
  expired: Kept[] = [];
  /** Records acknowledged since the last tail. */
  untailed: Kept[] = [];
  tailCursor: string | undefined;
  readonly requests: Request[] = [];
  readonly keys: Key[] = [];
  /** The number of all acknowledged records: usage counts them. */
  acknowledged = 0;
  /** The time of acknowledgement of each record, by its n. */
  readonly acknowledgedAt = new Map<number, number>();
  retentionDays = retentionAtFirst;
  role: Role = "member";

  acknowledge(records: Kept[]): void {
    this.records.push(...records);
    this.untailed.push(...records);
    this.acknowledged += records.length;
    for (const { attrs } of records) this.acknowledgedAt.set(attrs.n, Date.now());
  }

  /** Returns the records that a query finds on this day. */
  found(query: string, range: Range, today: number): Kept[] {
    return matching(this.records, query).filter(({ ts }) =>
      ts >= range.from && ts < range.to && this.keeps(ts, today)
    );
  }

  keeps(ts: number, today: number): boolean {
    return ts >= today - this.retentionDays * day;
  }

  forget(gone: Kept[]): void {
    const numbers = new Set(gone.map(({ attrs }) => attrs.n));
    const isLeft = ({ attrs }: Kept) => !numbers.has(attrs.n);
    this.records = this.records.filter(isLeft);
    this.untailed = this.untailed.filter(isLeft);
  }
}

export class Model {
  readonly tenants = [new TenantModel(), new TenantModel()];
  numbers = 0;
}

export function matching(records: Kept[], query: string): Kept[] {
  const { matches } = readQuery(query, Date.now() * 1000);
  return records.filter((record) => matches(eventOf(record)));
}

function eventOf({ ts, level, service, msg, attrs }: Kept): Event {
  return {
    id: "",
    ts: ts * 1000,
    received_at: 0,
    level,
    service,
    msg,
    env: null,
    req_id: null,
    user_id: null,
    route: null,
    host: null,
    attrs,
  };
}

/** Returns the beginning of the UTC day. */
export function today(): number {
  return Math.floor(Date.now() / day) * day;
}

export function timeOf(when: When): number {
  return "hoursAhead" in when
    ? Date.now() + when.hoursAhead * 3_600_000
    : today() - when.daysAgo * day + when.hour * 3_600_000;
}

/** Returns a range that covers all records. */
export function everything(): Range {
  return { from: today() - 60 * day, to: today() + 3 * day };
}
