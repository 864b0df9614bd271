import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import { Failure } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { filesBelow } from "../guest/files.ts";
import { wholeNumber } from "../options.ts";
import { readProfile } from "../profiles.ts";
import { exchange } from "../shipping/http_exchange.ts";
import {
  findService,
  profileName,
  readSession,
  type TargetOptions,
  withTarget,
} from "../project_options.ts";

export function consoleCommand(cli: Cli): Command {
  return withTarget(newCommand(cli, "console", "Serves the console on this machine", {
    examples: ["", "--profile staging --port 8080"],
    notes:
      `It prints a link that signs you in once, as who you are by login. With a profile that has a
publishable key and no session, the page asks for a password. Only this machine reaches it; Ctrl-C
ends it.`,
  }))
    .option("--port <n>", "the port on 127.0.0.1", "8799")
    .action(async (options: TargetOptions & { port: string }) => {
      const port = wholeNumber("--port", options.port, 1, 65_535);
      const site = await openSite(cli, options);
      const { server, link } = await serveConsole(site, port);
      console.log(`The console is at ${link}\nCtrl-C ends it.`);
      await once(cli.signal, "abort");
      server.closeAllConnections();
      server.close();
    });
}

export function openCommand(cli: Cli): Command {
  return withTarget(newCommand(cli, "open", "Opens the hosted console in a browser", {
    examples: ["", "--profile staging"],
    notes: "The setting console_url is its address, which this prints too.",
  }))
    .action(async (options: TargetOptions) => {
      const { url, health } = await findService(cli, options);
      const asked = `${url}/functions/v1/${health}/detailed`;
      const { body, reason } = await exchange(asked, { signal: cli.signal });
      if (body.checks === undefined) throw new Failure(`${asked}: ${reason}.`);
      const { console_url: address } = Object(Object(body.checks).alerts);
      if (typeof address !== "string" || !/^https?:/.test(address) || !URL.canParse(address)) {
        throw new Failure(
          `this project has no hosted console: ${
            cli.call("console")
          } serves one on this machine. ` +
            "If you host it: update logloom_private.settings set console_url = '…' where singleton;",
        );
      }
      console.log(address);
      // Without a desktop there is nothing to start.
      spawn(opener, [address], { stdio: "ignore", detached: true }).on("error", () => {}).unref();
    });
}

const opener = process.platform === "darwin"
  ? "open"
  : process.platform === "win32"
  ? "explorer"
  : "xdg-open";

/** The console's files, and the project that they show. */
export interface Site {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly url: string;
  readonly key: string | undefined;
  /** The token of the user who is logged in. Without a token the page asks for a password. */
  token(): Promise<string | undefined>;
}

async function openSite(cli: Cli, options: TargetOptions): Promise<Site> {
  const folder = await cli.consoleFolder();
  const paths = await filesBelow(folder);
  const files = new Map(
    await Promise.all(
      paths.map(async (path) => [path.slice(folder.length), await readFile(path)] as const),
    ),
  );
  const profile = await readProfile(profileName(options));
  if (profile?.publishable_key !== undefined && profile.session === undefined) {
    const { url, publishable_key: key } = profile;
    return { files, url, key, token: () => Promise.resolve(undefined) };
  }
  const { url, key, token } = await readSession(cli, options);
  return {
    files,
    url,
    key,
    token: async () => typeof token === "string" ? token : await token() ?? undefined,
  };
}

const types: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** Serves the console on 127.0.0.1. The returned link works once: it opens a page that is signed in. */
export async function serveConsole(
  site: Site,
  port: number,
): Promise<{ server: Server; link: string }> {
  const isSignedIn = await site.token() !== undefined;
  let entrance = isSignedIn ? `/${randomBytes(16).toString("hex")}` : undefined;
  const origin = new URL(site.url).origin;
  const policy = (page: string) =>
    page.replace(/connect-src 'self'[^;"]*/, `connect-src 'self' ${origin}`);
  const config = JSON.stringify({
    url: site.url,
    key: site.key ?? "",
    auth: isSignedIn ? "token" : "supabase",
  });

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
    // Refuses other host names, so that no foreign page can read this one (DNS rebinding).
    if (request.headers.host !== `127.0.0.1:${portOf(server)}`) return answer(response, 403);
    if (pathname === entrance) {
      entrance = undefined;
      const token = await site.token().catch(() => undefined);
      response.setHeader("Location", `/#token=${encodeURIComponent(token ?? "")}`);
      return answer(response, 303);
    }
    if (pathname === "/config.json") return answer(response, 200, config, "application/json");
    const path = pathname === "/" ? "/index.html" : pathname;
    const file = site.files.get(path);
    if (file === undefined) return answer(response, 404);
    const type = types[path.split(".").at(-1) ?? ""] ?? "application/octet-stream";
    answer(response, 200, path.endsWith(".html") ? policy(file.toString()) : file, type);
  });
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if ((error as { code?: string }).code !== "EADDRINUSE") throw error;
    throw new Failure(`port ${port} is taken: name another by --port.`);
  }
  return { server, link: `http://127.0.0.1:${portOf(server)}${entrance ?? "/"}` };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function answer(
  response: ServerResponse,
  status: number,
  body: string | Buffer = "",
  type = "text/plain",
): void {
  response.writeHead(status, {
    "Content-Type": type,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'none'",
  }).end(body);
}
