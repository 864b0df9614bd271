import { checkout, type Stack } from "../stack.ts";
import type { ProcessDefinition } from "../supervisor.ts";
import { npmProgram } from "../system.ts";

/** Variables that the command line reads even if they are not set. */
const alsoRead = ["INIT_CWD", "LOGLOOM_DEBUG", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"];

/** Sends the gateway's access log to the demo tenant with our own tool, so that a new machine has real events. */
export function shipperProcess(stack: Stack, apiKey: string, file: string): ProcessDefinition {
  const env = { LOGLOOM_URL: stack.url, LOGLOOM_API_KEY: apiKey };
  const command = [
    npmProgram("deno"),
    "run",
    `--config=${checkout}/deno.json`,
    "--no-prompt",
    "--cached-only",
    `--allow-net=${new URL(stack.url).host}`,
    `--allow-env=${[...Object.keys(env), ...alsoRead].join(",")}`,
    `--allow-read=${file}`,
    `${checkout}/cli/logloom.ts`,
    "ship",
    `--follow=${file}`,
  ];
  return {
    name: "shipper",
    // The first start sends the whole log. After a crash the sent part is unknown, so only new lines are sent.
    command: [...command, "--from-start"],
    restartCommand: command,
    env: { ...env, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1", HOME: Deno.env.get("HOME") ?? "/" },
    dependsOn: ["gateway", "ingest"],
    // The shipper serves nothing, so it is ready at once.
    ready: () => Promise.resolve(true),
    stopSignal: "SIGTERM",
  };
}
