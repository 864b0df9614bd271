/** Old names that browsers still give, each with the name that databases know. */
const renamed = new Map(
  `Africa/Asmera Africa/Asmara, America/Buenos_Aires America/Argentina/Buenos_Aires,
  America/Catamarca America/Argentina/Catamarca, America/Coral_Harbour America/Atikokan,
  America/Cordoba America/Argentina/Cordoba, America/Godthab America/Nuuk,
  America/Indianapolis America/Indiana/Indianapolis, America/Jujuy America/Argentina/Jujuy,
  America/Louisville America/Kentucky/Louisville, America/Mendoza America/Argentina/Mendoza,
  Asia/Calcutta Asia/Kolkata, Asia/Katmandu Asia/Kathmandu, Asia/Rangoon Asia/Yangon,
  Asia/Saigon Asia/Ho_Chi_Minh, Atlantic/Faeroe Atlantic/Faroe, Europe/Kiev Europe/Kyiv,
  Pacific/Enderbury Pacific/Kanton, Pacific/Ponape Pacific/Pohnpei, Pacific/Truk Pacific/Chuuk`
    .split(/,\s+/).map((pair) => pair.split(" ") as [string, string]),
);

/** The name of a browser's zone in databases. UTC, which the form shows, for a zone without a place. */
export function databaseZone(zone: string): string {
  return renamed.get(zone) ?? (/^[A-Z]\w+\/[A-Z]/.test(zone) ? zone : "UTC");
}
