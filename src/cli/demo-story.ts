import type { Fields, Logger } from "../runtime/log.ts";
import type { Terminal } from "./terminal.ts";

/** Finds the cluster's name for a connection. */
export type NameOf = (connection: unknown) => string;

/** A logger that tells the operator's work to a person: one short line for what matters, nothing for the rest. */
export function storyteller(terminal: Terminal, nameOf: NameOf): Logger {
  const tell = (told: Fields): Logger["info"] => {
    return (message, fields) => {
      const line = lines[message]?.({ ...told, ...fields }, { terminal, nameOf });
      if (line) terminal.line(line);
    };
  };
  const withFields = (told: Fields): Logger => ({
    debug: () => undefined,
    info: tell(told),
    warn: tell(told),
    error: tell(told),
    with: (fields) => withFields({ ...told, ...fields }),
  });
  return withFields({});
}

interface Voice {
  readonly terminal: Terminal;
  readonly nameOf: NameOf;
}

type Line = (fields: Fields, voice: Voice) => string;

const signs: Readonly<Record<string, readonly ["green" | "yellow" | "red", string]>> = {
  create: ["green", "+"],
  update: ["yellow", "~"],
  delete: ["red", "-"],
};

const counted = (count: unknown, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** The operator's constant messages that a person wants to hear of. */
const lines: Readonly<Record<string, Line>> = {
  "cluster known": ({ connection, nodes, peers }, { terminal, nameOf }) =>
    `${nameOf(connection)}   ${terminal.styled("green", "known")}   ${counted(nodes, "node")}, ${counted(peers, "peer")}`,
  "cluster unknown": ({ connection, reason }, { terminal, nameOf }) =>
    `${nameOf(connection)}   ${terminal.styled("red", "unknown")}   ${reason}; its peers stay as they are`,
  "peer written": ({ connection, action, peer }, { terminal, nameOf }) => {
    const [style, sign] = signs[String(action)] ?? (["yellow", "?"] as const);
    return `${nameOf(connection)}   ${terminal.styled(style, sign)} peer  ${peer}`;
  },
  "mesh status": ({ mesh, reason, message }, { terminal }) =>
    `${mesh}   ${terminal.styled("bold", String(reason))}   ${message}`,
};
