import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { change, keepOwnHistory, onAddress, readAddress } from "../address/address.ts";
import { standardRange } from "../address/range.ts";
import { type Config, loadConfig, StartError } from "../service/config.ts";
import { Boundary } from "../shared/error-boundary.tsx";
import { keepPreferencesInMemory, prefer } from "../shared/preferences.ts";
import { say, takeLabels } from "../shared/translate.ts";
import "../styles/index.css";
import "../styles/portal.css";
import { type FromParent, ParentPage } from "./parent-page.ts";
import { Portal } from "./portal.tsx";
import { partOf } from "./portal-parts.ts";
import { PortalSession } from "./portal-session.ts";
import { propertiesOf } from "./theme.ts";

const root = createRoot(document.getElementById("root") as HTMLElement);
const narrow = 900;
keepOwnHistory();
keepPreferencesInMemory({ fields: innerWidth >= narrow });
/** The code of a link, or the nonce of the element around the frame. */
const linked = location.hash.slice(1);
const part = partOf(location.search);
// The address must show neither somebody else's search nor the code or nonce.
history.replaceState(
  null,
  "",
  location.pathname + (part === null || part === "search" ? "" : `?part=${part}`),
);

try {
  const isLinked = parent === self && linked.startsWith("llc_");
  if (!isLinked && (parent === self || linked === "")) {
    throw new StartError(
      say("This page works only inside another page, or with a link that works once."),
    );
  }
  if (part === null) throw new StartError(say("These logs have no such part."));
  const config = await loadConfig();
  if (config.portalOrigins.length === 0 && !isLinked) {
    throw new StartError(
      say("No page may embed these logs: portalOrigins in config.json is empty."),
    );
  }
  const page = new ParentPage(linked, config.portalOrigins, (message) => show(message));
  const session = new PortalSession(isLinked ? null : () => page.tell({ logloom: "token-needed" }));

  const isNew = changes();
  const show = ({ token, renews, query, range, theme, labels, language }: FromParent) => {
    if (Object(theme) === theme && theme && isNew("theme", theme)) dress(theme);
    if (Object(labels) === labels && isNew("labels", [labels, language])) {
      takeLabels(labels as Record<string, unknown>, language);
      document.documentElement.lang = Object.keys(labels as object).length === 0
        ? "en"
        : String(language || "");
    }
    const place = placeOf(query, range);
    if (place) change(place, { replace: true });
    if (typeof token === "string" && /^[\w.~+/=-]{8,8192}$/.test(token)) {
      session.give(token, renews === true);
    }
  };

  let last = "";
  onAddress(() => {
    const { q = "", from = standardRange.from, to = standardRange.to } =
      readAddress(location.hash).parameters;
    const now = JSON.stringify([q, from, to]);
    if (now !== last && part === "search") {
      page.tell({ logloom: "query-changed", query: q, from, to });
    }
    last = now;
  });
  if (isLinked) session.give(await tokenOf(config, linked), false);
  else page.begin();
  root.render(
    <StrictMode>
      <Boundary what={say("This view")}>
        <Portal config={config} session={session} page={page} part={part} />
      </Boundary>
    </StrictMode>,
  );
} catch (error) {
  const words = error instanceof StartError ? error.message : say("The logs could not be shown.");
  root.render(
    <main className="start-error">
      <p role="alert">{words}</p>
    </main>,
  );
}

/** Exchanges the code of a link, which works once, for the session's token. */
async function tokenOf({ url }: Config, code: string): Promise<string> {
  const answer = await fetch(`${url}/functions/v1/logloom-read/v1/portal/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code }),
    credentials: "omit",
    referrerPolicy: "no-referrer",
  });
  const { token, message } = await answer.json();
  if (!answer.ok) throw new StartError(`${message}.`);
  return token;
}

/** A query, and a range such as `24h`, `now-24h` or `FROM/TO`. */
function placeOf(query: unknown, range: unknown): Record<string, string> | null {
  const place: Record<string, string> = {};
  if (typeof query === "string") place.q = query;
  if (typeof range === "string" && range !== "") {
    const [from = "", to = ""] = range.split("/");
    place.from = /^\d+[smhdw]$/.test(from) ? `now-${from}` : from;
    place.to = to;
  }
  return Object.keys(place).length === 0 ? null : place;
}

function dress(theme: Parameters<typeof propertiesOf>[0]): void {
  const { style } = document.documentElement;
  // Removes what an earlier theme set.
  style.cssText = "";
  for (const [name, value] of Object.entries(propertiesOf(theme))) style.setProperty(name, value);
  prefer({
    theme: theme.scheme === "light" || theme.scheme === "dark" ? theme.scheme : "system",
    roomy: theme.density === "roomy",
  });
}

/** Whether a value differs from the last one of this name. Hosts send the same values repeatedly. */
function changes(): (name: string, value: unknown) => boolean {
  const known: Record<string, string> = { labels: "[{},null]" };
  return (name, value) => {
    const text = JSON.stringify(value);
    if (known[name] === text) return false;
    known[name] = text;
    return true;
  };
}
