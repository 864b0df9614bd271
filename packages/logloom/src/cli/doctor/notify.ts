import type { Query } from "../init/project.ts";
import { exchange } from "../shipping/http_exchange.ts";
import { type Finding, ok, skipped, wrong } from "./finding.ts";

const check = "notifications";

/** Checks the address and the secret with which the database calls logloom-notify. */
export async function checkNotify(
  query: Query,
  projectUrl: string | undefined,
  signal: AbortSignal,
): Promise<Finding> {
  const [{ url, secret }] = await query<{ url: string | null; secret: string | null }>(
    "select url, secret from logloom_private.notify_endpoint",
  );
  if (url === null || secret === null) {
    return skipped(
      check,
      "not set up: logloom init does it, or Set it up in docs/guides/alerts.md",
    );
  }
  if (!/^https?:\/\/.+\/functions\/v1\/logloom-notify\/?$/.test(url)) {
    const todo = "update logloom_private.notify_endpoint set url = " +
      "'https://<project>.supabase.co/functions/v1/logloom-notify' where singleton;";
    return wrong(check, `the database wakes ${url}, which is not logloom-notify`, todo);
  }
  if (projectUrl === undefined) return skipped(check, "no project is named");
  // The job makes the same request whenever a notification is due.
  const { status, reason } = await exchange(`${projectUrl}/functions/v1/logloom-notify`, {
    method: "POST",
    headers: { "X-Logloom-Notify-Secret": secret },
    signal,
  });
  if (status === 202) return ok(check, "logloom-notify knows the database's secret");
  if (status !== 401 && status !== 503) {
    return wrong(check, `logloom-notify: ${reason}`, "supabase functions deploy logloom-notify");
  }
  return wrong(
    check,
    status === 401
      ? "LOGLOOM_NOTIFY_SECRET is another than the database's"
      : "LOGLOOM_NOTIFY_SECRET is not set, or the function cannot start",
    "logloom upgrade sets it; or see Set it up in docs/guides/alerts.md.",
  );
}
