/** Texts that a program has let out, by where. */
export type Outputs = Readonly<Record<string, string>>;

/** Where each secret was found, as it is or in an encoding, as `secret in place`. */
export function leaksIn(outputs: Outputs, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = formsOf(secret);
    const places = Object.keys(outputs).filter((place) => forms.some((form) => outputs[place]?.includes(form)));
    return places.map((place) => `${name} in ${place}`);
  });
}

const shortest = 12;

/** The secret as text, in JSON, in an address, in hex, and as a part of something longer in base64. */
export function formsOf(secret: string): string[] {
  if (secret.length < shortest) throw new Error("a secret that short would be found by chance");
  const hex = Buffer.from(secret).toString("hex");
  const base64 = [0, 1, 2].map((offset) => insideBase64(secret, offset));
  const urlSafe = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), hex, ...base64, ...urlSafe];
}

/** What is always the same of its base64 when so many bytes stand before it, by three. */
function insideBase64(secret: string, offset: number): string {
  const text = Buffer.from("x".repeat(offset) + secret).toString("base64");
  const bits = (offset + Buffer.byteLength(secret)) * 8;
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(bits / 6));
}
