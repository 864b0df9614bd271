import type { View, Views } from "./handler.ts";

/**
 * What the endpoints show while the database is away: what cannot be known is null. A test holds its
 * members against those that the database shows.
 */
export function away(now: Date): Views {
  const queue = { depth: null, oldest_item_age_seconds: null, dead_letters: null };
  const writer = {
    last_run: null,
    last_duration_ms: null,
    seconds_since_run: null,
  };
  const partitions = {
    current_partition: partitionName(now, 0),
    current_exists: null,
    next_partition: partitionName(now, 1),
    next_exists: null,
  };
  const status = "unhealthy";
  return {
    ready: view(false, { queue: { depth: null }, writer: { status } }),
    queue: view(true, { queue }),
    writer: view(true, { writer }),
    partitions: view(true, { partitions }),
    detailed: view(false, {
      queue: { status, ...queue },
      writer: { status, ...writer },
      partitions: { status, ...partitions },
    }),
  };
}

function view(available: boolean, checks: unknown): View {
  return { available, status: "unhealthy", checks };
}

function partitionName(now: Date, daysAhead: number): string {
  const day = new Date(now.getTime() + daysAhead * 86_400_000);
  return `logs_${day.toISOString().slice(0, 10).replaceAll("-", "_")}`;
}
