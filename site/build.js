// npm run docs [-- --base /logloom/] [--source URL] [--out DIR]
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { npmCi } from "../local/npm.mjs";
import { docs } from "./pages.js";

const folder = dirname(fileURLToPath(import.meta.url));

const help = `Builds the documentation as a static site: npm run docs [-- OPTIONS]

  --base PATH    the path that it is served under (default /)
  --source URL   where files of the repository are shown, for links to them;
                 https://github.com/you/logloom/blob/main
  --out DIR      where to (default site/dist)`;

function fail(sentence) {
  console.error(`logloom: ${sentence}`);
  process.exit(1);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        base: { type: "string", default: "/" },
        source: { type: "string", default: "" },
        out: { type: "string", default: "site/dist" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    return fail(`${error.message.split(". ")[0]}; --help lists the options.`);
  }
}

function run(argv, env = {}) {
  const result = spawnSync(argv[0], argv.slice(1), {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  if (result.status !== 0) failed(`${result.stderr}`);
}

function failed(output) {
  const said = output.split("\n").filter((line) => line.trim() !== "");
  fail(`the site could not be built:\n${said.slice(0, 20).join("\n")}`);
}

const options = readOptions();
if (options.help) {
  console.log(help);
  process.exit(0);
}
if (!/^\/(.+\/)?$/.test(options.base)) {
  fail(`--base is a path that begins and ends with a slash, not ${options.base}.`);
}

const installed = `${folder}/node_modules/.installed`;
const lock = createHash("sha256").update(readFileSync(`${folder}/package-lock.json`)).digest("hex");
if (!existsSync(installed) || readFileSync(installed, "utf8") !== lock) {
  const { status, output } = await npmCi(folder, ["--loglevel=error"]);
  if (status !== 0) failed(output);
  writeFileSync(installed, lock);
}
// Pages find the packages of this folder where they lie in it.
rmSync(`${folder}/.pages`, { recursive: true, force: true });
cpSync(docs, `${folder}/.pages`, { recursive: true });
const out = resolve(options.out);
run(["node", "node_modules/vitepress/bin/vitepress.js", "build", "."], {
  LOGLOOM_SITE_BASE: options.base,
  LOGLOOM_SITE_SOURCE: options.source,
  LOGLOOM_SITE_OUT: out,
  LOGLOOM_SITE_CACHE: `${folder}/node_modules/.cache`,
});
console.log(`The site is in ${out}.`);
