import type { InputHTMLAttributes } from "react";

/** An input with its label. */
export function TextField({ label, onChange, ...input }:
  & Omit<InputHTMLAttributes<HTMLInputElement>, "onChange">
  & { label: string; onChange: (text: string) => void }) {
  return (
    <label className="field">
      <span>{label}</span>
      <input {...input} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}
