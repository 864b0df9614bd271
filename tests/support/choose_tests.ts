// Loaded before a test file by `deno test --preload`: with LOGLOOM_PART=2/4 only the second of every four tests runs,
// with 2,3/4 the second and the third.

const [dealt, parts] = (Deno.env.get("LOGLOOM_PART") ?? "1/1").split("/");
const chosen = dealt.split(",").map((part) => Number(part) - 1);
const register = Deno.test;
let seen = 0;

const registerPart = (...test: Parameters<typeof Deno.test>) => {
  if (chosen.includes(seen++ % Number(parts))) register(...test);
};
Object.assign(Deno, { test: Object.assign(registerPart, register) });
