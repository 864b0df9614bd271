import { useState } from "react";
import { useChange, useService } from "../service/operation-hooks.ts";
import { useMay } from "../service/roles.ts";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import { senders } from "./sender-snippets.ts";
import { say } from "../shared/translate.ts";

/** Shown while there are no events: how to send the first one, with a new key filled in. */
export function EmptyProject() {
  const service = useService();
  const mayMakeKeys = useMay("admin");
  const [chosen, setChosen] = useState(0);
  const create = useChange("create_api_key", ["list_api_keys"]);
  const key = create.data?.key_value ?? null;
  const sender = senders[chosen] ?? senders[0];
  const text = sender?.text(service.url, key ?? "YOUR_API_KEY") ?? "";
  return (
    <div className="first-event">
      <h2>{say("Send the first event")}</h2>
      <p className="about">
        {say("No events yet. Create a key and send something; it appears here automatically.")}
      </p>
      <div className="first-key">
        {key
          ? (
            <p>
              {say("Your key, shown only once:")} <code className="secret">{key}</code>{" "}
              <CopyButton text={key} label={say("Copy the key")} icon />
            </p>
          )
          : mayMakeKeys === null
          ? null
          : !mayMakeKeys
          ? <p className="about">{say("Ask an admin of this tenant for a key.")}</p>
          : (
            <Button
              look="primary"
              disabled={create.isPending}
              onClick={() => create.mutate({ p_name: say("first key") })}
            >
              {say("Create a key and fill it in")}
            </Button>
          )}
        <ErrorNote error={create.error} />
      </div>
      <div className="tabs" role="tablist" aria-label={say("Ways to send")}>
        {senders.map(({ name }, i) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`sender-${i}`}
            aria-selected={i === chosen}
            aria-controls="sender-panel"
            tabIndex={i === chosen ? 0 : -1}
            onClick={() => setChosen(i)}
            onKeyDown={(event) => {
              const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
              if (step === 0) return;
              const next = (i + step + senders.length) % senders.length;
              setChosen(next);
              document.getElementById(`sender-${next}`)?.focus();
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div id="sender-panel" role="tabpanel" aria-labelledby={`sender-${chosen}`}>
        <div className="snippet">
          <pre tabIndex={0}>{text}</pre>
          <CopyButton text={text} label={say("Copy")} />
        </div>
        <p className="about">{sender && say(sender.about)}</p>
      </div>
      <p className="waiting" role="status">
        <span className="pulse" aria-hidden="true" /> {say("Waiting for the first event…")}
      </p>
    </div>
  );
}
