// Loaded before a test file by `deno test --preload`: with LOGLOOM_PART=2/4 only the second of every four tests runs.

const [part, parts] = (Deno.env.get("LOGLOOM_PART") ?? "1/1").split("/").map(Number);
const register = Deno.test;
let seen = 0;

const registerPart = (...test: Parameters<typeof Deno.test>) => {
  if (seen++ % parts === part - 1) register(...test);
};
Object.assign(Deno, { test: Object.assign(registerPart, register) });
