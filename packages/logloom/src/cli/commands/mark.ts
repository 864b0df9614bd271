import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { Failure } from "../failure.ts";
import { readSender, type TargetOptions, withTarget } from "../project_options.ts";
import { exchange } from "../shipping/http_exchange.ts";

interface Options extends TargetOptions {
  service?: string;
  env?: string;
  link?: string;
}

const tries = 5;

export function mark(cli: Cli): Command {
  return withTarget(newCommand(cli, "mark", "Marks the deployment of a release", {
    examples: ["1.2.3 --service shop --env prod", "9f1c2d3e4b5a --link https://ci.example/7"],
    notes: "The API key is that of the profile, or LOGLOOM_API_KEY.",
  }))
    .argument("[release]", "what was deployed: a version, or a commit")
    .option("--service <name>", "the service that was deployed; else the marker is for all")
    .option("--env <name>", "where it was deployed")
    .option("--link <url>", "an address about it, such as that of the commit")
    .action(async (release: string | undefined, { service, env, link, ...options }: Options) => {
      if (!release) {
        throw new Failure(
          `name the release: ${cli.call("mark")} "$(git rev-parse --short=12 HEAD)".`,
        );
      }
      const { url, apiKey } = await readSender(cli, options);
      const request = {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-API-Key": apiKey,
          "Idempotency-Key": randomUUID(),
        },
        body: JSON.stringify({ release, service, env, url: link }),
        signal: cli.signal,
      };
      for (let n = 1;; n++) {
        const { status, reason, passes, retryAfterMs } = await exchange(
          `${url}/functions/v1/ingest/marker`,
          request,
        );
        if (status === 200) break;
        if (!passes || n === tries) throw new Failure(`${reason}.`);
        await pause(Math.max(retryAfterMs, 1000), undefined, { signal: cli.signal });
      }
      console.log(`Marked release ${release}.`);
    });
}
