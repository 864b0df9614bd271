import type { Event } from "../query/event.ts";
import { readQuery } from "../query/language.ts";

// What the service must be like, in memory: a few maps, and the plain evaluator of queries.

export const day = 86_400_000;

/** When an event happened: at an hour of a day, or some hours ahead of now. */
export type When = { daysAgo: number; hour: number } | { hoursAhead: number };

/** An event as a command draws it. */
export interface Draft {
  when: When;
  level: "debug" | "info" | "warn" | "error";
  service: string;
  word: string;
  size: number;
}

/** A record as it has to be found. Its number is its own in all of a run. */
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

/** A request that was acknowledged, to be repeated to the letter. */
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

/** What a member may be; null: no member any more. */
export type Role = "viewer" | "member" | "admin" | "owner" | null;

/** What a viewer sees. */
export const viewQuery = "service:api";

export const retentionAtFirst = 30;

export class TenantModel {
  records: Kept[] = [];
  /** What is past the retention, which a block of several days may hold for a while. */
  expired: Kept[] = [];
  /** What was acknowledged since the tail last looked. */
  untailed: Kept[] = [];
  tailCursor: string | undefined;
  readonly requests: Request[] = [];
  readonly keys: Key[] = [];
  /** All that was ever acknowledged, which is what usage counts. */
  acknowledged = 0;
  /** When the record of a number was acknowledged. */
  readonly acknowledgedAt = new Map<number, number>();
  retentionDays = retentionAtFirst;
  role: Role = "member";

  acknowledge(records: Kept[]): void {
    this.records.push(...records);
    this.untailed.push(...records);
    this.acknowledged += records.length;
    for (const { attrs } of records) this.acknowledgedAt.set(attrs.n, Date.now());
  }

  /** The records that a query finds, if it is asked on this day. */
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

/** The beginning of the UTC day. */
export function today(): number {
  return Math.floor(Date.now() / day) * day;
}

export function timeOf(when: When): number {
  return "hoursAhead" in when
    ? Date.now() + when.hoursAhead * 3_600_000
    : today() - when.daysAgo * day + when.hour * 3_600_000;
}

/** All that there may be. */
export function everything(): Range {
  return { from: today() - 60 * day, to: today() + 3 * day };
}
