import { Sentence } from "../shared/sentence.tsx";
import { useState } from "react";
import { useChange } from "../service/operation-hooks.ts";
import type { ApiKey, CreatedApiKey, Scope } from "../service/logloom.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import { Dialog, FormDialog } from "../shared/dialog.tsx";
import { plain } from "../shared/safe-text.ts";
import { SelectField, TextField } from "../shared/form-fields.tsx";
import { say, type Words } from "../shared/translate.ts";
import { Button } from "../shared/basic-controls.tsx";

const lives: [string, Words][] = [["", "never"], ["30", "in 30 days"], ["90", "in 90 days"], [
  "365",
  "in a year",
]];

const rights: [string, Words][] = [
  ["ingest", "send events"],
  ["read", "read all records"],
  ["ingest read", "send and read"],
  ["audit", "read the audit trail"],
];

export function NewKeyDialog({ onMade, onClose }: {
  onMade: (key: CreatedApiKey) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState("");
  const [days, setDays] = useState("");
  const [right, setRight] = useState("ingest");
  const scopes = right.split(" ") as Scope[];
  const create = useChange("create_api_key", ["list_api_keys"], onMade);
  return (
    <FormDialog
      title={say("New API key")}
      action={say("Create the key")}
      error={create.error}
      isPending={create.isPending}
      isBusy={create.isPending}
      onSubmit={() => {
        const expires = days === ""
          ? {}
          : { p_expires_at: new Date(Date.now() + Number(days) * 86_400_000).toISOString() };
        create.mutate({ p_name: name, p_scopes: scopes, ...expires });
      }}
      onClose={onClose}
    >
      <TextField
        label={say("Name (who uses it)")}
        required
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <SelectField label={say("Allowed to")} value={right} onChange={setRight}>
        {rights.map(([value, label]) => <option key={value} value={value}>{say(label)}</option>)}
      </SelectField>
      {scopes.length > 1 && (
        <p className="note warn">
          {say(
            "A program that only sends should not have a key that reads: whoever finds the key can read all records of the tenant.",
          )}
        </p>
      )}
      <SelectField label={say("Expires")} value={days} onChange={setDays}>
        {lives.map(([value, label]) => <option key={value} value={value}>{say(label)}</option>)}
      </SelectField>
    </FormDialog>
  );
}

const overlaps: [number, Words][] = [[0, "none"], [60, "an hour"], [1440, "a day"], [
  10080,
  "a week",
]];

export function RotateDialog({ apiKey, onMade, onClose }: {
  apiKey: ApiKey;
  onMade: (key: CreatedApiKey) => void;
  onClose: () => void;
}) {
  const [overlap, setOverlap] = useState(60);
  const rotate = useChange("rotate_api_key", ["list_api_keys"], onMade);
  return (
    <FormDialog
      title={say("Rotate the key")}
      action={say("Rotate")}
      error={rotate.error}
      isPending={rotate.isPending}
      isBusy={rotate.isPending}
      onSubmit={() => rotate.mutate({ p_key_id: apiKey.key_id, p_overlap_minutes: overlap })}
      onClose={onClose}
    >
      <p>
        <Sentence
          text="A new key replaces {key} ({prefix}…). Both work during the overlap, so no event is refused while you switch."
          values={{ key: <strong>{plain(apiKey.name)}</strong>, prefix: apiKey.key_prefix }}
        />
      </p>
      <SelectField
        label={say("Overlap")}
        value={overlap}
        onChange={(text) => setOverlap(Number(text))}
      >
        {overlaps.map(([value, label]) => <option key={value} value={value}>{say(label)}</option>)}
      </SelectField>
    </FormDialog>
  );
}

/** Shows the key. The service stores only a digest, so the key is shown only once. */
export function SecretDialog({ made, onClose }: { made: CreatedApiKey; onClose: () => void }) {
  return (
    <Dialog title={say("Copy the key now")} onClose={onClose}>
      <p>
        <Sentence
          text="This is the only time that {key} is shown."
          values={{ key: plain(made.name) }}
          strong
        />
      </p>
      <div className="snippet">
        <pre tabIndex={0} data-testid="key-value">{made.key_value}</pre>
        <CopyButton text={made.key_value} label={say("Copy")} />
      </div>
      <div className="dialog-actions">
        <Button look="primary" onClick={onClose}>{say("I have it")}</Button>
      </div>
    </Dialog>
  );
}
