import { useState } from "react";
import type { Secrets } from "../service/client.ts";
import { SecretField } from "../shared/secret-field.tsx";
import { say } from "../shared/translate.ts";
import { Button } from "../shared/basic-controls.tsx";

const prefix = "header.";
const standard = prefix + "authorization";

/** Headers of each batch, such as `authorization`. Their values are secrets. */
export function HeaderFields({ known, secrets, onChange }: {
  /** The names of saved headers. */
  known: string[];
  secrets: Secrets;
  onChange: (secrets: Secrets) => void;
}) {
  const [added, setAdded] = useState<string[]>(known.length === 0 ? [standard] : []);
  const [name, setName] = useState("");
  const names = [...new Set([...known, ...added])];
  const add = () => {
    setAdded([...added, `${prefix}${name.trim().toLowerCase()}`]);
    setName("");
  };
  const isName = /^[a-z][a-z0-9-]{0,90}$/i.test(name.trim());
  return (
    <fieldset className="destinations">
      <legend>{say("Headers")}</legend>
      {names.map((one) => (
        <SecretField
          key={one}
          name={one}
          label={one.slice(prefix.length)}
          isSet={known.includes(one)}
          sample={one === standard ? "Bearer …" : undefined}
          secrets={secrets}
          onChange={onChange}
        />
      ))}
      <div className="row">
        <input
          aria-label={say("Name of another header")}
          placeholder="x-scope-orgid"
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !isName) return;
            event.preventDefault();
            add();
          }}
        />
        <Button look="small" disabled={!isName} onClick={add}>{say("Add a header")}</Button>
      </div>
    </fieldset>
  );
}
