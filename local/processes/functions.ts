import { anonKey, secretApiKey, serviceRoleKey } from "../signing_keys.ts";
import { exists } from "../files.ts";
import {
  archiveSecret,
  checkout,
  type FunctionName,
  functionNames,
  functionPort,
  jwtSecret,
  notifySecret,
  secretsKey,
  type Stack,
} from "../stack.ts";
import type { ProcessDefinition } from "../supervisor.ts";
import { currentRuntime, type Runtime } from "../deno_runtimes.ts";

/** How the edge functions are served. */
export interface Serving {
  runtime: Runtime;
  /** Processes of each function. On a hosted project isolates come and go with the load. */
  processes: number;
}

export const oneOfEach: Serving = { runtime: currentRuntime, processes: 1 };

/** Returns the edge functions of this checkout. */
export async function presentFunctions(): Promise<FunctionName[]> {
  const present: FunctionName[] = [];
  for (const name of functionNames) if (await exists(source(name))) present.push(name);
  return present;
}

const sources = `${checkout}/supabase/functions`;

function source(name: string, folder = sources): string {
  return `${folder}/${name}/index.ts`;
}

/** Returns the program of a function's process: the function itself, with its port. */
function program(stack: Stack, name: FunctionName): string {
  return `${stack.folder}/functions/${name}.ts`;
}

/** Writes the programs of the functions' processes; `folder` has the functions of another project. */
export async function writePrograms(
  stack: Stack,
  functions: FunctionName[],
  folder = sources,
  health = "health",
): Promise<void> {
  await Deno.mkdir(`${stack.folder}/functions`, { recursive: true, mode: 0o700 });
  for (const name of functions) {
    const path = source(name === "health" ? health : name, folder);
    const imports = [`${checkout}/local/processes/serve_at.ts`, path];
    const lines = imports.map((path) => `import ${JSON.stringify(path)};\n`);
    await Deno.writeTextFile(program(stack, name), lines.join(""));
  }
}

/** These functions send to tenants' addresses and open the secrets for it. */
const sending: readonly FunctionName[] = ["logloom-notify", "logloom-stream"];

/** Variables LOGLOOM_… that you may set when you start the stack: a local receiver, and your own keys. */
function sendEnv(): Record<string, string> {
  return {
    LOGLOOM_NOTIFY_SECRET: notifySecret,
    LOGLOOM_ALLOW_LOCAL_WEBHOOKS: Deno.env.get("LOGLOOM_ALLOW_LOCAL_WEBHOOKS") ?? "",
    ...secretsEnv(),
  };
}

function secretsEnv(): Record<string, string> {
  return {
    LOGLOOM_SECRETS_KEY: Deno.env.get("LOGLOOM_SECRETS_KEY") || secretsKey,
    LOGLOOM_SECRETS_OLD_KEYS: Deno.env.get("LOGLOOM_SECRETS_OLD_KEYS") ?? "",
  };
}

/** Variables for notifications that you may set when you start the stack: a mail server, a local PagerDuty. */
const notifySettings = [
  "LOGLOOM_PAGERDUTY_URL",
  ...["HOST", "PORT", "USER", "PASSWORD", "FROM"].map((name) => `LOGLOOM_SMTP_${name}`),
];

function notifyEnv(): Record<string, string> {
  return Object.fromEntries(notifySettings.map((name) => [name, Deno.env.get(name) ?? ""]));
}

/** Variables for the archive that you may set when you start the stack: a bucket somewhere. */
const archiveSettings = [
  "LOGLOOM_ARCHIVE_ENDPOINT",
  "LOGLOOM_ARCHIVE_REGION",
  "LOGLOOM_ARCHIVE_ACCESS_KEY_ID",
  "LOGLOOM_ARCHIVE_SECRET_ACCESS_KEY",
];

function archiveEnv(): Record<string, string> {
  const env: Record<string, string> = { LOGLOOM_ARCHIVE_SECRET: archiveSecret };
  for (const name of archiveSettings) env[name] = Deno.env.get(name) ?? "";
  return env;
}

/** Makes the processes of each edge function. */
export function functionProcesses(
  stack: Stack,
  functions: FunctionName[],
  { runtime, processes }: Serving,
): ProcessDefinition[] {
  return functions.flatMap((name) =>
    Array.from({ length: processes }, (_, n) => functionProcess(stack, name, runtime, n))
  );
}

/** Runs an edge function in its own process, with as few rights as possible. */
function functionProcess(
  stack: Stack,
  name: FunctionName,
  runtime: Runtime,
  n: number,
): ProcessDefinition {
  const port = functionPort(stack, name, n);
  const env = {
    // This is the gateway's internal port. Its calls are not in the access log.
    SUPABASE_URL: stack.internalUrl,
    SUPABASE_ANON_KEY: anonKey,
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: secretApiKey }),
    SUPABASE_SERVICE_ROLE_KEY: serviceRoleKey,
    LOGLOOM_JWT_SECRET: jwtSecret,
    LOGLOOM_FUNCTION_PORT: `${port}`,
    LOGLOOM_PUBLIC_URL: Deno.env.get("LOGLOOM_PUBLIC_URL") ?? "",
    ...(sending.includes(name) ? sendEnv() : {}),
    // The key of the hashes in masks.
    ...(name === "ingest" ? secretsEnv() : {}),
    ...(name === "logloom-notify" ? notifyEnv() : {}),
    ...(name === "logloom-archive" ? archiveEnv() : {}),
  };
  // Receivers and buckets can be anywhere. All other functions call only one address.
  const net = sending.includes(name) || name === "logloom-archive"
    ? "--allow-net"
    : `--allow-net=127.0.0.1:${port},${new URL(stack.internalUrl).host}`;
  return {
    name: n === 0 ? name : `${name}-${n + 1}`,
    command: [
      runtime.program,
      "run",
      `--config=${checkout}/deno.json`,
      "--no-lock",
      "--no-prompt",
      "--cached-only",
      // A hosted function has this memory.
      "--v8-flags=--max-old-space-size=256",
      net,
      // @lezer/lr reads LOG when it is loaded; ingest reads the deployment id of hosted functions.
      `--allow-env=${[...Object.keys(env), "LOG", "DENO_DEPLOYMENT_ID"].join(",")}`,
      program(stack, name),
    ],
    env: { ...env, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1", HOME: Deno.env.get("HOME") ?? "/" },
    // Functions call the gateway, but the gateway already answers while a function starts.
    dependsOn: ["postgrest"],
    ready: async () => {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return true;
    },
    stopSignal: "SIGTERM",
  };
}
