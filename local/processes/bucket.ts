import { createBucketOf } from "../bucket.ts";
import { addPackages } from "../system_root.ts";
import type { Stack } from "../stack.ts";
import type { ProcessDefinition } from "../supervisor.ts";
import type { System } from "../system.ts";

const program = "/usr/bin/moto_server";

/** Installs moto, a server that speaks S3 and keeps its objects in memory. */
export function installBucket(progress: (step: string) => void): Promise<void> {
  return addPackages(program, ["python3-moto", "python3-flask-cors"], progress);
}

/** Returns the variables of logloom-archive for the bucket. moto accepts any key. */
export function bucketEnv(stack: Stack): Record<string, string> {
  return {
    LOGLOOM_ARCHIVE_ENDPOINT: `http://127.0.0.1:${stack.ports.bucket}`,
    LOGLOOM_ARCHIVE_REGION: "us-east-1",
    LOGLOOM_ARCHIVE_ACCESS_KEY_ID: "local",
    LOGLOOM_ARCHIVE_SECRET_ACCESS_KEY: "local-secret-of-the-bucket",
  };
}

/** Returns the command that serves buckets at a port. */
export function bucketCommand(system: System, port: number): [string, ...string[]] {
  return system.command("www-data", program, ["--host", "127.0.0.1", "--port", `${port}`]);
}

/** A bucket server for the archive. Its bucket is empty after each start. */
export function bucketProcess(system: System, stack: Stack): ProcessDefinition {
  return {
    name: "bucket",
    command: bucketCommand(system, stack.ports.bucket),
    env: { HOME: "/tmp" },
    dependsOn: [],
    ready: async () => await createBucketOf(stack.ports.bucket),
    stopSignal: "SIGTERM",
  };
}
