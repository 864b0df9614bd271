import { lazy, Suspense } from "react";
import { messageOf } from "../../../supabase/functions/logloom-notify/message.ts";
import { useQuery } from "@tanstack/react-query";
import type { Comparison, HealthReport, LogloomError } from "../service/logloom.ts";
import { useService } from "../service/operation-hooks.ts";
import { loadPart } from "../shared/load-part.ts";
import { useSession } from "../service/session.ts";
import { FactList } from "../shared/fact-list.tsx";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { conditionOf, type Draft } from "./rule-draft.ts";

const TemplatePreview = lazy(() =>
  loadPart(() =>
    import("./template-preview.tsx").then(({ TemplatePreview }) => ({ default: TemplatePreview }))
  )
);

/** The message that the rule would send, written by the same code as the real one. */
export function MessagePreview({ draft }: { draft: Draft }) {
  const tenant = useSession().claims()?.tenant ?? "";
  const lacksLinks = useLacksLinks();
  if (draft.destinations.length === 0) return null;
  const payload = payloadOf(draft, tenant, new Date());
  const { title, summary, facts } = messageOf(payload);
  const hasTemplate = draft.destinations.includes("webhook") && draft.webhook_template !== "";
  return (
    <>
      {lacksLinks && (
        <p className="about">
          {say(
            "Messages have no link to the console: its address is not in the settings (console_url).",
          )}
        </p>
      )}
      <details className="message-preview">
        <summary>{say("The message")}</summary>
        <div className="block">
          <h3>{plain(title)}</h3>
          <p>{plain(summary)}</p>
          <FactList facts={facts} />
          <p className="about">
            {draft.kind === "query" && `${say("Plus the three newest records.")} `}
            {say(
              "Each channel formats the message in its own way. A webhook gets JSON, or the output of its template.",
            )}
          </p>
          {draft.baselineDays !== "" && (
            <p className="about">
              {say("The threshold of the message is computed anew for each window.")}
            </p>
          )}
          {hasTemplate && (
            <Suspense>
              <TemplatePreview
                template={{
                  text: draft.webhook_template,
                  type: draft.isTextTemplate ? "text" : "json",
                }}
                payload={payload}
              />
            </Suspense>
          )}
        </div>
      </details>
    </>
  );
}

/** Whether messages lack links to the console; false until health says so. */
function useLacksLinks(): boolean {
  const service = useService();
  const health = useQuery<HealthReport, LogloomError>({
    queryKey: ["health"],
    queryFn: ({ signal }) => service.health(undefined, { signal }),
  });
  return (health.data?.checks.alerts as Record<string, unknown> | undefined)?.console_url === null;
}

/** The nearest value that fires. */
function valueOf(threshold: number, comparison: Comparison): number {
  if (comparison === "gt" || comparison === "neq") return threshold + 1;
  return comparison === "lt" ? threshold - 1 : threshold;
}

/** An alert for the window that ended with the last whole minute. */
function payloadOf(draft: Draft, tenantId: string, now: Date): Parameters<typeof messageOf>[0] {
  const { p_query_dsl, p_threshold, p_comparison, p_window_minutes } = conditionOf(draft);
  const end = Math.floor(now.getTime() / 60_000) * 60_000;
  const minutes = Number.isFinite(p_window_minutes) ? p_window_minutes : 0;
  return {
    type: "alert.triggered",
    timestamp: now.toISOString(),
    data: {
      alert_id: null,
      rule_id: draft.rule_id ?? "",
      tenant_id: tenantId,
      name: draft.name,
      description: draft.description,
      query_dsl: p_query_dsl,
      ...draft.kind === "new_error"
        ? { value: 1, kind: draft.kind, group: { error: "TypeError: …", service: "checkout" } }
        : { value: valueOf(p_threshold, p_comparison) },
      comparison: p_comparison,
      threshold: p_threshold,
      window_minutes: minutes,
      window_start: new Date(end - minutes * 60_000).toISOString(),
      window_end: new Date(end).toISOString(),
    },
  };
}
