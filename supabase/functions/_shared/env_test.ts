import assert from "node:assert/strict";
import { readEnv, readProjectUrl, readPublicUrl } from "./env.ts";

const legacy = {
  SUPABASE_URL: "https://project.supabase.co/",
  SUPABASE_SERVICE_ROLE_KEY: "legacy-token",
};

function read(env: Record<string, string>) {
  return readEnv((name) => env[name]);
}

Deno.test("the address has no slash at its end", () => {
  assert.equal(read(legacy).supabaseUrl, "https://project.supabase.co");
});

Deno.test("the secret key named default comes first, then another one, then the legacy key", () => {
  const { SUPABASE_URL } = legacy;
  const named = (env: Record<string, string>) => {
    const { serviceKeyName, serviceKey } = read(env);
    return [serviceKeyName, serviceKey];
  };
  const keys = '{"other":"sb_secret_other","default":"sb_secret_one"}';
  const byDefault = ["default", "sb_secret_one"];
  assert.deepEqual(named({ ...legacy, SUPABASE_SECRET_KEYS: keys }), byDefault);
  assert.deepEqual(named({ SUPABASE_URL, SUPABASE_SECRET_KEYS: keys }), byDefault);

  const others = '{"default":"","none":null,"a":"sb_secret_a","b":"sb_secret_b"}';
  const byOrder = ["a", "sb_secret_a"];
  assert.deepEqual(named({ ...legacy, SUPABASE_SECRET_KEYS: others }), byOrder);
  assert.deepEqual(named({ SUPABASE_URL, SUPABASE_SECRET_KEYS: others }), byOrder);

  const byLegacy = ["SUPABASE_SERVICE_ROLE_KEY", "legacy-token"];
  const unusable = ["", "{}", "[]", "null", '"x"', '["x"]', "not JSON"];
  for (const text of [...unusable, '{"default":""}', '{"default":7,"a":null}']) {
    assert.deepEqual(named({ ...legacy, SUPABASE_SECRET_KEYS: text }), byLegacy, text);
  }
});

Deno.test("without a service key the function names the missing variable, and no value", () => {
  const { SUPABASE_URL } = legacy;
  assert.throws(
    () => read({ SUPABASE_URL, SUPABASE_SECRET_KEYS: '{"other":7}' }),
    { message: "The environment variable SUPABASE_SERVICE_ROLE_KEY is not set" },
  );
  assert.throws(() => read({ SUPABASE_SERVICE_ROLE_KEY: "x" }), {
    message: "The environment variable SUPABASE_URL is not set",
  });
});

Deno.test("a JWT secret that config.toml did not fill in counts as not set", () => {
  assert.equal(read(legacy).jwtSecret, undefined);
  assert.equal(read({ ...legacy, LOGLOOM_JWT_SECRET: "" }).jwtSecret, undefined);
  const unfilled = "env(LOGLOOM_JWT_SECRET)";
  assert.equal(read({ ...legacy, LOGLOOM_JWT_SECRET: unfilled }).jwtSecret, undefined);
  const secret = "a secret of at least thirty-two characters";
  assert.equal(read({ ...legacy, LOGLOOM_JWT_SECRET: secret }).jwtSecret, secret);
});

Deno.test("clients see LOGLOOM_PUBLIC_URL, or the project's own address if it is public", () => {
  const at = (env: Record<string, string>) => readPublicUrl((name) => env[name]);
  const { SUPABASE_URL } = legacy;
  const inner = { SUPABASE_URL: "http://kong:8000" };
  assert.equal(at({ SUPABASE_URL }), "https://project.supabase.co");
  assert.equal(at(inner), undefined);
  assert.equal(at({ ...inner, LOGLOOM_PUBLIC_URL: "env(LOGLOOM_PUBLIC_URL)" }), undefined);
  const own = "https://logs.example.com";
  assert.equal(at({ SUPABASE_URL, LOGLOOM_PUBLIC_URL: `${own}/` }), own);
  assert.equal(at({ ...inner, LOGLOOM_PUBLIC_URL: `${own}/a/b` }), `${own}/a/b`);
  for (const url of ["logs.example.com", "https://a b", "https://a/?b", "https://u@a", "ftp://a"]) {
    assert.throws(() => at({ SUPABASE_URL, LOGLOOM_PUBLIC_URL: url }), /must be an address/, url);
  }
});

Deno.test("projects are told apart by their address, or by LOGLOOM_PUBLIC_URL if the address is internal", () => {
  const at = (env: Record<string, string>) => readProjectUrl((name) => env[name]);
  const { SUPABASE_URL } = legacy;
  const inner = { SUPABASE_URL: "http://kong:8000/" };
  const LOGLOOM_PUBLIC_URL = "https://logs.example.com";
  // A custom domain that is set later does not make it another project.
  assert.equal(at({ SUPABASE_URL, LOGLOOM_PUBLIC_URL }), "https://project.supabase.co");
  assert.equal(at({ ...inner, LOGLOOM_PUBLIC_URL }), "https://logs.example.com");
  assert.equal(at(inner), "http://kong:8000");
});
