import { anonKey, serviceRoleKey } from "../keys.ts";
import { exists } from "../files.ts";
import {
  checkout,
  type FunctionName,
  functionNames,
  jwtSecret,
  notifySecret,
  type Stack,
} from "../stack.ts";
import type { ProcessDefinition } from "../supervisor.ts";
import { npmProgram } from "../system.ts";

/** The edge functions that this checkout has. */
export async function presentFunctions(): Promise<FunctionName[]> {
  const present: FunctionName[] = [];
  for (const name of functionNames) if (await exists(source(name))) present.push(name);
  return present;
}

function source(name: FunctionName): string {
  return `${checkout}/supabase/functions/${name}/index.ts`;
}

/** What the person who starts the stack may set for notifications: a mail server, a local receiver. */
const notifySettings = [
  "LOGLOOM_ALLOW_LOCAL_WEBHOOKS",
  "LOGLOOM_SMTP_HOST",
  "LOGLOOM_SMTP_PORT",
  "LOGLOOM_SMTP_USER",
  "LOGLOOM_SMTP_PASSWORD",
  "LOGLOOM_SMTP_FROM",
];

function notifyEnv(): Record<string, string> {
  const env: Record<string, string> = { LOGLOOM_NOTIFY_SECRET: notifySecret };
  for (const name of notifySettings) env[name] = Deno.env.get(name) ?? "";
  return env;
}

/** An edge function in a process of its own, with no more rights than it needs. */
export function functionProcess(stack: Stack, name: FunctionName): ProcessDefinition {
  const port = stack.ports.functions[name];
  const env = {
    // Not the front door: a function's own calls are not requests that the access log should tell of.
    SUPABASE_URL: stack.internalUrl,
    SUPABASE_ANON_KEY: anonKey,
    SUPABASE_SERVICE_ROLE_KEY: serviceRoleKey,
    LOGLOOM_JWT_SECRET: jwtSecret,
    ...(name === "notify" ? notifyEnv() : {}),
  };
  // Webhooks go anywhere; the others have one thing to talk to.
  const net = name === "notify"
    ? "--allow-net"
    : `--allow-net=127.0.0.1:${port},${new URL(stack.internalUrl).host}`;
  return {
    name,
    command: [
      npmProgram("deno"),
      "run",
      `--config=${checkout}/deno.json`,
      "--no-prompt",
      "--cached-only",
      // As much memory as a hosted function gets.
      "--v8-flags=--max-old-space-size=256",
      net,
      `--allow-env=${Object.keys(env).join(",")}`,
      source(name),
    ],
    env: {
      ...env,
      DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
      DENO_NO_UPDATE_CHECK: "1",
      NO_COLOR: "1",
      HOME: Deno.env.get("HOME") ?? "/",
    },
    // The gateway is what they call, but it answers for itself while a function starts.
    dependsOn: ["postgrest"],
    ready: async () => {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return true;
    },
    stopSignal: "SIGTERM",
  };
}
