import { type CallOptions, createService, pause, type SealOptions } from "./service.ts";
import type { ReaderOptions, ReadKey, Session, SupabaseClientLike } from "./service.ts";
import type { Operations } from "./operations.ts";
import type {
  Field,
  HealthReport,
  Histogram,
  LogExport,
  LogPage,
  LogRecord,
  LogTail,
  QueryValidity,
  Series,
  StatRow,
} from "./types.ts";

export type OperationName = keyof Operations;
export type ParametersOf<Name extends OperationName> = Operations[Name]["parameters"];
export type AnswerOf<Name extends OperationName> = Operations[Name]["answer"];

/** The operations that return a list in pages. */
export type ListName = {
  [Name in OperationName]: Name extends `list_${string}`
    ? "p_after" extends keyof ParametersOf<Name> ? Name : never
    : never;
}[OperationName];

/** The member whose value asks for the next page of a list. */
const idOf: Record<ListName, string> = {
  list_error_groups: "fingerprint",
  list_saved_searches: "id",
  list_alert_rules: "rule_id",
  list_alert_history: "alert_id",
  list_alert_incidents: "incident_id",
  list_alert_silences: "silence_id",
  list_alert_deliveries: "delivery_id",
  list_alert_addresses: "email",
  list_tenant_members: "user_id",
  list_api_keys: "key_id",
  list_log_dashboards: "dashboard_id",
  list_log_tenants: "tenant_id",
  list_log_views: "view_id",
  list_log_streams: "stream_id",
  list_log_stream_failures: "failure_id",
  list_log_archive: "part_id",
  list_log_archive_restores: "restore_id",
  list_log_portal_sessions: "session_id",
  list_portal_things: "thing_id",
  list_audit_events: "event_id",
  list_tenant_audit_events: "event_id",
  list_log_retention_runs: "run_id",
};

export type Item<Name extends ListName> = AnswerOf<Name>[number];

/** A duration before now (`15m`, `24h`, `7d`), `now-1h`, an ISO 8601 time, or a Date. */
export type Time = string | Date;

export interface RangeOptions extends CallOptions {
  /** Default: the last hour. */
  readonly since?: Time;
  readonly until?: Time;
}

export interface RecordsOptions extends RangeOptions {
  /** Default: newest first. */
  readonly order?: "asc" | "desc";
}

export interface SearchOptions extends RecordsOptions {
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string;
}

export interface ExportOptions extends RangeOptions {
  /** Default: oldest first. */
  readonly order?: "asc" | "desc";
  /** Default: one record as JSON in each line. */
  readonly format?: "ndjson" | "csv";
  /** The `next_cursor` of an earlier page, to continue after it. */
  readonly cursor?: string;
  /** The `<ts>,<id>` of the last record of an earlier export, to continue after it. */
  readonly after?: string;
}

export interface ChartOptions extends RangeOptions {
  readonly buckets?: number;
}

export interface RecordOptions extends CallOptions {
  /** The record's own `ts`, which makes the search faster. */
  readonly ts?: string;
}

export interface TailOptions extends CallOptions {
  /** How many existing records to begin with. */
  readonly backlog?: number;
  /** The `next_cursor` of an earlier page, to continue after it. */
  readonly cursor?: string;
}

export interface Reader {
  /** A page of records. */
  search(query: string, options?: SearchOptions): Promise<LogPage>;
  /** All records of a range, page after page. */
  records(query: string, options?: RecordsOptions): AsyncGenerator<LogRecord, void, undefined>;
  /** All records of a range as text, page after page, with every digit of their numbers. */
  export(query: string, options?: ExportOptions): AsyncGenerator<LogExport, void, undefined>;
  /**
   * Yields new records once they are visible, each record once. Waits for an unreachable service until `signal` is
   * aborted.
   */
  tail(query: string, options?: TailOptions): AsyncGenerator<LogRecord, void, undefined>;
  /** Like tail, but yields pages, which may be empty: one a second, or at once if there are more records. */
  tailPages(query: string, options?: TailOptions): AsyncGenerator<LogTail, void, undefined>;
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
  /** Returns the service's health report. `name` is the name of the function `health` in the project. */
  health(name?: string, options?: CallOptions): Promise<HealthReport>;
  /** Encrypts secrets for an operation's `p_secrets`. `by`: the function that uses them. */
  seal(
    by: "ingest" | "logloom-notify" | "logloom-stream",
    secrets: Record<string, string>,
    options?: SealOptions,
  ): Promise<Record<string, string>>;
  /** Any operation, by its name. */
  call<Name extends OperationName>(
    operation: Name,
    parameters: ParametersOf<Name>,
    options?: CallOptions,
  ): Promise<AnswerOf<Name>>;
  /** All items of a list, page after page. */
  list<Name extends ListName>(
    operation: Name,
    parameters?: Omit<ParametersOf<Name>, "p_after">,
    options?: CallOptions,
  ): AsyncGenerator<Item<Name>, void, undefined>;
}

const pageSize = 1000;
const tailEveryMs = 1000;

/** Reads logs as the user of a supabase-js client or of an access token, or with an API key of the scope `read`. */
export function createReader(
  source: SupabaseClientLike | Session | ReadKey,
  options: ReaderOptions = {},
): Reader {
  const service = createService(source, options);

  async function call<Name extends OperationName>(
    operation: Name,
    parameters: ParametersOf<Name>,
    options?: CallOptions,
  ): Promise<AnswerOf<Name>> {
    // The service answers as Operations says.
    return await service.call(operation, parameters, options) as AnswerOf<Name>;
  }

  const tailPages: Reader["tailPages"] = async function* (query, options = {}) {
    const { backlog, cursor, ...calling } = options;
    const first = { p_query_dsl: query, p_backlog: backlog, p_cursor: cursor, p_limit: pageSize };
    let page = await call("tail_logs", first, calling);
    for (;;) {
      yield page;
      if (!page.more) await pause(tailEveryMs, options.signal);
      const next = { p_query_dsl: query, p_cursor: page.next_cursor, p_limit: pageSize };
      page = await call("tail_logs", next, { ...calling, patienceMs: Infinity });
    }
  };

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
    async *export(query, options = {}) {
      const { format, order, after } = options;
      const parameters = { ...asked(query, options), p_format: format, p_order: order };
      let place: { p_cursor?: string; p_after?: string } = {
        p_cursor: options.cursor,
        p_after: after,
      };
      for (;;) {
        const page = await call("export_logs", { ...parameters, ...place }, options);
        yield page;
        if (page.next_cursor === null) return;
        place = { p_cursor: page.next_cursor };
      }
    },
    async *tail(query, options) {
      for await (const { logs } of tailPages(query, options)) yield* logs;
    },
    tailPages,
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
    health: (name = "health", options) => service.health(name, options),
    seal: service.seal,
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
