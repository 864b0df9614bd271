const jwt =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N";
const supabasePayload = btoa('{"iss":"supabase","role":"service_role"}').replaceAll("=", "");

/** Invented secrets, by detector. */
export const secrets: Readonly<Record<string, readonly string[]>> = {
  logloom_key: ["ll", "llt", "llp", "llc"].map((k) => k + "_0123456789ABCDEFGHIJKLMNOPQRSTuvwxyz"),
  supabase_key: [
    "sb_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz",
    `sbp_${"0123456789abcdef".repeat(3).slice(0, 40)}`,
    `eyJhbGciOiJIUzI1NiJ9.${supabasePayload}.c2lnbmF0dXJl`,
  ],
  aws_key: ["AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"],
  jwt: [jwt, `${jwt.split(".").slice(0, 2).join(".")}.`],
  bearer: ["Bearer mF_9.B5f-4.1JqM", "bearer  0123456789abcdef", "Bearer%20abcDEF123456"],
  email: ["ann@example.com", "Ann.O_Neil+tag@mail.example.co.uk", "müller@उदाहरण.भारत"],
  iban: ["DE89-3704-0044-0532-0130-00", "GB29 NWBK 6016 1331 9268 19", "nl91abna0417164300"],
  card: ["4111111111111111", "5500 0000 0000 0004", "378282246310005", "4222222222222"],
  phone: ["+49 30 1234567", "+1 (415) 555-2671", "+442071838750"],
  ipv6: [
    "2001:db8::8a2e:370:7334",
    "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
    "::ffff:192.0.2.128",
  ],
  ipv4: ["192.168.1.254", "8.8.8.8"],
};
