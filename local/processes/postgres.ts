import postgres from "postgres";
import type { ProcessDefinition } from "../supervisor.ts";
import { databasePassword, databaseUrl, type Stack } from "../stack.ts";
import type { System } from "../system.ts";

/** One server of a stack: the only one, the coordinator, or a worker. */
export interface Node {
  /** The process's name: everything connects to postgres. */
  name: string;
  port: number;
  /** The folder of its files, as PostgreSQL sees it. */
  data: string;
}

/** Returns the server that everything connects to; with Citus, the coordinator. */
export function firstNode(system: System, stack: Stack): Node {
  return { name: "postgres", port: stack.ports.postgres, data: `${system.folder(stack)}/data` };
}

/** Returns the workers of a sharded stack, from 1. */
export function workerNodes(system: System, stack: Stack, workers: number): Node[] {
  return stack.ports.workers.slice(0, workers).map((port, index) => ({
    name: `postgres-${index + 1}`,
    port,
    data: `${system.folder(stack)}/data-${index + 1}`,
  }));
}

/** Settings for a machine with two cores. All others are PostgreSQL's defaults. */
const settings: Record<string, string> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // Shared memory is in the data folder, because /dev/shm of the Debian root is not cleared at boot.
  dynamic_shared_memory_type: "mmap",
  shared_preload_libraries: "pg_cron,pg_stat_statements",
  "cron.database_name": "postgres",
  "cron.use_background_workers": "on",
  "cron.timezone": "UTC",
  "cron.log_statement": "off",
  timezone: "UTC",
  log_timezone: "UTC",
  // These three are the settings of a small hosted instance.
  max_connections: "60",
  statement_timeout: "2min",
  extra_float_digits: "0",
  max_worker_processes: "16",
  shared_buffers: "512MB",
  effective_cache_size: "2GB",
  maintenance_work_mem: "128MB",
  wal_level: "replica",
  // Base backups and replicas need this, as on hosted projects.
  max_wal_senders: "5",
  max_logical_replication_workers: "0",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  wal_compression: "lz4",
  default_toast_compression: "lz4",
  random_page_cost: "1.1",
  jit: "off",
  log_line_prefix: "%m [%p] %q%u@%d ",
  // Statements are not logged, because they may contain a tenant's data.
  log_min_error_statement: "panic",
  log_parameter_max_length: "0",
};

/** Further settings for one of several nodes. */
const nodeSettings: Record<string, string> = {
  "citus.node_conninfo": "sslmode=disable",
  // Shorter than a search's limit, so that a silent node counts as unreachable and not as slow.
  "citus.node_connection_timeout": "5s",
  // Moving a shard uses replication.
  wal_level: "logical",
  max_wal_senders: "10",
  max_logical_replication_workers: "8",
  // Each connection of a coordinator may open a connection to each worker.
  max_connections: "200",
};

export function postgresProcess(
  system: System,
  stack: Stack,
  node = firstNode(system, stack),
  isOneOfSeveral = false,
): ProcessDefinition {
  const isWorker = node.name !== "postgres";
  const chosen: Record<string, string> = {
    port: `${node.port}`,
    ...settings,
    // Settings that a project may choose. Hosted projects run jobs over connections and log each run.
    ...Deno.env.get("LOGLOOM_CRON_WORKERS") === "off" && {
      "cron.use_background_workers": "off",
      "cron.log_statement": "on",
    },
    timezone: Deno.env.get("LOGLOOM_TIMEZONE") ?? settings.timezone,
    datestyle: Deno.env.get("LOGLOOM_DATESTYLE") ?? "ISO, MDY",
    ...isOneOfSeveral && nodeSettings,
  };
  if (isOneOfSeveral) {
    // A worker sends results to the coordinator as text, so it must print every digit.
    if (isWorker) chosen.extra_float_digits = "1";
    // Only the coordinator knows how many processes the tenant's plan allows for a search.
    if (isWorker) chosen.max_parallel_workers_per_gather = "0";
    // Citus must come first; jobs run only on the coordinator.
    chosen.shared_preload_libraries = isWorker
      ? "citus,pg_stat_statements"
      : `citus,${settings.shared_preload_libraries}`;
  }
  const options = Object.entries(chosen)
    .filter(([name]) => !(isWorker && name.startsWith("cron.")))
    .flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return {
    name: node.name,
    command: system.command("postgres", `${system.postgresBin}/postgres`, [
      "-D",
      node.data,
      ...options,
    ]),
    env: {
      LC_ALL: "C.UTF-8",
      TZ: "UTC",
      // The password with which nodes log in to each other, and jobs to their server.
      PGPASSWORD: databasePassword,
      // Keeps the memory of one ingest request for the next: freeing and allocating it causes a third of all page
      // faults.
      MALLOC_MMAP_THRESHOLD_: `${32 * 1024 * 1024}`,
      MALLOC_TRIM_THRESHOLD_: `${64 * 1024 * 1024}`,
    },
    dependsOn: [],
    clear: () => endOrphans(system.outside(node.data)),
    ready: async () => {
      const sql = postgres(databaseUrl("supabase_admin", node.port, "postgres"), {
        max: 1,
        connect_timeout: 2,
        // Without this, fetching types would fail in a promise that nobody can catch.
        fetch_types: false,
      });
      try {
        await sql`select 1`;
        return true;
      } finally {
        await sql.end({ timeout: 1 });
      }
    },
    // Fast shutdown: ends sessions and writes a checkpoint.
    stopSignal: "SIGINT",
  };
}

/**
 * If a server is killed while a job runs, pg_cron's launcher does not notice it and keeps the cluster's shared memory,
 * so the next server cannot start.
 */
export async function endOrphans(data: string): Promise<void> {
  if (Deno.build.os !== "linux") return;
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // A server's processes run in its data folder and are named postgres.
      if (await Deno.readLink(`/proc/${name}/cwd`) !== data) continue;
      if ((await Deno.readTextFile(`/proc/${name}/comm`)).trim() !== "postgres") continue;
      Deno.kill(Number(name), "SIGKILL");
    } catch {
      // The process ended meanwhile, or we may not read it.
    }
  }
}
