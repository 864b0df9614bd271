import { useMutation } from "@tanstack/react-query";
import { mostSaved, saveAudit } from "../search/export-file.ts";
import { formats } from "../search/export-menu.tsx";
import type { AuditTrailEvent, LogloomError, ParametersOf } from "../service/logloom.ts";
import { useService } from "../service/operation-hooks.ts";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { say } from "../shared/translate.ts";
import { verdictWords } from "./audit-words.ts";

/** Verifies the chain of a year, and saves the events of the list to a file. */
export function AuditTools({ asked }: { asked: ParametersOf<"list_audit_events"> }) {
  const service = useService();
  const verify = useMutation<string, LogloomError, void>({
    mutationFn: async () => {
      const p_day_from = new Date(Date.now() - 365 * 86_400_000).toISOString().slice(0, 10);
      return verdictWords(await service.call("verify_audit_trail", { p_day_from }));
    },
  });
  const save = useMutation<string, LogloomError, "ndjson" | "csv">({
    mutationFn: async (format) => {
      const events: AuditTrailEvent[] = [];
      for await (const event of service.list("list_audit_events", asked)) {
        if (events.push(event) === mostSaved.records) break;
      }
      saveAudit(format, events);
      const saved = { number: events.length };
      if (saved.number < mostSaved.records) return say("Events saved: {number}.", saved);
      return say("Events saved: {number}. The file is full.", saved);
    },
  });
  return (
    <>
      <div className="filters">
        <Button disabled={verify.isPending} onClick={() => verify.mutate()}>
          {verify.isPending ? say("Verifying …") : say("Verify")}
        </Button>
        {formats.map(([format, name]) => (
          <Button
            key={format}
            disabled={save.isPending}
            onClick={() => save.mutate(format)}
          >
            {say("Save as {format}", { format: name })}
          </Button>
        ))}
      </div>
      <ErrorNote error={verify.error ?? save.error} />
      <p role="status">{verify.data}</p>
      <p role="status" className="about">{save.data}</p>
    </>
  );
}
