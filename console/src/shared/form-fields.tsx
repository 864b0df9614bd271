import { type InputHTMLAttributes, type SelectHTMLAttributes, useId } from "react";

interface Field<Value> {
  label: string;
  onChange: (value: Value) => void;
}

/** An input with its label. */
export function TextField({ label, onChange, ...input }:
  & Omit<InputHTMLAttributes<HTMLInputElement>, "onChange">
  & Field<string>) {
  return (
    <label className="field">
      <span>{label}</span>
      <input {...input} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}

/** A list to choose from, with its label. The options are its children. */
export function SelectField({ label, onChange, ...select }:
  & Omit<SelectHTMLAttributes<HTMLSelectElement>, "onChange">
  & Field<string>) {
  return (
    <label className="field">
      <span>{label}</span>
      <select {...select} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}

/** A checkbox with its label. */
export function CheckField({ label, checked, onChange }: Field<boolean> & { checked: boolean }) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}

/** A choice of one of a few. */
export function Segments<Name extends string>({ label, choices, chosen, onChoose }: {
  label: string;
  choices: readonly (readonly [Name, string])[];
  chosen: Name;
  onChoose: (name: Name) => void;
}) {
  const id = useId();
  return (
    <fieldset className="segments">
      <legend>{label}</legend>
      {choices.map(([name, words]) => (
        <label key={name}>
          <input type="radio" name={id} checked={name === chosen} onChange={() => onChoose(name)} />
          {words}
        </label>
      ))}
    </fieldset>
  );
}
