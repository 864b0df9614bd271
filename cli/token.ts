import { Failure, run } from "../local/failure.ts";
import { signToken } from "../local/keys.ts";
import { parseOptions } from "./options.ts";

const help = `Prints a token for the local stack: npm run token -- --tenant T --user U

  --tenant T    the claim tenant_id
  --user U      the claim sub
  --role R      the claim role (default authenticated)
  --hours N     how long it is valid (default 24)

The secret that signs it is the same on every machine: no hosted project accepts it.

Exit code: 0, or 1 after an error.`;

await run(() => {
  const { values } = parseOptions({
    args: Deno.args,
    options: {
      help: { type: "boolean", short: "h" },
      tenant: { type: "string" },
      user: { type: "string" },
      role: { type: "string" },
      hours: { type: "string" },
    },
  });
  if (values.help) {
    console.log(help);
    return Promise.resolve();
  }
  const { tenant, user, role = "authenticated", hours = "24" } = values;
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
  return Promise.resolve();
});
