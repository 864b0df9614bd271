import { type CallOptions, createCall, pause } from "./service.ts";
import type { ReaderOptions, Session, SupabaseClientLike } from "./service.ts";
import { idOf, type Item, type ListName, type Operations } from "./operations.ts";
import type {
  Field,
  Histogram,
  LogPage,
  LogRecord,
  QueryValidity,
  Series,
  StatRow,
} from "./types.ts";

/** `15m`, `24h`, `7d` ago, `now-1h`, an ISO 8601 time, or a Date. */
export type Time = string | Date;

export interface RangeOptions extends CallOptions {
  /** The last hour unless told otherwise. */
  readonly since?: Time;
  readonly until?: Time;
}

export interface RecordsOptions extends RangeOptions {
  /** The newest first unless told otherwise. */
  readonly order?: "asc" | "desc";
}

export interface SearchOptions extends RecordsOptions {
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

export interface ChartOptions extends RangeOptions {
  readonly buckets?: number;
}

export interface RecordOptions extends CallOptions {
  /** The record's own `ts`, which makes the search faster. */
  readonly ts?: string;
}

export interface TailOptions extends CallOptions {
  /** How many older records to begin with. */
  readonly backlog?: number;
}

export interface Reader {
  /** A page of records. */
  search(query: string, options?: SearchOptions): Promise<LogPage>;
  /** All records of a range, page after page. */
  records(query: string, options?: RecordsOptions): AsyncGenerator<LogRecord, void, undefined>;
  /** New records as they become visible, each once; the wait for an unreachable service has no end but `signal`. */
  tail(query: string, options?: TailOptions): AsyncGenerator<LogRecord, void, undefined>;
  get(id: string, options?: RecordOptions): Promise<LogRecord>;
  /** A record and its neighbours. */
  context(
    id: string,
    options?: RecordOptions & { readonly before?: number; readonly after?: number },
  ): Promise<LogRecord[]>;
  stats(query: string, options?: RangeOptions & { readonly limit?: number }): Promise<StatRow[]>;
  series(query: string, options?: ChartOptions): Promise<Series>;
  histogram(query: string, options?: ChartOptions): Promise<Histogram>;
  fields(query?: string, options?: RangeOptions): Promise<Field[]>;
  validate(query: string, options?: CallOptions): Promise<QueryValidity>;
  /** Any reading operation, by its name. */
  call<Name extends keyof Operations>(
    operation: Name,
    parameters: Operations[Name]["parameters"],
    options?: CallOptions,
  ): Promise<Operations[Name]["answer"]>;
  /** All items of a list, page after page. */
  list<Name extends ListName>(
    operation: Name,
    parameters?: Omit<Operations[Name]["parameters"], "p_after">,
    options?: CallOptions,
  ): AsyncGenerator<Item<Name>, void, undefined>;
}

const pageSize = 500;
const tailEveryMs = 1000;

/** Reads logs as the user of a session: of a supabase-js client, or named by an access token. */
export function createReader(
  source: SupabaseClientLike | Session,
  options: ReaderOptions = {},
): Reader {
  const calling = createCall(source, options);

  async function call<Name extends keyof Operations>(
    operation: Name,
    parameters: Operations[Name]["parameters"],
    options: CallOptions & { patienceMs?: number } = {},
  ): Promise<Operations[Name]["answer"]> {
    // The service answers as Operations says.
    return await calling(operation, parameters, options) as Operations[Name]["answer"];
  }

  const search: Reader["search"] = (query, options = {}) => {
    const { order, limit, cursor } = options;
    return call("search_logs", {
      ...asked(query, options),
      p_order: order,
      p_limit: limit,
      p_cursor: cursor,
    }, options);
  };

  return {
    search,
    async *records(query, options = {}) {
      let cursor: string | undefined;
      do {
        const page = await search(query, { ...options, limit: pageSize, cursor });
        yield* page.logs;
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
    },
    async *tail(query, { backlog, signal } = {}) {
      let tail = await call("tail_logs", { p_query_dsl: query, p_backlog: backlog }, { signal });
      for (;;) {
        yield* tail.logs;
        if (!tail.more) await pause(tailEveryMs, signal);
        const next = { p_query_dsl: query, p_cursor: tail.next_cursor, p_limit: 1000 };
        tail = await call("tail_logs", next, { signal, patienceMs: Infinity });
      }
    },
    get: (id, options = {}) => call("get_log", { p_id: id, p_ts: options.ts }, options),
    context(id, options = {}) {
      const { ts, before, after } = options;
      const parameters = { p_id: id, p_ts: ts, p_before: before, p_after: after };
      return call("get_log_context", parameters, options);
    },
    stats: (query, options = {}) =>
      call("log_stats", { ...asked(query, options), p_limit: options.limit }, options),
    series: (query, options = {}) =>
      call("log_series", { ...asked(query, options), p_buckets: options.buckets }, options),
    histogram: (query, options = {}) =>
      call("log_histogram", { ...asked(query, options), p_buckets: options.buckets }, options),
    fields: (query = "", options = {}) => call("list_log_fields", asked(query, options), options),
    validate: (query, options) => call("validate_query", { p_query_dsl: query }, options),
    call,
    async *list(operation, parameters, options) {
      let after: string | undefined;
      for (;;) {
        const asked = { p_limit: 1000, ...parameters, p_after: after };
        const page = await call(operation, asked, options);
        if (page.length === 0) return;
        yield* page;
        const last: Record<string, unknown> = { ...page[page.length - 1] };
        after = String(last[idOf[operation]]);
      }
    },
  };
}

function asked(query: string, { since, until }: RangeOptions) {
  return { p_query_dsl: query, p_ts_from: timeOf(since), p_ts_to: timeOf(until) };
}

function timeOf(time: Time | undefined): string | undefined {
  if (time instanceof Date) return time.toISOString();
  return time !== undefined && /^\d+[smhdw]$/.test(time) ? `now-${time}` : time;
}
