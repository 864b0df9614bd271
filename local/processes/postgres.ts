import postgres from "postgres";
import type { ProcessDefinition } from "../supervisor.ts";
import { databasePassword, databaseUrl, type Stack } from "../stack.ts";
import type { System } from "../system.ts";

/** One server of a stack: its only one, or the coordinator or a worker of several nodes. */
export interface Node {
  /** The process's name: postgres is what everything else of the stack connects to. */
  name: string;
  port: number;
  /** Where its files are, as PostgreSQL sees them. */
  data: string;
}

/** The server that everything else of the stack connects to: with Citus, the coordinator. */
export function firstNode(system: System, stack: Stack): Node {
  return { name: "postgres", port: stack.ports.postgres, data: `${system.folder(stack)}/data` };
}

/** The workers of a stack that is sharded, from 1 on. */
export function workerNodes(system: System, stack: Stack, workers: number): Node[] {
  return stack.ports.workers.slice(0, workers).map((port, index) => ({
    name: `postgres-${index + 1}`,
    port,
    data: `${system.folder(stack)}/data-${index + 1}`,
  }));
}

/** Sized for a machine of two cores; what is not named here is as PostgreSQL has it. */
const settings: Record<string, string> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // In the data folder: the root has no /dev/shm that is cleared at boot.
  dynamic_shared_memory_type: "mmap",
  shared_preload_libraries: "pg_cron,pg_stat_statements",
  "cron.database_name": "postgres",
  // Jobs run in the server itself; connections of their own would need a password somewhere.
  "cron.use_background_workers": "on",
  "cron.timezone": "UTC",
  // A job a second would fill the log with nothing else.
  "cron.log_statement": "off",
  timezone: "UTC",
  log_timezone: "UTC",
  // These three as a small hosted instance has them.
  max_connections: "60",
  statement_timeout: "2min",
  extra_float_digits: "0",
  max_worker_processes: "16",
  shared_buffers: "512MB",
  effective_cache_size: "2GB",
  maintenance_work_mem: "128MB",
  wal_level: "replica",
  // For a base backup and a replica, as hosted projects have them.
  max_wal_senders: "5",
  max_logical_replication_workers: "0",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  wal_compression: "lz4",
  default_toast_compression: "lz4",
  random_page_cost: "1.1",
  jit: "off",
  log_line_prefix: "%m [%p] %q%u@%d ",
  // A statement in the log could carry a tenant's words.
  log_min_error_statement: "panic",
  log_parameter_max_length: "0",
};

/** What a server needs beyond that to be one of several nodes. */
const nodeSettings: Record<string, string> = {
  "citus.node_conninfo": "sslmode=disable",
  // Less than a search may take: a node that is silent is away, and a search of it not a slow one.
  "citus.node_connection_timeout": "5s",
  // Moving a shard replicates it meanwhile.
  wal_level: "logical",
  max_wal_senders: "10",
  max_logical_replication_workers: "8",
  // Each of a coordinator's connections may have one to each worker.
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
    // As a project may have chosen them.
    timezone: Deno.env.get("LOGLOOM_TIMEZONE") ?? settings.timezone,
    datestyle: Deno.env.get("LOGLOOM_DATESTYLE") ?? "ISO, MDY",
    ...isOneOfSeveral && nodeSettings,
  };
  if (isOneOfSeveral) {
    // What a worker computed reaches the coordinator as text: with every digit, whatever a client gets.
    if (isWorker) chosen.extra_float_digits = "1";
    // How many processes a search may have is its plan's word, which stays on the coordinator.
    if (isWorker) chosen.max_parallel_workers_per_gather = "0";
    // Citus asks to be the first; jobs run on the coordinator alone.
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
      // By which one node logs in to another.
      ...isOneOfSeveral && { PGPASSWORD: databasePassword },
      // Memory that one request of ingest took is kept for the next: else a third of the page
      // faults on this machine are its being given back and taken anew.
      MALLOC_MMAP_THRESHOLD_: `${32 * 1024 * 1024}`,
      MALLOC_TRIM_THRESHOLD_: `${64 * 1024 * 1024}`,
    },
    dependsOn: [],
    clear: () => endOrphans(system.outside(node.data)),
    ready: async () => {
      const sql = postgres(databaseUrl("supabase_admin", node.port, "postgres"), {
        max: 1,
        connect_timeout: 2,
      });
      try {
        await sql`select 1`;
        return true;
      } finally {
        await sql.end();
      }
    },
    // Fast shutdown: sessions are ended, the checkpoint is written.
    stopSignal: "SIGINT",
  };
}

/**
 * When a server is killed while a job runs, pg_cron's launcher does not notice, lives on, and keeps
 * the cluster's shared memory, without which the next server does not start.
 */
export async function endOrphans(data: string): Promise<void> {
  if (Deno.build.os !== "linux") return;
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // A server's processes work in its data folder, and nobody else's are called postgres.
      if (await Deno.readLink(`/proc/${name}/cwd`) !== data) continue;
      if ((await Deno.readTextFile(`/proc/${name}/comm`)).trim() !== "postgres") continue;
      Deno.kill(Number(name), "SIGKILL");
    } catch {
      // It ended meanwhile, or is not ours to look at.
    }
  }
}
