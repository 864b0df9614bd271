export type Status = "healthy" | "degraded" | "unhealthy";

/** The content of an endpoint: from the database, or from `away` while the database is unreachable. */
export interface View {
  /** 200, otherwise 503. */
  readonly available: boolean;
  readonly status: Status;
  readonly checks: Readonly<Record<string, unknown>>;
}

/** The part of `health_report` that is used here: a view for each endpoint, by name. */
export type Views = Readonly<Record<string, View | undefined>>;

/**
 * The endpoints while the database is unreachable, with the reason. Unknown values are null. A test checks that the
 * database's report has the same members.
 */
export function away(now: Date, why: string): Views {
  const reason = `Not known: ${why}`;
  const queue = { depth: null, oldest_item_age_seconds: null, dead_letters: null, reason };
  const writer = { last_run: null, last_duration_ms: null, seconds_since_run: null, reason };
  const partitions = {
    current_partition: partitionName(now, 0),
    current_exists: null,
    next_partition: partitionName(now, 1),
    next_exists: null,
    reason,
  };
  const status = "unhealthy";
  const database = { status, reason: why };
  return {
    ready: view(false, { database, queue: { depth: null, reason }, writer: { status, reason } }),
    queue: view(true, { queue }),
    writer: view(true, { writer }),
    partitions: view(true, { partitions }),
    detailed: view(false, {
      database,
      queue: { status, ...queue },
      writer: { status, ...writer },
      partitions: { status, ...partitions },
    }),
  };
}

function view(available: boolean, checks: View["checks"]): View {
  return { available, status: "unhealthy", checks };
}

function partitionName(now: Date, daysAhead: number): string {
  const day = new Date(now.getTime() + daysAhead * 86_400_000);
  return `logs_${day.toISOString().slice(0, 10).replaceAll("-", "_")}`;
}
