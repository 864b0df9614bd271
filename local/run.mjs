// The target of `npm start` and others: plain Node, because it installs Deno and the packages.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { npmCi } from "./npm.mjs";

const checkout = dirname(dirname(fileURLToPath(import.meta.url)));

const commands = {
  start: "local/start.ts",
  stop: "local/stop.ts",
  reset: "local/reset.ts",
  migration: "local/migration.ts",
  test: "tests/run.ts",
  chaos: "tests/chaos/run.ts",
  trial: "tests/trial/run.ts",
  bench: "bench/main.ts",
  "console:shots": "console/shots/main.ts",
  logloom: "cli/logloom.ts",
  drill: "local/restore_drill.ts",
  lock: "local/function_packages.ts",
  release: "local/release.ts",
  "package:build": "local/package_build.ts",
};

/** The help of commands without their own. Printing it installs and starts nothing. */
const help = {
  start: `Starts a stack on this machine: npm start [-- OPTIONS]

  --archive        with a server of buckets, and an archive in it
  --background     return when it is ready; npm stop ends it
  --citus N        with N nodes of Citus
  --functions-runtime VERSION
                   serve the functions with that version of Deno
  --stack NAME     which stack, dev by default`,
  stop: "Stops the stack: npm stop [-- --stack NAME]",
  reset: "Removes the stack's data and starts it anew: npm run reset [-- --stack NAME]",
  migration: `Writes all files that are generated from supabase/schemas: npm run migration

The unreleased migration is the difference between the released ones and the schemas, between
supabase/unreleased/before.sql (renames) and after.sql (rows), which are written by hand.`,
  test: `Runs the tests on separate stacks: npm test [-- [--keep] STEP [FILE…]]

  long             instead of a step: all that takes long
  turn             the parts of that which continuous integration runs at this landing
  --next-turn      choose these parts for the next landing
  --keep           leave the stack up for the next run
  --stop           stop that stack

CONTRIBUTING.md says more.`,
  trial:
    `Runs trials for hours that the tests run for minutes: npm run trial [-- --hours N] [--anew] [KIND…]

  --hours N        how long, 8 by default; a trial that was ended goes on
  --anew           begin another one
  KIND             all by default; or
                   commands, bodies, kills, orders, queries, sealedQueries, hiddenQueries, archive, senders-all, hosted-all or memory

The report is .logloom/trial.md. A disagreement ends it, and says how it is repeated.`,
  chaos: "Kills processes while events arrive, and counts them: npm run chaos",
  bench: "Runs a benchmark: npm run bench [-- WHAT]. docs/benchmarks lists them.",
  drill:
    `Restores a dump of the running stack beside it, and verifies it: npm run drill [-- --stack NAME]

It changes nothing in the stack and leaves nothing behind. A difference is an error.`,
  release:
    "Checks licences and advisories, lists all packages in .logloom/release, freezes the migrations: npm run release",
  lock: "Writes the lock files of the functions' packages: npm run lock",
  "package:build": "Builds the package in packages/logloom: npm run package:build",
  "console:shots": "Takes the pictures of the console in docs/images: npm run console:shots",
};

/** Commands of `npm run logloom` that have a script of their own. */
const ofLogloom = ["search", "tail", "ship", "token", "uninstall"];
for (const name of ofLogloom) commands[name] = commands.logloom;

const [name, ...args] = process.argv.slice(2);
const script = commands[name];
if (ofLogloom.includes(name)) args.unshift(name);
if (!script) {
  fail(`there is no command ${name ?? ""}; there are ${Object.keys(commands).join(", ")}.`);
}

if (help[name] && args.some((arg) => arg === "--help" || arg === "-h")) {
  console.log(help[name]);
  console.log("\nExit code: 0, or 1 after an error.");
  process.exit(0);
}

const major = Number(process.versions.node.split(".")[0]);
if (major < 20) fail(`Node 20 or newer is needed, this is ${process.versions.node}.`);

if (!packagesAreInstalled()) await installPackages();
if (!existsSync(join(checkout, script))) fail(`${script} is missing in this checkout.`);
hand(deno(), ["run", "--allow-all", join(checkout, script), ...args]);

function packagesAreInstalled() {
  const wanted = packagesOf("package-lock.json");
  const there = packagesOf("node_modules/.package-lock.json");
  if (!there || !deno()) return false;
  const names = Object.keys(wanted).filter((path) => path !== "");
  return names.every((path) =>
    // Packages for other platforms are in the lock file, but not installed.
    there[path] ? there[path].version === wanted[path].version : wanted[path].optional
  );
}

function packagesOf(file) {
  const path = join(checkout, file);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).packages : null;
}

async function installPackages() {
  console.log("  Installing npm packages …");
  const { status, output } = await npmCi(checkout, ["--loglevel=error"]);
  if (status === null && output === "") fail("npm is missing on this machine; it comes with Node.");
  if (status !== 0) fail(installFailure(output));
  if (!deno()) fail(`Deno has no build for this machine (${process.platform} ${process.arch}).`);
}

function installFailure(output) {
  if (/ENOSPC/.test(output)) return "the disk is full; free some space and run the command again.";
  if (/ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|EIDLETIMEOUT|network/i.test(output)) {
    return "the npm packages could not be downloaded; check the network and run the command again.";
  }
  const lines = output.split("\n").map((line) => line.replace(/^npm (error|ERR!) ?/, "").trim());
  return `npm ci failed: ${lines.find((line) => line !== "") ?? "it gave no reason."}`;
}

// The binary without deno's launcher, which needs an install script that npm 11 does not run.
function deno() {
  const suffix = process.platform === "linux" ? "-glibc" : "";
  const exe = process.platform === "win32" ? "deno.exe" : "deno";
  const path = join(
    checkout,
    `node_modules/@deno/${process.platform}-${process.arch}${suffix}/${exe}`,
  );
  return existsSync(path) ? path : null;
}

function hand(program, argv) {
  const child = spawn(program, argv, {
    cwd: checkout,
    stdio: "inherit",
    env: { ...process.env, DENO_NO_UPDATE_CHECK: "1", DENO_NO_PROMPT: "1" },
  });
  // The terminal sends Ctrl-C to the child too; the child decides when everything has stopped.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`Deno could not be started: ${error.message}`));
  child.on("exit", (code) => process.exit(code ?? 130));
}

function fail(sentence) {
  console.error(`\nlogloom: ${sentence}`);
  process.exit(1);
}
