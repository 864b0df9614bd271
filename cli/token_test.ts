import assert from "node:assert/strict";
import { jwtVerify } from "jose";
import { jwtSecret } from "../local/stack.ts";

async function token(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", new URL("logloom.ts", import.meta.url).pathname, "token", ...args],
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

Deno.test("the token is signed with the local secret and carries tenant and user", async () => {
  const { code, out } = await token("--tenant", "acme", "--user", "u1", "--hours", "0.5");
  assert.equal(code, 0);
  const { payload } = await jwtVerify(out.trim(), new TextEncoder().encode(jwtSecret), {
    algorithms: ["HS256"],
  });
  const { iat, exp, ...claims } = payload;
  assert.deepEqual(claims, {
    aud: "authenticated",
    role: "authenticated",
    sub: "u1",
    tenant_id: "acme",
  });
  assert.equal(Number(exp) - Number(iat), 1800);
});

Deno.test("a missing or malformed option is one sentence", async () => {
  const cases: [string[], string][] = [
    [["--user", "u"], "--tenant is missing; --help lists the options."],
    [["--tenant", "t"], "--user is missing; --help lists the options."],
    [
      ["--tenant", "t", "--user", "u", "--hours", "-1"],
      "--hours takes a number above 0 and up to 87600, not -1.",
    ],
    [
      ["--tenant", "t", "--user", "u", "--hours", "x"],
      "--hours takes a number above 0 and up to 87600, not x.",
    ],
  ];
  for (const [args, sentence] of cases) {
    const { code, out, err } = await token(...args);
    assert.deepEqual([code, out, err.trim()], [1, "", `logloom: ${sentence}`]);
  }
});
