import { maxTakenBytes } from "../../supabase/functions/_shared/request_body.ts";
import { exists } from "../files.ts";
import {
  anonKey,
  publicKeySet,
  publishableApiKey,
  secretApiKey,
  serviceRoleKey,
} from "../signing_keys.ts";
import { type FunctionName, functionPort, type Stack } from "../stack.ts";
import type { ProcessDefinition } from "../supervisor.ts";
import type { System } from "../system.ts";

const program = "/usr/sbin/nginx";
const modules = "/usr/lib/nginx/modules";

/** The probe's name, so that the access log leaves it out. */
const probeAgent = "logloom-probe";

function folder(system: System, stack: Stack): string {
  return `${system.folder(stack)}/gateway`;
}

/** Returns the folder with the console's files, as nginx sees it. */
export function consoleFolder(system: System, stack: Stack): string {
  return `${system.folder(stack)}/console`;
}

/** The access log: one NDJSON event for each request. The shipper sends it to the demo tenant. */
export function accessLog(system: System, stack: Stack): string {
  return system.outside(`${folder(system, stack)}/access.ndjson`);
}

const largestAccessLog = 16 * 1024 * 1024;

/** Starts a new access log when the current one is large, and keeps one old log. */
export async function turnAccessLog(system: System, stack: Stack, pid: number): Promise<void> {
  const { size } = await Deno.stat(accessLog(system, stack));
  if (size < largestAccessLog) return;
  await putAccessLogAside(system, stack);
  // nginx writes to the renamed file until it gets the signal.
  Deno.kill(pid, "SIGUSR1");
}

async function putAccessLogAside(system: System, stack: Stack): Promise<void> {
  const path = accessLog(system, stack);
  if (await exists(path)) await Deno.rename(path, `${path}.1`);
}

/** Writes nginx's configuration, with a new access log. */
export async function writeGatewayConfig(
  system: System,
  stack: Stack,
  functions: FunctionName[],
  processes: number,
  health = "health",
): Promise<void> {
  const path = folder(system, stack);
  await system.makeFolder("www-data", path);
  await putAccessLogAside(system, stack);
  const hasLua = await exists(system.outside(`${modules}/ngx_http_lua_module.so`));
  const text = config(path, consoleFolder(system, stack), stack, functions, processes, hasLua);
  // A project may have a function health of its own.
  const routes = text.replaceAll("/functions/v1/health", `/functions/v1/${health}`);
  await system.writeFile("www-data", `${path}/nginx.conf`, routes);
}

export function gatewayProcess(system: System, stack: Stack): ProcessDefinition {
  return {
    name: "gateway",
    command: system.command("www-data", program, [
      "-e",
      "stderr",
      "-c",
      `${folder(system, stack)}/nginx.conf`,
    ]),
    env: {},
    dependsOn: ["postgrest"],
    ready: async () => {
      const response = await fetch(`${stack.url}/auth/v1/.well-known/jwks.json`, {
        headers: { "user-agent": probeAgent },
        signal: AbortSignal.timeout(2_000),
      });
      await response.body?.cancel();
      return response.ok;
    },
    // Finish requests under way.
    stopSignal: "SIGQUIT",
  };
}

function config(
  path: string,
  consolePath: string,
  stack: Stack,
  functions: FunctionName[],
  processes: number,
  hasLua: boolean,
): string {
  const upstreams: [string, number[]][] = [
    ["rest", [stack.ports.postgrest]],
    ["second_door", [stack.ports.internal]],
    ...functions.map((name): [string, number[]] => [
      name,
      Array.from({ length: processes }, (_, n) => functionPort(stack, name, n)),
    ]),
  ];
  return `${hasLua ? luaModules : ""}daemon off;
worker_processes 1;
worker_rlimit_nofile 32768;
pcre_jit on;
# A stop waits for requests, never for idle connections.
worker_shutdown_timeout 5s;
error_log stderr warn;
pid ${path}/nginx.pid;

events {
  worker_connections 8192;
}

http {
  default_type application/json;
  server_tokens off;
  keepalive_timeout 75s;
  # Time limits for the whole header, and between two pieces of a body. The limit for an operation's body is below.
  client_header_timeout ${patience}s;
  client_body_timeout ${patience}s;
  keepalive_requests 100000;
  client_body_temp_path ${path}/body;
  proxy_temp_path ${path}/proxy;
  fastcgi_temp_path ${path}/fastcgi;
  uwsgi_temp_path ${path}/uwsgi;
  scgi_temp_path ${path}/scgi;

${upstreams.map(upstream).join("\n")}
  upstream rest_once {
    server 127.0.0.1:${stack.ports.postgrest} max_fails=0;
  }

  # The log has each request's path and result, but no query string, header or body.
  map $request_uri $path_only {
    # The rest of the path is a key.
    "~^(?<intake>/functions/v1/ingest/v1/input)/" $intake;
    "~^(?<keyless>[^?]*/)ll[tpc]?_[0-9A-Za-z]+" $keyless;
    "~^(?<path>[^?#]*)" $path;
  }
  map $status $event_level {
    "~^5" error;
    "~^4" warn;
    default info;
  }
  map $request_time $duration_ms {
    "~^0\\.0*(?<thousandths>\\d+)$" $thousandths;
    "~^(?<seconds>\\d+)\\.(?<rest>\\d+)$" $seconds$rest;
    default 0;
  }
  # Requests of the shipper and the console are not logged: each line would cause the next request.
  map "$http_user_agent $http_x_client_info" $is_logged {
    "~^logloom-(ship|probe)" 0;
    "~ logloom-console" 0;
    default 1;
  }
  log_format event escape=json
    '{"ts":$msec,"level":"$event_level","msg":"$request_method $path_only $status",'
    '"service":"gateway","env":"${stack.name}","req_id":"$request_id","route":"$path_only",'
    '"attrs":{"status":$status,"method":"$request_method","duration_ms":$duration_ms,'
    '"bytes":$body_bytes_sent,"request_bytes":$request_length}}';

  # Like Supabase's gateways: without a token, or with a key in its place, the role of the apikey counts.
  map $http_apikey $authorization_of_key {
    ${secretApiKey} "Bearer ${serviceRoleKey}";
    ${publishableApiKey} "Bearer ${anonKey}";
    default $http_apikey;
  }
  map "$request_uri $http_authorization" $authorization {
    "~^/rest/v1[^ ]* (Bearer sb_|$)" $authorization_of_key;
    default $http_authorization;
  }

  # PostgREST looks for a similar name if it does not find an operation, before our code runs. A name of 20 KB,
  # or 2,000 names, take half a minute. This looks at the body that is passed on.
  map $request_body $has_foreign_names {
    ${manyNames} 1;
    default "";
  }
  # Query strings, and bodies of two other types, also have names.
  map $args $has_long_query {
    "~.{${maxQueryLength + 1}}" 1;
    default "";
  }
  map $content_type $has_other_names {
    "~*x-www-form-urlencoded|csv" 1;
    default "";
  }

  proxy_http_version 1.1;
${proxyHeaders("  ")}
  proxy_request_buffering off;
  proxy_connect_timeout 2s;
  proxy_read_timeout 150s;
  proxy_send_timeout 150s;
  proxy_buffer_size 32k;
  proxy_buffers 8 32k;
  # A request is passed on only once.
  proxy_next_upstream off;

  server {
    listen 127.0.0.1:${stack.ports.gateway} backlog=1024;
    access_log ${path}/access.ndjson event buffer=32k flush=1s if=$is_logged;
${operationRoutes(hasLua)}
${routes(functions)}
${consoleRoutes(consolePath)}
  }

  server {
    listen 127.0.0.1:${stack.ports.internal} backlog=1024;
    access_log off;
${routes(functions)}
    location / {
      error_page 418 = @nowhere;
      return 418;
    }
  }
}
`;
}

/** These headers are sent to the upstream. A location with its own headers inherits none of them. */
function proxyHeaders(indent: string): string {
  return [
    'proxy_set_header Connection "";',
    "proxy_set_header Host $http_host;",
    "proxy_set_header Authorization $authorization;",
    "proxy_set_header X-Forwarded-For $remote_addr;",
    "proxy_set_header X-Forwarded-Proto $scheme;",
    "proxy_set_header X-Forwarded-Host $http_host;",
  ].map((line) => indent + line).join("\n");
}

function upstream([name, ports]: [string, number[]]): string {
  return `  upstream ${name} {
${ports.map((port) => `    server 127.0.0.1:${port} max_fails=0;`).join("\n")}
    keepalive 32;
    keepalive_requests 100000;
    # Closes idle connections before PostgREST does, after 30 s.
    keepalive_timeout 20s;
  }
`;
}

function routes(functions: FunctionName[]): string {
  const corsHeaders = `
      add_header Access-Control-Allow-Origin "*" always;`;
  return `
    client_max_body_size 0;

    location = /rest/v1 {
      proxy_read_timeout ${restSeconds}s;
      proxy_pass http://rest/;
    }
    location /rest/v1/ {
      client_max_body_size 20m;
      proxy_read_timeout ${restSeconds}s;
      if ($http_x_logloom_foreign_names) {
        return 418;
      }
      error_page 418 = @foreign_names;
${errorPages("      ")}
      if ($request_method = OPTIONS) {
        add_header Access-Control-Allow-Origin "*";
        add_header Access-Control-Allow-Methods "GET,HEAD,PUT,PATCH,POST,DELETE,OPTIONS,TRACE,CONNECT";
        add_header Access-Control-Allow-Headers $http_access_control_request_headers;
        return 200;
      }
      proxy_hide_header Access-Control-Allow-Origin;
      proxy_hide_header Access-Control-Allow-Credentials;${corsHeaders}
      # PostgREST closes the connection after a HEAD without an announcement, and the next request would fail.
      if ($request_method = HEAD) {
        rewrite ^/rest/v1/(.*)$ /$1 break;
        proxy_pass http://rest_once;
      }
      proxy_pass http://rest/;
    }

${functions.map(functionRoute).join("\n")}
    location = /auth/v1/.well-known/jwks.json {
      add_header Cache-Control "public, max-age=600";${corsHeaders}
      return 200 '${JSON.stringify(publicKeySet)}';
    }

    location @nowhere {
      return 404 '{"error":"No such path; the API is under /rest/v1/ and /functions/v1/"}';
    }

    # An unreadable request has no URI yet, so a named location cannot answer it.
${errorPages("    ")}
    location = /malformed {
      internal;
      return 400 '{"error":"Malformed HTTP request"}';
    }
    location = /too-long {
      internal;
      return 414 '{"error":"Request address too long"}';
    }
    location @too_large {${corsHeaders}
      return 413 '{"error":"Request body too large"}';
    }
    location @long_call {${corsHeaders}
      return 413 '{"code":"PT413","message":"Request body too large: an operation takes at most 128 KB","details":null,"hint":"Send it in parts."}';
    }
    location @late {${corsHeaders}
      lingering_time 1s;
      return 408 '{"code":"PT408","message":"Request body took longer than ${patience} seconds","details":null,"hint":null}';
    }
    location @foreign_names {${corsHeaders}
      return 404 '{"code":"PT404","message":"No operation has these parameters","details":null,"hint":null}';
    }
    location @other_type {${corsHeaders}
      return 415 '{"code":"PT415","message":"Operations accept only JSON","details":null,"hint":null}';
    }
    location @away {${corsHeaders}
      add_header Retry-After 3 always;
      return 503 '{"error":"Service unavailable, try again in a moment"}';
    }`;
}

/** These pages are for nginx's own errors. A location with its own error_page inherits none of them. */
function errorPages(indent: string): string {
  return [
    "error_page 400 405 408 494 501 505 /malformed;",
    "error_page 414 /too-long;",
    "error_page 413 @too_large;",
    "error_page 500 502 503 504 =503 @away;",
  ].map((line) => indent + line).join("\n");
}

/** The seconds in which a request must arrive. */
const patience = 30;

/** The time limit for PostgREST. Envoy, the gateway of self-hosted projects, has the same limit. */
const restSeconds = 30;

/** The longest query string of an operation. Only a project's own functions may have one. */
const maxQueryLength = 1024;

/**
 * The most member names in a body; a long name counts once for every 16 letters. PostgREST's search for unknown names
 * takes time with the square of their length.
 */
const maxNames = 64;

/** Deeper than the parameters of any operation. */
const maxDepth = 8;

/**
 * Counts the names of a body's own members and reads each letter a few times at most. PostgREST compares only these
 * names, so values are skipped unless they nest too deeply. nginx reads \\ as a backslash.
 */
const manyNames = (() => {
  const letters = String.raw`(?:[^"\\\\]++|\\\\.)*+`;
  const nested = Array.from({ length: maxDepth }).reduce(
    (inner) => `[[{](?:[^]["{}]++|"${letters}"|${inner})*+[]}]`,
    "(?!)",
  );
  const value = String.raw`:\s*+(?:${nested})?+`;
  const before = String.raw`(?:[^":]++|${value}|"${letters}"(?!\s*+:)|""(?=\s*+:))*+"`;
  const pieceOfName = String.raw`(?:[^"\\\\]{1,16}+|\\\\.)`;
  const counted = `^(?1)${pieceOfName}(?:(?:"(?1))?+${pieceOfName}){${maxNames}}`;
  return `'~(?(DEFINE)(${before}))${counted}'`;
})();

/**
 * Users' calls of operations go through the internal port, so that the whole body is checked before PostgREST gets it.
 */
function operationRoutes(hasLua: boolean): string {
  return `
    location ~ "^/rest/v1/rpc/[^/]{64,}" {
      add_header Access-Control-Allow-Origin "*" always;
      return 404 '{"code":"PT404","message":"No operation has this name","details":null,"hint":null}';
    }
    location /rest/v1/rpc/ {
      if ($has_long_query) {
        return 414;
      }
      if ($has_other_names) {
        return 415;
      }
      error_page 415 @other_type;
      error_page 413 @long_call;
${errorPages("      ")}
      client_max_body_size 128k;
      client_body_buffer_size 128k;
      client_body_in_single_buffer on;
      proxy_request_buffering on;
      proxy_read_timeout ${restSeconds}s;${hasLua ? bodyDeadline : ""}
${proxyHeaders("      ")}
      proxy_set_header X-Logloom-Foreign-Names $has_foreign_names;
      proxy_pass http://second_door;
    }`;
}

const luaModules = `load_module ${modules}/ndk_http_module.so;
load_module ${modules}/ngx_http_lua_module.so;
`;

/** Limits the time of a whole body. nginx itself only limits the time between two pieces. */
const bodyDeadline = `
      error_page 418 = @late;
      access_by_lua_block {
        local is_read = false
        local reading = ngx.thread.spawn(function() ngx.req.read_body() is_read = true end)
        -- Most bodies arrive together with their heads.
        if is_read then return end
        local waiting = ngx.thread.spawn(function() ngx.sleep(${patience}) end)
        ngx.thread.wait(reading, waiting)
        if not is_read then return ngx.exit(418) end
        ngx.thread.kill(waiting)
      }`;

/** Origins on this machine that may show the portal: `examples/portal`, and your application. */
export const portalOrigins = ["http://localhost:3000", "http://127.0.0.1:3000"];

/** The console may only use its own files and its own service. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors",
].join("; ");

/** Serves the console's files if they were built; otherwise `/` is 404. */
function consoleRoutes(path: string): string {
  // Answers are not compressed, because on one machine that costs more than it saves.
  const headers = (cacheControl: string, framedBy = "") => `
      gzip on;
      add_header Cache-Control "${cacheControl}";
      add_header Content-Security-Policy "${contentSecurityPolicy} ${framedBy || "'none'"}";
      add_header X-Content-Type-Options nosniff;
      ${framedBy === "" ? "add_header X-Frame-Options DENY;" : ""}
      add_header Referrer-Policy no-referrer;
      add_header Cross-Origin-Opener-Policy same-origin;`;
  return `
    root ${path};
    gzip_comp_level 6;
    gzip_types text/css text/javascript application/json;
    types {
      text/html html;
      text/css css;
      text/javascript js;
      text/markdown md;
      application/json json;
    }
    charset utf-8;
    charset_types text/html text/css text/javascript text/markdown;

    location = / {
      access_log off;${headers("no-cache")}
      try_files /index.html @nowhere;
    }
    location = /portal.html {
      access_log off;${headers("no-cache", portalOrigins.join(" "))}
      try_files $uri @nowhere;
    }
    location = /config.json {
      access_log off;${headers("no-store")}
      try_files $uri @nowhere;
    }
    # The names of these files change with their content.
    location /assets/ {
      access_log off;${headers("public, max-age=31536000, immutable")}
      try_files $uri @nowhere;
    }
    location / {${headers("no-cache")}
      try_files $uri @nowhere;
    }`;
}

function functionRoute(name: string): string {
  // If a request does not reach one of several processes, it goes to another. A POST that was sent is never sent again.
  // Bodies have the functions' own limit.
  return `    location = /functions/v1/${name} {
      client_max_body_size ${maxTakenBytes};
      proxy_next_upstream error;
      proxy_pass http://${name}/${name};
    }
    location /functions/v1/${name}/ {
      client_max_body_size ${maxTakenBytes};
      proxy_next_upstream error;
      proxy_pass http://${name}/${name}/;
    }
${name === "ingest" ? ingestRoutes : ""}`;
}

/**
 * Senders of Elasticsearch's bulk requests retry refused events and unanswered requests, but rsyslog drops a request
 * that is refused as a whole. So the function answers for each event; while no function runs, nginx sends no answer.
 */
const ingestRoutes = `    location /functions/v1/ingest/es/ {
      client_max_body_size ${maxTakenBytes};
      error_page 400 405 408 494 501 505 /malformed;
      error_page 414 /too-long;
      error_page 413 @too_large;
      error_page 500 502 503 504 = @unanswered;
      proxy_next_upstream error;
      proxy_pass http://ingest/ingest/es/;
    }
    location @unanswered {
      return 444;
    }
    # pino-logflare drops the path of its configured address.
    location = /logs {
      client_max_body_size ${maxTakenBytes};
      proxy_next_upstream error;
      proxy_pass http://ingest/ingest/logs;
    }
`;
