import type { Command } from "../packages/logloom/src/cli/command_line.ts";
import { Failure } from "../packages/logloom/src/cli/failure.ts";
import { type Cli, newCommand } from "../packages/logloom/src/cli/command_line.ts";
import { signToken } from "../local/signing_keys.ts";

interface Options {
  tenant?: string;
  user?: string;
  role: string;
  hours: string;
}

/** This command exists only in a clone, because no hosted project accepts its tokens. */
export function token(cli: Cli): Command {
  return newCommand(cli, "token", "Prints a token for the local stack", {
    examples: ["--tenant acme --user 7d1f6e4c-2f63-4f0a-9a53-0c6a2b7f1e55"],
    notes: "The secret that signs it is the same on every machine: no hosted project accepts it.",
  })
    .option("--tenant <id>", "the claim tenant_id")
    .option("--user <id>", "the claim sub")
    .option("--role <name>", "the claim role", "authenticated")
    .option("--hours <n>", "how long it is valid", "24")
    .action(({ tenant, user, role, hours }: Options) => {
      if (!tenant?.trim()) throw new Failure("--tenant is missing; --help lists the options.");
      if (!user) throw new Failure("--user is missing; --help lists the options.");
      const validHours = Number(hours);
      if (!(validHours > 0 && validHours <= 87_600)) {
        throw new Failure(`--hours takes a number above 0 and up to 87600, not ${hours}.`);
      }
      const now = Math.floor(Date.now() / 1000);
      console.log(signToken({
        aud: role,
        iat: now,
        exp: now + Math.round(validHours * 3600),
        role,
        sub: user,
        tenant_id: tenant,
      }));
    });
}
