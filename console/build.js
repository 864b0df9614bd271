// npm run console:build -- --url https://REF.supabase.co --key sb_publishable_… [--providers github,google]
//   [--health NAME] [--portal-origins LIST] [--out DIR]
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { npmCi } from "../local/npm.mjs";

const folder = dirname(fileURLToPath(import.meta.url));

const help = `Builds the console for a static host: npm run console:build -- [OPTIONS]

  --url URL          the project's address, https://REF.supabase.co
  --key KEY          its publishable (or anon) key
  --providers LIST   OAuth providers of its sign-in page: github,google
  --health NAME      the name that init --health-as gave the function health
  --portal-origins LIST
                     origins whose pages may frame the portal: https://app.example.com,…
                     (default none)
  --out DIR          the output folder (default console/dist)

Without --url no config.json is written. Write one beside index.html:
{"url": "https://REF.supabase.co", "key": "sb_publishable_…", "auth": "supabase"}.`;

function fail(sentence) {
  console.error(`logloom: ${sentence}`);
  process.exit(1);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        url: { type: "string" },
        key: { type: "string" },
        providers: { type: "string" },
        health: { type: "string" },
        "portal-origins": { type: "string" },
        out: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    return fail(`${error.message.split(". ")[0]}; --help lists the options.`);
  }
}

function run(command, args, env = {}) {
  const result = spawnSync(command, args, {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env },
  });
  if (result.status !== 0) fail(`${command} ${args[0]} failed.`);
}

const options = readOptions();
if (options.help) {
  console.log(help);
  process.exit(0);
}
if (options.url !== undefined && !/^https?:\/\/[^/]+\/?$/.test(options.url)) {
  fail(`${options.url} is not the address of a project, such as https://REF.supabase.co.`);
}
if (options.url !== undefined && options.key === undefined) fail("--key is missing.");

const portalOrigins = (options["portal-origins"] ?? "none").split(",").map((one) => one.trim())
  .filter((one) => one !== "" && one !== "none");
for (const origin of portalOrigins) {
  // No wildcards: anybody who gets a subdomain could then frame the portal.
  const isHttp = /^(https:\/\/[a-z\d.-]+|http:\/\/(localhost|127\.0\.0\.1))(:\d+)?$/.test(origin);
  // Browsers leave out the default port.
  if (!isHttp || !URL.canParse(origin) || new URL(origin).origin !== origin) {
    fail(`${origin} is not an origin, such as https://app.example.com.`);
  }
}

// npm runs scripts in the package's folder and names the caller's in INIT_CWD.
const out = resolve(process.env.INIT_CWD ?? process.cwd(), options.out ?? resolve(folder, "dist"));
if (!existsSync(resolve(folder, "node_modules/vite"))) {
  const { status, output } = await npmCi(folder, ["--omit=dev", "--loglevel=error"]);
  if (status !== 0) fail(`npm ci failed:\n${output}`);
}
run("node", ["node_modules/vite/bin/vite.js", "build", "--logLevel=error"], {
  LOGLOOM_CONSOLE_OUT: out,
});

const origin = options.url === undefined ? "https://*.supabase.co" : new URL(options.url).origin;
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  `connect-src 'self' ${origin}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

// The page carries the policy for hosts that cannot send custom headers.
for (const name of ["index.html", "portal.html"]) {
  const page = resolve(out, name);
  writeFileSync(
    page,
    readFileSync(page, "utf8").replace(/default-src 'none';[^"]*/, policy),
  );
}
// Netlify, Cloudflare Pages and others read this file.
const framedBy = (ancestors) =>
  `  Content-Security-Policy: ${policy}; frame-ancestors ${ancestors}\n`;
const common = `  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer
  Cross-Origin-Opener-Policy: same-origin
`;
const assets = `/assets/*
  Cache-Control: public, max-age=31536000, immutable
`;
// A host sends the headers of every rule that matches, and a browser applies the stricter policy. So no rule that
// forbids frames may match the portal's page.
const rules = portalOrigins.length === 0 ? `/*\n${framedBy("'none'")}${common}` : [
  `/*\n${common}`,
  ...["/", "/index.html", "/index", "/404.html"].map((path) => `${path}\n${framedBy("'none'")}`),
  ...["/portal.html", "/portal"].map((path) => `${path}\n${framedBy(portalOrigins.join(" "))}`),
].join("");
writeFileSync(resolve(out, "_headers"), rules + assets);
if (portalOrigins.length > 0) {
  // Without this file some hosts serve the console at every path, and no rule matches those paths.
  writeFileSync(resolve(out, "404.html"), "<!doctype html><title>Not found</title>Not found\n");
}
if (options.url !== undefined) {
  const config = {
    url: origin,
    key: options.key,
    auth: "supabase",
    providers: options.providers?.split(",").map((one) => one.trim()).filter(Boolean) ?? [],
    ...(portalOrigins.length === 0 ? {} : { portalOrigins }),
    ...(options.health === undefined ? {} : { health: options.health }),
  };
  writeFileSync(resolve(out, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
}
console.log(`The console is in ${out}.`);
if (portalOrigins.length > 0) {
  const value = `"${policy}; frame-ancestors ${portalOrigins.join(" ")}"`;
  console.log(`
portal.html needs the headers in _headers. For nginx:

  location = /portal.html {
    add_header Content-Security-Policy ${value};
    add_header Referrer-Policy no-referrer;
    add_header X-Content-Type-Options nosniff;
  }

For Caddy:

  header /portal.html {
    Content-Security-Policy ${value}
    Referrer-Policy no-referrer
    X-Content-Type-Options nosniff
  }`);
}
